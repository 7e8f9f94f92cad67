//! `bubbles`: one bubble for each message, while it streams exactly as afterwards; while tools run
//! an indicator stands after the last one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, Image, MessageId, Owner, Record};

use super::Options;
use super::base::{Base, Rest, message_id, state_at_end};
use super::blob::Shown;
use super::doing::Telling;
use super::item::{Item, Key, Kind, State, step_id};
use super::patch::Patch;

#[derive(Clone, Debug)]
pub struct Bubbles {
    base: Base,
    /// Of the run that is going, in order of appearance; one that was taken back has no key.
    by_owner: BTreeMap<Owner, Option<Key>>,
    /// The bubble whose message has not ended.
    open: Option<Key>,
}

impl Bubbles {
    pub fn new(options: Options) -> Bubbles {
        let base = Base::new(Telling::new(options));
        Bubbles { base, by_owner: BTreeMap::new(), open: None }
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::AnsweredLate => {}
            Rest::Began => {
                self.by_owner.clear();
                self.open = None;
            }
            Rest::View => self.event(record, out),
            Rest::Ending => {
                if let Some(key) = self.open.take() {
                    out(Patch::Close { key, state: state_at_end(record) });
                }
                self.base.end(record, out);
            }
        }
    }

    fn event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::TextAppended { message, text } => {
                match self.by_owner.get(&Owner::Message(*message)) {
                    Some(Some(key)) => out(Patch::Append { key: *key, text: Cow::Borrowed(text) }),
                    Some(None) => {}
                    None => self.show(*message, text, record, out),
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(key) = self.key_of(*message) {
                    let text = Cow::Borrowed(&**text);
                    out(Patch::Rewrite { key, kept_bytes: *kept_bytes, text });
                }
            }
            Event::MessageEnded { message, incomplete } => {
                if let Some(key) = self.key_of(*message)
                    && self.open == Some(key)
                {
                    self.open = None;
                    out(Patch::Close { key, state: State::of_text(*incomplete) });
                }
            }
            Event::ImageReceived { owner, image } => self.picture(*owner, image, record, out),
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.key_of(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            Event::Withdrawn { messages, steps } => {
                let known = &mut self.by_owner;
                let messages = messages.iter().copied().map(Owner::Message);
                let owners = messages.chain(steps.iter().copied().map(Owner::Step));
                let taken = owners.filter_map(|owner| known.get_mut(&owner)?.take());
                let keys: Vec<Key> = taken.collect();
                if !keys.is_empty() {
                    self.open = self.open.filter(|open| !keys.contains(open));
                    out(Patch::Withdraw { keys });
                }
            }
            _ => {}
        }
    }

    fn show<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if let Some(before) = self.open.take() {
            out(Patch::Close { key: before, state: State::Done });
        }
        let mut item = Item::new(Kind::Text, &*record.run, message_id(message));
        item.text = Cow::Borrowed(text);
        self.open = Some(self.put(Owner::Message(message), item, record, out));
    }

    fn put<'r>(
        &mut self,
        owner: Owner,
        mut item: Item<'r>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Key {
        let key = self.base.key();
        item.index = u32::try_from(self.by_owner.len()).ok();
        item.at_ms = record.at_ms;
        self.by_owner.insert(owner, Some(key));
        out(Patch::Put { key, item });
        key
    }

    /// A picture stands with its message; one that was made for the person is a bubble of its own.
    fn picture<'r>(
        &mut self,
        owner: Owner,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match owner {
            Owner::Step(step) if !self.base.makes_pictures(step) => return,
            _ if self.by_owner.contains_key(&owner) => {}
            Owner::Message(message) => self.show(message, "", record, out),
            Owner::Step(step) => {
                let mut item = Item::new(Kind::Text, &*record.run, step_id(step));
                item.state = State::Done;
                self.put(owner, item, record, out);
            }
        }
        if let Some(Some(key)) = self.by_owner.get(&owner) {
            out(Patch::Attach { key: *key, image: Shown::of(image) });
        }
    }

    fn key_of(&self, message: MessageId) -> Option<Key> {
        *self.by_owner.get(&Owner::Message(message))?
    }
}
