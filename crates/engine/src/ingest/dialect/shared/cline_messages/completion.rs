//! The final message, and what its source writes after it.

use crate::event::{MessagePhase, StopReason};
use crate::run::Writer;

use super::{ClineMessage, ClineMessages};

impl ClineMessages {
    /// Writes the final message and completes the run.
    pub(super) fn apply_completion(
        &mut self,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        self.steps.end_complete_steps(out);
        let text = completion_text(message.text());
        text.clone_into(&mut self.completion_text);
        let phase = Some(MessagePhase::Final);
        self.write_text_and_end_if_complete(key, phase, text, message, out);
        if !message.is_partial() {
            out.report_completed_unless_failed(StopReason::End);
        }
    }

    /// Tracks whether the source is writing something after the final message.
    pub(super) fn track_partial_after_completion(
        &mut self,
        key: &str,
        message: &ClineMessage<'_>,
        out: &Writer<'_>,
    ) {
        if !message.is_partial() {
            self.partial_after_completion.take_if(|partial| partial == key);
        } else if out.has_reported_completion()
            && !self.is_complete(key)
            && !self.is_completion_prefix(message)
        {
            self.partial_after_completion = Some(key.to_owned());
        }
    }

    /// True if the message with this key is complete: a partial one is an older version.
    fn is_complete(&self, key: &str) -> bool {
        self.texts.is_complete(key) || self.written_keys.contains(key) || self.steps.has_ended(key)
    }

    /// True for an ask that is to show the final message again, as far as it goes.
    pub(super) fn is_completion_prefix(&self, message: &ClineMessage<'_>) -> bool {
        message.ask.as_deref() == Some("completion_result")
            && self.completion_text.starts_with(completion_text(message.text()))
    }
}

/// Text of a final message, without Cline's marker for its UI that there are changes to compare.
pub(super) fn completion_text(text: &str) -> &str {
    text.strip_suffix("HAS_CHANGES").unwrap_or(text)
}
