//! Amazon Bedrock Converse: the payloads of its event stream, each an object of one member that
//! names the event.
//!
//! Text is incremental. A reply ends at its `messageStop`; `metadata` with the usage comes before
//! or after. `messageStart` may be missing, and so may the start of a block of text. Exceptions are
//! events too. Whole replies have `output` and `stopReason`.

use crate::event::{
    Citation, FailureReason, Image, ReasoningOrigin, StepId, Stop, TextMode, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default)]
pub(crate) struct Bedrock {
    state: State,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The next content begins a reply.
    #[default]
    Waiting,
    Replying,
}

/// A block that is open and more than text.
#[derive(Clone, Copy, Debug)]
struct Block {
    index: u64,
    kind: BlockKind,
}

#[derive(Clone, Copy, Debug)]
enum BlockKind {
    Call { step: StepId },
    Result { step: StepId, outcome: ToolOutcome },
    /// Reasoning of which there is no text, said once.
    Redacted,
}

object! { Line {
    message_start: &'a RawValue = "messageStart",
    block_start: BlockEvent<'a> = "contentBlockStart",
    block_delta: BlockEvent<'a> = "contentBlockDelta",
    block_stop: BlockEvent<'a> = "contentBlockStop",
    message_stop: &'a RawValue = "messageStop",
    metadata: &'a RawValue = "metadata",
    output: &'a RawValue = "output",
    stop_reason: Text<'a> = "stopReason",
    usage: &'a RawValue = "usage",
    message: Text<'a> = "message",
    throttled: &'a RawValue = "throttlingException",
    broken: &'a RawValue = "modelStreamErrorException",
    internal: &'a RawValue = "internalServerException",
    invalid: &'a RawValue = "validationException",
    unavailable: &'a RawValue = "serviceUnavailableException",
    late: &'a RawValue = "modelTimeoutException",
    ; skip "metrics" | "trace" | "additionalModelResponseFields" | "performanceConfig"
        | "serviceTier" | "__type" | "p" | "$metadata" | "ResponseMetadata"
} }

object! { BlockEvent {
    index: u64 = "contentBlockIndex",
    start: &'a RawValue = "start",
    delta: &'a RawValue = "delta",
    ; skip "p"
} }

/// What a block holds: at its start, in a delta, or whole.
const CONTENT: Shape<7> = Shape {
    read: [
        "text",
        "reasoningContent",
        "toolUse",
        "toolResult",
        "citation",
        "citationsContent",
        "image",
    ],
    skip: &["cachePoint", "guardContent"],
};

impl Dialect for Bedrock {
    const NAME: &'static str = "bedrock";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let blocks = ["contentBlockStart", "contentBlockDelta", "contentBlockStop"];
        let exceptions = [
            "throttlingException",
            "modelStreamErrorException",
            "internalServerException",
            "validationException",
            "serviceUnavailableException",
            "modelTimeoutException",
        ];
        let sure = blocks.iter().any(|key| probe.inner_has(key, "contentBlockIndex"))
            || exceptions.iter().any(|key| probe.has(key))
            || probe.inner_has("messageStart", "role")
            || probe.inner_has("messageStop", "stopReason")
            || (probe.inner_has("output", "message") && probe.has("stopReason"))
            || probe.has_all(["__type", "message"]);
        if sure {
            return Likeness::Yes;
        }
        let quiet = probe.kind().is_empty() && probe.text("message").is_some();
        Likeness::maybe_if(probe.inner_has("metadata", "usage") || quiet)
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&line.unknown);
        if let Some(event) = line.block_delta {
            self.delta(&event, out)?;
        } else if let Some(event) = line.block_start {
            self.start_block(&event, out)?;
        } else if let Some(event) = line.block_stop {
            self.stop_block(event.index.unwrap_or(0), out);
        } else if line.message_start.is_some() {
            self.state = State::Waiting;
            self.begin(out);
        } else if let Some(stop) = line.message_stop {
            self.stop_message(stop, out);
        } else if let Some(metadata) = line.metadata {
            const METADATA: Shape<1> = Shape { read: ["usage"], skip: &[] };
            let usage = METADATA.read(metadata.get()).and_then(|metadata| metadata.read[0]);
            if let Some(usage) = usage {
                out.round_usage(usage_of(usage));
            }
        } else if let Some(output) = line.output {
            self.whole(output, line.usage, out)?;
            end(line.stop_reason.as_deref().unwrap_or(""), out);
        } else if let Some(words) = line.message {
            out.fail(FailureReason::Error, &words);
        } else {
            let exceptions = [
                line.throttled,
                line.broken,
                line.internal,
                line.invalid,
                line.unavailable,
                line.late,
            ];
            match exceptions.into_iter().flatten().next() {
                Some(exception) => self.exception(exception, out),
                None if line.unknown.is_empty() => {}
                None => out.unrecognised(UnrecognisedReason::Frame, frame.data),
            }
        }
        Ok(())
    }
}

impl Bedrock {
    fn begin(&mut self, out: &mut Writer<'_>) {
        if self.state == State::Waiting {
            self.state = State::Replying;
            self.blocks.clear();
            out.round(None, None);
        }
    }

    fn exception(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const EXCEPTION: Shape<2> = Shape { read: ["message", "originalMessage"], skip: &[] };
        let words = EXCEPTION.read(raw.get()).and_then(|exception| {
            let [message, original] = exception.read;
            message.or(original)
        });
        out.fail(FailureReason::Error, &string_or_json(words.unwrap_or(raw)));
        self.state = State::Waiting;
    }

    fn stop_message(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const STOP: Shape<1> =
            Shape { read: ["stopReason"], skip: &["additionalModelResponseFields", "p"] };
        self.begin(out);
        self.state = State::Waiting;
        let Some(stop) = STOP.read(raw.get()) else { return };
        out.unknown_fields(&stop.unknown);
        end(&stop.read[0].and_then(string).unwrap_or_default(), out);
    }

    fn whole(
        &mut self,
        output: &RawValue,
        usage: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        const OUTPUT: Shape<1> = Shape { read: ["message"], skip: &[] };
        const MESSAGE: Shape<1> = Shape { read: ["content"], skip: &["role"] };
        const WHOLE: u64 = u64::MAX;
        let message = OUTPUT.read(output.get()).and_then(|output| output.read[0]);
        let message = message.and_then(|message| MESSAGE.read(message.get())).ok_or(Unreadable)?;
        out.unknown_fields(&message.unknown);
        self.state = State::Waiting;
        self.begin(out);
        for block in message.read[0].map(elements).unwrap_or_default() {
            self.content(WHOLE, block, out)?;
            self.stop_block(WHOLE, out);
        }
        if let Some(usage) = usage {
            out.round_usage(usage_of(usage));
        }
        self.state = State::Waiting;
        Ok(())
    }

    fn start_block(
        &mut self,
        event: &BlockEvent<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        out.unknown_fields(&event.unknown);
        self.begin(out);
        let index = event.index.unwrap_or(0);
        self.blocks.retain(|block| block.index != index);
        match event.start {
            Some(start) => self.content(index, start, out),
            None => Ok(()),
        }
    }

    fn delta(&mut self, event: &BlockEvent<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        out.unknown_fields(&event.unknown);
        self.begin(out);
        match event.delta {
            Some(delta) => self.content(event.index.unwrap_or(0), delta, out),
            None => Ok(()),
        }
    }

    fn content(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let content = CONTENT.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&content.unknown);
        let [text, reasoning, tool_use, tool_result, citation, cited, image] = content.read;
        if let Some(text) = text.and_then(string) {
            out.text(&text);
        }
        if let Some(reasoning) = reasoning {
            self.reasoning(index, reasoning, out)?;
        }
        if let Some(tool_use) = tool_use {
            self.tool_use(index, tool_use, out)?;
        }
        if let Some(result) = tool_result {
            self.tool_result(index, result, out);
        }
        if let Some(citation) = citation {
            cite(citation, out);
        }
        if let Some(cited) = cited {
            self.cited_content(cited, out);
        }
        if let Some(image) = image {
            match image_of(image) {
                Some(image) => out.image(image),
                None => out.unrecognised(UnrecognisedReason::Frame, image.get()),
            }
        }
        Ok(())
    }

    fn reasoning(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        const REASONING: Shape<3> =
            Shape { read: ["text", "redactedContent", "reasoningText"], skip: &["signature"] };
        let reasoning = REASONING.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&reasoning.unknown);
        let [text, redacted, whole] = reasoning.read;
        if let Some(text) = text.and_then(string) {
            out.reasoning(&text, ReasoningOrigin::Native);
        }
        if let Some(whole) = whole {
            self.reasoning(index, whole, out)?;
        }
        if redacted.is_some() && !self.blocks.iter().any(|block| block.index == index) {
            out.redacted_reasoning();
            self.blocks.push(Block { index, kind: BlockKind::Redacted });
        }
        Ok(())
    }

    /// The start of a call, a piece of its input, or both.
    fn tool_use(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        const TOOL_USE: Shape<4> =
            Shape { read: ["toolUseId", "name", "input", "type"], skip: &["signature"] };
        let tool_use = TOOL_USE.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&tool_use.unknown);
        let [id, name, input, kind] = tool_use.read;
        if let (Some(id), Some(name)) = (id.and_then(string), name.and_then(string)) {
            let tool = match kind.and_then(string).as_deref() {
                Some("server_tool_use") => ToolStart::provider(&id, &name, server_tool(&name)),
                _ => ToolStart::function(&id, &name),
            };
            let step = out.tool(tool);
            self.blocks.push(Block { index, kind: BlockKind::Call { step } });
        }
        if let (Some(&mut BlockKind::Call { step }), Some(input)) = (self.block(index), input) {
            out.arguments(step, &string_or_json(input));
        }
        Ok(())
    }

    /// The start of a result, or an array with more of it.
    fn tool_result(&mut self, index: u64, raw: &RawValue, out: &mut Writer<'_>) {
        const RESULT: Shape<3> = Shape { read: ["toolUseId", "status", "content"], skip: &["type"] };
        const PIECE: Shape<2> = Shape { read: ["text", "json"], skip: &[] };
        let mut pieces = Vec::new();
        if let Some(result) = RESULT.read(raw.get()) {
            out.unknown_fields(&result.unknown);
            let [id, status, content] = result.read;
            let Some(step) = id.and_then(string).and_then(|id| out.step_of(&id)) else {
                out.unrecognised(UnrecognisedReason::Late, raw.get());
                return;
            };
            let outcome = match status.and_then(string).as_deref() {
                Some("error") => ToolOutcome::Failed,
                _ => ToolOutcome::Succeeded,
            };
            self.blocks.push(Block { index, kind: BlockKind::Result { step, outcome } });
            pieces.extend(content.map(elements).unwrap_or_default());
        } else {
            pieces.extend(elements(raw));
        }
        let Some(&mut BlockKind::Result { step, .. }) = self.block(index) else { return };
        for piece in pieces {
            let [text, json] = PIECE.read(piece.get()).map(|piece| piece.read).unwrap_or_default();
            out.output(step, &string_or_json(text.or(json).unwrap_or(piece)));
        }
    }

    /// Text with its sources, in a whole reply.
    fn cited_content(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const CITED: Shape<2> = Shape { read: ["content", "citations"], skip: &[] };
        let [content, citations] = CITED.read(raw.get()).map(|cited| cited.read).unwrap_or_default();
        for piece in content.map(elements).unwrap_or_default() {
            if let Some(text) = CONTENT.read(piece.get()).and_then(|piece| piece.read[0]) {
                out.text(&string(text).unwrap_or_default());
            }
        }
        for citation in citations.map(elements).unwrap_or_default() {
            cite(citation, out);
        }
    }

    fn block(&mut self, index: u64) -> Option<&mut BlockKind> {
        let block = self.blocks.iter_mut().find(|block| block.index == index)?;
        Some(&mut block.kind)
    }

    fn stop_block(&mut self, index: u64, out: &mut Writer<'_>) {
        out.end_reasoning();
        let Some(at) = self.blocks.iter().position(|block| block.index == index) else { return };
        match self.blocks.remove(at).kind {
            BlockKind::Call { step } => out.ready(step),
            BlockKind::Result { step, outcome } => out.end_tool(step, outcome, None),
            BlockKind::Redacted => {}
        }
    }
}

fn server_tool(name: &str) -> ToolKind {
    match name {
        "nova_code_interpreter" => ToolKind::CodeInterpreter,
        "nova_grounding" => ToolKind::WebSearch,
        _ => ToolKind::Builtin,
    }
}

fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    const CITATION: Shape<4> =
        Shape { read: ["title", "source", "sourceContent", "location"], skip: &[] };
    const LOCATION: Shape<1> = Shape { read: ["web"], skip: &[] };
    const PIECE: Shape<2> = Shape { read: ["url", "text"], skip: &[] };
    let Some([title, source, quoted, location]) = CITATION.read(raw.get()).map(|it| it.read) else {
        return;
    };
    let web = location.and_then(|location| LOCATION.read(location.get())?.read[0]);
    let url = web.and_then(|web| PIECE.read(web.get())?.read[0]).or(source).and_then(string);
    let quote: String = quoted
        .map(elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|piece| PIECE.read(piece.get())?.read[1].and_then(string))
        .collect();
    let quote = (!quote.is_empty()).then(|| quote.into());
    out.cite(Citation { url, title: title.and_then(string), quote });
}

fn image_of(raw: &RawValue) -> Option<Image<'_>> {
    const IMAGE: Shape<2> = Shape { read: ["format", "source"], skip: &[] };
    const SOURCE: Shape<1> = Shape { read: ["bytes"], skip: &[] };
    let [format, source] = IMAGE.read(raw.get())?.read;
    let base64 = SOURCE.read(source?.get())?.read[0].and_then(string)?;
    let format = format.and_then(string);
    let media_type = format!("image/{}", format.as_deref().unwrap_or("png")).into();
    Some(Image::Inline { media_type, base64 })
}

fn end(reason: &str, out: &mut Writer<'_>) {
    match reason {
        "end_turn" | "stop_sequence" => out.complete(Stop::End),
        "tool_use" => out.complete(Stop::Tools),
        "max_tokens" | "model_context_window_exceeded" => out.complete(Stop::Length),
        "guardrail_intervened" => out.fail(FailureReason::Refused, "a guardrail intervened"),
        "content_filtered" => out.fail(FailureReason::Refused, "stopped by a content filter"),
        "refusal" => out.fail(FailureReason::Refused, "the model refused"),
        "malformed_model_output" | "malformed_tool_use" => out.fail(FailureReason::Error, reason),
        _ => out.complete(Stop::Other),
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<4> = Shape {
        read: ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"],
        skip: &[],
    };
    let Some(usage) = USAGE.read(raw.get()) else { return Usage::default() };
    let [input, output, cache_read, cache_write] =
        usage.read.map(|member| member.and_then(number));
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..Usage::default()
    }
}
