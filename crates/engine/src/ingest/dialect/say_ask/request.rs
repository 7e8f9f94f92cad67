//! Requests to the model, as messages whose text is JSON.

use std::borrow::Cow;

use crate::event::{Event, Level, Usage};
use crate::ingest::json::{RawValue, Shape, number, string, string_or_json};
use crate::run::Writer;

use super::super::repeated::Recent;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Requests {
    /// The request whose round is open.
    current: String,
    begun: Recent,
    ended: Recent,
}

const REQUEST: Shape<7> = Shape {
    read: [
        "tokensIn",
        "tokensOut",
        "cacheReads",
        "cacheWrites",
        "cost",
        "streamingFailedMessage",
        "cancelReason",
    ],
    skip: &[],
};

impl Requests {
    pub(super) fn is_new(&self, key: &str) -> bool {
        !self.begun.has(key)
    }

    /// A request, begun or come again with more that is known about it.
    pub(super) fn started(&mut self, key: &str, text: &str, out: &mut Writer<'_>) {
        if self.begun.add(key) {
            key.clone_into(&mut self.current);
            out.round(None, None);
        }
        if text.trim_ascii().is_empty() {
            return;
        }
        let Some(request) = REQUEST.read(text) else {
            if self.ended.add(key) {
                let words = format!("a request to the model that cannot be read: {text}");
                out.notice(Level::Error, &words);
            }
            return;
        };
        let [input, output, cache_read, cache_write, cost, failure, cancel] = request.read;
        if key == self.current && input.or(output).or(cost).is_some() {
            out.round_usage(Usage {
                input_tokens: input.and_then(number),
                output_tokens: output.and_then(number),
                reasoning_tokens: None,
                cache_read_tokens: cache_read.and_then(number),
                cache_write_tokens: cache_write.and_then(number),
                cost_usd: cost.and_then(number),
            });
        }
        if cost.or(failure).or(cancel).is_some() && self.ended.add(key) {
            let cancel_reason = cancel.map(string_or_json);
            let by_person = cancel_reason.as_deref() == Some("user_cancelled");
            out.note(Event::RequestEnded {
                cost_usd: cost.and_then(number),
                failure: failure.map(string_or_json),
                cancel_reason,
            });
            if by_person && key == self.current {
                out.cancelled("");
            }
        }
    }
}

pub(super) fn is_retry(say: &str) -> bool {
    matches!(say, "api_req_retried" | "api_req_retry_delayed" | "error_retry")
}

pub(super) fn retry(text: &str, out: &mut Writer<'_>) {
    const RETRY: Shape<4> =
        Shape { read: ["attempt", "maxAttempts", "delaySeconds", "errorMessage"], skip: &[] };
    let read = RETRY.read(text).map(|retry| retry.read).unwrap_or_default();
    let [attempt, attempts_max, delay, reason] = read;
    out.note(Event::RetryScheduled {
        attempt: attempt.and_then(number),
        attempts_max: attempts_max.and_then(number),
        delay_ms: delay.and_then(number::<u64>).map(|seconds| seconds.saturating_mul(1000)),
        reason: reason.map_or(Cow::Borrowed(text), string_or_json),
    });
}

pub(super) fn summary(condensed: &RawValue) -> Option<Cow<'_, str>> {
    const CONDENSED: Shape<1> = Shape { read: ["summary"], skip: &[] };
    CONDENSED.read(condensed.get())?.read[0].and_then(string)
}
