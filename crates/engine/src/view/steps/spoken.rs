//! Where a message stands: in one part, or in several where steps came between its words.

use crate::view::item::Key;

/// The parts of a message, in their order. One that was taken back has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Spoken {
    parts: Vec<Part>,
    /// Of the whole message.
    bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    key: Key,
    /// Where it begins in the message.
    start: usize,
}

/// What is to be done about a message that its source changed.
#[derive(Debug)]
pub(super) struct Change {
    /// The part that the change begins in, and what stays of it.
    pub(super) key: Key,
    pub(super) kept_bytes: usize,
    /// Parts of which nothing stays.
    pub(super) gone: Vec<Key>,
}

impl Spoken {
    pub(super) fn last(&self) -> Option<Key> {
        self.parts.last().map(|part| part.key)
    }

    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The message goes on in a part of its own.
    pub(super) fn begin(&mut self, key: Key) {
        self.parts.push(Part { key, start: self.bytes });
    }

    pub(super) fn grow(&mut self, text: &str) {
        self.bytes += text.len();
    }

    /// The source keeps so many bytes and goes on with another text.
    pub(super) fn change(&mut self, kept_bytes: usize, text: &str) -> Option<Change> {
        let kept_bytes = kept_bytes.min(self.bytes);
        let at = self.parts.iter().rposition(|part| part.start <= kept_bytes)?;
        let gone = self.parts.drain(at + 1..).map(|part| part.key).collect();
        let Part { key, start } = *self.parts.last()?;
        self.bytes = kept_bytes + text.len();
        Some(Change { key, kept_bytes: kept_bytes - start, gone })
    }

    /// Takes the message back.
    pub(super) fn take(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.parts).into_iter().map(|part| part.key).collect()
    }
}
