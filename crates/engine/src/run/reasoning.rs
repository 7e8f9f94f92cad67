//! State of the open reasoning step: started at its first visible text, from a tag or a separate
//! field.

use crate::event::{Event, MarkupClass, ReasoningOrigin, StepId};
use crate::filter::MessageFilter;
use crate::limits::LEADING_BLANK_BYTES_MAX;

use super::{EndedPart, EventEmitter, RunState};

/// State of the current reasoning step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReasoningState {
    None,
    /// Announced, but empty or blank so far.
    Blank {
        origin: ReasoningOrigin,
        text: String,
    },
    Open {
        step: StepId,
        origin: ReasoningOrigin,
    },
}

impl RunState {
    /// True if the current reasoning came from a tag in the text.
    pub(super) fn is_reasoning_from_tag(&self) -> bool {
        matches!(
            self.reasoning_state,
            ReasoningState::Blank { origin: ReasoningOrigin::Tag, .. }
                | ReasoningState::Open { origin: ReasoningOrigin::Tag, .. }
        )
    }

    /// Appends reasoning text from inside a tag.
    pub(super) fn append_tag_reasoning(&mut self, text: &str, out: &mut EventEmitter<'_>) {
        if matches!(self.reasoning_state, ReasoningState::None) {
            self.reasoning_state =
                ReasoningState::Blank { origin: ReasoningOrigin::Tag, text: String::new() };
        }
        self.append_or_hold_reasoning_text(text, out);
    }

    /// Appends reasoning from a separate field or block, which may be empty. The open message stays
    /// open.
    pub(super) fn append_native_reasoning(
        &mut self,
        text: &str,
        origin: ReasoningOrigin,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        self.declare_reasoning_field(filter, out);
        if text.is_empty() {
            return;
        }
        self.ensure_round_or_end_run(filter, out);
        if self.should_drop_late_text() {
            return RunState::trace_late_text(text, out);
        }
        if matches!(self.reasoning_state, ReasoningState::None) || self.is_reasoning_from_tag() {
            self.close_reasoning_and_defer_end(out);
            self.reasoning_state = ReasoningState::Blank { origin, text: String::new() };
        }
        self.append_or_hold_reasoning_text(text, out);
    }

    /// Appends text to the current reasoning; starts its step at the first non-blank character.
    fn append_or_hold_reasoning_text(&mut self, text: &str, out: &mut EventEmitter<'_>) {
        if let ReasoningState::Blank { origin, text: blank } = &mut self.reasoning_state {
            let origin = *origin;
            let Some(first) = text.find(|char: char| !char.is_whitespace()) else {
                if blank.len() + text.len() <= LEADING_BLANK_BYTES_MAX {
                    blank.push_str(text);
                }
                return;
            };
            let blank = std::mem::take(blank);
            let step = self.emit_reasoning_start_and_mark_open(origin, out);
            // White space between a tag and its reasoning belongs to the tag.
            let (layout, text) = if origin == ReasoningOrigin::Tag {
                (blank + &text[..first], &text[first..])
            } else {
                if !blank.is_empty() {
                    out.emit_after_deferred_ends(Event::ReasoningAppended {
                        step,
                        text: blank.into(),
                    });
                }
                (String::new(), text)
            };
            if !layout.is_empty() {
                out.emit_hidden_markup(MarkupClass::Blank, &layout);
            }
            out.emit_after_deferred_ends(Event::ReasoningAppended { step, text: text.into() });
        } else if let ReasoningState::Open { step, .. } = self.reasoning_state {
            out.emit_after_deferred_ends(Event::ReasoningAppended { step, text: text.into() });
        }
    }

    /// Starts a reasoning step.
    pub(super) fn emit_reasoning_start_and_mark_open(
        &mut self,
        origin: ReasoningOrigin,
        out: &mut EventEmitter<'_>,
    ) -> StepId {
        let step = StepId(self.step_count);
        self.step_count += 1;
        if origin != ReasoningOrigin::Tag {
            self.mark_text_interrupted_by_reasoning();
        }
        out.emit_after_deferred_ends(Event::ReasoningStarted {
            step,
            round: self.current_or_last_round_number(),
            origin,
            interrupts: self.message_state.open_id(),
        });
        self.reasoning_state = ReasoningState::Open { step, origin };
        step
    }

    /// Ends the current reasoning and defers the end of its step.
    pub(super) fn close_reasoning_and_defer_end(&mut self, out: &mut EventEmitter<'_>) {
        match std::mem::replace(&mut self.reasoning_state, ReasoningState::None) {
            ReasoningState::Blank { origin: ReasoningOrigin::Tag, text } if !text.is_empty() => {
                out.emit_hidden_markup(MarkupClass::Blank, &text);
            }
            ReasoningState::None | ReasoningState::Blank { .. } => {}
            ReasoningState::Open { step, .. } => out.defer_end(EndedPart::Reasoning(step)),
        }
    }
}
