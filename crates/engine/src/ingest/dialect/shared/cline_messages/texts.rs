//! Texts of messages: each update has the whole text so far, and a message stays open until its
//! source says that it is complete.

use crate::event::{MessagePhase, UnrecognisedReason};
use crate::run::{Fingerprint, MessageLifetime, Writer};

use super::super::message_drafts::MessageDrafts;
use super::super::shown_items::{ShownDiff, ShownItemKey, ShownItems};

/// Text written for messages, by their keys.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MessageTexts {
    shown: ShownItems,
    drafts: MessageDrafts<ShownItemKey>,
}

impl Default for MessageTexts {
    fn default() -> MessageTexts {
        let drafts = MessageDrafts::with_lifetime(MessageLifetime::Completion);
        MessageTexts { shown: ShownItems::default(), drafts }
    }
}

impl MessageTexts {
    /// Writes the new part of a message's text so far. An older, shorter version changes nothing,
    /// and neither does an update of a complete message.
    pub(super) fn push_text_so_far(
        &mut self,
        key: &str,
        phase: Option<MessagePhase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) {
        let id = Fingerprint::from_text(key);
        if id.is_blank() {
            self.drafts.leave_message_and_pause_draft(out);
            out.close_message_and_set_next_phase(phase);
            out.append_text(whole);
        } else if !self.is_complete(key)
            && !self.drafts.text(id).is_some_and(|said| said.starts_with(whole))
        {
            self.shown.record_whole_text(id, whole);
            self.drafts.apply_whole_text(id, phase, whole, out);
        }
    }

    /// Ends a message: its source has said that it is complete. A complete text that differs from
    /// an earlier complete one is recorded as late.
    pub(super) fn end_message(&mut self, key: &str, whole: &str, out: &mut Writer<'_>) {
        let id = Fingerprint::from_text(key);
        if id.is_blank() {
            out.close_message_and_emit_end();
        } else if self.is_complete(key) {
            if self.shown.diff_whole_text(id, whole) != ShownDiff::Unchanged {
                out.append_unrecognised(UnrecognisedReason::Late, whole);
            }
        } else {
            self.drafts.finish_and_merge_message(id, out);
            out.close_message_and_emit_end();
            self.shown.mark_finished_or_remove_unkeyed(id);
        }
    }

    /// True if the message has ended.
    pub(super) fn is_complete(&self, key: &str) -> bool {
        self.shown.is_finished(Fingerprint::from_text(key))
    }
}
