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
    TextStart,
    Text(&'a str),
    ToolStart,
    Arguments(&'a str),
    End,
}

pub(crate) fn make(provider: Provider, deltas: usize) -> Vec<u8> {
    let mut out = Stream { provider, text: String::new(), number: 0 };
    let mut dice = Dice(deltas as u64);
    out.say(&Delta::Start);
    for _ in 0..deltas / 5 {
        out.say(&Delta::Reasoning(dice.word()));
    }
    out.say(&Delta::TextStart);
    for _ in 0..deltas {
        out.say(&Delta::Text(dice.word()));
    }
    out.say(&Delta::ToolStart);
    out.say(&Delta::Arguments("{\"list\":["));
    for _ in 0..deltas / 50 {
        out.say(&Delta::Arguments("12345,"));
    }
    out.say(&Delta::Arguments("0]}"));
    out.say(&Delta::End);
    out.text.into_bytes()
}

/// A stream being written, as its provider writes it: the type of an event comes first.
struct Stream {
    provider: Provider,
    text: String,
    number: usize,
}

impl Stream {
    fn say(&mut self, delta: &Delta<'_>) {
        match self.provider {
            Provider::Chat => self.chat(delta),
            Provider::Responses => self.responses(delta),
            Provider::Anthropic => self.anthropic(delta),
        }
    }

    fn chat(&mut self, delta: &Delta<'_>) {
        const HEAD: &str = r#"{"id":"chatcmpl-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O","object":"chat.completion.chunk","created":1794000000,"model":"pond-large-2026-11-01","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"#;
        const MIDDLE: &str = r#"},"logprobs":null,"finish_reason":"#;
        const TAIL: &str = r#"}],"usage":null,"obfuscation":"aZ3k9"}"#;
        let (delta, finish) = match delta {
            Delta::Start => (r#""role":"assistant","content":"","refusal":null"#.to_owned(), "null"),
            Delta::TextStart => return,
            Delta::Reasoning(text) => (format!(r#""reasoning_content":{}"#, json(text)), "null"),
            Delta::Text(text) => (format!(r#""content":{}"#, json(text)), "null"),
            Delta::ToolStart => (
                r#""tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"sum","arguments":""}}]"#.to_owned(),
                "null",
            ),
            Delta::Arguments(text) => (
                format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":{}}}}}]"#, json(text)),
                "null",
            ),
            Delta::End => (String::new(), r#""tool_calls""#),
        };
        let _ = write!(self.text, "data: {HEAD}{delta}{MIDDLE}{finish}{TAIL}\n\n");
        if finish != "null" {
            self.text.push_str("data: [DONE]\n\n");
        }
    }

    /// An event of the other two, named and numbered.
    fn event(&mut self, name: &str, rest: &str) {
        let number = match self.provider {
            Provider::Responses => format!(r#","sequence_number":{}"#, self.number),
            Provider::Chat | Provider::Anthropic => String::new(),
        };
        self.number += 1;
        let _ = write!(self.text, "event: {name}\ndata: {{\"type\":\"{name}\"{number}{rest}}}\n\n");
    }

    #[allow(clippy::too_many_lines, reason = "one arm per delta, nothing but text")]
    fn responses(&mut self, delta: &Delta<'_>) {
        const RESPONSE: &str = r#""id":"resp_1","object":"response","created_at":1794000000,"model":"pond-large","output":[]"#;
        let delta_of = |item: &str, index: u32, text: &str| {
            format!(
                r#","item_id":"{item}_0123456789abcdef0123456789abcdef0123456789abcdef","output_index":{index},"content_index":0,"summary_index":0,"delta":{},"logprobs":[],"obfuscation":"aZ3k9""#,
                json(text)
            )
        };
        let item = |index: u32, rest: &str| format!(r#","output_index":{index},"item":{{{rest}}}"#);
        let id = |item: &str| {
            format!(r#""id":"{item}_0123456789abcdef0123456789abcdef0123456789abcdef""#)
        };
        match delta {
            Delta::Start => {
                self.event(
                    "response.created",
                    &format!(r#","response":{{{RESPONSE},"status":"in_progress"}}"#),
                );
                let body = format!(r#"{},"type":"reasoning","summary":[]"#, id("rs"));
                self.event("response.output_item.added", &item(0, &body));
                let part = r#""part":{"type":"summary_text","text":""}"#;
                let place = format!(
                    r#",{},"output_index":0,"summary_index":0,{part}"#,
                    id("rs").replace("\"id\"", "\"item_id\"")
                );
                self.event("response.reasoning_summary_part.added", &place);
            }
            Delta::Reasoning(text) => {
                self.event("response.reasoning_summary_text.delta", &delta_of("rs", 0, text));
            }
            Delta::TextStart => {
                let body = format!(r#"{},"type":"reasoning","summary":[]"#, id("rs"));
                self.event("response.output_item.done", &item(0, &body));
                let body = format!(
                    r#"{},"type":"message","status":"in_progress","role":"assistant","content":[]"#,
                    id("msg")
                );
                self.event("response.output_item.added", &item(1, &body));
                let part = r#""part":{"type":"output_text","text":"","annotations":[]}"#;
                let place = format!(
                    r#",{},"output_index":1,"content_index":0,{part}"#,
                    id("msg").replace("\"id\"", "\"item_id\"")
                );
                self.event("response.content_part.added", &place);
            }
            Delta::Text(text) => {
                self.event("response.output_text.delta", &delta_of("msg", 1, text));
            }
            Delta::ToolStart => {
                let body = format!(
                    r#"{},"type":"message","status":"completed","role":"assistant","content":[]"#,
                    id("msg")
                );
                self.event("response.output_item.done", &item(1, &body));
                let body = format!(
                    r#"{},"type":"function_call","call_id":"call_1","name":"sum","arguments":"","status":"in_progress""#,
                    id("fc")
                );
                self.event("response.output_item.added", &item(2, &body));
            }
            Delta::Arguments(text) => {
                self.event("response.function_call_arguments.delta", &delta_of("fc", 2, text));
            }
            Delta::End => {
                let body = format!(
                    r#"{},"type":"function_call","call_id":"call_1","name":"sum","arguments":"{{}}","status":"completed""#,
                    id("fc")
                );
                self.event("response.output_item.done", &item(2, &body));
                self.event("response.completed", &format!(r#","response":{{{RESPONSE},"status":"completed","usage":{{"input_tokens":1,"output_tokens":9}}}}"#));
            }
        }
    }

    fn anthropic(&mut self, delta: &Delta<'_>) {
        match delta {
            Delta::Start => {
                self.event("message_start", r#","message":{"id":"msg_1","type":"message","role":"assistant","model":"pond-large","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#);
                self.event("content_block_start", r#","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}"#);
            }
            Delta::Reasoning(text) => self.event(
                "content_block_delta",
                &format!(
                    r#","index":0,"delta":{{"type":"thinking_delta","thinking":{}}}"#,
                    json(text)
                ),
            ),
            Delta::TextStart => {
                self.event("content_block_stop", r#","index":0"#);
                self.event(
                    "content_block_start",
                    r#","index":1,"content_block":{"type":"text","text":""}"#,
                );
            }
            Delta::Text(text) => self.event(
                "content_block_delta",
                &format!(r#","index":1,"delta":{{"type":"text_delta","text":{}}}"#, json(text)),
            ),
            Delta::ToolStart => {
                self.event("content_block_stop", r#","index":1"#);
                self.event("content_block_start", r#","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"sum","input":{}}"#);
            }
            Delta::Arguments(text) => self.event(
                "content_block_delta",
                &format!(
                    r#","index":2,"delta":{{"type":"input_json_delta","partial_json":{}}}"#,
                    json(text)
                ),
            ),
            Delta::End => {
                self.event("content_block_stop", r#","index":2"#);
                self.event("message_delta", r#","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}"#);
                self.event("message_stop", "");
            }
        }
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
