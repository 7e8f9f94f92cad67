//! Unfinished messages of a source that interleaves them and may repeat them whole at the end.
//!
//! Does: keep the text of each unfinished message. A message that continues after another one is
//! resumed; one that has ended meanwhile is restated: written again as a whole, with its earlier
//! part withdrawn. A whole text that differs from the deltas replaces them.
//! Does not: keep finished messages, or more than [`SUSPENDED_MESSAGES_MAX`] unfinished ones.
//!
//! Invariant: the final text of a message is in exactly one written message.

mod draft;

use std::collections::VecDeque;

use crate::event::{MessageId, MessagePhase, NoticeLevel, UnrecognisedReason};
use crate::limits::{REISSUED_BYTES_MAX, SUSPENDED_MESSAGES_BYTES_MAX, SUSPENDED_MESSAGES_MAX};
use crate::run::{MessageLifetime, Writer};

use draft::{Draft, Restatable, merge_pieces_if_restatable};

/// Unfinished messages of a source, by key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageDrafts<K> {
    lifetime: MessageLifetime,
    current: Option<(K, Box<Draft>)>,
    /// Messages that others interrupted. Boxed, because they are exchanged often and searched for.
    paused: VecDeque<(K, Box<Draft>)>,
    restated_bytes: usize,
    restate_count: u32,
}

/// Effect of a whole text on a message that was written from deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WholeTextEffect {
    Unchanged,
    /// New text was appended.
    Appended,
    /// Other text replaced the written one, which had this many bytes.
    Replaced {
        old_bytes: usize,
    },
}

impl WholeTextEffect {
    /// Writes a warning if text was replaced, for a source that should not change it.
    pub(crate) fn warn_if_replaced(self, whole: &str, out: &mut Writer<'_>) {
        if let WholeTextEffect::Replaced { old_bytes: of_bytes } = self {
            let bytes = whole.len();
            let words = format!(
                "message rewritten: the deltas had {of_bytes} bytes, the final text has {bytes}"
            );
            out.append_notice(NoticeLevel::Warning, &words);
        }
    }
}

impl<K> Default for MessageDrafts<K> {
    fn default() -> MessageDrafts<K> {
        MessageDrafts::with_lifetime(MessageLifetime::NextStep)
    }
}

impl<K> MessageDrafts<K> {
    /// Drafts of messages that stay open as long as `lifetime` says.
    pub(crate) fn with_lifetime(lifetime: MessageLifetime) -> MessageDrafts<K> {
        MessageDrafts {
            lifetime,
            current: None,
            paused: VecDeque::new(),
            restated_bytes: 0,
            restate_count: 0,
        }
    }
}

/// Writing.
impl<K: Copy + PartialEq> MessageDrafts<K> {
    /// Appends `text` to the message `key`, which it resumes or restates if it was interrupted.
    pub(crate) fn resume_or_restate_and_append_text(
        &mut self,
        key: K,
        phase: Option<MessagePhase>,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        if !self.would_text_continue_message(key, out) {
            self.begin_resume_or_restate_draft(key, phase, out);
        }
        if let Some((_, draft)) = &mut self.current {
            draft.append_text(text, out);
        }
    }

    /// Appends text without a key to the open message. If none is open, pauses the current draft
    /// and returns false.
    pub(crate) fn try_append_unkeyed_or_pause_draft(
        &mut self,
        text: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let open = self
            .current
            .as_mut()
            .filter(|(_, draft)| out.would_continue_message_from(&draft.last_opening));
        if let Some((_, draft)) = open {
            draft.append_text(text, out);
            return true;
        }
        self.leave_message_and_pause_draft(out);
        false
    }

    /// Appends text of a source whose messages continue after steps; each stretch is a new message.
    pub(crate) fn append_text_without_restating(
        &mut self,
        key: K,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let has_ended = |draft: &Draft| !out.is_message_open_from(&draft.last_opening);
        if !text.is_empty() && self.find(key).is_some_and(has_ended) {
            if !self.is_current(key) {
                self.leave_message_and_pause_draft(out);
                self.current = self.take_paused(key).map(|draft| (key, draft));
            }
            if let Some((_, draft)) = &mut self.current {
                draft.begin_next_stretch(out);
            }
        }
        self.resume_or_restate_and_append_text(key, None, text, out);
    }

    /// Marks the current message as having images, so that it is never restated.
    pub(crate) fn mark_current_draft_as_having_images(&mut self) {
        if let Some((_, draft)) =
            self.current.as_mut().filter(|(_, draft)| draft.restatable == Restatable::Yes)
        {
            draft.restatable = Restatable::HasImages;
        }
    }

    /// Applies the whole text of a message: writes what is new or replaces what differs.
    pub(crate) fn apply_whole_text(
        &mut self,
        key: K,
        phase: Option<MessagePhase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) -> WholeTextEffect {
        let Some(said) = self.text(key) else {
            self.resume_or_restate_and_append_text(key, phase, whole, out);
            return WholeTextEffect::Appended;
        };
        let repeats = said.trim_ascii() == whole.trim_ascii()
            || (self.is_current(key) && out.remembered_text_equals(whole));
        if repeats || self.restate_permission(key) == Restatable::TooLong {
            return WholeTextEffect::Unchanged;
        }
        if let Some(rest) = whole.strip_prefix(said) {
            self.resume_or_restate_and_append_text(key, phase, rest, out);
            return WholeTextEffect::Appended;
        }
        let old_bytes = said.len();
        self.resume_draft_if_open(key, out);
        let open = self.would_text_continue_message(key, out);
        if open
            && let Some((_, draft)) =
                self.current.as_mut().filter(|(_, draft)| draft.has_no_earlier_message())
        {
            out.rewrite_open_message_or_append(&draft.first_opening, &draft.text, whole);
            whole.clone_into(&mut draft.text);
        } else if self.restate_permission(key) == Restatable::HasImages {
            out.append_unrecognised(UnrecognisedReason::Late, whole);
            return WholeTextEffect::Unchanged;
        } else {
            self.leave_message_and_pause_draft(out);
            if let Some(mut draft) = self.take_paused(key) {
                whole.clone_into(&mut draft.text);
                self.restate_count = self.restate_count.wrapping_add(1);
                draft.withdraw_and_reissue_as_one(out);
                self.current = Some((key, draft));
            }
        }
        WholeTextEffect::Replaced { old_bytes }
    }

    /// Finishes a message; returns the written message, if any.
    pub(crate) fn finish_and_merge_message(
        &mut self,
        key: K,
        out: &mut Writer<'_>,
    ) -> Option<MessageId> {
        if self.is_current(key) {
            self.pause_current_draft();
        }
        let mut draft = self.take_paused(key)?;
        draft.end_message(out);
        merge_pieces_if_restatable(&mut draft, out)
    }

    /// Merges each message that is in pieces and drops the paused ones. Messages in one piece stay
    /// open.
    pub(crate) fn merge_pieces_and_drop_paused(&mut self, out: &mut Writer<'_>) {
        if self.current.as_ref().is_some_and(|(_, draft)| !draft.has_no_earlier_message()) {
            self.pause_current_draft();
        }
        while let Some((_, mut draft)) = self.paused.pop_front() {
            if !draft.has_no_earlier_message() {
                draft.end_message(out);
                merge_pieces_if_restatable(&mut draft, out);
            }
        }
        self.restated_bytes = 0;
    }

    /// Drops all drafts and returns the messages written for them; withdraws none.
    pub(crate) fn discard_all_and_return_ids(&mut self, out: &mut Writer<'_>) -> Vec<MessageId> {
        let drafts = std::mem::replace(self, MessageDrafts::with_lifetime(self.lifetime));
        let mut messages = Vec::new();
        for (_, mut draft) in drafts.paused.into_iter().chain(drafts.current) {
            draft.record_newest_message_as_written(out);
            messages.extend(draft.written_messages);
        }
        messages
    }
}

/// State.
impl<K: Copy + PartialEq> MessageDrafts<K> {
    /// Text of an unfinished message.
    pub(crate) fn text(&self, key: K) -> Option<&str> {
        self.find(key).map(|draft| draft.text.as_str())
    }

    /// True if this message was the last to get text.
    pub(crate) fn is_current(&self, key: K) -> bool {
        self.current.as_ref().is_some_and(|(current, _)| *current == key)
    }

    /// Number of times any message was restated.
    pub(crate) fn restate_count(&self) -> u32 {
        self.restate_count
    }

    /// True if new text would continue the open written message.
    pub(crate) fn would_text_continue_message(&self, key: K, out: &Writer<'_>) -> bool {
        let current = self.current.as_ref().filter(|(current, _)| *current == key);
        current.is_some_and(|(_, draft)| out.would_continue_message_from(&draft.last_opening))
    }

    /// Ends or suspends the open written message and pauses the current draft: text of another
    /// message follows.
    pub(crate) fn leave_message_and_pause_draft(&mut self, out: &mut Writer<'_>) {
        if let Some((_, draft)) = &self.current
            && out.would_continue_message_from(&draft.last_opening)
        {
            out.end_or_suspend_message();
        }
        self.pause_current_draft();
    }

    /// Moves the current draft to the paused ones and drops the oldest beyond the limits.
    fn pause_current_draft(&mut self) {
        let Some(draft) = self.current.take() else { return };
        self.paused.push_back(draft);
        let bytes = |paused: &VecDeque<(K, Box<Draft>)>| -> usize {
            paused.iter().map(|(_, draft)| draft.text.len()).sum()
        };
        while SUSPENDED_MESSAGES_MAX < self.paused.len()
            || (1 < self.paused.len() && SUSPENDED_MESSAGES_BYTES_MAX < bytes(&self.paused))
        {
            self.paused.pop_front();
        }
    }

    fn find(&self, key: K) -> Option<&Draft> {
        let mut drafts = self.current.iter().chain(self.paused.iter().rev());
        drafts.find(|(known, _)| *known == key).map(|(_, draft)| &**draft)
    }

    /// Restate state of a message.
    fn restate_permission(&self, key: K) -> Restatable {
        self.find(key).map_or(Restatable::Yes, |draft| draft.restatable)
    }

    /// Removes and returns a paused draft.
    fn take_paused(&mut self, key: K) -> Option<Box<Draft>> {
        let at = self.paused.iter().rposition(|(paused, _)| *paused == key)?;
        self.paused.remove(at).map(|(_, draft)| draft)
    }

    /// Makes a draft whose written message is suspended the current one again.
    fn resume_draft_if_open(&mut self, key: K, out: &mut Writer<'_>) -> bool {
        if self.is_current(key) {
            let current = self.current.as_ref();
            return current.is_some_and(|(_, draft)| out.resume_message_from(&draft.last_opening));
        }
        let Some(at) = self.paused.iter().rposition(|(paused, _)| *paused == key) else {
            return false;
        };
        if !out.resume_message_from(&self.paused[at].1.last_opening) {
            return false;
        }
        match &mut self.current {
            Some(current) => std::mem::swap(current, &mut self.paused[at]),
            None => self.current = self.paused.remove(at),
        }
        true
    }

    /// Makes a draft current: creates it, resumes it, or restates it if its message has ended.
    fn begin_resume_or_restate_draft(
        &mut self,
        key: K,
        phase: Option<MessagePhase>,
        out: &mut Writer<'_>,
    ) {
        if self.resume_draft_if_open(key, out) {
            return;
        }
        self.leave_message_and_pause_draft(out);
        let Some(mut draft) = self.take_paused(key) else {
            self.current = Some((key, Box::new(Draft::begin(phase, self.lifetime, out))));
            return;
        };
        let again = self.restated_bytes + draft.text.len();
        if again <= REISSUED_BYTES_MAX && draft.restatable == Restatable::Yes {
            self.restated_bytes = again;
            self.restate_count = self.restate_count.wrapping_add(1);
            draft.withdraw_and_reissue_as_one(out);
        } else {
            draft.begin_next_stretch(out);
        }
        self.current = Some((key, draft));
    }
}
