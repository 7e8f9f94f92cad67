//! Ending a run: closes what is open and emits one `RunEnded`, from the source's reported end or
//! from the reason that its input ended.

use crate::event::{
    AnsweredBy, Ending, Event, FailureReason, MessageId, Outcome, Reply, StopReason,
};
use crate::filter::MessageFilter;

use super::{EventEmitter, InputEnd, Lifecycle, RunState, writer};

/// End that the source has reported so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedEnd {
    /// None yet.
    Pending,
    /// The reply is complete.
    Completed(StopReason),
    /// The source failed.
    Failed {
        /// Kind of failure.
        reason: FailureReason,
        /// Error message.
        detail: String,
    },
    /// The source was cancelled.
    Cancelled {
        /// Reason, if the source says it.
        detail: String,
    },
}

impl RunState {
    /// Closes everything that is open and emits `RunEnded`, once.
    pub(super) fn end_run(
        &mut self,
        cut: InputEnd,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        if self.lifecycle == Lifecycle::Ended {
            return;
        }
        self.lifecycle = Lifecycle::Ending;
        out.deferred_ends.incomplete = self.would_message_end_incomplete();
        self.end_or_release_implied_thoughts_with_round(filter, out);
        self.end_all_messages(filter, out);
        self.end_round(filter, out);
        self.open_tools.end_all_without_result(out);
        let ending = self.take_reported_end_as_ending(cut);
        let asks_stay_open = ending.stop.is_some_and(StopReason::can_leave_asks_open);
        for ask in std::mem::take(&mut self.open_asks).into_iter().filter(|_| !asks_stay_open) {
            out.emit_after_deferred_ends(build_unanswered_ask_event(ask));
        }
        for request in std::mem::take(&mut self.open_requests) {
            out.emit_after_deferred_ends(writer::build_unfinished_model_request_end(request));
        }
        self.lifecycle = Lifecycle::Ended;
        out.emit_after_deferred_ends(Event::RunEnded { ending });
        out.lifecycle = Lifecycle::Ended;
    }

    /// Builds the ending from the reported end, which it resets, and the reason the input ended.
    fn take_reported_end_as_ending(&mut self, cut: InputEnd) -> Ending<'static> {
        let verdict = std::mem::replace(&mut self.reported_end, ReportedEnd::Pending);
        let (outcome, stop, reason, detail) = match (verdict, cut) {
            (ReportedEnd::Completed(stop), _) => (Outcome::Completed, Some(stop), None, None),
            (ReportedEnd::Failed { reason, detail }, _) => {
                (Outcome::Failed, None, Some(reason), Some(detail))
            }
            (ReportedEnd::Cancelled { detail }, _) => {
                (Outcome::Cancelled, None, None, Some(detail))
            }
            (ReportedEnd::Pending, _) if self.is_requested_end_ready() => {
                (Outcome::Completed, Some(StopReason::End), None, None)
            }
            (ReportedEnd::Pending, InputEnd::EndOfInput) => (Outcome::Truncated, None, None, None),
            (ReportedEnd::Pending, InputEnd::Cancelled) => (Outcome::Cancelled, None, None, None),
            (ReportedEnd::Pending, InputEnd::Stalled) => (Outcome::Stalled, None, None, None),
            (ReportedEnd::Pending, InputEnd::Interrupted) => {
                (Outcome::Interrupted, None, None, None)
            }
            (ReportedEnd::Pending, InputEnd::TooLong) => {
                let detail = "stream exceeds the size limit".to_owned();
                (Outcome::Failed, None, Some(FailureReason::Limit), Some(detail))
            }
        };
        build_ending(outcome, stop, reason, detail.unwrap_or_default(), self.final_message())
    }

    /// True if a part that ends now ends because the source failed or was cut off.
    pub(super) fn would_part_end_interrupted(&self) -> bool {
        match self.reported_end {
            ReportedEnd::Pending => {
                self.lifecycle == Lifecycle::Ending && !self.is_requested_end_ready()
            }
            ReportedEnd::Completed(_) => false,
            ReportedEnd::Failed { .. } | ReportedEnd::Cancelled { .. } => true,
        }
    }

    /// True if a message that ends now is not whole: the reply was cut off, or reached a length
    /// limit.
    pub(super) fn would_message_end_incomplete(&self) -> bool {
        self.reported_end == ReportedEnd::Completed(StopReason::Length)
            || self.would_part_end_interrupted()
    }

    /// The message declared final, else the last message of the last round.
    fn final_message(&self) -> Option<MessageId> {
        self.declared_final
            .or(self.last_round_message.map(|last| last.id))
            .filter(|message| !self.withdrawn_messages.contains(message))
    }
}

/// Builds the event that closes an ask without an answer.
pub(super) fn build_unanswered_ask_event(ask: String) -> Event<'static> {
    Event::AskResolved { ask: ask.into(), answer: "".into(), by: AnsweredBy::Nobody }
}

/// Builds an ending; an empty `detail` is none. Only a completed reply within its length is whole.
pub(super) fn build_ending(
    outcome: Outcome,
    stop: Option<StopReason>,
    reason: Option<FailureReason>,
    detail: String,
    message: Option<MessageId>,
) -> Ending<'static> {
    Ending {
        outcome,
        stop,
        reason,
        detail: (!detail.is_empty()).then(|| detail.into()),
        reply: if message.is_some() { Reply::Message } else { Reply::None },
        message,
        incomplete: outcome != Outcome::Completed || stop == Some(StopReason::Length),
    }
}
