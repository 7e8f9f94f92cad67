//! What of each message has been streamed and what has come whole, so that a block that comes both
//! ways is shown once, in whichever order.

/// Messages remembered: the one that is open in each of a few agents, and those just before.
const MESSAGES_MAX: usize = 16;

/// Blocks of one message that have come one way and not yet the other.
const BLOCKS_MAX: usize = 256;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heard {
    messages: Vec<Message>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// Empty where the stream began in its middle.
    id: String,
    /// The call whose sub-agent says it; empty for the agent itself.
    parent: String,
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
    call: Box<str>,
    came: Came,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Streamed {
        index: u64,
        said: Said,
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

/// Whether a streamed block had any content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Something,
}

/// What to do with a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Yes,
    /// It is announced, but nothing of it has been shown.
    Content,
    /// It has been shown.
    No,
}

impl Heard {
    /// A message begins to stream.
    pub(super) fn start(&mut self, parent: &str, id: &str) -> &mut Message {
        let known = self
            .messages
            .iter()
            .position(|message| message.parent == parent && message.id == id && !id.is_empty());
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
        let at = self.messages.iter().rposition(|message| {
            message.parent == parent && (message.id == id || message.id.is_empty())
        })?;
        let message = &mut self.messages[at];
        id.clone_into(&mut message.id);
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
        if let Some(at) = self.messages.iter().rposition(|message| message.parent == parent) {
            self.messages.remove(at);
        }
    }
}

impl Message {
    fn new(parent: &str, id: &str, stream: Stream) -> Message {
        Message { id: id.to_owned(), parent: parent.to_owned(), stream, blocks: Vec::new() }
    }

    pub(super) fn is_streamed(&self) -> bool {
        self.stream != Stream::None
    }

    /// A block begins to stream.
    pub(super) fn begin(&mut self, index: u64, kind: &str, call: &str, said: Said) -> Show {
        let whole = self
            .blocks
            .iter_mut()
            .find(|block| block.is(kind, call) && block.came == Came::Whole { index: None });
        if let Some(block) = whole {
            block.came = Came::Whole { index: Some(index) };
            return Show::No;
        }
        self.push(kind, call, Came::Streamed { index, said });
        Show::Yes
    }

    /// More of a block is streamed.
    pub(super) fn say(&mut self, index: u64, kind: &str) -> Show {
        let block = self.blocks.iter_mut().rev().find(|block| block.index() == Some(index));
        match block {
            Some(Block { came: Came::Whole { .. }, .. }) => Show::No,
            Some(Block { came: Came::Both { .. }, .. }) => Show::Yes,
            Some(Block { came: Came::Streamed { said, .. }, .. }) => {
                *said = Said::Something;
                Show::Yes
            }
            None => {
                self.push(kind, "", Came::Streamed { index, said: Said::Something });
                Show::Yes
            }
        }
    }

    /// Whether the block that is streamed at `index` is a text.
    pub(super) fn is_text(&self, index: u64) -> bool {
        let block = self.blocks.iter().rev().find(|block| block.index() == Some(index));
        block.is_some_and(|block| *block.kind == *"text")
    }

    /// A block comes whole.
    pub(super) fn whole(&mut self, kind: &str, call: &str) -> Show {
        for block in self.blocks.iter_mut().filter(|block| block.is(kind, call)) {
            if let Came::Streamed { index, said } = block.came {
                let (came, show) = match said {
                    Said::Nothing => (Came::Whole { index: Some(index) }, Show::Content),
                    Said::Something => (Came::Both { index }, Show::No),
                };
                block.came = came;
                return show;
            }
        }
        self.push(kind, call, Came::Whole { index: None });
        Show::Yes
    }

    fn push(&mut self, kind: &str, call: &str, came: Came) {
        if BLOCKS_MAX <= self.blocks.len() {
            self.blocks.remove(0);
        }
        self.blocks.push(Block { kind: kind.into(), call: call.into(), came });
    }
}

impl Block {
    fn is(&self, kind: &str, call: &str) -> bool {
        *self.kind == *kind && *self.call == *call
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
