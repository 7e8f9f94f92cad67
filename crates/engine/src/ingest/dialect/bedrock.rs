//! Amazon Bedrock Converse: the payloads of its event stream, each an object with one member that
//! names the event.
//!
//! Text is incremental. A reply ends at its `messageStop`; `metadata` with the usage comes before
//! or after it. `messageStart` and the start of a text block may be missing. Exceptions are events
//! too. Whole replies have `output` and `stopReason`.

mod content;

use crate::event::{
    FailureReason, ReasoningOrigin, StepId, TextMode, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, array_elements, as_string, object, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::shared::bounded::OpenBlocks;
use super::{Dialect, Unreadable};
use content::{
    USAGE, apply_stop_reason, exception_message, parse_image, parse_metadata_usage,
    server_tool_kind, write_citation, write_cited_content,
};

/// State of one Bedrock stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bedrock {
    reply_state: ReplyState,
    /// Open blocks that are not plain text.
    open_blocks: OpenBlocks<BlockKind>,
}

/// Progress of the current reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyState {
    /// The next content starts a reply.
    #[default]
    Waiting,
    Replying,
    /// `messageStop` arrived: only a `messageStart` begins another reply.
    Stopped,
}

/// Kind of an open block, with the state it needs until its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BlockKind {
    Call {
        step: StepId,
    },
    Result {
        step: StepId,
        outcome: ToolOutcome,
    },
    /// Redacted reasoning, already written.
    Redacted,
}

object! { FramePayload {
    message_start: &'a RawValue = "messageStart",
    block_start: BlockPayload<'a> = "contentBlockStart",
    block_delta: BlockPayload<'a> = "contentBlockDelta",
    block_stop: BlockPayload<'a> = "contentBlockStop",
    message_stop: &'a RawValue = "messageStop",
    metadata: &'a RawValue = "metadata",
    output: &'a RawValue = "output",
    stop_reason: Text<'a> = "stopReason",
    usage: &'a RawValue = "usage",
    message: Text<'a> = "message",
    ; skip "metrics" | "trace" | "additionalModelResponseFields" | "performanceConfig"
        | "serviceTier" | "__type" | "p" | "$metadata" | "ResponseMetadata"
} }

object! { BlockPayload {
    index: u64 = "contentBlockIndex",
    start: &'a RawValue = "start",
    delta: &'a RawValue = "delta",
    ; skip "p"
} }

object! {
    /// Content of a block: at its start, in a delta, or whole.
    ContentFields {
        text, reasoning = "reasoningContent", tool_use = "toolUse", tool_result = "toolResult",
        citation, cited = "citationsContent", image,
        ; skip "cachePoint" | "guardContent"
    }
}

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
        let sure = blocks.iter().any(|key| probe.has_nested(key, "contentBlockIndex"))
            || exceptions.iter().any(|key| probe.has(key))
            || probe.has_nested("messageStart", "role")
            || probe.has_nested("messageStop", "stopReason")
            || (probe.has_nested("output", "message") && probe.has("stopReason"))
            || probe.has_all(["__type", "message"]);
        if sure {
            return Likeness::Yes;
        }
        let quiet = probe.type_text().is_empty() && probe.text_member("message").is_some();
        Likeness::maybe_if(probe.has_nested("metadata", "usage") || quiet)
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: FramePayload<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        let exception = line.unknown.iter().find(|(name, _)| name.ends_with("Exception"));
        if let Some((_, exception)) = exception {
            self.apply_exception(exception, out);
            return Ok(());
        }
        let is_content = line.block_delta.is_some()
            || line.block_start.is_some()
            || line.block_stop.is_some()
            || line.message_stop.is_some();
        if is_content && self.reply_state == ReplyState::Stopped {
            out.append_unrecognised(UnrecognisedReason::Late, frame.data);
        } else if let Some(event) = line.block_delta.or(line.block_start) {
            self.apply_block_event(&event, out)?;
        } else if let Some(event) = line.block_stop {
            self.stop_block(event.index.unwrap_or(0), out);
        } else if line.message_start.is_some() {
            self.reply_state = ReplyState::Waiting;
            self.ensure_round(out);
        } else if let Some(stop) = line.message_stop {
            self.apply_message_stop(stop, out);
        } else if let Some(metadata) = line.metadata {
            out.update_or_emit_round_usage(parse_metadata_usage(metadata));
        } else if let Some(output) = line.output {
            self.write_whole_reply_except_stop_reason(output, line.usage, out)?;
            apply_stop_reason(line.stop_reason.as_deref().unwrap_or(""), out);
        } else if let Some(words) = line.message {
            out.report_failed_and_end_text(FailureReason::Error, &words);
        } else {
            out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
            return Ok(());
        }
        out.append_unknown_fields_once(&line.unknown);
        Ok(())
    }
}

impl Bedrock {
    /// Starts a round if none is open for the current reply.
    fn ensure_round(&mut self, out: &mut Writer<'_>) {
        if self.reply_state == ReplyState::Waiting {
            self.reply_state = ReplyState::Replying;
            self.open_blocks.clear();
            out.start_round_or_end_run(None, None);
        }
    }

    /// Fails the run with the message of an exception event.
    fn apply_exception(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        out.report_failed_and_end_text(FailureReason::Error, &exception_message(raw));
        self.reply_state = ReplyState::Waiting;
    }

    /// Ends the reply with the `stopReason` of a `messageStop`.
    fn apply_message_stop(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { Stop { stop_reason = "stopReason"; skip "additionalModelResponseFields" | "p" } }
        self.ensure_round(out);
        self.reply_state = ReplyState::Stopped;
        let Some(stop) = Stop::from_raw(raw) else {
            return;
        };
        out.append_unknown_fields_once(&stop.unknown);
        apply_stop_reason(&stop.stop_reason.and_then(as_string).unwrap_or_default(), out);
    }

    /// Writes a reply that arrives as one object; the caller applies its stop reason.
    fn write_whole_reply_except_stop_reason(
        &mut self,
        output: &RawValue,
        usage: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        object! { Output { message; skip _ } }
        object! { MessageFields { content; skip "role" } }
        const WHOLE: u64 = u64::MAX;
        let message = Output::from_raw(output).and_then(|output| output.message);
        let message = message.and_then(MessageFields::from_raw).ok_or(Unreadable)?;
        out.append_unknown_fields_once(&message.unknown);
        self.reply_state = ReplyState::Waiting;
        self.ensure_round(out);
        for block in message.content.map(array_elements).unwrap_or_default() {
            self.apply_content(WHOLE, block, out)?;
            self.stop_block(WHOLE, out);
        }
        if let Some(usage) = usage {
            out.update_or_emit_round_usage(USAGE.parse_usage_by_names(usage));
        }
        self.reply_state = ReplyState::Waiting;
        Ok(())
    }

    /// Applies a block's start or delta; either may come without the other.
    fn apply_block_event(
        &mut self,
        event: &BlockPayload<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        out.append_unknown_fields_once(&event.unknown);
        self.ensure_round(out);
        let index = event.index.unwrap_or(0);
        if event.start.is_some() {
            self.open_blocks.remove(index);
        }
        match event.start.or(event.delta) {
            Some(content) => self.apply_content(index, content, out),
            None => Ok(()),
        }
    }

    /// Writes what a block's start, delta or whole content in `raw` has: text, reasoning, tool calls,
    /// results, citations, images. The block stays open until `stop_block`.
    fn apply_content(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let content = ContentFields::from_raw(raw).ok_or(Unreadable)?;
        if !content.unknown.is_empty() {
            // An unknown member is a block kind, not a field: its content is part of the reply.
            out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
        }
        let ContentFields {
            text, reasoning, tool_use, tool_result, citation, cited, image, ..
        } = content;
        if let Some(text) = text.and_then(as_string) {
            out.append_text(&text);
        }
        if let Some(reasoning) = reasoning {
            self.apply_reasoning(index, reasoning, out)?;
        }
        if let Some(tool_use) = tool_use {
            self.apply_tool_use(index, tool_use, out)?;
        }
        if let Some(result) = tool_result {
            self.start_or_append_tool_result(index, result, out);
        }
        if let Some(citation) = citation {
            write_citation(citation, out);
        }
        if let Some(cited) = cited {
            write_cited_content(cited, out);
        }
        if let Some(image) = image {
            match parse_image(image) {
                Some(image) => out.append_message_image(image),
                None => out.append_unrecognised(UnrecognisedReason::Frame, image.get()),
            }
        }
        Ok(())
    }

    /// Writes reasoning text, or one redacted step per block.
    fn apply_reasoning(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        object! { Reasoning {
            text, redacted = "redactedContent", whole = "reasoningText",
            ; skip "signature"
        } }
        let reasoning = Reasoning::from_raw(raw).ok_or(Unreadable)?;
        out.append_unknown_fields_once(&reasoning.unknown);
        let Reasoning { text, redacted, whole, .. } = reasoning;
        if let Some(text) = text.and_then(as_string) {
            out.append_reasoning(&text, ReasoningOrigin::Native);
        }
        if let Some(whole) = whole {
            self.apply_reasoning(index, whole, out)?;
        }
        if redacted.is_some() && self.open_blocks.get(index).is_none() {
            out.append_redacted_reasoning();
            self.open_blocks.insert(index, BlockKind::Redacted);
        }
        Ok(())
    }

    /// Starts a tool call, appends to its input, or both.
    fn apply_tool_use(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        object! { ToolUse { id = "toolUseId", name, input, kind = "type"; skip "signature" } }
        let tool_use = ToolUse::from_raw(raw).ok_or(Unreadable)?;
        out.append_unknown_fields_once(&tool_use.unknown);
        let ToolUse { id, name, input, kind, .. } = tool_use;
        if let (Some(id), Some(name)) = (id.and_then(as_string), name.and_then(as_string)) {
            let tool = match kind.and_then(as_string).as_deref() {
                Some("server_tool_use") => {
                    ToolStart::provider_tool(&id, &name, server_tool_kind(&name))
                }
                _ => ToolStart::client_function(&id, &name),
            };
            let step = out.start_tool(tool);
            self.open_blocks.insert(index, BlockKind::Call { step });
        }
        match (self.open_blocks.get(index), input) {
            (Some(&BlockKind::Call { step }), Some(input)) => {
                out.append_arguments(step, &string_or_json(input));
            }
            (Some(BlockKind::Call { .. }), None) => {}
            _ => out.append_unrecognised(UnrecognisedReason::Late, raw.get()),
        }
        Ok(())
    }

    /// Starts a tool result, or appends an array of pieces to it.
    fn start_or_append_tool_result(&mut self, index: u64, raw: &RawValue, out: &mut Writer<'_>) {
        object! { ResultFields { id = "toolUseId", status, content; skip "type" } }
        object! { Piece { text, json; skip _ } }
        let mut pieces = Vec::new();
        if let Some(result) = ResultFields::from_raw(raw) {
            out.append_unknown_fields_once(&result.unknown);
            let ResultFields { id, status, content, .. } = result;
            let Some(step) = id.and_then(as_string).and_then(|id| out.find_open_tool(&id)) else {
                out.append_unrecognised(UnrecognisedReason::Late, raw.get());
                return;
            };
            let outcome = match status.and_then(as_string).as_deref() {
                Some("error") => ToolOutcome::Failed,
                _ => ToolOutcome::Succeeded,
            };
            self.open_blocks.insert(index, BlockKind::Result { step, outcome });
            pieces.extend(content.map(array_elements).unwrap_or_default());
        } else {
            pieces.extend(array_elements(raw));
        }
        let Some(&BlockKind::Result { step, .. }) = self.open_blocks.get(index) else {
            return out.append_unrecognised(UnrecognisedReason::Late, raw.get());
        };
        for piece in pieces {
            let Piece { text, json } = Piece::from_raw(piece).unwrap_or_default();
            out.append_output_if_open(step, &string_or_json(text.or(json).unwrap_or(piece)));
        }
    }

    /// Closes the block at `index` and ends its tool call or result.
    fn stop_block(&mut self, index: u64, out: &mut Writer<'_>) {
        out.close_reasoning_and_defer_end();
        let Some(block) = self.open_blocks.remove(index) else { return };
        match block {
            BlockKind::Call { step } => out.emit_tool_ready_once(step),
            BlockKind::Result { step, outcome } => out.end_tool_if_open(step, outcome, None),
            BlockKind::Redacted => {}
        }
    }
}
