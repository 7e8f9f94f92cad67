//! Ollama's native API: `/api/chat` and `/api/generate`, one object per line.
//!
//! Text is incremental. A reply ends at its object with `done: true`; a reply that is not streamed
//! is that object alone. Every object carries a timestamp. Tool calls arrive complete, often
//! without ids.

use crate::event::{FailureReason, Image, ReasoningOrigin, StopReason, TextMode, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    InlineFirstVec, NullableText, RawValue, Text, array_elements, as_string, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::parse_iso_millis;
use crate::run::{ToolStart, Writer};

use super::shared::call_ids::CallIds;
use super::{Dialect, Unreadable};

/// State of one Ollama stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ollama {
    reply_state: ReplyState,
    /// Calls without an id so far, in the whole run.
    call_ids: CallIds,
}

/// Progress of the current reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyState {
    /// The next object starts a reply.
    #[default]
    Waiting,
    Replying {
        has_tool_calls: bool,
    },
}

object! { FramePayload {
    model: Text<'a> = "model",
    created_at: Text<'a> = "created_at",
    message: Message<'a> = "message",
    response: Text<'a> = "response",
    thinking: NullableText<'a> = "thinking",
    done: bool = "done",
    done_reason: Text<'a> = "done_reason",
    input_tokens: u64 = "prompt_eval_count",
    output_tokens: u64 = "eval_count",
    error: &'a RawValue = "error",
    ; skip "total_duration" | "load_duration" | "prompt_eval_duration" | "eval_duration"
        | "context" | "remote_model" | "remote_host" | "logprobs"
} }

object! { Message {
    content: Text<'a> = "content",
    thinking: NullableText<'a> = "thinking",
    tool_calls: InlineFirstVec<ToolCall<'a>> = "tool_calls",
    images: &'a RawValue = "images",
    ; skip "role" | "tool_name"
} }

object! { ToolCall {
    id: Text<'a> = "id",
    function: Function<'a> = "function",
    ; skip "type"
} }

object! { Function {
    name: Text<'a> = "name",
    arguments: &'a RawValue = "arguments",
    ; skip "index" | "description"
} }

impl Dialect for Ollama {
    const NAME: &'static str = "ollama";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let reply = probe.has_nested("message", "role") || probe.text_member("response").is_some();
        if probe.has_all(["model", "created_at", "done"]) && reply {
            return Likeness::Yes;
        }
        Likeness::maybe_if(probe.text_member("error").is_some())
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: FramePayload<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = line.created_at.as_deref().and_then(parse_iso_millis) {
            out.set_timestamp(at);
        }
        out.append_unknown_fields_once(&line.unknown);
        if let Some(error) = line.error {
            out.report_failed_and_end_text(FailureReason::Error, &string_or_json(error));
            self.reply_state = ReplyState::Waiting;
            return Ok(());
        }
        if self.reply_state == ReplyState::Waiting {
            out.start_round_or_end_run(line.model.as_deref(), None);
            self.reply_state = ReplyState::Replying { has_tool_calls: false };
        }
        if let Some(thinking) = line.thinking {
            out.append_reasoning(&thinking, ReasoningOrigin::Native);
        }
        out.append_text(line.response.as_deref().unwrap_or(""));
        if let Some(message) = line.message {
            self.apply_message(message, out);
        }
        if line.done == Some(true) {
            let usage = Usage {
                input_tokens: line.input_tokens,
                output_tokens: line.output_tokens,
                ..Usage::default()
            };
            if usage != Usage::default() {
                out.update_or_emit_round_usage(usage);
            }
            self.report_completed_and_end_round(line.done_reason.as_deref().unwrap_or("stop"), out);
        }
        Ok(())
    }
}

impl Ollama {
    /// Writes the thinking, text, images and tool calls of a chat message.
    fn apply_message(&mut self, message: Message<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&message.unknown);
        if let Some(thinking) = message.thinking {
            out.append_reasoning(&thinking, ReasoningOrigin::Native);
        }
        out.append_text(message.content.as_deref().unwrap_or(""));
        for image in message.images.map(array_elements).unwrap_or_default() {
            if let Some(base64) = as_string(image) {
                // Ollama gives no media type; its images are PNG.
                out.append_message_image(Image::Inline { media_type: "image/png".into(), base64 });
            }
        }
        for call in message.tool_calls.unwrap_or_default() {
            self.apply_tool_call(call, out);
        }
    }

    /// Writes a complete tool call, generating an id where it has none.
    fn apply_tool_call(&mut self, call: ToolCall<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&call.unknown);
        let function = call.function.unwrap_or_default();
        out.append_unknown_fields_once(&function.unknown);
        let id = self.call_ids.id_or_generated(call.id.map(|id| id.0));
        let step =
            out.start_tool(ToolStart::client_function(&id, function.name.as_deref().unwrap_or("")));
        if let Some(arguments) = function.arguments {
            out.replace_arguments_if_changed(step, &string_or_json(arguments));
        }
        out.emit_tool_ready_once(step);
        self.reply_state = ReplyState::Replying { has_tool_calls: true };
    }

    /// Ends the reply and its round with what `done_reason` means.
    fn report_completed_and_end_round(&mut self, reason: &str, out: &mut Writer<'_>) {
        let stop = match (reason, self.reply_state) {
            ("stop", ReplyState::Replying { has_tool_calls: true }) => StopReason::Tools,
            ("stop", _) => StopReason::End,
            ("length", _) => StopReason::Length,
            // `load` and `unload`: the model was loaded or unloaded without a reply.
            _ => StopReason::Other,
        };
        out.report_completed_unless_failed(stop);
        // Nothing follows, so the round ends at its last object's time.
        out.end_round(Some(stop));
        self.reply_state = ReplyState::Waiting;
    }
}
