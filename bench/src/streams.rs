//! Generates streams of three providers: reasoning, text with markdown and code, a tool call.
//! Deterministic: the same number of deltas gives the same bytes.

use std::fmt::Write;

/// Provider whose stream format is generated.
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

/// Deterministic pseudo-random choice of words.
struct WordPicker(u64);

impl WordPicker {
    fn next_word(&mut self) -> &'static str {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(self.0 >> 33) as usize % WORDS.len()]
    }
}

/// Part of a stream, independent of the provider.
enum StreamPart<'a> {
    Start,
    Reasoning(&'a str),
    TextStart,
    Text(&'a str),
    ToolStart,
    Arguments(&'a str),
    End,
}

/// Generates a stream with this many text deltas.
pub(crate) fn make_stream(provider: Provider, deltas: usize) -> Vec<u8> {
    let mut out = StreamWriter { provider, text: String::new(), next_sequence_number: 0 };
    let mut dice = WordPicker(deltas as u64);
    out.write_part(&StreamPart::Start);
    for _ in 0..deltas / 5 {
        out.write_part(&StreamPart::Reasoning(dice.next_word()));
    }
    out.write_part(&StreamPart::TextStart);
    for _ in 0..deltas {
        out.write_part(&StreamPart::Text(dice.next_word()));
    }
    out.write_part(&StreamPart::ToolStart);
    out.write_part(&StreamPart::Arguments("{\"list\":["));
    for _ in 0..deltas / 50 {
        out.write_part(&StreamPart::Arguments("12345,"));
    }
    out.write_part(&StreamPart::Arguments("0]}"));
    out.write_part(&StreamPart::End);
    out.text.into_bytes()
}

/// Generates a Responses stream whose text deltas go to `open_messages` messages in turn, all of
/// them open at the same time.
pub(crate) fn make_interleaved_stream(deltas: usize, open_messages: u32) -> Vec<u8> {
    let provider = Provider::Responses;
    let mut out = StreamWriter { provider, text: String::new(), next_sequence_number: 0 };
    let mut dice = WordPicker(deltas as u64);
    let response = format!(r#","response":{{{RESPONSE},"status":"in_progress"}}"#);
    out.write_named_sse_event("response.created", &response);
    for index in 0..open_messages {
        out.write_responses_message_added(index, &format!("msg{index}"));
    }
    for index in (0..open_messages).cycle().take(deltas) {
        let item = format!("msg{index}");
        let word = dice.next_word();
        out.write_responses_delta("response.output_text.delta", index, &item, word);
    }
    for index in 0..open_messages {
        out.write_responses_item_done(index, &format!("msg{index}"), DONE_MESSAGE);
    }
    let response = format!(r#","response":{{{RESPONSE},"status":"completed"}}"#);
    out.write_named_sse_event("response.completed", &response);
    out.text.into_bytes()
}

/// Writes parts in the format of a provider. The `type` of an event comes first.
struct StreamWriter {
    provider: Provider,
    text: String,
    next_sequence_number: usize,
}

impl StreamWriter {
    fn write_part(&mut self, delta: &StreamPart<'_>) {
        match self.provider {
            Provider::Chat => self.write_chat_part(delta),
            Provider::Responses => self.write_responses_part(delta),
            Provider::Anthropic => self.write_anthropic_part(delta),
        }
    }

    fn write_chat_part(&mut self, delta: &StreamPart<'_>) {
        const HEAD: &str = r#"{"id":"chatcmpl-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O","object":"chat.completion.chunk","created":1794000000,"model":"pond-large-2026-11-01","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"#;
        const MIDDLE: &str = r#"},"logprobs":null,"finish_reason":"#;
        const TAIL: &str = r#"}],"usage":null,"obfuscation":"aZ3k9"}"#;
        let (delta, finish) = match delta {
            StreamPart::Start => (r#""role":"assistant","content":"","refusal":null"#.to_owned(), "null"),
            StreamPart::TextStart => return,
            StreamPart::Reasoning(text) => (format!(r#""reasoning_content":{}"#, json_string(text)), "null"),
            StreamPart::Text(text) => (format!(r#""content":{}"#, json_string(text)), "null"),
            StreamPart::ToolStart => (
                r#""tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"sum","arguments":""}}]"#.to_owned(),
                "null",
            ),
            StreamPart::Arguments(text) => (
                format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":{}}}}}]"#, json_string(text)),
                "null",
            ),
            StreamPart::End => (String::new(), r#""tool_calls""#),
        };
        let _ = write!(self.text, "data: {HEAD}{delta}{MIDDLE}{finish}{TAIL}\n\n");
        if finish != "null" {
            self.text.push_str("data: [DONE]\n\n");
        }
    }

    /// Writes one SSE event of the Responses or Anthropic format.
    fn write_named_sse_event(&mut self, name: &str, rest: &str) {
        let number = match self.provider {
            Provider::Responses => format!(r#","sequence_number":{}"#, self.next_sequence_number),
            Provider::Chat | Provider::Anthropic => String::new(),
        };
        self.next_sequence_number += 1;
        let _ = write!(self.text, "event: {name}\ndata: {{\"type\":\"{name}\"{number}{rest}}}\n\n");
    }

    fn write_responses_part(&mut self, delta: &StreamPart<'_>) {
        match delta {
            StreamPart::Start => {
                let response = format!(r#","response":{{{RESPONSE},"status":"in_progress"}}"#);
                self.write_named_sse_event("response.created", &response);
                self.write_responses_item_added(0, "rs", r#""type":"reasoning","summary":[]"#);
                let part = r#""summary_index":0,"part":{"type":"summary_text","text":""}"#;
                self.write_responses_part_added(
                    "response.reasoning_summary_part.added",
                    0,
                    "rs",
                    part,
                );
            }
            StreamPart::Reasoning(text) => {
                self.write_responses_delta("response.reasoning_summary_text.delta", 0, "rs", text);
            }
            StreamPart::TextStart => {
                self.write_responses_item_done(0, "rs", r#""type":"reasoning","summary":[]"#);
                self.write_responses_message_added(1, "msg");
            }
            StreamPart::Text(text) => {
                self.write_responses_delta("response.output_text.delta", 1, "msg", text);
            }
            StreamPart::ToolStart => {
                self.write_responses_item_done(1, "msg", DONE_MESSAGE);
                let body = r#""type":"function_call","call_id":"call_1","name":"sum","arguments":"","status":"in_progress""#;
                self.write_responses_item_added(2, "fc", body);
            }
            StreamPart::Arguments(text) => {
                self.write_responses_delta("response.function_call_arguments.delta", 2, "fc", text);
            }
            StreamPart::End => {
                let body = r#""type":"function_call","call_id":"call_1","name":"sum","arguments":"{}","status":"completed""#;
                self.write_responses_item_done(2, "fc", body);
                let usage = r#""usage":{"input_tokens":1,"output_tokens":9}"#;
                let response =
                    format!(r#","response":{{{RESPONSE},"status":"completed",{usage}}}"#);
                self.write_named_sse_event("response.completed", &response);
            }
        }
    }

    fn write_responses_message_added(&mut self, index: u32, item: &str) {
        let body = r#""type":"message","status":"in_progress","role":"assistant","content":[]"#;
        self.write_responses_item_added(index, item, body);
        let part = r#""content_index":0,"part":{"type":"output_text","text":"","annotations":[]}"#;
        self.write_responses_part_added("response.content_part.added", index, item, part);
    }

    fn write_responses_item_added(&mut self, index: u32, item: &str, body: &str) {
        self.write_responses_item("response.output_item.added", index, item, body);
    }

    fn write_responses_item_done(&mut self, index: u32, item: &str, body: &str) {
        self.write_responses_item("response.output_item.done", index, item, body);
    }

    fn write_responses_item(&mut self, event: &str, index: u32, item: &str, body: &str) {
        let rest =
            format!(r#","output_index":{index},"item":{{"id":"{item}{ITEM_ID_TAIL}",{body}}}"#);
        self.write_named_sse_event(event, &rest);
    }

    fn write_responses_part_added(&mut self, event: &str, index: u32, item: &str, part: &str) {
        let rest = format!(r#","item_id":"{item}{ITEM_ID_TAIL}","output_index":{index},{part}"#);
        self.write_named_sse_event(event, &rest);
    }

    fn write_responses_delta(&mut self, event: &str, index: u32, item: &str, text: &str) {
        let rest = format!(
            r#","item_id":"{item}{ITEM_ID_TAIL}","output_index":{index},"content_index":0,"summary_index":0,"delta":{},"logprobs":[],"obfuscation":"aZ3k9""#,
            json_string(text)
        );
        self.write_named_sse_event(event, &rest);
    }

    fn write_anthropic_part(&mut self, delta: &StreamPart<'_>) {
        match delta {
            StreamPart::Start => {
                self.write_named_sse_event("message_start", r#","message":{"id":"msg_1","type":"message","role":"assistant","model":"pond-large","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#);
                self.write_named_sse_event("content_block_start", r#","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}"#);
            }
            StreamPart::Reasoning(text) => self.write_named_sse_event(
                "content_block_delta",
                &format!(
                    r#","index":0,"delta":{{"type":"thinking_delta","thinking":{}}}"#,
                    json_string(text)
                ),
            ),
            StreamPart::TextStart => {
                self.write_named_sse_event("content_block_stop", r#","index":0"#);
                self.write_named_sse_event(
                    "content_block_start",
                    r#","index":1,"content_block":{"type":"text","text":""}"#,
                );
            }
            StreamPart::Text(text) => self.write_named_sse_event(
                "content_block_delta",
                &format!(
                    r#","index":1,"delta":{{"type":"text_delta","text":{}}}"#,
                    json_string(text)
                ),
            ),
            StreamPart::ToolStart => {
                self.write_named_sse_event("content_block_stop", r#","index":1"#);
                self.write_named_sse_event("content_block_start", r#","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"sum","input":{}}"#);
            }
            StreamPart::Arguments(text) => self.write_named_sse_event(
                "content_block_delta",
                &format!(
                    r#","index":2,"delta":{{"type":"input_json_delta","partial_json":{}}}"#,
                    json_string(text)
                ),
            ),
            StreamPart::End => {
                self.write_named_sse_event("content_block_stop", r#","index":2"#);
                self.write_named_sse_event("message_delta", r#","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}"#);
                self.write_named_sse_event("message_stop", "");
            }
        }
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Members that every response of the Responses API has.
const RESPONSE: &str =
    r#""id":"resp_1","object":"response","created_at":1794000000,"model":"pond-large","output":[]"#;

/// Members of a message item that is complete.
const DONE_MESSAGE: &str =
    r#""type":"message","status":"completed","role":"assistant","content":[]"#;

/// End of an item's id in the Responses API.
const ITEM_ID_TAIL: &str = "_0123456789abcdef0123456789abcdef0123456789abcdef";
