//! A thought that no tag opened, of a model that always begins inside one.
//!
//! Does: log the beginning of the reply as reasoning until a closing tag stands alone on its line;
//! release it as text if it was none: a reasoning field or an opening tag came, or a tool or a
//! normal end without a closing tag.
//! Does not: find tags; the filter does.

use crate::event::{Event, StepId, StopReason};
use crate::filter::{ControlMeaning, MessageFilter};
use crate::limits::IMPLIED_THOUGHT_BYTES_MAX;

use super::finish_request::{FinishRequest, TextBeforeWord};
use super::reasoning::ReasoningState;
use super::thinking_models::always_begins_in_thought;
use super::{EventEmitter, Quirk, ReportedEnd, RunState};

/// State of the thought that a reply begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum ImpliedThought {
    /// The reply does not begin with one, or it has ended.
    #[default]
    None,
    /// Text of the reply is a thought so far.
    Open(Box<ThoughtText>),
}

/// Text that counts as a thought so far, kept to be released.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ThoughtText {
    /// `None` if it is too long to be kept; it stays reasoning.
    text: Option<String>,
    steps: Vec<StepId>,
    finish_request: FinishRequest,
}

/// What decides if replies begin inside a thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThoughtStart {
    /// The name of the model.
    ModelName,
    /// The profile says so, or the source has a field for reasoning.
    Declared,
}

impl ImpliedThought {
    fn open() -> ImpliedThought {
        let text = Some(String::new());
        let finish_request = FinishRequest::None;
        ImpliedThought::Open(Box::new(ThoughtText { text, steps: Vec::new(), finish_request }))
    }
}

impl RunState {
    /// Begins a reply inside a thought if its model always does. A name that comes after the first
    /// text changes nothing: a closing tag withdraws that text.
    pub(super) fn open_implied_thought_if_model_has_one(&mut self, model: Option<&str>) {
        self.implied_thought = ImpliedThought::None;
        if self.thought_start == ThoughtStart::ModelName
            && !self.quirks.contains(&Quirk::CumulativeText)
            && model.is_some_and(always_begins_in_thought)
        {
            self.implied_thought = ImpliedThought::open();
        }
    }

    /// Appends text of the reply to its implied thought; returns false if none is open.
    pub(super) fn append_to_implied_thought(
        &mut self,
        text: &str,
        out: &mut EventEmitter<'_>,
    ) -> bool {
        let ImpliedThought::Open(thought) = &mut self.implied_thought else { return false };
        thought.finish_request.drop_tentative_if_text_follows(text);
        if let Some(kept) = &mut thought.text {
            kept.push_str(text);
            if IMPLIED_THOUGHT_BYTES_MAX < kept.len() {
                thought.text = None;
            }
        }
        self.append_tag_reasoning(text, out);
        if let (ReasoningState::Open { step, .. }, ImpliedThought::Open(thought)) =
            (&self.reasoning_state, &mut self.implied_thought)
            && thought.steps.last() != Some(step)
        {
            thought.steps.push(*step);
        }
        true
    }

    /// Applies a control word to the implied thought, in case it is released; returns false if none
    /// is open.
    pub(super) fn apply_control_word_to_implied_thought(
        &mut self,
        meaning: ControlMeaning,
    ) -> bool {
        let ImpliedThought::Open(thought) = &mut self.implied_thought else { return false };
        let before = TextBeforeWord::from_text(thought.text.as_deref().unwrap_or_default());
        thought.finish_request.apply_control_word(meaning, before);
        true
    }

    /// Ends the implied thought at its closing tag.
    pub(super) fn end_implied_thought(&mut self, out: &mut EventEmitter<'_>) {
        if let ImpliedThought::Open(_) = std::mem::take(&mut self.implied_thought) {
            self.close_reasoning_and_defer_end(out);
        }
    }

    /// Releases the implied thought as text: withdraws its reasoning and appends it to the message.
    pub(super) fn release_implied_thought(&mut self, out: &mut EventEmitter<'_>) {
        let ImpliedThought::Open(thought) = std::mem::take(&mut self.implied_thought) else {
            return;
        };
        self.close_reasoning_and_defer_end(out);
        let ThoughtText { text: Some(text), steps, finish_request } = *thought else { return };
        if !steps.is_empty() {
            let messages = Vec::new();
            out.emit_after_deferred_ends(Event::Withdrawn { messages, steps });
        }
        if !text.is_empty() {
            self.append_or_hold_visible_text(&text, out);
        }
        self.finish_request = finish_request;
    }

    /// Releases the implied thought before a tool, with all text that is held.
    pub(super) fn release_implied_thought_for_step(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        if let ImpliedThought::Open(_) = self.implied_thought {
            self.emit_held_text(filter, out);
            self.release_implied_thought(out);
        }
    }

    /// Releases the implied thought at a normal end of its round. One that was cut off stays
    /// reasoning.
    pub(super) fn release_implied_thought_at_normal_end(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        let stop = self.open_round.as_ref().and_then(|round| round.stop);
        let stop = match self.reported_end {
            ReportedEnd::Completed(reported) => stop.or(Some(reported)),
            ReportedEnd::Pending => stop,
            ReportedEnd::Failed { .. } | ReportedEnd::Cancelled { .. } => None,
        };
        if stop.is_some_and(|stop| stop != StopReason::Length) {
            self.release_implied_thought_for_step(filter, out);
        }
    }
}
