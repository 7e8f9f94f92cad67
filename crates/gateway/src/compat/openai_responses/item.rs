//! Output items: as kept, and as sent.

use millpond_engine::event::{MessageId, StepId};
use serde::Serialize;

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) kind: ItemKind,
    /// The text, or the arguments of a call.
    pub(super) text: String,
    pub(super) status: Status,
    /// True if the text is not what the deltas sent.
    pub(super) has_changed_sent_text: bool,
    pub(super) is_withdrawn: bool,
}

#[derive(Clone, Debug)]
pub(super) enum ItemKind {
    Message { message: MessageId, annotations: Vec<Annotation> },
    Reasoning { step: StepId },
    Call { step: StepId, call: String, name: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Completed,
    Incomplete,
}

/// A cited source. The log does not say which words it supports: it is placed at the end of the
/// text so far.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Annotation {
    #[serde(rename = "type")]
    kind: &'static str,
    url: String,
    title: String,
    start_index: usize,
    end_index: usize,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    OutputText { text: &'a str, annotations: &'a [Annotation], logprobs: [(); 0] },
    SummaryText { text: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ItemObject<'a> {
    Message {
        id: &'a str,
        status: Status,
        role: &'static str,
        content: Vec<Part<'a>>,
    },
    Reasoning {
        id: &'a str,
        summary: Vec<Part<'a>>,
    },
    FunctionCall {
        id: &'a str,
        status: Status,
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
}

impl Annotation {
    pub(super) fn new(url: &str, title: Option<&str>, text: &str) -> Annotation {
        let end = text.chars().count();
        Annotation {
            kind: "url_citation",
            url: url.to_owned(),
            title: title.unwrap_or(url).to_owned(),
            start_index: end,
            end_index: end,
        }
    }
}

impl ItemKind {
    pub(super) fn is_message_with_id(&self, message: MessageId) -> bool {
        matches!(self, ItemKind::Message { message: of, .. } if *of == message)
    }

    pub(super) fn is_reasoning_of_step(&self, step: StepId) -> bool {
        matches!(self, ItemKind::Reasoning { step: of } if *of == step)
    }

    pub(super) fn belongs_to_any(&self, messages: &[MessageId], steps: &[StepId]) -> bool {
        match self {
            ItemKind::Message { message, .. } => messages.contains(message),
            ItemKind::Reasoning { step } | ItemKind::Call { step, .. } => steps.contains(step),
        }
    }
}

impl Item {
    pub(super) fn new(id: String, kind: ItemKind) -> Item {
        Item {
            id,
            kind,
            text: String::new(),
            status: Status::InProgress,
            has_changed_sent_text: false,
            is_withdrawn: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.status == Status::InProgress
    }

    /// The item's one part.
    pub(super) fn to_wire_part(&self) -> Part<'_> {
        match &self.kind {
            ItemKind::Message { annotations, .. } => {
                Part::OutputText { text: &self.text, annotations, logprobs: [] }
            }
            ItemKind::Reasoning { .. } | ItemKind::Call { .. } => {
                Part::SummaryText { text: &self.text }
            }
        }
    }

    /// The item before its part was added.
    pub(super) fn to_wire_object_without_part(&self) -> ItemObject<'_> {
        self.to_wire_object_with_parts(Vec::new())
    }

    pub(super) fn to_wire_object(&self) -> ItemObject<'_> {
        self.to_wire_object_with_parts(vec![self.to_wire_part()])
    }

    fn to_wire_object_with_parts<'a>(&'a self, parts: Vec<Part<'a>>) -> ItemObject<'a> {
        let (id, status) = (&*self.id, self.status);
        match &self.kind {
            ItemKind::Message { .. } => {
                ItemObject::Message { id, status, role: "assistant", content: parts }
            }
            ItemKind::Reasoning { .. } => ItemObject::Reasoning { id, summary: parts },
            ItemKind::Call { call, name, .. } => {
                ItemObject::FunctionCall { id, status, call_id: call, name, arguments: &self.text }
            }
        }
    }
}
