//! A message and its blocks: which arrived streamed, which whole, and how much is still to be
//! written.

use crate::run::Fingerprint;

/// Blocks remembered of one message.
const BLOCKS_MAX: usize = 256;

/// A message that was streamed or came as whole blocks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenMessage {
    /// Empty if the stream began in its middle.
    pub(super) id: Fingerprint,
    /// Call of the sub-agent that sent it; empty for the main agent.
    pub(super) parent: Fingerprint,
    pub(super) stream: StreamState,
    blocks: Vec<SeenBlock>,
}

/// Streaming state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamState {
    /// Only whole blocks arrived.
    None,
    Open,
    Stopped,
}

/// A block, identified by its type and call.
#[derive(Clone, Debug, PartialEq)]
struct SeenBlock {
    kind: Box<str>,
    call: Fingerprint,
    delivery: Delivery,
}

/// Form in which a block arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Delivery {
    Streamed {
        index: u64,
        text: StreamedText,
        from: StreamedFrom,
    },
    /// Streamed, then whole; later deltas still count.
    Both {
        index: u64,
    },
    /// Whole and written; `index` is set if it is also streamed.
    Whole {
        index: Option<u64>,
    },
}

/// Length and fingerprint of a block's streamed text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct StreamedText {
    bytes: usize,
    fingerprint: Fingerprint,
}

/// Part of a block that was streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamedFrom {
    Start,
    /// Its start was missed, so text may be missing.
    Middle,
    /// It has stopped: its message is closed.
    Stopped,
}

/// Part of a block that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShowDecision {
    All,
    /// Its start was written, but none of its content.
    ContentOnly,
    /// The text after this many bytes; the written part is still open.
    SuffixFrom(usize),
    /// Only this many bytes at its start were not written.
    MissedPrefix(usize),
    /// It differs from the streamed block.
    Different,
    /// It was written already.
    Nothing,
}

impl SeenMessage {
    pub(super) fn new(parent: &str, id: &str, stream: StreamState) -> SeenMessage {
        let (id, parent) = (Fingerprint::from_text(id), Fingerprint::from_text(parent));
        SeenMessage { id, parent, stream, blocks: Vec::new() }
    }

    /// True if any of it was streamed.
    pub(crate) fn is_streamed(&self) -> bool {
        self.stream != StreamState::None
    }

    /// Records the start of a streamed block; returns how much of it to write.
    pub(crate) fn record_streamed_start(
        &mut self,
        index: u64,
        kind: &str,
        call: &str,
        words: &str,
    ) -> ShowDecision {
        let whole = self.blocks.iter_mut().find(|block| {
            block.matches(kind, call) && block.delivery == Delivery::Whole { index: None }
        });
        if let Some(block) = whole {
            block.delivery = Delivery::Whole { index: Some(index) };
            return ShowDecision::Nothing;
        }
        let mut spoken = StreamedText::default();
        spoken.push(words);
        self.push_block(
            kind,
            call,
            Delivery::Streamed { index, text: spoken, from: StreamedFrom::Start },
        );
        ShowDecision::All
    }

    /// Records a delta of a streamed block; returns how much of it to write.
    pub(crate) fn record_streamed_delta(
        &mut self,
        index: u64,
        kind: &str,
        words: &str,
    ) -> ShowDecision {
        match self.find_streamed_block_mut(index) {
            Some(SeenBlock { delivery: Delivery::Whole { .. }, .. }) => ShowDecision::Nothing,
            Some(SeenBlock { delivery: Delivery::Both { .. }, .. }) => ShowDecision::All,
            Some(SeenBlock { delivery: Delivery::Streamed { text: spoken, .. }, .. }) => {
                spoken.push(words);
                ShowDecision::All
            }
            None => {
                let mut spoken = StreamedText::default();
                spoken.push(words);
                self.push_block(
                    kind,
                    "",
                    Delivery::Streamed { index, text: spoken, from: StreamedFrom::Middle },
                );
                ShowDecision::All
            }
        }
    }

    /// The newest block streamed at `index`.
    fn find_streamed_block_mut(&mut self, index: u64) -> Option<&mut SeenBlock> {
        self.blocks.iter_mut().rev().find(|block| block.stream_index() == Some(index))
    }

    /// True if the block at `index` is a text whose start was missed.
    pub(crate) fn is_text_with_missed_start(&mut self, index: u64) -> bool {
        self.find_streamed_block_mut(index).is_some_and(|block| {
            *block.kind == *"text"
                && matches!(block.delivery, Delivery::Streamed { from: StreamedFrom::Middle, .. })
        })
    }

    /// Stops a streamed block; returns true if that ends a message. A block whose start was missed
    /// stays open: the whole block may complete it.
    pub(crate) fn record_stop_and_detect_text_end(&mut self, index: u64) -> bool {
        let Some(block) = self.find_streamed_block_mut(index) else { return false };
        if let Delivery::Streamed { from, .. } = &mut block.delivery {
            if *from == StreamedFrom::Middle {
                return false;
            }
            *from = StreamedFrom::Stopped;
        }
        *block.kind == *"text"
    }

    /// Matches a whole block to its streamed one; returns how much of it to write.
    pub(crate) fn match_and_record_whole_block(
        &mut self,
        kind: &str,
        call: &str,
        text: &str,
    ) -> ShowDecision {
        let awaits = |block: &SeenBlock| {
            block.matches(kind, call) && matches!(block.delivery, Delivery::Streamed { .. })
        };
        let Some(first) = self.blocks.iter().position(awaits) else {
            self.push_block(kind, call, Delivery::Whole { index: None });
            return ShowDecision::All;
        };
        let print = Fingerprint::from_text(text);
        let same = self.blocks.iter().position(|block| {
            awaits(block)
                && matches!(block.delivery, Delivery::Streamed { text: spoken, .. } if spoken.fingerprint.is_same_trimmed_text(&print))
        });
        let at = same.unwrap_or(first);
        let newest = at + 1 == self.blocks.len();
        let block = &mut self.blocks[at];
        let Delivery::Streamed { index, text: spoken, from } = block.delivery else {
            return ShowDecision::Nothing;
        };
        block.delivery = Delivery::Both { index };
        if spoken.bytes == 0 {
            block.delivery = Delivery::Whole { index: Some(index) };
            return ShowDecision::ContentOnly;
        }
        // The JSON of arguments may be formatted differently; an empty text adds nothing.
        if same.is_some() || !matches!(kind, "text" | "thinking") || print.is_blank() {
            return ShowDecision::Nothing;
        }
        if newest && from != StreamedFrom::Stopped && spoken.is_prefix_of(text) {
            // The whole text includes any later deltas.
            block.delivery = Delivery::Whole { index: Some(index) };
            return ShowDecision::SuffixFrom(spoken.bytes);
        }
        match text.len().checked_sub(spoken.bytes) {
            Some(missed) if from == StreamedFrom::Middle && spoken.is_suffix_of(text) => {
                ShowDecision::MissedPrefix(missed)
            }
            _ => ShowDecision::Different,
        }
    }

    /// Appends a block and drops the oldest past the limit.
    fn push_block(&mut self, kind: &str, call: &str, came: Delivery) {
        if BLOCKS_MAX <= self.blocks.len() {
            self.blocks.remove(0);
        }
        self.blocks.push(SeenBlock {
            kind: kind.into(),
            call: Fingerprint::from_text(call),
            delivery: came,
        });
    }

    /// True if a block of this type was streamed and has not arrived whole.
    pub(super) fn is_awaiting_whole(&self, kind: &str) -> bool {
        self.blocks.iter().any(|block| block.is_awaiting_whole(kind))
    }
}

impl StreamedText {
    /// Appends streamed text.
    fn push(&mut self, words: &str) {
        self.bytes += words.len();
        self.fingerprint.push(words);
    }

    /// True if `text` starts with the streamed text.
    fn is_prefix_of(&self, text: &str) -> bool {
        let parts = text.split_at_checked(self.bytes);
        parts.is_some_and(|(start, _)| {
            Fingerprint::from_text(start).is_same_trimmed_text(&self.fingerprint)
        })
    }

    /// True if `text` ends with the streamed text.
    fn is_suffix_of(&self, text: &str) -> bool {
        let parts = text.len().checked_sub(self.bytes).and_then(|at| text.split_at_checked(at));
        parts.is_some_and(|(_, end)| {
            Fingerprint::from_text(end).is_same_trimmed_text(&self.fingerprint)
        })
    }
}

impl SeenBlock {
    /// True if type and call are equal.
    fn matches(&self, kind: &str, call: &str) -> bool {
        *self.kind == *kind && self.call == Fingerprint::from_text(call)
    }

    /// True if a block of this type was streamed and has not arrived whole.
    fn is_awaiting_whole(&self, kind: &str) -> bool {
        *self.kind == *kind && matches!(self.delivery, Delivery::Streamed { .. })
    }

    /// Index at which it is streamed.
    fn stream_index(&self) -> Option<u64> {
        match self.delivery {
            Delivery::Streamed { index, .. } | Delivery::Both { index } => Some(index),
            Delivery::Whole { index } => index,
        }
    }
}
