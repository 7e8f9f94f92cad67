//! A reply written down as a provider would stream it.

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub(super) struct Script {
    deltas: Vec<Value>,
    calls: usize,
    words: usize,
    end: Option<Value>,
}

impl Script {
    pub(super) fn new() -> Script {
        Script { deltas: Vec::new(), calls: 0, words: 0, end: None }
    }

    /// Thinking in a field of its own.
    pub(super) fn think(mut self, text: &str) -> Script {
        for word in words(text) {
            self.words += 1;
            self.deltas.push(json!({ "reasoning_content": word }));
        }
        self
    }

    /// Thinking in tags, in the middle of the text.
    pub(super) fn tagged(self, text: &str) -> Script {
        self.say(&format!("<think>{text}</think>\n\n"))
    }

    pub(super) fn say(mut self, text: &str) -> Script {
        for word in words(text) {
            self.words += 1;
            self.deltas.push(json!({ "content": word }));
        }
        self
    }

    /// A call, its arguments in pieces.
    pub(super) fn call(mut self, name: &str, arguments: &str) -> Script {
        let index = self.calls;
        self.calls += 1;
        let id = format!("demo-{name}-{index}");
        self.deltas.push(json!({ "tool_calls": [{
            "index": index,
            "id": id,
            "type": "function",
            "function": { "name": name, "arguments": "" },
        }] }));
        for piece in words(arguments) {
            self.deltas.push(json!({ "tool_calls": [{
                "index": index,
                "function": { "arguments": piece },
            }] }));
        }
        self
    }

    pub(super) fn stop(self) -> Script {
        self.end("stop")
    }

    pub(super) fn calls(self) -> Script {
        self.end("tool_calls")
    }

    fn end(mut self, reason: &str) -> Script {
        self.end = Some(json!({
            "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
            "usage": { "prompt_tokens": 100, "completion_tokens": self.words },
        }));
        self
    }

    /// An error of the server, in the middle of the stream.
    pub(super) fn fail(mut self, message: &str) -> Script {
        self.end = Some(json!({ "error": { "message": message, "type": "demo" } }));
        self
    }

    /// Server-sent events. A script without an end breaks off.
    pub(super) fn pieces(self) -> Vec<String> {
        let deltas = self
            .deltas
            .into_iter()
            .map(|delta| json!({ "model": "demo", "choices": [{ "index": 0, "delta": delta }] }));
        let ends = self.end.is_some();
        let mut pieces: Vec<String> =
            deltas.chain(self.end).map(|data| format!("data: {data}\n\n")).collect();
        if ends {
            pieces.push("data: [DONE]\n\n".to_owned());
        }
        pieces
    }
}

/// A text in pieces such as tokens are: words with the blanks before them, tags cut in two.
fn words(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let cut = match c {
            ' ' | '\n' => true,
            // Never a whole tag at once.
            'h' => text[..at].ends_with("<t") || text[..at].ends_with("</t"),
            _ => false,
        };
        if cut && start < at {
            pieces.push(&text[start..at]);
            start = at;
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}
