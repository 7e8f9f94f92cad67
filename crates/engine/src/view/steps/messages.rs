//! Texts of the agent: each message is one part, or several where steps came between.

use std::borrow::Cow;

use crate::event::{Event, Image, ImageOwner, MessageId, Record};
use crate::event_family;
use crate::view::common::message_item_id;
use crate::view::image_ref::ImageRef;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::Patch;

use super::Steps;
use super::message_parts::{MessageParts, PartsRewrite};

impl Steps {
    /// Applies a message event: text, rewrite, end or citation.
    pub(super) fn apply_message_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::TextAppended { message, .. } | Event::TextRewritten { message, .. }
                if self.messages.get(message).is_some_and(MessageParts::is_ended) => {}
            Event::TextAppended { message, text } => self.append_text(*message, text, record, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                match self.messages.get_mut(message) {
                    Some(spoken) => {
                        if let Some(change) = spoken.apply_rewrite_to_parts(*kept_bytes, text) {
                            self.emit_parts_rewrite(change, text, out);
                        }
                    }
                    None if !text.is_empty() => {
                        self.close_previous_and_start_part(*message, text, record, out);
                    }
                    None => {}
                }
            }
            Event::MessageEnded { message, .. } => {
                let key = self.last_part_key(*message);
                if key.is_some() && self.open_part == key {
                    self.close_open_part(ItemState::after_text_end(&record.event), out);
                }
                if let Some(parts) = self.messages.get_mut(message) {
                    parts
                        .mark_ended_and_list_keys()
                        .for_each(|key| self.base.allow_item_to_settle(key));
                }
            }
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.last_part_key(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            // Not of a message.
            Event::MessageStarted { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Appends text to the last part of its message; starts a part if a step came after that one.
    fn append_text<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.messages.get_mut(&message) {
            None => self.close_previous_and_start_part(message, text, record, out),
            Some(spoken) => match spoken.last_key() {
                None => {}
                last if last == self.interrupted_part => {
                    self.close_previous_and_start_part(message, text, record, out);
                }
                Some(key) => {
                    spoken.add_to_message_length(text);
                    out(Patch::Append { key, text: Cow::Borrowed(text) });
                }
            },
        }
    }

    /// Closes the open part and starts a text part; the round's first one ends its overlay.
    fn close_previous_and_start_part<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.end_overlay_if_first_text(out);
        self.close_open_part(ItemState::Done, out);
        let key = self.base.allocate_key();
        let spoken = self.messages.entry(message).or_default();
        let id = match spoken.part_count() {
            0 => message_item_id(message),
            part => format!("{}.{part}", message_item_id(message)),
        };
        spoken.start_part(key);
        spoken.add_to_message_length(text);
        let mut item = Item::new(ItemKind::Text, &*record.run, id);
        item.round = self.round.number;
        item.index = Some(self.round.take_next_index());
        item.at_ms = record.at_ms;
        item.text = Cow::Borrowed(text);
        self.open_part = Some(key);
        self.interrupted_part = None;
        out(Patch::Put { key, item });
    }

    /// Withdraws the parts that a rewrite removes and rewrites the part it starts in.
    fn emit_parts_rewrite<'r>(
        &mut self,
        change: PartsRewrite,
        text: &'r str,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let PartsRewrite { key, kept_bytes, removed_keys: gone } = change;
        if !gone.is_empty() {
            self.base.allow_items_to_settle(&gone);
            self.open_part = self.open_part.filter(|open| !gone.contains(open));
            out(Patch::Withdraw { keys: gone });
        }
        out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed(text) });
    }

    /// Closes the open text part.
    pub(super) fn close_open_part<'r>(
        &mut self,
        state: ItemState,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if let Some(key) = self.open_part.take() {
            out(Patch::Close { key, state });
        }
    }

    /// Key of a message's last part.
    fn last_part_key(&self, message: MessageId) -> Option<ItemKey> {
        self.messages.get(&message)?.last_key()
    }

    /// Attaches an image to its message, which it starts if needed, or to its step on the page;
    /// keeps it with a step that is open.
    pub(super) fn attach_or_store_image<'r>(
        &mut self,
        owner: ImageOwner,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let key = match owner {
            ImageOwner::Message(message) => {
                if !self.messages.contains_key(&message) {
                    self.close_previous_and_start_part(message, "", record, out);
                }
                self.last_part_key(message)
            }
            ImageOwner::Step(step) if self.open.get(step).is_some() => {
                self.open.store_step_image(step, image);
                None
            }
            ImageOwner::Step(step) => self.item_keys_of_step(step).next_back(),
        };
        if let Some(key) = key {
            out(Patch::Attach { key, image: ImageRef::from_image(image) });
        }
    }
}
