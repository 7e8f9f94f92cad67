//! The Agent Client Protocol, versions 1 and 2: JSON-RPC lines, of the agent alone or of both
//! sides.
//!
//! Text is incremental; version 2 may also send a message whole. A turn ends with the answer to
//! `session/prompt`, which has a `stopReason`, or with a `state_update` that has one. Rounds are
//! not marked. A call may be known from `session/request_permission` only.

mod content;
mod messages;
mod request;
mod tool;

use std::collections::VecDeque;

use crate::event::{Event, Level, ReasoningOrigin, TextMode, UnrecognisedReason, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, number, object};
use crate::ingest::probe::{Likeness, Probe};
use crate::limits::HELD_PIECES_BYTES_MAX;
use crate::run::{Fingerprint, Rounds, Writer};

use super::agents::Voice;
use super::repeated::Repeated;
use super::{Dialect, Unreadable};

use content::Meta;
use messages::Messages;
use request::Request;
use tool::Tools;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Acp {
    /// What the person writes, until something else comes.
    prompt: Option<Prompt>,
    /// What the client has just sent, until the agent echoes it.
    sent: Option<Fingerprint>,
    /// The last prompt that the agent told of.
    told: (String, Fingerprint),
    messages: Messages,
    thoughts: Repeated,
    tools: Tools,
    requests: VecDeque<Request>,
    summary: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Prompt {
    id: String,
    text: String,
}

object! { Line {
    id: &'a RawValue = "id",
    method: Text<'a> = "method",
    params: &'a RawValue = "params",
    result: &'a RawValue = "result",
    error: &'a RawValue = "error",
    ; skip "jsonrpc" | "_meta"
} }

object! { Params {
    update: &'a RawValue = "update",
    prompt: &'a RawValue = "prompt",
    options: &'a RawValue = "options",
    tool_call: &'a RawValue = "toolCall",
    ; skip "sessionId" | "_meta" | "messageId"
} }

object! { Update {
    kind: Text<'a> = "sessionUpdate",
    message: Text<'a> = "messageId",
    content: &'a RawValue = "content",
    entries: &'a RawValue = "entries",
    mode: Text<'a> = "currentModeId",
    cost: &'a RawValue = "cost",
    severity: Text<'a> = "severity",
    title: Text<'a> = "title",
    description: Text<'a> = "description",
    status: Text<'a> = "status",
    stop_reason: Text<'a> = "stopReason",
    meta: &'a RawValue = "_meta",
    ; skip "state" | "used" | "size" | "compactionId" | "availableCommands" | "configOptions"
        | "updatedAt" | "toolCallId" | "name" | "kind" | "rawInput" | "rawOutput" | "locations"
        | "_note"
} }

const USAGE: Shape<5> = Shape {
    read: ["inputTokens", "outputTokens", "thoughtTokens", "cachedReadTokens", "cachedWriteTokens"],
    skip: &[],
};
impl Dialect for Acp {
    const NAME: &'static str = "acp";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_session = || ["sessionId", "cwd"].iter().any(|key| probe.inner_has("params", key));
        let ours = match probe.text("method").as_deref() {
            Some("session/update") => probe.inner_has("params", "update"),
            Some("session/prompt" | "session/request_permission" | "session/new") => of_session(),
            Some("initialize") => probe.inner_has("params", "clientCapabilities"),
            Some(_) => false,
            None => ["agentCapabilities", "stopReason"]
                .iter()
                .any(|key| probe.has("jsonrpc") && probe.inner_has("result", key)),
        };
        if ours { Likeness::Yes } else { Likeness::maybe_if(probe.has("jsonrpc")) }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.rounds(Rounds::AfterResults);
        out.unknown_fields(&line.unknown);
        let Some(method) = &line.method else {
            self.flush_prompt(out);
            self.answer(&line, frame, out);
            return Ok(());
        };
        let params: Params<'_> = match line.params {
            // Only these are looked at; others may have any shape.
            Some(raw) if method.starts_with("session/") => {
                serde_json::from_str(raw.get()).map_err(|_| Unreadable)?
            }
            _ => Params::default(),
        };
        if &**method != "session/update" {
            self.flush_prompt(out);
            self.request(method, line.id, &params, frame, out);
            return Ok(());
        }
        out.unknown_fields(&params.unknown);
        let Some(raw) = params.update else {
            return Err(Unreadable);
        };
        let update: Update<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
        self.update(&update, raw, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.flush_prompt(out);
    }
}

/// Updates.
impl Acp {
    fn update(&mut self, update: &Update<'_>, raw: &RawValue, out: &mut Writer<'_>) {
        let kind = update.kind.as_deref().unwrap_or("");
        if !matches!(kind, "user_message_chunk" | "user_message") {
            self.flush_prompt(out);
        }
        if !matches!(kind, "tool_call" | "tool_call_update" | "tool_call_content_chunk") {
            out.unknown_fields(&update.unknown);
        }
        match kind {
            "agent_message_chunk" | "agent_thought_chunk" | "agent_message" | "agent_thought" => {
                self.said(kind, update, raw, out);
            }
            "user_message_chunk" | "user_message" => self.buffer_prompt(kind, update, out),
            "tool_call" | "tool_call_update" => self.tools.update(kind, raw, out),
            "tool_call_content_chunk" => Tools::content_chunk(raw, out),
            "plan" | "plan_update" if let Some(entries) = update.entries => {
                out.notice(Level::Info, &content::plan(entries));
            }
            "current_mode_update" => {
                let mode = update.mode.as_deref().unwrap_or("?");
                out.notice(Level::Info, &format!("mode: {mode}"));
            }
            "usage_update" => {
                if let Some(cost_usd) = update.cost.and_then(content::dollars) {
                    out.run_usage(Usage { cost_usd: Some(cost_usd), ..Usage::default() });
                }
            }
            "notice" => notice(update, out),
            "compaction_summary_chunk" => {
                let text = update.content.map(content::plain).unwrap_or_default();
                hold(&mut self.summary, &text, out);
            }
            "compaction_update" => self.compaction(update.status.as_deref(), out),
            "state_update" => {
                if let Some(reason) = &update.stop_reason {
                    self.stop(reason, out);
                }
            }
            "available_commands_update" | "config_option_update" | "session_info_update" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }

    fn said(&mut self, kind: &str, update: &Update<'_>, raw: &RawValue, out: &mut Writer<'_>) {
        let meta = update.meta.map(Meta::read).unwrap_or_default();
        let id = update.message.as_deref().unwrap_or("");
        let is_message = matches!(kind, "agent_message" | "agent_message_chunk");
        let text = update.content.map(content::plain).unwrap_or_default();
        let images = update.content.filter(|_| is_message).map(content::images);
        let images = images.unwrap_or_default();
        if update.content.is_some_and(content::has_unreadable) {
            out.unrecognised(UnrecognisedReason::Frame, raw.get());
        }
        if let Some(call) = meta.parent.as_deref() {
            match out.step_of(call) {
                Some(step) if is_message => {
                    out.output(step, &text);
                    for image in images {
                        out.output_image(step, image);
                    }
                }
                // What a sub-agent thinks is not what its tool puts out.
                Some(_) => {}
                None => out.unrecognised(UnrecognisedReason::Late, raw.get()),
            }
            return;
        }
        let shown_before = kind == "agent_message" && self.messages.knows(id);
        match kind {
            // Without content, something else about the message is told.
            "agent_message" if update.content.is_none() && !content::is_cleared(raw) => {}
            "agent_message" => self.messages.whole(id, &text, out),
            "agent_thought" => self.thoughts.thought(id, &text, out),
            "agent_thought_chunk" if id.is_empty() => {
                out.reasoning(&text, ReasoningOrigin::Native);
            }
            "agent_thought_chunk" => self.thoughts.thought_delta(id, &text, out),
            _ => self.messages.chunk(id, &text, out),
        }
        if !shown_before {
            if is_message && !(text.trim_ascii().is_empty() && images.is_empty()) {
                self.tools.voice = Voice::Heard;
            }
            for image in images {
                out.image(image);
                self.messages.pictured();
            }
        }
        if let Some(usage) = meta.usage {
            out.round_usage(usage_of(usage));
        }
    }

    fn buffer_prompt(&mut self, kind: &str, update: &Update<'_>, out: &mut Writer<'_>) {
        let id = update.message.as_deref().unwrap_or("");
        let text = update.content.map(content::plain).unwrap_or_default();
        if self.prompt.as_ref().is_some_and(|prompt| prompt.id != id) {
            self.flush_prompt(out);
        }
        let prompt = self.prompt.get_or_insert_default();
        id.clone_into(&mut prompt.id);
        if kind == "user_message" {
            prompt.text.clear();
        }
        hold(&mut prompt.text, &text, out);
    }

    fn flush_prompt(&mut self, out: &mut Writer<'_>) {
        let Some(prompt) = self.prompt.take() else { return };
        let print = Fingerprint::of(&prompt.text);
        // Agents echo what the client has just sent, once.
        let echo = self.sent.take().is_some_and(|sent| sent.same_text(&print));
        let (id, told) = &self.told;
        let again = !prompt.id.is_empty() && *id == prompt.id && told.same_text(&print);
        if !echo && !again {
            self.write_prompt(&prompt.text, out);
        }
        self.told = (prompt.id, print);
    }

    fn write_prompt(&mut self, text: &str, out: &mut Writer<'_>) {
        out.end_round(None);
        out.prompt(text);
        out.ensure_round();
        self.tools.voice = Voice::Heard;
    }

    fn compaction(&mut self, status: Option<&str>, out: &mut Writer<'_>) {
        match status {
            Some("completed") => {
                let summary = std::mem::take(&mut self.summary);
                let summary = (!summary.is_empty()).then(|| summary.into());
                out.note(Event::HistoryCompacted { summary });
            }
            Some("failed") => out.notice(Level::Warning, "the history could not be compacted"),
            _ => self.summary.clear(),
        }
    }
}

/// Adds a piece to what is held until all of it has come.
fn hold(held: &mut String, piece: &str, out: &mut Writer<'_>) {
    if held.len() + piece.len() <= HELD_PIECES_BYTES_MAX {
        held.push_str(piece);
    } else {
        out.unrecognised(UnrecognisedReason::TooLong, piece);
    }
}

fn notice(update: &Update<'_>, out: &mut Writer<'_>) {
    let level = match update.severity.as_deref() {
        Some("error") => Level::Error,
        Some("warning") => Level::Warning,
        _ => Level::Info,
    };
    let words = [update.title.as_deref(), update.description.as_deref()];
    let words: Vec<&str> = words.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    out.notice(level, &words.join(": "));
}

fn usage_of(raw: &RawValue) -> Usage {
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, reasoning, cache_read, cache_write] =
        usage.read.map(|member| member.and_then(number));
    Usage {
        input_tokens: input,
        output_tokens: output,
        reasoning_tokens: reasoning,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        cost_usd: None,
    }
}
