//! Patch frames: the same for every view, increments only.
//!
//! An append to the last item of the page, by far the most common patch, is its text alone. Every
//! other patch is an object that names its item by its key, `i`. `docs/PROTOCOL.md` lists them.

use std::borrow::Cow;

use serde::Deserialize;

use crate::event::{Citation, Millis};
use crate::tool::ToolDescription;
use crate::view::image_ref::ImageRef;
use crate::view::patch::{Ask, EndedRun, Overlay, ResolvedAsk, Settled, Status};
use crate::view::{Item, ItemKey, ItemState, Page, Patch};

use super::json::{ObjectWriter, write_string};

/// Encodes patches; tracks the last item's key.
#[derive(Clone, Debug, Default)]
pub struct PatchEncoder {
    last_key: ItemKey,
}

impl PatchEncoder {
    /// Creates an encoder of the patches that follow this page.
    pub fn after_page(page: &Page) -> PatchEncoder {
        PatchEncoder { last_key: page.items.last_key().unwrap_or_default() }
    }

    /// Encodes a patch as a frame payload, replacing the content of `out`.
    pub fn encode_next_into_cleared(&mut self, patch: &Patch<'_>, out: &mut String) {
        if let Patch::Append { key, text } = patch
            && *key == self.last_key
        {
            out.clear();
            return write_string(text, out);
        }
        let object = ObjectWriter::begin_cleared(out);
        match patch {
            Patch::Append { key, text } => object.add_serialized("i", key).add_string("t", text),
            Patch::Put { key, item } => {
                self.last_key = self.last_key.max(*key);
                object.add_serialized("i", key).add_serialized("put", item)
            }
            Patch::Next { key, at_ms, text } => {
                self.last_key = self.last_key.max(*key);
                object.add_string("next", text).add_if_some("at_ms", at_ms.as_ref())
            }
            Patch::Rewrite { key, kept_bytes, text } => object
                .add_serialized("i", key)
                .add_serialized("keep", kept_bytes)
                .add_string("t", text),
            Patch::Close { key, state } => {
                object.add_serialized("i", key).add_serialized("state", state)
            }
            Patch::Result { key, call, entry } => object
                .add_serialized("i", key)
                .add_string("call", call)
                .add_serialized("result", entry),
            Patch::Attach { key, image } => {
                object.add_serialized("i", key).add_serialized("image", image)
            }
            Patch::Cite { key, citation } => {
                object.add_serialized("i", key).add_serialized("citation", citation)
            }
            Patch::Describe { key, description } => {
                object.add_serialized("i", key).add_serialized("description", description)
            }
            Patch::Remove { key } => {
                object.add_serialized("i", key).add_serialized("remove", &true)
            }
            Patch::Withdraw { keys } => object.add_serialized("withdrawn", keys),
            Patch::RoundClosed { round, from } => {
                object.add_serialized("i", from).add_serialized("closed", round)
            }
            Patch::Settle(settled) => {
                object.add_serialized("settled", &[settled.count as usize, settled.bytes])
            }
            Patch::Overlay(overlay) => object.add_serialized("overlay", overlay),
            Patch::Status(status) => {
                object.add_serialized("status", status).add_string("label", &status.label())
            }
            Patch::Ask(ask) => object.add_serialized("ask", ask),
            Patch::Resolve(resolved) => object.add_serialized("resolved", resolved),
            // The page has the text as an item.
            Patch::Ended(ended) => object
                .add_serialized("ended", &EndedRun { content: None, ..ended.clone() })
                .add_if_some("label", ended.label().as_ref()),
        }
        .finish();
    }
}

/// All members that a patch frame may have.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(super) struct PatchPayload<'a> {
    i: Option<ItemKey>,
    t: Option<Cow<'a, str>>,
    next: Option<Cow<'a, str>>,
    at_ms: Option<Millis>,
    keep: Option<usize>,
    put: Option<Item<'a>>,
    state: Option<ItemState>,
    call: Option<Cow<'a, str>>,
    result: Option<Item<'a>>,
    image: Option<ImageRef<'a>>,
    citation: Option<Citation<'a>>,
    description: Option<Box<ToolDescription>>,
    remove: Option<bool>,
    withdrawn: Option<Vec<ItemKey>>,
    closed: Option<u32>,
    settled: Option<(u32, usize)>,
    #[serde(deserialize_with = "deserialize_null_as_cleared")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Overlay<'a>>"))]
    overlay: Change<Overlay<'a>>,
    status: Option<Status<'a>>,
    /// Text of the status or the ending; derived from it, so ignored.
    #[serde(rename = "label")]
    _label: Option<Cow<'a, str>>,
    ask: Option<Ask<'a>>,
    resolved: Option<ResolvedAsk<'a>>,
    ended: Option<EndedRun<'a>>,
}

/// An optional member that distinguishes `null` from missing.
#[derive(Debug, Default)]
enum Change<T> {
    #[default]
    Unchanged,
    Set(T),
    Cleared,
}

/// Deserializes a member whose `null` means [`Change::Cleared`].
fn deserialize_null_as_cleared<'de, D, T>(de: D) -> Result<Change<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(de)?.map_or(Change::Cleared, Change::Set))
}

/// Error of decoding a patch frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPatch {
    /// Reason for people.
    pub problem: String,
}

impl std::fmt::Display for InvalidPatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "invalid patch: {}", self.problem)
    }
}

impl std::error::Error for InvalidPatch {}

/// Decodes the payload of a patch frame; `page` is the page it applies to.
pub fn decode<'a>(data: &'a str, page: &Page) -> Result<Patch<'a>, InvalidPatch> {
    decode_with_last_key(data, page.items.last_key())
}

/// Decoder of consecutive patch frames, for a reader that does not keep the page: it keeps only the
/// keys of the page's items.
#[derive(Clone, Debug, Default)]
pub struct PatchDecoder {
    /// Sorted.
    keys: Vec<ItemKey>,
}

impl PatchDecoder {
    /// Creates a decoder of the patches that follow this page.
    pub fn after_page(page: &Page) -> PatchDecoder {
        PatchDecoder { keys: page.items.iter().map(|(key, _)| key).collect() }
    }

    /// Decodes the payload of the next patch frame and updates the keys.
    pub fn decode<'a>(&mut self, data: &'a str) -> Result<Patch<'a>, InvalidPatch> {
        let patch = decode_with_last_key(data, self.keys.last().copied())?;
        match &patch {
            Patch::Put { key, .. } | Patch::Next { key, .. } => {
                if let Err(at) = self.keys.binary_search(key) {
                    self.keys.insert(at, *key);
                }
            }
            Patch::Remove { key } => {
                if let Ok(at) = self.keys.binary_search(key) {
                    self.keys.remove(at);
                }
            }
            Patch::Append { .. }
            | Patch::Rewrite { .. }
            | Patch::Close { .. }
            | Patch::Result { .. }
            | Patch::Attach { .. }
            | Patch::Cite { .. }
            | Patch::Describe { .. }
            | Patch::Withdraw { .. }
            | Patch::RoundClosed { .. }
            | Patch::Settle(_)
            | Patch::Overlay(_)
            | Patch::Status(_)
            | Patch::Ask(_)
            | Patch::Resolve(_)
            | Patch::Ended(_) => {}
        }
        Ok(patch)
    }
}

/// Decodes the payload of a patch frame for a page whose last item is `last`.
fn decode_with_last_key(data: &str, last: Option<ItemKey>) -> Result<Patch<'_>, InvalidPatch> {
    let problem = |words: &str| InvalidPatch { problem: words.to_owned() };
    if data.starts_with('"') {
        let text: Cow<'_, str> =
            serde_json::from_str(data).map_err(|error| problem(&error.to_string()))?;
        let key = last.ok_or_else(|| problem("no item to append to"))?;
        return Ok(Patch::Append { key, text });
    }
    let payload: PatchPayload<'_> =
        serde_json::from_str(data).map_err(|error| problem(&error.to_string()))?;
    Ok(match payload {
        PatchPayload { put: Some(item), i: Some(key), .. } => Patch::Put { key, item },
        PatchPayload { next: Some(text), at_ms, .. } => {
            let last = last.ok_or_else(|| problem("no item to continue from"))?;
            let key = ItemKey(last.0.saturating_add(1));
            Patch::Next { key, at_ms, text }
        }
        PatchPayload { closed: Some(round), i: Some(from), .. } => {
            Patch::RoundClosed { round, from }
        }
        PatchPayload { withdrawn: Some(keys), .. } => Patch::Withdraw { keys },
        PatchPayload { settled: Some((count, bytes)), .. } => {
            Patch::Settle(Settled { count, bytes })
        }
        PatchPayload { overlay: Change::Set(overlay), .. } => Patch::Overlay(Some(overlay)),
        PatchPayload { overlay: Change::Cleared, .. } => Patch::Overlay(None),
        PatchPayload { status: Some(status), .. } => Patch::Status(status),
        PatchPayload { ask: Some(ask), .. } => Patch::Ask(ask),
        PatchPayload { resolved: Some(resolved), .. } => Patch::Resolve(resolved),
        PatchPayload { ended: Some(ended), .. } => Patch::Ended(ended),
        payload => {
            let key = payload.i.ok_or_else(|| problem("the patch names no item"))?;
            match payload {
                PatchPayload { t: Some(text), keep: Some(kept_bytes), .. } => {
                    Patch::Rewrite { key, kept_bytes, text }
                }
                PatchPayload { t: Some(text), .. } => Patch::Append { key, text },
                PatchPayload { state: Some(state), .. } => Patch::Close { key, state },
                PatchPayload { result: Some(entry), call: Some(call), .. } => {
                    Patch::Result { key, call, entry }
                }
                PatchPayload { image: Some(image), .. } => Patch::Attach { key, image },
                PatchPayload { citation: Some(citation), .. } => Patch::Cite { key, citation },
                PatchPayload { description: Some(description), .. } => {
                    Patch::Describe { key, description }
                }
                PatchPayload { remove: Some(true), .. } => Patch::Remove { key },
                _ => return Err(problem("the patch changes nothing")),
            }
        }
    })
}
