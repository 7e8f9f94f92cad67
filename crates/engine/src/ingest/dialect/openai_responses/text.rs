//! Message text: deltas, and the whole texts that repeat or correct them.

use crate::event::{Citation, MessagePhase, ReasoningOrigin, UnrecognisedReason};
use crate::ingest::json::{RawValue, array_elements, as_string, object};
use crate::run::Writer;

use super::item::{ItemKey, ItemKind, parse_phase};
use super::{ItemBody, OpenAiResponses, PendingAction};

/// Progress of the message part being streamed; parts arrive one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MessageProgress {
    part_index: u64,
    /// Start of the part in the text of its message, in bytes.
    part_start: usize,
    /// Length of the whole message so far.
    message_bytes: usize,
    cited_count: usize,
}

impl MessageProgress {
    /// Moves on to part `index` if it is a later one.
    fn advance_if_later_part(&mut self, index: u64) {
        if self.part_index < index {
            *self = MessageProgress {
                part_index: index,
                part_start: self.message_bytes,
                message_bytes: self.message_bytes,
                cited_count: 0,
            };
        }
    }

    /// Resets the citation count: the text moved to a new message, where sources are cited again.
    fn reset_citation_count(&mut self) {
        self.cited_count = 0;
    }
}

/// Reference to the item that a whole text belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ItemRef<'a> {
    ByKey(ItemKey<'a>),
    ByNumber(u32),
}

object! {
    /// Members of a content part.
    pub(super) PartFields {
        kind = "type", text, refusal, transcript, annotations,
        ; skip "logprobs" | "data" | "audio" | "parsed"
    }
}

/// Messages.
impl OpenAiResponses {
    /// Applies a text delta to its message.
    pub(super) fn apply_text_delta(
        &mut self,
        key: ItemKey<'_>,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let at = self.ensure_message_item(key);
        self.write_text(at, part, text, out);
    }

    /// Fast path: appends to the newest item if it is the current message; returns false otherwise.
    pub(super) fn try_append_to_current_message(
        &mut self,
        place: Option<u64>,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let newest = self.items.last().filter(|item| {
            place.is_some() && item.index == place && self.drafts.is_current(item.number)
        });
        let goes_on = newest.is_some_and(|item| matches!(item.kind, ItemKind::Message { .. }));
        if goes_on {
            self.write_text(self.items.len() - 1, part, text, out);
        }
        goes_on
    }

    /// Writes message text and updates the item's progress.
    fn write_text(&mut self, at: usize, part: u64, text: &str, out: &mut Writer<'_>) {
        let item = &mut self.items[at];
        let ItemKind::Message { phase, progress: spoken } = &mut item.kind else {
            return;
        };
        spoken.advance_if_later_part(part);
        spoken.message_bytes += text.len();
        let moves = self.drafts.restate_count();
        self.drafts.resume_or_restate_and_append_text(item.number, *phase, text, out);
        if moves != self.drafts.restate_count() {
            spoken.reset_citation_count();
        }
    }

    /// Applies the whole text of a part to the item that `item_ref` names.
    pub(super) fn apply_whole_text_unless_closed(
        &mut self,
        item_ref: ItemRef<'_>,
        part: u64,
        text: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let text = text.and_then(as_string).unwrap_or_default();
        let at = match item_ref {
            ItemRef::ByKey(key) if self.is_item_closed(key) => return,
            ItemRef::ByKey(key) => Some(self.ensure_message_item(key)),
            ItemRef::ByNumber(number) => self.position_by_number(number),
        };
        if let Some(at) = at {
            self.apply_whole_text_of_latest_part(at, part, &text, out);
        }
    }

    /// Replaces the text of a part with the provider's final version.
    fn apply_whole_text_of_latest_part(
        &mut self,
        at: usize,
        part: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        let item = &mut self.items[at];
        let ItemKind::Message { phase, progress: spoken } = &mut item.kind else {
            return;
        };
        spoken.advance_if_later_part(part);
        if part < spoken.part_index || text.is_empty() {
            return;
        }
        let said = self.drafts.text(item.number);
        if said.is_none() && 0 < spoken.message_bytes {
            // Its draft was dropped, so it cannot be corrected.
            return;
        }
        let before = said.and_then(|said| said.get(..spoken.part_start)).unwrap_or_default();
        let whole = format!("{before}{text}");
        let moves = self.drafts.restate_count();
        let outcome = self.drafts.apply_whole_text(item.number, *phase, &whole, out);
        spoken.message_bytes = whole.len();
        if moves != self.drafts.restate_count() {
            spoken.reset_citation_count();
        }
        outcome.warn_if_replaced(&whole, out);
    }

    /// Returns true if the item with this key is complete.
    pub(super) fn is_item_closed(&self, key: ItemKey<'_>) -> bool {
        self.find_newest_item_position(key)
            .is_some_and(|at| matches!(self.items[at].kind, ItemKind::Closed))
    }

    /// Returns true if the key names a complete item of this type.
    pub(super) fn is_closed_item_of_type(&self, key: ItemKey<'_>, of_type: &str) -> bool {
        !key.is_empty()
            && self.find_newest_item_position(key).is_some_and(|at| {
                let item = &self.items[at];
                matches!(item.kind, ItemKind::Closed) && item.matches_type_if_given(Some(of_type))
            })
    }

    /// Writes the citation of an annotation, if its message is the one being written.
    pub(super) fn write_and_count_citation_if_current_message(
        &mut self,
        key: ItemKey<'_>,
        part: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        let Some(at) = self.find_newest_item_position(key) else { return };
        let item = &mut self.items[at];
        let ItemKind::Message { progress: spoken, .. } = &mut item.kind else {
            return;
        };
        spoken.advance_if_later_part(part);
        // A source without text so far is cited with the whole part.
        if self.drafts.is_current(item.number) && out.latest_message_id_of_round().is_some() {
            spoken.cited_count += 1;
            write_citation(raw, out);
        }
    }

    /// Applies a whole part of a message or of reasoning.
    pub(super) fn apply_whole_part(
        &mut self,
        item_ref: ItemRef<'_>,
        index: u64,
        raw: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(part) = raw.and_then(PartFields::from_raw) else {
            return;
        };
        out.append_unknown_fields_once(&part.unknown);
        let PartFields { kind, text, refusal, transcript, annotations, .. } = part;
        match kind.and_then(as_string).as_deref() {
            Some("output_text" | "text") => {
                self.apply_whole_text_unless_closed(item_ref, index, text, out);
                self.write_remaining_citations_of_latest_part(item_ref, index, annotations, out);
            }
            Some("refusal") => {
                self.pending_action = PendingAction::Refusal;
                self.apply_whole_text_unless_closed(item_ref, index, refusal, out);
            }
            Some("output_audio") => {
                self.apply_whole_text_unless_closed(item_ref, index, transcript, out);
            }
            Some("reasoning_text") => {
                self.apply_whole_reasoning_unless_closed(
                    item_ref,
                    ReasoningOrigin::Native,
                    index,
                    text,
                    out,
                );
            }
            Some("summary_text") => {
                self.apply_whole_reasoning_unless_closed(
                    item_ref,
                    ReasoningOrigin::Summary,
                    index,
                    text,
                    out,
                );
            }
            _ => {
                let raw = raw.map_or("", RawValue::get);
                out.append_unrecognised(UnrecognisedReason::Frame, raw);
            }
        }
    }

    /// Cites the sources of a whole part that were not streamed.
    fn write_remaining_citations_of_latest_part(
        &mut self,
        item_ref: ItemRef<'_>,
        index: u64,
        annotations: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let at = match item_ref {
            ItemRef::ByKey(key) => self.find_newest_item_position(key),
            ItemRef::ByNumber(number) => self.position_by_number(number),
        };
        let Some(at) = at else { return };
        let ItemKind::Message { progress: part, .. } = &mut self.items[at].kind else {
            return;
        };
        if index != part.part_index {
            return;
        }
        let annotations = annotations.map(array_elements).unwrap_or_default();
        for annotation in annotations.iter().skip(part.cited_count) {
            write_citation(annotation, out);
        }
        part.cited_count = part.cited_count.max(annotations.len());
    }

    /// Writes the whole parts of a message, ends it and declares it final if its phase says so.
    pub(super) fn complete_message_item(
        &mut self,
        at: usize,
        body: &ItemBody<'_>,
        out: &mut Writer<'_>,
    ) {
        let number = self.items[at].number;
        let known = matches!(self.items[at].kind, ItemKind::Message { phase: Some(_), .. });
        let parts = body.content.map(array_elements).unwrap_or_default();
        for (part, raw) in (0..).zip(parts) {
            self.apply_whole_part(ItemRef::ByNumber(number), part, Some(raw), out);
        }
        let message = self.drafts.finish_and_merge_message(number, out);
        let is_final = parse_phase(body) == Some(MessagePhase::Final);
        if let Some(message) = message.filter(|_| is_final && !known) {
            out.declare_final_message(message);
        }
    }
}

/// Cites the source of one annotation.
fn write_citation(raw: &RawValue, out: &mut Writer<'_>) {
    object! { AnnotationFields { url, title, filename, file = "file_id"; skip _ } }
    let Some(annotation) = AnnotationFields::from_raw(raw) else {
        return;
    };
    let [url, title, filename, file] =
        [annotation.url, annotation.title, annotation.filename, annotation.file]
            .map(|member| member.and_then(as_string));
    out.append_or_hold_citation(Citation { url, title: title.or(filename).or(file), quote: None });
}
