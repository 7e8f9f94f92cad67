//! One open step.

use crate::event::{StepId, ToolKind};
use crate::run::Writer;

use super::super::ask;
use super::outputs::StepOutputs;

/// A step that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenStep {
    /// Key of the message that began it.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) step: StepId,
    pub(super) kind: ToolKind,
    pub(super) progress: CallProgress,
    pub(super) approval: Approval,
    pub(super) outputs: StepOutputs,
}

/// Progress of the message that has the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallProgress {
    /// Its source is still writing it; this is its newest version.
    Partial {
        text: String,
    },
    Complete,
}

/// Approval state of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approval {
    NotAsked,
    Pending,
    Answered,
}

impl OpenStep {
    /// A step whose call is complete, until a partial version is recorded.
    pub(super) fn new(key: &str, name: String, step: StepId, kind: ToolKind) -> OpenStep {
        OpenStep {
            key: key.to_owned(),
            name,
            step,
            kind,
            progress: CallProgress::Complete,
            approval: Approval::NotAsked,
            outputs: StepOutputs::default(),
        }
    }

    /// Records the newest version of a call that is not complete. An older, shorter version
    /// changes nothing, and a complete call stays.
    pub(super) fn record_partial_call(&mut self, version: &str) {
        if let CallProgress::Partial { text } = &mut self.progress
            && text.len() <= version.len()
        {
            version.clone_into(text);
        }
    }

    /// True if the step ends when something else follows.
    pub(super) fn can_end(&self) -> bool {
        self.progress == CallProgress::Complete
            && self.approval != Approval::Pending
            && self.outputs.are_complete()
    }

    /// True if a result that names this tool, or none, can be a result of the step.
    pub(super) fn takes_result_of_tool(&self, name: Option<&str>) -> bool {
        self.progress == CallProgress::Complete
            && self.approval != Approval::NotAsked
            && name.is_none_or(|name| name == self.name)
    }

    /// Resolves the approval: later messages imply an answer. A partial ask is not open yet.
    pub(super) fn resolve_pending_ask(&mut self, out: &mut Writer<'_>) {
        if self.approval == Approval::Pending && self.progress == CallProgress::Complete {
            self.approval = Approval::Answered;
            ask::resolve_as_answered(&self.key, out);
        }
    }
}
