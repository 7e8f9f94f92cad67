//! Cohere v2 chat: `message-start`, content, tool plan and calls, citations, `message-end`.
//!
//! Text is incremental. A reply ends at its `message-end`. Its `tool_plan` is reasoning. Whole
//! replies have a `message` and a `finish_reason`; an error is only a `message`.

use crate::event::{
    Citation, FailureReason, ReasoningOrigin, StepId, StopReason, TextMode, UnrecognisedReason,
    Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::shared::bounded::OpenBlocks;
use super::{Dialect, Unreadable};

/// State of one Cohere stream: the open tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cohere {
    reply_state: ReplyState,
    open_calls: OpenBlocks<StepId>,
}

/// Progress of the current reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyState {
    /// Content is of the current reply, whose start may have been missed.
    #[default]
    Open,
    /// `message-end` arrived: only a `message-start` begins another reply.
    Ended,
}

object! { FramePayload {
    kind: Text<'a> = "type",
    id: Text<'a> = "id",
    index: u64 = "index",
    delta: Delta<'a> = "delta",
    message: &'a RawValue = "message",
    finish_reason: Text<'a> = "finish_reason",
    usage: &'a RawValue = "usage",
    ; skip "logprobs" | "prompt" | "meta"
} }

object! { Delta {
    message: Message<'a> = "message",
    finish_reason: Text<'a> = "finish_reason",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    ; skip "logprobs"
} }

object! { Message {
    content: &'a RawValue = "content",
    tool_plan: Text<'a> = "tool_plan",
    tool_calls: &'a RawValue = "tool_calls",
    citations: &'a RawValue = "citations",
    ; skip "role" | "id"
} }

object! { ContentPiece {
    text: Text<'a> = "text",
    thinking: Text<'a> = "thinking",
    ; skip "type"
} }

object! { ToolCall {
    id: Text<'a> = "id",
    function: Function<'a> = "function",
    ; skip "type" | "index"
} }

object! { Function {
    name: Text<'a> = "name",
    arguments: Text<'a> = "arguments",
    ; skip ""
} }

impl Dialect for Cohere {
    const NAME: &'static str = "cohere";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.type_text() {
            "message-start" | "content-start" | "content-delta" | "tool-plan-delta"
            | "tool-call-start" | "tool-call-delta" | "citation-start" => {
                Likeness::yes_if(probe.has_nested("delta", "message"))
            }
            "message-end" => Likeness::yes_if(probe.has_nested("delta", "finish_reason")),
            "" if probe.has_all(["id", "message", "finish_reason"]) => Likeness::yes_if(
                probe.has_nested("message", "content") || probe.has_nested("message", "tool_calls"),
            ),
            "" => Likeness::maybe_if(probe.text_member("message").is_some()),
            _ => Likeness::No,
        }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: FramePayload<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        let index = line.index.unwrap_or(0);
        let delta = line.delta.unwrap_or_default();
        let message = delta.message.unwrap_or_default();
        let kind = line.kind.as_deref().unwrap_or("");
        let is_content = ["content-", "tool-", "citation-"].iter().any(|of| kind.starts_with(of));
        if is_content && self.reply_state == ReplyState::Ended {
            out.append_unrecognised(UnrecognisedReason::Late, frame.data);
            return Ok(());
        }
        match kind {
            "content-delta" | "content-start" => write_content(message.content, out)?,
            "content-end" => out.close_reasoning_and_defer_end(),
            "tool-plan-delta" => {
                out.append_reasoning(
                    message.tool_plan.as_deref().unwrap_or(""),
                    ReasoningOrigin::Native,
                );
            }
            "tool-call-start" => self.start_call_at_index(index, message.tool_calls, out)?,
            "tool-call-delta" => {
                if !self.try_append_call_arguments(index, message.tool_calls, out)? {
                    out.append_unrecognised(UnrecognisedReason::Late, frame.data);
                }
            }
            "tool-call-end" => {
                if let Some(step) = self.open_calls.remove(index) {
                    out.emit_tool_ready_once(step);
                }
            }
            "citation-start" => write_citations(message.citations, out),
            "citation-end" | "debug" => {}
            "message-start" => {
                self.reply_state = ReplyState::Open;
                self.open_calls.clear();
                out.start_round_or_end_run(None, line.id.as_deref());
            }
            "message-end" => {
                self.reply_state = ReplyState::Ended;
                self.open_calls.clear();
                if let Some(usage) = delta.usage {
                    out.update_or_emit_round_usage(parse_usage(usage));
                }
                apply_finish_reason(delta.finish_reason.as_deref().unwrap_or(""), delta.error, out);
            }
            "" if let Some(message) = line.message => {
                let reason = line.finish_reason.as_deref();
                apply_whole_reply_or_error(message, line.id.as_deref(), reason, line.usage, out)?;
            }
            _ => {
                out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
                return Ok(());
            }
        }
        for unknown in [&line.unknown, &delta.unknown, &message.unknown] {
            out.append_unknown_fields_once(unknown);
        }
        Ok(())
    }
}

impl Cohere {
    /// Starts the tool step of the call at `index` and keeps it for later arguments.
    fn start_call_at_index(
        &mut self,
        index: u64,
        call: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let step = start_call_with_first_arguments(call.ok_or(Unreadable)?, out)?;
        self.open_calls.insert(index, step);
        Ok(())
    }

    /// Appends arguments to the call at `index`; returns false if no such call is open.
    fn try_append_call_arguments(
        &self,
        index: u64,
        delta: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> Result<bool, Unreadable> {
        let delta: ToolCall<'_> = parse_json(delta.ok_or(Unreadable)?)?;
        let arguments = delta.function.unwrap_or_default().arguments;
        let call = self.open_calls.get(index);
        if let Some(&step) = call {
            out.append_arguments(step, arguments.as_deref().unwrap_or(""));
        }
        Ok(call.is_some())
    }
}

/// Deserializes a JSON value.
fn parse_json<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Unreadable> {
    serde_json::from_str(raw.get()).map_err(|_| Unreadable)
}

/// Writes a reply that arrives as one object, or fails with its error message.
fn apply_whole_reply_or_error(
    message: &RawValue,
    id: Option<&str>,
    reason: Option<&str>,
    usage: Option<&RawValue>,
    out: &mut Writer<'_>,
) -> Result<(), Unreadable> {
    if let Some(words) = as_string(message) {
        out.report_failed_and_end_text(FailureReason::Error, &words);
        return Ok(());
    }
    let message: Message<'_> = parse_json(message)?;
    out.append_unknown_fields_once(&message.unknown);
    out.start_round_or_end_run(None, id);
    out.append_reasoning(message.tool_plan.as_deref().unwrap_or(""), ReasoningOrigin::Native);
    match message.content.map(|raw| (raw, as_string(raw))) {
        Some((_, Some(text))) => out.append_text(&text),
        Some((raw, None)) => {
            for piece in array_elements(raw) {
                write_content(Some(piece), out)?;
            }
        }
        None => {}
    }
    write_citations(message.citations, out);
    for call in message.tool_calls.map(array_elements).unwrap_or_default() {
        let step = start_call_with_first_arguments(call, out)?;
        out.emit_tool_ready_once(step);
    }
    if let Some(usage) = usage {
        out.update_or_emit_round_usage(parse_usage(usage));
    }
    apply_finish_reason(reason.unwrap_or(""), None, out);
    Ok(())
}

/// Writes the text and thinking of one content piece.
fn write_content(raw: Option<&RawValue>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
    let Some(raw) = raw else { return Ok(()) };
    let piece: ContentPiece<'_> = parse_json(raw)?;
    out.append_unknown_fields_once(&piece.unknown);
    if let Some(thinking) = piece.thinking {
        out.append_reasoning(&thinking, ReasoningOrigin::Native);
    }
    if let Some(text) = piece.text {
        out.append_text(&text);
    }
    Ok(())
}

/// Starts a tool step with the arguments that the call has so far.
fn start_call_with_first_arguments(
    raw: &RawValue,
    out: &mut Writer<'_>,
) -> Result<StepId, Unreadable> {
    let call: ToolCall<'_> = parse_json(raw)?;
    out.append_unknown_fields_once(&call.unknown);
    let function = call.function.unwrap_or_default();
    out.append_unknown_fields_once(&function.unknown);
    let (id, name) = (call.id.unwrap_or_default(), function.name.unwrap_or_default());
    let step = out.start_tool(ToolStart::client_function(&id, &name));
    out.append_arguments(step, function.arguments.as_deref().unwrap_or(""));
    Ok(step)
}

/// Cites every source of one citation or an array of citations.
fn write_citations(raw: Option<&RawValue>, out: &mut Writer<'_>) {
    object! { CitationFields { sources; skip _ } }
    object! { SourceFields { id, document, tool_output; skip _ } }
    object! { Document { url, title, snippet, text; skip _ } }
    let Some(raw) = raw else { return };
    let citations = if raw.get().starts_with('[') { array_elements(raw) } else { vec![raw] };
    for raw in citations {
        let sources = CitationFields::from_raw(raw).and_then(|citation| citation.sources);
        for source in sources.map(array_elements).unwrap_or_default() {
            let Some(SourceFields { id, document, tool_output }) = SourceFields::from_raw(source)
            else {
                continue;
            };
            let known = document.or(tool_output).and_then(Document::from_raw);
            let Document { url, title, snippet, text } = known.unwrap_or_default();
            let [url, title, snippet, text] =
                [url, title, snippet, text].map(|member| member.and_then(as_string));
            let title = title.or_else(|| id.and_then(as_string));
            out.append_or_hold_citation(Citation { url, title, quote: snippet.or(text) });
        }
    }
}

/// Reports that the reply completed, failed or was cancelled; the last two also end its open text.
fn apply_finish_reason(reason: &str, error: Option<&RawValue>, out: &mut Writer<'_>) {
    match reason {
        "COMPLETE" | "STOP_SEQUENCE" => out.report_completed_unless_failed(StopReason::End),
        "MAX_TOKENS" | "ERROR_LIMIT" => out.report_completed_unless_failed(StopReason::Length),
        "TOOL_CALL" => out.report_completed_unless_failed(StopReason::Tools),
        "ERROR_TOXIC" => {
            out.report_failed_and_end_text(FailureReason::Refused, "reply blocked (ERROR_TOXIC)");
        }
        "USER_CANCEL" => out.report_cancelled_and_end_text("reply cancelled"),
        "ERROR" | "TIMEOUT" => {
            let words = error.map(string_or_json);
            out.report_failed_and_end_text(
                FailureReason::Error,
                words.as_deref().unwrap_or(reason),
            );
        }
        _ => out.report_completed_unless_failed(StopReason::Other),
    }
}

/// Reads a `usage` object: tokens processed, or billed units where only those are given.
fn parse_usage(raw: &RawValue) -> Usage {
    object! { UsageFields { tokens, billed = "billed_units", cached = "cached_tokens"; skip _ } }
    object! { Tokens { input = "input_tokens", output = "output_tokens"; skip _ } }
    let Some(UsageFields { tokens, billed, cached }) = UsageFields::from_raw(raw) else {
        return Usage::default();
    };
    let tokens = tokens.or(billed).and_then(Tokens::from_raw);
    let Tokens { input, output } = tokens.unwrap_or_default();
    let [input, output] = [input, output].map(|member| member.and_then(as_scalar));
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cached.and_then(as_scalar),
        ..Usage::default()
    }
}
