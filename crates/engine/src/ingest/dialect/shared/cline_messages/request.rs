//! Model request and retry messages, whose text is JSON.

use std::borrow::Cow;

use crate::event::{Event, NoticeLevel, Usage};
use crate::ingest::json::{RawValue, as_scalar, as_string, object, string_or_json};
use crate::run::Writer;

use super::super::dedup::RecentIds;
use super::ClineMessage;

/// Model requests seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ModelRequests {
    /// Key of the request whose round is open.
    current: String,
    started: RecentIds,
    ended: RecentIds,
}

object! { RequestFields {
    input = "tokensIn", output = "tokensOut", cache_read = "cacheReads",
    cache_write = "cacheWrites", cost, failure = "streamingFailedMessage",
    cancel = "cancelReason",
    ; skip _
} }

impl ModelRequests {
    /// True if no request with this key has started.
    pub(super) fn is_new(&self, key: &str) -> bool {
        !self.started.contains(key)
    }

    /// Applies a request message: starts its round, and writes usage and end when they are known.
    pub(super) fn apply_request(
        &mut self,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if self.started.insert(key) {
            key.clone_into(&mut self.current);
            out.start_round_or_end_run(None, None);
        }
        let text = message.text();
        let blank = text.trim_ascii().is_empty();
        let Some(request) = RequestFields::parse(if blank { "{}" } else { text }) else {
            if !message.is_partial() && self.ended.insert(key) {
                end_unreadable_request_or_write_notice(key, text, out);
            }
            return;
        };
        // A request without an id cannot be matched to its end: it would stay open forever.
        if !key.is_empty() && !self.ended.contains(key) {
            out.start_request_unless_open(key);
        }
        let RequestFields { input, output, cache_read, cache_write, cost, failure, cancel } =
            request;
        let ended = self.ended.contains(key);
        if key == self.current && !ended && input.or(output).or(cost).is_some() {
            out.update_or_emit_round_usage(Usage {
                input_tokens: input.and_then(as_scalar),
                output_tokens: output.and_then(as_scalar),
                reasoning_tokens: None,
                cache_read_tokens: cache_read.and_then(as_scalar),
                cache_write_tokens: cache_write.and_then(as_scalar),
                cost_usd: cost.and_then(as_scalar),
            });
        }
        let over = cost.or(failure).or(cancel).is_some() && !message.is_partial();
        if over && self.ended.insert(key) {
            let [failure, cancel] = [failure, cancel].map(|words| words.map(string_or_json));
            let cost = cost.and_then(as_scalar);
            if key == self.current {
                out.take_and_emit_round_usage();
            }
            out.end_open_or_unlisted_request(key, cost, failure.as_deref(), cancel.as_deref());
            if cancel.as_deref() == Some("user_cancelled") && key == self.current {
                out.report_cancelled_and_end_text("");
            }
        }
    }
}

/// Writes a request whose text is not JSON as its failed end, or as a notice.
fn end_unreadable_request_or_write_notice(key: &str, text: &str, out: &mut Writer<'_>) {
    let words = format!("unreadable model request: {text}");
    if out.is_request_open(key) {
        out.end_open_or_unlisted_request(key, None, Some(&words), None);
    } else {
        out.append_notice(NoticeLevel::Error, &words);
    }
}

/// Name of the model in the description of a model.
pub(super) fn parse_model_name(model: &RawValue) -> Option<Cow<'_, str>> {
    object! { ModelFields { id = "modelId"; skip _ } }
    ModelFields::from_raw(model)?.id.and_then(as_string)
}

/// True if a `say` type announces a retry.
pub(super) fn is_retry_message(say: &str) -> bool {
    matches!(say, "api_req_retried" | "api_req_retry_delayed" | "error_retry")
}

/// Writes a retry from its JSON text.
pub(super) fn write_retry(text: &str, out: &mut Writer<'_>) {
    object! { Retry {
        attempt, attempts_max = "maxAttempts", delay = "delaySeconds", reason = "errorMessage",
        ; skip _
    } }
    let read = Retry::parse(text).unwrap_or_default();
    let Retry { attempt, attempts_max, delay, reason } = read;
    out.append_stateless_event(Event::RetryScheduled {
        attempt: attempt.and_then(as_scalar),
        attempts_max: attempts_max.and_then(as_scalar),
        delay_ms: delay.and_then(as_scalar::<u64>).map(|seconds| seconds.saturating_mul(1000)),
        reason: reason.map_or(Cow::Borrowed(text), string_or_json),
    });
}

/// Summary text of a condensed history.
pub(super) fn parse_compaction_summary(condensed: &RawValue) -> Option<Cow<'_, str>> {
    object! { Condensed { summary; skip _ } }
    Condensed::from_raw(condensed)?.summary.and_then(as_string)
}
