//! `OpenAI` chat completions, and everybody who speaks like them: `DeepSeek`, Groq, Mistral, Qwen,
//! xAI, Moonshot, Perplexity, Cerebras, `OpenRouter`, Azure, llama.cpp, vLLM, LM Studio.
//!
//! Text is incremental. A reply ends at its `finish_reason`; usage may follow, then `[DONE]`.
//! Reasoning comes in `reasoning_content` or `reasoning`, or as `thinking` parts of the content.
//! Whole replies have `message` where chunks have `delta`.

mod calls;

use std::borrow::Cow;

use crate::event::{
    Citation, FailureReason, Image, ReasoningOrigin, Stop, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    Few, RawValue, Shape, Text, TextOrParts, elements, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::{Dialect, Unreadable};
use calls::{Calls, Named};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenAiChat {
    response: String,
    state: State,
    calls: Calls,
    cited: usize,
    refused: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Replying,
    /// A `finish_reason` has come; usage may follow.
    Finished,
    /// The stream said that it is done: whatever comes is another response.
    Done,
}

object! { Chunk {
    id: Text<'a> = "id",
    model: Text<'a> = "model",
    choices: Few<Choice<'a>> = "choices",
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
    reasoning_content: Text<'a> = "reasoning_content",
    reasoning: Text<'a> = "reasoning",
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

const USAGE: Shape<6> = Shape {
    read: [
        "prompt_tokens",
        "completion_tokens",
        "completion_tokens_details",
        "prompt_tokens_details",
        "cost",
        "prompt_cache_hit_tokens",
    ],
    skip: &[],
};
const USAGE_DETAILS: Shape<3> =
    Shape { read: ["reasoning_tokens", "cached_tokens", "cache_write_tokens"], skip: &[] };
const PART: Shape<5> =
    Shape { read: ["type", "text", "thinking", "image_url", "reference_ids"], skip: &["closed"] };
const IMAGE_PART: Shape<2> = Shape { read: ["image_url", "url"], skip: &[] };
const ANNOTATION: Shape<4> = Shape { read: ["url_citation", "url", "title", "content"], skip: &[] };
const ERROR: Shape<3> = Shape { read: ["message", "type", "code"], skip: &[] };

impl Dialect for OpenAiChat {
    const NAME: &'static str = "openai-chat";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let object = probe.text("object").unwrap_or_default();
        if object.starts_with("chat.completion") {
            return Likeness::Yes;
        }
        let choices = probe.get("choices").map(elements).unwrap_or_default();
        let known = choices.iter().any(|choice| {
            const CHOICE: Shape<3> = Shape { read: ["delta", "message", "index"], skip: &[] };
            CHOICE.read(choice.get()).is_some_and(|choice| choice.read.iter().any(Option::is_some))
        });
        if known || (probe.has("choices") && probe.has("id")) {
            return Likeness::Yes;
        }
        Likeness::maybe_if(probe.has("error") || object == "error" || probe.has("detail"))
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut chunk = Chunk::default();
        chunk.read(frame.data)?;
        out.unknown_fields(&chunk.unknown);
        let mut error = self.error_of(&chunk);
        let mut finish_reason = None;
        let id = chunk.id.as_deref().unwrap_or("");
        let model = chunk.model.as_deref();
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or_default() == 0 {
                self.begin(id, model, out);
                out.unknown_fields(&choice.unknown);
                // Some send the message so far beside each delta: the delta is what is new.
                if let Some(delta) = choice.delta.or_else(|| choice.message.map(|whole| *whole)) {
                    self.delta(delta, out);
                }
                error = error.or(choice.error);
                finish_reason = choice.finish_reason;
            } else {
                out.unrecognised(UnrecognisedReason::OtherChoice, frame.data);
            }
        }
        if let Some(raw) = error {
            out.fail(FailureReason::Error, &error_text(raw));
            self.state = State::Finished;
        }
        if let Some(reason) = finish_reason {
            self.finish_reason(&reason, out);
        }
        if let Some(citations) = chunk.citations {
            self.cite(citations, out);
        }
        if let Some(usage) = chunk.usage.or_else(|| chunk.x_groq.and_then(groq_usage)) {
            out.round_usage(usage_of(usage));
        }
        Ok(())
    }

    fn done(&mut self, _out: &mut Writer<'_>) {
        if self.state != State::Waiting {
            self.state = State::Done;
        }
    }
}

impl OpenAiChat {
    fn error_of<'a>(&self, chunk: &Chunk<'a>) -> Option<&'a RawValue> {
        let says_something = |error: &&RawValue| !matches!(error.get(), "false" | "\"\"" | "{}");
        chunk.error.filter(says_something).or_else(|| {
            let flat = chunk.object.as_deref() == Some("error") || chunk.choices.is_none();
            let words = chunk.message.or(chunk.detail);
            words.filter(|_| flat && self.state == State::Waiting)
        })
    }

    /// Opens the round; a response after a finished one is a new round.
    fn begin(&mut self, id: &str, model: Option<&str>, out: &mut Writer<'_>) {
        let other_id = !id.is_empty() && id != self.response;
        let begins = match self.state {
            State::Waiting | State::Done => true,
            State::Finished => other_id,
            State::Replying => false,
        };
        if begins {
            *self = OpenAiChat { response: id.to_owned(), ..OpenAiChat::default() };
            self.state = State::Replying;
            let filled = |text: &&str| !text.is_empty();
            out.round(model.filter(filled), Some(id).filter(filled));
        }
    }

    fn finish_reason(&mut self, reason: &str, out: &mut Writer<'_>) {
        self.state = State::Finished;
        match reason {
            "content_filter" => out.fail(FailureReason::Refused, "stopped by a content filter"),
            "error" => out.fail(FailureReason::Error, "the provider reported an error"),
            _ if self.refused => out.fail(FailureReason::Refused, "the model refused"),
            "stop" => out.complete(Stop::End),
            "length" | "model_length" => out.complete(Stop::Length),
            "tool_calls" | "function_call" => out.complete(Stop::Tools),
            _ => out.complete(Stop::Other),
        }
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&delta.unknown);
        let filled = |text: &Text<'_>| !text.is_empty();
        if let Some(text) = delta.reasoning_content.filter(filled).or(delta.reasoning) {
            out.reasoning(&text, ReasoningOrigin::Native);
        }
        match delta.content {
            Some(TextOrParts::Text(text)) => out.text(&text),
            Some(TextOrParts::Parts(parts)) => {
                for raw in parts {
                    part(raw, out);
                }
            }
            None => {}
        }
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refused = true;
            out.text(&refusal);
        }
        for image in delta.images.map(elements).unwrap_or_default() {
            part_image(image, out);
        }
        for annotation in delta.annotations.map(elements).unwrap_or_default() {
            cite_annotation(annotation, out);
        }
        if let Some(function) = delta.function_call {
            let call = ToolCall { function: Some(*function), ..ToolCall::default() };
            self.tool_call(call, out);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.tool_call(call, out);
        }
    }

    fn tool_call(&mut self, call: ToolCall<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&call.unknown);
        let function = call.function.or(call.custom).unwrap_or_default();
        out.unknown_fields(&function.unknown);
        let named = Named {
            id: call.id.as_deref().unwrap_or(""),
            name: function.name.as_deref().unwrap_or(""),
            index: call.index,
        };
        let arguments = function.arguments.or(function.input).map(string_or_json);
        self.calls.delta(named, arguments.as_deref().unwrap_or(""), out);
    }

    /// Perplexity repeats all its sources in every chunk.
    fn cite(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        let urls = elements(raw);
        for url in urls.iter().skip(self.cited) {
            out.cite(Citation { url: string(url), ..Citation::default() });
        }
        self.cited = self.cited.max(urls.len());
    }
}

/// A part of a content array, as Mistral sends it.
fn part(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(part) = PART.read(raw.get()) else {
        return;
    };
    let [kind, text, thinking, image, _] = part.read;
    match kind.and_then(string).as_deref() {
        Some("text" | "output_text") => {
            if let Some(text) = text.and_then(string) {
                out.text(&text);
            }
        }
        Some("thinking") => {
            for piece in thinking.map(elements).unwrap_or_default() {
                if let Some(text) = PART.read(piece.get()).and_then(|piece| piece.read[1]) {
                    out.reasoning(&string_or_json(text), ReasoningOrigin::Native);
                }
            }
            if let Some(text) = thinking.and_then(string) {
                out.reasoning(&text, ReasoningOrigin::Native);
            }
        }
        Some("image_url") if image.is_some() => part_image(raw, out),
        Some("reference") => {}
        _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
    }
}

fn cite_annotation(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(annotation) = ANNOTATION.read(raw.get()) else {
        return;
    };
    let inner = annotation.read[0].and_then(|inner| ANNOTATION.read(inner.get()));
    let [_, url, title, quote] = inner.map_or(annotation.read, |inner| inner.read);
    let text = |raw: Option<_>| raw.and_then(string);
    out.cite(Citation { url: text(url), title: text(title), quote: text(quote) });
}

fn part_image(raw: &RawValue, out: &mut Writer<'_>) {
    let outer = IMAGE_PART.read(raw.get());
    let url = outer.and_then(|outer| outer.read[0]).and_then(|image| {
        let inner = IMAGE_PART.read(image.get()).and_then(|inner| inner.read[1]);
        string(inner.unwrap_or(image))
    });
    if let Some(url) = url {
        out.image(image_of_url(url));
    }
}

/// A picture at an address, or in it.
pub(super) fn image_of_url(url: Cow<'_, str>) -> Image<'_> {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, base64)) => Image::Inline {
            media_type: media_type.to_owned().into(),
            base64: base64.to_owned().into(),
        },
        None => Image::Url { url },
    }
}

/// The words of an error that is an object, a string or anything else.
pub(super) fn error_text(raw: &RawValue) -> String {
    let Some(error) = ERROR.read(raw.get()) else {
        return string_or_json(raw).into_owned();
    };
    let [message, kind, code] = error.read.map(|member| member.map(string_or_json));
    match (message, kind.or(code)) {
        (Some(message), _) if !message.is_empty() => message.into_owned(),
        (_, Some(kind)) => kind.into_owned(),
        _ => raw.get().to_owned(),
    }
}

fn groq_usage(raw: &RawValue) -> Option<&RawValue> {
    const X_GROQ: Shape<1> = Shape { read: ["usage"], skip: &[] };
    X_GROQ.read(raw.get())?.read[0]
}

fn usage_of(raw: &RawValue) -> Usage {
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, output_details, input_details, cost, cache_hit] = usage.read;
    let details = |raw: Option<&RawValue>, at: usize| {
        raw.and_then(|raw| USAGE_DETAILS.read(raw.get())?.read[at].and_then(number))
    };
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: details(output_details, 0),
        cache_read_tokens: details(input_details, 1).or(cache_hit.and_then(number)),
        cache_write_tokens: details(input_details, 2),
        cost_usd: cost.and_then(number),
    }
}
