//! How an agent is talked to: what is said to it, and what its lines mean to whoever drives it.
//!
//! Does: keep one turn's place in a protocol. Does not: read, write or wait; and what the lines mean
//! to a person is the engine's business.

use engine::event::Image;
use serde_json::{Map, Value, json};

use super::acp::Acp;
use super::claude::Claude;
use super::codex::Codex;
use super::opencode::Opencode;
use crate::pictures::without;

/// Something said to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A line of JSON on its standard input.
    Line(String),
    /// A request to the server that it runs, by its path.
    Post { path: String, body: String },
}

/// Whether a line ends the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    No,
    Over,
    /// It could not be done.
    Failed,
}

/// What a line of the agent's comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reaction {
    pub(super) say: Vec<Said>,
    /// It belongs to this turn, and not to the protocol's beginning or to turns before.
    pub(super) is_news: bool,
    pub(super) end: End,
    /// It no longer knows the conversation it was to go on with, and has begun another.
    pub(super) is_lost: bool,
    /// It cannot be shown the pictures of this turn.
    pub(super) is_blind: bool,
}

impl Reaction {
    pub(super) fn news() -> Reaction {
        Reaction { is_news: true, ..Reaction::default() }
    }

    pub(super) fn over() -> Reaction {
        Reaction { is_news: true, end: End::Over, ..Reaction::default() }
    }

    pub(super) fn say(said: impl IntoIterator<Item = Said>) -> Reaction {
        Reaction { say: said.into_iter().collect(), ..Reaction::default() }
    }
}

/// What a person has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision<'a> {
    /// One of the options of the ask, or words of their own.
    Said(&'a str),
    /// Yes, this once: nobody is asked here.
    Allow,
    /// Nobody answered.
    Deny,
}

/// What one turn begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) prompt: String,
    pub(super) images: Vec<Image<'static>>,
    pub(super) folder: String,
    /// What the agent calls the conversation that it is to go on with.
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    /// More that the conversation is begun with, for agents that take it.
    pub(super) request: Map<String, Value>,
}

impl Turn {
    /// What the person said and showed, each as the agent takes it. Blank words are left out beside
    /// pictures.
    pub(super) fn parts(
        &self,
        text: impl Fn(&str) -> Value,
        picture: impl Fn(&str, &str) -> Value,
    ) -> Vec<Value> {
        let pictures: Vec<Value> = self
            .images
            .iter()
            .filter_map(|image| match image {
                Image::Inline { media_type, base64 } => Some(picture(media_type, base64)),
                Image::Url { .. } | Image::Kept { .. } => None,
            })
            .collect();
        let words = without(&self.prompt, self.images.len() - pictures.len());
        let is_said = pictures.is_empty() || !words.trim().is_empty();
        is_said.then(|| text(&words)).into_iter().chain(pictures).collect()
    }
}

/// A text, as most agents take it.
pub(super) fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// One turn with an agent that can be talked to.
#[derive(Debug)]
pub(super) enum Protocol {
    Claude(Claude),
    Codex(Codex),
    Acp(Acp),
    Opencode(Opencode),
}

impl Protocol {
    /// What is said before anything is heard.
    pub(super) fn begin(&mut self) -> Vec<Said> {
        match self {
            Protocol::Claude(_) => Claude::begin(),
            Protocol::Codex(_) => Codex::begin(),
            Protocol::Acp(acp) => acp.begin(),
            Protocol::Opencode(opencode) => opencode.begin(),
        }
    }

    pub(super) fn hear(&mut self, line: &str) -> Reaction {
        match self {
            Protocol::Claude(claude) => claude.hear(line),
            Protocol::Codex(codex) => codex.hear(line),
            Protocol::Acp(acp) => acp.hear(line),
            Protocol::Opencode(opencode) => opencode.hear(line),
        }
    }

    /// Answers what the agent asked. Nothing if it does not ask this, or cannot take this answer.
    pub(super) fn answer(&mut self, ask: &str, decision: Decision<'_>) -> Option<Said> {
        match self {
            Protocol::Claude(claude) => claude.answer(ask, decision),
            Protocol::Codex(codex) => codex.answer(ask, decision),
            Protocol::Acp(acp) => acp.answer(ask, decision),
            Protocol::Opencode(opencode) => opencode.answer(ask, decision),
        }
    }

    /// Asks the agent to stop what it does.
    pub(super) fn interrupt(&mut self) -> Option<Said> {
        match self {
            Protocol::Claude(_) => Some(Claude::interrupt()),
            Protocol::Codex(codex) => codex.interrupt(),
            Protocol::Acp(acp) => acp.interrupt(),
            Protocol::Opencode(opencode) => opencode.interrupt(),
        }
    }

    /// What the agent calls this conversation, once it has said so.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Protocol::Claude(claude) => claude.session(),
            Protocol::Codex(codex) => codex.session(),
            Protocol::Acp(acp) => acp.session(),
            Protocol::Opencode(opencode) => opencode.session(),
        }
    }
}
