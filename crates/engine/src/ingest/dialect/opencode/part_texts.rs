//! Texts of parts, which the server sends as deltas and whole, in any order of the parts.

use crate::event::UnrecognisedReason;
use crate::run::{Fingerprint, Writer};

use super::super::shared::message_drafts::MessageDrafts;
use super::super::shared::shown_items::{ShownDiff, ShownItemKey, ShownItems};

/// Text written for text parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartTexts {
    shown: ShownItems,
    drafts: MessageDrafts<ShownItemKey>,
}

impl PartTexts {
    /// True if the part was sent before.
    pub(super) fn has_part(&self, id: &str) -> bool {
        let key = Fingerprint::from_text(id);
        !key.is_blank() && self.shown.has_begun_item(key)
    }

    /// Writes the new part of a text so far, or replaces a text that differs. An older, shorter
    /// version changes nothing.
    pub(super) fn push_text_so_far(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        let key = Fingerprint::from_text(id);
        if key.is_blank() {
            self.drafts.leave_message_and_pause_draft(out);
            out.close_message_and_set_next_phase(None);
            out.append_text(whole);
        } else if self.drafts.text(key).is_some_and(|said| said.starts_with(whole)) {
            // An older version.
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

    /// Appends a delta of a part that was sent before.
    pub(super) fn append_delta(&mut self, id: &str, delta: &str, out: &mut Writer<'_>) {
        let key = Fingerprint::from_text(id);
        self.shown.record_appended_text(key, delta);
        self.drafts.append_text_without_restating(key, delta, out);
    }
}
