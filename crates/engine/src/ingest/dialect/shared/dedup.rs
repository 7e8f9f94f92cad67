//! Deduplication of items that a source sends repeatedly: as deltas, whole, or whole several times.
//!
//! Does: find the new part of an item, so that its text is written once. Closed items are kept as
//! fingerprints, at most [`DEDUP_ITEMS_MAX`].

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::event::{MessagePhase, ReasoningOrigin, StepId, UnrecognisedReason};
use crate::limits::{DEDUP_ITEMS_MAX, FOREIGN_ID_BYTES_MAX, OPEN_TOOLS_MAX};
use crate::run::{Fingerprint, Writer};

use super::bounded::push_bounded;

/// A source's id in bounded memory: a long one is kept as a fingerprint.
#[derive(Clone, Debug, PartialEq)]
enum BoundedId {
    Short(String),
    Long(Fingerprint),
}

impl BoundedId {
    /// Copies the id, or its fingerprint if it is long.
    fn new(id: &str) -> BoundedId {
        if id.len() <= FOREIGN_ID_BYTES_MAX {
            BoundedId::Short(id.to_owned())
        } else {
            BoundedId::Long(Fingerprint::from_text(id))
        }
    }

    /// True if both are the same id; an empty id matches nothing.
    fn matches(&self, id: &str) -> bool {
        match self {
            BoundedId::Short(known) => !id.is_empty() && known == id,
            BoundedId::Long(print) => {
                FOREIGN_ID_BYTES_MAX < id.len() && *print == Fingerprint::from_text(id)
            }
        }
    }
}

/// An id of bounded length: a long one is cut and ends in its fingerprint, so that two long ids
/// with a common beginning stay different.
pub(crate) fn shorten_long_id(id: &str) -> Cow<'_, str> {
    if id.len() <= FOREIGN_ID_BYTES_MAX {
        return id.into();
    }
    let print = format!("~{:016x}", Fingerprint::from_text(id).hash_with_trailing_space());
    let beginning = &id[..id.floor_char_boundary(FOREIGN_ID_BYTES_MAX - print.len())];
    format!("{beginning}{print}").into()
}

/// Deduplicates the texts, or the reasoning, of one source.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TextDedup {
    open: Option<DedupItem>,
    closed: VecDeque<(BoundedId, Fingerprint)>,
}

/// The item whose text is being written.
#[derive(Clone, Debug, PartialEq)]
struct DedupItem {
    id: BoundedId,
    text: String,
    /// Text that it wrote to an earlier, closed message.
    closed_part: Option<Fingerprint>,
}

impl DedupItem {
    /// Fingerprint of all its text.
    fn fingerprint(&self) -> Fingerprint {
        let mut print = self.closed_part.unwrap_or_default();
        print.push(&self.text);
        print
    }
}

/// Difference between an item's whole text and the text written for it.
enum TextChange<'a> {
    /// The item is new.
    New,
    /// Equal to the written text, or a prefix of it.
    Unchanged,
    Appended(&'a str),
    /// The text changed; holds the old text.
    Changed(String),
    /// The text changed after the item was closed.
    ChangedAfterClose,
}

/// Message texts.
impl TextDedup {
    /// Writes new text of a message.
    pub(crate) fn record_and_write_text_delta(
        &mut self,
        id: &str,
        delta: &str,
        out: &mut Writer<'_>,
    ) {
        self.record_and_write_phased_delta(id, None, delta, out);
    }

    /// Writes new text of a message with a phase.
    fn record_and_write_phased_delta(
        &mut self,
        id: &str,
        phase: Option<MessagePhase>,
        delta: &str,
        out: &mut Writer<'_>,
    ) {
        if self.switch_open_item(id) {
            out.close_message_and_set_next_phase(phase);
        }
        self.record_text_in_open_item(delta);
        out.append_and_remember_text(delta);
    }

    /// Writes the new part of a message's text so far.
    pub(crate) fn push_whole_text(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        self.push_whole_phased_text(id, None, whole, out);
    }

    /// Writes the new part of a message's text so far, with a phase.
    pub(crate) fn push_whole_phased_text(
        &mut self,
        id: &str,
        phase: Option<MessagePhase>,
        whole: &str,
        out: &mut Writer<'_>,
    ) {
        match self.compare_and_update_open_item(id, whole) {
            TextChange::New => self.record_and_write_phased_delta(id, phase, whole, out),
            TextChange::Unchanged => {}
            TextChange::Appended(rest) => out.append_and_remember_text(rest),
            TextChange::Changed(said) if out.remembered_text_equals(&said) => {
                out.append_or_rewrite_cumulative_text(whole);
            }
            TextChange::Changed(_) | TextChange::ChangedAfterClose => {
                out.append_unrecognised(UnrecognisedReason::Late, whole);
            }
        }
    }
}

/// Reasoning, and texts that the caller writes.
impl TextDedup {
    /// Writes new reasoning.
    pub(crate) fn record_and_write_thought_delta(
        &mut self,
        id: &str,
        delta: &str,
        out: &mut Writer<'_>,
    ) {
        if self.switch_open_item(id) {
            out.close_reasoning_and_defer_end();
        }
        self.record_text_in_open_item(delta);
        out.append_reasoning(delta, ReasoningOrigin::Native);
    }

    /// Writes the new part of the reasoning so far.
    pub(crate) fn push_whole_thought(&mut self, id: &str, whole: &str, out: &mut Writer<'_>) {
        match self.compare_and_update_open_item(id, whole) {
            TextChange::New => self.record_and_write_thought_delta(id, whole, out),
            TextChange::Unchanged => {}
            TextChange::Appended(rest) => out.append_reasoning(rest, ReasoningOrigin::Native),
            TextChange::Changed(_) => {
                // Reasoning is never rewritten: the new text is a new reasoning step.
                out.close_reasoning_and_defer_end();
                out.append_reasoning(whole, ReasoningOrigin::Native);
            }
            TextChange::ChangedAfterClose => {
                out.append_unrecognised(UnrecognisedReason::Late, whole);
            }
        }
    }

    /// Records an item's text so far and returns its new part, for the caller to write; empty if
    /// the text changed otherwise.
    pub(crate) fn record_whole_returning_new<'a>(&mut self, id: &str, whole: &'a str) -> &'a str {
        match self.compare_and_update_open_item(id, whole) {
            TextChange::New => {
                self.switch_open_item(id);
                self.record_text_in_open_item(whole);
                whole
            }
            TextChange::Appended(rest) => rest,
            TextChange::Unchanged | TextChange::Changed(_) | TextChange::ChangedAfterClose => "",
        }
    }

    /// Records new text of a known item; returns false if the item is unknown.
    pub(crate) fn record_delta_if_known(&mut self, id: &str, delta: &str) -> bool {
        let known = self.has_item(id);
        if known {
            self.switch_open_item(id);
            self.record_text_in_open_item(delta);
        }
        known
    }
}

/// Item state.
impl TextDedup {
    /// True if an item with this id is open or closed.
    pub(crate) fn has_item(&self, id: &str) -> bool {
        self.open.as_ref().is_some_and(|item| item.id.matches(id))
            || self.closed.iter().any(|(past, _)| past.matches(id))
    }

    /// Closes the open item and opens this one; returns false if it is open already.
    fn switch_open_item(&mut self, id: &str) -> bool {
        if self.open.as_ref().is_some_and(|item| item.id.matches(id)) {
            return false;
        }
        self.close_open_item();
        let past = self.closed.iter().position(|(past, _)| past.matches(id));
        let past = past.and_then(|at| self.closed.remove(at));
        let before = past.map(|(_, print)| print);
        self.open =
            Some(DedupItem { id: BoundedId::new(id), text: String::new(), closed_part: before });
        true
    }

    /// Closes the open item and keeps its fingerprint.
    fn close_open_item(&mut self) {
        let Some(item) = self.open.take() else { return };
        let print = item.fingerprint();
        push_bounded(&mut self.closed, (item.id, print), DEDUP_ITEMS_MAX);
    }

    /// Appends to the open item's recorded text.
    fn record_text_in_open_item(&mut self, text: &str) {
        if let Some(item) = &mut self.open {
            item.text.push_str(text);
        }
    }

    /// Compares a whole text with the recorded one and records it.
    fn compare_and_update_open_item<'a>(&mut self, id: &str, whole: &'a str) -> TextChange<'a> {
        let known = |print: Fingerprint| {
            let same = print.is_same_trimmed_text(&Fingerprint::from_text(whole));
            if same { TextChange::Unchanged } else { TextChange::ChangedAfterClose }
        };
        let Some(item) = self.open.as_mut().filter(|item| item.id.matches(id)) else {
            let past = self.closed.iter().rev().find(|(past, _)| past.matches(id));
            return past.map_or(TextChange::New, |&(_, print)| known(print));
        };
        if item.closed_part.is_some() {
            return known(item.fingerprint());
        }
        // A prefix of the written text is an older version.
        if item.text.starts_with(whole) {
            return TextChange::Unchanged;
        }
        if let Some(rest) = whole.strip_prefix(item.text.as_str()) {
            item.text.push_str(rest);
            return TextChange::Appended(rest);
        }
        TextChange::Changed(std::mem::replace(&mut item.text, whole.to_owned()))
    }
}

/// Bounded set of recent ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RecentIds(VecDeque<BoundedId>);

impl RecentIds {
    /// True if the id is in the set; an empty id never is.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.0.iter().rev().any(|recent| recent.matches(id))
    }

    /// Inserts the id; returns true if it is new. An empty id always is.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        if self.contains(id) {
            return false;
        }
        if id.is_empty() {
            return true;
        }
        push_bounded(&mut self.0, BoundedId::new(id), DEDUP_ITEMS_MAX);
        true
    }
}

/// Deduplicates the output of running tools from a source that repeats it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OutputDedup(Vec<KnownOutput>);

/// Output already written for one step.
#[derive(Clone, Debug, PartialEq)]
struct KnownOutput {
    step: StepId,
    bytes: usize,
    fingerprint: Fingerprint,
}

impl OutputDedup {
    /// Writes the new part of a running tool's output so far.
    pub(crate) fn push_output_so_far_if_continued(
        &mut self,
        step: StepId,
        whole: &str,
        out: &mut Writer<'_>,
    ) {
        let Some(known) = self.0.iter_mut().find(|output| output.step == step) else {
            if self.0.len() < OPEN_TOOLS_MAX && !whole.is_empty() {
                let print = Fingerprint::from_text(whole);
                self.0.push(KnownOutput { step, bytes: whole.len(), fingerprint: print });
                out.append_output_if_open(step, whole);
            }
            return;
        };
        // Output that does not extend the known one waits for the final output.
        if let Some(rest) = known.strip_known_prefix(whole) {
            *known = KnownOutput {
                step,
                bytes: whole.len(),
                fingerprint: Fingerprint::from_text(whole),
            };
            out.append_output_if_open(step, rest);
        }
    }

    /// Writes the new part of a finished tool's output and forgets the step.
    pub(crate) fn push_final_output_and_forget(
        &mut self,
        step: StepId,
        whole: &str,
        out: &mut Writer<'_>,
    ) {
        let at = self.0.iter().position(|output| output.step == step);
        let Some(known) = at.map(|at| self.0.swap_remove(at)) else {
            out.append_output_if_none(step, whole);
            return;
        };
        out.append_output_if_open(step, known.strip_known_prefix(whole).unwrap_or(whole));
    }

    /// Drops the state of a step.
    pub(crate) fn forget_step(&mut self, step: StepId) {
        self.0.retain(|output| output.step != step);
    }
}

impl KnownOutput {
    /// Part of `whole` after the known output; `None` if it does not start with it.
    fn strip_known_prefix<'a>(&self, whole: &'a str) -> Option<&'a str> {
        let (before, rest) = whole.split_at_checked(self.bytes)?;
        Fingerprint::from_text(before).is_same_trimmed_text(&self.fingerprint).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_with_a_common_beginning_stay_different() {
        let at_limit = "é".repeat(FOREIGN_ID_BYTES_MAX / 2);
        assert_eq!(shorten_long_id(&at_limit), at_limit);
        let (one, other) = (format!("{at_limit}1"), format!("{at_limit}2"));
        assert_ne!(shorten_long_id(&one), shorten_long_id(&other));
        assert_eq!(shorten_long_id(&one), shorten_long_id(&one));
        for id in [one, other, "x".repeat(1 << 20)] {
            assert!(shorten_long_id(&id).len() <= FOREIGN_ID_BYTES_MAX);
        }
    }
}
