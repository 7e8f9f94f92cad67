//! `Ending`: how a run ended.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{MessageId, StopReason};

/// Ending of a run, including which message is the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending<'a> {
    /// Outcome.
    pub outcome: Outcome,
    /// Stop reason of the last round, if completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Reason of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    /// The source's own message about a failure or cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    /// Reply kind.
    pub reply: Reply,
    /// The final message, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// True if the reply is not whole.
    pub incomplete: bool,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The source reached its end.
    Completed,
    /// The source failed; `reason` has why.
    Failed,
    /// The source or the user cancelled it.
    Cancelled,
    /// The stream ended without its end marker.
    Truncated,
    /// No input for longer than the idle limit.
    Stalled,
    /// The process or node died.
    Interrupted,
}

impl Outcome {
    /// Name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
            Outcome::Truncated => "truncated",
            Outcome::Stalled => "stalled",
            Outcome::Interrupted => "interrupted",
        }
    }
}

/// Reason of a failed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The model or a safety filter declined.
    Refused,
    /// The source reported an error.
    Error,
    /// A limit on turns, cost or length was reached.
    Limit,
    /// The input was empty.
    Empty,
    /// No dialect recognised the input.
    Unrecognised,
    /// The log could not be written.
    Storage,
}

/// Reply of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The message that `message` names.
    Message,
    /// No reply.
    None,
}
