//! One open step.

use std::collections::VecDeque;

use crate::event::{StepId, ToolKind};
use crate::limits::DEDUP_ITEMS_MAX;
use crate::run::{Fingerprint, Writer};

use super::super::super::bounded::push_bounded;
use super::super::ask;

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
    /// Messages with output of the step that their source is still writing.
    partial_outputs: VecDeque<Fingerprint>,
    ends_with_newline: bool,
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
            partial_outputs: VecDeque::new(),
            ends_with_newline: true,
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

    /// Records that a message has output of the step and is not complete.
    pub(super) fn record_partial_output(&mut self, message: Fingerprint) {
        if !self.has_partial_output(message) {
            push_bounded(&mut self.partial_outputs, message, DEDUP_ITEMS_MAX);
        }
    }

    /// Records that a message with output of the step is complete.
    pub(super) fn record_complete_output(&mut self, message: Fingerprint) {
        self.partial_outputs.retain(|partial| *partial != message);
    }

    /// True if the message has output of the step and is not complete.
    pub(super) fn has_partial_output(&self, message: Fingerprint) -> bool {
        self.partial_outputs.contains(&message)
    }

    /// True if the step ends when something else follows.
    pub(super) fn can_end(&self) -> bool {
        self.progress == CallProgress::Complete
            && self.approval != Approval::Pending
            && self.partial_outputs.is_empty()
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

    /// Appends the output of another message, on a new line.
    pub(super) fn append_other_output(&mut self, text: &str, out: &mut Writer<'_>) {
        if !self.ends_with_newline {
            out.append_output_if_open(self.step, "\n");
        }
        self.append_output(text, out);
    }

    /// Appends output.
    pub(super) fn append_output(&mut self, text: &str, out: &mut Writer<'_>) {
        if !text.is_empty() {
            self.ends_with_newline = text.ends_with('\n');
            out.append_output_if_open(self.step, text);
        }
    }
}
