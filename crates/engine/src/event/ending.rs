//! How a run ends.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{MessageId, Stop};

/// How a run ended. Which message was the reply is part of it, so nothing has to be asked again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending<'a> {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    /// The source's own words about a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    pub reply: Reply,
    /// The final message, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The text as it stands is not all there should have been.
    pub incomplete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed,
    Failed,
    Cancelled,
    /// The stream ended without its end marker.
    Truncated,
    /// Nothing came for longer than the idle limit.
    Stalled,
    /// The process or node died.
    Interrupted,
}

impl Outcome {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The model or a safety filter declined.
    Refused,
    /// The source reported an error.
    Error,
    /// A limit on turns, money or length was reached.
    Limit,
    /// Nothing came at all.
    Empty,
    /// No dialect recognised the input.
    Unrecognised,
    /// The log could not be kept.
    Storage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// `message` names it.
    Message,
    /// There is nothing to show.
    None,
}
