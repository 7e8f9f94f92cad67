//! `gemini --output-format stream-json`: `init`, messages, tools, `result`.
//!
//! Text is incremental and every line carries its time. A run ends at its `result`, which has no
//! text: the reply is what came after the last tool. Thoughts are not sent. A line of type `error`
//! is a notice, never the end. Model calls are not marked: what the model says after a tool's
//! result is a new round.

use crate::event::{
    FailureReason, Level, Stop, TextMode, ToolKind, ToolOutcome, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, is_true, number, object, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::iso_millis;
use crate::run::{Rounds, ToolStart, Writer};

use super::agents::{Voice, agent_tool};
use super::openai_chat::error_text;
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GeminiCli {
    /// Named at the start, until the first round has taken it.
    model: Option<String>,
    voice: Voice,
}

object! { Line {
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
        let known = match probe.kind() {
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

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = line.timestamp.as_deref().and_then(iso_millis) {
            out.at(at);
        }
        out.rounds(Rounds::AfterResults);
        out.unknown_fields(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "init" => self.model = line.model.map(|model| model.0.into_owned()),
            "message" => self.message(&line, frame.data, out),
            "tool_use" => self.tool_use(&line, out),
            "tool_result" => tool_result(&line, frame.data, out),
            "error" => {
                let level = match line.severity.as_deref() {
                    Some("error") => Level::Error,
                    _ => Level::Warning,
                };
                out.notice(level, &line.message.map(string_or_json).unwrap_or_default());
            }
            "result" => self.result(&line, out),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl GeminiCli {
    fn message(&mut self, line: &Line<'_>, raw: &str, out: &mut Writer<'_>) {
        let text = line.content.map(string_or_json).unwrap_or_default();
        match line.role.as_deref() {
            Some("user") => {
                let again = out.is_settled();
                out.prompt(&text);
                if again {
                    out.round(None, None);
                }
            }
            Some("assistant") => {
                self.voice = Voice::Heard;
                self.begin(out);
                if line.delta.is_some_and(is_true) {
                    out.text(&text);
                } else {
                    out.begin_message(None);
                    out.text(&text);
                    out.end_message();
                }
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    fn begin(&mut self, out: &mut Writer<'_>) {
        if let Some(model) = self.model.take() {
            out.round(Some(&model), None);
        }
    }

    fn tool_use(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        self.begin(out);
        self.voice = Voice::CalledTool;
        let name = line.tool_name.as_deref().unwrap_or("");
        let call = line.tool_id.as_deref().unwrap_or("");
        let step = out.tool(ToolStart { call, ..agent_tool(name, kind_of(name)) });
        if let Some(parameters) = line.parameters {
            out.whole_arguments(step, parameters.get());
        }
        out.ready(step);
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        if let Some(stats) = line.stats {
            out.run_usage(usage_of(stats));
        }
        if line.status.as_deref() == Some("success") {
            self.voice.complete(Stop::End, out);
            return;
        }
        let words = line.error.map(error_text);
        let words = words.as_deref().unwrap_or("the agent reported an error");
        match line.error.and_then(error_type).as_deref() {
            Some("FatalCancellationError") => out.cancelled(words),
            Some("FatalTurnLimitedError") => out.fail(FailureReason::Limit, words),
            _ => out.fail(FailureReason::Error, words),
        }
    }
}

fn tool_result(line: &Line<'_>, raw: &str, out: &mut Writer<'_>) {
    let Some(step) = line.tool_id.as_deref().and_then(|id| out.step_of(id)) else {
        out.unrecognised(UnrecognisedReason::Late, raw);
        return;
    };
    if let Some(output) = line.output {
        out.whole_output(step, &string_or_json(output));
    }
    let outcome = match line.error.and_then(error_type).as_deref() {
        Some("policy_violation") => ToolOutcome::Denied,
        Some(_) => ToolOutcome::Failed,
        None if line.status.as_deref() == Some("error") => ToolOutcome::Failed,
        None => ToolOutcome::Succeeded,
    };
    out.end_tool(step, outcome, line.error.map(error_text).as_deref());
}

fn error_type(raw: &RawValue) -> Option<String> {
    const ERROR: Shape<1> = Shape { read: ["type"], skip: &[] };
    let kind = ERROR.read(raw.get())?.read[0];
    Some(kind.and_then(string).unwrap_or_default().into_owned())
}

fn kind_of(tool: &str) -> ToolKind {
    match tool {
        "run_shell_command" => ToolKind::Command,
        "replace" | "write_file" | "edit" => ToolKind::Edit,
        "google_web_search" => ToolKind::WebSearch,
        "web_fetch" => ToolKind::WebFetch,
        _ if tool.starts_with("mcp_") => ToolKind::Mcp,
        _ => ToolKind::Function,
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    const STATS: Shape<3> = Shape { read: ["input_tokens", "output_tokens", "cached"], skip: &[] };
    let [input, output, cached] = STATS.read(raw.get()).map(|stats| stats.read).unwrap_or_default();
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        cache_read_tokens: cached.and_then(number),
        ..Usage::default()
    }
}
