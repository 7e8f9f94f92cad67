//! Anthropic Messages: `message_start`, content blocks, `message_delta`, `message_stop`.
//!
//! Text is incremental. A reply ends at its `message_stop`, or at the `stop_reason` before it.
//! Consecutive text blocks form one message, because the provider splits text where its citations
//! change. A whole reply is one object of type `message`.

mod block;
mod result;

use std::borrow::Cow;

use crate::event::{
    FailureReason, ReasoningOrigin, StopReason, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, json_object_of_strings, object,
    string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::openai_chat::parse_error_message;
use super::shared::bounded::OpenBlocks;
use super::{Dialect, Unreadable};
use block::BlockKind;
use result::write_citation;
pub(super) use result::{parse_image, write_result_output};

/// State of one Anthropic stream: the current message id and its open blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Anthropic {
    message_id: String,
    reply_state: ReplyState,
    open_blocks: OpenBlocks<BlockKind>,
    client_tool: Option<ClientToolMapper>,
}

/// Progress of the current message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyState {
    /// Content is of the current message, whose start may have been missed.
    #[default]
    Open,
    /// `message_stop` arrived: only another message has content.
    Stopped,
}

/// Maps a client tool call to a [`ToolStart`]; set for agents that define their own tools.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientToolMapper(
    pub(super) for<'a> fn(call: &'a str, name: &'a str) -> ToolStart<'a>,
);

impl PartialEq for ClientToolMapper {
    fn eq(&self, other: &ClientToolMapper) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

object! { FramePayload {
    kind: Text<'a> = "type",
    index: u64 = "index",
    delta: Delta<'a> = "delta",
    content_block: &'a RawValue = "content_block",
    message: &'a RawValue = "message",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    content: &'a RawValue = "content",
    stop_reason: Text<'a> = "stop_reason",
    id: Text<'a> = "id",
    model: Text<'a> = "model",
    stop_details: &'a RawValue = "stop_details",
    ; skip "role" | "stop_sequence" | "request_id" | "context_management" | "container"
        | "service_tier" | "diagnostics" | "abandoned_blocks" | "api_message_id"
} }

object! { Delta {
    kind: Text<'a> = "type",
    text: Text<'a> = "text",
    thinking: Text<'a> = "thinking",
    partial_json: Text<'a> = "partial_json",
    citation: &'a RawValue = "citation",
    content: &'a RawValue = "content",
    stop_reason: Text<'a> = "stop_reason",
    stop_details: &'a RawValue = "stop_details",
    signature: Text<'a> = "signature",
    ; skip "stop_sequence" | "container" | "estimated_tokens" | "encrypted_content"
} }

object! { UsageFields {
    input = "input_tokens", output = "output_tokens", cache_read = "cache_read_input_tokens",
    cache_write = "cache_creation_input_tokens", details = "output_tokens_details",
    ; skip _
} }

impl Dialect for Anthropic {
    const NAME: &'static str = "anthropic";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.type_text() {
            // Other dialects also send `message_start`, but their messages have no `type`.
            "message_start" => Likeness::yes_if(
                probe.nested_text("message", "type").as_deref() == Some("message")
                    || (probe.nested_text("message", "role").as_deref() == Some("assistant")
                        && !probe.has_nested("message", "timestamp")),
            ),
            "content_block_start" => Likeness::yes_if(probe.has("content_block")),
            "content_block_delta" => Likeness::yes_if(probe.has("delta")),
            "message" => Likeness::yes_if(probe.has_all(["content", "role", "model"])),
            "error" if probe.has("sequence_number") => Likeness::No,
            "error" => {
                let kind = probe.nested_text("error", "type");
                Likeness::yes_if(kind.is_some_and(|kind| kind.ends_with("_error")))
            }
            "ping" => Likeness::Maybe,
            _ => Likeness::No,
        }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = FramePayload::default();
        line.read(frame.data)?;
        out.append_unknown_fields_once(&line.unknown);
        let kind = line.kind.as_deref().unwrap_or("");
        let is_content = kind.starts_with("content_block_") || kind == "message_delta";
        if is_content && self.reply_state == ReplyState::Stopped {
            out.append_unrecognised(UnrecognisedReason::Late, frame.data);
            return Ok(());
        }
        match kind {
            "content_block_delta" => {
                let delta = line.delta.unwrap_or_default();
                self.apply_delta(line.index.unwrap_or_default(), &delta, frame.data, out);
            }
            "content_block_start" => {
                if let Some(block) = line.content_block {
                    self.open_block_and_write_content(line.index.unwrap_or_default(), block, out);
                }
            }
            "content_block_stop" => self.stop_block(line.index.unwrap_or_default(), out),
            "message_start" => {
                if let Some(message) = line.message {
                    self.apply_message_start(message, out)?;
                }
            }
            "message_delta" => {
                if let Some(usage) = line.usage {
                    out.update_or_emit_round_usage(parse_usage(usage));
                }
                let delta = line.delta.unwrap_or_default();
                out.append_unknown_fields_once(&delta.unknown);
                if let Some(reason) = delta.stop_reason {
                    apply_stop_reason(&reason, delta.stop_details, out);
                }
            }
            "message_stop" => {
                self.reply_state = ReplyState::Stopped;
                self.clear_blocks_and_ensure_reported_end(out);
            }
            "message" => self.apply_whole_message(&line, out),
            "error" => {
                let words = line.error.or(line.message).map(parse_error_message);
                out.report_failed_and_end_text(
                    FailureReason::Error,
                    words.as_deref().unwrap_or("unknown error"),
                );
            }
            "ping" | "keepalive" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Anthropic {
    /// Creates a dialect for the replies of an agent whose client tools `client_tool` maps.
    pub(super) fn with_client_tools(client_tool: ClientToolMapper) -> Anthropic {
        Anthropic { client_tool: Some(client_tool), ..Anthropic::default() }
    }

    /// Starts a round for a message, unless its `message_start` is repeated.
    fn apply_message_start(
        &mut self,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let mut message = FramePayload::default();
        message.read(raw.get())?;
        let id = message.id.as_deref().unwrap_or("");
        // A proxy may send the same start twice before any content.
        let again = out.has_open_round() && !id.is_empty() && id == self.message_id;
        if !again {
            self.reply_state = ReplyState::Open;
            self.open_blocks.clear();
            id.clone_into(&mut self.message_id);
            out.start_round_or_end_run(
                message.model.as_deref(),
                Some(id).filter(|id| !id.is_empty()),
            );
        }
        if let Some(usage) = message.usage {
            out.update_or_emit_round_usage(parse_usage(usage));
        }
        for block in message.content.map(array_elements).unwrap_or_default() {
            self.apply_whole_block(block, out);
        }
        Ok(())
    }

    /// Clears the open blocks and completes the reply if no `stop_reason` has done so.
    fn clear_blocks_and_ensure_reported_end(&mut self, out: &mut Writer<'_>) {
        self.open_blocks.clear();
        if out.has_open_round() && !out.has_reported_end() {
            out.report_completed_unless_failed(StopReason::End);
        }
    }

    /// Writes a reply that arrives as one object.
    fn apply_whole_message(&mut self, line: &FramePayload<'_>, out: &mut Writer<'_>) {
        out.start_round_or_end_run(line.model.as_deref(), line.id.as_deref());
        for block in line.content.map(array_elements).unwrap_or_default() {
            self.apply_whole_block(block, out);
        }
        if let Some(usage) = line.usage {
            out.update_or_emit_round_usage(parse_usage(usage));
        }
        match &line.stop_reason {
            Some(reason) => apply_stop_reason(reason, line.stop_details, out),
            None => out.report_completed_unless_failed(StopReason::Other),
        }
    }

    /// Applies a `content_block_delta` to the open block at `index`.
    fn apply_delta(&mut self, index: u64, delta: &Delta<'_>, raw: &str, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&delta.unknown);
        match delta.kind.as_deref().unwrap_or("") {
            "text_delta" => out.append_text(delta.text.as_deref().unwrap_or("")),
            "thinking_delta" => {
                let text = delta.thinking.as_deref().unwrap_or("");
                out.append_reasoning(text, ReasoningOrigin::Native);
            }
            "input_json_delta" => {
                if let Some(BlockKind::Tool { step }) = self.open_blocks.get_mut(index) {
                    out.append_arguments(*step, delta.partial_json.as_deref().unwrap_or(""));
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.citation {
                    write_citation(citation, out);
                }
            }
            "compaction_delta" => {
                if let Some(BlockKind::Compaction { summary }) = self.open_blocks.get_mut(index) {
                    summary.push_str(&delta.content.and_then(as_string).unwrap_or_default());
                }
            }
            "signature_delta" => {
                let signature = delta.signature.as_deref().unwrap_or("");
                out.append_reasoning_seal_if_kept(|| {
                    json_object_of_strings(&[("signature", signature)])
                });
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}

/// Ends the reply with what its `stop_reason` means.
pub(super) fn apply_stop_reason(reason: &str, details: Option<&RawValue>, out: &mut Writer<'_>) {
    match parse_stop_reason(reason) {
        Some(stop) => out.report_completed_unless_failed(stop),
        None => report_refusal_and_end_text(details, out),
    }
}

/// Maps a `stop_reason` to a [`StopReason`]; `None` for a refusal.
pub(super) fn parse_stop_reason(reason: &str) -> Option<StopReason> {
    match reason {
        "end_turn" | "stop_sequence" => Some(StopReason::End),
        "tool_use" => Some(StopReason::Tools),
        "max_tokens" | "model_context_window_exceeded" => Some(StopReason::Length),
        "pause_turn" => Some(StopReason::Paused),
        "refusal" => None,
        _ => Some(StopReason::Other),
    }
}

/// Fails the run as refused, with the explanation from `details` if there is one.
pub(super) fn report_refusal_and_end_text(details: Option<&RawValue>, out: &mut Writer<'_>) {
    object! { Details { explanation; skip _ } }
    let words = details
        .and_then(|raw| Details::from_raw(raw)?.explanation)
        .map_or(Cow::Borrowed("the model refused"), string_or_json);
    out.report_failed_and_end_text(FailureReason::Refused, &words);
}

/// Reads a `usage` object; missing numbers stay `None`.
pub(super) fn parse_usage(raw: &RawValue) -> Usage {
    object! { Details { thinking_tokens; skip _ } }
    let Some(usage) = UsageFields::from_raw(raw) else {
        return Usage::default();
    };
    let UsageFields { input, output, cache_read, cache_write, details } = usage;
    Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        reasoning_tokens: details
            .and_then(|raw| Details::from_raw(raw)?.thinking_tokens)
            .and_then(as_scalar),
        cache_read_tokens: cache_read.and_then(as_scalar),
        cache_write_tokens: cache_write.and_then(as_scalar),
        cost_usd: None,
    }
}
