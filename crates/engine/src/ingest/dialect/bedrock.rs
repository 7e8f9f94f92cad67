//! Amazon Bedrock Converse: the payloads of its event stream, each an object of one member that
//! names the event.
//!
//! Text is incremental. A reply ends at its `messageStop`; `metadata` with the usage comes before
//! or after. `messageStart` may be missing, and so may the start of a block of text. Exceptions are
//! events too. Whole replies have `output` and `stopReason`.

mod pieces;

use crate::event::{
    FailureReason, ReasoningOrigin, StepId, TextMode, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, elements, object, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{ToolStart, Writer};

use super::{Dialect, Unreadable};
use pieces::{
    cite, cited_content, end, exception_words, image_of, metadata_usage, server_tool, usage_of,
};

#[derive(Clone, Debug, Default, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    index: u64,
    kind: BlockKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum BlockKind {
    Call {
        step: StepId,
    },
    Result {
        step: StepId,
        outcome: ToolOutcome,
    },
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
        let exception = line.unknown.iter().find(|(name, _)| name.ends_with("Exception"));
        if let Some((_, exception)) = exception {
            self.exception(exception, out);
            return Ok(());
        }
        if let Some(event) = line.block_delta.or(line.block_start) {
            self.block_content(&event, out)?;
        } else if let Some(event) = line.block_stop {
            self.stop_block(event.index.unwrap_or(0), out);
        } else if line.message_start.is_some() {
            self.state = State::Waiting;
            self.begin(out);
        } else if let Some(stop) = line.message_stop {
            self.stop_message(stop, out);
        } else if let Some(metadata) = line.metadata {
            out.round_usage(metadata_usage(metadata));
        } else if let Some(output) = line.output {
            self.whole(output, line.usage, out)?;
            end(line.stop_reason.as_deref().unwrap_or(""), out);
        } else if let Some(words) = line.message {
            out.fail(FailureReason::Error, &words);
        } else {
            out.unrecognised(UnrecognisedReason::Frame, frame.data);
            return Ok(());
        }
        out.unknown_fields(&line.unknown);
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
        out.fail(FailureReason::Error, &exception_words(raw));
        self.state = State::Waiting;
    }

    fn stop_message(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const STOP: Shape<1> =
            Shape { read: ["stopReason"], skip: &["additionalModelResponseFields", "p"] };
        self.begin(out);
        self.state = State::Waiting;
        let Some(stop) = STOP.read(raw.get()) else {
            return;
        };
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

    /// What a block starts with, or goes on with; either may come without the other.
    fn block_content(
        &mut self,
        event: &BlockEvent<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        out.unknown_fields(&event.unknown);
        self.begin(out);
        let index = event.index.unwrap_or(0);
        if event.start.is_some() {
            self.blocks.retain(|block| block.index != index);
        }
        match event.start.or(event.delta) {
            Some(content) => self.content(index, content, out),
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
        if !content.unknown.is_empty() {
            // A kind of block, not a field: what it holds is part of the reply.
            out.unrecognised(UnrecognisedReason::Frame, raw.get());
        }
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
            cited_content(cited, out);
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
            self.open_block(index, BlockKind::Redacted);
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
            self.open_block(index, BlockKind::Call { step });
        }
        match (self.block(index), input) {
            (Some(&mut BlockKind::Call { step }), Some(input)) => {
                out.arguments(step, &string_or_json(input));
            }
            (Some(BlockKind::Call { .. }), None) => {}
            _ => out.unrecognised(UnrecognisedReason::Late, raw.get()),
        }
        Ok(())
    }

    /// The start of a result, or an array with more of it.
    fn tool_result(&mut self, index: u64, raw: &RawValue, out: &mut Writer<'_>) {
        const RESULT: Shape<3> =
            Shape { read: ["toolUseId", "status", "content"], skip: &["type"] };
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
            self.open_block(index, BlockKind::Result { step, outcome });
            pieces.extend(content.map(elements).unwrap_or_default());
        } else {
            pieces.extend(elements(raw));
        }
        let Some(&mut BlockKind::Result { step, .. }) = self.block(index) else {
            return out.unrecognised(UnrecognisedReason::Late, raw.get());
        };
        for piece in pieces {
            let [text, json] = PIECE.read(piece.get()).map(|piece| piece.read).unwrap_or_default();
            out.output(step, &string_or_json(text.or(json).unwrap_or(piece)));
        }
    }

    fn open_block(&mut self, index: u64, kind: BlockKind) {
        if OPEN_TOOLS_MAX <= self.blocks.len() {
            self.blocks.remove(0);
        }
        self.blocks.push(Block { index, kind });
    }

    fn block(&mut self, index: u64) -> Option<&mut BlockKind> {
        let block = self.blocks.iter_mut().find(|block| block.index == index)?;
        Some(&mut block.kind)
    }

    fn stop_block(&mut self, index: u64, out: &mut Writer<'_>) {
        out.end_reasoning();
        let Some(at) = self.blocks.iter().position(|block| block.index == index) else {
            return;
        };
        match self.blocks.remove(at).kind {
            BlockKind::Call { step } => out.ready(step),
            BlockKind::Result { step, outcome } => out.end_tool(step, outcome, None),
            BlockKind::Redacted => {}
        }
    }
}
