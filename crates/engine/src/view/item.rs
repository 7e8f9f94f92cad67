//! Items of a page: what a view shows as one unit.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{Citation, Event, Millis, ToolOutcome};
use crate::tool::ToolDescription;

use super::image_ref::ImageRef;
use super::patch::Ask;

/// Key of an item; a page shows its items in key order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemKey(pub u32);

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A prompt of the user.
    User,
    /// A message of the agent, or part of one.
    Text,
    /// Thinking of the model.
    Reasoning,
    /// A tool call and its result.
    Tool,
    /// Steps folded under one control.
    Steps,
    /// The result of a tool that ran between two rounds.
    Entry,
    /// A computer action, with its screenshot.
    Action,
    /// A question or approval request for the user.
    Ask,
    /// A request to the model, with its cost and outcome.
    Request,
    /// A checkpoint of the workspace.
    Checkpoint,
    /// A retry, a compaction, a warning.
    Notice,
    /// A failure of the run or its source.
    Error,
    /// Lists settled items that were withdrawn.
    Withdrawal,
}

/// Sort of an item that says how its run ended.
pub(super) const ENDING_SORT: &str = "ending";

/// State of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// More may come.
    #[default]
    Live,
    /// Its source is still writing it: a prompt, notice or question that nobody has sent yet.
    Draft,
    /// Complete.
    Done,
    /// The tool was called; its result is expected.
    Pending,
    /// The tool was called; its result is unknown or is a separate item.
    Called,
    /// The tool failed.
    Failed,
    /// Denied by the user or a policy.
    Denied,
    /// The run ended before this was complete.
    Incomplete,
    /// Withdrawn by its source; not shown.
    Withdrawn,
}

impl ItemState {
    /// State of a text after the event that ended it.
    pub(crate) fn after_text_end(event: &Event<'_>) -> ItemState {
        let is_cut = matches!(
            event,
            Event::MessageEnded { incomplete: true, .. }
                | Event::ReasoningEnded { incomplete: true, .. }
        );
        if is_cut { ItemState::Incomplete } else { ItemState::Done }
    }
}

impl ItemState {
    /// Outcome of a tool in this state.
    pub(crate) fn tool_outcome(self) -> ToolOutcome {
        match self {
            ItemState::Done => ToolOutcome::Succeeded,
            ItemState::Failed => ToolOutcome::Failed,
            ItemState::Denied => ToolOutcome::Denied,
            ItemState::Live | ItemState::Draft | ItemState::Pending | ItemState::Called => {
                ToolOutcome::NoResult
            }
            ItemState::Incomplete | ItemState::Withdrawn => ToolOutcome::Cut,
        }
    }
}

impl From<ToolOutcome> for ItemState {
    fn from(outcome: ToolOutcome) -> ItemState {
        match outcome {
            ToolOutcome::Succeeded => ItemState::Done,
            ToolOutcome::Failed => ItemState::Failed,
            ToolOutcome::Denied => ItemState::Denied,
            ToolOutcome::NoResult => ItemState::Called,
            ToolOutcome::Cut => ItemState::Incomplete,
        }
    }
}

/// One item of a page. Fields without a value are omitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item<'a> {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Id of its run.
    pub run: Cow<'a, str>,
    /// Id of its message, step or ask; unique among the items of its kind in a session.
    pub id: Cow<'a, str>,
    /// Round that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Dense index among its kind, if the view counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Start time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<Millis>,
    /// State of the item.
    pub state: ItemState,
    /// Text so far.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Cow<'a, str>,
    /// Name of a tool or an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
    /// Sort of tool, ask or notice, in the event log's terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Cow<'a, str>>,
    /// The provider's id of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Cow<'a, str>>,
    /// JSON, as the model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Cow<'a, str>>,
    /// Normalised description of a tool call, once its arguments are complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<ToolDescription>>,
    /// Output of a tool, or the answer to an ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    /// Text for people, if the view makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Cow<'a, str>>,
    /// Run time of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_for_ms: Option<Millis>,
    /// Steps folded under this item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Item<'a>>,
    /// Images of the item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageRef<'a>>,
    /// Sources that the item cites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation<'a>>,
}

impl<'a> Item<'a> {
    /// Creates a live item without content.
    pub fn new(
        kind: ItemKind,
        run: impl Into<Cow<'a, str>>,
        id: impl Into<Cow<'a, str>>,
    ) -> Item<'a> {
        Item {
            kind,
            run: run.into(),
            id: id.into(),
            round: None,
            index: None,
            at_ms: None,
            state: ItemState::Live,
            text: Cow::Borrowed(""),
            name: None,
            sort: None,
            call: None,
            arguments: None,
            description: None,
            result: None,
            label: None,
            ran_for_ms: None,
            steps: Vec::new(),
            images: Vec::new(),
            citations: Vec::new(),
        }
    }

    /// Returns true if the item says how its run ended.
    pub fn is_ending(&self) -> bool {
        self.sort.as_deref() == Some(ENDING_SORT)
    }

    /// Returns true if the item is the one of this ask.
    pub fn is_of_ask(&self, ask: &Ask<'_>) -> bool {
        self.kind == ItemKind::Ask && self.run == ask.run && self.id == ask.id
    }

    /// Empties the item and marks it as withdrawn.
    pub(super) fn clear_as_withdrawn(&mut self) {
        self.state = ItemState::Withdrawn;
        self.text = Cow::Borrowed("");
        self.arguments = None;
        self.description = None;
        self.result = None;
        self.label = None;
        self.steps.clear();
        self.images.clear();
        self.citations.clear();
    }

    /// Converts to owned texts.
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
            description: self.description,
            result: self.result.map(own),
            label: self.label.map(own),
            ran_for_ms: self.ran_for_ms,
            steps: self.steps.into_iter().map(Item::into_owned).collect(),
            images: self.images.into_iter().map(ImageRef::into_owned).collect(),
            citations: self.citations.into_iter().map(Citation::into_owned).collect(),
        }
    }
}
