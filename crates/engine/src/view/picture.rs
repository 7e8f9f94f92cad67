//! A page as it stands: every patch so far, applied.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::Millis;

use super::item::{Item, Key, State};
use super::items::Items;
use super::patch::{Ask, Ended, Overlay, Patch, Settled, Status};

/// The whole state of a view. A reader that gets one knows all that a reader from the start knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    pub items: Items,
    #[serde(default)]
    pub settled: Settled,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<Overlay<'static>>,
    #[serde(default)]
    pub status: Status<'static>,
    /// The status in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Those that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask<'static>>,
    /// How the last run ended; nothing while one is going.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended<'static>>,
}

impl Picture {
    pub fn apply(&mut self, patch: &Patch<'_>) {
        match patch {
            Patch::Put { key, item } => {
                self.items.insert(*key, item.clone().into_owned());
            }
            Patch::Next { key, at_ms, text } => self.next(*key, *at_ms, text),
            Patch::Append { key, text } => {
                if let Some(item) = self.items.get_mut(*key) {
                    item.text.to_mut().push_str(text);
                }
            }
            Patch::Rewrite { key, kept_bytes, text } => {
                if let Some(item) = self.items.get_mut(*key) {
                    super::rewrite(item.text.to_mut(), *kept_bytes, text);
                }
            }
            Patch::Close { key, state } => {
                if let Some(item) = self.items.get_mut(*key) {
                    item.state = *state;
                }
            }
            Patch::Attach { key, image } => {
                if let Some(item) = self.items.get_mut(*key) {
                    item.images.push(image.clone().into_owned());
                }
            }
            Patch::Cite { key, citation } => {
                if let Some(item) = self.items.get_mut(*key) {
                    item.citations.push(citation.clone().into_owned());
                }
            }
            Patch::Remove { key } => {
                self.items.remove(*key);
            }
            Patch::Withdraw { keys } => keys.iter().for_each(|key| self.withdraw(*key)),
            Patch::RoundClosed { .. } => {}
            Patch::Settle(settled) => self.settled = *settled,
            Patch::Overlay(overlay) => self.overlay = overlay.clone().map(Overlay::into_owned),
            Patch::Status(status) => {
                self.ended = None;
                self.status = status.clone().into_owned();
                self.label = status.words().into_owned();
            }
            Patch::Ask(ask) => self.asks.push(ask.clone().into_owned()),
            Patch::Resolve(resolved) => {
                self.asks.retain(|ask| ask.run != resolved.run || ask.id != resolved.id);
            }
            Patch::Ended(ended) => self.end(ended),
        }
    }

    fn next(&mut self, key: Key, at_ms: Option<Millis>, text: &str) {
        let before = self.items.last_key().and_then(|last| self.items.get_mut(last));
        if let Some(before) = before {
            before.state = State::Done;
            let mut next = Item::new(before.kind, before.run.clone(), next_id(&before.id));
            next.at_ms = at_ms;
            next.text = Cow::Owned(with_room(text));
            self.items.insert(key, next);
        }
    }

    fn withdraw(&mut self, key: Key) {
        if let Some(item) = self.items.get_mut(key) {
            item.state = State::Withdrawn;
            item.text = Cow::Borrowed("");
            item.arguments = None;
            item.result = None;
            item.label = None;
            item.steps.clear();
            item.images.clear();
            item.citations.clear();
        }
    }

    fn end(&mut self, ended: &Ended<'_>) {
        self.overlay = None;
        self.status = Status::Idle;
        self.label = ended.words().unwrap_or_default().into_owned();
        // The final message is an item of the page.
        let ended = Ended { content: None, ..ended.clone() };
        self.ended = Some(ended.into_owned());
    }
}

/// The number at the end of an id, and one more.
fn next_id(id: &str) -> String {
    let name = id.trim_end_matches(|end: char| end.is_ascii_digit());
    let number = id[name.len()..].parse().unwrap_or(0_u32);
    format!("{name}{}", number.saturating_add(1))
}

/// A text that is about to grow to a sentence.
fn with_room(text: &str) -> String {
    const SENTENCE_BYTES: usize = 128;
    let mut roomy = String::with_capacity(text.len().max(SENTENCE_BYTES));
    roomy.push_str(text);
    roomy
}
