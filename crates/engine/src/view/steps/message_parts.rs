//! The parts of a message: one, or several where steps came between its texts.

use crate::view::item::ItemKey;

/// The parts of a message in order; none once it is withdrawn.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageParts {
    parts: Vec<MessagePart>,
    /// Number of parts ever started; ids are not reused.
    started: usize,
    /// Length of the whole message.
    total_bytes: usize,
    progress: MessageProgress,
}

/// Whether more text of a message may come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MessageProgress {
    #[default]
    Open,
    /// Reasoning came after its last part.
    Interrupted,
    Ended,
}

/// One part: an item with a range of the message's text.
#[derive(Clone, Copy, Debug)]
struct MessagePart {
    key: ItemKey,
    /// Start in the message's text.
    start: usize,
}

/// Result of rewriting a message.
#[derive(Debug)]
pub(super) struct PartsRewrite {
    /// The part in which the rewrite starts, and how much of it is kept.
    pub(super) key: ItemKey,
    pub(super) kept_bytes: usize,
    /// Parts that are removed entirely.
    pub(super) removed_keys: Vec<ItemKey>,
}

impl MessageParts {
    /// Key of the last part.
    pub(super) fn last_key(&self) -> Option<ItemKey> {
        self.parts.last().map(|part| part.key)
    }

    /// Marks the message as ended; returns the keys of its parts, which are complete.
    pub(super) fn mark_ended_and_list_keys(&mut self) -> impl Iterator<Item = ItemKey> {
        self.progress = MessageProgress::Ended;
        self.parts.iter().map(|part| part.key)
    }

    /// Marks the message as interrupted by reasoning.
    pub(super) fn mark_interrupted(&mut self) {
        self.progress = MessageProgress::Interrupted;
    }

    /// Returns true if reasoning came after the last part.
    pub(super) fn is_interrupted(&self) -> bool {
        self.progress == MessageProgress::Interrupted
    }

    /// Returns true if the message has ended.
    pub(super) fn is_ended(&self) -> bool {
        self.progress == MessageProgress::Ended
    }

    /// Number of parts ever started.
    pub(super) fn started_count(&self) -> usize {
        self.started
    }

    /// Starts another part at the end of the message.
    pub(super) fn track_new_part(&mut self, key: ItemKey) {
        self.progress = MessageProgress::Open;
        self.started += 1;
        self.parts.push(MessagePart { key, start: self.total_bytes });
    }

    /// Counts appended text.
    pub(super) fn add_to_message_length(&mut self, text: &str) {
        self.total_bytes += text.len();
    }

    /// Truncates the message to `kept_bytes` and appends `text`; returns the affected parts.
    pub(super) fn apply_rewrite_to_parts(
        &mut self,
        kept_bytes: usize,
        text: &str,
    ) -> Option<PartsRewrite> {
        let kept_bytes = kept_bytes.min(self.total_bytes);
        let at = self.parts.iter().rposition(|part| part.start <= kept_bytes)?;
        let gone = self.parts.drain(at + 1..).map(|part| part.key).collect();
        let MessagePart { key, start } = *self.parts.last()?;
        self.total_bytes = kept_bytes + text.len();
        Some(PartsRewrite { key, kept_bytes: kept_bytes - start, removed_keys: gone })
    }

    /// Removes all parts and returns their keys.
    pub(super) fn take_part_keys(&mut self) -> Vec<ItemKey> {
        std::mem::take(&mut self.parts).into_iter().map(|part| part.key).collect()
    }
}
