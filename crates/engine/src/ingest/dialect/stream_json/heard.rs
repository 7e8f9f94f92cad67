//! What of each message has been streamed and what has come whole, so that a block that comes both
//! ways is shown once, in whichever order, and one that is other than what was streamed is not lost.

use std::collections::VecDeque;

use crate::run::Fingerprint;

/// Messages remembered: the one that is open in each of a few agents, and those just before.
const MESSAGES_MAX: usize = 16;

/// Blocks of one message that have come one way and not yet the other.
const BLOCKS_MAX: usize = 256;

/// Whole lines remembered, to know one that is sent again.
const LINES_MAX: usize = 256;

/// The newest whole lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lines(VecDeque<Fingerprint>);

impl Lines {
    /// Remembers a line; says whether it is new.
    pub(super) fn is_new(&mut self, uuid: &str, message: &str) -> bool {
        let mut print = Fingerprint::of(uuid);
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

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heard {
    messages: Vec<Message>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// Empty where the stream began in its middle.
    id: Fingerprint,
    /// The call whose sub-agent says it; empty for the agent itself.
    parent: Fingerprint,
    stream: Stream,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    /// Only whole blocks have come.
    None,
    Open,
    Stopped,
}

#[derive(Clone, Debug, PartialEq)]
struct Block {
    kind: Box<str>,
    call: Fingerprint,
    came: Came,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Came {
    Streamed {
        index: u64,
        spoken: Spoken,
        from: From,
    },
    /// Streamed, then whole; pieces that come late still count.
    Both {
        index: u64,
    },
    /// Whole and shown; `index` is where it is streamed as well.
    Whole {
        index: Option<u64>,
    },
}

/// What a block has streamed, as far as it takes to know it again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spoken {
    bytes: usize,
    print: Fingerprint,
}

/// Since when a block is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Start,
    /// Its start was missed, and so may be some of it.
    Middle,
    /// It has stopped: its message takes no more.
    Stopped,
}

/// What to do with a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Yes,
    /// It is announced, but nothing of it has been shown.
    Content,
    /// All but this many bytes of it is news, and what was shown is still open.
    From(usize),
    /// All but this many bytes at its start has been shown.
    Missed(usize),
    /// It is not what was streamed in its place.
    Other,
    /// It has been shown.
    No,
}

impl Heard {
    /// A message begins to stream.
    pub(super) fn start(&mut self, parent: &str, id: &str) -> &mut Message {
        let (of, named) = (Fingerprint::of(parent), Fingerprint::of(id));
        let known = self
            .messages
            .iter()
            .position(|message| message.parent == of && message.id == named && !named.is_empty());
        let message = match known {
            Some(at) => self.messages.remove(at),
            None => Message::new(parent, id, Stream::Open),
        };
        self.push(Message { stream: Stream::Open, ..message })
    }

    fn push(&mut self, message: Message) -> &mut Message {
        if MESSAGES_MAX <= self.messages.len() {
            self.messages.remove(0);
        }
        self.messages.push(message);
        let newest = self.messages.len() - 1;
        &mut self.messages[newest]
    }

    /// The message whose parts are being streamed; a nameless one if its beginning was missed.
    pub(super) fn streaming(&mut self, parent: &str) -> &mut Message {
        match self.streamed_at(parent, Stream::Open) {
            Some(at) => &mut self.messages[at],
            None => self.push(Message::new(parent, "", Stream::Open)),
        }
    }

    fn streamed_at(&self, parent: &str, stream: Stream) -> Option<usize> {
        let parent = Fingerprint::of(parent);
        self.messages
            .iter()
            .rposition(|message| message.parent == parent && message.stream == stream)
    }

    pub(super) fn stop(&mut self, parent: &str) {
        if let Some(at) = self.streamed_at(parent, Stream::Open) {
            self.messages[at].stream = Stream::Stopped;
        }
    }

    /// The message of this id, or the nameless one it must be.
    pub(super) fn of_id(&mut self, parent: &str, id: &str) -> Option<&mut Message> {
        let (parent, id) = (Fingerprint::of(parent), Fingerprint::of(id));
        let at = self.messages.iter().rposition(|message| {
            message.parent == parent && (message.id == id || message.id.is_empty())
        })?;
        let message = &mut self.messages[at];
        message.id = id;
        Some(message)
    }

    /// The message being streamed, or the last one if a block of it has not yet come whole.
    pub(super) fn of_stream(&mut self, parent: &str, kind: &str) -> Option<&mut Message> {
        let at = self.streamed_at(parent, Stream::Open).or_else(|| {
            let at = self.streamed_at(parent, Stream::Stopped)?;
            self.messages[at].blocks.iter().any(|block| block.awaits_whole(kind)).then_some(at)
        })?;
        Some(&mut self.messages[at])
    }

    /// A message of which only whole blocks come.
    pub(super) fn start_whole(&mut self, parent: &str, id: &str) -> &mut Message {
        self.push(Message::new(parent, id, Stream::None))
    }

    /// What was said in it has been taken back.
    pub(super) fn forget_newest(&mut self, parent: &str) {
        let parent = Fingerprint::of(parent);
        if let Some(at) = self.messages.iter().rposition(|message| message.parent == parent) {
            self.messages.remove(at);
        }
    }
}

impl Message {
    fn new(parent: &str, id: &str, stream: Stream) -> Message {
        let (id, parent) = (Fingerprint::of(id), Fingerprint::of(parent));
        Message { id, parent, stream, blocks: Vec::new() }
    }

    pub(super) fn is_streamed(&self) -> bool {
        self.stream != Stream::None
    }

    /// A block begins to stream, with these words.
    pub(super) fn begin(&mut self, index: u64, kind: &str, call: &str, words: &str) -> Show {
        let whole = self
            .blocks
            .iter_mut()
            .find(|block| block.is(kind, call) && block.came == Came::Whole { index: None });
        if let Some(block) = whole {
            block.came = Came::Whole { index: Some(index) };
            return Show::No;
        }
        let mut spoken = Spoken::default();
        spoken.push(words);
        self.push(kind, call, Came::Streamed { index, spoken, from: From::Start });
        Show::Yes
    }

    /// More of a block is streamed.
    pub(super) fn say(&mut self, index: u64, kind: &str, words: &str) -> Show {
        match self.at(index) {
            Some(Block { came: Came::Whole { .. }, .. }) => Show::No,
            Some(Block { came: Came::Both { .. }, .. }) => Show::Yes,
            Some(Block { came: Came::Streamed { spoken, .. }, .. }) => {
                spoken.push(words);
                Show::Yes
            }
            None => {
                let mut spoken = Spoken::default();
                spoken.push(words);
                self.push(kind, "", Came::Streamed { index, spoken, from: From::Middle });
                Show::Yes
            }
        }
    }

    /// The newest block that is streamed at `index`.
    fn at(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| block.index() == Some(index))
    }

    /// Whether the block at `index` is a text whose start was missed.
    pub(super) fn is_joined_text(&mut self, index: u64) -> bool {
        self.at(index).is_some_and(|block| {
            *block.kind == *"text"
                && matches!(block.came, Came::Streamed { from: From::Middle, .. })
        })
    }

    /// No more of a block is streamed; says whether that ends a message. One whose start was
    /// missed stays open: the whole may still put it right.
    pub(super) fn stop(&mut self, index: u64) -> bool {
        let Some(block) = self.at(index) else { return false };
        if let Came::Streamed { from, .. } = &mut block.came {
            if *from == From::Middle {
                return false;
            }
            *from = From::Stopped;
        }
        *block.kind == *"text"
    }

    /// A block comes whole.
    pub(super) fn whole(&mut self, kind: &str, call: &str, text: &str) -> Show {
        let awaits =
            |block: &Block| block.is(kind, call) && matches!(block.came, Came::Streamed { .. });
        let Some(first) = self.blocks.iter().position(awaits) else {
            self.push(kind, call, Came::Whole { index: None });
            return Show::Yes;
        };
        let print = Fingerprint::of(text);
        let same = self.blocks.iter().position(|block| {
            awaits(block)
                && matches!(block.came, Came::Streamed { spoken, .. } if spoken.print.same_text(&print))
        });
        let at = same.unwrap_or(first);
        let newest = at + 1 == self.blocks.len();
        let block = &mut self.blocks[at];
        let Came::Streamed { index, spoken, from } = block.came else { return Show::No };
        block.came = Came::Both { index };
        if spoken.bytes == 0 {
            block.came = Came::Whole { index: Some(index) };
            return Show::Content;
        }
        // How arguments are spelt may change; an empty text says nothing new.
        if same.is_some() || !matches!(kind, "text" | "thinking") || print.is_empty() {
            return Show::No;
        }
        if newest && from != From::Stopped && spoken.begins(text) {
            // Pieces that come late are in what is shown now.
            block.came = Came::Whole { index: Some(index) };
            return Show::From(spoken.bytes);
        }
        match text.len().checked_sub(spoken.bytes) {
            Some(missed) if from == From::Middle && spoken.ends(text) => Show::Missed(missed),
            _ => Show::Other,
        }
    }

    fn push(&mut self, kind: &str, call: &str, came: Came) {
        if BLOCKS_MAX <= self.blocks.len() {
            self.blocks.remove(0);
        }
        self.blocks.push(Block { kind: kind.into(), call: Fingerprint::of(call), came });
    }
}

impl Spoken {
    fn push(&mut self, words: &str) {
        self.bytes += words.len();
        self.print.push(words);
    }

    fn begins(&self, text: &str) -> bool {
        let parts = text.split_at_checked(self.bytes);
        parts.is_some_and(|(start, _)| Fingerprint::of(start).same_text(&self.print))
    }

    fn ends(&self, text: &str) -> bool {
        let parts = text.len().checked_sub(self.bytes).and_then(|at| text.split_at_checked(at));
        parts.is_some_and(|(_, end)| Fingerprint::of(end).same_text(&self.print))
    }
}

impl Block {
    fn is(&self, kind: &str, call: &str) -> bool {
        *self.kind == *kind && self.call == Fingerprint::of(call)
    }

    fn awaits_whole(&self, kind: &str) -> bool {
        *self.kind == *kind && matches!(self.came, Came::Streamed { .. })
    }

    fn index(&self) -> Option<u64> {
        match self.came {
            Came::Streamed { index, .. } | Came::Both { index } => Some(index),
            Came::Whole { index } => index,
        }
    }
}
