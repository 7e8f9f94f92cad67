//! `OpenAI` chat completions and compatible servers: `DeepSeek`, Groq, Mistral, Qwen, xAI,
//! Moonshot, Perplexity, Cerebras, `OpenRouter`, Azure, llama.cpp, vLLM, LM Studio.
//!
//! Text is incremental. A reply ends at its `finish_reason`; usage may follow, then `[DONE]`.
//! Reasoning comes in `reasoning_content` or `reasoning`, or as `thinking` parts of the content.
//! Whole replies have `message` where chunks have `delta`.

mod calls;
mod content;

use std::borrow::Cow;

use crate::event::{
    Citation, FailureReason, Image, ReasoningOrigin, StopReason, TextMode, UnrecognisedReason,
    Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    InlineFirstVec, NullableText, RawValue, Text, TextOrParts, array_elements, as_scalar,
    as_string, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::{Dialect, Unreadable};
use calls::{CallRef, RoundCalls};
use content::{write_annotation_citation, write_image_part, write_part};

/// State of one chat completion stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenAiChat {
    response_id: String,
    reply_state: ReplyState,
    calls: RoundCalls,
    cited_count: usize,
    is_refused: bool,
}

/// Progress of the current response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyState {
    #[default]
    Waiting,
    Replying,
    /// The `finish_reason` was received; usage may follow.
    Finished,
    /// `[DONE]` was received; only another response may follow.
    Done,
}

object! { Chunk {
    id: Text<'a> = "id",
    model: Text<'a> = "model",
    choices: InlineFirstVec<Choice<'a>> = "choices",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    x_groq: &'a RawValue = "x_groq",
    citations: &'a RawValue = "citations",
    object: Text<'a> = "object",
    message: &'a RawValue = "message",
    detail: &'a RawValue = "detail",
    ; skip "created" | "system_fingerprint" | "service_tier" | "obfuscation" | "provider"
        | "timings" | "time_info" | "prompt_filter_results" | "search_results" | "images"
        | "related_questions" | "type" | "code" | "param" | "status_code" | "user_id" | "kv_transfer_params"
        | "prompt_logprobs" | "prompt_token_ids" | "stats" | "metadata" | "nvext"
        | "moderation"
} }

object! { Choice {
    index: u64 = "index",
    delta: Delta<'a> = "delta",
    message: Box<Delta<'a>> = "message",
    finish_reason: Text<'a> = "finish_reason",
    error: &'a RawValue = "error",
    ; skip "logprobs" | "native_finish_reason" | "content_filter_results" | "content_filter_offsets"
        | "matched_stop" | "stop_reason" | "token_ids"
} }

object! { Delta {
    content: TextOrParts<'a> = "content",
    reasoning_content: NullableText<'a> = "reasoning_content",
    reasoning: NullableText<'a> = "reasoning",
    refusal: Text<'a> = "refusal",
    tool_calls: Vec<ToolCall<'a>> = "tool_calls",
    function_call: Box<Function<'a>> = "function_call",
    annotations: &'a RawValue = "annotations",
    images: &'a RawValue = "images",
    ; skip "role" | "index" | "reasoning_details" | "name" | "prefix" | "tool_call_id" | "audio"
        | "token_ids" | "channel"
} }

object! { ToolCall {
    index: u64 = "index",
    id: Text<'a> = "id",
    function: Function<'a> = "function",
    custom: Function<'a> = "custom",
    ; skip "type" | "extra_content"
} }

object! { Function {
    name: Text<'a> = "name",
    arguments: &'a RawValue = "arguments",
    input: &'a RawValue = "input",
    ; skip "parsed_arguments"
} }

object! { UsageFields {
    input = "prompt_tokens", output = "completion_tokens",
    output_details = "completion_tokens_details", input_details = "prompt_tokens_details", cost,
    cache_hit = "prompt_cache_hit_tokens",
    ; skip _
} }
object! { UsageDetails { reasoning_tokens, cached_tokens, cache_write_tokens; skip _ } }
object! { ErrorFields { message, kind = "type", code; skip _ } }

impl Dialect for OpenAiChat {
    const NAME: &'static str = "openai-chat";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let object = probe.text_member("object").unwrap_or_default();
        if object.starts_with("chat.completion") {
            return Likeness::Yes;
        }
        let choices = probe.get("choices").map(array_elements).unwrap_or_default();
        let known = choices.iter().any(|choice| {
            object! { Choice { delta, message, index; skip _ } }
            Choice::from_raw(choice)
                .is_some_and(|choice| choice.delta.or(choice.message).or(choice.index).is_some())
        });
        if known || (probe.has("choices") && probe.has("id")) {
            return Likeness::Yes;
        }
        Likeness::maybe_if(probe.has("error") || object == "error" || probe.has("detail"))
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut chunk = Chunk::default();
        chunk.read(frame.data)?;
        out.append_unknown_fields_once(&chunk.unknown);
        let mut error = self.find_error(&chunk);
        let mut finish_reason = None;
        let id = chunk.id.as_deref().unwrap_or("");
        if self.is_late(id) {
            out.trace_late_input(frame.data);
            return Ok(());
        }
        let model = chunk.model.as_deref();
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or_default() == 0 {
                self.start_round_if_new_response(id, model, out);
                out.append_unknown_fields_once(&choice.unknown);
                // Some servers repeat the message so far beside each delta; only the delta is new.
                if let Some(delta) = choice.delta.or_else(|| choice.message.map(|whole| *whole)) {
                    self.apply_delta(delta, out);
                }
                error = error.or(choice.error);
                finish_reason = choice.finish_reason.filter(|reason| !reason.is_empty());
            } else {
                out.append_unrecognised(UnrecognisedReason::OtherChoice, frame.data);
            }
        }
        if let Some(raw) = error {
            out.report_failed_and_end_text(FailureReason::Error, &parse_error_message(raw));
            self.reply_state = ReplyState::Finished;
        }
        if let Some(reason) = finish_reason {
            self.report_end_by_finish_reason(&reason, out);
        }
        if let Some(citations) = chunk.citations {
            self.write_new_citations(citations, out);
        }
        if let Some(usage) = chunk.usage.or_else(|| chunk.x_groq.and_then(find_groq_usage)) {
            out.update_or_emit_round_usage(parse_usage(usage));
        }
        Ok(())
    }

    fn push_done_marker(&mut self, _out: &mut Writer<'_>) {
        if self.reply_state != ReplyState::Waiting {
            self.reply_state = ReplyState::Done;
        }
    }
}

impl OpenAiChat {
    /// Returns the error of a chunk: its `error` member, or a flat error before any reply.
    fn find_error<'a>(&self, chunk: &Chunk<'a>) -> Option<&'a RawValue> {
        let says_something = |error: &&RawValue| !matches!(error.get(), "false" | "\"\"" | "{}");
        chunk.error.filter(says_something).or_else(|| {
            let flat = chunk.object.as_deref() == Some("error") || chunk.choices.is_none();
            let words = chunk.message.or(chunk.detail);
            words.filter(|_| flat && self.reply_state == ReplyState::Waiting)
        })
    }

    /// True if a chunk with this id comes after the end marker of its own response.
    fn is_late(&self, id: &str) -> bool {
        self.reply_state == ReplyState::Done
            && !self.response_id.is_empty()
            && (id.is_empty() || id == self.response_id)
    }

    /// Starts a round and resets the state, unless a round is open; another response id after a
    /// finished reply starts a new one.
    fn start_round_if_new_response(&mut self, id: &str, model: Option<&str>, out: &mut Writer<'_>) {
        let other_id = !id.is_empty() && id != self.response_id;
        let begins = match self.reply_state {
            ReplyState::Waiting | ReplyState::Done => true,
            ReplyState::Finished => other_id,
            ReplyState::Replying => false,
        };
        if begins {
            *self = OpenAiChat { response_id: id.to_owned(), ..OpenAiChat::default() };
            self.reply_state = ReplyState::Replying;
            let filled = |text: &&str| !text.is_empty();
            out.start_round_or_end_run(model.filter(filled), Some(id).filter(filled));
        }
    }

    /// Completes or fails the reply according to its `finish_reason`.
    fn report_end_by_finish_reason(&mut self, reason: &str, out: &mut Writer<'_>) {
        self.reply_state = ReplyState::Finished;
        match reason {
            "content_filter" => {
                out.report_failed_and_end_text(
                    FailureReason::Refused,
                    "stopped by a content filter",
                );
            }
            // DeepSeek; vLLM and SGLang.
            "insufficient_system_resource" => out.report_failed_and_end_text(
                FailureReason::Error,
                "the provider had too few resources to go on",
            ),
            "abort" | "cancelled" | "canceled" => {
                out.report_cancelled_and_end_text("stopped by the server");
            }
            "error" => out
                .report_failed_and_end_text(FailureReason::Error, "the provider reported an error"),
            _ if self.is_refused => {
                out.report_failed_and_end_text(FailureReason::Refused, "the model refused");
            }
            "stop" => out.report_completed_unless_failed(StopReason::End),
            "length" | "model_length" => out.report_completed_unless_failed(StopReason::Length),
            "tool_calls" | "function_call" => out.report_completed_unless_failed(StopReason::Tools),
            _ => out.report_completed_unless_failed(StopReason::Other),
        }
    }

    /// Writes the reasoning, text, images, annotations and tool calls of a delta.
    fn apply_delta(&mut self, delta: Delta<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&delta.unknown);
        let filled = |text: &NullableText<'_>| !text.is_empty();
        let reasoning = [delta.reasoning_content, delta.reasoning].into_iter().flatten();
        // A member that is empty still tells that the source has a field for reasoning.
        if let Some(text) = reasoning.reduce(|one, other| if filled(&one) { one } else { other }) {
            out.append_reasoning(&text, ReasoningOrigin::Native);
        }
        match delta.content {
            Some(TextOrParts::Text(text)) => out.append_text(&text),
            Some(TextOrParts::Parts(parts)) => {
                for raw in parts {
                    write_part(raw, out);
                }
            }
            None => {}
        }
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.is_refused = true;
            out.append_text(&refusal);
        }
        for image in delta.images.map(array_elements).unwrap_or_default() {
            write_image_part(image, out);
        }
        for annotation in delta.annotations.map(array_elements).unwrap_or_default() {
            write_annotation_citation(annotation, out);
        }
        if let Some(function) = delta.function_call {
            let call = ToolCall { function: Some(*function), ..ToolCall::default() };
            self.apply_tool_call(call, out);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.apply_tool_call(call, out);
        }
    }

    /// Starts a tool call or appends to its arguments.
    fn apply_tool_call(&mut self, call: ToolCall<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&call.unknown);
        let function = call.function.or(call.custom).unwrap_or_default();
        out.append_unknown_fields_once(&function.unknown);
        let named = CallRef {
            id: call.id.as_deref().unwrap_or(""),
            name: function.name.as_deref().unwrap_or(""),
            index: call.index,
        };
        let arguments = function.arguments.or(function.input).map(string_or_json);
        self.calls.ensure_call_and_append_arguments(named, arguments.as_deref().unwrap_or(""), out);
    }

    /// Cites the sources that are new: Perplexity repeats all of them in every chunk.
    fn write_new_citations(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        let urls = array_elements(raw);
        for url in urls.iter().skip(self.cited_count) {
            out.append_or_hold_citation(Citation { url: as_string(url), ..Citation::default() });
        }
        self.cited_count = self.cited_count.max(urls.len());
    }
}

/// Converts a URL to an image; a `data:` URL becomes an inline one.
pub(super) fn image_from_url(url: Cow<'_, str>) -> Image<'_> {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, base64)) => Image::Inline {
            media_type: media_type.to_owned().into(),
            base64: base64.to_owned().into(),
        },
        None => Image::Url { url },
    }
}

/// Returns the message of an error that is an object, a string or any other JSON.
pub(super) fn parse_error_message(raw: &RawValue) -> String {
    let Some(error) = ErrorFields::from_raw(raw) else {
        return string_or_json(raw).into_owned();
    };
    let [message, kind, code] =
        [error.message, error.kind, error.code].map(|member| member.map(string_or_json));
    match (message, kind.or(code)) {
        (Some(message), _) if !message.is_empty() => message.into_owned(),
        (_, Some(kind)) => kind.into_owned(),
        _ => raw.get().to_owned(),
    }
}

/// Returns the usage inside Groq's `x_groq` member.
fn find_groq_usage(raw: &RawValue) -> Option<&RawValue> {
    object! { XGroq { usage; skip _ } }
    XGroq::from_raw(raw)?.usage
}

/// Reads a `usage` object; missing numbers stay `None`.
fn parse_usage(raw: &RawValue) -> Usage {
    let Some(usage) = UsageFields::from_raw(raw) else {
        return Usage::default();
    };
    let UsageFields { input, output, output_details, input_details, cost, cache_hit } = usage;
    let of_output = output_details.and_then(UsageDetails::from_raw).unwrap_or_default();
    let of_input = input_details.and_then(UsageDetails::from_raw).unwrap_or_default();
    Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        reasoning_tokens: of_output.reasoning_tokens.and_then(as_scalar),
        cache_read_tokens: of_input
            .cached_tokens
            .and_then(as_scalar)
            .or_else(|| cache_hit.and_then(as_scalar)),
        cache_write_tokens: of_input.cache_write_tokens.and_then(as_scalar),
        cost_usd: cost.and_then(as_scalar),
    }
}
