//! Requests to the model, as messages whose text is JSON.

use std::borrow::Cow;

use crate::event::{Event, Level, Usage};
use crate::ingest::json::{RawValue, Shape, number, string, string_or_json};
use crate::run::Writer;

use super::super::repeated::Recent;
use super::Message;

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
    pub(super) fn started(&mut self, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        if self.begun.add(key) {
            key.clone_into(&mut self.current);
            out.round(None, None);
        }
        let text = message.text();
        let blank = text.trim_ascii().is_empty();
        let Some(request) = REQUEST.read(if blank { "{}" } else { text }) else {
            if !message.is_partial() && self.ended.add(key) {
                unreadable(key, text, out);
            }
            return;
        };
        // One without an id cannot come again: it would be under way for ever.
        if !key.is_empty() && !self.ended.has(key) {
            out.request(key);
        }
        let [input, output, cache_read, cache_write, cost, failure, cancel] = request.read;
        // What a request cost in the end has been told.
        let told = self.ended.has(key);
        if key == self.current && !told && input.or(output).or(cost).is_some() {
            out.round_usage(Usage {
                input_tokens: input.and_then(number),
                output_tokens: output.and_then(number),
                reasoning_tokens: None,
                cache_read_tokens: cache_read.and_then(number),
                cache_write_tokens: cache_write.and_then(number),
                cost_usd: cost.and_then(number),
            });
        }
        let over = cost.or(failure).or(cancel).is_some() && !message.is_partial();
        if over && self.ended.add(key) {
            let [failure, cancel] = [failure, cancel].map(|words| words.map(string_or_json));
            let cost = cost.and_then(number);
            if key == self.current {
                out.tell_round_usage();
            }
            out.end_request(key, cost, failure.as_deref(), cancel.as_deref());
            if cancel.as_deref() == Some("user_cancelled") && key == self.current {
                out.cancelled("");
            }
        }
    }
}

fn unreadable(key: &str, text: &str, out: &mut Writer<'_>) {
    let words = format!("a request to the model that cannot be read: {text}");
    if out.is_request_open(key) {
        out.end_request(key, None, Some(&words), None);
    } else {
        out.notice(Level::Error, &words);
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
