//! What stands on a page: one thing a person sees as one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{Citation, Millis, StepId, ToolOutcome};

use super::blob::Shown;

/// Place of an item on its page. Items are shown in the order of their keys.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Key(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What the person wrote.
    User,
    /// What the agent says.
    Text,
    Reasoning,
    /// A tool call, with what came of it.
    Tool,
    /// Steps folded under one control.
    Steps,
    /// The result of a tool that ran between two rounds.
    Entry,
    /// Something done to a computer, with its picture.
    Action,
    /// Something only a person can settle.
    Ask,
    /// A request to the model, what it cost and how it ended.
    Request,
    Checkpoint,
    /// A retry, a compaction, a warning.
    Notice,
    Error,
    /// Names what was printed and no longer counts.
    Withdrawal,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// More may come.
    #[default]
    Live,
    Done,
    /// A tool was called; what came of it is not known, or is told elsewhere.
    Called,
    Failed,
    /// Refused by a person or a policy.
    Denied,
    /// The run ended before this was whole.
    Incomplete,
    /// Taken back by its source: not shown.
    Withdrawn,
}

impl State {
    /// How a text stands that has ended.
    pub(crate) fn of_text(incomplete: bool) -> State {
        if incomplete { State::Incomplete } else { State::Done }
    }
}

impl From<ToolOutcome> for State {
    fn from(outcome: ToolOutcome) -> State {
        match outcome {
            ToolOutcome::Succeeded => State::Done,
            ToolOutcome::Failed => State::Failed,
            ToolOutcome::Denied => State::Denied,
            ToolOutcome::NoResult => State::Called,
            ToolOutcome::Cut => State::Incomplete,
        }
    }
}

/// A field is missing where it says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item<'a> {
    pub kind: Kind,
    pub run: Cow<'a, str>,
    /// What the item is of: a message, a step, an ask. Unique among the items of its kind in a run.
    pub id: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Dense place among its like, where the view counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<Millis>,
    pub state: State,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Cow<'a, str>,
    /// Of a tool or an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
    /// What sort of tool, ask or notice it is, in the event log's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Cow<'a, str>>,
    /// The source's id of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Cow<'a, str>>,
    /// JSON, as the model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Cow<'a, str>>,
    /// What a tool put out, where `text` is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_for_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Item<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Shown<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation<'a>>,
}

impl<'a> Item<'a> {
    pub fn new(kind: Kind, run: impl Into<Cow<'a, str>>, id: impl Into<Cow<'a, str>>) -> Item<'a> {
        Item {
            kind,
            run: run.into(),
            id: id.into(),
            round: None,
            index: None,
            at_ms: None,
            state: State::Live,
            text: Cow::Borrowed(""),
            name: None,
            sort: None,
            call: None,
            arguments: None,
            result: None,
            label: None,
            ran_for_ms: None,
            steps: Vec::new(),
            images: Vec::new(),
            citations: Vec::new(),
        }
    }

    #[must_use]
    pub fn into_owned(self) -> Item<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Item {
            kind: self.kind,
            run: own(self.run),
            id: own(self.id),
            round: self.round,
            index: self.index,
            at_ms: self.at_ms,
            state: self.state,
            text: own(self.text),
            name: self.name.map(own),
            sort: self.sort.map(own),
            call: self.call.map(own),
            arguments: self.arguments.map(own),
            result: self.result.map(own),
            label: self.label.map(own),
            ran_for_ms: self.ran_for_ms,
            steps: self.steps.into_iter().map(Item::into_owned).collect(),
            images: self.images.into_iter().map(Shown::into_owned).collect(),
            citations: self.citations.into_iter().map(Citation::into_owned).collect(),
        }
    }
}

/// Name of a step in a page's words.
pub(crate) fn step_id(step: StepId) -> String {
    format!("s{}", step.0)
}
