//! Why a reply ended.

use crate::event::{FailureReason, Stop};
use crate::run::Writer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
}

/// What a `finishReason` means; `stop` is what it means if all went well.
pub(super) fn end(reason: &str, message: Option<&str>, stop: Stop, out: &mut Writer<'_>) -> Ended {
    match reason {
        "STOP" | "MAX_TOKENS" => {
            out.complete(if reason == "STOP" { stop } else { Stop::Length });
            return Ended::Well;
        }
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR"
        | "LANGUAGE" => {
            out.fail(FailureReason::Refused, &words("the reply was stopped", reason, message));
        }
        _ if reason.starts_with("IMAGE_") => {
            out.fail(FailureReason::Refused, &words("the picture was stopped", reason, message));
        }
        "MALFORMED_FUNCTION_CALL"
        | "MALFORMED_RESPONSE"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "NO_IMAGE" => {
            out.fail(FailureReason::Error, &words("the reply broke off", reason, message));
        }
        _ => {
            out.complete(Stop::Other);
            return Ended::Well;
        }
    }
    Ended::Badly
}

pub(super) fn words(what: &str, reason: &str, message: Option<&str>) -> String {
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("{what} ({reason}): {message}"),
        None => format!("{what} ({reason})"),
    }
}
