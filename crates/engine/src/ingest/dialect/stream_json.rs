//! The `stream-json` output that Claude Code began and Qwen Code took over: one object per line;
//! `stream_event` wraps the events of an Anthropic reply, `assistant` lines repeat its blocks whole,
//! `user` lines carry tool results, `result` ends the run.
//!
//! Does: show each block once, whichever way it comes first; keep sub-agents with their tool.
//! Does not: end the run when a reply ends. Not a dialect itself: [`Habits`] says what differs.

mod agents;
mod asks;
mod heard;
mod told;
mod whole;

use crate::event::{Stop, UnrecognisedReason};
use crate::ingest::frame::{Direction, Frame};
use crate::ingest::json::{RawValue, Shape, Text, object, string};
use crate::ingest::probe::Probe;
use crate::ingest::time::iso_millis;
use crate::run::{Fingerprint, Writer};

use super::agents::LastError;
use super::anthropic::{Anthropic, ClientTool, refuse, stop_of, usage_of};
use super::{Dialect, Unreadable};

use agents::Agents;
use asks::Asks;
use heard::{Heard, Lines, Show};

/// What one agent does in its own way.
#[derive(Debug, PartialEq)]
pub(super) struct Habits {
    pub(super) repeats: Repeats,
    pub(super) tool: ClientTool,
    /// Fields that mean nothing here and that only this agent has.
    pub(super) fields: &'static [&'static str],
    /// Events inside `stream_event` that mean nothing here.
    pub(super) events: &'static [&'static str],
}

/// How a whole block is known to be of a message that is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    /// It has the id of that message.
    ById,
    /// It has an id of its own and comes while the message streams.
    ByPlace,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct StreamJson {
    habits: &'static Habits,
    reply: Anthropic,
    heard: Heard,
    lines: Lines,
    round: Round,
    agents: Agents,
    asks: Asks,
    error: LastError,
}

/// The model call that is open, or was last.
#[derive(Clone, Debug, Default, PartialEq)]
struct Round {
    id: Fingerprint,
    stop: Option<Stop>,
    /// A tool's result has come since it began.
    answered: bool,
    /// Whole lines of it, by which the source may take them back.
    lines: Vec<Fingerprint>,
}

/// Lines of one round that can be taken back by name.
const ROUND_LINES_MAX: usize = 64;

object! { Line {
    kind: Text<'a> = "type",
    subtype: Text<'a> = "subtype",
    parent: Text<'a> = "parent_tool_use_id",
    event: &'a RawValue = "event",
    message: &'a RawValue = "message",
    timestamp: Text<'a> = "timestamp",
    uuid: Text<'a> = "uuid",
    abandoned: &'a RawValue = "abandoned_blocks",
    supersedes: &'a RawValue = "supersedes",
    retracted: &'a RawValue = "retracted_message_uuids",
    error: &'a RawValue = "error",
    error_status: &'a RawValue = "error_status",
    is_api_error: &'a RawValue = "is_api_error_message",
    is_synthetic: &'a RawValue = "isSynthetic",
    result_meta: &'a RawValue = "tool_result_meta",
    result: &'a RawValue = "result",
    is_error: &'a RawValue = "is_error",
    errors: &'a RawValue = "errors",
    stop_reason: Text<'a> = "stop_reason",
    terminal_reason: Text<'a> = "terminal_reason",
    cost: &'a RawValue = "total_cost_usd",
    usage: &'a RawValue = "usage",
    attempt: &'a RawValue = "attempt",
    attempts_max: &'a RawValue = "max_retries",
    retry_delay: &'a RawValue = "retry_delay_ms",
    call: Text<'a> = "tool_use_id",
    elapsed: &'a RawValue = "elapsed_time_seconds",
    text: &'a RawValue = "text",
    content: &'a RawValue = "content",
    summary: &'a RawValue = "summary",
    description: &'a RawValue = "description",
    level: Text<'a> = "level",
    request_id: Text<'a> = "request_id",
    request: &'a RawValue = "request",
    response: &'a RawValue = "response",
    ; skip "session_id" | "cwd" | "tools" | "mcp_servers" | "model" | "slash_commands" | "agents"
        | "tool_use_result" | "isReplay" | "duration_ms" | "duration_api_ms" | "num_turns"
        | "permission_denials" | "tool_name" | "status" | "subagent_type"
} }

object! { Event {
    kind: Text<'a> = "type",
    index: u64 = "index",
    delta: Delta<'a> = "delta",
    block: &'a RawValue = "content_block",
    message: &'a RawValue = "message",
    usage: &'a RawValue = "usage",
    ; skip "context_management" | "request_id" | "service_tier" | "api_message_id"
} }

object! { Delta {
    kind: Text<'a> = "type",
    text: Text<'a> = "text",
    thinking: Text<'a> = "thinking",
    partial_json: Text<'a> = "partial_json",
    stop_reason: Text<'a> = "stop_reason",
    stop_details: &'a RawValue = "stop_details",
    ; skip "stop_sequence" | "container"
} }

const MESSAGE: Shape<6> = Shape {
    read: ["id", "model", "content", "usage", "stop_reason", "stop_details"],
    skip: &["type", "role", "stop_sequence", "context_management", "container", "diagnostics"],
};

const BLOCK: Shape<6> =
    Shape { read: ["type", "id", "text", "name", "input", "thinking"], skip: &[] };

impl StreamJson {
    pub(super) fn new(habits: &'static Habits) -> StreamJson {
        StreamJson {
            habits,
            reply: Anthropic::of_agent(habits.tool),
            heard: Heard::default(),
            lines: Lines::default(),
            round: Round::default(),
            agents: Agents::default(),
            asks: Asks::default(),
            error: LastError::default(),
        }
    }

    pub(super) fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let mut line = Line::default();
        line.read(frame.data)?;
        line.unknown.retain(|(name, _)| !self.habits.fields.contains(&name.as_str()));
        out.unknown_fields(&line.unknown);
        if let Some(at) = line.timestamp.as_deref().and_then(iso_millis) {
            out.at(at);
        }
        if matches!(line.kind.as_deref(), Some("stream_event" | "assistant" | "user")) {
            self.error.tell(out);
        }
        match line.kind.as_deref().unwrap_or("") {
            "stream_event" => self.stream_event(&line, frame, out)?,
            "assistant" => self.assistant(&line, frame, out)?,
            "user" => self.user(&line, frame, out)?,
            "result" => self.result(&line, out),
            "system" => self.system(&line, frame, out),
            "control_request" | "control_response" | "control_cancel_request" => {
                self.control(&line, frame, out);
            }
            "tool_progress" => told::progress(&line, out),
            "tool_use_summary" => told::notice(line.summary, out),
            "rate_limit_event" | "auth_status" | "prompt_suggestion" | "keep_alive"
            | "conversation_reset" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    /// No more lines come: tools that were refused and never heard of again stay refused.
    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        self.asks.end_denied(out);
        self.error.tell(out);
    }

    fn stream_event(
        &mut self,
        line: &Line<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let raw = line.event.ok_or(Unreadable)?;
        let mut event = Event::default();
        event.read(raw.get())?;
        let kind = event.kind.as_deref().unwrap_or("");
        if self.habits.events.contains(&kind) {
            return Ok(());
        }
        if let Some(parent) = line.parent.as_deref() {
            self.agent_event(parent, &event, frame, out);
            return Ok(());
        }
        let show = match kind {
            "message_start" => self.message_start(&event, out),
            "message_delta" => {
                self.message_delta(&event, out);
                Show::No
            }
            "message_stop" => {
                out.unknown_fields(&event.unknown);
                self.message_stop(line, out);
                Show::No
            }
            "content_block_start" => self.block_start("", &event, out),
            "content_block_delta" => match self.block_delta("", &event) {
                Show::Yes => self.joined_delta(&event, out),
                show => show,
            },
            "content_block_stop" => {
                if self.heard.streaming("").stop(event.index.unwrap_or(0)) {
                    out.end_message();
                }
                Show::Yes
            }
            _ => Show::Yes,
        };
        if show == Show::Yes {
            let inner = Frame { name: "", data: raw.get(), from: Direction::Agent };
            self.reply.frame(inner, out)?;
        }
        Ok(())
    }

    fn message_start(&mut self, event: &Event<'_>, out: &mut Writer<'_>) -> Show {
        let id = event.message.and_then(|raw| MESSAGE.read(raw.get())?.read[0]).and_then(string);
        let id = id.unwrap_or_default();
        self.heard.start("", &id);
        if out.in_round() && !id.is_empty() && self.round.id == Fingerprint::of(&id) {
            return Show::No;
        }
        self.begin_round(&id, out);
        Show::Yes
    }

    /// The round before is over; whoever calls this opens the next.
    fn begin_round(&mut self, id: &str, out: &mut Writer<'_>) {
        let before = std::mem::take(&mut self.round);
        out.end_round(before.stop());
        self.round.id = Fingerprint::of(id);
    }

    fn message_delta(&mut self, event: &Event<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&event.unknown);
        if let Some(usage) = event.usage {
            out.round_usage(usage_of(usage));
        }
        let Some(delta) = &event.delta else { return };
        out.unknown_fields(&delta.unknown);
        if let Some(reason) = &delta.stop_reason {
            self.stop_round(reason, delta.stop_details, out);
        }
    }

    fn stop_round(&mut self, reason: &str, details: Option<&RawValue>, out: &mut Writer<'_>) {
        match stop_of(reason) {
            Some(stop) => self.round.stop = Some(stop),
            None => refuse(details, out),
        }
    }

    fn message_stop(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        if line.abandoned.is_some() {
            self.withdraw(out);
            return;
        }
        self.heard.stop("");
        // Any other end may be the last: then `result` says so while the round is still open.
        if self.round.stop == Some(Stop::Tools) {
            out.end_round(Some(Stop::Tools));
        }
    }

    /// The source takes back what the open round said, and says it anew.
    fn withdraw(&mut self, out: &mut Writer<'_>) {
        self.heard.forget_newest("");
        self.round = Round::default();
        out.withdraw_round();
    }

    fn block_start(&mut self, parent: &str, event: &Event<'_>, out: &mut Writer<'_>) -> Show {
        let Some(block) = event.block.and_then(|raw| BLOCK.read(raw.get())) else {
            return Show::Yes;
        };
        let [kind, call, text, _, input, thinking] = block.read;
        let kind = kind.and_then(string).unwrap_or_default();
        let call = call.and_then(string).unwrap_or_default();
        let words = match kind.as_ref() {
            "text" => text.and_then(string).unwrap_or_default(),
            "thinking" => thinking.and_then(string).unwrap_or_default(),
            "tool_use" => match input.map_or("{}", RawValue::get) {
                "{}" => "".into(),
                input => input.into(),
            },
            _ => kind.clone(),
        };
        let index = event.index.unwrap_or(0);
        let show = self.heard.streaming(parent).begin(index, &kind, &call, &words);
        if show == Show::Yes && kind == "text" && parent.is_empty() {
            out.begin_message(None);
        }
        show
    }

    fn block_delta(&mut self, parent: &str, event: &Event<'_>) -> Show {
        let Some(delta) = &event.delta else { return Show::Yes };
        let kind = delta.kind.as_deref().unwrap_or("");
        let (text, block) = match kind {
            "text_delta" => (&delta.text, "text"),
            "thinking_delta" => (&delta.thinking, "thinking"),
            "input_json_delta" => (&delta.partial_json, "tool_use"),
            _ => return Show::Yes,
        };
        let words = text.as_deref().unwrap_or("");
        if words.is_empty() {
            return Show::No;
        }
        self.heard.streaming(parent).say(event.index.unwrap_or(0), block, words)
    }

    /// A text whose start was missed is kept, so that it can be put right when it comes whole.
    fn joined_delta(&mut self, event: &Event<'_>, out: &mut Writer<'_>) -> Show {
        let text = event.delta.as_ref().and_then(|delta| delta.text.as_deref());
        match text {
            Some(text) if self.heard.streaming("").is_joined_text(event.index.unwrap_or(0)) => {
                out.text_kept(text);
                Show::No
            }
            _ => Show::Yes,
        }
    }
}

/// A text inside a member of a frame.
pub(super) fn inner_text(probe: &Probe<'_>, member: &str, key: &'static str) -> Option<String> {
    let inner = Shape { read: [key], skip: &[] }.read(probe.get(member)?.get())?;
    inner.read[0].and_then(string).map(std::borrow::Cow::into_owned)
}
