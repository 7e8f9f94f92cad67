//! Dialect of `gemini --output-format stream-json`: `init`, messages, tools, `result`.
//!
//! Text is incremental and every line has a time. A run ends at its `result`, which has no text:
//! the reply is the text after the last tool. Reasoning is not sent. A line of type `error` is a
//! notice, never the end. Model calls are not marked: model output after a tool result is a new
//! round.

use crate::event::{
    FailureReason, NoticeLevel, StopReason, TextMode, ToolKind, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, as_string, is_true, object, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::parse_iso_millis;
use crate::run::{RoundBoundaries, ToolStart, Writer};

use super::openai_chat::parse_error_message;
use super::shared::cli_agent::{LastModelOutput, build_tool_start_without_call_id};
use super::shared::usage::UsageNames;
use super::{Dialect, Unreadable};

/// Parser state of the `gemini-cli` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GeminiCli {
    first_round: FirstRound,
    last_output: LastModelOutput,
}

/// The round that `init` announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FirstRound {
    #[default]
    Started,
    /// `init` arrived, and no model output after it.
    Awaited,
}

object! { StreamLine {
    kind: Text<'a> = "type",
    timestamp: Text<'a> = "timestamp",
    model: Text<'a> = "model",
    role: Text<'a> = "role",
    content: &'a RawValue = "content",
    delta: &'a RawValue = "delta",
    tool_name: Text<'a> = "tool_name",
    tool_id: Text<'a> = "tool_id",
    parameters: &'a RawValue = "parameters",
    status: Text<'a> = "status",
    output: &'a RawValue = "output",
    error: &'a RawValue = "error",
    severity: Text<'a> = "severity",
    message: &'a RawValue = "message",
    stats: &'a RawValue = "stats",
    ; skip "session_id"
} }

impl Dialect for GeminiCli {
    const NAME: &'static str = "gemini-cli";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let known = match probe.type_text() {
            "init" => probe.has_all(["session_id", "model"]),
            "message" => probe.has_all(["role", "content"]),
            "tool_use" => probe.has_all(["tool_name", "tool_id"]),
            "tool_result" => probe.has_all(["tool_id", "status"]),
            "error" => probe.has_all(["severity", "message"]),
            "result" => probe.has("status"),
            _ => false,
        };
        Likeness::yes_if(known && probe.has("timestamp"))
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: StreamLine<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = line.timestamp.as_deref().and_then(parse_iso_millis) {
            out.set_timestamp(at);
        }
        out.set_round_boundaries(RoundBoundaries::AfterToolResults);
        out.append_unknown_fields_once(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "init" => {
                out.declare_model(line.model.as_deref().unwrap_or(""));
                self.first_round = FirstRound::Awaited;
            }
            "message" => self.apply_message(&line, frame.data, out),
            "tool_use" => self.apply_tool_use(&line, out),
            "tool_result" => write_result_and_end_tool_or_unrecognised(&line, frame.data, out),
            "error" => {
                let level = match line.severity.as_deref() {
                    Some("error") => NoticeLevel::Error,
                    _ => NoticeLevel::Warning,
                };
                out.append_notice(level, &line.message.map(string_or_json).unwrap_or_default());
            }
            "result" => self.write_usage_and_report_end(&line, out),
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl GeminiCli {
    /// Writes a prompt or assistant text.
    fn apply_message(&mut self, line: &StreamLine<'_>, raw: &str, out: &mut Writer<'_>) {
        let text = line.content.map(string_or_json).unwrap_or_default();
        match line.role.as_deref() {
            Some("user") => {
                let again = out.has_reported_end();
                out.append_prompt_unless_finish_requested(&text);
                if again {
                    out.start_round_or_end_run(None, None);
                }
            }
            Some("assistant") => {
                self.last_output = LastModelOutput::Text;
                self.start_round_if_first(out);
                if line.delta.is_some_and(is_true) {
                    out.append_text(&text);
                } else {
                    out.close_message_and_set_next_phase(None);
                    out.append_text(&text);
                    out.close_message_and_defer_end();
                }
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Starts the round that `init` announced.
    fn start_round_if_first(&mut self, out: &mut Writer<'_>) {
        if std::mem::take(&mut self.first_round) == FirstRound::Awaited {
            out.start_round_or_end_run(None, None);
        }
    }

    /// Starts a tool step.
    fn apply_tool_use(&mut self, line: &StreamLine<'_>, out: &mut Writer<'_>) {
        self.start_round_if_first(out);
        self.last_output = LastModelOutput::ToolCall;
        let name = line.tool_name.as_deref().unwrap_or("");
        let call = line.tool_id.as_deref().unwrap_or("");
        let step = out.start_tool(ToolStart {
            call,
            ..build_tool_start_without_call_id(name, tool_kind(name))
        });
        if let Some(parameters) = line.parameters {
            out.replace_arguments_if_changed(step, parameters.get());
        }
        out.emit_tool_ready_once(step);
    }

    /// Writes the usage and reports the end of the run.
    fn write_usage_and_report_end(&mut self, line: &StreamLine<'_>, out: &mut Writer<'_>) {
        if let Some(stats) = line.stats {
            out.emit_run_usage(USAGE.parse_usage_by_names(stats));
        }
        if line.status.as_deref() == Some("success") {
            self.last_output.ensure_reply_round_and_report_completed(StopReason::End, out);
            return;
        }
        let words = line.error.map(parse_error_message);
        let words = words.as_deref().unwrap_or("the agent reported an error");
        match line.error.and_then(parse_error_type).as_deref() {
            Some("FatalCancellationError") => out.report_cancelled_and_end_text(words),
            Some("FatalTurnLimitedError") => {
                out.report_failed_and_end_text(FailureReason::Limit, words);
            }
            _ => out.report_failed_and_end_text(FailureReason::Error, words),
        }
    }
}

/// Writes the output of a tool and ends its step.
fn write_result_and_end_tool_or_unrecognised(
    line: &StreamLine<'_>,
    raw: &str,
    out: &mut Writer<'_>,
) {
    let Some(step) = line.tool_id.as_deref().and_then(|id| out.find_open_tool(id)) else {
        out.append_unrecognised(UnrecognisedReason::Late, raw);
        return;
    };
    if let Some(output) = line.output {
        out.append_output_if_none(step, &string_or_json(output));
    }
    let outcome = match line.error.and_then(parse_error_type).as_deref() {
        Some("policy_violation") => ToolOutcome::Denied,
        Some(_) => ToolOutcome::Failed,
        None if line.status.as_deref() == Some("error") => ToolOutcome::Failed,
        None => ToolOutcome::Succeeded,
    };
    out.end_tool_if_open(step, outcome, line.error.map(parse_error_message).as_deref());
}

/// Type of an error object; empty if it has none.
fn parse_error_type(raw: &RawValue) -> Option<String> {
    object! { ErrorFields { kind = "type"; skip _ } }
    let kind = ErrorFields::from_raw(raw)?.kind;
    Some(kind.and_then(as_string).unwrap_or_default().into_owned())
}

/// Kind of a tool by its name.
fn tool_kind(tool: &str) -> ToolKind {
    match tool {
        "run_shell_command" => ToolKind::Command,
        "replace" | "write_file" | "edit" => ToolKind::Edit,
        "google_web_search" => ToolKind::WebSearch,
        "web_fetch" => ToolKind::WebFetch,
        _ if tool.starts_with("mcp_") => ToolKind::Mcp,
        _ => ToolKind::Function,
    }
}

const USAGE: UsageNames = UsageNames {
    input: "input_tokens",
    output: "output_tokens",
    reasoning: "",
    cache_read: "cached",
    cache_write: "",
};
