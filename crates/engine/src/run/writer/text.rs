//! Appending text, reasoning, citations and images.

use crate::event::{
    Citation, Event, Image, ImageOwner, MessageId, MessagePhase, ReasoningOrigin, StepId,
};
use crate::filter::Piece;
use crate::limits::ROUND_CITATIONS_MAX;
use crate::run::fingerprint::Fingerprint;
use crate::run::message_state::MessageState;
use crate::run::open_messages::TextInterruption;
use crate::run::reasoning::ReasoningState;
use crate::run::{MessageLifetime, Quirk, SealPolicy};

use super::Writer;

impl Writer<'_> {
    /// Appends text to the open message, or to a new one.
    pub fn append_text(&mut self, text: &str) {
        if self.state.quirks.contains(&Quirk::CumulativeText) {
            if self.state.cumulative.is_none() && !text.is_empty() {
                self.append_stateless_event(Event::QuirkActed {
                    quirk: Quirk::CumulativeText.as_str().into(),
                    detail: "treats each text of this message as its whole text so far".into(),
                });
            }
            return self.append_or_rewrite_cumulative_text(text);
        }
        self.state.append_text(text, self.filter, &mut self.emitter);
    }

    /// Appends the new end of the message's whole text so far; rewrites the message if it changed.
    pub fn append_or_rewrite_cumulative_text(&mut self, text: &str) {
        self.state.append_or_rewrite_cumulative_text(text, self.filter, &mut self.emitter);
    }

    /// Appends text and remembers it, for a message whose whole text may follow.
    pub fn append_and_remember_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.state.append_and_remember_text(text, self.filter, &mut self.emitter);
        }
    }

    /// Gives the open message, whose text is remembered, this whole text. Does nothing if no text
    /// is remembered.
    pub(crate) fn correct_remembered_text(&mut self, whole: &str) {
        if self.state.cumulative.is_some() {
            self.append_or_rewrite_cumulative_text(whole);
        }
    }

    /// True if `text` is the whole text of the open message so far, by
    /// [`Writer::append_and_remember_text`] or [`Writer::append_or_rewrite_cumulative_text`].
    pub fn remembered_text_equals(&self, text: &str) -> bool {
        self.state.cumulative.as_ref().is_some_and(|so_far| so_far.raw_text_equals(text))
    }

    /// Ends the open message; the next text starts a new one with this `phase`.
    pub fn close_message_and_set_next_phase(&mut self, phase: Option<MessagePhase>) {
        self.close_message_and_defer_end();
        self.state.next_message_phase = phase;
    }

    /// Ends the open message. Its end is emitted before the next event, and is incomplete if the
    /// run is interrupted first.
    pub fn close_message_and_defer_end(&mut self) {
        self.state.close_message_and_defer_end(self.filter, &mut self.emitter);
    }

    /// Ends the open message, which its source calls complete: a tag that it leaves open hides
    /// nothing of the next one.
    pub(crate) fn close_complete_message_and_defer_end(&mut self) {
        self.close_message_and_defer_end();
        *self.filter = self.filter.copy_at_message_start();
    }

    /// Ends the open message as complete, whatever follows.
    pub fn close_message_and_emit_end(&mut self) {
        self.close_message_and_defer_end();
        self.emitter.emit_deferred_ends();
    }

    /// Appends reasoning text. The open message stays open. An empty text tells that the source has
    /// a field for reasoning.
    pub fn append_reasoning(&mut self, text: &str, origin: ReasoningOrigin) {
        self.state.append_native_reasoning(text, origin, self.filter, &mut self.emitter);
    }

    /// Starts a reasoning step that its source gives an id; others stay open beside it. Returns
    /// `None` if the text is late. The step ends with its round at the latest.
    pub(crate) fn start_identified_reasoning(
        &mut self,
        text: &str,
        lifetime: MessageLifetime,
    ) -> Option<StepId> {
        self.state.start_identified_reasoning(text, lifetime, self.filter, &mut self.emitter)
    }

    /// True if the reasoning step with an id is open.
    pub(crate) fn is_identified_reasoning_open(&self, step: StepId) -> bool {
        self.state.is_identified_reasoning_open(step)
    }

    /// Appends text to an open reasoning step with an id.
    pub(crate) fn append_identified_reasoning_if_open(&mut self, step: StepId, text: &str) {
        if self.is_identified_reasoning_open(step) && !text.is_empty() {
            let text = text.into();
            self.emitter.emit_after_deferred_ends(Event::ReasoningAppended { step, text });
        }
    }

    /// Ends an open reasoning step with an id.
    pub(crate) fn end_identified_reasoning_if_open(&mut self, step: StepId) {
        self.state.end_identified_reasoning_if_open(step, &mut self.emitter);
    }

    /// Ends the open reasoning.
    pub fn close_reasoning_and_defer_end(&mut self) {
        self.state.close_reasoning_and_defer_end(&mut self.emitter);
    }

    /// Emits a reasoning step without text, for reasoning that the provider withholds.
    pub fn append_redacted_reasoning(&mut self) {
        self.close_reasoning_and_defer_end();
        self.state.declare_reasoning_field(self.filter, &mut self.emitter);
        self.ensure_round_or_end_run();
        if self.state.should_drop_late_text() {
            return;
        }
        self.state.emit_reasoning_start_and_mark_open(ReasoningOrigin::Redacted, &mut self.emitter);
        self.close_reasoning_and_defer_end();
    }

    /// Emits the provider's seal of the open reasoning step, or of a new redacted one. Does nothing
    /// under `SealPolicy::Drop`.
    pub fn append_reasoning_seal_if_kept(&mut self, seal: impl FnOnce() -> String) {
        if self.state.seal_policy == SealPolicy::Drop {
            return;
        }
        let open = match self.state.reasoning_state {
            ReasoningState::Open { step, .. } => Some(step),
            ReasoningState::None | ReasoningState::Blank { .. } => None,
        };
        if open.is_none() {
            self.append_redacted_reasoning();
        }
        let step = open.or_else(|| self.last_started_step_id());
        if let Some(step) = step {
            self.append_step_seal_if_kept(step, seal);
        }
    }

    /// Id of the step that started last.
    pub fn last_started_step_id(&self) -> Option<StepId> {
        self.state.step_count.checked_sub(1).map(StepId)
    }

    /// Emits the seal of a step. Does nothing under `SealPolicy::Drop`.
    pub fn append_step_seal_if_kept(&mut self, step: StepId, seal: impl FnOnce() -> String) {
        if self.state.seal_policy == SealPolicy::Keep {
            self.emitter.emit_after_deferred_ends(Event::StepSealed { step, seal: seal().into() });
        }
    }

    /// Adds a citation to the open message, else to the next one of this round, else to the last.
    pub fn append_or_hold_citation(&mut self, citation: Citation<'_>) {
        if let Some(message) = self.open_message_id() {
            self.emitter.emit_after_deferred_ends(Event::SourceCited { message, citation });
        } else if self.state.pending_citations.len() < ROUND_CITATIONS_MAX {
            self.state.pending_citations.push(citation.into_owned());
        }
    }

    /// Adds an image to the open message, or to a new one.
    pub fn append_message_image(&mut self, image: Image<'_>) {
        self.ensure_round_or_end_run();
        if self.state.should_drop_late_text() {
            return;
        }
        let message = self.state.ensure_open_message(&mut self.emitter);
        self.state.trace_first_text(&mut self.emitter);
        self.emitter.emit_after_deferred_ends(Event::ImageReceived {
            owner: ImageOwner::Message(message),
            image,
        });
    }

    /// Id of the open message, else of the last one in this round.
    pub fn latest_message_id_of_round(&self) -> Option<MessageId> {
        if let Some(id) = self.state.message_state.open_id() {
            Some(id)
        } else {
            let round = self.state.open_round.as_ref()?;
            round.last_message.map(|last| last.id)
        }
    }

    /// True if new text continues a message, even one that is blank or held so far.
    pub fn has_open_or_held_message(&self) -> bool {
        !matches!(self.state.message_state, MessageState::None) || 0 < self.filter.held_bytes()
    }

    /// Declares an existing message as the final one.
    pub fn declare_final_message(&mut self, message: MessageId) {
        self.state.declared_final = Some(message);
        if let Some(round) = &mut self.state.open_round {
            round.last_final_message = Some(message);
        }
        self.emitter.emit_after_deferred_ends(Event::FinalDeclared { message });
    }

    /// Declares the text of the final message. Names the last message if it has that text; else
    /// appends a new message.
    pub fn end_message_and_declare_or_append_final_text(&mut self, text: &str) {
        self.close_message_and_defer_end();
        let print = self.visible_fingerprint(text);
        if print.is_blank() {
            return;
        }
        let last = match &self.state.open_round {
            Some(round) => round.last_message,
            None => self.state.last_round_message,
        };
        let message = match last {
            Some(last) if last.has_text(&print) => last.id,
            _ => {
                self.close_message_and_set_next_phase(Some(MessagePhase::Final));
                // A tag that an earlier message left open does not hide it.
                *self.filter = self.filter.copy_at_message_start();
                self.append_text(text);
                self.close_message_and_defer_end();
                let Some(message) = self.latest_message_id_of_round() else {
                    return;
                };
                message
            }
        };
        self.state.declared_final = Some(message);
        self.emitter.emit_after_deferred_ends(Event::FinalDeclared { message });
    }

    /// Fingerprint of the visible part of a text, to compare with a message.
    fn visible_fingerprint(&self, text: &str) -> Fingerprint {
        let mut filter = self.filter.copy_reset_to_visible_text();
        let mut print = Fingerprint::default();
        let mut visible = |piece: Piece<'_>| match piece {
            Piece::Visible(text) => print.push(text),
            Piece::UnopenedThoughtEnd(_) => print = Fingerprint::default(),
            Piece::HiddenContent(..) | Piece::Markup(..) | Piece::ControlWord(..) => {}
        };
        filter.push(text, &mut visible);
        filter.end_message_keeping_open_tag(&mut visible);
        print
    }

    /// Emits held text and ends all open messages and the reasoning.
    pub(super) fn close_text_and_defer_ends(&mut self) {
        self.state.end_all_messages(self.filter, &mut self.emitter);
        self.close_reasoning_and_defer_end();
        self.state.close_identified_reasoning(TextInterruption::RoundEnd, &mut self.emitter);
    }

    /// Emits held text and ends the reasoning and the open messages, or suspends those that
    /// outlast a step.
    pub(super) fn end_or_suspend_text_for_step(&mut self) {
        self.state.end_or_suspend_messages_for_step(self.filter, &mut self.emitter);
        self.close_reasoning_and_defer_end();
        self.state.close_identified_reasoning(TextInterruption::Step, &mut self.emitter);
    }

    /// Ends or suspends the open text for a step, and starts a round if needed.
    pub(super) fn interrupt_text_and_ensure_round(&mut self) {
        self.end_or_suspend_text_for_step();
        self.ensure_round_or_end_run();
    }
}
