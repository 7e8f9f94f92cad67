//! Baseline: the least work any reader of these streams must do. Splits the lines and parses each
//! payload into the few typed, borrowed fields that carry text.

use std::borrow::Cow;
use std::hint::black_box;

use serde::Deserialize;

use crate::streams::Provider;

/// String that is borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct ChatChunk<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: ChatDelta<'a>,
    #[serde(borrow, default)]
    finish_reason: Option<BorrowedText<'a>>,
}

#[derive(Deserialize)]
struct ChatDelta<'a> {
    #[serde(borrow, default)]
    content: Option<BorrowedText<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<BorrowedText<'a>>,
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
    arguments: Option<BorrowedText<'a>>,
}

#[derive(Deserialize)]
struct ResponsesEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: BorrowedText<'a>,
    #[serde(borrow, default)]
    delta: Option<BorrowedText<'a>>,
    #[serde(default)]
    output_index: u32,
}

#[derive(Deserialize)]
struct AnthropicEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: BorrowedText<'a>,
    #[serde(borrow, default)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(default)]
    index: u32,
}

#[derive(Deserialize)]
struct AnthropicDelta<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<BorrowedText<'a>>,
    #[serde(borrow, default)]
    text: Option<BorrowedText<'a>>,
    #[serde(borrow, default)]
    thinking: Option<BorrowedText<'a>>,
    #[serde(borrow, default)]
    partial_json: Option<BorrowedText<'a>>,
}

/// Parses the stream; returns the number of payloads and of text bytes.
pub(crate) fn count_payloads_and_text(provider: Provider, stream: &[u8]) -> (usize, usize) {
    let (mut events, mut bytes) = (0, 0);
    for_each_payload(stream, |payload| {
        events += 1;
        bytes += payload_text_len(provider, payload).unwrap_or(0);
    });
    (events, bytes)
}

/// Calls `out` with each `data:` payload.
fn for_each_payload<'a>(stream: &'a [u8], mut out: impl FnMut(&'a [u8])) {
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

/// Returns the text deltas of a chat stream.
pub(crate) fn chat_text_deltas(stream: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    for_each_payload(stream, |payload| {
        let chat: Option<ChatChunk<'_>> = serde_json::from_slice(payload).ok();
        let choice = chat.and_then(|chat| chat.choices.into_iter().next());
        texts
            .extend(choice.and_then(|choice| choice.delta.content).map(|text| text.0.into_owned()));
    });
    texts
}

/// Parses one payload and returns the length of its text.
fn payload_text_len(provider: Provider, payload: &[u8]) -> Option<usize> {
    match provider {
        Provider::Chat => {
            let chat: ChatChunk<'_> = serde_json::from_slice(payload).ok()?;
            let choice = chat.choices.into_iter().next()?;
            black_box(&choice.finish_reason);
            let call = choice.delta.tool_calls.and_then(|calls| calls.into_iter().next());
            let text = choice.delta.content.or(choice.delta.reasoning_content);
            Some(text.or_else(|| call?.function.arguments)?.0.len())
        }
        Provider::Responses => {
            let event: ResponsesEvent<'_> = serde_json::from_slice(payload).ok()?;
            black_box((&event.kind.0, event.output_index));
            Some(event.delta?.0.len())
        }
        Provider::Anthropic => {
            let event: AnthropicEvent<'_> = serde_json::from_slice(payload).ok()?;
            black_box((&event.kind.0, event.index));
            let delta = event.delta?;
            black_box(&delta.kind.as_ref().map(|kind| &kind.0));
            Some(delta.text.or(delta.thinking).or(delta.partial_json)?.0.len())
        }
    }
}
