//! Reasoning: deltas, and the whole texts that repeat them.

use std::borrow::Cow;

use crate::event::{NoticeLevel, ReasoningOrigin};
use crate::ingest::json::{RawValue, array_elements, as_string, json_object_of_strings};
use crate::run::{Fingerprint, Writer};

use super::item::{ItemKey, ItemKind};
use super::text::{ItemRef, PartFields};
use super::{ItemBody, OpenAiResponses};

/// Progress of the reasoning part being streamed; parts arrive one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ReasoningProgress {
    index: u64,
    bytes: usize,
    fingerprint: Fingerprint,
    has_warned: bool,
}

/// Relation of a whole text to the deltas before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WholeTextMatch {
    New,
    Repeat,
    /// Repeats the deltas and adds text from this byte on.
    Continues {
        from: usize,
    },
    Differs,
}

impl ReasoningProgress {
    /// Resets the progress if `index` is a later part.
    fn reset_if_later_part(&mut self, index: u64) {
        if self.index < index {
            *self = ReasoningProgress { index, ..ReasoningProgress::default() };
        }
    }

    /// Counts a delta of part `index`.
    fn add_delta(&mut self, index: u64, text: &str) {
        self.reset_if_later_part(index);
        if self.index == index {
            self.bytes += text.len();
            self.fingerprint.push(text);
        }
    }

    /// Compares the whole text of part `index` with the deltas so far.
    fn advance_and_compare_whole(&mut self, index: u64, text: &str) -> WholeTextMatch {
        self.reset_if_later_part(index);
        let from = self.bytes;
        if index < self.index || text.is_empty() || from == text.len() {
            return WholeTextMatch::Repeat;
        }
        match text.get(..from) {
            Some("") => WholeTextMatch::New,
            Some(before) if Fingerprint::from_text(before) == self.fingerprint => {
                WholeTextMatch::Continues { from }
            }
            _ => WholeTextMatch::Differs,
        }
    }

    /// Writes a warning about a length mismatch, once per part.
    fn warn_of_difference_once(&mut self, what: &str, whole: usize, out: &mut Writer<'_>) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let streamed = self.bytes;
            let text =
                format!("{what} differs: {streamed} bytes streamed, {whole} bytes in final text");
            out.append_notice(NoticeLevel::Warning, &text);
        }
    }
}

/// Reasoning.
impl OpenAiResponses {
    /// Applies a reasoning delta to its item.
    pub(super) fn apply_reasoning_delta(
        &mut self,
        key: ItemKey<'_>,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let at = self.ensure_reasoning_item(key);
        self.write_reasoning_of_part(at, origin, part, text, out);
    }

    /// Returns the progress of an item's summary or native text.
    fn find_reasoning_progress_mut(
        &mut self,
        at: usize,
        origin: ReasoningOrigin,
    ) -> Option<&mut ReasoningProgress> {
        let ItemKind::Reasoning { text, summary, .. } = &mut self.items[at].kind else {
            return None;
        };
        Some(if origin == ReasoningOrigin::Summary { summary } else { text })
    }

    /// Writes reasoning text; each part is a separate step.
    fn write_reasoning_of_part(
        &mut self,
        at: usize,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if let Some(progress) = self.find_reasoning_progress_mut(at, origin) {
            progress.add_delta(part, text);
        }
        let ItemKind::Reasoning { last, .. } = &mut self.items[at].kind else {
            return;
        };
        if last.replace((origin, part)) != Some((origin, part)) {
            out.close_reasoning_and_defer_end();
        }
        out.append_reasoning(text, origin);
    }

    /// Applies the whole text of a reasoning part to the item that `item_ref` names.
    pub(super) fn apply_whole_reasoning_unless_closed(
        &mut self,
        item_ref: ItemRef<'_>,
        origin: ReasoningOrigin,
        part: u64,
        text: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let text = text.and_then(as_string).unwrap_or_default();
        let at = match item_ref {
            ItemRef::ByKey(key) if self.is_item_closed(key) => return,
            ItemRef::ByKey(key) => self.ensure_reasoning_item(key),
            ItemRef::ByNumber(number) => self.ensure_reasoning_item_sharing_key(number),
        };
        self.write_rest_of_reasoning_or_warn(at, origin, part, &text, out);
    }

    /// Writes what a whole text adds to the deltas, or warns if it differs.
    fn write_rest_of_reasoning_or_warn(
        &mut self,
        at: usize,
        origin: ReasoningOrigin,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let thinking = matches!(self.items[at].kind, ItemKind::Reasoning { last, .. }
            if last == Some((origin, part)));
        let goes_on = thinking && at + 1 == self.items.len();
        let Some(progress) = self.find_reasoning_progress_mut(at, origin) else {
            return;
        };
        match progress.advance_and_compare_whole(part, text) {
            WholeTextMatch::New => self.write_reasoning_of_part(at, origin, part, text, out),
            WholeTextMatch::Repeat => {}
            WholeTextMatch::Continues { from } if goes_on => {
                self.write_reasoning_of_part(at, origin, part, &text[from..], out);
            }
            WholeTextMatch::Continues { .. } | WholeTextMatch::Differs => {
                progress.warn_of_difference_once("reasoning", text.len(), out);
            }
        }
    }

    /// Writes the whole parts of a reasoning item, seals it and ends its step.
    pub(super) fn complete_reasoning_item(
        &mut self,
        at: usize,
        body: &ItemBody<'_>,
        out: &mut Writer<'_>,
    ) {
        let parts =
            [(ReasoningOrigin::Summary, body.summary), (ReasoningOrigin::Native, body.content)];
        for (origin, parts) in parts {
            for (part, raw) in (0..).zip(parts.map(array_elements).unwrap_or_default()) {
                let text = parse_part_text(raw);
                self.write_rest_of_reasoning_or_warn(at, origin, part, &text, out);
            }
        }
        let is_last = at + 1 == self.items.len();
        match self.items[at].kind {
            // Its position was before content that has been written since.
            _ if !is_last => {}
            ItemKind::Reasoning { last: None, .. } => {
                out.append_redacted_reasoning();
                attach_encrypted_to_last_step(body, out);
            }
            _ => {
                attach_encrypted_to_last_step(body, out);
                out.close_reasoning_and_defer_end();
            }
        }
    }
}

/// Seals the last step with the item's encrypted content.
fn attach_encrypted_to_last_step(body: &ItemBody<'_>, out: &mut Writer<'_>) {
    if let (Some(id), Some(encrypted), Some(step)) =
        (&body.id, &body.encrypted, out.last_started_step_id())
    {
        out.append_step_seal_if_kept(step, || {
            json_object_of_strings(&[("id", id), ("encrypted_content", encrypted)])
        });
    }
}

/// Reads the `text` of a part.
fn parse_part_text(raw: &RawValue) -> Cow<'_, str> {
    PartFields::from_raw(raw).and_then(|part| part.text).and_then(as_string).unwrap_or_default()
}
