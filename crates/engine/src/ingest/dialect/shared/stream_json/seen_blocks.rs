//! Deduplication of blocks that arrive both streamed and whole, in either order.
//!
//! Invariant: each block is written once, and a whole block that differs from the streamed one is
//! not lost.

use std::collections::VecDeque;

use crate::run::Fingerprint;

/// Messages remembered: the open ones of a few agents, and those before them.
const MESSAGES_MAX: usize = 16;

/// Blocks remembered of one message.
const BLOCKS_MAX: usize = 256;

/// Whole lines remembered, to detect repeated ones.
const LINES_MAX: usize = 256;

/// Fingerprints of the newest whole lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenLines(VecDeque<Fingerprint>);

impl SeenLines {
    /// Inserts a line; returns true if it is new.
    pub(super) fn insert(&mut self, uuid: &str, message: &str) -> bool {
        let mut print = Fingerprint::from_text(uuid);
        print.push(message);
        if self.0.contains(&print) {
            return false;
        }
        if LINES_MAX <= self.0.len() {
            self.0.pop_front();
        }
        self.0.push_back(print);
        true
    }
}

/// Recent messages and their blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeenBlocks {
    messages: Vec<SeenMessage>,
}

/// A message that was streamed or came as whole blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeenMessage {
    /// Empty if the stream began in its middle.
    id: Fingerprint,
    /// Call of the sub-agent that sent it; empty for the main agent.
    parent: Fingerprint,
    stream: StreamState,
    blocks: Vec<SeenBlock>,
}

/// Streaming state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
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
pub(super) enum ShowDecision {
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

impl SeenBlocks {
    /// Starts or restarts a streamed message.
    pub(super) fn start_streamed(&mut self, parent: &str, id: &str) -> &mut SeenMessage {
        let (of, named) = (Fingerprint::from_text(parent), Fingerprint::from_text(id));
        let known = self
            .messages
            .iter()
            .position(|message| message.parent == of && message.id == named && !named.is_empty());
        let message = match known {
            Some(at) => self.messages.remove(at),
            None => SeenMessage::new(parent, id, StreamState::Open),
        };
        self.push_message(SeenMessage { stream: StreamState::Open, ..message })
    }

    /// Appends a message and drops the oldest past the limit.
    fn push_message(&mut self, message: SeenMessage) -> &mut SeenMessage {
        if MESSAGES_MAX <= self.messages.len() {
            self.messages.remove(0);
        }
        self.messages.push(message);
        let newest = self.messages.len() - 1;
        &mut self.messages[newest]
    }

    /// The message that is streaming; creates one without an id if its start was missed.
    pub(super) fn streaming_message(&mut self, parent: &str) -> &mut SeenMessage {
        match self.position_by_stream_state(parent, StreamState::Open) {
            Some(at) => &mut self.messages[at],
            None => self.push_message(SeenMessage::new(parent, "", StreamState::Open)),
        }
    }

    /// Index of the newest message of `parent` in this streaming state.
    fn position_by_stream_state(&self, parent: &str, stream: StreamState) -> Option<usize> {
        let parent = Fingerprint::from_text(parent);
        self.messages
            .iter()
            .rposition(|message| message.parent == parent && message.stream == stream)
    }

    /// Marks the streaming message as stopped.
    pub(super) fn stop_stream(&mut self, parent: &str) {
        if let Some(at) = self.position_by_stream_state(parent, StreamState::Open) {
            self.messages[at].stream = StreamState::Stopped;
        }
    }

    /// The message with this id, or one without an id, which gets it.
    pub(super) fn message_by_id(&mut self, parent: &str, id: &str) -> Option<&mut SeenMessage> {
        let (parent, id) = (Fingerprint::from_text(parent), Fingerprint::from_text(id));
        let at = self.messages.iter().rposition(|message| {
            message.parent == parent && (message.id == id || message.id.is_empty())
        })?;
        let message = &mut self.messages[at];
        message.id = id;
        Some(message)
    }

    /// The streaming message, or the stopped one if it awaits a whole block of this type.
    pub(super) fn message_by_position(
        &mut self,
        parent: &str,
        kind: &str,
    ) -> Option<&mut SeenMessage> {
        let at = self.position_by_stream_state(parent, StreamState::Open).or_else(|| {
            let at = self.position_by_stream_state(parent, StreamState::Stopped)?;
            self.messages[at].blocks.iter().any(|block| block.is_awaiting_whole(kind)).then_some(at)
        })?;
        Some(&mut self.messages[at])
    }

    /// Starts a message that has only whole blocks.
    pub(super) fn start_whole_message(&mut self, parent: &str, id: &str) -> &mut SeenMessage {
        self.push_message(SeenMessage::new(parent, id, StreamState::None))
    }

    /// Removes the newest message of `parent`: it was retracted.
    pub(super) fn forget_newest(&mut self, parent: &str) {
        let parent = Fingerprint::from_text(parent);
        if let Some(at) = self.messages.iter().rposition(|message| message.parent == parent) {
            self.messages.remove(at);
        }
    }
}

impl SeenMessage {
    fn new(parent: &str, id: &str, stream: StreamState) -> SeenMessage {
        let (id, parent) = (Fingerprint::from_text(id), Fingerprint::from_text(parent));
        SeenMessage { id, parent, stream, blocks: Vec::new() }
    }

    /// True if any of it was streamed.
    pub(super) fn is_streamed(&self) -> bool {
        self.stream != StreamState::None
    }

    /// Records the start of a streamed block; returns how much of it to write.
    pub(super) fn start_block(
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
    pub(super) fn append_to_block(&mut self, index: u64, kind: &str, words: &str) -> ShowDecision {
        match self.block_at(index) {
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
    fn block_at(&mut self, index: u64) -> Option<&mut SeenBlock> {
        self.blocks.iter_mut().rev().find(|block| block.index() == Some(index))
    }

    /// True if the block at `index` is a text whose start was missed.
    pub(super) fn is_midstream_text(&mut self, index: u64) -> bool {
        self.block_at(index).is_some_and(|block| {
            *block.kind == *"text"
                && matches!(block.delivery, Delivery::Streamed { from: StreamedFrom::Middle, .. })
        })
    }

    /// Stops a streamed block; returns true if that ends a message. A block whose start was missed
    /// stays open: the whole block may complete it.
    pub(super) fn stop_block(&mut self, index: u64) -> bool {
        let Some(block) = self.block_at(index) else { return false };
        if let Delivery::Streamed { from, .. } = &mut block.delivery {
            if *from == StreamedFrom::Middle {
                return false;
            }
            *from = StreamedFrom::Stopped;
        }
        *block.kind == *"text"
    }

    /// Matches a whole block to its streamed one; returns how much of it to write.
    pub(super) fn match_whole_block(&mut self, kind: &str, call: &str, text: &str) -> ShowDecision {
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
                && matches!(block.delivery, Delivery::Streamed { text: spoken, .. } if spoken.fingerprint.is_same_text(&print))
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
        if same.is_some() || !matches!(kind, "text" | "thinking") || print.is_empty() {
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
        parts
            .is_some_and(|(start, _)| Fingerprint::from_text(start).is_same_text(&self.fingerprint))
    }

    /// True if `text` ends with the streamed text.
    fn is_suffix_of(&self, text: &str) -> bool {
        let parts = text.len().checked_sub(self.bytes).and_then(|at| text.split_at_checked(at));
        parts.is_some_and(|(_, end)| Fingerprint::from_text(end).is_same_text(&self.fingerprint))
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
    fn index(&self) -> Option<u64> {
        match self.delivery {
            Delivery::Streamed { index, .. } | Delivery::Both { index } => Some(index),
            Delivery::Whole { index } => index,
        }
    }
}
