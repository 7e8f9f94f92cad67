//! Dialect of Cursor: `cursor-agent -p --output-format stream-json [--stream-partial-output]`.
//!
//! Text is incremental with partial output, else whole messages. A line with a time and no model
//! call is a delta and implies partial output; every other `assistant` line then repeats deltas. A
//! round ends with its tool results, unless the next tool has the same model call. The run ends at
//! its `result` line, whose text is all messages joined and so not the final one; without that
//! line it was cut.

mod call;

use std::borrow::Cow;

use crate::event::{
    FailureReason, ReasoningOrigin, StepId, StopReason, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, is_true, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, MessageLifetime, Writer};

use super::shared::message_drafts::MessageDrafts;
use super::{Dialect, Unreadable};

use call::{ToolCall, write_output_and_end_step};

/// Parser state of the `cursor-agent` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CursorAgent {
    output_mode: OutputMode,
    text_seen: TextSeen,
    /// Text of the deltas since the last line that repeated them.
    draft: MessageDrafts<()>,
    /// Number of separate stretches of those deltas.
    stretch_count: usize,
    /// Model call of the last tool.
    model_call: Fingerprint,
    round_tools: RoundTools,
    /// Open calls without an id, with the fingerprint of name and arguments.
    calls_without_id: Vec<(StepId, Fingerprint)>,
    /// Last `result` line; a repeated one is not another run.
    last_result: Fingerprint,
}

/// Open calls without an id remembered at once.
const CALLS_WITHOUT_ID_MAX: usize = 256;

/// Output mode, detected from the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OutputMode {
    /// Whole messages: no delta has arrived.
    #[default]
    Whole,
    Partial,
}

/// Records if the run has any assistant text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TextSeen {
    #[default]
    Nothing,
    Something,
}

/// State of the round's tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RoundTools {
    #[default]
    Pending,
    /// One has a result: the next model output is a new round.
    Answered,
}

object! { StreamLine {
    kind: Text<'a> = "type",
    subtype: Text<'a> = "subtype",
    message: &'a RawValue = "message",
    model_call: Text<'a> = "model_call_id",
    at: u64 = "timestamp_ms",
    text: Text<'a> = "text",
    call: Text<'a> = "call_id",
    tool_call: &'a RawValue = "tool_call",
    result: &'a RawValue = "result",
    is_error: &'a RawValue = "is_error",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    model: Text<'a> = "model",
    ; skip "session_id" | "apiKeySource" | "cwd" | "permissionMode" | "duration_ms"
        | "duration_api_ms" | "request_id"
} }

object! { MessageFields { content; skip "role" } }
object! { PartFields { kind = "type", text; skip _ } }
object! { UsageFields {
    input = "inputTokens", output = "outputTokens", cache_read = "cacheReadTokens",
    cache_write = "cacheWriteTokens",
    ; keep
} }

impl Dialect for CursorAgent {
    const NAME: &'static str = "cursor-agent";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_cursor = match probe.type_text() {
            "system" => {
                probe.has_all(["subtype", "apiKeySource", "permissionMode"]) && !probe.has("tools")
            }
            "tool_call" => probe.has_all(["subtype", "call_id", "tool_call"]),
            "assistant" => probe.has("timestamp_ms") || probe.has("model_call_id"),
            "thinking" => probe.has_all(["subtype", "session_id"]),
            "result" => {
                probe.has_all(["subtype", "request_id", "duration_api_ms"])
                    && !probe.has("total_cost_usd")
            }
            _ => false,
        };
        Likeness::yes_if(of_cursor)
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = StreamLine::default();
        line.read(frame.data)?;
        out.append_unknown_fields_once(&line.unknown);
        if let Some(at) = line.at {
            out.set_timestamp(at);
        }
        let subtype = line.subtype.as_deref().unwrap_or("");
        match (line.kind.as_deref().unwrap_or(""), subtype) {
            ("system", "init") => out.declare_model(line.model.as_deref().unwrap_or("")),
            ("user", _) => {
                let text = parse_text_and_write_unrecognised(&line, out)?;
                out.append_prompt_unless_finish_requested(&text);
            }
            ("thinking", "completed") => out.close_reasoning_and_defer_end(),
            ("thinking", _) => {
                self.end_round_if_any_tool_answered(out);
                let text = line.text.as_deref().unwrap_or("");
                out.append_reasoning(text, ReasoningOrigin::Native);
            }
            ("assistant", _) => self.apply_assistant_line(&line, out)?,
            ("tool_call", "started" | "completed") => {
                self.apply_tool_call_line(&line, frame, out)?;
            }
            ("result", _) => self.apply_result_line_unless_repeated(&line, frame, out),
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl CursorAgent {
    /// Removes and returns the open call without an id that this call ends: one with the same name
    /// and arguments, else the oldest.
    fn take_call_without_id(&mut self, call: &ToolCall<'_>) -> Option<StepId> {
        let print = call.fingerprint();
        let same = self.calls_without_id.iter().position(|(_, open)| *open == print);
        let at = same.or((!self.calls_without_id.is_empty()).then_some(0))?;
        Some(self.calls_without_id.remove(at).0)
    }

    /// Ends the round if a tool has a result: the next model output is a new round.
    fn end_round_if_any_tool_answered(&mut self, out: &mut Writer<'_>) {
        if self.round_tools == RoundTools::Answered {
            self.round_tools = RoundTools::Pending;
            out.end_round(Some(StopReason::Tools));
        }
    }

    /// Applies an `assistant` line: a delta, a repeat of deltas, or a whole message.
    fn apply_assistant_line(
        &mut self,
        line: &StreamLine<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let text = parse_text_and_write_unrecognised(line, out)?;
        if line.at.is_some() && line.model_call.is_none() {
            self.output_mode = OutputMode::Partial;
            self.end_round_if_any_tool_answered(out);
            if !self.draft.would_text_continue_message((), out) && !text.is_empty() {
                self.draft = MessageDrafts::with_lifetime(MessageLifetime::NextPart);
                self.stretch_count += 1;
            }
            self.draft.resume_or_restate_and_append_text((), None, &text, out);
        } else {
            // A whole message or a repeat of deltas; both end the open message.
            self.correct_and_reset_draft(&text, out);
            out.close_message_and_defer_end();
            if self.output_mode == OutputMode::Whole {
                self.end_round_if_any_tool_answered(out);
                out.append_text(&text);
                out.close_message_and_defer_end();
            }
        }
        if !text.is_empty() {
            self.text_seen = TextSeen::Something;
        }
        Ok(())
    }

    /// Applies the whole text of the deltas since the last repeat.
    fn correct_and_reset_draft(&mut self, whole: &str, out: &mut Writer<'_>) {
        // With several stretches it is unknown which one to correct.
        if self.stretch_count == 1
            && self.draft.would_text_continue_message((), out)
            && !whole.is_empty()
        {
            self.draft.apply_whole_text((), None, whole, out).warn_if_replaced(whole, out);
        }
        self.draft = MessageDrafts::with_lifetime(MessageLifetime::NextPart);
        self.stretch_count = 0;
    }

    /// Applies the `result` line: usage and the end of the run.
    fn apply_result_line_unless_repeated(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let print = Fingerprint::from_text(frame.data);
        if self.text_seen == TextSeen::Nothing && self.last_result.is_same_trimmed_text(&print) {
            return;
        }
        self.last_result = print;
        if let Some(usage) = line.usage {
            let usage = parse_usage_and_write_unknown_fields(usage, out);
            out.emit_run_usage(usage);
        }
        let text = line.result.map(string_or_json).unwrap_or_default();
        let subtype = line.subtype.as_deref().unwrap_or("");
        if line.is_error.is_some_and(is_true) || subtype.starts_with("error") {
            let words = line.error.map_or(text, string_or_json);
            out.report_failed_and_end_text(
                FailureReason::Error,
                if words.is_empty() { subtype } else { &words },
            );
        } else {
            if self.round_tools == RoundTools::Answered {
                // The last model call wrote no text: earlier text is not its reply.
                self.end_round_if_any_tool_answered(out);
                out.ensure_round_or_end_run();
            }
            if self.text_seen == TextSeen::Nothing {
                // `--output-format json` prints only this line.
                out.append_text(&text);
            }
            out.report_completed_unless_failed(StopReason::End);
        }
        out.end_round(None);
        self.round_tools = RoundTools::Pending;
        self.text_seen = TextSeen::Nothing;
        self.calls_without_id.clear();
    }

    /// Applies a `tool_call` line: starts or ends a step.
    fn apply_tool_call_line(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let id = line.call.as_deref().unwrap_or("");
        let Some(call) = ToolCall::parse(line.tool_call.ok_or(Unreadable)?) else {
            out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
            return Ok(());
        };
        let completed = line.subtype.as_deref() == Some("completed");
        let known = match (id, completed) {
            ("", true) => self.take_call_without_id(&call),
            ("", false) => None,
            _ => out.find_open_tool(id),
        };
        let step = known.unwrap_or_else(|| {
            let model_call = Fingerprint::from_text(line.model_call.as_deref().unwrap_or(""));
            if model_call.is_blank() || model_call != self.model_call {
                self.end_round_if_any_tool_answered(out);
            }
            self.model_call = model_call;
            call.start_step_and_emit_ready(id, out)
        });
        if id.is_empty() && !completed && self.calls_without_id.len() < CALLS_WITHOUT_ID_MAX {
            self.calls_without_id.push((step, call.fingerprint()));
        }
        if completed {
            self.round_tools = RoundTools::Answered;
            write_output_and_end_step(step, call.result, out);
        }
        Ok(())
    }
}

/// Text of a message, its parts joined; writes other parts as unrecognised.
fn parse_text_and_write_unrecognised<'a>(
    line: &StreamLine<'a>,
    out: &mut Writer<'_>,
) -> Result<Cow<'a, str>, Unreadable> {
    let message = MessageFields::parse(line.message.ok_or(Unreadable)?.get()).ok_or(Unreadable)?;
    out.append_unknown_fields_once(&message.unknown);
    let Some(content) = message.content else { return Ok(Cow::Borrowed("")) };
    if let Some(text) = as_string(content) {
        return Ok(text);
    }
    let mut joined = Cow::Borrowed("");
    for raw in array_elements(content) {
        let PartFields { kind, text } = PartFields::from_raw(raw).unwrap_or_default();
        match (kind.and_then(as_string).as_deref(), text.and_then(as_string)) {
            (Some("text"), Some(text)) => joined += text,
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }
    Ok(joined)
}

/// Parses token counts.
fn parse_usage_and_write_unknown_fields(raw: &RawValue, out: &mut Writer<'_>) -> Usage {
    let Some(usage) = UsageFields::from_raw(raw) else { return Usage::default() };
    out.append_unknown_fields_once(&usage.unknown);
    let [input, output, cache_read, cache_write] =
        [usage.input, usage.output, usage.cache_read, usage.cache_write]
            .map(|member| member.and_then(as_scalar));
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..Usage::default()
    }
}
