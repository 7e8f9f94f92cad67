//! `Writer`: append handle of a run, called by dialects and agents.

mod asks;
mod drafts;
mod reissue;
mod requests;
mod text;
mod tools;
mod withdraw;

use crate::event::{
    Event, FailureReason, Image, MessageId, Millis, NoticeLevel, PromptOrigin, Sink, StepId,
    StopReason, TextMode, UnrecognisedReason, Usage, UsageScope,
};
use crate::filter::MessageFilter;
use crate::limits::UNKNOWN_FIELDS_MAX;

pub use asks::NewAsk;
pub(crate) use reissue::RewindPoint;
pub(super) use requests::build_unfinished_model_request_end;

use super::fingerprint::Fingerprint;
use super::finish_request::FinishState;
use super::{EventEmitter, InputEnd, Lifecycle, ReportedEnd, RoundBoundaries, Run, RunState};

/// Append handle of one run. Emits events to the sink as soon as they are decided.
#[allow(missing_debug_implementations, reason = "borrows a sink that need not have one")]
pub struct Writer<'a> {
    filter: &'a mut MessageFilter,
    state: &'a mut RunState,
    emitter: EventEmitter<'a>,
}

/// Why a reply does not reach its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption<'a> {
    /// The source failed. The first failure counts.
    Failed {
        /// Kind of failure.
        reason: FailureReason,
        /// Error message.
        detail: &'a str,
    },
    /// The source was cancelled.
    Cancelled {
        /// Reason, or empty.
        detail: &'a str,
    },
    /// The user stopped the reply; the run continues.
    ReplyStopped,
}

impl Run {
    /// Returns an append handle whose events have the timestamp `at`.
    pub fn writer<'a>(&'a mut self, at: Option<Millis>, sink: &'a mut dyn Sink) -> Writer<'a> {
        let Run { filter, state: ledger, deferred_ends: untold } = self;
        let out = EventEmitter {
            sink,
            timestamp: at,
            lifecycle: ledger.lifecycle,
            deferred_ends: untold,
        };
        Writer { filter, state: ledger, emitter: out }
    }
}

/// Timestamps, and the start and end of the run.
impl Writer<'_> {
    /// Sets the timestamp of the following events; the source's own time replaces the time of
    /// arrival.
    pub fn set_timestamp(&mut self, at: Millis) {
        self.emitter.timestamp = Some(at);
    }

    /// Emits `RunStarted`, once.
    pub fn start_run(&mut self, dialect: &str, mode: TextMode) {
        self.state.start_run(dialect, mode, &mut self.emitter);
    }

    /// Declares how round boundaries are found.
    pub fn set_round_boundaries(&mut self, rounds: RoundBoundaries) {
        self.state.round_boundaries = rounds;
    }

    /// Reports that the source reached its end. An earlier failure or length limit takes
    /// precedence.
    pub fn report_completed_unless_failed(&mut self, stop: StopReason) {
        if self.state.reported_end == ReportedEnd::Completed(StopReason::Length) {
            return;
        }
        if let Some(round) = &mut self.state.open_round {
            round.stop = Some(stop);
        }
        if matches!(self.state.reported_end, ReportedEnd::Pending | ReportedEnd::Completed(_)) {
            self.state.reported_end = ReportedEnd::Completed(stop);
        }
        self.emitter.deferred_ends.incomplete = self.state.would_message_end_incomplete();
    }

    /// Reports that the source failed. The first failure counts.
    pub fn report_failed_and_end_text(&mut self, reason: FailureReason, detail: &str) {
        self.end_text_and_report_interruption(Interruption::Failed { reason, detail });
    }

    /// Reports that the source was cancelled.
    pub fn report_cancelled_and_end_text(&mut self, detail: &str) {
        self.end_text_and_report_interruption(Interruption::Cancelled { detail });
    }

    /// Ends the open message and reasoning as incomplete. A failure or cancellation also becomes
    /// the reported end of the run, unless the run is ready to end because the agent requested it.
    pub fn end_text_and_report_interruption(&mut self, interruption: Interruption<'_>) {
        match interruption {
            Interruption::Failed { reason, detail } => {
                let verdict = match &self.state.reported_end {
                    first @ ReportedEnd::Failed { .. } => first.clone(),
                    ReportedEnd::Pending
                    | ReportedEnd::Completed(_)
                    | ReportedEnd::Cancelled { .. } => {
                        ReportedEnd::Failed { reason, detail: detail.to_owned() }
                    }
                };
                self.set_reported_end_and_end_text(verdict);
            }
            Interruption::Cancelled { detail } => {
                self.set_reported_end_and_end_text(ReportedEnd::Cancelled {
                    detail: detail.to_owned(),
                });
            }
            Interruption::ReplyStopped => {
                self.emitter.deferred_ends.incomplete = true;
                self.close_text_and_defer_ends();
                self.emitter.emit_deferred_ends();
                self.emitter.deferred_ends.incomplete = self.state.would_message_end_incomplete();
            }
        }
    }

    /// Sets the reported end, unless the run is ready to end, and ends the open text.
    fn set_reported_end_and_end_text(&mut self, verdict: ReportedEnd) {
        let before = self.state.reported_end.clone();
        if !self.state.is_requested_end_ready() {
            self.state.reported_end = verdict;
        }
        self.emitter.deferred_ends.incomplete = self.state.would_message_end_incomplete();
        self.close_text_and_defer_ends();
        if self.state.is_requested_end_ready() {
            self.state.reported_end = before;
            self.emitter.deferred_ends.incomplete = self.state.would_message_end_incomplete();
        }
    }

    /// Ends one reply of several, with everything that is open in it. Returns its reported end,
    /// which is the run's unless another reply follows; `Pending` if the reply was cut off.
    pub fn end_reply_keeping_reported_end(&mut self) -> ReportedEnd {
        let verdict = self.state.reported_end.clone();
        if verdict == ReportedEnd::Pending {
            self.state.reported_end = ReportedEnd::Cancelled { detail: String::new() };
            self.emitter.deferred_ends.incomplete = true;
        }
        self.end_round(None);
        self.state.reported_end.clone_from(&verdict);
        verdict
    }

    /// Resets the reported end of the last reply: its tools run, and the run continues.
    pub fn clear_reported_end(&mut self) {
        self.state.reported_end = ReportedEnd::Pending;
        self.emitter.deferred_ends.incomplete = self.state.would_message_end_incomplete();
    }

    /// True if the source has reported that the run is complete.
    pub(crate) fn has_reported_completion(&self) -> bool {
        matches!(self.state.reported_end, ReportedEnd::Completed(_))
    }

    /// Closes everything that is open and emits `RunEnded`.
    pub fn end_run(&mut self, cut: InputEnd) {
        self.state.end_run(cut, self.filter, &mut self.emitter);
    }

    /// True after `RunEnded`.
    pub fn is_ended(&self) -> bool {
        self.state.lifecycle == Lifecycle::Ended
    }

    /// True if the agent requested the end of the run with a control word, or the run has ended.
    pub fn is_end_requested_or_ended(&self) -> bool {
        self.is_ended() || self.state.finish_state != FinishState::NotRequested
    }

    /// Traces input that is dropped because it came after the end of its reply.
    pub(crate) fn trace_late_input(&mut self, input: &str) {
        RunState::trace_late_text(input, &mut self.emitter);
    }

    /// True if the source has reported an end.
    pub fn has_reported_end(&self) -> bool {
        self.state.reported_end != ReportedEnd::Pending
    }
}

/// Rounds and usage.
impl Writer<'_> {
    /// Ends the open round and starts one (a model call); ends the run instead if that was
    /// requested.
    pub fn start_round_or_end_run(&mut self, model: Option<&str>, response: Option<&str>) {
        self.state.start_round_or_end_run(model, response, self.filter, &mut self.emitter);
    }

    /// Starts a round if none is open, or if the open one has its tool results.
    pub fn ensure_round_or_end_run(&mut self) {
        self.state.ensure_round_or_end_run(self.filter, &mut self.emitter);
    }

    /// True if a round is open.
    pub fn has_open_round(&self) -> bool {
        self.state.open_round.is_some()
    }

    /// Ends the open round.
    pub fn end_round(&mut self, stop: Option<StopReason>) {
        if let Some(round) = &mut self.state.open_round {
            round.stop = stop.or(round.stop);
        }
        self.state.end_round(self.filter, &mut self.emitter);
    }

    /// Updates the usage of the open round, emitted at its end; newer numbers replace older ones.
    /// Emits it at once if no round is open.
    pub fn update_or_emit_round_usage(&mut self, usage: Usage) {
        match &mut self.state.open_round {
            Some(round) => round.usage.get_or_insert_default().overwrite_reported_numbers(usage),
            None => self
                .emitter
                .emit_after_deferred_ends(Event::UsageReported { scope: UsageScope::Round, usage }),
        }
    }

    /// Emits the usage of the open round before its end.
    pub fn take_and_emit_round_usage(&mut self) {
        let usage = self.state.open_round.as_mut().and_then(|round| round.usage.take());
        if let Some(usage) = usage {
            self.emitter
                .emit_after_deferred_ends(Event::UsageReported { scope: UsageScope::Round, usage });
        }
    }

    /// Emits the usage of the whole run.
    pub fn emit_run_usage(&mut self, usage: Usage) {
        self.emitter
            .emit_after_deferred_ends(Event::UsageReported { scope: UsageScope::Run, usage });
    }
}

/// Prompts, notices, withdrawal and unrecognised input.
impl Writer<'_> {
    /// Ends the open text and emits a prompt without images.
    pub fn append_prompt_unless_finish_requested(&mut self, text: &str) {
        self.append_prompt_with_images_unless_finish_requested(text, &[]);
    }

    /// Ends the open text and emits a prompt, which is to be answered: an earlier completion no
    /// longer counts. Ends the run first if the agent requested that.
    pub fn append_prompt_with_images_unless_finish_requested(
        &mut self,
        text: &str,
        images: &[Image<'_>],
    ) {
        self.end_or_suspend_text_for_step();
        self.state.end_requested_run_unless_tools_open(self.filter, &mut self.emitter);
        if self.has_reported_completion() {
            self.end_round(None);
            self.clear_reported_end();
            self.state.forget_final_message();
        }
        self.emitter.emit_after_deferred_ends(Event::PromptReceived {
            text: text.into(),
            images: images.to_vec(),
            origin: PromptOrigin::Person,
        });
    }

    /// Emits a notice.
    pub fn append_notice(&mut self, level: NoticeLevel, text: &str) {
        self.emitter.emit_after_deferred_ends(Event::NoticeGiven { level, text: text.into() });
    }

    /// Emits any other event that opens and closes nothing.
    pub fn append_stateless_event(&mut self, event: Event<'_>) {
        self.state.failure_reported |= matches!(event, Event::RetryScheduled { .. });
        self.emitter.emit_after_deferred_ends(event);
    }

    /// Withdraws all messages and steps of the open round and ends it.
    pub fn withdraw_whole_round_and_end_it(&mut self) {
        let first_message = self.state.open_round.as_ref().map_or(0, |round| round.first_message);
        self.close_text_and_drop_citations(first_message);
        let Some(round) = &mut self.state.open_round else {
            return;
        };
        let messages: Vec<MessageId> =
            (round.first_message..self.state.message_count).map(MessageId).collect();
        let steps: Vec<StepId> = (round.first_step..self.state.step_count).map(StepId).collect();
        let first_step = StepId(round.first_step);
        round.last_message = None;
        round.last_final_message = None;
        self.state.open_tools.end_from_step_without_result(first_step, &mut self.emitter);
        self.state.mark_messages_withdrawn(&messages);
        self.state.finish_state = FinishState::NotRequested;
        if !messages.is_empty() || !steps.is_empty() {
            self.emitter.emit_after_deferred_ends(Event::Withdrawn { messages, steps });
        }
        self.end_round(None);
    }

    /// Emits each unknown field as unrecognised, once per name.
    pub(crate) fn append_unknown_fields_once(
        &mut self,
        fields: &[(String, &serde_json::value::RawValue)],
    ) {
        for (name, value) in fields {
            let known = &mut self.state.seen_unknown_fields;
            let print = Fingerprint::from_text(name);
            if known.len() < UNKNOWN_FIELDS_MAX && !known.contains(&print) {
                known.push(print);
                let raw = format!("{name:?}:{value}");
                self.append_unrecognised(UnrecognisedReason::Field, &raw);
            }
        }
    }

    /// Emits input that was not recognised.
    pub fn append_unrecognised(&mut self, reason: UnrecognisedReason, raw: &str) {
        self.emitter.emit_after_deferred_ends(Event::Unrecognised { reason, raw: raw.into() });
    }
}
