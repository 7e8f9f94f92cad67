//! The least that any reader of these streams must do: split the lines, parse each payload into
//! the few typed, borrowed fields that carry text.

use std::borrow::Cow;
use std::hint::black_box;

use serde::Deserialize;

use crate::streams::Provider;

/// A string that is borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Chat<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
    #[serde(borrow, default)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<Text<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    arguments: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Responses<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    delta: Option<Text<'a>>,
    #[serde(default)]
    output_index: u32,
}

#[derive(Deserialize)]
struct Anthropic<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(default)]
    index: u32,
}

#[derive(Deserialize)]
struct AnthropicDelta<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    partial_json: Option<Text<'a>>,
}

/// Payloads and bytes of text seen.
pub(crate) fn read(provider: Provider, stream: &[u8]) -> (usize, usize) {
    let (mut events, mut bytes) = (0, 0);
    payloads(stream, |payload| {
        events += 1;
        bytes += text_bytes(provider, payload).unwrap_or(0);
    });
    (events, bytes)
}

fn payloads<'a>(stream: &'a [u8], mut out: impl FnMut(&'a [u8])) {
    let mut at = 0;
    while let Some(len) = memchr::memchr(b'\n', &stream[at..]) {
        let line = &stream[at..at + len];
        at += len + 1;
        if let Some(payload) = line.strip_prefix(b"data: ")
            && payload != b"[DONE]"
        {
            out(payload);
        }
    }
}

/// The text deltas of a chat stream.
pub(crate) fn chat_texts(stream: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    payloads(stream, |payload| {
        let chat: Option<Chat<'_>> = serde_json::from_slice(payload).ok();
        let choice = chat.and_then(|chat| chat.choices.into_iter().next());
        texts
            .extend(choice.and_then(|choice| choice.delta.content).map(|text| text.0.into_owned()));
    });
    texts
}

fn text_bytes(provider: Provider, payload: &[u8]) -> Option<usize> {
    match provider {
        Provider::Chat => {
            let chat: Chat<'_> = serde_json::from_slice(payload).ok()?;
            let choice = chat.choices.into_iter().next()?;
            black_box(&choice.finish_reason);
            let call = choice.delta.tool_calls.and_then(|calls| calls.into_iter().next());
            let text = choice.delta.content.or(choice.delta.reasoning_content);
            Some(text.or_else(|| call?.function.arguments)?.0.len())
        }
        Provider::Responses => {
            let event: Responses<'_> = serde_json::from_slice(payload).ok()?;
            black_box((&event.kind.0, event.output_index));
            Some(event.delta?.0.len())
        }
        Provider::Anthropic => {
            let event: Anthropic<'_> = serde_json::from_slice(payload).ok()?;
            black_box((&event.kind.0, event.index));
            let delta = event.delta?;
            black_box(&delta.kind.as_ref().map(|kind| &kind.0));
            Some(delta.text.or(delta.thinking).or(delta.partial_json)?.0.len())
        }
    }
}
