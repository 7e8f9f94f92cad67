//! The conversation as the client has it, to resend it when text is withdrawn or rewritten.

use millpond_engine::event::{MessageId, StepId};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::compat::json;

#[derive(Clone, Debug, Default)]
pub(super) struct ClientThreadCopy {
    /// Messages from before the run, as the client sent them.
    history: Vec<Box<RawValue>>,
    entries: Vec<ThreadEntry>,
}

#[derive(Clone, Debug)]
enum ThreadEntry {
    Text { message: MessageId, id: String, text: String },
    Call { step: StepId, id: String, name: String, arguments: String },
    Result { step: StepId, id: String, call: String, content: String },
}

impl ClientThreadCopy {
    pub(super) fn new(history: &[Box<RawValue>]) -> ClientThreadCopy {
        let history = history.iter().filter_map(|message| json::to_one_line_json(message.get()));
        ClientThreadCopy { history: history.collect(), entries: Vec::new() }
    }

    pub(super) fn push_empty_text(&mut self, message: MessageId, id: String) {
        self.entries.push(ThreadEntry::Text { message, id, text: String::new() });
    }

    /// A message's text and id.
    pub(super) fn find_text_mut_and_id(
        &mut self,
        message: MessageId,
    ) -> Option<(&mut String, &str)> {
        self.entries.iter_mut().rev().find_map(|entry| match entry {
            ThreadEntry::Text { message: entry_message, id, text } if *entry_message == message => {
                Some((text, id.as_str()))
            }
            ThreadEntry::Text { .. } | ThreadEntry::Call { .. } | ThreadEntry::Result { .. } => {
                None
            }
        })
    }

    pub(super) fn push_call(&mut self, step: StepId, id: String, name: String) {
        self.entries.push(ThreadEntry::Call { step, id, name, arguments: String::new() });
    }

    pub(super) fn find_arguments_mut(&mut self, step: StepId) -> Option<&mut String> {
        self.entries.iter_mut().rev().find_map(|entry| match entry {
            ThreadEntry::Call { step: entry_step, arguments, .. } if *entry_step == step => {
                Some(arguments)
            }
            ThreadEntry::Text { .. } | ThreadEntry::Call { .. } | ThreadEntry::Result { .. } => {
                None
            }
        })
    }

    pub(super) fn push_result(&mut self, step: StepId, id: String, call: String, content: String) {
        self.entries.push(ThreadEntry::Result { step, id, call, content });
    }

    /// Removes withdrawn entries and returns their ids.
    pub(super) fn remove_withdrawn_and_list_ids(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
    ) -> Vec<String> {
        let mut removed_ids = Vec::new();
        self.entries.retain(|entry| {
            let (is_removed, id) = match entry {
                ThreadEntry::Text { message, id, .. } => (messages.contains(message), id),
                ThreadEntry::Call { step, id, .. } | ThreadEntry::Result { step, id, .. } => {
                    (steps.contains(step), id)
                }
            };
            if is_removed {
                removed_ids.push(id.clone());
            }
            !is_removed
        });
        removed_ids
    }

    pub(super) fn build_messages_snapshot(&self) -> Snapshot<'_> {
        let history = self.history.iter().map(|message| Message::Known(message));
        let messages = history.chain(self.entries.iter().map(Message::from_entry)).collect();
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
    fn from_entry(entry: &'a ThreadEntry) -> Message<'a> {
        match entry {
            ThreadEntry::Text { id, text, .. } => {
                Message::Assistant { id, role: "assistant", content: Some(text), tool_calls: None }
            }
            ThreadEntry::Call { id, name, arguments, .. } => {
                let call =
                    ToolCall { id, kind: "function", function: Function { name, arguments } };
                Message::Assistant {
                    id,
                    role: "assistant",
                    content: None,
                    tool_calls: Some([call]),
                }
            }
            ThreadEntry::Result { id, call, content, .. } => {
                Message::Tool { id, role: "tool", tool_call_id: call, content }
            }
        }
    }
}
