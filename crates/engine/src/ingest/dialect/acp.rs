//! The Agent Client Protocol, versions 1 and 2: JSON-RPC lines, of the agent alone or of both
//! sides.
//!
//! Text is incremental; version 2 may also send a message whole. A turn ends with the answer to
//! `session/prompt`, which has a `stopReason`, or with a `state_update` that has one. Rounds are
//! not marked. A call may be known from `session/request_permission` only.

mod content;
mod tool;

use std::collections::VecDeque;

use crate::event::{
    AnsweredBy, AskKind, AskOption, Event, FailureReason, Level, ReasoningOrigin, Stop, TextMode, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::{Direction, Frame};
use crate::ingest::json::{
    RawValue, Shape, Text, elements, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{Rounds, Writer};

use super::openai_chat::error_text;
use super::repeated::Repeated;
use super::{Dialect, Unreadable};

use content::Meta;
use tool::Tools;

#[derive(Clone, Debug, Default)]
pub(crate) struct Acp {
    /// What the person writes, until something else comes.
    prompt: Option<Prompt>,
    last_prompt: String,
    texts: Repeated,
    thoughts: Repeated,
    tools: Tools,
    requests: VecDeque<Request>,
    summary: String,
}

#[derive(Clone, Debug, Default)]
struct Prompt {
    id: String,
    text: String,
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
struct Request {
    id: String,
    by: Direction,
    what: Asked,
}

#[derive(Clone, Debug)]
enum Asked {
    Turn,
    /// A turn cannot do without the answer.
    Session,
    Permission { call: String, rejections: Vec<String> },
    Other,
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

const RESULT: Shape<4> = Shape { read: ["stopReason", "usage", "outcome", "_meta"], skip: &[] };
const USAGE: Shape<5> = Shape {
    read: ["inputTokens", "outputTokens", "thoughtTokens", "cachedReadTokens", "cachedWriteTokens"],
    skip: &[],
};
const OPTION: Shape<3> = Shape { read: ["optionId", "name", "kind"], skip: &[] };

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
        match ours {
            true => Likeness::Yes,
            false => Likeness::maybe_if(probe.has("jsonrpc")),
        }
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
        let Some(raw) = params.update else { return Err(Unreadable) };
        let update: Update<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
        self.update(&update, raw, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.flush_prompt(out);
    }
}

/// Requests and their answers.
impl Acp {
    fn request(
        &mut self,
        method: &str,
        id: Option<&RawValue>,
        params: &Params<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let id = id.map(string_or_json).unwrap_or_default();
        let (by, what) = match method {
            "session/prompt" => {
                let text = params.prompt.map(content::plain).unwrap_or_default();
                self.write_prompt(text, out);
                (Direction::Client, Asked::Turn)
            }
            "session/request_permission" => {
                (Direction::Agent, self.permission(&id, params, out))
            }
            "initialize" | "session/new" | "session/load" | "session/resume" => {
                (Direction::Client, Asked::Session)
            }
            "authenticate" | "logout" | "session/cancel" | "session/set_mode" | "session/list"
            | "session/set_model" | "session/set_config_option" | "session/close"
            | "session/fork" | "session/delete" | "$/cancel_request" => {
                (Direction::Client, Asked::Other)
            }
            "fs/read_text_file" | "fs/write_text_file" | "terminal/create" | "terminal/output"
            | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release"
            | "craft/drainMidTurnQueue" => (Direction::Agent, Asked::Other),
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, frame.data);
                (frame.from, Asked::Other)
            }
        };
        if OPEN_TOOLS_MAX <= self.requests.len() {
            self.requests.pop_front();
        }
        self.requests.push_back(Request { id: id.into_owned(), by, what });
    }

    fn permission(&mut self, id: &str, params: &Params<'_>, out: &mut Writer<'_>) -> Asked {
        let call = params.tool_call.and_then(|raw| self.tools.asked(raw, out));
        let mut options = Vec::new();
        let mut rejections = Vec::new();
        for raw in params.options.map(elements).unwrap_or_default() {
            let Some(option) = OPTION.read(raw.get()) else { continue };
            let [id, label, kind] = option.read.map(|member| member.and_then(string));
            let id = id.unwrap_or_default();
            if kind.is_some_and(|kind| kind.starts_with("reject")) {
                rejections.push(id.clone().into_owned());
            }
            options.push(AskOption { label: label.unwrap_or_else(|| id.clone()), id });
        }
        let (kind, text, call) = match call {
            Some(call) => (call.ask, call.text, call.id),
            None => (AskKind::Tool, String::new(), String::new()),
        };
        out.ask(id, kind, &text, options, out.step_of(&call));
        Asked::Permission { call, rejections }
    }

    fn answer(&mut self, line: &Line<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let id = line.id.map(string_or_json).unwrap_or_default();
        let result = line.result.and_then(|raw| RESULT.read(raw.get()));
        let [stop, usage, outcome, meta] = result.map(|result| result.read).unwrap_or_default();
        let asked = self.asked(&id, frame.from, outcome.is_some());
        if let Some(usage) = usage {
            out.run_usage(usage_of(usage));
        } else if let Some(usage) = meta.and_then(content::quota) {
            out.run_usage(usage);
        }
        match (asked, line.error) {
            (Some(Asked::Permission { call, rejections }), _) => {
                let answer = outcome.map(content::choice).unwrap_or("cancelled".into());
                out.resolve_ask(&id, &answer, AnsweredBy::Person);
                let rejected = answer == "cancelled" || rejections.contains(&answer);
                if rejected && let Some(step) = out.step_of(&call) {
                    self.tools.end(&call, step, ToolOutcome::Denied, out);
                }
            }
            (Some(Asked::Other), _) => {}
            (Some(Asked::Turn | Asked::Session) | None, Some(error))
                if frame.from == Direction::Agent =>
            {
                self.fail(error, out);
            }
            _ => {}
        }
        if let Some(stop) = stop.and_then(string) {
            self.stop(&stop, out);
        }
    }

    /// The request that is answered. Both sides count their own, so that ids alone do not tell.
    fn asked(&mut self, id: &str, from: Direction, outcome: bool) -> Option<Asked> {
        let at = self.requests.iter().rposition(|request| {
            let permission = matches!(request.what, Asked::Permission { .. });
            // In the agent's lines alone, or unmarked ones, every line counts as the agent's.
            let by_other = from == Direction::Agent || request.by == Direction::Agent;
            request.id == id && by_other && permission == outcome
        });
        let at = at.or_else(|| self.requests.iter().rposition(|request| request.id == id))?;
        self.requests.remove(at).map(|request| request.what)
    }

    fn stop(&mut self, reason: &str, out: &mut Writer<'_>) {
        match reason {
            "end_turn" => out.complete(Stop::End),
            "max_tokens" => out.complete(Stop::Length),
            "max_turn_requests" => {
                out.fail(FailureReason::Limit, "the limit of requests in a turn was reached");
            }
            "refusal" => out.fail(FailureReason::Refused, "the agent refused"),
            "cancelled" => out.cancelled(""),
            _ => out.complete(Stop::Other),
        }
        // What the agent says after this belongs to another turn.
        out.end_round(None);
    }

    fn fail(&mut self, error: &RawValue, out: &mut Writer<'_>) {
        const CANCELLED: &str = "-32800";
        const ERROR: Shape<1> = Shape { read: ["code"], skip: &[] };
        let code = ERROR.read(error.get()).and_then(|error| error.read[0]);
        if code.is_some_and(|code| code.get() == CANCELLED) {
            out.cancelled(&error_text(error));
        } else {
            out.fail(FailureReason::Error, &error_text(error));
        }
        out.end_round(None);
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
                self.said(kind, update, out);
            }
            "user_message_chunk" | "user_message" => self.buffer_prompt(kind, update, out),
            "tool_call" | "tool_call_update" => self.tools.update(kind, raw, out),
            "tool_call_content_chunk" => self.tools.content_chunk(raw, out),
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
                self.summary += &update.content.map(content::plain).unwrap_or_default();
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

    fn said(&mut self, kind: &str, update: &Update<'_>, out: &mut Writer<'_>) {
        let meta = update.meta.map(Meta::read).unwrap_or_default();
        let id = update.message.as_deref().unwrap_or("");
        let text = update.content.map(content::plain).unwrap_or_default();
        let shown_before = kind == "agent_message" && self.texts.knows(id);
        if let Some(step) = meta.parent.as_deref().and_then(|call| out.step_of(call)) {
            out.output(step, &text);
            return;
        }
        match kind {
            "agent_message" => self.texts.text(id, &text, out),
            "agent_thought" => self.thoughts.thought(id, &text, out),
            "agent_thought_chunk" if id.is_empty() => {
                out.reasoning(&text, ReasoningOrigin::Native);
            }
            "agent_thought_chunk" => self.thoughts.thought_delta(id, &text, out),
            _ if id.is_empty() => out.text(&text),
            _ => self.texts.text_delta(id, &text, out),
        }
        if !shown_before {
            for image in update.content.map(content::images).unwrap_or_default() {
                out.image(image);
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
            prompt.text = text;
        } else {
            prompt.text += &text;
        }
    }

    fn flush_prompt(&mut self, out: &mut Writer<'_>) {
        if let Some(prompt) = self.prompt.take() {
            // Agents echo what the client has just sent.
            if prompt.text != self.last_prompt {
                self.write_prompt(prompt.text, out);
            }
        }
    }

    fn write_prompt(&mut self, text: String, out: &mut Writer<'_>) {
        out.end_round(None);
        out.prompt(&text);
        out.ensure_round();
        self.last_prompt = text;
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
    let Some(usage) = USAGE.read(raw.get()) else { return Usage::default() };
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
