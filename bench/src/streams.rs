//! Made-up streams of three providers: reasoning, text with markdown and code, a tool call.
//! The same number of deltas gives the same bytes.

use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Provider {
    Chat,
    Responses,
    Anthropic,
}

impl Provider {
    pub(crate) const ALL: [Provider; 3] =
        [Provider::Chat, Provider::Responses, Provider::Anthropic];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Provider::Chat => "chat",
            Provider::Responses => "responses",
            Provider::Anthropic => "anthropic",
        }
    }
}

const WORDS: [&str; 24] = [
    "The ",
    "mill",
    " turns",
    " when",
    " the",
    " water",
    " falls",
    ",",
    " and",
    " `code`",
    " **is**",
    " calm",
    ".",
    "\n\n",
    "- item",
    " zażółć",
    " 漢字",
    " a < b",
    " x",
    " 42",
    "\n",
    " then",
    " so",
    "```\nlet x = 1;\n```\n",
];

/// A small generator that needs no crate and always says the same.
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> &'static str {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(self.0 >> 33) as usize % WORDS.len()]
    }
}

enum Delta<'a> {
    Start,
    Reasoning(&'a str),
    Text(&'a str),
    ToolStart,
    Arguments(&'a str),
    End,
}

pub(crate) fn make(provider: Provider, deltas: usize) -> Vec<u8> {
    let mut out = String::new();
    let mut dice = Dice(deltas as u64);
    let mut at = 0;
    let mut say = |delta: Delta<'_>| {
        let payload = payload(provider, &delta, at);
        at += 1;
        for (name, data) in payload {
            if provider != Provider::Chat {
                let _ = writeln!(out, "event: {name}");
            }
            let _ = write!(out, "data: {data}\n\n");
        }
    };
    say(Delta::Start);
    for _ in 0..deltas / 5 {
        say(Delta::Reasoning(dice.word()));
    }
    for _ in 0..deltas {
        say(Delta::Text(dice.word()));
    }
    say(Delta::ToolStart);
    say(Delta::Arguments("{\"list\":["));
    for _ in 0..deltas / 50 {
        say(Delta::Arguments("12345,"));
    }
    say(Delta::Arguments("0]}"));
    say(Delta::End);
    out.into_bytes()
}

type Payload = Vec<(&'static str, serde_json::Value)>;

fn payload(provider: Provider, delta: &Delta<'_>, at: usize) -> Payload {
    match provider {
        Provider::Chat => chat(delta),
        Provider::Responses => responses(delta, at),
        Provider::Anthropic => anthropic(delta),
    }
}

fn chat(delta: &Delta<'_>) -> Payload {
    use serde_json::json;
    let (delta, finish) = match delta {
        Delta::Start => (json!({"role": "assistant", "content": "", "refusal": null}), None),
        Delta::Reasoning(text) => (json!({"reasoning_content": text}), None),
        Delta::Text(text) => (json!({"content": text}), None),
        Delta::ToolStart => (
            json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                "function": {"name": "sum", "arguments": ""}}]}),
            None,
        ),
        Delta::Arguments(text) => {
            (json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}), None)
        }
        Delta::End => (json!({}), Some("tool_calls")),
    };
    let chunk = json!({
        "id": "chatcmpl-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O", "object": "chat.completion.chunk",
        "created": 1_794_000_000, "model": "pond-large-2026-11-01", "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        "usage": null, "obfuscation": "aZ3k9",
    });
    vec![("", chunk)]
}

fn responses(delta: &Delta<'_>, at: usize) -> Payload {
    use serde_json::json;
    let id = "msg_0123456789abcdef0123456789abcdef0123456789abcdef";
    let event = |name: &'static str, mut rest: serde_json::Value| {
        rest["type"] = json!(name);
        rest["sequence_number"] = json!(at);
        (name, rest)
    };
    let delta_of = |name, index: u32, text: &str| {
        event(
            name,
            json!({"item_id": id, "output_index": index, "content_index": 0,
            "summary_index": 0, "delta": text, "logprobs": [], "obfuscation": "aZ3k9"}),
        )
    };
    match delta {
        Delta::Start => vec![
            event(
                "response.created",
                json!({"response": {"id": "resp_1", "object": "response",
                "status": "in_progress", "model": "pond-large", "output": []}}),
            ),
            event(
                "response.output_item.added",
                json!({"output_index": 0,
                "item": {"id": "rs_1", "type": "reasoning", "summary": []}}),
            ),
        ],
        Delta::Reasoning(text) => vec![delta_of("response.reasoning_summary_text.delta", 0, text)],
        Delta::Text(text) => vec![delta_of("response.output_text.delta", 1, text)],
        Delta::ToolStart => vec![event(
            "response.output_item.added",
            json!({"output_index": 2,
            "item": {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "sum",
            "arguments": "", "status": "in_progress"}}),
        )],
        Delta::Arguments(text) => vec![delta_of("response.function_call_arguments.delta", 2, text)],
        Delta::End => vec![event(
            "response.completed",
            json!({"response": {"id": "resp_1",
            "object": "response", "status": "completed", "model": "pond-large", "output": []}}),
        )],
    }
}

fn anthropic(delta: &Delta<'_>) -> Payload {
    use serde_json::json;
    let block = |name: &'static str, index: u32, rest: serde_json::Value| {
        let mut value = rest;
        value["type"] = json!(name);
        value["index"] = json!(index);
        (name, value)
    };
    match delta {
        Delta::Start => vec![(
            "message_start",
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
                "role": "assistant", "model": "pond-large", "content": [], "stop_reason": null,
                "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        )],
        Delta::Reasoning(text) => vec![block(
            "content_block_delta",
            0,
            json!({"delta": {"type": "thinking_delta", "thinking": text}}),
        )],
        Delta::Text(text) => vec![block(
            "content_block_delta",
            1,
            json!({"delta": {"type": "text_delta", "text": text}}),
        )],
        Delta::ToolStart => vec![block(
            "content_block_start",
            2,
            json!({"content_block": {"type": "tool_use", "id": "toolu_1", "name": "sum",
                "input": {}}}),
        )],
        Delta::Arguments(text) => vec![block(
            "content_block_delta",
            2,
            json!({"delta": {"type": "input_json_delta", "partial_json": text}}),
        )],
        Delta::End => vec![
            (
                "message_delta",
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use",
                "stop_sequence": null}, "usage": {"output_tokens": 9}}),
            ),
            ("message_stop", json!({"type": "message_stop"})),
        ],
    }
}
