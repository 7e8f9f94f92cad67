//! What can no longer change: the longest run of complete items from the start, and the part of
//! the next one's text that later input cannot touch.
//!
//! Holds only the items that are not settled. How far a text is settled depends on the text alone,
//! never on how it was cut.

use std::collections::VecDeque;

use crate::limits::UNSETTLED_LINE_BYTES;
use crate::view::item::{Key, State};
use crate::view::patch::Settled;

/// Whether the text of an item that is live can settle before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// It only ever gets longer.
    Grows,
    /// It may still become another.
    MayChange,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Settling {
    told: Settled,
    /// The items from `told.count` on.
    open: VecDeque<Open>,
}

#[derive(Clone, Copy, Debug)]
enum Open {
    Complete,
    Grows(Reach),
    /// So much is settled, and no more before the end.
    Held(usize),
}

/// How far a text that only grows is settled: to the end of its last line; within a long line, to
/// a space.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    bytes: usize,
    settled: usize,
}

impl Reach {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            self.bytes += 1;
            let long = UNSETTLED_LINE_BYTES < self.bytes - self.settled;
            if byte == b'\n' || (long && byte == b' ') {
                self.settled = self.bytes;
            }
        }
    }
}

impl Settling {
    /// The next item of the page.
    pub(super) fn add(&mut self, state: State, text: &str, growth: Growth) {
        let open = match (state, growth) {
            (State::Live, Growth::Grows) => {
                let mut reach = Reach::default();
                reach.push(text);
                Open::Grows(reach)
            }
            (State::Live, Growth::MayChange) => Open::Held(0),
            _ => Open::Complete,
        };
        self.open.push_back(open);
    }

    fn get(&mut self, key: Key) -> Option<&mut Open> {
        let at = key.0.checked_sub(self.told.count)?;
        self.open.get_mut(usize::try_from(at).ok()?)
    }

    pub(super) fn is_settled(&self, key: Key) -> bool {
        key.0 < self.told.count
    }

    pub(super) fn is_live(&mut self, key: Key) -> bool {
        matches!(self.get(key), Some(Open::Grows(_) | Open::Held(_)))
    }

    /// How much of a live item's text is settled.
    pub(super) fn bytes_of(&self, key: Key) -> usize {
        if key.0 == self.told.count { self.told.bytes } else { 0 }
    }

    pub(super) fn grow(&mut self, key: Key, text: &str) {
        if let Some(Open::Grows(reach)) = self.get(key) {
            reach.push(text);
        }
    }

    /// From here on the item's text only grows; this is what it has.
    pub(super) fn let_grow(&mut self, key: Key, text: &str) {
        if let Some(open @ Open::Held(0)) = self.get(key) {
            let mut reach = Reach::default();
            reach.push(text);
            *open = Open::Grows(reach);
        }
    }

    /// The item's text has changed, and may again.
    pub(super) fn hold(&mut self, key: Key) {
        let settled = self.bytes_of(key);
        if let Some(open @ Open::Grows(_)) = self.get(key) {
            *open = Open::Held(settled);
        }
    }

    pub(super) fn complete(&mut self, key: Key) {
        if let Some(open) = self.get(key) {
            *open = Open::Complete;
        }
    }

    /// The items that are not complete.
    pub(super) fn live(&self) -> Vec<Key> {
        let keys = (self.told.count..).map(Key).zip(&self.open);
        keys.filter(|(_, open)| !matches!(open, Open::Complete)).map(|(key, _)| key).collect()
    }

    /// Where the settled part ends now, if that has moved.
    pub(super) fn settle(&mut self) -> Option<Settled> {
        let before = self.told;
        while let Some(Open::Complete) = self.open.front() {
            self.open.pop_front();
            self.told = Settled { count: self.told.count + 1, bytes: 0 };
        }
        match self.open.front() {
            Some(Open::Grows(reach)) => self.told.bytes = reach.settled,
            Some(Open::Held(bytes)) => self.told.bytes = *bytes,
            Some(Open::Complete) | None => {}
        }
        (self.told != before).then_some(self.told)
    }
}
