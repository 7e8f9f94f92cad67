//! `finishReason` values: how each ends the reply.

use crate::event::{FailureReason, StopReason};
use crate::run::Writer;

/// Effect of a `finishReason` on the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FinishKind {
    Completed,
    Failed,
}

/// True if a `finishReason` is only a placeholder.
pub(super) fn is_unspecified(reason: &str) -> bool {
    matches!(reason, "" | "FINISH_REASON_UNSPECIFIED")
}

/// Completes or fails the reply according to its `finishReason`; `stop` is used for `STOP`.
pub(super) fn apply_finish_reason(
    reason: &str,
    message: Option<&str>,
    stop: StopReason,
    out: &mut Writer<'_>,
) -> FinishKind {
    match reason {
        "STOP" | "MAX_TOKENS" => {
            out.report_completed_unless_failed(if reason == "STOP" {
                stop
            } else {
                StopReason::Length
            });
            return FinishKind::Completed;
        }
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR"
        | "LANGUAGE" => {
            out.report_failed_and_end_text(
                FailureReason::Refused,
                &failure_text("reply blocked", reason, message),
            );
        }
        _ if reason.starts_with("IMAGE_") => {
            out.report_failed_and_end_text(
                FailureReason::Refused,
                &failure_text("image blocked", reason, message),
            );
        }
        "MALFORMED_FUNCTION_CALL"
        | "MALFORMED_RESPONSE"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "NO_IMAGE" => {
            out.report_failed_and_end_text(
                FailureReason::Error,
                &failure_text("reply failed", reason, message),
            );
        }
        // `OTHER`, and reasons that are not known: the reply may not be whole.
        _ => {
            out.report_failed_and_end_text(
                FailureReason::Error,
                &failure_text("reply ended for another reason", reason, message),
            );
        }
    }
    FinishKind::Failed
}

/// Formats a failure as `what (reason): message`.
pub(super) fn failure_text(what: &str, reason: &str, message: Option<&str>) -> String {
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("{what} ({reason}): {message}"),
        None => format!("{what} ({reason})"),
    }
}
