//! Text parts: one for a message, and another each time the source changes what it had said.

use std::collections::BTreeMap;

use engine::event::MessageId;

use super::journal::Owner;
use super::part::{Part, Tagged};
use super::{AiSdk, Version};
use crate::compat::Out;

#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    open: Option<Open>,
    /// How often a message was begun anew, where it was.
    turns: BTreeMap<MessageId, u32>,
}

#[derive(Clone, Debug)]
struct Open {
    message: MessageId,
    /// Its part, where one is open: an emptied message has none.
    part: Option<String>,
    text: String,
    /// It changed too often: it is told when it has ended.
    is_held: bool,
}

impl Texts {
    /// Id of the newest part of a message.
    pub(super) fn id(&self, message: MessageId) -> String {
        match self.turns.get(&message) {
            None => format!("m{}", message.0),
            Some(turn) => format!("m{}.{turn}", message.0),
        }
    }

    pub(super) fn is_open(&self, message: MessageId) -> bool {
        self.open.as_ref().is_some_and(|open| open.message == message)
    }
}

impl AiSdk {
    pub(super) fn start_text(&mut self, message: MessageId, out: Out<'_>) {
        self.end_text(out);
        let id = self.texts.id(message);
        self.texts.open = Some(Open { message, part: None, text: String::new(), is_held: false });
        self.open_part(&id, out);
    }

    fn open_part(&mut self, id: &str, out: Out<'_>) {
        let Some(open) = &mut self.texts.open else { return };
        open.part = Some(id.to_owned());
        let owner = Owner::Message(open.message);
        let part = Part::TextStart { id, provider_metadata: Tagged::new(id) };
        self.begin_part(owner, &part, out);
    }

    pub(super) fn append_text(&mut self, message: MessageId, delta: &str, out: Out<'_>) {
        let Some(open) = self.texts.open.as_mut().filter(|open| open.message == message) else {
            return;
        };
        if delta.is_empty() {
            return;
        }
        open.text.push_str(delta);
        if open.is_held {
            return;
        }
        if open.part.is_none() {
            let id = self.texts.id(message);
            self.open_part(&id, out);
        }
        self.delta(delta, out);
    }

    fn delta(&mut self, delta: &str, out: Out<'_>) {
        let Some(open) = &self.texts.open else { return };
        let (Some(id), owner) = (open.part.clone(), Owner::Message(open.message)) else { return };
        self.say(Some(owner), &Part::TextDelta { id: &id, delta }, out);
    }

    pub(super) fn end_text(&mut self, out: Out<'_>) {
        if self.texts.open.as_ref().is_some_and(|open| open.is_held) {
            self.retell(out);
        }
        let Some(open) = self.texts.open.take() else { return };
        if let Some(id) = open.part {
            self.say(Some(Owner::Message(open.message)), &Part::TextEnd { id: &id }, out);
        }
    }

    pub(super) fn rewrite_text(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &str,
        out: Out<'_>,
    ) {
        let Some(open) = self.texts.open.as_mut().filter(|open| open.message == message) else {
            return;
        };
        if kept_bytes >= open.text.len() {
            return self.append_text(message, text, out);
        }
        let kept = open.text.floor_char_boundary(kept_bytes);
        open.text.truncate(kept);
        open.text.push_str(text);
        if self.may_retell() {
            self.retell(out);
        } else if let Some(open) = &mut self.texts.open {
            open.is_held = true;
        }
    }

    /// Ends the part that is no longer true and begins another with the whole of what is.
    fn retell(&mut self, out: Out<'_>) {
        let Some(open) = &mut self.texts.open else { return };
        let (message, whole, is_held) = (open.message, open.text.clone(), open.is_held);
        if let Some(id) = open.part.take() {
            if self.options.version == Version::V7 && !is_held {
                self.journal.take_back(&[Owner::Message(message)], out);
            } else {
                self.say(Some(Owner::Message(message)), &Part::TextEnd { id: &id }, out);
                self.withdrawn.push(id);
                if !is_held {
                    self.say_withdrawn(out);
                }
            }
            *self.texts.turns.entry(message).or_default() += 1;
        }
        if !whole.is_empty() {
            let id = self.texts.id(message);
            self.open_part(&id, out);
            self.delta(&whole, out);
        }
    }
}
