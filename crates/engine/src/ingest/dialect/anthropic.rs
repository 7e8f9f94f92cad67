//! Anthropic Messages: `message_start`, content blocks, `message_delta`, `message_stop`.
//!
//! Text is incremental. A reply ends at its `message_stop`, or at the `stop_reason` before it.
//! Blocks of text that follow each other are one message, because the provider cuts text where its
//! citations change. Whole replies are one object of type `message`.

mod block;
mod result;

use std::borrow::Cow;

use crate::event::{FailureReason, ReasoningOrigin, Stop, TextMode, UnrecognisedReason, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, number, object, sealed, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::openai_chat::error_text;
use super::{Dialect, Unreadable};
use block::{Block, BlockKind};
use result::cite;
pub(super) use result::{image_of, result_output};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Anthropic {
    message: String,
    blocks: Vec<Block>,
    client_tool: Option<ClientTool>,
}

/// How an agent that has tools of its own tells what they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientTool(pub(super) for<'a> fn(call: &'a str, name: &'a str) -> ToolStart<'a>);

impl PartialEq for ClientTool {
    fn eq(&self, other: &ClientTool) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

object! { Line {
    kind: Text<'a> = "type",
    index: u64 = "index",
    delta: DeltaOf<'a> = "delta",
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

object! { DeltaOf {
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

const USAGE: Shape<5> = Shape {
    read: [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens_details",
    ],
    skip: &[],
};

impl Dialect for Anthropic {
    const NAME: &'static str = "anthropic";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.kind() {
            // Others say `message_start` too, of messages that have no type of their own.
            "message_start" => Likeness::yes_if(
                probe.inner_text("message", "type") == "message"
                    || (probe.inner_text("message", "role") == "assistant"
                        && !probe.inner_has("message", "timestamp")),
            ),
            "content_block_start" => Likeness::yes_if(probe.has("content_block")),
            "content_block_delta" => Likeness::yes_if(probe.has("delta")),
            "message" => Likeness::yes_if(probe.has_all(["content", "role", "model"])),
            "error" if probe.has("sequence_number") => Likeness::No,
            "error" => Likeness::yes_if(probe.inner_text("error", "type").ends_with("_error")),
            "ping" => Likeness::Maybe,
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = Line::default();
        line.read(frame.data)?;
        out.unknown_fields(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "content_block_delta" => {
                let delta = line.delta.unwrap_or_default();
                self.delta(line.index.unwrap_or_default(), &delta, frame.data, out);
            }
            "content_block_start" => {
                if let Some(block) = line.content_block {
                    self.start_block(line.index.unwrap_or_default(), block, out);
                }
            }
            "content_block_stop" => self.stop_block(line.index.unwrap_or_default(), out),
            "message_start" => {
                if let Some(message) = line.message {
                    self.start_message(message, out)?;
                }
            }
            "message_delta" => {
                if let Some(usage) = line.usage {
                    out.round_usage(usage_of(usage));
                }
                let delta = line.delta.unwrap_or_default();
                out.unknown_fields(&delta.unknown);
                if let Some(reason) = delta.stop_reason {
                    stop(&reason, delta.stop_details, out);
                }
            }
            "message_stop" => self.stop_message(out),
            "message" => self.whole_message(&line, out),
            "error" => {
                let words = line.error.or(line.message).map(error_text);
                out.fail(FailureReason::Error, words.as_deref().unwrap_or("unnamed error"));
            }
            "ping" | "keepalive" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Anthropic {
    /// The replies an agent with tools of its own passes on.
    pub(super) fn of_agent(client_tool: ClientTool) -> Anthropic {
        Anthropic { client_tool: Some(client_tool), ..Anthropic::default() }
    }

    fn start_message(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut message = Line::default();
        message.read(raw.get())?;
        let id = message.id.as_deref().unwrap_or("");
        // A proxy may send the same start twice, before anything else has come.
        let again = out.in_round() && !id.is_empty() && id == self.message;
        if !again {
            self.blocks.clear();
            id.clone_into(&mut self.message);
            out.round(message.model.as_deref(), Some(id).filter(|id| !id.is_empty()));
        }
        if let Some(usage) = message.usage {
            out.round_usage(usage_of(usage));
        }
        for block in message.content.map(elements).unwrap_or_default() {
            self.whole_block(block, out);
        }
        Ok(())
    }

    fn stop_message(&mut self, out: &mut Writer<'_>) {
        self.blocks.clear();
        if out.in_round() && !out.is_settled() {
            out.complete(Stop::End);
        }
    }

    fn whole_message(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        out.round(line.model.as_deref(), line.id.as_deref());
        for block in line.content.map(elements).unwrap_or_default() {
            self.whole_block(block, out);
        }
        if let Some(usage) = line.usage {
            out.round_usage(usage_of(usage));
        }
        match &line.stop_reason {
            Some(reason) => stop(reason, line.stop_details, out),
            None => out.complete(Stop::Other),
        }
    }

    fn delta(&mut self, index: u64, delta: &DeltaOf<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&delta.unknown);
        match delta.kind.as_deref().unwrap_or("") {
            "text_delta" => out.text(delta.text.as_deref().unwrap_or("")),
            "thinking_delta" => {
                let text = delta.thinking.as_deref().unwrap_or("");
                out.reasoning(text, ReasoningOrigin::Native);
            }
            "input_json_delta" => {
                if let Some(BlockKind::Tool { step }) = self.block(index) {
                    out.arguments(*step, delta.partial_json.as_deref().unwrap_or(""));
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.citation {
                    cite(citation, out);
                }
            }
            "compaction_delta" => {
                if let Some(BlockKind::Compaction { summary }) = self.block(index) {
                    summary.push_str(&delta.content.and_then(string).unwrap_or_default());
                }
            }
            "signature_delta" => {
                let signature = delta.signature.as_deref().unwrap_or("");
                out.seal_reasoning(|| sealed(&[("signature", signature)]));
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}

pub(super) fn stop(reason: &str, details: Option<&RawValue>, out: &mut Writer<'_>) {
    match stop_of(reason) {
        Some(stop) => out.complete(stop),
        None => refuse(details, out),
    }
}

/// What a stop reason means; `None` for a refusal.
pub(super) fn stop_of(reason: &str) -> Option<Stop> {
    match reason {
        "end_turn" | "stop_sequence" => Some(Stop::End),
        "tool_use" => Some(Stop::Tools),
        "max_tokens" | "model_context_window_exceeded" => Some(Stop::Length),
        "pause_turn" => Some(Stop::Paused),
        "refusal" => None,
        _ => Some(Stop::Other),
    }
}

pub(super) fn refuse(details: Option<&RawValue>, out: &mut Writer<'_>) {
    const DETAILS: Shape<1> = Shape { read: ["explanation"], skip: &[] };
    let words = details
        .and_then(|raw| DETAILS.read(raw.get())?.read[0])
        .map_or(Cow::Borrowed("the model refused"), string_or_json);
    out.fail(FailureReason::Refused, &words);
}

pub(super) fn usage_of(raw: &RawValue) -> Usage {
    const DETAILS: Shape<1> = Shape { read: ["thinking_tokens"], skip: &[] };
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, cache_read, cache_write, details] = usage.read;
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: details.and_then(|raw| DETAILS.read(raw.get())?.read[0]).and_then(number),
        cache_read_tokens: cache_read.and_then(number),
        cache_write_tokens: cache_write.and_then(number),
        cost_usd: None,
    }
}
