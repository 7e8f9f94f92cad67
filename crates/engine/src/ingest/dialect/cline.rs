//! Cline: the events of `cline --json`, and the say and ask messages that it keeps.
//!
//! Text is incremental: every delta is a `content_start`, with all so far beside it, and a
//! `content_end` repeats the whole. An iteration is a round. The run ends with `done` or
//! `run_result`; the final message goes through a tool, and comes back in their text behind a
//! few words of the tool's own.

use std::borrow::Cow;

use crate::event::{
    FailureReason, Level, ReasoningOrigin, StepId, Stop, TextMode, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::iso_millis;
use crate::limits::ID_BYTES_MAX;
use crate::run::{ToolStart, Writer};

use super::openai_chat::error_text;
use super::say_ask::SayAsk;
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cline {
    text: Streamed,
    reasoning: Streamed,
    /// The iteration that is over asked for tools.
    tools: bool,
    finished: bool,
    totals: Option<Usage>,
    /// Open calls that have no id, by their tool's name.
    nameless: Vec<(String, StepId)>,
    messages: SayAsk,
}

/// Whether the whole that will come has come in pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Streamed {
    #[default]
    No,
    Yes,
}

object! { Line {
    ts: &'a RawValue = "ts",
    kind: Text<'a> = "type",
    event: &'a RawValue = "event",
    finish_reason: Text<'a> = "finishReason",
    text: Text<'a> = "text",
    usage: &'a RawValue = "usage",
    totals: &'a RawValue = "aggregateUsage",
    message: &'a RawValue = "message",
    error: &'a RawValue = "error",
    ; skip "iterations" | "durationMs" | "model" | "sessionId" | "taskId" | "startedAt"
        | "endedAt"
} }

object! { AgentEvent {
    kind: Text<'a> = "type",
    content: Text<'a> = "contentType",
    text: Text<'a> = "text",
    reasoning: Text<'a> = "reasoning",
    redacted: bool = "redacted",
    tool: Text<'a> = "toolName",
    call: Text<'a> = "toolCallId",
    input: &'a RawValue = "input",
    update: &'a RawValue = "update",
    output: &'a RawValue = "output",
    error: &'a RawValue = "error",
    message: &'a RawValue = "message",
    reason: Text<'a> = "reason",
    usage: &'a RawValue = "usage",
    had_tools: bool = "hadToolCalls",
    recoverable: bool = "recoverable",
    ; skip "iteration" | "accumulated" | "iterations" | "durationMs" | "toolCallCount"
        | "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens" | "cost"
        | "totalInputTokens" | "totalOutputTokens" | "totalCacheReadTokens"
        | "totalCacheWriteTokens" | "totalCost" | "displayRole" | "noticeType" | "metadata"
} }

impl Dialect for Cline {
    const NAME: &'static str = "cline";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        Likeness::yes_if(match probe.kind() {
            "agent_event" => probe.inner_has("event", "type"),
            "run_result" => probe.has_all(["finishReason", "iterations"]),
            _ => false,
        })
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        const KIND: Shape<1> = Shape { read: ["type"], skip: &[] };
        let kind = KIND.read(frame.data).ok_or(Unreadable)?.read[0].and_then(string);
        if !matches!(kind.as_deref(), Some("agent_event" | "run_result" | "error")) {
            return self.messages.frame(frame, out);
        }
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&line.unknown);
        if let Some(at) = line.ts.and_then(string).and_then(|ts| iso_millis(&ts)) {
            out.at(at);
        }
        if let Some(raw) = line.event {
            let event: AgentEvent<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
            self.event(&event, raw, out);
            return Ok(());
        }
        if let Some(usage) = line.totals.or(line.usage) {
            self.totals.get_or_insert_default().update(usage_of(usage));
        }
        if let Some(reason) = &line.finish_reason {
            self.end(reason, line.text.as_deref().unwrap_or(""), out);
            self.tell_totals(out);
        } else {
            let words = line.error.or(line.message).map(error_text);
            out.fail(FailureReason::Error, words.as_deref().unwrap_or("unnamed error"));
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.tell_totals(out);
        self.messages.finish(out);
    }
}

impl Cline {
    fn event(&mut self, event: &AgentEvent<'_>, raw: &RawValue, out: &mut Writer<'_>) {
        out.unknown_fields(&event.unknown);
        let content = event.content.as_deref().unwrap_or("");
        match (event.kind.as_deref().unwrap_or(""), content) {
            ("iteration_start", _) => {
                // One stream may hold several runs.
                self.finished &= !out.is_settled();
                out.end_round(std::mem::take(&mut self.tools).then_some(Stop::Tools));
                out.round(None, None);
                (self.text, self.reasoning) = (Streamed::No, Streamed::No);
            }
            ("iteration_end", _) => self.tools = event.had_tools == Some(true),
            (step @ ("content_start" | "content_update" | "content_end"), "text" | "reasoning") => {
                self.said(step, content, event, out);
            }
            (step, "tool") => self.tool(step, event, out),
            ("usage", _) => out.round_usage(usage_of(raw)),
            ("done", _) => {
                if let Some(usage) = event.usage {
                    self.totals.get_or_insert_default().update(usage_of(usage));
                }
                let reason = event.reason.as_deref().unwrap_or("");
                self.end(reason, event.text.as_deref().unwrap_or(""), out);
            }
            ("error", _) => {
                let words = event.error.or(event.message).map(error_text).unwrap_or_default();
                match event.recoverable {
                    Some(true) => out.notice(Level::Warning, &words),
                    _ => out.fail(FailureReason::Error, &words),
                }
            }
            ("notice", _) => {
                let words = event.message.map(string_or_json).unwrap_or_default();
                out.notice(Level::Info, &words);
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }

    fn said(&mut self, step: &str, content: &str, event: &AgentEvent<'_>, out: &mut Writer<'_>) {
        match (step, content) {
            ("content_start" | "content_update", "text") => {
                self.text = Streamed::Yes;
                out.text(event.text.as_deref().unwrap_or(""));
            }
            ("content_start" | "content_update", "reasoning") => {
                self.reasoning = Streamed::Yes;
                match event.reasoning.as_deref() {
                    Some(text) if !text.is_empty() => out.reasoning(text, ReasoningOrigin::Native),
                    _ if event.redacted == Some(true) => out.redacted_reasoning(),
                    _ => {}
                }
            }
            ("content_end", "text") => {
                if std::mem::take(&mut self.text) == Streamed::No {
                    out.text(event.text.as_deref().unwrap_or(""));
                }
                out.end_message();
            }
            ("content_end", "reasoning") => {
                if std::mem::take(&mut self.reasoning) == Streamed::No {
                    let text = event.reasoning.as_deref().unwrap_or("");
                    out.reasoning(text, ReasoningOrigin::Native);
                }
                out.end_reasoning();
            }
            _ => {}
        }
    }

    /// The run is over; `run_result` repeats what `done` has said.
    fn end(&mut self, reason: &str, text: &str, out: &mut Writer<'_>) {
        const RECORDED: &str = "Submission recorded (verified): ";
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        if reason == "completed" {
            out.declare_final(text.strip_prefix(RECORDED).unwrap_or(text));
        }
        match reason {
            "completed" => out.complete(Stop::End),
            "aborted" | "cancelled" => out.cancelled(text),
            "max_iterations" => out.fail(FailureReason::Limit, "too many turns"),
            "mistake_limit" => out.fail(FailureReason::Limit, "too many mistakes"),
            "error" | "failed" => out.fail(FailureReason::Error, text),
            _ => out.complete(Stop::Other),
        }
    }

    fn tool(&mut self, step: &str, event: &AgentEvent<'_>, out: &mut Writer<'_>) {
        let call = event.call.as_deref().unwrap_or("");
        let name = event.tool.as_deref().unwrap_or("");
        let known = match (call, step) {
            ("", "content_start") => None,
            // Which of several it is nobody says: the first to begin is the first to go on.
            ("", _) => self.nameless.iter().find(|(tool, _)| tool == name).map(|&(_, id)| id),
            _ => out.step_of(call),
        };
        let id = known.unwrap_or_else(|| {
            out.tool(ToolStart { kind: kind_of(name), ..ToolStart::function(call, name) })
        });
        tell(id, step, event, out);
        if step == "content_end" {
            self.nameless.retain(|&(_, open)| open != id);
        } else if call.is_empty() && known.is_none() && name.len() <= ID_BYTES_MAX {
            self.nameless.retain(|&(_, open)| out.is_open(open));
            self.nameless.push((name.to_owned(), id));
        }
    }

    fn tell_totals(&mut self, out: &mut Writer<'_>) {
        if let Some(usage) = self.totals.take() {
            out.run_usage(usage);
        }
    }
}

fn tell(id: StepId, step: &str, event: &AgentEvent<'_>, out: &mut Writer<'_>) {
    if let Some(input) = event.input {
        out.whole_arguments(id, &string_or_json(input));
        out.ready(id);
    }
    if let Some(update) = event.update {
        const UPDATE: Shape<1> = Shape { read: ["chunk"], skip: &[] };
        match UPDATE.read(update.get()).and_then(|update| update.read[0]).and_then(string) {
            Some(chunk) => out.output(id, &chunk),
            None => out.progress(id, &string_or_json(update)),
        }
    }
    if step == "content_end" {
        let (output, succeeded) = event.output.map(result).unwrap_or_default();
        out.whole_output(id, &output);
        let error = event.error.map(error_text);
        let failed = error.is_some() || succeeded == Some(false);
        let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
        out.end_tool(id, outcome, error.as_deref());
    }
}

/// What a tool put out, and whether it says that it succeeded. Some tools do several things.
fn result(raw: &RawValue) -> (Cow<'_, str>, Option<bool>) {
    const RESULT: Shape<3> = Shape { read: ["result", "success", "error"], skip: &[] };
    let mut text = String::new();
    let mut succeeded = true;
    for part in elements(raw) {
        let Some(part) = RESULT.read(part.get()) else {
            return (raw.get().into(), None);
        };
        let [result, success, error] = part.read;
        let Some(words) = result.or(error) else {
            return (raw.get().into(), None);
        };
        text += &string_or_json(words);
        succeeded &= success.and_then(number) != Some(false);
    }
    if text.is_empty() { (string_or_json(raw), None) } else { (text.into(), Some(succeeded)) }
}

fn kind_of(name: &str) -> ToolKind {
    match name {
        "run_commands" | "execute_command" => ToolKind::Command,
        "editor" | "write_to_file" | "replace_in_file" | "apply_patch" => ToolKind::Edit,
        "fetch_web_content" | "web_fetch" => ToolKind::WebFetch,
        "web_search" => ToolKind::WebSearch,
        "use_mcp_tool" | "access_mcp_resource" => ToolKind::Mcp,
        "submit_and_exit" | "attempt_completion" => ToolKind::Builtin,
        _ => ToolKind::Function,
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<7> = Shape {
        read: [
            "inputTokens",
            "outputTokens",
            "cacheReadTokens",
            "cacheWriteTokens",
            "cost",
            "totalCost",
            "totalInputTokens",
        ],
        skip: &[],
    };
    let read = USAGE.read(raw.get()).map(|usage| usage.read).unwrap_or_default();
    let [input, output, cache_read, cache_write, cost, total, total_input] = read;
    // Beside the tokens of one call stand the totals so far: its own cost is then not told.
    let total = total.filter(|_| total_input.is_none());
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: None,
        cache_read_tokens: cache_read.and_then(number),
        cache_write_tokens: cache_write.and_then(number),
        cost_usd: cost.or(total).and_then(number),
    }
}
