//! Text already written per item. Some agents repeat items whole, after deltas or after an earlier
//! whole: only the new part is written.
//!
//! Items are kept as fingerprints of ids and texts, at most [`DEDUP_ITEMS_MAX`].

use std::collections::VecDeque;

use crate::event::MessagePhase;
use crate::limits::DEDUP_ITEMS_MAX;
use crate::run::Fingerprint;

use super::bounded::push_bounded;

/// Fingerprint of an item's id.
pub(crate) type ShownItemKey = Fingerprint;

/// Bounded list of items and their written text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ShownItems(VecDeque<ShownItem>);

/// Written text of one item.
#[derive(Clone, Debug, PartialEq)]
struct ShownItem {
    key: ShownItemKey,
    phase: Option<MessagePhase>,
    text_fingerprint: Fingerprint,
    text_bytes: usize,
    state: ShownItemState,
}

/// Life-cycle state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownItemState {
    Open,
    Finished,
}

/// Difference between an item's whole text and its written text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownDiff<'a> {
    /// Nothing was written for this item.
    New,
    Unchanged,
    Appended(&'a str),
    /// The text differs from the written one.
    Changed,
}

impl ShownItems {
    /// Compares a whole text with the written one.
    pub(crate) fn diff_whole_text<'a>(&self, key: ShownItemKey, whole: &'a str) -> ShownDiff<'a> {
        let Some(item) = self.get(key).filter(|item| 0 < item.text_bytes) else {
            return ShownDiff::New;
        };
        if item.text_fingerprint.is_same_trimmed_text(&Fingerprint::from_text(whole)) {
            return ShownDiff::Unchanged;
        }
        match whole.split_at_checked(item.text_bytes) {
            Some((said, rest)) if Fingerprint::from_text(said) == item.text_fingerprint => {
                ShownDiff::Appended(rest)
            }
            _ => ShownDiff::Changed,
        }
    }

    /// Adds an item, or sets its phase.
    pub(crate) fn ensure_item_and_set_phase(
        &mut self,
        key: ShownItemKey,
        phase: Option<MessagePhase>,
    ) {
        let item = self.get_or_insert(key);
        item.phase = phase.or(item.phase);
    }

    /// Records that `text` was appended to the item.
    pub(crate) fn record_appended_text(&mut self, key: ShownItemKey, text: &str) {
        let item = self.get_or_insert(key);
        item.text_fingerprint.push(text);
        item.text_bytes += text.len();
    }

    /// Records `whole` as the written text of the item.
    pub(crate) fn record_whole_text(&mut self, key: ShownItemKey, whole: &str) {
        let item = self.get_or_insert(key);
        item.text_fingerprint = Fingerprint::from_text(whole);
        item.text_bytes = whole.len();
    }

    /// Marks the item as finished; forgets it if it has no id.
    pub(crate) fn mark_finished_or_remove_unkeyed(&mut self, key: ShownItemKey) {
        if key.is_blank() {
            self.remove(key);
        } else {
            self.get_or_insert(key).state = ShownItemState::Finished;
        }
    }

    /// True if the item is in the list.
    pub(crate) fn has_begun_item(&self, key: ShownItemKey) -> bool {
        self.get(key).is_some()
    }

    /// True if the item is finished.
    pub(crate) fn is_finished(&self, key: ShownItemKey) -> bool {
        self.get(key).is_some_and(|item| item.state == ShownItemState::Finished)
    }

    /// True if text was written for the item.
    pub(crate) fn has_text(&self, key: ShownItemKey) -> bool {
        self.get(key).is_some_and(|item| 0 < item.text_bytes)
    }

    /// Phase of the item.
    pub(crate) fn phase(&self, key: ShownItemKey) -> Option<MessagePhase> {
        self.get(key)?.phase
    }

    /// Removes the item.
    pub(crate) fn remove(&mut self, key: ShownItemKey) {
        self.0.retain(|item| item.key != key);
    }

    /// Removes unfinished items; returns true if any had written text.
    pub(crate) fn remove_unfinished_and_detect_text(&mut self) -> bool {
        let shown =
            self.0.iter().any(|item| item.state == ShownItemState::Open && 0 < item.text_bytes);
        self.0.retain(|item| item.state == ShownItemState::Finished);
        shown
    }

    fn get(&self, key: ShownItemKey) -> Option<&ShownItem> {
        self.0.iter().rev().find(|item| item.key == key)
    }

    fn get_or_insert(&mut self, key: ShownItemKey) -> &mut ShownItem {
        let at = self.0.iter().rposition(|item| item.key == key).unwrap_or_else(|| {
            let item = ShownItem {
                key,
                phase: None,
                text_fingerprint: Fingerprint::default(),
                text_bytes: 0,
                state: ShownItemState::Open,
            };
            push_bounded(&mut self.0, item, DEDUP_ITEMS_MAX);
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}
