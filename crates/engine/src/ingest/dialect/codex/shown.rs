//! What each item has shown. Both of Codex's outputs send items whole, after their pieces or after
//! an earlier whole, and some twice: only what is new of them is shown.
//!
//! Items are known by fingerprints of their ids and texts, as many as [`ITEMS_REMEMBERED_MAX`].

use std::collections::VecDeque;

use crate::event::Phase;
use crate::limits::ITEMS_REMEMBERED_MAX;
use crate::run::Fingerprint;

/// An item's id, however long it is.
pub(in super::super) type Key = Fingerprint;

#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Shown(VecDeque<Item>);

#[derive(Clone, Debug, PartialEq)]
struct Item {
    key: Key,
    phase: Option<Phase>,
    said: Fingerprint,
    bytes: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Over,
}

/// What a whole text adds to what its item has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum News<'a> {
    /// Nothing has been shown of this item.
    First,
    Nothing,
    Rest(&'a str),
    /// It says something else than was shown.
    Changed,
}

impl Shown {
    pub(in super::super) fn news<'a>(&self, key: Key, whole: &'a str) -> News<'a> {
        let Some(item) = self.get(key).filter(|item| 0 < item.bytes) else {
            return News::First;
        };
        if item.said.same_text(&Fingerprint::of(whole)) {
            return News::Nothing;
        }
        match whole.split_at_checked(item.bytes) {
            Some((said, rest)) if Fingerprint::of(said) == item.said => News::Rest(rest),
            _ => News::Changed,
        }
    }

    /// The item is about to speak.
    pub(in super::super) fn begin(&mut self, key: Key, phase: Option<Phase>) {
        let item = self.entry(key);
        item.phase = phase.or(item.phase);
    }

    /// More of the item has been shown.
    pub(in super::super) fn say(&mut self, key: Key, text: &str) {
        let item = self.entry(key);
        item.said.push(text);
        item.bytes += text.len();
    }

    /// This is all that the item has shown.
    pub(in super::super) fn say_whole(&mut self, key: Key, whole: &str) {
        let item = self.entry(key);
        item.said = Fingerprint::of(whole);
        item.bytes = whole.len();
    }

    /// The item is over. Things without an id are not known again.
    pub(in super::super) fn finish(&mut self, key: Key) {
        if key.is_empty() {
            self.forget(key);
        } else {
            self.entry(key).state = State::Over;
        }
    }

    pub(in super::super) fn knows(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    pub(in super::super) fn is_over(&self, key: Key) -> bool {
        self.get(key).is_some_and(|item| item.state == State::Over)
    }

    pub(in super::super) fn has_shown(&self, key: Key) -> bool {
        self.get(key).is_some_and(|item| 0 < item.bytes)
    }

    pub(in super::super) fn phase(&self, key: Key) -> Option<Phase> {
        self.get(key)?.phase
    }

    pub(in super::super) fn forget(&mut self, key: Key) {
        self.0.retain(|item| item.key != key);
    }

    /// Forgets what was begun and is not over; says whether any of it had been shown.
    pub(in super::super) fn forget_unfinished(&mut self) -> bool {
        let shown = self.0.iter().any(|item| item.state == State::Open && 0 < item.bytes);
        self.0.retain(|item| item.state == State::Over);
        shown
    }

    fn get(&self, key: Key) -> Option<&Item> {
        self.0.iter().rev().find(|item| item.key == key)
    }

    fn entry(&mut self, key: Key) -> &mut Item {
        let at = self.0.iter().rposition(|item| item.key == key).unwrap_or_else(|| {
            if ITEMS_REMEMBERED_MAX <= self.0.len() {
                self.0.pop_front();
            }
            let said = Fingerprint::default();
            self.0.push_back(Item { key, phase: None, said, bytes: 0, state: State::Open });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}
