//! The agent's status, derived from events; the same for every view.
//!
//! Does not depend on the items a view shows, only on how much of thinking and tools its status may
//! show.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, ImageOwner, MessageId, StepId};
use crate::event_family;

use super::item_ids::ItemIds;
use super::patch::{Patch, Status, ToolName, ToolPhase};
use super::{Thinking, ViewOptions};

/// Level of detail of a view's status.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusDetail {
    pub(super) thinking: ThinkingDetail,
    pub(super) tools: ToolNames,
}

/// Visibility of thinking in the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingDetail {
    Hidden,
    /// Only that the agent is thinking.
    Presence,
    /// The newest increment.
    NewestText,
}

/// Visibility of tool names in the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolNames {
    Hidden,
    Shown,
}

impl StatusDetail {
    /// Detail for a view that shows tool names.
    pub(super) fn new(options: ViewOptions) -> StatusDetail {
        let thinking = match options.thinking {
            Thinking::Hide => ThinkingDetail::Hidden,
            Thinking::ViewDefault | Thinking::Show => ThinkingDetail::Presence,
            Thinking::Latest => ThinkingDetail::NewestText,
        };
        StatusDetail { thinking, tools: ToolNames::Shown }
    }
}

/// Presence of open asks in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenAskState {
    NoneOpen,
    SomeOpen,
}

/// Derives the status from the events of one run.
#[derive(Clone, Debug)]
pub(super) struct StatusTracker {
    detail: StatusDetail,
    ids: ItemIds,
    /// True if the status is `Writing`.
    is_writing: bool,
    newest_message: Option<MessageId>,
    /// Names of open tools, without those of sub-agents.
    open_tools: BTreeMap<StepId, String>,
}

impl StatusTracker {
    /// Creates a tracker before any event.
    pub(super) fn new(detail: StatusDetail) -> StatusTracker {
        StatusTracker {
            detail,
            ids: ItemIds::default(),
            is_writing: false,
            newest_message: None,
            open_tools: BTreeMap::new(),
        }
    }

    /// Creates a tracker with the same detail, before any event of a run with these ids.
    pub(super) fn new_with_same_detail(&self, ids: ItemIds) -> StatusTracker {
        StatusTracker { ids, ..StatusTracker::new(self.detail) }
    }

    /// Applies an event and emits the status if it changes; `Waiting` again while an ask is open.
    pub(super) fn apply<'r>(
        &mut self,
        event: &'r Event<'_>,
        asked: OpenAskState,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(status) = self.track_and_derive_status(event, asked) else { return };
        self.is_writing = status == Status::Writing;
        let told = std::mem::discriminant(&status);
        out(Patch::Status(status));
        if asked == OpenAskState::SomeOpen && told != std::mem::discriminant(&Status::Waiting) {
            out(Patch::Status(Status::Waiting));
        }
    }

    /// Tracks open tools and the message being written; returns the status after an event, or
    /// `None` if it does not change.
    fn track_and_derive_status<'r>(
        &mut self,
        event: &'r Event<'_>,
        asked: OpenAskState,
    ) -> Option<Status<'r>> {
        match event {
            Event::TextAppended { message, .. } | Event::TextRewritten { message, .. } => {
                self.writing_status_if_changed(*message)
            }
            // A message may start with an image; an image of an older one changes nothing.
            Event::ImageReceived { owner: ImageOwner::Message(message), .. }
                if self.newest_message < Some(*message) =>
            {
                self.writing_status_if_changed(*message)
            }
            Event::RoundStarted { round, .. } => Some(Status::Streaming { round: *round }),
            Event::ReasoningStarted { .. } if self.detail.thinking != ThinkingDetail::Hidden => {
                Some(Status::Thinking { text: None })
            }
            Event::ReasoningAppended { text, .. }
                if self.detail.thinking == ThinkingDetail::NewestText =>
            {
                Some(Status::Thinking { text: Some(Cow::Borrowed(text)) })
            }
            Event::ToolStarted { step, name, parent: None, .. } => {
                self.open_tools.insert(*step, name.to_string());
                Some(self.working_status(*step, Cow::Borrowed(name), ToolPhase::Started))
            }
            Event::ToolEnded { step, .. } => {
                let name = self.open_tools.remove(step)?;
                Some(self.working_status(*step, Cow::Owned(name), ToolPhase::Ended))
            }
            Event::AskOpened { .. } => Some(Status::Waiting),
            Event::AskResolved { .. } if asked == OpenAskState::NoneOpen => Some(Status::Resumed {
                running: self.open_tool_count(),
                only: self.only_open_tool_name_if_shown(),
            }),
            Event::Withdrawn { steps, .. } => {
                for step in steps {
                    self.open_tools.remove(step);
                }
                None
            }
            // Not a change of activity, or one that this view does not tell.
            Event::RoundEnded { .. }
            | Event::MessageStarted { .. }
            | Event::MessageEnded { .. }
            | Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::ToolStarted { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolReady { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | Event::AskResolved { .. }
            | Event::FinalDeclared { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Reasoning)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => None,
        }
    }

    /// Returns `Writing` if the message is a new one or nothing was written; the status stays while
    /// several open messages grow in turn.
    fn writing_status_if_changed(&mut self, message: MessageId) -> Option<Status<'static>> {
        let is_new = self.newest_message < Some(message);
        self.newest_message = self.newest_message.max(Some(message));
        (is_new || !self.is_writing).then_some(Status::Writing)
    }

    /// Number of open tools.
    fn open_tool_count(&self) -> u32 {
        u32::try_from(self.open_tools.len()).unwrap_or(u32::MAX)
    }

    /// Name of the open tool, if there is exactly one and names are shown.
    fn only_open_tool_name_if_shown(&self) -> Option<Cow<'static, str>> {
        let is_told = self.open_tool_count() == 1 && self.detail.tools == ToolNames::Shown;
        self.open_tools.values().next().filter(|_| is_told).map(|name| name.clone().into())
    }

    /// Status after a tool started or ended.
    fn working_status<'r>(&self, step: StepId, name: Cow<'r, str>, phase: ToolPhase) -> Status<'r> {
        let tool = match self.detail.tools {
            ToolNames::Hidden => None,
            ToolNames::Shown => Some(ToolName { id: self.ids.step(step).into(), name }),
        };
        Status::Working {
            running: self.open_tool_count(),
            only: self.only_open_tool_name_if_shown(),
            tool,
            phase,
        }
    }
}
