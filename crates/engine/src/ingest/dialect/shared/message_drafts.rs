//! Unfinished messages of a source that interleaves them and may repeat them whole at the end.
//!
//! Does: keep the text of each unfinished message. A message that continues after another one is
//! restated: written again as a whole, with its earlier part withdrawn. A whole text that differs
//! from the deltas replaces them.
//! Does not: keep finished messages, or more than [`SUSPENDED_MESSAGES_MAX`] unfinished ones.
//!
//! Invariant: the final text of a message is in exactly one written message.

use std::collections::VecDeque;

use crate::event::{MessageId, MessagePhase, NoticeLevel, UnrecognisedReason};
use crate::limits::{
    FRAME_BYTES_MAX, REISSUED_BYTES_MAX, SUSPENDED_MESSAGES_BYTES_MAX, SUSPENDED_MESSAGES_MAX,
};
use crate::run::{RewindPoint, Writer};

/// Unfinished messages of a source, by key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageDrafts<K> {
    current: Option<Draft<K>>,
    /// Messages that others interrupted.
    paused: VecDeque<Draft<K>>,
    restated_bytes: usize,
    restate_count: u32,
}

/// One unfinished message.
#[derive(Clone, Debug, PartialEq)]
struct Draft<K> {
    key: K,
    phase: Option<MessagePhase>,
    text: String,
    /// Openings at the start of the text and of its newest stretch.
    first_opening: RewindPoint,
    last_opening: RewindPoint,
    /// Messages that hold the text before the newest stretch.
    written_messages: Vec<MessageId>,
    restatable: Restatable,
}

/// Permission to restate a message, or the reason against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restatable {
    Yes,
    /// No: it has images, which are not kept.
    HasImages,
    /// No: its text is longer than a frame and is not kept.
    TooLong,
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
        MessageDrafts {
            current: None,
            paused: VecDeque::new(),
            restated_bytes: 0,
            restate_count: 0,
        }
    }
}

/// Writing.
impl<K: Copy + PartialEq> MessageDrafts<K> {
    /// Appends `text` to the message `key`; restates the message first if it was interrupted.
    pub(crate) fn append_text(
        &mut self,
        key: K,
        phase: Option<MessagePhase>,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        if !self.is_open(key, out) {
            self.begin_or_restate_draft(key, phase, out);
        }
        if let Some(draft) = &mut self.current {
            draft.record_text_unless_too_long(text);
            out.append_text(text);
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
            .filter(|draft| out.would_continue_message_from(&draft.last_opening));
        if let Some(draft) = open {
            draft.record_text_unless_too_long(text);
            out.append_text(text);
            return true;
        }
        self.end_message_and_pause_draft(out);
        false
    }

    /// Appends text of a source whose messages continue after steps; each stretch is a new message.
    pub(crate) fn append_to_current_without_restating(
        &mut self,
        key: K,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if !text.is_empty() && self.is_current(key) && !self.is_open(key, out) {
            self.begin_next_message_of_draft(out);
        }
        self.append_text(key, None, text, out);
    }

    /// Marks the current message as having images, so that it is never restated.
    pub(crate) fn disable_restating_of_current_draft(&mut self) {
        if let Some(draft) =
            self.current.as_mut().filter(|draft| draft.restatable == Restatable::Yes)
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
        let open = self.is_open(key, out);
        let Some(said) = self.text(key) else {
            self.append_text(key, phase, whole, out);
            return WholeTextEffect::Appended;
        };
        let repeats = said.trim_ascii() == whole.trim_ascii() || out.remembered_text_equals(whole);
        if repeats || self.restate_permission(key) == Restatable::TooLong {
            return WholeTextEffect::Unchanged;
        }
        if let Some(rest) = whole.strip_prefix(said) {
            self.append_text(key, phase, rest, out);
            return WholeTextEffect::Appended;
        }
        let of_bytes = said.len();
        if open
            && let Some(draft) =
                self.current.as_mut().filter(|draft| draft.has_no_earlier_message())
        {
            out.rewrite_message(&draft.first_opening, &draft.text, whole);
            whole.clone_into(&mut draft.text);
        } else if self.restate_permission(key) == Restatable::HasImages {
            out.append_unrecognised(UnrecognisedReason::Late, whole);
            return WholeTextEffect::Unchanged;
        } else {
            self.end_message_and_pause_draft(out);
            if let Some(mut draft) = self.take_paused(key) {
                whole.clone_into(&mut draft.text);
                self.restate_count = self.restate_count.wrapping_add(1);
                draft.withdraw_and_reissue_as_one(out);
                self.current = Some(draft);
            }
        }
        WholeTextEffect::Replaced { old_bytes: of_bytes }
    }

    /// Finishes a message; returns the written message, if any.
    pub(crate) fn finish_and_merge_message(
        &mut self,
        key: K,
        out: &mut Writer<'_>,
    ) -> Option<MessageId> {
        if self.current.as_ref().is_some_and(|draft| draft.key == key) {
            self.end_message_and_pause_draft(out);
        }
        let draft = self.take_paused(key)?;
        self.merge_pieces_if_restatable(draft, out)
    }

    /// Merges each message that is in pieces and drops the paused ones. A current message in one
    /// piece stays open.
    pub(crate) fn merge_pieces_and_drop_paused(&mut self, out: &mut Writer<'_>) {
        if self.current.as_ref().is_some_and(|draft| !draft.written_messages.is_empty()) {
            self.end_message_and_pause_draft(out);
        }
        while let Some(draft) = self.paused.pop_front() {
            self.merge_pieces_if_restatable(draft, out);
        }
        self.restated_bytes = 0;
    }

    /// Drops all drafts and returns the messages written for them; withdraws none.
    pub(crate) fn discard_all_and_return_ids(&mut self, out: &mut Writer<'_>) -> Vec<MessageId> {
        let drafts = std::mem::take(self);
        let open = drafts.current.iter().flat_map(|draft| out.messages_since(&draft.last_opening));
        let open: Vec<MessageId> = open.collect();
        let all = drafts.paused.into_iter().chain(drafts.current);
        all.flat_map(|draft| draft.written_messages).chain(open).collect()
    }
}

/// State.
impl<K: Copy + PartialEq> MessageDrafts<K> {
    /// Text of an unfinished message.
    pub(crate) fn text(&self, key: K) -> Option<&str> {
        let mut drafts = self.current.iter().chain(self.paused.iter().rev());
        drafts.find(|draft| draft.key == key).map(|draft| draft.text.as_str())
    }

    /// True if this message was the last to get text.
    pub(crate) fn is_current(&self, key: K) -> bool {
        self.current.as_ref().is_some_and(|draft| draft.key == key)
    }

    /// Number of times any message was restated.
    pub(crate) fn restate_count(&self) -> u32 {
        self.restate_count
    }

    /// True if new text would continue the open written message.
    pub(crate) fn is_open(&self, key: K, out: &Writer<'_>) -> bool {
        let current = self.current.as_ref().filter(|draft| draft.key == key);
        current.is_some_and(|draft| out.would_continue_message_from(&draft.last_opening))
    }

    /// Ends the open written message and pauses the current draft.
    pub(crate) fn end_message_and_pause_draft(&mut self, out: &mut Writer<'_>) {
        let Some(mut draft) = self.current.take() else { return };
        out.close_message_and_defer_end();
        draft.written_messages.extend(out.messages_since(&draft.last_opening));
        self.paused.push_back(draft);
        let bytes = |left: &VecDeque<Draft<K>>| left.iter().map(|draft| draft.text.len()).sum();
        while SUSPENDED_MESSAGES_MAX < self.paused.len()
            || (1 < self.paused.len() && SUSPENDED_MESSAGES_BYTES_MAX < bytes(&self.paused))
        {
            self.paused.pop_front();
        }
    }

    /// Restate state of a message.
    fn restate_permission(&self, key: K) -> Restatable {
        let mut drafts = self.current.iter().chain(self.paused.iter());
        drafts.find(|draft| draft.key == key).map_or(Restatable::Yes, |draft| draft.restatable)
    }

    /// Ends the written message of the current draft and begins its next one.
    fn begin_next_message_of_draft(&mut self, out: &mut Writer<'_>) {
        if let Some(draft) = &mut self.current {
            out.close_message_and_defer_end();
            draft.written_messages.extend(out.messages_since(&draft.last_opening));
            draft.last_opening = out.begin_rewindable_message(draft.phase);
        }
    }

    /// Restates a finished message that is in pieces; returns the written message.
    fn merge_pieces_if_restatable(
        &mut self,
        mut draft: Draft<K>,
        out: &mut Writer<'_>,
    ) -> Option<MessageId> {
        if 1 < draft.written_messages.len() && draft.restatable == Restatable::Yes {
            // The restated text must not become part of another draft.
            self.end_message_and_pause_draft(out);
            draft.withdraw_and_reissue_as_one(out);
            out.close_message_and_defer_end();
            draft.written_messages.extend(out.messages_since(&draft.last_opening));
        }
        draft.written_messages.last().copied()
    }

    /// Removes and returns a paused draft.
    fn take_paused(&mut self, key: K) -> Option<Draft<K>> {
        let at = self.paused.iter().rposition(|draft| draft.key == key)?;
        self.paused.remove(at)
    }

    /// Makes a draft current: creates it, or restates it if it was paused.
    fn begin_or_restate_draft(
        &mut self,
        key: K,
        phase: Option<MessagePhase>,
        out: &mut Writer<'_>,
    ) {
        self.end_message_and_pause_draft(out);
        let Some(mut draft) = self.take_paused(key) else {
            let begin = out.begin_rewindable_message(phase);
            let (newest, said, messages) = (begin.clone(), String::new(), Vec::new());
            let hold = Restatable::Yes;
            self.current = Some(Draft {
                key,
                phase,
                text: said,
                first_opening: begin,
                last_opening: newest,
                written_messages: messages,
                restatable: hold,
            });
            return;
        };
        let again = self.restated_bytes + draft.text.len();
        if again <= REISSUED_BYTES_MAX && draft.restatable == Restatable::Yes {
            self.restated_bytes = again;
            self.restate_count = self.restate_count.wrapping_add(1);
            draft.withdraw_and_reissue_as_one(out);
        } else {
            draft.last_opening = out.begin_rewindable_message(draft.phase);
        }
        self.current = Some(draft);
    }
}

impl<K> Draft<K> {
    /// Appends to the kept text; drops it past the limit.
    fn record_text_unless_too_long(&mut self, text: &str) {
        if self.restatable != Restatable::TooLong {
            self.text.push_str(text);
        }
        if FRAME_BYTES_MAX < self.text.len() {
            self.text = String::new();
            self.restatable = Restatable::TooLong;
        }
    }

    /// True if all its text is in the open written message.
    fn has_no_earlier_message(&self) -> bool {
        self.written_messages.is_empty()
    }

    /// Writes all its text as one new message and withdraws the earlier ones.
    fn withdraw_and_reissue_as_one(&mut self, out: &mut Writer<'_>) {
        let messages = std::mem::take(&mut self.written_messages);
        self.last_opening =
            out.withdraw_and_reissue_as_one(self.phase, &self.first_opening, &self.text, messages);
        self.first_opening = self.last_opening.clone();
    }
}
