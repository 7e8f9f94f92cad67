//! Withdrawing what is open or unfinished.

use crate::event::{Event, MessageId, StepId};
use crate::run::message_state::MessageText;
use crate::run::open_messages::TextInterruption;
use crate::run::reasoning::ReasoningState;

use super::{RunState, Writer};

impl Writer<'_> {
    /// Id of the open message, if it has text.
    pub fn open_message_id(&self) -> Option<MessageId> {
        self.state.message_state.open_id()
    }

    /// Withdraws the open message, the open reasoning and the unfinished messages `others`, and
    /// ends the round. Finished parts stay.
    pub fn withdraw_unfinished_and_end_round(&mut self, others: &[MessageId]) {
        let (open, next_message) = (self.open_message_id(), self.state.message_count);
        let mut steps = Vec::new();
        if let ReasoningState::Open { step, .. } = self.state.reasoning_state {
            steps.push(step);
        }
        let next_step = self.state.step_count;
        // Held text may become a message or reasoning only now.
        let finishing = self.state.finish_state;
        let mut messages = self.close_text_and_drop_citations(0);
        self.state.finish_state = finishing;
        messages.extend(others);
        messages.extend(open);
        messages.extend((next_message..self.state.message_count).map(MessageId));
        messages.sort_unstable();
        messages.dedup();
        steps.extend((next_step..self.state.step_count).map(StepId));
        self.state.mark_messages_withdrawn(&messages);
        self.state.clear_finish_request_of_messages(&messages);
        self.state.reset_last_message_if_withdrawn();
        if !messages.is_empty() || !steps.is_empty() {
            self.emitter.emit_after_deferred_ends(Event::Withdrawn { messages, steps });
        }
        self.end_round(None);
    }

    /// Withdraws reasoning steps and ends those that are open; in this order, because the end of a
    /// step lets its text settle.
    pub(crate) fn withdraw_reasoning(&mut self, steps: &[StepId]) {
        if steps.is_empty() {
            return;
        }
        let withdrawn = Event::Withdrawn { messages: Vec::new(), steps: steps.to_vec() };
        self.emitter.emit_after_deferred_ends(withdrawn);
        for step in steps {
            self.end_identified_reasoning_if_open(*step);
        }
    }

    /// Emits the held text and closes the open reasoning and the messages from `first_message` on,
    /// before they are withdrawn. Returns the messages that were suspended.
    pub(super) fn close_text_and_drop_citations(&mut self, first_message: u32) -> Vec<MessageId> {
        self.state.end_implied_thoughts(&mut self.emitter);
        self.state.close_message_without_end_event(self.filter, &mut self.emitter);
        let suspended =
            self.state.drop_suspended_messages_from(first_message, self.filter, &mut self.emitter);
        self.state.pending_citations.clear();
        self.close_reasoning_and_defer_end();
        self.state.close_identified_reasoning(TextInterruption::RoundEnd, &mut self.emitter);
        suspended
    }
}

impl RunState {
    /// Resets the round's last message to the last one that is not withdrawn.
    pub(in crate::run) fn reset_last_message_if_withdrawn(&mut self) {
        let Some(round) = &mut self.open_round else { return };
        let is_withdrawn = |id: &MessageId| self.withdrawn_messages.contains(id);
        round.last_final_message = round.last_final_message.filter(|id| !is_withdrawn(id));
        if round.last_message.is_some_and(|last| is_withdrawn(&last.id)) {
            let mut remaining = (round.first_message..self.message_count).rev().map(MessageId);
            // Its text is not remembered.
            round.last_message = remaining.find(|id| !is_withdrawn(id)).map(MessageText::empty);
        }
    }
}
