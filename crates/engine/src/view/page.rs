//! A page: the state of a view after every patch so far.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::Millis;

use super::call_result::add_result_to_call;
use super::item::{Item, ItemKey, ItemState};
use super::items::Items;
use super::patch::{Ask, EndedRun, Overlay, Patch, Settled, Status};

/// The whole state of a view. A reader that gets one needs no earlier patches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page {
    /// Items in key order.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, Item<'static>>")
    )]
    pub items: Items,
    /// Extent of the part that no longer changes.
    #[serde(default)]
    pub settled: Settled,
    /// Overlay above the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<Overlay<'static>>,
    /// Current activity of the agent.
    #[serde(default)]
    pub status: Status<'static>,
    /// Text of the status or of the ending.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Open asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask<'static>>,
    /// Ending of the last run; `None` while a run is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedRun<'static>>,
}

impl Page {
    /// Applies one patch; patches about unknown items change nothing.
    pub fn apply(&mut self, patch: &Patch<'_>) {
        match patch {
            Patch::Put { key, item } => {
                self.items.insert(*key, item.clone().into_owned());
            }
            Patch::Next { key, at_ms, text } => self.close_last_and_insert_next(*key, *at_ms, text),
            Patch::Append { key, text } => self.change_item_if_known(*key, |item| {
                item.text.to_mut().push_str(text);
            }),
            Patch::Rewrite { key, kept_bytes, text } => self.change_item_if_known(*key, |item| {
                super::truncate_and_append(item.text.to_mut(), *kept_bytes, text);
            }),
            Patch::Close { key, state } => {
                self.change_item_if_known(*key, |item| item.state = *state);
            }
            Patch::Result { key, call, entry } => {
                self.change_item_if_known(*key, |item| add_result_to_call(item, call, entry));
            }
            Patch::Attach { key, image } => self.change_item_if_known(*key, |item| {
                item.images.push(image.clone().into_owned());
            }),
            Patch::Cite { key, citation } => self.change_item_if_known(*key, |item| {
                item.citations.push(citation.clone().into_owned());
            }),
            Patch::Describe { key, description } => self.change_item_if_known(*key, |item| {
                item.description = Some(description.clone());
            }),
            Patch::Remove { key } => {
                self.items.remove(*key);
            }
            Patch::Withdraw { keys } => {
                for key in keys {
                    self.clear_item_as_withdrawn(*key);
                }
            }
            Patch::RoundClosed { .. } => {}
            Patch::Settle(settled) => self.settled = *settled,
            Patch::Overlay(overlay) => self.overlay = overlay.clone().map(Overlay::into_owned),
            Patch::Status(status) => {
                self.ended = None;
                self.status = status.clone().into_owned();
                self.label = status.label().into_owned();
            }
            Patch::Ask(ask) => self.asks.push(ask.clone().into_owned()),
            Patch::Resolve(resolved) => {
                self.asks.retain(|ask| ask.run != resolved.run || ask.id != resolved.id);
            }
            Patch::Ended(ended) => self.apply_ended(ended),
        }
    }

    /// Closes the last item and inserts the next one of its kind.
    fn close_last_and_insert_next(&mut self, key: ItemKey, at_ms: Option<Millis>, text: &str) {
        let before = self.items.last_key().and_then(|last| self.items.get_mut(last));
        if let Some(before) = before {
            before.state = ItemState::Done;
            let mut next = Item::new(before.kind, before.run.clone(), increment_id(&before.id));
            next.at_ms = at_ms;
            next.text = Cow::Owned(copy_with_sentence_capacity(text));
            self.items.insert(key, next);
        }
    }

    fn change_item_if_known(&mut self, key: ItemKey, change: impl FnOnce(&mut Item<'static>)) {
        if let Some(item) = self.items.get_mut(key) {
            change(item);
        }
    }

    /// Empties the item and marks it as withdrawn.
    fn clear_item_as_withdrawn(&mut self, key: ItemKey) {
        if let Some(item) = self.items.get_mut(key) {
            item.clear_as_withdrawn();
        }
    }

    /// Sets the run's ending, its label and the idle status.
    fn apply_ended(&mut self, ended: &EndedRun<'_>) {
        self.overlay = None;
        self.status = Status::Idle;
        self.label = ended.label().unwrap_or_default().into_owned();
        // The page has the final message as an item.
        let ended = EndedRun { content: None, ..ended.clone() };
        self.ended = Some(ended.into_owned());
    }
}

/// Increments the number at the end of an id.
fn increment_id(id: &str) -> String {
    let name = id.trim_end_matches(|end: char| end.is_ascii_digit());
    let number = id[name.len()..].parse().unwrap_or(0_u32);
    format!("{name}{}", number.saturating_add(1))
}

/// Copies `text` with spare capacity for a sentence.
fn copy_with_sentence_capacity(text: &str) -> String {
    const SENTENCE_BYTES: usize = 128;
    let mut roomy = String::with_capacity(text.len().max(SENTENCE_BYTES));
    roomy.push_str(text);
    roomy
}
