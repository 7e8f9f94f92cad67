//! Reasoning items of a source that updates them by id, in any order.
//!
//! Does: keep the text of each unfinished item, so that its new text goes to its own step. An item
//! whose step has ended continues in a new step. A whole text that differs from the written one
//! replaces it: the steps are withdrawn, and the text is written again.
//! Does not: keep finished items, except as fingerprints, at most [`DEDUP_ITEMS_MAX`].

use std::collections::VecDeque;

use crate::event::{ReasoningOrigin, StepId, UnrecognisedReason};
use crate::limits::{DEDUP_ITEMS_MAX, SUSPENDED_MESSAGES_BYTES_MAX, SUSPENDED_MESSAGES_MAX};
use crate::run::{Fingerprint, MessageLifetime, Writer};

use super::bounded::push_bounded;

/// Unfinished reasoning items of a source, by id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThoughtDrafts {
    lifetime: MessageLifetime,
    open: VecDeque<ThoughtDraft>,
    /// Ids and texts of finished items.
    finished: VecDeque<(Fingerprint, Fingerprint)>,
}

/// One unfinished reasoning item.
#[derive(Clone, Debug, Default, PartialEq)]
struct ThoughtDraft {
    id: Fingerprint,
    text: String,
    /// Bytes of the text that are not written yet, because they are blank.
    blank_bytes: usize,
    /// Steps that hold the text; the last one may be open.
    steps: Vec<StepId>,
}

impl Default for ThoughtDrafts {
    fn default() -> ThoughtDrafts {
        ThoughtDrafts::with_lifetime(MessageLifetime::NextStep)
    }
}

impl ThoughtDrafts {
    /// Drafts of items whose steps stay open as long as `lifetime` says, and no longer than their
    /// round.
    pub(crate) fn with_lifetime(lifetime: MessageLifetime) -> ThoughtDrafts {
        ThoughtDrafts { lifetime, open: VecDeque::new(), finished: VecDeque::new() }
    }

    /// True if an item with this id is unfinished or finished.
    pub(crate) fn has_item(&self, id: &str) -> bool {
        let id = Fingerprint::from_text(id);
        !id.is_blank()
            && (self.open.iter().any(|draft| draft.id == id) || self.is_finished_item(id))
    }

    fn is_finished_item(&self, id: Fingerprint) -> bool {
        self.finished.iter().any(|(finished, _)| *finished == id)
    }

    /// Appends new text to an item. Text without an id continues the open reasoning.
    pub(crate) fn append_text(&mut self, id: &str, text: &str, out: &mut Writer<'_>) {
        let id = Fingerprint::from_text(id);
        if id.is_blank() {
            return out.append_reasoning(text, ReasoningOrigin::Native);
        }
        if self.is_finished_item(id) {
            return out.append_unrecognised(UnrecognisedReason::Late, text);
        }
        let at = self.ensure_draft(id, out);
        self.open[at].append_text(text, self.lifetime, out);
        self.finish_oldest_beyond_limits(out);
    }

    /// Writes the new part of an item's text so far, or replaces a text that differs. An older,
    /// shorter version changes nothing. A text without an id is an item of its own.
    pub(crate) fn push_text_so_far(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        let id = Fingerprint::from_text(id);
        if id.is_blank() {
            out.close_reasoning_and_defer_end();
            return out.append_reasoning(whole, ReasoningOrigin::Native);
        }
        if self.is_finished_item(id) {
            return;
        }
        let at = self.ensure_draft(id, out);
        self.open[at].push_text_so_far(whole, self.lifetime, out);
        self.finish_oldest_beyond_limits(out);
    }

    /// Finishes an item with its whole text. A finished item that gets another whole text keeps
    /// its own; the other one is recorded as late.
    pub(crate) fn push_whole_and_finish(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        let print = Fingerprint::from_text(id);
        let finished = self.finished.iter().rev().find(|(finished, _)| *finished == print);
        if let Some((_, text)) = finished
            && !print.is_blank()
        {
            if !text.is_same_trimmed_text(&Fingerprint::from_text(whole)) {
                out.append_unrecognised(UnrecognisedReason::Late, whole);
            }
            return;
        }
        self.push_text_so_far(id, whole, out);
        match self.open.iter().position(|draft| draft.id == print) {
            Some(at) => self.finish_draft(at, out),
            None => out.close_reasoning_and_defer_end(),
        }
    }

    /// Ends the open step of an item, or the open reasoning if it has no id; text that follows is in
    /// a new step.
    pub(crate) fn end_step_of_item(&mut self, id: &str, out: &mut Writer<'_>) {
        let id = Fingerprint::from_text(id);
        match self.open.iter().find(|draft| draft.id == id) {
            Some(draft) => draft.end_step(out),
            None => out.close_reasoning_and_defer_end(),
        }
    }

    /// Ends the open steps; text that follows is in new steps.
    pub(crate) fn end_open_steps(&mut self, out: &mut Writer<'_>) {
        for draft in &self.open {
            draft.end_step(out);
        }
    }

    /// Position of the draft with this id, which is created if it is missing.
    fn ensure_draft(&mut self, id: Fingerprint, out: &mut Writer<'_>) -> usize {
        if let Some(at) = self.open.iter().rposition(|draft| draft.id == id) {
            return at;
        }
        if SUSPENDED_MESSAGES_MAX <= self.open.len() {
            self.finish_draft(0, out);
        }
        self.open.push_back(ThoughtDraft { id, ..ThoughtDraft::default() });
        self.open.len() - 1
    }

    /// Ends the step of a draft and keeps its fingerprint.
    fn finish_draft(&mut self, at: usize, out: &mut Writer<'_>) {
        let Some(draft) = self.open.remove(at) else { return };
        draft.end_step(out);
        let text = Fingerprint::from_text(&draft.text);
        push_bounded(&mut self.finished, (draft.id, text), DEDUP_ITEMS_MAX);
    }

    /// Finishes the oldest drafts while their texts are longer than the limit.
    fn finish_oldest_beyond_limits(&mut self, out: &mut Writer<'_>) {
        let bytes = |open: &VecDeque<ThoughtDraft>| -> usize {
            open.iter().map(|draft| draft.text.len()).sum()
        };
        while 1 < self.open.len() && SUSPENDED_MESSAGES_BYTES_MAX < bytes(&self.open) {
            self.finish_draft(0, out);
        }
    }
}

impl ThoughtDraft {
    /// Writes new text to the open step, or to a new one at the first text that is not blank.
    fn append_text(&mut self, text: &str, lifetime: MessageLifetime, out: &mut Writer<'_>) {
        self.text.push_str(text);
        let step = self.steps.last().filter(|step| out.is_identified_reasoning_open(**step));
        if let Some(step) = step {
            return out.append_identified_reasoning_if_open(*step, text);
        }
        self.blank_bytes += text.len();
        if text.trim_ascii().is_empty() {
            return;
        }
        let unwritten = &self.text[self.text.len() - std::mem::take(&mut self.blank_bytes)..];
        self.steps.extend(out.start_identified_reasoning(unwritten, lifetime));
    }

    /// Writes what is new in the text so far, or writes a text that differs again.
    fn push_text_so_far(&mut self, whole: &str, lifetime: MessageLifetime, out: &mut Writer<'_>) {
        if self.text.starts_with(whole) {
            return;
        }
        if let Some(rest) = whole.strip_prefix(&self.text) {
            return self.append_text(rest, lifetime, out);
        }
        out.withdraw_reasoning(&std::mem::take(&mut self.steps));
        self.text.clear();
        self.blank_bytes = 0;
        self.append_text(whole, lifetime, out);
    }

    /// Ends the open step.
    fn end_step(&self, out: &mut Writer<'_>) {
        if let Some(step) = self.steps.last() {
            out.end_identified_reasoning_if_open(*step);
        }
    }
}
