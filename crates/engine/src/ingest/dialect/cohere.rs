//! Cohere v2 chat: `message-start`, content, tool plan and calls, citations, `message-end`.
//!
//! Text is incremental. A reply ends at its `message-end`. The plan it makes before calling tools
//! is reasoning. Whole replies have a `message` and a `finish_reason`; an error is only a `message`.

use crate::event::{
    Citation, FailureReason, ReasoningOrigin, StepId, Stop, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{ToolStart, Writer};

use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cohere {
    calls: Vec<Call>,
}

/// A tool call that is open.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Call {
    index: u64,
    step: StepId,
}

object! { Line {
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

object! { Piece {
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
        match probe.kind() {
            "message-start" | "content-start" | "content-delta" | "tool-plan-delta"
            | "tool-call-start" | "tool-call-delta" | "citation-start" => {
                Likeness::yes_if(probe.inner_has("delta", "message"))
            }
            "message-end" => Likeness::yes_if(probe.inner_has("delta", "finish_reason")),
            "" if probe.has_all(["id", "message", "finish_reason"]) => Likeness::yes_if(
                probe.inner_has("message", "content") || probe.inner_has("message", "tool_calls"),
            ),
            "" => Likeness::maybe_if(probe.text("message").is_some()),
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        let index = line.index.unwrap_or(0);
        let delta = line.delta.unwrap_or_default();
        let message = delta.message.unwrap_or_default();
        let kind = line.kind.as_deref().unwrap_or("");
        let speaks = matches!(
            kind,
            "content-start" | "content-delta" | "tool-plan-delta" | "tool-call-start"
        );
        if speaks && out.is_settled() {
            // Whoever goes on after the end of a reply has begun another.
            out.round(None, None);
        }
        match kind {
            "content-delta" | "content-start" => content(message.content, out)?,
            "content-end" => out.end_reasoning(),
            "tool-plan-delta" => {
                out.reasoning(message.tool_plan.as_deref().unwrap_or(""), ReasoningOrigin::Native);
            }
            "tool-call-start" => self.start_call(index, message.tool_calls, out)?,
            "tool-call-delta" => {
                if !self.continue_call(index, message.tool_calls, out)? {
                    out.unrecognised(UnrecognisedReason::Late, frame.data);
                }
            }
            "tool-call-end" => {
                if let Some(at) = self.calls.iter().position(|call| call.index == index) {
                    out.ready(self.calls.remove(at).step);
                }
            }
            "citation-start" => cite(message.citations, out),
            "citation-end" | "debug" => {}
            "message-start" => {
                self.calls.clear();
                out.round(None, line.id.as_deref());
            }
            "message-end" => {
                self.calls.clear();
                if let Some(usage) = delta.usage {
                    out.round_usage(usage_of(usage));
                }
                end(delta.finish_reason.as_deref().unwrap_or(""), delta.error, out);
            }
            "" if let Some(message) = line.message => {
                let reason = line.finish_reason.as_deref();
                whole(message, line.id.as_deref(), reason, line.usage, out)?;
            }
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, frame.data);
                return Ok(());
            }
        }
        for unknown in [&line.unknown, &delta.unknown, &message.unknown] {
            out.unknown_fields(unknown);
        }
        Ok(())
    }
}

impl Cohere {
    fn start_call(
        &mut self,
        index: u64,
        call: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let step = start_call(call.ok_or(Unreadable)?, out)?;
        self.calls.retain(|call| call.index != index);
        if OPEN_TOOLS_MAX <= self.calls.len() {
            self.calls.remove(0);
        }
        self.calls.push(Call { index, step });
        Ok(())
    }

    /// Whether there is a call that is open to take it.
    fn continue_call(
        &self,
        index: u64,
        delta: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> Result<bool, Unreadable> {
        let delta: ToolCall<'_> = read(delta.ok_or(Unreadable)?)?;
        let arguments = delta.function.unwrap_or_default().arguments;
        let call = self.calls.iter().find(|call| call.index == index);
        if let Some(call) = call {
            out.arguments(call.step, arguments.as_deref().unwrap_or(""));
        }
        Ok(call.is_some())
    }
}

fn read<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Unreadable> {
    serde_json::from_str(raw.get()).map_err(|_| Unreadable)
}

/// A reply that comes in one piece, or the words of an error.
fn whole(
    message: &RawValue,
    id: Option<&str>,
    reason: Option<&str>,
    usage: Option<&RawValue>,
    out: &mut Writer<'_>,
) -> Result<(), Unreadable> {
    if let Some(words) = string(message) {
        out.fail(FailureReason::Error, &words);
        return Ok(());
    }
    let message: Message<'_> = read(message)?;
    out.unknown_fields(&message.unknown);
    out.round(None, id);
    out.reasoning(message.tool_plan.as_deref().unwrap_or(""), ReasoningOrigin::Native);
    match message.content.map(|raw| (raw, string(raw))) {
        Some((_, Some(text))) => out.text(&text),
        Some((raw, None)) => {
            for piece in elements(raw) {
                content(Some(piece), out)?;
            }
        }
        None => {}
    }
    cite(message.citations, out);
    for call in message.tool_calls.map(elements).unwrap_or_default() {
        let step = start_call(call, out)?;
        out.ready(step);
    }
    if let Some(usage) = usage {
        out.round_usage(usage_of(usage));
    }
    end(reason.unwrap_or(""), None, out);
    Ok(())
}

fn content(raw: Option<&RawValue>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
    let Some(raw) = raw else { return Ok(()) };
    let piece: Piece<'_> = read(raw)?;
    out.unknown_fields(&piece.unknown);
    if let Some(thinking) = piece.thinking {
        out.reasoning(&thinking, ReasoningOrigin::Native);
    }
    if let Some(text) = piece.text {
        out.text(&text);
    }
    Ok(())
}

fn start_call(raw: &RawValue, out: &mut Writer<'_>) -> Result<StepId, Unreadable> {
    let call: ToolCall<'_> = read(raw)?;
    out.unknown_fields(&call.unknown);
    let function = call.function.unwrap_or_default();
    out.unknown_fields(&function.unknown);
    let (id, name) = (call.id.unwrap_or_default(), function.name.unwrap_or_default());
    let step = out.tool(ToolStart::function(&id, &name));
    out.arguments(step, function.arguments.as_deref().unwrap_or(""));
    Ok(step)
}

/// One citation, or an array of them. Each of its sources is one of ours.
fn cite(raw: Option<&RawValue>, out: &mut Writer<'_>) {
    const CITATION: Shape<1> = Shape { read: ["sources"], skip: &[] };
    const SOURCE: Shape<3> = Shape { read: ["id", "document", "tool_output"], skip: &[] };
    const DOCUMENT: Shape<4> = Shape { read: ["url", "title", "snippet", "text"], skip: &[] };
    let Some(raw) = raw else { return };
    let citations = if raw.get().starts_with('[') { elements(raw) } else { vec![raw] };
    for raw in citations {
        let sources = CITATION.read(raw.get()).and_then(|citation| citation.read[0]);
        for source in sources.map(elements).unwrap_or_default() {
            let Some([id, document, output]) = SOURCE.read(source.get()).map(|source| source.read)
            else {
                continue;
            };
            let known = document.or(output).and_then(|known| DOCUMENT.read(known.get()));
            let [url, title, snippet, text] = known
                .map(|known| known.read.map(|member| member.and_then(string)))
                .unwrap_or_default();
            let title = title.or_else(|| id.and_then(string));
            out.cite(Citation { url, title, quote: snippet.or(text) });
        }
    }
}

fn end(reason: &str, error: Option<&RawValue>, out: &mut Writer<'_>) {
    match reason {
        "COMPLETE" | "STOP_SEQUENCE" => out.complete(Stop::End),
        "MAX_TOKENS" | "ERROR_LIMIT" => out.complete(Stop::Length),
        "TOOL_CALL" => out.complete(Stop::Tools),
        "ERROR_TOXIC" => out.fail(FailureReason::Refused, "the reply was stopped (ERROR_TOXIC)"),
        "USER_CANCEL" => out.cancelled("the reply was cancelled"),
        "ERROR" | "TIMEOUT" => {
            let words = error.map(string_or_json);
            out.fail(FailureReason::Error, words.as_deref().unwrap_or(reason));
        }
        _ => out.complete(Stop::Other),
    }
}

/// What the model read and wrote; what is billed may be less.
fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<3> = Shape { read: ["tokens", "billed_units", "cached_tokens"], skip: &[] };
    const TOKENS: Shape<2> = Shape { read: ["input_tokens", "output_tokens"], skip: &[] };
    let Some([tokens, billed, cached]) = USAGE.read(raw.get()).map(|usage| usage.read) else {
        return Usage::default();
    };
    let tokens = tokens.or(billed).and_then(|tokens| TOKENS.read(tokens.get()));
    let [input, output] =
        tokens.map(|tokens| tokens.read.map(|member| member.and_then(number))).unwrap_or_default();
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cached.and_then(number),
        ..Usage::default()
    }
}
