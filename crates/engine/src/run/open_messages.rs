//! Messages that are open side by side: the current one, which text is appended to, and suspended
//! ones, which their source may continue.
//!
//! Each has its own filter, so that markup in one never hides text of another.

use std::collections::VecDeque;

use crate::event::{MessageId, MessagePhase};
use crate::filter::MessageFilter;
use crate::limits::SUSPENDED_MESSAGES_MAX;

use super::cumulative::CumulativeText;
use super::finish_request::FinishRequest;
use super::implied_thought::ImpliedThought;
use super::message_state::MessageState;
use super::{EventEmitter, RunState};

/// Number of a message's place in the run, before it is known whether it has visible text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotNumber(u64);

/// Event that ends a message which its dialect does not close.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MessageLifetime {
    /// A tool, an ask, a prompt, another message or the end of its round.
    #[default]
    NextPart,
    /// A tool, an ask, a prompt or the end of its round; other messages suspend it.
    NextStep,
    /// Only the end of the run: its source says when it is complete.
    Completion,
}

/// Interruption between two texts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextInterruption {
    Message,
    /// A tool, an ask or a prompt.
    Step,
    RoundEnd,
}

impl MessageLifetime {
    /// True if the message stays open when `interruption` comes.
    pub(super) fn outlasts(self, interruption: TextInterruption) -> bool {
        match interruption {
            TextInterruption::Message => self != MessageLifetime::NextPart,
            TextInterruption::Step | TextInterruption::RoundEnd => {
                self == MessageLifetime::Completion
            }
        }
    }
}

/// The slots of a run other than the state of the current one, which `RunState` holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MessageSlots {
    current: SlotNumber,
    lifetime: MessageLifetime,
    last: SlotNumber,
    /// Boxed, because messages are exchanged often and searched for.
    suspended: VecDeque<(SlotNumber, Box<SuspendedMessage>)>,
    /// Messages of slots that were closed last.
    closed: VecDeque<(SlotNumber, MessageId)>,
}

/// State of a message while text is appended to another one.
#[derive(Clone, Debug, PartialEq)]
struct SuspendedMessage {
    filter: MessageFilter,
    lifetime: MessageLifetime,
    state: MessageState,
    cumulative: Option<CumulativeText>,
    next_phase: Option<MessagePhase>,
    finish_request: FinishRequest,
    implied_thought: ImpliedThought,
}

impl MessageSlots {
    /// Makes a new, empty slot the current one; `message` was in the one before it.
    pub(super) fn advance_to_empty_slot(&mut self, message: Option<MessageId>) {
        if let Some(message) = message {
            if SUSPENDED_MESSAGES_MAX <= self.closed.len() {
                self.closed.pop_front();
            }
            self.closed.push_back((self.current, message));
        }
        self.current = self.allocate();
        self.lifetime = MessageLifetime::NextPart;
    }

    fn allocate(&mut self) -> SlotNumber {
        self.last = SlotNumber(self.last.0 + 1);
        self.last
    }

    /// Slot of the current message.
    pub(super) fn current(&self) -> SlotNumber {
        self.current
    }

    /// True if the source gives the current message an id of its own.
    pub(super) fn is_current_identified(&self) -> bool {
        self.lifetime != MessageLifetime::NextPart
    }

    /// Sets the lifetime of the current message.
    pub(super) fn set_lifetime(&mut self, lifetime: MessageLifetime) {
        self.lifetime = lifetime;
    }

    fn position(&self, slot: SlotNumber) -> Option<usize> {
        self.suspended.iter().rposition(|(suspended, _)| *suspended == slot)
    }

    /// True if the slot is suspended.
    pub(super) fn is_suspended(&self, slot: SlotNumber) -> bool {
        self.position(slot).is_some()
    }

    /// Message of a suspended slot, or of one that was closed lately.
    pub(super) fn message_unless_current(&self, slot: SlotNumber) -> Option<MessageId> {
        if let Some(at) = self.position(slot) {
            return self.suspended[at].1.state.open_id();
        }
        self.closed.iter().rev().find(|(closed, _)| *closed == slot).map(|(_, message)| *message)
    }

    /// Suspended slots that do not outlast `interruption`, by the order of their messages.
    fn slots_ended_by(&self, interruption: TextInterruption) -> Vec<SlotNumber> {
        let ended = self.suspended.iter().filter(|(_, kept)| !kept.lifetime.outlasts(interruption));
        let mut slots: Vec<_> = ended.map(|(slot, kept)| (kept.state.open_id(), *slot)).collect();
        slots.sort_by_key(|(message, slot)| (*message, slot.0));
        slots.into_iter().map(|(_, slot)| slot).collect()
    }
}

impl RunState {
    /// Ends the current message, or suspends it if its source may continue it after
    /// `interruption`. A message that asks for the end of the run is ended by the next one, unless
    /// its source tells when it is complete. The current slot is empty afterwards.
    pub(super) fn end_or_suspend_message(
        &mut self,
        interruption: TextInterruption,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        let is_completed_by_source = self.slots.lifetime == MessageLifetime::Completion;
        if self.slots.lifetime.outlasts(interruption)
            && (is_completed_by_source || !self.would_end_of_message_request_finish(filter))
        {
            self.suspend_message(filter, out);
        } else {
            self.close_message_and_defer_end(filter, out);
        }
    }

    /// Ends or suspends the current message for a step, with all text that it holds, and ends
    /// suspended messages that do not outlast steps.
    pub(super) fn end_or_suspend_messages_for_step(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        self.release_implied_thoughts_for_step(filter, out);
        if self.slots.lifetime.outlasts(TextInterruption::Step) {
            self.emit_held_text(filter, out);
        }
        self.end_or_suspend_message(TextInterruption::Step, filter, out);
        self.end_suspended_messages(TextInterruption::Step, filter, out);
    }

    /// Ends suspended messages that do not outlast `interruption`.
    pub(super) fn end_suspended_messages(
        &mut self,
        interruption: TextInterruption,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        if self.slots.suspended.is_empty() {
            return;
        }
        for slot in self.slots.slots_ended_by(interruption) {
            self.resume_suspended_message(slot, filter);
            self.close_message_and_defer_end(filter, out);
        }
    }

    /// Releases the implied thoughts of all open messages, with all text that is held for them.
    pub(super) fn release_implied_thoughts_for_step(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        self.release_implied_thought_for_step(filter, out);
        for at in 0..self.slots.suspended.len() {
            if self.slots.suspended[at].1.implied_thought != ImpliedThought::None {
                self.exchange_with_suspended(at, filter);
                self.release_implied_thought_for_step(filter, out);
                self.exchange_with_suspended(at, filter);
            }
        }
    }

    /// Ends the implied thoughts of all open messages, which stay reasoning.
    pub(super) fn end_implied_thoughts(&mut self, out: &mut EventEmitter<'_>) {
        self.end_implied_thought(out);
        for (_, message) in &mut self.slots.suspended {
            message.implied_thought = ImpliedThought::None;
        }
    }

    /// Ends all messages that are open.
    pub(super) fn end_all_messages(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        self.close_message_and_defer_end(filter, out);
        while let Some(&(slot, _)) = self.slots.suspended.front() {
            self.resume_suspended_message(slot, filter);
            self.close_message_and_defer_end(filter, out);
        }
    }

    /// Closes the suspended messages that started at or after `first` without end events and
    /// returns their ids: they are about to be withdrawn.
    pub(super) fn drop_suspended_messages_from(
        &mut self,
        first: u32,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) -> Vec<MessageId> {
        let is_later =
            |kept: &SuspendedMessage| kept.state.open_id().is_none_or(|id| first <= id.0);
        let slots: Vec<SlotNumber> = self
            .slots
            .suspended
            .iter()
            .filter(|(_, kept)| is_later(kept))
            .map(|(slot, _)| *slot)
            .collect();
        let mut messages = Vec::new();
        for slot in slots {
            self.resume_suspended_message(slot, filter);
            messages.extend(self.close_message_without_end_event(filter, out));
        }
        messages
    }

    /// Suspends the current message and makes an empty slot the current one; ends the oldest
    /// suspended message if there are too many.
    fn suspend_message(&mut self, filter: &mut MessageFilter, out: &mut EventEmitter<'_>) {
        if self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
        }
        let slot = self.slots.allocate();
        let empty = SuspendedMessage {
            filter: filter.copy_at_message_start(),
            lifetime: MessageLifetime::NextPart,
            state: MessageState::None,
            cumulative: None,
            next_phase: None,
            finish_request: FinishRequest::None,
            implied_thought: ImpliedThought::None,
        };
        self.slots.suspended.push_back((slot, Box::new(empty)));
        self.exchange_with_suspended(self.slots.suspended.len() - 1, filter);
        if SUSPENDED_MESSAGES_MAX < self.slots.suspended.len()
            && let Some(&(oldest, _)) = self.slots.suspended.front()
        {
            self.resume_suspended_message(oldest, filter);
            self.close_message_and_defer_end(filter, out);
        }
    }

    /// Makes a suspended message the current one; the current slot, which must be empty, goes.
    fn resume_suspended_message(&mut self, slot: SlotNumber, filter: &mut MessageFilter) {
        if let Some(at) = self.slots.position(slot) {
            self.exchange_with_suspended(at, filter);
            self.slots.suspended.remove(at);
        }
    }

    /// Makes the message of `slot` the current one; the one before it is ended or suspended.
    /// Returns false if the message is not open.
    pub(super) fn resume_message(
        &mut self,
        slot: SlotNumber,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) -> bool {
        if slot == self.slots.current {
            return true;
        }
        let Some(at) = self.slots.position(slot) else { return false };
        if self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
        }
        if self.slots.lifetime.outlasts(TextInterruption::Message) {
            self.exchange_with_suspended(at, filter);
        } else {
            self.close_message_and_defer_end(filter, out);
            self.resume_suspended_message(slot, filter);
        }
        true
    }

    /// Exchanges the current message with a suspended one.
    fn exchange_with_suspended(&mut self, at: usize, filter: &mut MessageFilter) {
        use std::mem::swap;
        let (slot, other) = &mut self.slots.suspended[at];
        swap(&mut self.slots.current, slot);
        swap(&mut self.slots.lifetime, &mut other.lifetime);
        swap(filter, &mut other.filter);
        swap(&mut self.message_state, &mut other.state);
        swap(&mut self.cumulative, &mut other.cumulative);
        swap(&mut self.next_message_phase, &mut other.next_phase);
        swap(&mut self.finish_request, &mut other.finish_request);
        swap(&mut self.implied_thought, &mut other.implied_thought);
    }
}
