//! Messages that a source resumes or rewrites: reissues one whole, or rewrites it.
//!
//! Does not keep text: the caller keeps the text so far and the [`RewindPoint`] of its start.

use crate::event::{Event, MarkupClass, MessageId, MessagePhase};
use crate::filter::MessageFilter;
use crate::run::cumulative::{RefilteredText, push_whole_text_and_split};
use crate::run::message_state::{AfterReasoningTag, MessageState};
use crate::run::open_messages::{MessageLifetime, SlotNumber, TextInterruption};
use crate::run::{EventEmitter, RunState};

use super::Writer;

/// State at the start of a message, needed to filter its text again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RewindPoint {
    filter: MessageFilter,
    slot: SlotNumber,
}

impl Writer<'_> {
    /// Begins a new message and returns its rewind point. The message before it ends, or is
    /// suspended if its lifetime allows that.
    pub(crate) fn begin_rewindable_message(
        &mut self,
        phase: Option<MessagePhase>,
        lifetime: MessageLifetime,
    ) -> RewindPoint {
        self.end_or_suspend_message();
        self.ensure_round_or_end_run();
        self.state.next_message_phase = phase;
        self.state.slots.set_lifetime(lifetime);
        RewindPoint { filter: self.filter.clone(), slot: self.state.slots.current() }
    }

    /// Ends the current message, or suspends it if its lifetime allows that: text of another
    /// message follows.
    pub(crate) fn end_or_suspend_message(&mut self) {
        let interruption = TextInterruption::Message;
        self.state.end_or_suspend_message(interruption, self.filter, &mut self.emitter);
    }

    /// True if text that is appended now continues the message that began at `start`.
    pub(crate) fn would_continue_message_from(&self, start: &RewindPoint) -> bool {
        let state = &self.state;
        start.slot == state.slots.current()
            && self.has_open_round()
            && !state.should_start_new_round()
    }

    /// Makes the message that began at `start` the current one. Returns false if it has ended.
    pub(crate) fn resume_message_from(&mut self, start: &RewindPoint) -> bool {
        self.state.resume_message(start.slot, self.filter, &mut self.emitter)
    }

    /// True if the message that began at `start` is open, even if it is suspended.
    pub(crate) fn is_message_open_from(&self, start: &RewindPoint) -> bool {
        start.slot == self.state.slots.current() || self.state.slots.is_suspended(start.slot)
    }

    /// Ends the message that began at `start`, if it is open. Others stay as they are.
    pub(crate) fn close_message_from(&mut self, start: &RewindPoint) {
        if self.resume_message_from(start) {
            self.close_message_and_defer_end();
        }
    }

    /// Id of the message that began at `start`, if it has text.
    pub(crate) fn message_from(&self, start: &RewindPoint) -> Option<MessageId> {
        if start.slot == self.state.slots.current() {
            return self.open_message_id();
        }
        self.state.slots.message_unless_current(start.slot)
    }

    /// Withdraws `messages` and emits their text, `text_so_far`, again as one new message.
    /// Reasoning in it stays where it was. Returns the rewind point of the new message.
    pub(crate) fn withdraw_and_reissue_as_one(
        &mut self,
        phase: Option<MessagePhase>,
        lifetime: MessageLifetime,
        start: &RewindPoint,
        text_so_far: &str,
        messages: Vec<MessageId>,
    ) -> RewindPoint {
        let new_start = self.begin_rewindable_message(phase, lifetime);
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
    pub(crate) fn rewrite_open_message_or_append(
        &mut self,
        start: &RewindPoint,
        text_so_far: &str,
        whole: &str,
    ) {
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
        self.state.clear_finish_request_of_messages(&messages);
        self.state.reset_last_message_if_withdrawn();
        self.emitter.emit_after_deferred_ends(Event::Withdrawn { messages, steps: Vec::new() });
    }
}

impl RunState {
    /// Filters a reissued text and emits its visible part; its reasoning is hidden markup.
    fn append_reissued_text_hiding_reasoning(
        &mut self,
        text_so_far: &str,
        filter: &mut MessageFilter,
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
            self.append_or_hold_visible_text(&visible, out);
        }
        self.finish_request = asks;
    }
}
