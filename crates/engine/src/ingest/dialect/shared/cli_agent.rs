//! State that the dialects of CLI agents share: the last model output, and errors held until the
//! run ends. CLI agents run their tools themselves, and some do not mark model calls.

use crate::event::{Executor, FailureReason, NoticeLevel, StopReason, ToolKind};
use crate::run::{ToolStart, Writer};

/// Kind of the model's last output: text, or a tool call that no text followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LastModelOutput {
    #[default]
    Text,
    ToolCall,
}

impl LastModelOutput {
    /// Completes the run. After a tool call without later text it opens a last, empty round, so
    /// that the text before the call does not count as the reply.
    pub(crate) fn ensure_reply_round_and_report_completed(
        self,
        stop: StopReason,
        out: &mut Writer<'_>,
    ) {
        if self == LastModelOutput::ToolCall {
            out.ensure_round_or_end_run();
        }
        out.close_message_and_defer_end();
        out.report_completed_unless_failed(stop);
    }
}

/// Start of a tool that the agent runs; the caller sets the call id.
pub(crate) fn build_tool_start_without_call_id(name: &str, kind: ToolKind) -> ToolStart<'_> {
    ToolStart { kind, executor: Executor::Client, ..ToolStart::client_function("", name) }
}

/// The last error message, held because the run's ending may repeat it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum PendingError {
    #[default]
    None,
    /// Not written yet: nothing followed it.
    Held(String),
    /// Written as a notice: the run continued.
    Reported(String),
}

impl PendingError {
    /// Holds an error message and writes the one held before, unless they are equal.
    pub(crate) fn hold_error_and_write_previous(&mut self, words: &str, out: &mut Writer<'_>) {
        if !matches!(self, PendingError::Held(held) if held == words) {
            self.write_held_error_or_forget_reported(out);
            *self = PendingError::Held(words.to_owned());
        }
    }

    /// Writes the held error as a notice: the run continues.
    pub(crate) fn write_held_error_or_forget_reported(&mut self, out: &mut Writer<'_>) {
        if let PendingError::Held(words) = std::mem::take(self) {
            out.append_notice(NoticeLevel::Error, &words);
            *self = PendingError::Reported(words);
        }
    }

    /// Writes the held error as a notice unless it equals `words`, the text of the run's ending.
    pub(crate) fn clear_and_write_held_unless_repeated(
        &mut self,
        words: &str,
        out: &mut Writer<'_>,
    ) {
        match std::mem::take(self) {
            PendingError::Held(held) if held.trim_ascii() != words.trim_ascii() => {
                out.append_notice(NoticeLevel::Error, &held);
            }
            PendingError::None | PendingError::Held(_) | PendingError::Reported(_) => {}
        }
    }

    /// Removes and returns the message, for an ending that has no text.
    pub(crate) fn take_message(&mut self) -> Option<String> {
        match std::mem::take(self) {
            PendingError::None => None,
            PendingError::Held(words) | PendingError::Reported(words) => Some(words),
        }
    }

    /// Ends the input: fails the run with the error unless the run has an ending.
    pub(crate) fn fail_run_or_write_held_error(&mut self, out: &mut Writer<'_>) {
        if out.has_reported_end() {
            self.write_held_error_or_forget_reported(out);
        } else if let Some(words) = self.take_message() {
            out.report_failed_and_end_text(FailureReason::Error, &words);
        }
    }
}
