//! The response as a whole: how it begins, and how it ends.

use std::borrow::Cow;

use crate::event::{FailureReason, Stop, UnrecognisedReason, Usage};
use crate::ingest::json::{RawValue, Shape, elements, number, string, string_or_json};
use crate::run::Writer;

use super::super::Unreadable;
use super::super::openai_chat::error_text;
use super::item::Unseen;
use super::{LeftOpen, Line, OpenAiResponses, Response, Stage};

impl OpenAiResponses {
    pub(super) fn response_event(
        &mut self,
        event: &str,
        line: &Line<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let response = line.response.map(|raw| serde_json::from_str(raw.get()));
        let response: Response<'_> =
            response.transpose().map_err(|_| Unreadable)?.unwrap_or_default();
        match event {
            "created" => self.created(&response, out),
            "queued" | "in_progress" => {
                if matches!(self.stage, Stage::Waiting | Stage::Finished) {
                    self.begin(&response, out);
                }
            }
            "completed" | "incomplete" | "failed" | "cancelled" => {
                self.end_response(&response, event, out);
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
        out.unknown_fields(&response.unknown);
        Ok(())
    }

    fn created(&mut self, response: &Response<'_>, out: &mut Writer<'_>) {
        let id = response.id.as_deref().unwrap_or("");
        let again = self.stage == Stage::Replying && !id.is_empty() && id == self.response;
        if again && self.items.is_empty() {
            return;
        }
        if again {
            // Whoever lost the stream asked for it from its beginning.
            out.withdraw_round();
        }
        self.begin(response, out);
    }

    fn begin(&mut self, response: &Response<'_>, out: &mut Writer<'_>) {
        let id = response.id.as_deref().unwrap_or("");
        *self = OpenAiResponses {
            stage: Stage::Replying,
            response: id.to_owned(),
            ..OpenAiResponses::default()
        };
        let filled = |text: &&str| !text.is_empty();
        out.round(response.model.as_deref().filter(filled), Some(id).filter(filled));
    }

    /// The end, with all items once more: those that are open or were never seen count.
    pub(super) fn end_response(
        &mut self,
        response: &Response<'_>,
        event: &str,
        out: &mut Writer<'_>,
    ) {
        let id = response.id.as_deref().unwrap_or("");
        let again = self.stage == Stage::Finished && (id.is_empty() || id == self.response);
        if again {
            return;
        }
        if matches!(self.stage, Stage::Waiting | Stage::Finished) {
            self.begin(response, out);
        }
        out.unknown_fields(&response.unknown);
        let unseen = match self.stage {
            Stage::Joined => Unseen::PassOver,
            Stage::Waiting | Stage::Replying | Stage::Finished => Unseen::Read,
        };
        let output = response.output.map(elements).unwrap_or_default();
        let mut seen = self.seen_before(&output).into_iter();
        for (index, raw) in (0..).zip(output) {
            self.item_again(seen.next().flatten(), index, raw, unseen, out);
        }
        self.drafts.finish_all(out);
        if let Some(usage) = response.usage {
            out.round_usage(usage_of(usage));
        }
        self.verdict(response, event, out);
        id.clone_into(&mut self.response);
        if out.is_settled() {
            self.stage = Stage::Finished;
            self.items.clear();
        }
    }

    fn verdict(&self, response: &Response<'_>, event: &str, out: &mut Writer<'_>) {
        match response.status.as_deref().unwrap_or(event) {
            "failed" => fail(response.error, out),
            "cancelled" => out.cancelled(""),
            "queued" | "in_progress" => {}
            _ if self.left_open == LeftOpen::Refusal => {
                out.fail(FailureReason::Refused, "the model refused");
            }
            "incomplete" => match incomplete_reason(response).as_deref() {
                Some("max_output_tokens") => out.complete(Stop::Length),
                Some("content_filter") => {
                    out.fail(FailureReason::Refused, "stopped by a content filter");
                }
                _ => out.complete(Stop::Other),
            },
            _ => out.complete(match self.left_open {
                LeftOpen::Tools => Stop::Tools,
                LeftOpen::Approval => Stop::Paused,
                LeftOpen::Nothing | LeftOpen::Refusal => Stop::End,
            }),
        }
    }
}

pub(super) fn fail(error: Option<&RawValue>, out: &mut Writer<'_>) {
    const ERROR: Shape<1> = Shape { read: ["code"], skip: &[] };
    let code = error.and_then(|raw| ERROR.read(raw.get())?.read[0]).map(string_or_json);
    let reason = match code.as_deref() {
        Some("content_filter" | "content_policy_violation") => FailureReason::Refused,
        _ => FailureReason::Error,
    };
    let words = error.map(error_text);
    out.fail(reason, words.as_deref().unwrap_or("the provider reported a failure"));
}

fn incomplete_reason<'a>(response: &Response<'a>) -> Option<Cow<'a, str>> {
    const DETAILS: Shape<1> = Shape { read: ["reason"], skip: &[] };
    DETAILS.read(response.incomplete_details?.get())?.read[0].and_then(string)
}

fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> = Shape {
        read: [
            "input_tokens",
            "output_tokens",
            "input_tokens_details",
            "output_tokens_details",
            "cost",
        ],
        skip: &[],
    };
    const DETAILS: Shape<3> =
        Shape { read: ["reasoning_tokens", "cached_tokens", "cache_write_tokens"], skip: &[] };
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, input_details, output_details, cost] = usage.read;
    let details = |raw: Option<&RawValue>, at: usize| {
        raw.and_then(|raw| DETAILS.read(raw.get())?.read[at].and_then(number))
    };
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: details(output_details, 0),
        cache_read_tokens: details(input_details, 1),
        cache_write_tokens: details(input_details, 2),
        cost_usd: cost.and_then(number),
    }
}
