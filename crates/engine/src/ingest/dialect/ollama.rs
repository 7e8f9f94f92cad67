//! Ollama's own API: `/api/chat` and `/api/generate`, one object per line.
//!
//! Text is incremental. A reply ends at its object with `done: true`; a reply that is not streamed
//! is that object alone. Every object has its own time. Tool calls come whole, often without ids.

use crate::event::{FailureReason, Image, ReasoningOrigin, Stop, TextMode, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{Few, RawValue, Text, elements, object, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::iso_millis;
use crate::run::{ToolStart, Writer};

use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ollama {
    state: State,
    /// Calls that came without an id, in the whole run.
    unnamed: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The next object begins a reply.
    #[default]
    Waiting,
    Replying {
        asks_for_tools: bool,
    },
}

object! { Line {
    model: Text<'a> = "model",
    created_at: Text<'a> = "created_at",
    message: Message<'a> = "message",
    response: Text<'a> = "response",
    thinking: Text<'a> = "thinking",
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
    thinking: Text<'a> = "thinking",
    tool_calls: Few<ToolCall<'a>> = "tool_calls",
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
        let reply = probe.inner_has("message", "role") || probe.text("response").is_some();
        if probe.has_all(["model", "created_at", "done"]) && reply {
            return Likeness::Yes;
        }
        Likeness::maybe_if(probe.text("error").is_some())
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = line.created_at.as_deref().and_then(iso_millis) {
            out.at(at);
        }
        out.unknown_fields(&line.unknown);
        if let Some(error) = line.error {
            out.fail(FailureReason::Error, &string_or_json(error));
            self.state = State::Waiting;
            return Ok(());
        }
        if self.state == State::Waiting {
            out.round(line.model.as_deref(), None);
            self.state = State::Replying { asks_for_tools: false };
        }
        if let Some(thinking) = line.thinking {
            out.reasoning(&thinking, ReasoningOrigin::Native);
        }
        out.text(line.response.as_deref().unwrap_or(""));
        if let Some(message) = line.message {
            self.message(message, out);
        }
        if line.done == Some(true) {
            let usage = Usage {
                input_tokens: line.input_tokens,
                output_tokens: line.output_tokens,
                ..Usage::default()
            };
            if usage != Usage::default() {
                out.round_usage(usage);
            }
            self.end(line.done_reason.as_deref().unwrap_or("stop"), out);
        }
        Ok(())
    }
}

impl Ollama {
    fn message(&mut self, message: Message<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&message.unknown);
        if let Some(thinking) = message.thinking {
            out.reasoning(&thinking, ReasoningOrigin::Native);
        }
        out.text(message.content.as_deref().unwrap_or(""));
        for image in message.images.map(elements).unwrap_or_default() {
            if let Some(base64) = string(image) {
                // It does not say of what kind its pictures are; it makes PNG.
                out.image(Image::Inline { media_type: "image/png".into(), base64 });
            }
        }
        for call in message.tool_calls.unwrap_or_default() {
            self.tool_call(call, out);
        }
    }

    fn tool_call(&mut self, call: ToolCall<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&call.unknown);
        let function = call.function.unwrap_or_default();
        out.unknown_fields(&function.unknown);
        let id = call.id.map(|id| id.0).filter(|id| !id.is_empty()).unwrap_or_else(|| {
            self.unnamed += 1;
            format!("call_{}", self.unnamed).into()
        });
        let step = out.tool(ToolStart::function(&id, function.name.as_deref().unwrap_or("")));
        if let Some(arguments) = function.arguments {
            out.whole_arguments(step, &string_or_json(arguments));
        }
        out.ready(step);
        self.state = State::Replying { asks_for_tools: true };
    }

    fn end(&mut self, reason: &str, out: &mut Writer<'_>) {
        let stop = match (reason, self.state) {
            ("stop", State::Replying { asks_for_tools: true }) => Stop::Tools,
            ("stop", _) => Stop::End,
            ("length", _) => Stop::Length,
            // `load` and `unload`: the model came or went and said nothing.
            _ => Stop::Other,
        };
        out.complete(stop);
        // Nothing follows, so the round ends at the time of its last object.
        out.end_round(Some(stop));
        self.state = State::Waiting;
    }
}
