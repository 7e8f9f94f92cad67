//! Reasoning steps of a source that gives them ids: several may be open side by side.

use crate::event::{Event, ReasoningOrigin, StepId};
use crate::filter::MessageFilter;
use crate::limits::SUSPENDED_MESSAGES_MAX;

use super::open_messages::{MessageLifetime, TextInterruption};
use super::reasoning::ReasoningState;
use super::{EndedPart, EventEmitter, RunState};

/// An open reasoning step that its source updates by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdentifiedReasoning {
    step: StepId,
    lifetime: MessageLifetime,
}

impl RunState {
    /// Starts a reasoning step with its first text, beside those that are open. Returns `None` if
    /// the text is late.
    pub(super) fn start_identified_reasoning(
        &mut self,
        text: &str,
        lifetime: MessageLifetime,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) -> Option<StepId> {
        self.ensure_round_or_end_run(filter, out);
        if self.should_drop_late_text() {
            RunState::trace_late_text(text, out);
            return None;
        }
        self.release_implied_thought_for_step(filter, out);
        self.close_reasoning_and_defer_end(out);
        if SUSPENDED_MESSAGES_MAX <= self.identified_reasoning.len() {
            let oldest = self.identified_reasoning[0].step;
            self.end_identified_reasoning_if_open(oldest, out);
        }
        let step = self.emit_reasoning_start_and_mark_open(ReasoningOrigin::Native, out);
        self.reasoning_state = ReasoningState::None;
        self.identified_reasoning.push(IdentifiedReasoning { step, lifetime });
        out.emit_after_deferred_ends(Event::ReasoningAppended { step, text: text.into() });
        Some(step)
    }

    /// True if the reasoning step with an id is open.
    pub(super) fn is_identified_reasoning_open(&self, step: StepId) -> bool {
        self.identified_reasoning.iter().any(|open| open.step == step)
    }

    /// Ends a reasoning step with an id and defers its end.
    pub(super) fn end_identified_reasoning_if_open(
        &mut self,
        step: StepId,
        out: &mut EventEmitter<'_>,
    ) {
        let at = self.identified_reasoning.iter().position(|open| open.step == step);
        if let Some(at) = at {
            self.identified_reasoning.remove(at);
            out.defer_end(EndedPart::Reasoning(step));
        }
    }

    /// Ends the reasoning steps with ids that do not outlast `interruption`. None outlasts its
    /// round.
    pub(super) fn close_identified_reasoning(
        &mut self,
        interruption: TextInterruption,
        out: &mut EventEmitter<'_>,
    ) {
        let is_ended = |open: &mut IdentifiedReasoning| {
            interruption == TextInterruption::RoundEnd || !open.lifetime.outlasts(interruption)
        };
        for open in self.identified_reasoning.extract_if(.., is_ended) {
            out.defer_end(EndedPart::Reasoning(open.step));
        }
    }
}
