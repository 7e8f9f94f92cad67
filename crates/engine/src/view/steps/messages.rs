//! Texts of the agent: each message is one part, or several where steps came between.

use std::borrow::Cow;

use crate::event::{Event, Image, ImageOwner, MessageId, ReasoningOrigin, Record};
use crate::event_family;
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
                if self.open_messages.remove(message)
                    && let Some(key) = key
                {
                    out(Patch::Close { key, state: ItemState::after_text_end(&record.event) });
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
            // Not of a message. Named one by one: a new event must be thought about in each view.
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
                Some(_) if spoken.end_interruption_and_start_part(text) => {
                    self.close_previous_and_start_part(message, text, record, out);
                }
                Some(key) => {
                    spoken.add_to_message_length(text);
                    out(Patch::Append { key, text: Cow::Borrowed(text) });
                }
            },
        }
    }

    /// Closes the message's part, if it has one, and starts another; the round's first one ends its
    /// overlay.
    fn close_previous_and_start_part<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.end_overlay_if_first_text(record, out);
        if let Some(key) = self.last_part_key(message) {
            out(Patch::Close { key, state: ItemState::Done });
        }
        let key = self.base.allocate_key();
        let spoken = self.messages.entry(message).or_default();
        let id = match spoken.started_count() {
            0 => self.base.ids().message(message),
            part => self.base.ids().message_part(message, format_args!("{part}")),
        };
        spoken.track_new_part(key);
        spoken.add_to_message_length(text);
        let mut item = Item::new(ItemKind::Text, &*record.run, id);
        item.round = self.round.number;
        item.index = Some(self.round.take_next_index());
        item.at_ms = record.at_ms;
        item.text = Cow::Borrowed(text);
        self.open_messages.insert(message);
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
            out(Patch::Withdraw { keys: gone });
        }
        out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed(text) });
    }

    /// Closes the last parts of messages that have not ended.
    pub(super) fn close_open_parts<'r>(&self, state: ItemState, out: &mut impl FnMut(Patch<'r>)) {
        for key in self.open_messages.iter().filter_map(|message| self.last_part_key(*message)) {
            out(Patch::Close { key, state });
        }
    }

    /// Marks a message as interrupted by reasoning, if it is open and the newest: more text of it
    /// starts another part. One that is open across other messages keeps its place.
    pub(super) fn interrupt_message_if_open_and_newest(
        &mut self,
        message: MessageId,
        origin: ReasoningOrigin,
    ) {
        if self.open_messages.contains(&message)
            && let Some(newest) = self.messages.last_entry()
            && *newest.key() == message
        {
            newest.into_mut().mark_interrupted(origin);
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
