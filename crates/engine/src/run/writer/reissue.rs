//! Messages that a source resumes or rewrites: reissues one whole, or rewrites it.
//!
//! Does not keep text: the caller keeps the text so far and the [`RewindPoint`] of its start.

use crate::event::{Event, MarkupClass, MessageId, MessagePhase};
use crate::filter::Filter;
use crate::run::cumulative::{RefilteredText, push_whole_text_and_split};
use crate::run::text::{AfterReasoningTag, MessageState};
use crate::run::{EventEmitter, RunState};

use super::Writer;

/// State at the start of a message, needed to filter its text again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RewindPoint {
    filter: Filter,
    first_message: u32,
    messages_closed: u64,
}

impl Writer<'_> {
    /// Begins a new message and returns its rewind point.
    pub(crate) fn begin_rewindable_message(&mut self, phase: Option<MessagePhase>) -> RewindPoint {
        self.close_message_and_set_next_phase(phase);
        self.ensure_round_or_end_run();
        RewindPoint {
            filter: self.filter.clone(),
            first_message: self.state.message_count,
            messages_closed: self.state.messages_closed,
        }
    }

    /// True if text that is appended now continues the message that began at `start`.
    pub(crate) fn would_continue_message_from(&self, start: &RewindPoint) -> bool {
        let ledger = &self.state;
        start.messages_closed == ledger.messages_closed
            && self.has_open_round()
            && !ledger.should_start_new_round()
    }

    /// Ids of the messages that started since `start`.
    pub(crate) fn messages_since(&self, start: &RewindPoint) -> impl Iterator<Item = MessageId> {
        (start.first_message..self.state.message_count).map(MessageId)
    }

    /// Withdraws `messages` and emits their text, `text_so_far`, again as one new message.
    /// Reasoning in it stays where it was. Returns the rewind point of the new message.
    pub(crate) fn withdraw_and_reissue_as_one(
        &mut self,
        phase: Option<MessagePhase>,
        start: &RewindPoint,
        text_so_far: &str,
        messages: Vec<MessageId>,
    ) -> RewindPoint {
        let new_start = self.begin_rewindable_message(phase);
        self.withdraw_ended_messages(messages);
        self.filter.clone_from(&start.filter);
        self.state.append_reissued_text_hiding_reasoning(
            text_so_far,
            self.filter,
            &mut self.emitter,
        );
        RewindPoint { filter: start.filter.clone(), ..new_start }
    }

    /// Rewrites the open message that began at `start` from `text_so_far` to `whole`.
    pub(crate) fn rewrite_message(&mut self, start: &RewindPoint, text_so_far: &str, whole: &str) {
        if self.state.cumulative.is_some() {
            return self.append_or_rewrite_cumulative_text(whole);
        }
        self.filter.clone_from(&start.filter);
        let before = push_whole_text_and_split(text_so_far, &mut start.filter.clone());
        self.state.rewrite_open_message_or_append(
            &before.visible,
            &before.hidden,
            whole,
            self.filter,
            &mut self.emitter,
        );
    }

    /// Withdraws messages that have ended.
    fn withdraw_ended_messages(&mut self, messages: Vec<MessageId>) {
        if messages.is_empty() {
            return;
        }
        self.state.mark_messages_withdrawn(&messages);
        self.state.withdraw_finish_of_messages(&messages);
        self.reset_last_message_if_withdrawn();
        self.emitter.emit_after_deferred_ends(Event::Withdrawn { messages, steps: Vec::new() });
    }
}

impl RunState {
    /// Filters a reissued text and emits its visible part; its reasoning is hidden markup.
    fn append_reissued_text_hiding_reasoning(
        &mut self,
        text_so_far: &str,
        filter: &mut Filter,
        out: &mut EventEmitter<'_>,
    ) {
        if self.should_drop_late_text() {
            return RunState::trace_late_text(text_so_far, out);
        }
        self.close_reasoning_and_defer_end(out);
        let RefilteredText { visible, hidden, finish_request: asks, after_tag } =
            push_whole_text_and_split(text_so_far, filter);
        if !hidden.is_empty() {
            out.emit_hidden_markup(MarkupClass::Rewritten, &hidden);
        }
        if after_tag == AfterReasoningTag::Yes && visible.chars().all(char::is_whitespace) {
            self.message_state =
                MessageState::Blank { text: String::new(), after_reasoning_tag: after_tag };
        }
        if !visible.is_empty() {
            self.trace_first_token(out);
            self.append_or_hold_visible_text(&visible, out);
        }
        self.finish_request = asks;
    }
}
