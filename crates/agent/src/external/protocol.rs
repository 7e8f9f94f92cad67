//! Agent protocols as pure state machines: lines in, messages to send out.
//!
//! Does: track one turn's state in a protocol. Does not: read, write or wait, or turn lines into
//! events, which the engine does.

use millpond_engine::event::Image;
use serde_json::{Map, Value, json};

use super::acp::Acp;
use super::claude::Claude;
use super::codex::Codex;
use super::opencode::Opencode;
use crate::images::add_omitted_images_note;

/// A message to send to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OutgoingMessage {
    /// A JSON line for its standard input.
    Line(String),
    /// An HTTP POST to its server.
    Post { path: String, body: String },
}

/// State of the turn after a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TurnEnd {
    #[default]
    NotYet,
    Over,
    /// The turn failed.
    Failed,
}

/// Result of handling one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineOutcome {
    /// Messages to send.
    pub(super) replies: Vec<OutgoingMessage>,
    /// True if the line belongs to this turn, not to the handshake or an earlier turn.
    pub(super) is_for_log: bool,
    pub(super) turn_end: TurnEnd,
    /// True if the agent no longer has the session and a new one is being opened.
    pub(super) is_session_lost: bool,
    /// True if the agent does not accept this turn's images.
    pub(super) cannot_show_images: bool,
}

impl LineOutcome {
    /// A line for the log, with no reply.
    pub(super) fn for_log() -> LineOutcome {
        LineOutcome { is_for_log: true, ..LineOutcome::default() }
    }

    /// A line for the log that ends the turn.
    pub(super) fn turn_over() -> LineOutcome {
        LineOutcome { is_for_log: true, turn_end: TurnEnd::Over, ..LineOutcome::default() }
    }

    /// A handshake line that is answered with `messages`.
    pub(super) fn reply_without_log(
        messages: impl IntoIterator<Item = OutgoingMessage>,
    ) -> LineOutcome {
        LineOutcome { replies: messages.into_iter().collect(), ..LineOutcome::default() }
    }
}

/// Decision on an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision<'a> {
    /// A person's answer: an option of the ask, or free text.
    Answer(&'a str),
    /// Allowed once, without asking.
    Allow,
    /// Denied: the ask expired.
    Deny,
}

/// Prompt and settings of one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TurnInput {
    pub(super) prompt: String,
    pub(super) images: Vec<Image<'static>>,
    pub(super) folder: String,
    /// The agent's id of the session to resume.
    pub(super) agent_session: Option<String>,
    pub(super) model: Option<String>,
    /// Extra parameters of the request that opens the session, for agents that take them.
    pub(super) session_params: Map<String, Value>,
}

impl TurnInput {
    /// Text and images of the prompt, converted by `text` and `image_part`. Blank text beside
    /// images is left out.
    pub(super) fn prompt_parts(
        &self,
        text: impl Fn(&str) -> Value,
        image_part: impl Fn(&str, &str) -> Value,
    ) -> Vec<Value> {
        let images: Vec<Value> = self
            .images
            .iter()
            .filter_map(|image| match image {
                Image::Inline { media_type, base64 } => Some(image_part(media_type, base64)),
                Image::Url { .. } | Image::Kept { .. } => None,
            })
            .collect();
        let prompt_text = add_omitted_images_note(&self.prompt, self.images.len() - images.len());
        let has_text = images.is_empty() || !prompt_text.trim().is_empty();
        has_text.then(|| text(&prompt_text)).into_iter().chain(images).collect()
    }
}

/// Text content in the form that most agents take.
pub(super) fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// State of one turn in the agent's protocol.
#[derive(Debug)]
pub(super) enum Protocol {
    Claude(Claude),
    Codex(Codex),
    Acp(Acp),
    Opencode(Opencode),
}

impl Protocol {
    /// Messages to send before the first line.
    pub(super) fn opening_messages(&mut self) -> Vec<OutgoingMessage> {
        match self {
            Protocol::Claude(_) => Claude::opening_messages(),
            Protocol::Codex(_) => Codex::opening_messages(),
            Protocol::Acp(acp) => acp.opening_messages(),
            Protocol::Opencode(opencode) => opencode.opening_messages(),
        }
    }

    /// Handles one line from the agent.
    pub(super) fn handle_line(&mut self, line: &str) -> LineOutcome {
        match self {
            Protocol::Claude(claude) => claude.handle_line(line),
            Protocol::Codex(codex) => codex.handle_line(line),
            Protocol::Acp(acp) => acp.handle_line(line),
            Protocol::Opencode(opencode) => opencode.handle_line(line),
        }
    }

    /// Message that answers an ask. `None` if the ask is not open or does not accept the decision.
    pub(super) fn try_build_answer_and_close_ask(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
    ) -> Option<OutgoingMessage> {
        match self {
            Protocol::Claude(claude) => claude.try_build_answer_and_close_ask(ask, decision),
            Protocol::Codex(codex) => codex.try_build_answer_and_close_ask(ask, decision),
            Protocol::Acp(acp) => acp.try_build_answer_and_close_ask(ask, decision),
            Protocol::Opencode(opencode) => opencode.try_build_answer_and_close_ask(ask, decision),
        }
    }

    /// Message that interrupts the turn.
    pub(super) fn interrupt_message(&mut self) -> Option<OutgoingMessage> {
        match self {
            Protocol::Claude(_) => Some(Claude::interrupt_message()),
            Protocol::Codex(codex) => codex.interrupt_message(),
            Protocol::Acp(acp) => acp.interrupt_message(),
            Protocol::Opencode(opencode) => opencode.interrupt_message(),
        }
    }

    /// The agent's session id, once known.
    pub(super) fn agent_session_id(&self) -> Option<&str> {
        match self {
            Protocol::Claude(claude) => claude.agent_session_id(),
            Protocol::Codex(codex) => codex.agent_session_id(),
            Protocol::Acp(acp) => acp.agent_session_id(),
            Protocol::Opencode(opencode) => opencode.agent_session_id(),
        }
    }
}
