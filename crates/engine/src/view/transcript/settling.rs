//! The settled part of the page: the complete items at its start, and the prefix of the next item's
//! text that can no longer change.
//!
//! Holds only unsettled items. How far a text is settled depends only on the text, never on how it
//! was split into events.

use std::collections::VecDeque;

use crate::limits::UNSETTLED_LINE_BYTES_MAX;
use crate::view::item::{ItemKey, ItemState};
use crate::view::patch::Settled;

/// Possible changes to a live item's text; append-only text can settle before it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextGrowth {
    /// The text only grows.
    AppendOnly,
    /// The text may be rewritten.
    Mutable,
}

/// Tracks the settled part of the page.
#[derive(Clone, Debug, Default)]
pub(super) struct SettlingTracker {
    reported: Settled,
    /// The items from `reported.count` on.
    unsettled: VecDeque<UnsettledItem>,
}

/// An item that is not settled.
#[derive(Clone, Copy, Debug)]
enum UnsettledItem {
    Complete,
    Growing(SettledPrefix),
    /// This much is settled, and no more until it is complete.
    Held(usize),
}

/// Settled prefix of a text that only grows: up to its last line break, or up to a space in a long
/// line.
#[derive(Clone, Copy, Debug, Default)]
struct SettledPrefix {
    bytes: usize,
    settled: usize,
}

impl SettledPrefix {
    /// Appends text and advances the prefix.
    fn push_text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.bytes += 1;
            let long = UNSETTLED_LINE_BYTES_MAX < self.bytes - self.settled;
            if byte == b'\n' || (long && byte == b' ') {
                self.settled = self.bytes;
            }
        }
    }
}

impl SettlingTracker {
    /// Adds the next item of the page, or replaces one that is not settled.
    pub(super) fn put_item(
        &mut self,
        key: ItemKey,
        state: ItemState,
        text: &str,
        growth: TextGrowth,
    ) {
        let open = match (state, growth) {
            (ItemState::Live, TextGrowth::AppendOnly) => {
                let mut reach = SettledPrefix::default();
                reach.push_text(text);
                UnsettledItem::Growing(reach)
            }
            (ItemState::Live, TextGrowth::Mutable) | (ItemState::Draft, _) => {
                UnsettledItem::Held(0)
            }
            _ => UnsettledItem::Complete,
        };
        match self.find_unsettled_mut(key) {
            Some(known) => *known = open,
            None => self.unsettled.push_back(open),
        }
    }

    /// Returns an unsettled item.
    fn find_unsettled_mut(&mut self, key: ItemKey) -> Option<&mut UnsettledItem> {
        let at = key.0.checked_sub(self.reported.count)?;
        self.unsettled.get_mut(usize::try_from(at).ok()?)
    }

    /// Returns true if the item is settled.
    pub(super) fn is_settled(&self, key: ItemKey) -> bool {
        key.0 < self.reported.count
    }

    /// Returns true if the item is not complete.
    pub(super) fn is_live(&mut self, key: ItemKey) -> bool {
        matches!(
            self.find_unsettled_mut(key),
            Some(UnsettledItem::Growing(_) | UnsettledItem::Held(_))
        )
    }

    /// Settled bytes of a live item's text.
    pub(super) fn settled_bytes_of_live_item(&self, key: ItemKey) -> usize {
        if key.0 == self.reported.count { self.reported.bytes } else { 0 }
    }

    /// Counts text appended to an item.
    pub(super) fn count_appended_text(&mut self, key: ItemKey, text: &str) {
        if let Some(UnsettledItem::Growing(reach)) = self.find_unsettled_mut(key) {
            reach.push_text(text);
        }
    }

    /// Marks an item's text as append-only from here on; `text` is its text so far.
    pub(super) fn mark_append_only_if_none_settled(&mut self, key: ItemKey, text: &str) {
        if let Some(open @ UnsettledItem::Held(0)) = self.find_unsettled_mut(key) {
            let mut reach = SettledPrefix::default();
            reach.push_text(text);
            *open = UnsettledItem::Growing(reach);
        }
    }

    /// Stops the item's text from settling, because it was rewritten.
    pub(super) fn stop_settling_text(&mut self, key: ItemKey) {
        let settled = self.settled_bytes_of_live_item(key);
        if let Some(open @ UnsettledItem::Growing(_)) = self.find_unsettled_mut(key) {
            *open = UnsettledItem::Held(settled);
        }
    }

    /// Marks the item as complete.
    pub(super) fn mark_complete(&mut self, key: ItemKey) {
        if let Some(open) = self.find_unsettled_mut(key) {
            *open = UnsettledItem::Complete;
        }
    }

    /// Keys of the items that are not complete.
    pub(super) fn live_keys(&self) -> Vec<ItemKey> {
        let keys = (self.reported.count..).map(ItemKey).zip(&self.unsettled);
        keys.filter(|(_, open)| !matches!(open, UnsettledItem::Complete))
            .map(|(key, _)| key)
            .collect()
    }

    /// Advances the settled part; returns its new end if it has moved.
    pub(super) fn advance_settled_end(&mut self) -> Option<Settled> {
        let before = self.reported;
        while let Some(UnsettledItem::Complete) = self.unsettled.front() {
            self.unsettled.pop_front();
            self.reported = Settled { count: self.reported.count + 1, bytes: 0 };
        }
        match self.unsettled.front() {
            Some(UnsettledItem::Growing(reach)) => self.reported.bytes = reach.settled,
            Some(UnsettledItem::Held(bytes)) => self.reported.bytes = *bytes,
            Some(UnsettledItem::Complete) | None => {}
        }
        (self.reported != before).then_some(self.reported)
    }
}
