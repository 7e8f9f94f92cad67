//! The settled part of a page whose items settle whole: the items below a key that only a withdrawal
//! can still change.
//!
//! Images and citations may still be added to a settled item, because sources send them late.

use std::collections::BTreeSet;

use super::item::ItemKey;
use super::patch::Settled;

/// Tracks which items are complete; items settle in key order.
#[derive(Clone, Debug, Default)]
pub(super) struct SettledKeys {
    /// All items below this key are settled.
    settled_below: u32,
    /// Complete items that wait for an earlier one.
    complete: BTreeSet<ItemKey>,
    reported: u32,
}

impl SettledKeys {
    /// Marks an item as complete. Also for a key that will have no item.
    pub(super) fn mark_complete(&mut self, key: ItemKey) {
        if key.0 == self.settled_below {
            self.settled_below += 1;
            while self.complete.remove(&ItemKey(self.settled_below)) {
                self.settled_below += 1;
            }
        } else if self.settled_below < key.0 {
            self.complete.insert(key);
        }
    }

    /// Settles all items below `next_key`.
    pub(super) fn settle_all_below(&mut self, next_key: u32) {
        self.settled_below = next_key;
        self.complete.clear();
    }

    /// Returns the end of the settled part if it has moved since the last call.
    #[inline]
    pub(super) fn take_moved_end(&mut self) -> Option<Settled> {
        let before = std::mem::replace(&mut self.reported, self.settled_below);
        (before != self.reported).then_some(Settled { count: self.reported, bytes: 0 })
    }
}
