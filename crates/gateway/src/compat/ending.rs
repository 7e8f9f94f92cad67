//! Texts and codes of endings, the same in every protocol.

use std::borrow::Cow;

use millpond_engine::event::{Ending, FailureReason, Outcome, Reply};

/// Ending of a run whose log stops.
pub(super) fn interrupted_ending() -> Ending<'static> {
    Ending {
        outcome: Outcome::Interrupted,
        stop: None,
        reason: None,
        detail: None,
        reply: Reply::None,
        message: None,
        incomplete: true,
    }
}

/// Text for people about how a run ended.
pub(super) fn ending_text<'a>(ending: &'a Ending<'_>) -> Cow<'a, str> {
    match ending.detail.as_deref() {
        Some(detail) if !detail.is_empty() => Cow::Borrowed(detail),
        _ => Cow::Borrowed(match ending.outcome {
            Outcome::Completed => "The run is complete.",
            Outcome::Failed => "The run failed.",
            Outcome::Cancelled => "The run was cancelled.",
            Outcome::Truncated => "The stream was cut off before its end.",
            Outcome::Stalled => "The stream stalled: no data before the timeout.",
            Outcome::Interrupted => "The run was interrupted.",
        }),
    }
}

/// Code for programs about how a run ended.
pub(super) fn ending_code(ending: &Ending<'_>) -> &'static str {
    match (ending.outcome, ending.reason) {
        (Outcome::Completed, _) => "completed",
        (Outcome::Failed, Some(FailureReason::Refused)) => "refused",
        (Outcome::Failed, Some(FailureReason::Limit)) => "limit",
        (Outcome::Failed, Some(FailureReason::Empty)) => "empty",
        (Outcome::Failed, Some(FailureReason::Unrecognised)) => "unrecognised",
        (Outcome::Failed, Some(FailureReason::Error) | None) => "server_error",
        (Outcome::Cancelled, _) => "cancelled",
        (Outcome::Truncated, _) => "truncated",
        (Outcome::Stalled, _) => "stalled",
        (Outcome::Failed, Some(FailureReason::Storage)) => "storage",
        (Outcome::Interrupted, _) => "interrupted",
    }
}

pub(super) fn is_refused(ending: &Ending<'_>) -> bool {
    ending.outcome == Outcome::Failed && ending.reason == Some(FailureReason::Refused)
}
