//! The parts of a message: one, or several where steps came between its texts.

use crate::event::ReasoningOrigin;
use crate::sentence::chars::is_han_or_kana;
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
    /// Last character of its text.
    last_char: Option<char>,
}

/// Whether more text of a message may come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MessageProgress {
    #[default]
    Open,
    /// Reasoning of its own came within its text.
    InterruptedFromWithin,
    /// Reasoning of the source came after its last part, perhaps beside the message.
    Interrupted,
    Ended,
}

/// True for the letters and digits of scripts that put spaces between words.
fn is_letter_or_digit_of_word(char: char) -> bool {
    char.is_alphanumeric() && !is_han_or_kana(char)
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

    /// Marks the message as interrupted by reasoning of this origin.
    pub(super) fn mark_interrupted(&mut self, origin: ReasoningOrigin) {
        self.progress = match origin {
            ReasoningOrigin::Tag => MessageProgress::InterruptedFromWithin,
            ReasoningOrigin::Native | ReasoningOrigin::Summary | ReasoningOrigin::Redacted => {
                MessageProgress::Interrupted
            }
        };
    }

    /// Ends an interruption; returns true if `text` starts another part because of it. A word is
    /// not cut by reasoning of the source, which then came beside the message.
    pub(super) fn end_interruption_and_start_part(&mut self, text: &str) -> bool {
        match self.progress {
            MessageProgress::Open | MessageProgress::Ended => return false,
            MessageProgress::Interrupted | MessageProgress::InterruptedFromWithin => {}
        }
        let before = std::mem::take(&mut self.progress);
        let continues_word = self.last_char.is_some_and(is_letter_or_digit_of_word)
            && text.chars().next().is_some_and(is_letter_or_digit_of_word);
        before == MessageProgress::InterruptedFromWithin || !continues_word
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
        self.note_end(text);
    }

    fn note_end(&mut self, text: &str) {
        self.last_char = text.chars().next_back().or(self.last_char);
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
        self.note_end(text);
        Some(PartsRewrite { key, kept_bytes: kept_bytes - start, removed_keys: gone })
    }

    /// Removes all parts and returns their keys.
    pub(super) fn take_part_keys(&mut self) -> Vec<ItemKey> {
        std::mem::take(&mut self.parts).into_iter().map(|part| part.key).collect()
    }
}
