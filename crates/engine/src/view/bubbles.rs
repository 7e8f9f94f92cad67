//! `bubbles`: one bubble per message, the same while it streams and afterwards; an indicator after
//! the last one while tools run. A bubble settles when its message has ended.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, Image, ImageOwner, MessageId, Record};
use crate::event_family;

use super::ViewOptions;
use super::common::{CommonFold, ViewTask, item_state_at_run_end};
use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemKind, ItemState};
use super::patch::Patch;
use super::status::StatusDetail;

/// Fold of one session into the `bubbles` view.
#[derive(Clone, Debug)]
pub struct Bubbles {
    base: CommonFold,
    /// Bubbles of the active run; `None` for a withdrawn one.
    keys_by_owner: BTreeMap<ImageOwner, Option<ItemKey>>,
    /// Messages that have ended; their text is settled.
    ended_messages: BTreeSet<MessageId>,
    /// Bubbles of messages that have not ended.
    open_keys: BTreeSet<ItemKey>,
}

impl Bubbles {
    /// Creates the view before any record.
    pub fn new(options: ViewOptions) -> Bubbles {
        let base = CommonFold::new(StatusDetail::new(options));
        Bubbles {
            base,
            keys_by_owner: BTreeMap::new(),
            ended_messages: BTreeSet::new(),
            open_keys: BTreeSet::new(),
        }
    }

    /// Applies one record and emits the patches it causes.
    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            ViewTask::Skip | ViewTask::ResolveLateAsk => {}
            ViewTask::ResetRun => {
                self.keys_by_owner.clear();
                self.ended_messages.clear();
                self.open_keys.clear();
            }
            ViewTask::ApplyEvent => self.apply_event(record, out),
            ViewTask::EndRun => {
                for key in std::mem::take(&mut self.open_keys) {
                    out(Patch::Close { key, state: item_state_at_run_end(record) });
                }
                self.base.settle_and_end_run(record, out);
            }
        }
        self.base.emit_settled_if_grown(out);
    }

    /// Applies an event of the active run.
    fn apply_event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::TextAppended { message, .. } | Event::TextRewritten { message, .. }
                if self.ended_messages.contains(message) => {}
            Event::TextAppended { message, text } => {
                match self.keys_by_owner.get(&ImageOwner::Message(*message)) {
                    Some(Some(key)) => out(Patch::Append { key: *key, text: Cow::Borrowed(text) }),
                    Some(None) => {}
                    None => self.start_bubble(*message, text, record, out),
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(key) = self.message_key_unless_withdrawn(*message) {
                    let text = Cow::Borrowed(&**text);
                    out(Patch::Rewrite { key, kept_bytes: *kept_bytes, text });
                }
            }
            Event::MessageEnded { message, .. } => {
                if let Some(key) = self.message_key_unless_withdrawn(*message) {
                    self.ended_messages.insert(*message);
                    self.base.allow_item_to_settle(key);
                    if self.open_keys.remove(&key) {
                        out(Patch::Close { key, state: ItemState::after_text_end(&record.event) });
                    }
                }
            }
            Event::ImageReceived { owner, image } => {
                self.attach_image_if_part_of_reply(*owner, image, record, out);
            }
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.message_key_unless_withdrawn(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            Event::Withdrawn { messages, steps } => {
                let known = &mut self.keys_by_owner;
                let messages = messages.iter().copied().map(ImageOwner::Message);
                let owners = messages.chain(steps.iter().copied().map(ImageOwner::Step));
                let taken = owners.filter_map(|owner| known.get_mut(&owner)?.take());
                let keys: Vec<ItemKey> = taken.collect();
                if !keys.is_empty() {
                    self.base.allow_items_to_settle(&keys);
                    self.open_keys.retain(|open| !keys.contains(open));
                    out(Patch::Withdraw { keys });
                }
            }
            // Only text and images are in a bubble; the shared fold shows the rest as prompts and status.
            // Named one by one, as in the other views: a new event must be thought about in each.
            Event::MessageStarted { .. }
            | Event::FinalDeclared { .. }
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

    /// Starts a bubble for this message.
    fn start_bubble<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut item = Item::new(ItemKind::Text, &*record.run, self.base.ids().message(message));
        item.text = Cow::Borrowed(text);
        let key = self.put_bubble(ImageOwner::Message(message), item, record, out);
        self.open_keys.insert(key);
    }

    /// Puts a new bubble for `owner` and returns its key.
    fn put_bubble<'r>(
        &mut self,
        owner: ImageOwner,
        mut item: Item<'r>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> ItemKey {
        let key = self.base.allocate_key();
        item.index = u32::try_from(self.keys_by_owner.len()).ok();
        item.at_ms = record.at_ms;
        self.keys_by_owner.insert(owner, Some(key));
        out(Patch::Put { key, item });
        key
    }

    /// Attaches an image to its message's bubble, which it starts if needed. A generated image gets
    /// a separate bubble; other images of steps are not shown.
    fn attach_image_if_part_of_reply<'r>(
        &mut self,
        owner: ImageOwner,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match owner {
            ImageOwner::Step(step) if !self.base.is_image_generation_step(step) => return,
            _ if self.keys_by_owner.contains_key(&owner) => {}
            ImageOwner::Message(message) => {
                self.start_bubble(message, "", record, out);
            }
            ImageOwner::Step(step) => {
                let mut item = Item::new(ItemKind::Text, &*record.run, self.base.ids().step(step));
                item.state = ItemState::Done;
                let key = self.put_bubble(owner, item, record, out);
                self.base.allow_item_to_settle(key);
            }
        }
        if let Some(Some(key)) = self.keys_by_owner.get(&owner) {
            out(Patch::Attach { key: *key, image: ImageRef::from_image(image) });
        }
    }

    /// Key of a message's bubble, unless it was withdrawn.
    fn message_key_unless_withdrawn(&self, message: MessageId) -> Option<ItemKey> {
        *self.keys_by_owner.get(&ImageOwner::Message(message))?
    }
}
