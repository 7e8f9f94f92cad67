//! `latest`: one status line or one streaming reply, then only the final message.
//!
//! Thinking, tools and their results never show. Text that turns out not to be final stands until
//! the next text takes its place.

use std::borrow::Cow;

use crate::event::{Event, MessageId, Owner, Record};

use super::base::{Base, Rest, message_id, state_at_end};
use super::blob::Shown;
use super::doing::{Telling, ToolNames};
use super::item::{Item, Key, Kind};
use super::patch::Patch;
use super::{Options, Thinking};

#[derive(Clone, Debug)]
pub struct Latest {
    base: Base,
    /// Where the run's text stands, once there has been some.
    key: Option<Key>,
    /// The message that stands there.
    message: Option<MessageId>,
}

impl Latest {
    pub fn new(options: Options) -> Latest {
        // Its whole has no place here; the newest of it has.
        let thinking = match options.thinking {
            Thinking::Show => Thinking::Latest,
            other => other,
        };
        let telling = Telling { tools: ToolNames::Hidden, ..Telling::new(Options { thinking }) };
        Latest { base: Base::new(telling), key: None, message: None }
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::AnsweredLate => {}
            Rest::Began => {
                self.key = None;
                self.message = None;
            }
            Rest::View => self.event(record, out),
            Rest::Ending => self.end(record, out),
        }
    }

    fn event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::TextAppended { message, text } => self.text(*message, text, record, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(key) = self.key_of(*message) {
                    let text = Cow::Borrowed(&**text);
                    out(Patch::Rewrite { key, kept_bytes: *kept_bytes, text });
                }
            }
            Event::ImageReceived { owner: Owner::Message(message), image } => {
                let key = self.show(*message, "", record, out);
                out(Patch::Attach { key, image: Shown::of(image) });
            }
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.key_of(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            Event::Withdrawn { messages, .. } => {
                if let (Some(key), Some(message)) = (self.key, self.message)
                    && messages.contains(&message)
                {
                    self.message = None;
                    out(Patch::Withdraw { keys: vec![key] });
                }
            }
            _ => {}
        }
    }

    fn key_of(&self, message: MessageId) -> Option<Key> {
        self.key.filter(|_| self.message == Some(message))
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
        self.message = Some(message);
        let mut item = Item::new(Kind::Text, &*record.run, message_id(message));
        item.at_ms = record.at_ms;
        item.text = Cow::Borrowed(text);
        out(Patch::Put { key, item });
        key
    }

    fn end<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match (self.base.reply(record), self.key) {
            (Some((message, _)), Some(key)) if self.message == Some(message) => {
                out(Patch::Close { key, state: state_at_end(record) });
            }
            (Some((message, text)), key) => {
                let mut item = Item::new(Kind::Text, &*record.run, message_id(message));
                item.at_ms = record.at_ms;
                item.text = Cow::Owned(text.to_owned());
                item.state = state_at_end(record);
                let key = key.unwrap_or_else(|| self.base.key());
                out(Patch::Put { key, item });
            }
            (None, Some(key)) => out(Patch::Remove { key }),
            (None, None) => {}
        }
        self.base.end(record, out);
    }
}
