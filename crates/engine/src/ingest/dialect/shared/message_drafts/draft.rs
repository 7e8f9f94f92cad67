//! One unfinished message: its text so far, and the written messages that hold it.

use crate::event::{MessageId, MessagePhase};
use crate::limits::FRAME_BYTES_MAX;
use crate::run::{MessageLifetime, RewindPoint, Writer};

/// One unfinished message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) phase: Option<MessagePhase>,
    pub(super) lifetime: MessageLifetime,
    pub(super) text: String,
    /// Openings at the start of the text and of its newest stretch.
    pub(super) first_opening: RewindPoint,
    pub(super) last_opening: RewindPoint,
    /// Messages that hold the text before the newest stretch, and the message that holds that.
    pub(super) written_messages: Vec<MessageId>,
    pub(super) newest_message: Option<MessageId>,
    pub(super) restatable: Restatable,
}

/// Permission to restate a message, or the reason against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restatable {
    Yes,
    /// No: it has images, which are not kept.
    HasImages,
    /// No: its text is longer than a frame and is not kept.
    TooLong,
}

impl Draft {
    /// Begins a message.
    pub(super) fn begin(
        phase: Option<MessagePhase>,
        lifetime: MessageLifetime,
        out: &mut Writer<'_>,
    ) -> Draft {
        let opening = out.begin_rewindable_message(phase, lifetime);
        Draft {
            phase,
            lifetime,
            text: String::new(),
            first_opening: opening.clone(),
            last_opening: opening,
            written_messages: Vec::new(),
            newest_message: None,
            restatable: Restatable::Yes,
        }
    }

    /// Writes text to the open message, and keeps it unless there is too much.
    pub(super) fn append_text(&mut self, text: &str, out: &mut Writer<'_>) {
        self.record_or_clear_too_long_text(text);
        out.append_text(text);
        // A new one if what came before was a thought and is withdrawn.
        self.newest_message = out.open_message_id().or(self.newest_message);
    }

    /// Appends to the kept text; drops it past the limit.
    pub(super) fn record_or_clear_too_long_text(&mut self, text: &str) {
        if self.restatable != Restatable::TooLong {
            self.text.push_str(text);
        }
        if FRAME_BYTES_MAX < self.text.len() {
            self.text = String::new();
            self.restatable = Restatable::TooLong;
        }
    }

    /// True if all its text is in the newest written message.
    pub(super) fn has_no_earlier_message(&self) -> bool {
        self.written_messages.is_empty()
    }

    /// Ends the written message, if it is open.
    pub(super) fn end_message(&mut self, out: &mut Writer<'_>) {
        out.close_message_from(&self.last_opening);
        self.record_newest_message_as_written(out);
    }

    /// Counts the newest message to those that hold the text.
    pub(super) fn record_newest_message_as_written(&mut self, out: &Writer<'_>) {
        let newest = self.newest_message.take();
        self.written_messages.extend(out.message_from(&self.last_opening).or(newest));
    }

    /// Ends the written message and begins the next one.
    pub(super) fn begin_next_stretch(&mut self, out: &mut Writer<'_>) {
        self.end_message(out);
        self.last_opening = out.begin_rewindable_message(self.phase, self.lifetime);
    }

    /// Writes all its text as one new message and withdraws the earlier ones.
    pub(super) fn withdraw_and_reissue_as_one(&mut self, out: &mut Writer<'_>) {
        self.end_message(out);
        let messages = std::mem::take(&mut self.written_messages);
        self.last_opening = out.withdraw_and_reissue_as_one(
            self.phase,
            self.lifetime,
            &self.first_opening,
            &self.text,
            messages,
        );
        self.newest_message = out.open_message_id();
        self.first_opening = self.last_opening.clone();
    }
}

/// Restates a finished message that is in pieces; returns the written message.
pub(super) fn merge_pieces_if_restatable(
    draft: &mut Draft,
    out: &mut Writer<'_>,
) -> Option<MessageId> {
    if 1 < draft.written_messages.len() && draft.restatable == Restatable::Yes {
        draft.withdraw_and_reissue_as_one(out);
        draft.end_message(out);
    }
    draft.written_messages.last().copied()
}
