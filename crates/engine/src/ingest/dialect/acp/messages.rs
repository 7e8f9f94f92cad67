//! Agent messages: chunks and whole messages.
//!
//! Several messages may be open at once. One that continues after a step continues below it.

use crate::event::UnrecognisedReason;
use crate::run::{Fingerprint, Writer};

use super::super::shared::message_drafts::MessageDrafts;
use super::super::shared::shown_items::{ShownDiff, ShownItemKey, ShownItems};

/// Text written for agent messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AgentMessages {
    shown: ShownItems,
    drafts: MessageDrafts<ShownItemKey>,
}

impl AgentMessages {
    /// True if text of the message was written.
    pub(super) fn has_text_of_message(&self, id: &str) -> bool {
        !id.is_empty() && self.shown.has_text(Fingerprint::from_text(id))
    }

    /// Appends a chunk to a message.
    pub(super) fn append_chunk(&mut self, id: &str, text: &str, out: &mut Writer<'_>) {
        let key = Fingerprint::from_text(id);
        if !key.is_blank() {
            self.shown.record_appended_text(key, text);
            self.drafts.append_text_without_restating(key, text, out);
        } else if !self.drafts.try_append_unkeyed_or_pause_draft(text, out) {
            out.append_text(text);
        }
    }

    /// Applies the whole text of a message, which replaces its earlier text.
    pub(super) fn write_or_replace_whole_message(
        &mut self,
        id: &str,
        whole: &str,
        out: &mut Writer<'_>,
    ) {
        let key = Fingerprint::from_text(id);
        if key.is_blank() {
            self.drafts.leave_message_and_pause_draft(out);
            out.close_message_and_set_next_phase(None);
            out.append_text(whole);
        } else if self.shown.has_text(key) && self.drafts.text(key).is_none() {
            // Its draft was dropped: it can no longer be changed.
            if self.shown.diff_whole_text(key, whole) != ShownDiff::Unchanged {
                out.append_unrecognised(UnrecognisedReason::Late, whole);
            }
        } else {
            self.shown.record_whole_text(key, whole);
            self.drafts.apply_whole_text(key, None, whole, out);
        }
    }

    /// Marks the open message as having images.
    pub(super) fn disable_restating_for_images(&mut self) {
        self.drafts.mark_current_draft_as_having_images();
    }
}
