//! `latest`: one status line or one streaming reply, then only the final message.
//!
//! Thinking, tools and their results never show. Text that turns out not to be final stands until
//! the next text takes its place.

use std::borrow::Cow;

use crate::event::{Event, Image, MessageId, Owner, Record, StepId};

use super::base::{Base, Rest, message_id, state_at_end};
use super::blob::Shown;
use super::doing::{Telling, ToolNames};
use super::item::{Item, Key, Kind, step_id};
use super::patch::Patch;
use super::{Options, Thinking};

#[derive(Clone, Debug)]
pub struct Latest {
    base: Base,
    /// Where the run's text stands, once there has been some.
    key: Option<Key>,
    standing: Standing,
    /// Made for the person in this run: they stand with the reply.
    pictures: Vec<(StepId, Shown<'static>)>,
}

/// What stands in the one place there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Nothing,
    /// A message of the round that is open.
    Message(MessageId),
    /// One of an earlier round.
    OlderMessage(MessageId),
    /// Pictures, before there is a message with them.
    Pictures,
}

impl Standing {
    fn message(self) -> Option<MessageId> {
        match self {
            Standing::Message(message) | Standing::OlderMessage(message) => Some(message),
            Standing::Nothing | Standing::Pictures => None,
        }
    }
}

impl Latest {
    pub fn new(options: Options) -> Latest {
        // Its whole has no place here; the newest of it has.
        let thinking = match options.thinking {
            Thinking::Show => Thinking::Latest,
            other => other,
        };
        let telling = Telling { tools: ToolNames::Hidden, ..Telling::new(Options { thinking }) };
        Latest {
            base: Base::new(telling),
            key: None,
            standing: Standing::Nothing,
            pictures: Vec::new(),
        }
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::AnsweredLate => {}
            Rest::Began => {
                self.key = None;
                self.standing = Standing::Nothing;
                self.pictures.clear();
            }
            Rest::View => self.event(record, out),
            Rest::Ending => self.end(record, out),
        }
    }

    fn event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::RoundStarted { .. } => {
                if let Some(message) = self.standing.message() {
                    self.standing = Standing::OlderMessage(message);
                }
            }
            Event::TextAppended { message, text } => self.text(*message, text, record, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(key) = self.key_of(*message) {
                    let text = Cow::Borrowed(&**text);
                    out(Patch::Rewrite { key, kept_bytes: *kept_bytes, text });
                }
            }
            // One for an older message comes with it, should that turn out to be final.
            Event::ImageReceived { owner: Owner::Message(message), image }
                if self.standing.message() <= Some(*message) =>
            {
                let key = self.show(*message, "", record, out);
                out(Patch::Attach { key, image: Shown::of(image) });
            }
            Event::ImageReceived { owner: Owner::Step(step), image }
                if self.base.makes_pictures(*step) =>
            {
                self.pictures.push((*step, Shown::of(image).into_owned()));
                self.show_picture(*step, image, record, out);
            }
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.key_of(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, out),
            _ => {}
        }
    }

    fn key_of(&self, message: MessageId) -> Option<Key> {
        self.key.filter(|_| self.standing.message() == Some(message))
    }

    fn text<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.key_of(message) {
            Some(key) => out(Patch::Append { key, text: Cow::Borrowed(text) }),
            None => {
                self.show(message, text, record, out);
            }
        }
    }

    /// Puts a message in the place of the one before it, unless it stands there already.
    fn show<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) -> Key {
        if let Some(key) = self.key_of(message) {
            return key;
        }
        let key = *self.key.get_or_insert_with(|| self.base.key());
        self.standing = Standing::Message(message);
        let mut item = Item::new(Kind::Text, &*record.run, message_id(message));
        item.at_ms = record.at_ms;
        item.text = Cow::Borrowed(text);
        out(Patch::Put { key, item });
        self.attach_pictures(key, out);
        key
    }

    fn attach_pictures<'r>(&self, key: Key, out: &mut impl FnMut(Patch<'r>)) {
        for (_, image) in &self.pictures {
            out(Patch::Attach { key, image: image.clone() });
        }
    }

    /// A picture stands with the message of its round, or takes the place of an older one.
    fn show_picture<'r>(
        &mut self,
        step: StepId,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let key = *self.key.get_or_insert_with(|| self.base.key());
        if let Standing::Message(_) | Standing::Pictures = self.standing {
            out(Patch::Attach { key, image: Shown::of(image) });
            return;
        }
        self.standing = Standing::Pictures;
        let mut item = Item::new(Kind::Text, &*record.run, step_id(step));
        item.at_ms = record.at_ms;
        out(Patch::Put { key, item });
        self.attach_pictures(key, out);
    }

    fn withdraw<'r>(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let before = self.pictures.len();
        self.pictures.retain(|(step, _)| !steps.contains(step));
        let lost_pictures = self.pictures.len() < before;
        let is_gone = match self.standing {
            Standing::Nothing => false,
            Standing::Pictures => lost_pictures,
            Standing::Message(message) | Standing::OlderMessage(message) => {
                messages.contains(&message)
            }
        };
        if let Some(key) = self.key.filter(|_| is_gone) {
            self.standing = Standing::Nothing;
            out(Patch::Withdraw { keys: vec![key] });
        }
    }

    fn end<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let state = state_at_end(record);
        let reply = self.base.reply(record);
        match (reply, self.key) {
            (Some(reply), Some(key)) if self.standing.message() == Some(reply.message) => {
                out(Patch::Close { key, state });
            }
            (Some(reply), key) => {
                let key = key.unwrap_or_else(|| self.base.key());
                let mut item = Item::new(Kind::Text, &*record.run, message_id(reply.message));
                item.at_ms = record.at_ms;
                item.text = Cow::Owned(reply.text);
                item.state = state;
                out(Patch::Put { key, item });
                for image in reply.images {
                    out(Patch::Attach { key, image });
                }
                for citation in reply.citations {
                    out(Patch::Cite { key, citation });
                }
                self.attach_pictures(key, out);
            }
            (None, Some(key)) => self.end_without_reply(key, record, out),
            (None, None) => {}
        }
        self.base.end(record, out);
    }

    /// Text that is no reply goes; pictures stay.
    fn end_without_reply<'r>(
        &self,
        key: Key,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.pictures.first() {
            None => out(Patch::Remove { key }),
            Some(_) if self.standing == Standing::Pictures => {
                out(Patch::Close { key, state: state_at_end(record) });
            }
            Some((step, _)) => {
                let mut item = Item::new(Kind::Text, &*record.run, step_id(*step));
                item.at_ms = record.at_ms;
                item.state = state_at_end(record);
                out(Patch::Put { key, item });
                self.attach_pictures(key, out);
            }
        }
    }
}
