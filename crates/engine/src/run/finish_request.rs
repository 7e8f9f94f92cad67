//! Finish requests: ending a run because the agent wrote a control word.
//!
//! Does: accept a word at the start or end of its message, but not in the middle; let the tools of
//! the same reply run first; then end the run, so that later text is dropped.
//! Does not: find or hide the word; the filter does.

use crate::event::{DroppedReason, MessageId, StepId, StopReason, Trace};
use crate::filter::{ControlMeaning, MessageFilter, Piece};

use super::{EventEmitter, InputEnd, Lifecycle, ReportedEnd, RunState};

/// Finish request in the open message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FinishRequest {
    #[default]
    None,
    /// Holds if no more text follows the word.
    IfLast,
    /// Holds whatever follows.
    Certain,
}

/// Text before a control word in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextBeforeWord {
    Blank,
    Text,
}

impl TextBeforeWord {
    /// Classifies the text before a word.
    pub(super) fn from_text(text: &str) -> TextBeforeWord {
        if text.chars().all(char::is_whitespace) {
            TextBeforeWord::Blank
        } else {
            TextBeforeWord::Text
        }
    }
}

impl FinishRequest {
    /// Updates the request for a control word.
    pub(super) fn apply_control_word(&mut self, meaning: ControlMeaning, before: TextBeforeWord) {
        *self = match (meaning, before) {
            (ControlMeaning::NothingToReport, _) => *self,
            (ControlMeaning::Finish, TextBeforeWord::Blank) => FinishRequest::Certain,
            (ControlMeaning::Finish, TextBeforeWord::Text) if *self == FinishRequest::Certain => {
                FinishRequest::Certain
            }
            (ControlMeaning::Finish, TextBeforeWord::Text) => FinishRequest::IfLast,
        };
    }

    /// Drops a tentative request if `text` is not blank.
    #[inline]
    pub(super) fn drop_tentative_if_text_follows(&mut self, text: &str) {
        if *self == FinishRequest::IfLast && !text.chars().all(char::is_whitespace) {
            *self = FinishRequest::None;
        }
    }
}

/// Progress of a requested end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FinishState {
    NotRequested,
    /// Requested; tools of the same reply may still start or run.
    Requested(FinishOrigin),
    /// The tools of the reply have ended.
    ToolsEnded(FinishOrigin),
}

/// Message and round that requested the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FinishOrigin {
    /// Message of the control word, if it has other text.
    message: Option<MessageId>,
    /// The first step of its round.
    first_step: StepId,
}

impl RunState {
    /// Applies a control word of the open message.
    pub(super) fn apply_control_word(&mut self, meaning: ControlMeaning) {
        if self.apply_control_word_to_implied_thought(meaning) {
            return;
        }
        let before = self.text_before_word();
        self.finish_request.apply_control_word(meaning, before);
    }

    /// True if the end of the open message now would be a request to end the run.
    pub(super) fn would_end_of_message_request_finish(&self, filter: &MessageFilter) -> bool {
        if !filter.has_control_words() {
            return false;
        }
        let mut request = self.finish_request;
        let mut before = self.text_before_word();
        filter.clone().end_message_keeping_open_tag(&mut |piece| match piece {
            Piece::ControlWord(meaning, _) => request.apply_control_word(meaning, before),
            Piece::Visible(text) => {
                request.drop_tentative_if_text_follows(text);
                if TextBeforeWord::from_text(text) == TextBeforeWord::Text {
                    before = TextBeforeWord::Text;
                }
            }
            Piece::HiddenContent(..) | Piece::Markup(..) | Piece::UnopenedThoughtEnd(_) => {}
        });
        request != FinishRequest::None
    }

    fn text_before_word(&self) -> TextBeforeWord {
        match self.message_state.open_id() {
            Some(_) => TextBeforeWord::Text,
            None => TextBeforeWord::Blank,
        }
    }

    /// Turns the finish request of a message that has ended into a requested end of the run.
    pub(super) fn mark_end_requested_if_message_asked(&mut self, message: Option<MessageId>) {
        if std::mem::take(&mut self.finish_request) != FinishRequest::None
            && let Some(round) = &self.open_round
        {
            let first_step = StepId(round.first_step);
            self.finish_state = FinishState::Requested(FinishOrigin { message, first_step });
        }
    }

    /// True if text and reasoning that arrive now are dropped: the run has ended or was asked to.
    pub(super) fn should_drop_late_text(&self) -> bool {
        self.finish_state != FinishState::NotRequested || self.lifecycle == Lifecycle::Ended
    }

    /// Traces text that is dropped because it is past the end.
    pub(super) fn trace_late_text(text: &str, out: &mut EventEmitter<'_>) {
        let reason = DroppedReason::Late;
        out.sink.on_trace(Trace::Dropped { bytes: text.len(), reason });
    }

    /// Waits for tools again if one starts after the others had ended.
    pub(super) fn unmark_tools_ended(&mut self) {
        if let FinishState::ToolsEnded(finisher) = self.finish_state {
            self.finish_state = FinishState::Requested(finisher);
        }
    }

    /// Advances to `ToolsEnded` if `step` was the last open tool of the reply.
    pub(super) fn mark_tools_ended_if_last(&mut self, step: StepId) {
        if let FinishState::Requested(finisher) = self.finish_state
            && finisher.first_step <= step
            && !self.open_tools.has_open_at_or_after_step(finisher.first_step)
        {
            self.finish_state = FinishState::ToolsEnded(finisher);
        }
    }

    /// Ends the run before the next reply or prompt, if that was requested.
    pub(super) fn end_run_if_requested(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        match (self.finish_state, &self.reported_end) {
            (FinishState::NotRequested, _) => {}
            // The reply was cut off, so the request does not count.
            (
                FinishState::Requested(_),
                ReportedEnd::Failed { .. } | ReportedEnd::Cancelled { .. },
            ) => {
                self.finish_state = FinishState::NotRequested;
            }
            (_, verdict) => {
                if *verdict == ReportedEnd::Pending {
                    self.reported_end = ReportedEnd::Completed(StopReason::End);
                    out.deferred_ends.incomplete = self.would_message_end_incomplete();
                }
                self.end_run(InputEnd::EndOfInput, filter, out);
            }
        }
    }

    /// Ends the run before a prompt, if that was requested and no tool of the reply is running.
    pub(super) fn end_requested_run_unless_tools_open(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        if let FinishState::Requested(finisher) | FinishState::ToolsEnded(finisher) =
            self.finish_state
            && !self.open_tools.has_open_at_or_after_step(finisher.first_step)
        {
            self.end_run_if_requested(filter, out);
        }
    }

    /// True if the end was requested and the tools of the reply have ended.
    pub(super) fn is_requested_end_ready(&self) -> bool {
        matches!(self.finish_state, FinishState::ToolsEnded(_))
    }

    /// Marks messages as withdrawn; none of them can be the final one.
    pub(super) fn mark_messages_withdrawn(&mut self, messages: &[MessageId]) {
        self.withdrawn_messages.extend(messages);
        self.declared_final = self.declared_final.filter(|declared| !messages.contains(declared));
    }

    /// Withdraws the finish request if its message is among `messages`.
    pub(super) fn clear_finish_request_of_messages(&mut self, messages: &[MessageId]) {
        if let FinishState::Requested(FinishOrigin { message: Some(message), .. })
        | FinishState::ToolsEnded(FinishOrigin { message: Some(message), .. }) =
            self.finish_state
            && messages.contains(&message)
        {
            self.finish_state = FinishState::NotRequested;
        }
    }
}
