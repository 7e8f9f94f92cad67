//! A thought that no tag opened, of a model that always begins inside one.
//!
//! Does: log the beginning of the reply as reasoning until a closing tag stands alone on its line;
//! release it as text if it was none: a reasoning field or an opening tag came, or a tool, a normal
//! end or the end of its message without a closing tag. It belongs to its message: others that are
//! open beside it have none.
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
    /// The profile, or the source, which has a field for reasoning.
    Declared,
}

impl ImpliedThought {
    fn open() -> ImpliedThought {
        ImpliedThought::Open(Box::new(ThoughtText::empty()))
    }
}

impl ThoughtText {
    fn empty() -> ThoughtText {
        let finish_request = FinishRequest::None;
        ThoughtText { text: Some(String::new()), steps: Vec::new(), finish_request }
    }

    /// True if nothing but white space came, and no control word.
    fn is_blank(&self) -> bool {
        let is_text_blank = self.text.as_deref().is_some_and(|text| text.trim().is_empty());
        is_text_blank && self.finish_request == FinishRequest::None
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

    /// Notes that the source has a field for reasoning: no reply begins inside a thought, and what
    /// counted as one is text.
    pub(super) fn declare_reasoning_field(
        &mut self,
        filter: &mut MessageFilter,
        out: &mut EventEmitter<'_>,
    ) {
        if self.thought_start == ThoughtStart::ModelName {
            self.thought_start = ThoughtStart::Declared;
            self.release_implied_thoughts_for_step(filter, out);
        }
    }

    /// Ends the implied thought, which stays reasoning.
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
        withdraw_steps_unless_none(steps, out);
        if !text.is_empty() {
            self.append_or_hold_visible_text(&text, out);
        }
        self.finish_request = finish_request;
    }

    /// Begins the implied thought again: its source rewrites the text from the start.
    pub(super) fn restart_implied_thought(&mut self, out: &mut EventEmitter<'_>) {
        if let ImpliedThought::Open(thought) = std::mem::take(&mut self.implied_thought) {
            self.close_reasoning_and_defer_end(out);
            withdraw_steps_unless_none(thought.steps, out);
            self.implied_thought = ImpliedThought::open();
        }
    }

    /// Ends the implied thought with its message: as text, or as reasoning if the message was cut
    /// off.
    pub(super) fn end_or_release_implied_thought_with_message(
        &mut self,
        out: &mut EventEmitter<'_>,
    ) {
        if let ImpliedThought::Open(thought) = &mut self.implied_thought
            && thought.is_blank()
        {
            // There was no message: the next one begins the reply.
            **thought = ThoughtText::empty();
            return;
        }
        let stop = self.open_round.as_ref().and_then(|round| round.stop);
        if out.deferred_ends.incomplete || stop == Some(StopReason::Length) {
            self.end_implied_thought(out);
        } else {
            self.release_implied_thought(out);
        }
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

    /// Ends the implied thoughts of all open messages with their round: as text at a normal end,
    /// else as reasoning.
    pub(super) fn end_or_release_implied_thoughts_with_round(
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
            self.release_implied_thoughts_for_step(filter, out);
        } else {
            self.end_implied_thoughts(out);
        }
    }
}

/// Withdraws the steps of what was no thought.
fn withdraw_steps_unless_none(steps: Vec<StepId>, out: &mut EventEmitter<'_>) {
    if !steps.is_empty() {
        out.emit_after_deferred_ends(Event::Withdrawn { messages: Vec::new(), steps });
    }
}
