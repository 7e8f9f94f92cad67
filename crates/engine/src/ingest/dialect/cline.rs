//! Dialect of Cline: the events of `cline --json`, and its stored say and ask messages.
//!
//! Text is incremental: every delta is a `content_start`, which also has the text so far, and a
//! `content_end` repeats the whole. An iteration is a round. The run ends with `done` or
//! `run_result`; their text is the final message, behind a prefix of the tool that submitted it.

use std::borrow::Cow;

use crate::event::{
    FailureReason, NoticeLevel, ReasoningOrigin, StepId, StopReason, TextMode, ToolKind,
    ToolOutcome, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::parse_iso_millis;
use crate::limits::FOREIGN_ID_BYTES_MAX;
use crate::run::{ToolStart, Writer};

use super::openai_chat::parse_error_message;
use super::shared::cline_messages::ClineMessages;
use super::{Dialect, Unreadable};

/// Parser state of the `cline` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cline {
    text_streamed: Streamed,
    reasoning_streamed: Streamed,
    /// The last iteration called tools.
    round_had_tools: bool,
    has_ended: bool,
    total_usage: Option<Usage>,
    /// Open calls without an id, by tool name.
    calls_without_id: Vec<(String, StepId)>,
    messages: ClineMessages,
}

/// Records if deltas arrived before the whole text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Streamed {
    #[default]
    No,
    Yes,
}

object! { EventLine {
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
        Likeness::yes_if(match probe.type_text() {
            "agent_event" => probe.has_nested("event", "type"),
            "run_result" => probe.has_all(["finishReason", "iterations"]),
            _ => false,
        })
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        object! { Kind { kind = "type"; skip _ } }
        let kind = Kind::parse(frame.data).ok_or(Unreadable)?.kind.and_then(as_string);
        if !matches!(kind.as_deref(), Some("agent_event" | "run_result" | "error")) {
            return self.messages.push_frame(frame, out);
        }
        let line: EventLine<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.append_unknown_fields_once(&line.unknown);
        if let Some(at) = line.ts.and_then(as_string).and_then(|ts| parse_iso_millis(&ts)) {
            out.set_timestamp(at);
        }
        if let Some(raw) = line.event {
            let event: AgentEvent<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
            self.apply_event(&event, raw, out);
            return Ok(());
        }
        if let Some(usage) = line.totals.or(line.usage) {
            self.total_usage.get_or_insert_default().overwrite_reported_numbers(parse_usage(usage));
        }
        if let Some(reason) = &line.finish_reason {
            self.apply_run_end_once(reason, line.text.as_deref().unwrap_or(""), out);
            self.take_and_write_total_usage(out);
        } else {
            let words = line.error.or(line.message).map(parse_error_message);
            out.report_failed_and_end_text(
                FailureReason::Error,
                words.as_deref().unwrap_or("unnamed error"),
            );
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.take_and_write_total_usage(out);
        self.messages.finish(out);
    }
}

impl Cline {
    /// Applies one agent event.
    fn apply_event(&mut self, event: &AgentEvent<'_>, raw: &RawValue, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&event.unknown);
        let content = event.content.as_deref().unwrap_or("");
        match (event.kind.as_deref().unwrap_or(""), content) {
            ("iteration_start", _) => {
                // One stream may contain several runs.
                self.has_ended &= !out.has_reported_end();
                out.end_round(
                    std::mem::take(&mut self.round_had_tools).then_some(StopReason::Tools),
                );
                out.start_round_or_end_run(None, None);
                (self.text_streamed, self.reasoning_streamed) = (Streamed::No, Streamed::No);
            }
            ("iteration_end", _) => self.round_had_tools = event.had_tools == Some(true),
            (step @ ("content_start" | "content_update" | "content_end"), "text" | "reasoning") => {
                self.apply_text_or_reasoning(step, content, event, out);
            }
            (step, "tool") => self.apply_tool_event(step, event, out),
            ("usage", _) => out.update_or_emit_round_usage(parse_usage(raw)),
            ("done", _) => {
                if let Some(usage) = event.usage {
                    self.total_usage
                        .get_or_insert_default()
                        .overwrite_reported_numbers(parse_usage(usage));
                }
                let reason = event.reason.as_deref().unwrap_or("");
                self.apply_run_end_once(reason, event.text.as_deref().unwrap_or(""), out);
            }
            ("error", _) => {
                let words =
                    event.error.or(event.message).map(parse_error_message).unwrap_or_default();
                match event.recoverable {
                    Some(true) => out.append_notice(NoticeLevel::Warning, &words),
                    _ => out.report_failed_and_end_text(FailureReason::Error, &words),
                }
            }
            ("notice", _) => {
                let words = event.message.map(string_or_json).unwrap_or_default();
                out.append_notice(NoticeLevel::Info, &words);
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }

    /// Applies a text or reasoning event; writes a whole only if no delta arrived.
    fn apply_text_or_reasoning(
        &mut self,
        step: &str,
        content: &str,
        event: &AgentEvent<'_>,
        out: &mut Writer<'_>,
    ) {
        match (step, content) {
            ("content_start" | "content_update", "text") => {
                self.text_streamed = Streamed::Yes;
                out.append_and_remember_text(event.text.as_deref().unwrap_or(""));
            }
            ("content_start" | "content_update", "reasoning") => {
                self.reasoning_streamed = Streamed::Yes;
                match event.reasoning.as_deref() {
                    Some(text) if !text.is_empty() => {
                        out.append_reasoning(text, ReasoningOrigin::Native);
                    }
                    _ if event.redacted == Some(true) => out.append_redacted_reasoning(),
                    _ => {}
                }
            }
            ("content_end", "text") => {
                let text = event.text.as_deref().unwrap_or("");
                if std::mem::take(&mut self.text_streamed) == Streamed::No {
                    out.append_text(text);
                } else if !text.is_empty() {
                    out.correct_remembered_text(text);
                }
                out.close_complete_message_and_defer_end();
            }
            ("content_end", "reasoning") => {
                if std::mem::take(&mut self.reasoning_streamed) == Streamed::No {
                    let text = event.reasoning.as_deref().unwrap_or("");
                    out.append_reasoning(text, ReasoningOrigin::Native);
                }
                out.close_reasoning_and_defer_end();
            }
            _ => {}
        }
    }

    /// Reports the end of the run, once: `run_result` repeats `done`.
    fn apply_run_end_once(&mut self, reason: &str, text: &str, out: &mut Writer<'_>) {
        const RECORDED: &str = "Submission recorded (verified): ";
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if reason == "completed" {
            out.end_message_and_declare_or_append_final_text(
                text.strip_prefix(RECORDED).unwrap_or(text),
            );
        }
        match reason {
            "completed" => out.report_completed_unless_failed(StopReason::End),
            "aborted" | "cancelled" => out.report_cancelled_and_end_text(text),
            "max_iterations" => {
                out.report_failed_and_end_text(FailureReason::Limit, "too many turns");
            }
            "mistake_limit" => {
                out.report_failed_and_end_text(FailureReason::Limit, "too many mistakes");
            }
            "error" | "failed" => out.report_failed_and_end_text(FailureReason::Error, text),
            _ => out.report_completed_unless_failed(StopReason::Other),
        }
    }

    /// Finds or starts the step of a tool event and applies the event to it.
    fn apply_tool_event(&mut self, step: &str, event: &AgentEvent<'_>, out: &mut Writer<'_>) {
        let call = event.call.as_deref().unwrap_or("");
        let name = event.tool.as_deref().unwrap_or("");
        let known = match (call, step) {
            ("", "content_start") => None,
            // Without an id the oldest open call of the tool is assumed.
            ("", _) => {
                self.calls_without_id.iter().find(|(tool, _)| tool == name).map(|&(_, id)| id)
            }
            _ => out.find_open_tool(call),
        };
        let id = known.unwrap_or_else(|| {
            out.start_tool(ToolStart {
                kind: tool_kind(name),
                ..ToolStart::client_function(call, name)
            })
        });
        apply_event_to_tool_step(id, step, event, out);
        if step == "content_end" {
            self.calls_without_id.retain(|&(_, open)| open != id);
        } else if call.is_empty() && known.is_none() && name.len() <= FOREIGN_ID_BYTES_MAX {
            self.calls_without_id.retain(|&(_, open)| out.is_tool_open(open));
            self.calls_without_id.push((name.to_owned(), id));
        }
    }

    /// Writes the total usage of the run, and forgets it.
    fn take_and_write_total_usage(&mut self, out: &mut Writer<'_>) {
        if let Some(usage) = self.total_usage.take() {
            out.emit_run_usage(usage);
        }
    }
}

/// Writes the input, update and result of a tool event.
fn apply_event_to_tool_step(id: StepId, step: &str, event: &AgentEvent<'_>, out: &mut Writer<'_>) {
    if let Some(input) = event.input {
        out.replace_arguments_if_changed(id, &string_or_json(input));
        out.emit_tool_ready_once(id);
    }
    if let Some(update) = event.update {
        object! { Update { chunk; skip _ } }
        match Update::from_raw(update).and_then(|update| update.chunk).and_then(as_string) {
            Some(chunk) => out.append_output_if_open(id, &chunk),
            None => out.append_tool_progress_if_open(id, &string_or_json(update)),
        }
    }
    if step == "content_end" {
        let (output, succeeded) = event.output.map(parse_tool_result).unwrap_or_default();
        if !output.is_empty() {
            out.append_rest_or_replace_output(id, &output);
        }
        let error = event.error.map(parse_error_message);
        let failed = error.is_some() || succeeded == Some(false);
        let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
        out.end_tool_if_open(id, outcome, error.as_deref());
    }
}

/// Parses a tool's output and success flag; a list of results is joined.
fn parse_tool_result(raw: &RawValue) -> (Cow<'_, str>, Option<bool>) {
    object! { ResultFields { result, success, error; skip _ } }
    let mut text = String::new();
    let mut succeeded = None;
    for part in array_elements(raw) {
        let Some(part) = ResultFields::from_raw(part) else {
            return (raw.get().into(), None);
        };
        let ResultFields { result, success, error } = part;
        if result.is_none() && error.is_none() {
            return (raw.get().into(), None);
        }
        let words = |member: Option<_>| member.map(string_or_json).unwrap_or_default();
        let result = words(result);
        text += &if result.is_empty() { words(error) } else { result };
        let is_success = success.and_then(as_scalar) != Some(false);
        succeeded = Some(succeeded.unwrap_or(true) && is_success);
    }
    let output = if succeeded.is_none() { string_or_json(raw) } else { text.into() };
    (output, succeeded)
}

/// Kind of a tool by its name.
fn tool_kind(name: &str) -> ToolKind {
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

/// Parses token counts and cost.
fn parse_usage(raw: &RawValue) -> Usage {
    object! { UsageFields {
        input = "inputTokens", output = "outputTokens", cache_read = "cacheReadTokens",
        cache_write = "cacheWriteTokens", cost, total = "totalCost",
        total_input = "totalInputTokens",
        ; skip _
    } }
    let read = UsageFields::from_raw(raw).unwrap_or_default();
    let UsageFields { input, output, cache_read, cache_write, cost, total, total_input } = read;
    // With totals present, `totalCost` is not the cost of this call.
    let total = total.filter(|_| total_input.is_none());
    Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        reasoning_tokens: None,
        cache_read_tokens: cache_read.and_then(as_scalar),
        cache_write_tokens: cache_write.and_then(as_scalar),
        cost_usd: cost.or(total).and_then(as_scalar),
    }
}
