//! The response as a whole: its start, its end and its usage.

use std::borrow::Cow;

use crate::event::{FailureReason, StopReason, UnrecognisedReason, Usage};
use crate::ingest::json::{RawValue, array_elements, as_scalar, as_string, object, string_or_json};
use crate::run::Writer;

use super::super::Unreadable;
use super::super::openai_chat::parse_error_message;
use super::item::UnseenItems;
use super::{FramePayload, OpenAiResponses, PendingAction, ResponseBody, ResponseStage};

impl OpenAiResponses {
    /// Applies an event about the response as a whole.
    pub(super) fn apply_response_event(
        &mut self,
        event: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let response = line.response.map(|raw| serde_json::from_str(raw.get()));
        let response: ResponseBody<'_> =
            response.transpose().map_err(|_| Unreadable)?.unwrap_or_default();
        match event {
            "created" => self.apply_response_created(&response, out),
            "queued" | "in_progress" => {
                if matches!(self.stage, ResponseStage::Waiting | ResponseStage::Finished) {
                    self.reset_and_start_response(&response, out);
                }
            }
            "completed" | "incomplete" | "failed" | "cancelled" => {
                self.apply_final_response_unless_repeated(&response, event, out);
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
        out.append_unknown_fields_once(&response.unknown);
        Ok(())
    }

    /// Starts a response; a repeated `created` with items withdraws the round, because the stream
    /// is replayed.
    fn apply_response_created(&mut self, response: &ResponseBody<'_>, out: &mut Writer<'_>) {
        let id = response.id.as_deref().unwrap_or("");
        let again =
            self.stage == ResponseStage::Replying && !id.is_empty() && id == self.response_id;
        if again && self.items.is_empty() {
            return;
        }
        if again {
            // The client reconnected and requested the stream from its start.
            out.withdraw_whole_round_and_end_it();
        }
        self.reset_and_start_response(response, out);
    }

    /// Resets the state and starts a round.
    fn reset_and_start_response(&mut self, response: &ResponseBody<'_>, out: &mut Writer<'_>) {
        let id = response.id.as_deref().unwrap_or("");
        *self = OpenAiResponses {
            stage: ResponseStage::Replying,
            response_id: id.to_owned(),
            ..OpenAiResponses::default()
        };
        let filled = |text: &&str| !text.is_empty();
        out.start_round_or_end_run(
            response.model.as_deref().filter(filled),
            Some(id).filter(filled),
        );
    }

    /// Ends the response; items of its final list that are open or were never seen are written.
    pub(super) fn apply_final_response_unless_repeated(
        &mut self,
        response: &ResponseBody<'_>,
        event: &str,
        out: &mut Writer<'_>,
    ) {
        let id = response.id.as_deref().unwrap_or("");
        let again =
            self.stage == ResponseStage::Finished && (id.is_empty() || id == self.response_id);
        if again {
            return;
        }
        if matches!(self.stage, ResponseStage::Waiting | ResponseStage::Finished) {
            self.reset_and_start_response(response, out);
        }
        out.append_unknown_fields_once(&response.unknown);
        let unseen = match self.stage {
            ResponseStage::JoinedMidway => UnseenItems::Skip,
            ResponseStage::Waiting | ResponseStage::Replying | ResponseStage::Finished => {
                UnseenItems::Read
            }
        };
        let output = response.output.map(array_elements).unwrap_or_default();
        let mut seen = self.match_seen_items(&output).into_iter();
        for (index, raw) in (0..).zip(output) {
            self.complete_listed_item(seen.next().flatten(), index, raw, unseen, out);
        }
        self.drafts.merge_pieces_and_drop_paused(out);
        if let Some(usage) = response.usage {
            out.update_or_emit_round_usage(parse_usage(usage));
        }
        self.report_end_or_refusal_by_status(response, event, out);
        id.clone_into(&mut self.response_id);
        if out.has_reported_end() {
            self.stage = ResponseStage::Finished;
            self.items.clear();
        }
    }

    /// Completes, cancels or fails the run according to the response's status.
    fn report_end_or_refusal_by_status(
        &self,
        response: &ResponseBody<'_>,
        event: &str,
        out: &mut Writer<'_>,
    ) {
        match response.status.as_deref().unwrap_or(event) {
            "failed" => report_provider_failure(response.error, out),
            "cancelled" => out.report_cancelled_and_end_text(""),
            "queued" | "in_progress" => {}
            _ if self.pending_action == PendingAction::Refusal => {
                out.report_failed_and_end_text(FailureReason::Refused, "the model refused");
            }
            "incomplete" => match parse_incomplete_reason(response).as_deref() {
                Some("max_output_tokens") => out.report_completed_unless_failed(StopReason::Length),
                Some("content_filter") => {
                    out.report_failed_and_end_text(
                        FailureReason::Refused,
                        "stopped by a content filter",
                    );
                }
                _ => out.report_completed_unless_failed(StopReason::Other),
            },
            _ => out.report_completed_unless_failed(match self.pending_action {
                PendingAction::Tools => StopReason::Tools,
                PendingAction::Approval => StopReason::Paused,
                PendingAction::Nothing | PendingAction::Refusal => StopReason::End,
            }),
        }
    }
}

/// Fails the run with an error; refused for content filter codes.
pub(super) fn report_provider_failure(error: Option<&RawValue>, out: &mut Writer<'_>) {
    object! { ErrorFields { code; skip _ } }
    let code = error.and_then(|raw| ErrorFields::from_raw(raw)?.code).map(string_or_json);
    let reason = match code.as_deref() {
        Some("content_filter" | "content_policy_violation") => FailureReason::Refused,
        _ => FailureReason::Error,
    };
    let words = error.map(parse_error_message);
    out.report_failed_and_end_text(
        reason,
        words.as_deref().unwrap_or("the provider reported a failure"),
    );
}

/// Reads the reason in `incomplete_details`.
fn parse_incomplete_reason<'a>(response: &ResponseBody<'a>) -> Option<Cow<'a, str>> {
    object! { Details { reason; skip _ } }
    Details::from_raw(response.incomplete_details?)?.reason.and_then(as_string)
}

/// Reads a `usage` object; missing numbers stay `None`.
fn parse_usage(raw: &RawValue) -> Usage {
    object! { UsageFields {
        input = "input_tokens", output = "output_tokens", input_details = "input_tokens_details",
        output_details = "output_tokens_details", cost,
        ; skip _
    } }
    object! { Details { reasoning_tokens, cached_tokens, cache_write_tokens; skip _ } }
    let Some(usage) = UsageFields::from_raw(raw) else {
        return Usage::default();
    };
    let UsageFields { input, output, input_details, output_details, cost } = usage;
    let of_output = output_details.and_then(Details::from_raw).unwrap_or_default();
    let of_input = input_details.and_then(Details::from_raw).unwrap_or_default();
    Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        reasoning_tokens: of_output.reasoning_tokens.and_then(as_scalar),
        cache_read_tokens: of_input.cached_tokens.and_then(as_scalar),
        cache_write_tokens: of_input.cache_write_tokens.and_then(as_scalar),
        cost_usd: cost.and_then(as_scalar),
    }
}
