//! The conversation as the client has it, so that it can be told anew when a source takes text back.

use engine::event::{MessageId, StepId};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::compat::json;

#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// Messages from before the run, as the client sent them.
    history: Vec<Box<RawValue>>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
enum Entry {
    Text { message: MessageId, id: String, text: String },
    Call { step: StepId, id: String, name: String, arguments: String },
    Result { step: StepId, id: String, call: String, content: String },
}

impl Thread {
    pub(super) fn new(history: &[Box<RawValue>]) -> Thread {
        let history = history.iter().filter_map(|message| json::on_one_line(message.get()));
        Thread { history: history.collect(), entries: Vec::new() }
    }

    pub(super) fn start_text(&mut self, message: MessageId, id: String) {
        self.entries.push(Entry::Text { message, id, text: String::new() });
    }

    /// The text of a message and its id.
    pub(super) fn text(&mut self, message: MessageId) -> Option<(&mut String, &str)> {
        self.entries.iter_mut().rev().find_map(|entry| match entry {
            Entry::Text { message: of, id, text } if *of == message => Some((text, id.as_str())),
            _ => None,
        })
    }

    pub(super) fn start_call(&mut self, step: StepId, id: String, name: String) {
        self.entries.push(Entry::Call { step, id, name, arguments: String::new() });
    }

    pub(super) fn arguments(&mut self, step: StepId) -> Option<&mut String> {
        self.entries.iter_mut().rev().find_map(|entry| match entry {
            Entry::Call { step: of, arguments, .. } if *of == step => Some(arguments),
            _ => None,
        })
    }

    pub(super) fn result(&mut self, step: StepId, id: String, call: String, content: String) {
        self.entries.push(Entry::Result { step, id, call, content });
    }

    /// Forgets what was taken back, and names the messages that went.
    pub(super) fn withdraw(&mut self, messages: &[MessageId], steps: &[StepId]) -> Vec<String> {
        let mut gone = Vec::new();
        self.entries.retain(|entry| {
            let (is_gone, id) = match entry {
                Entry::Text { message, id, .. } => (messages.contains(message), id),
                Entry::Call { step, id, .. } | Entry::Result { step, id, .. } => {
                    (steps.contains(step), id)
                }
            };
            if is_gone {
                gone.push(id.clone());
            }
            !is_gone
        });
        gone
    }

    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        let history = self.history.iter().map(|message| Message::Known(message));
        let messages = history.chain(self.entries.iter().map(Message::of)).collect();
        Snapshot { kind: "MESSAGES_SNAPSHOT", messages }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Snapshot<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    messages: Vec<Message<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Message<'a> {
    Known(&'a RawValue),
    #[serde(rename_all = "camelCase")]
    Assistant {
        id: &'a str,
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_calls: Option<[ToolCall<'a>; 1]>,
    },
    #[serde(rename_all = "camelCase")]
    Tool {
        id: &'a str,
        role: &'static str,
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Debug, Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> Message<'a> {
    fn of(entry: &'a Entry) -> Message<'a> {
        match entry {
            Entry::Text { id, text, .. } => {
                Message::Assistant { id, role: "assistant", content: Some(text), tool_calls: None }
            }
            Entry::Call { id, name, arguments, .. } => {
                let call =
                    ToolCall { id, kind: "function", function: Function { name, arguments } };
                Message::Assistant {
                    id,
                    role: "assistant",
                    content: None,
                    tool_calls: Some([call]),
                }
            }
            Entry::Result { id, call, content, .. } => {
                Message::Tool { id, role: "tool", tool_call_id: call, content }
            }
        }
    }
}
