//! Recognition of ids, and of outputs that a source sends repeatedly.
//!
//! At most [`DEDUP_ITEMS_MAX`] ids are kept.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::event::StepId;
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
    /// Writes the new part of a running tool's output so far, or replaces it if its source changed
    /// it. An older, shorter version changes nothing.
    pub(crate) fn push_output_so_far(&mut self, step: StepId, whole: &str, out: &mut Writer<'_>) {
        let Some(known) = self.0.iter_mut().find(|output| output.step == step) else {
            if self.0.len() < OPEN_TOOLS_MAX && !whole.is_empty() {
                let print = Fingerprint::from_text(whole);
                self.0.push(KnownOutput { step, bytes: whole.len(), fingerprint: print });
                out.append_output_if_open(step, whole);
            }
            return;
        };
        if known.bytes <= whole.len() {
            known.update(whole, out);
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
        match at.map(|at| self.0.swap_remove(at)) {
            Some(mut known) => known.update(whole, out),
            None => out.append_rest_or_replace_output(step, whole),
        }
    }

    /// Drops the state of a step.
    pub(crate) fn forget_step(&mut self, step: StepId) {
        self.0.retain(|output| output.step != step);
    }
}

impl KnownOutput {
    /// Writes how `whole` differs from the known output. Output that is not the step's only one
    /// cannot be replaced: it follows.
    fn update(&mut self, whole: &str, out: &mut Writer<'_>) {
        let step = self.step;
        match self.strip_known_prefix(whole) {
            Some(rest) => out.append_output_if_open(step, rest),
            None if out.output_bytes(step) == self.bytes => {
                out.replace_output_if_changed(step, whole);
            }
            None => out.append_output_if_open(step, whole),
        }
        *self =
            KnownOutput { step, bytes: whole.len(), fingerprint: Fingerprint::from_text(whole) };
    }

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
