//! Output items, as kept and as shown.

use engine::event::{MessageId, StepId};
use serde::Serialize;

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) kind: Kind,
    /// What it says, or the arguments it is called with.
    pub(super) text: String,
    pub(super) status: Status,
    /// Its text is not what the deltas said.
    pub(super) is_changed: bool,
    pub(super) is_withdrawn: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
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

/// A source. The log does not say which words it is for: it is put where the text then ended.
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
pub(super) enum Shown<'a> {
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

impl Kind {
    pub(super) fn is_message(&self, message: MessageId) -> bool {
        matches!(self, Kind::Message { message: of, .. } if *of == message)
    }

    pub(super) fn is_thought(&self, step: StepId) -> bool {
        matches!(self, Kind::Reasoning { step: of } if *of == step)
    }

    pub(super) fn is_of(&self, messages: &[MessageId], steps: &[StepId]) -> bool {
        match self {
            Kind::Message { message, .. } => messages.contains(message),
            Kind::Reasoning { step } | Kind::Call { step, .. } => steps.contains(step),
        }
    }
}

impl Item {
    pub(super) fn new(id: String, kind: Kind) -> Item {
        Item {
            id,
            kind,
            text: String::new(),
            status: Status::InProgress,
            is_changed: false,
            is_withdrawn: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.status == Status::InProgress
    }

    /// Its one part.
    pub(super) fn part(&self) -> Part<'_> {
        match &self.kind {
            Kind::Message { annotations, .. } => {
                Part::OutputText { text: &self.text, annotations, logprobs: [] }
            }
            Kind::Reasoning { .. } | Kind::Call { .. } => Part::SummaryText { text: &self.text },
        }
    }

    /// As it is before its part is there.
    pub(super) fn bare(&self) -> Shown<'_> {
        self.shown(Vec::new())
    }

    pub(super) fn whole(&self) -> Shown<'_> {
        self.shown(vec![self.part()])
    }

    fn shown<'a>(&'a self, parts: Vec<Part<'a>>) -> Shown<'a> {
        let (id, status) = (&*self.id, self.status);
        match &self.kind {
            Kind::Message { .. } => {
                Shown::Message { id, status, role: "assistant", content: parts }
            }
            Kind::Reasoning { .. } => Shown::Reasoning { id, summary: parts },
            Kind::Call { call, name, .. } => {
                Shown::FunctionCall { id, status, call_id: call, name, arguments: &self.text }
            }
        }
    }
}
