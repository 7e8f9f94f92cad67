//! Builder for a scripted reply in the form of a chat completion stream.

use serde_json::{Value, json};

/// A reply, delta by delta.
#[derive(Clone, Debug)]
pub(super) struct ReplyScript {
    deltas: Vec<Value>,
    call_count: usize,
    word_count: usize,
    end_frame: Option<Value>,
}

impl ReplyScript {
    pub(super) fn new_empty() -> ReplyScript {
        ReplyScript { deltas: Vec::new(), call_count: 0, word_count: 0, end_frame: None }
    }

    /// Adds reasoning in the reasoning field.
    pub(super) fn add_reasoning(mut self, text: &str) -> ReplyScript {
        for word in split_like_tokens(text) {
            self.word_count += 1;
            self.deltas.push(json!({ "reasoning_content": word }));
        }
        self
    }

    /// Adds reasoning in `<think>` tags within the text.
    pub(super) fn add_tagged_reasoning(self, text: &str) -> ReplyScript {
        self.add_text(&format!("<think>{text}</think>\n\n"))
    }

    /// Adds text, word by word.
    pub(super) fn add_text(mut self, text: &str) -> ReplyScript {
        for word in split_like_tokens(text) {
            self.word_count += 1;
            self.deltas.push(json!({ "content": word }));
        }
        self
    }

    /// Adds a tool call with its arguments in pieces.
    pub(super) fn add_tool_call(mut self, name: &str, arguments: &str) -> ReplyScript {
        let index = self.call_count;
        self.call_count += 1;
        let id = format!("demo-{name}-{index}");
        self.deltas.push(json!({ "tool_calls": [{
            "index": index,
            "id": id,
            "type": "function",
            "function": { "name": name, "arguments": "" },
        }] }));
        for piece in split_like_tokens(arguments) {
            self.deltas.push(json!({ "tool_calls": [{
                "index": index,
                "function": { "arguments": piece },
            }] }));
        }
        self
    }

    /// Ends with the finish reason `stop`.
    pub(super) fn end_with_stop(self) -> ReplyScript {
        self.end_with_reason("stop")
    }

    /// Ends with the finish reason `tool_calls`.
    pub(super) fn end_with_tool_calls(self) -> ReplyScript {
        self.end_with_reason("tool_calls")
    }

    fn end_with_reason(mut self, reason: &str) -> ReplyScript {
        self.end_frame = Some(json!({
            "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
            "usage": { "prompt_tokens": 100, "completion_tokens": self.word_count },
        }));
        self
    }

    /// Ends with a server error in the middle of the stream.
    pub(super) fn end_with_error(mut self, message: &str) -> ReplyScript {
        self.end_frame = Some(json!({ "error": { "message": message, "type": "demo" } }));
        self
    }

    /// Server-sent events of the reply. A script without an end is cut off.
    pub(super) fn into_sse_frames(self) -> Vec<String> {
        let deltas = self
            .deltas
            .into_iter()
            .map(|delta| json!({ "model": "demo", "choices": [{ "index": 0, "delta": delta }] }));
        let ends = self.end_frame.is_some();
        let mut pieces: Vec<String> =
            deltas.chain(self.end_frame).map(|data| format!("data: {data}\n\n")).collect();
        if ends {
            pieces.push("data: [DONE]\n\n".to_owned());
        }
        pieces
    }
}

/// Splits a text like tokens: words with the blanks before them, tags cut in two.
fn split_like_tokens(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let is_boundary = match c {
            ' ' | '\n' => true,
            // Never a whole tag at once.
            'h' => text[..at].ends_with("<t") || text[..at].ends_with("</t"),
            _ => false,
        };
        if is_boundary && start < at {
            pieces.push(&text[start..at]);
            start = at;
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}
