//! Ending of a run, and its text for people.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{FailureReason, Outcome, Reply, StopReason};

use super::into_owned_cow;

/// Ending of a run; the same in every view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedRun<'a> {
    /// Id of the run.
    pub run: Cow<'a, str>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    /// Error message or reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    /// Form of the reply.
    pub reply: Reply,
    /// True if the reply is not whole.
    pub incomplete: bool,
    /// Text of the final message; omitted where the page has it as an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Cow<'a, str>>,
}

impl EndedRun<'_> {
    /// Text of the ending for people; `None` if the run completed normally.
    pub fn label(&self) -> Option<Cow<'_, str>> {
        ending_label(self.outcome, self.stop, self.reason, self.detail.as_deref())
    }

    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> EndedRun<'static> {
        EndedRun {
            run: into_owned_cow(self.run),
            outcome: self.outcome,
            stop: self.stop,
            reason: self.reason,
            detail: self.detail.map(into_owned_cow),
            reply: self.reply,
            incomplete: self.incomplete,
            content: self.content.map(into_owned_cow),
        }
    }
}

/// Text of an ending for people; `None` if the run completed normally.
pub(in crate::view) fn ending_label(
    outcome: Outcome,
    stop: Option<StopReason>,
    reason: Option<FailureReason>,
    detail: Option<&str>,
) -> Option<Cow<'static, str>> {
    let words = match (outcome, reason) {
        (Outcome::Completed, _) if stop == Some(StopReason::Length) => "Cut off by a length limit",
        (Outcome::Completed, _) => return None,
        (Outcome::Failed, Some(FailureReason::Refused)) => "Refused",
        (Outcome::Failed, Some(FailureReason::Limit)) => "Limit reached",
        (Outcome::Failed, Some(FailureReason::Empty)) => "Empty response",
        (Outcome::Failed, Some(FailureReason::Unrecognised)) => "Unrecognised response",
        (Outcome::Failed, Some(FailureReason::Storage)) => "Cannot write the log",
        (Outcome::Failed, Some(FailureReason::Error) | None) => "Failed",
        (Outcome::Cancelled, _) => "Cancelled",
        (Outcome::Truncated, _) => "Cut off before its end",
        (Outcome::Stalled, _) => "Stalled",
        (Outcome::Interrupted, _) => "Interrupted",
    };
    Some(match detail {
        Some(detail) => format!("{words}: {detail}").into(),
        None => words.into(),
    })
}
