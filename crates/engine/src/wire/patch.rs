//! Patches as frames: the same for every view, increments only.
//!
//! An append to the last item of the page, which nearly all are, is its text and nothing else.
//! Everything else is an object that names its item by its key, `i`. `docs/PROTOCOL.md` lists them.

use std::borrow::Cow;

use serde::Deserialize;

use crate::event::{Citation, Millis};
use crate::view::blob::Shown;
use crate::view::patch::{Ask, Ended, Overlay, Resolved, Settled, Status};
use crate::view::{Item, Key, Patch, Picture, State};

use super::json::{Object, write_text};

/// Spells patches, knowing which item is last.
#[derive(Clone, Debug, Default)]
pub(super) struct PatchFrames {
    last: Key,
}

impl PatchFrames {
    pub(super) fn spell(&mut self, patch: &Patch<'_>, out: &mut String) {
        if let Patch::Append { key, text } = patch
            && *key == self.last
        {
            out.clear();
            return write_text(text, out);
        }
        let object = Object::new(out);
        match patch {
            Patch::Append { key, text } => object.value("i", key).text("t", text),
            Patch::Put { key, item } => {
                self.last = self.last.max(*key);
                object.value("i", key).value("put", item)
            }
            Patch::Next { key, at_ms, text } => {
                self.last = self.last.max(*key);
                object.text("next", text).some("at_ms", at_ms.as_ref())
            }
            Patch::Rewrite { key, kept_bytes, text } => {
                object.value("i", key).value("keep", kept_bytes).text("t", text)
            }
            Patch::Close { key, state } => object.value("i", key).value("state", state),
            Patch::Attach { key, image } => object.value("i", key).value("image", image),
            Patch::Cite { key, citation } => object.value("i", key).value("citation", citation),
            Patch::Remove { key } => object.value("i", key).value("remove", &true),
            Patch::Withdraw { keys } => object.value("withdrawn", keys),
            Patch::RoundClosed { round, from } => object.value("i", from).value("closed", round),
            Patch::Settle(settled) => {
                object.value("settled", &[settled.count as usize, settled.bytes])
            }
            Patch::Overlay(overlay) => object.value("overlay", overlay),
            Patch::Status(status) => object.value("status", status).text("label", &status.words()),
            Patch::Ask(ask) => object.value("ask", ask),
            Patch::Resolve(resolved) => object.value("resolved", resolved),
            // The page has the text as an item.
            Patch::Ended(ended) => object
                .value("ended", &Ended { content: None, ..ended.clone() })
                .some("label", ended.words().as_ref()),
        }
        .end();
    }
}

/// What a patch frame may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Payload<'a> {
    i: Option<Key>,
    t: Option<Cow<'a, str>>,
    next: Option<Cow<'a, str>>,
    at_ms: Option<Millis>,
    keep: Option<usize>,
    put: Option<Item<'a>>,
    state: Option<State>,
    image: Option<Shown<'a>>,
    citation: Option<Citation<'a>>,
    remove: Option<bool>,
    withdrawn: Option<Vec<Key>>,
    closed: Option<u32>,
    settled: Option<(u32, usize)>,
    #[serde(deserialize_with = "change")]
    overlay: Change<Overlay<'a>>,
    status: Option<Status<'a>>,
    /// Says the status or the ending in words; they follow from it.
    #[serde(rename = "label")]
    _label: Option<Cow<'a, str>>,
    ask: Option<Ask<'a>>,
    resolved: Option<Resolved<'a>>,
    ended: Option<Ended<'a>>,
}

/// Tells `null` from nothing.
#[derive(Debug, Default)]
enum Change<T> {
    #[default]
    None,
    To(T),
    Gone,
}

fn change<'de, D, T>(de: D) -> Result<Change<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(de)?.map_or(Change::Gone, Change::To))
}

/// A payload that is no patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPatch {
    pub problem: String,
}

/// Reads a patch frame's payload. `picture` is the page it is for.
pub fn decode<'a>(data: &'a str, picture: &Picture) -> Result<Patch<'a>, NoPatch> {
    let problem = |words: &str| NoPatch { problem: words.to_owned() };
    let last = picture.items.last_key();
    if data.starts_with('"') {
        let text: Cow<'a, str> =
            serde_json::from_str(data).map_err(|error| problem(&error.to_string()))?;
        let key = last.ok_or_else(|| problem("there is no item to append to"))?;
        return Ok(Patch::Append { key, text });
    }
    let payload: Payload<'a> =
        serde_json::from_str(data).map_err(|error| problem(&error.to_string()))?;
    Ok(match payload {
        Payload { put: Some(item), i: Some(key), .. } => Patch::Put { key, item },
        Payload { next: Some(text), at_ms, .. } => {
            let last = last.ok_or_else(|| problem("there is no item to go on from"))?;
            let key = Key(last.0.saturating_add(1));
            Patch::Next { key, at_ms, text }
        }
        Payload { closed: Some(round), i: Some(from), .. } => Patch::RoundClosed { round, from },
        Payload { withdrawn: Some(keys), .. } => Patch::Withdraw { keys },
        Payload { settled: Some((count, bytes)), .. } => Patch::Settle(Settled { count, bytes }),
        Payload { overlay: Change::To(overlay), .. } => Patch::Overlay(Some(overlay)),
        Payload { overlay: Change::Gone, .. } => Patch::Overlay(None),
        Payload { status: Some(status), .. } => Patch::Status(status),
        Payload { ask: Some(ask), .. } => Patch::Ask(ask),
        Payload { resolved: Some(resolved), .. } => Patch::Resolve(resolved),
        Payload { ended: Some(ended), .. } => Patch::Ended(ended),
        payload => {
            let key = payload.i.ok_or_else(|| problem("it names no item"))?;
            match payload {
                Payload { t: Some(text), keep: Some(kept_bytes), .. } => {
                    Patch::Rewrite { key, kept_bytes, text }
                }
                Payload { t: Some(text), .. } => Patch::Append { key, text },
                Payload { state: Some(state), .. } => Patch::Close { key, state },
                Payload { image: Some(image), .. } => Patch::Attach { key, image },
                Payload { citation: Some(citation), .. } => Patch::Cite { key, citation },
                Payload { remove: Some(true), .. } => Patch::Remove { key },
                _ => return Err(problem("it changes nothing")),
            }
        }
    })
}
