//! Patches: single changes to a page. Applying every patch in order yields the page; clients decide
//! nothing.

mod ask;
mod ending;
mod overlay;
mod status;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{Citation, Millis};
use crate::tool::ToolDescription;

use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemState};

pub use ask::{Ask, ResolvedAsk};
pub use ending::EndedRun;
pub(super) use ending::ending_label;
pub use overlay::{Overlay, OverlayPhase};
pub use status::{Status, ToolName, ToolPhase};

/// One change to a page.
// Not `non_exhaustive`: a client that ignored a patch would show a wrong page.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all are appends, which need no box")]
pub enum Patch<'a> {
    /// Puts an item, or replaces the one with this key.
    Put {
        /// The item.
        key: ItemKey,
        /// Its new content.
        item: Item<'a>,
    },
    /// Closes the last item and starts the next one of its kind and message with this text.
    Next {
        /// The new item.
        key: ItemKey,
        /// Start time.
        at_ms: Option<Millis>,
        /// Its first text.
        text: Cow<'a, str>,
    },
    /// Appends to the item's text.
    Append {
        /// The item.
        key: ItemKey,
        /// The new text.
        text: Cow<'a, str>,
    },
    /// Keeps the first `kept_bytes` of the item's text and appends `text`.
    Rewrite {
        /// The item.
        key: ItemKey,
        /// Bytes of its text that stay.
        kept_bytes: usize,
        /// The text after them.
        text: Cow<'a, str>,
    },
    /// Sets the item's final state; its text is complete, or as complete as it gets.
    Close {
        /// The item.
        key: ItemKey,
        /// The state.
        state: ItemState,
    },
    /// Adds its result to a tool call on the page, in the same row.
    Result {
        /// The item of the call, or of the control that it is folded under.
        key: ItemKey,
        /// Id of the call.
        call: Cow<'a, str>,
        /// The result, as an entry of its own.
        entry: Item<'a>,
    },
    /// Adds an image to the item.
    Attach {
        /// The item.
        key: ItemKey,
        /// The image.
        image: ImageRef<'a>,
    },
    /// Adds a citation to the item.
    Cite {
        /// The item.
        key: ItemKey,
        /// The citation.
        citation: Citation<'a>,
    },
    /// Sets the description of a tool call, once its result is known.
    Describe {
        /// The item.
        key: ItemKey,
        /// The description.
        description: Box<ToolDescription>,
    },
    /// Removes the item.
    Remove {
        /// The item.
        key: ItemKey,
    },
    /// Empties these items, which their source withdrew; they keep their positions.
    Withdraw {
        /// The items.
        keys: Vec<ItemKey>,
    },
    /// Marks a round as complete; its items start at `from`. Changes nothing.
    RoundClosed {
        /// Number of the round.
        round: u32,
        /// Its first item.
        from: ItemKey,
    },
    /// Marks everything before this point as final.
    Settle(Settled),
    /// Shows an overlay above the page, or hides it.
    Overlay(Option<Overlay<'a>>),
    /// Sets the status.
    Status(Status<'a>),
    /// Opens an ask.
    Ask(Ask<'a>),
    /// Closes an ask.
    Resolve(ResolvedAsk<'a>),
    /// Ends the run.
    Ended(EndedRun<'a>),
}

/// Extent of the settled part: this many items, and this many bytes of the next item's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// Items that are final.
    pub count: u32,
    /// Final bytes of the next item.
    pub bytes: usize,
}

/// Converts a text to an owned one.
fn into_owned_cow(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Patch<'_> {
    /// Converts to owned texts, so that the patch can be sent to another thread.
    #[must_use]
    pub fn into_owned(self) -> Patch<'static> {
        match self {
            Patch::Put { key, item } => Patch::Put { key, item: item.into_owned() },
            Patch::Next { key, at_ms, text } => {
                Patch::Next { key, at_ms, text: into_owned_cow(text) }
            }
            Patch::Append { key, text } => Patch::Append { key, text: into_owned_cow(text) },
            Patch::Rewrite { key, kept_bytes, text } => {
                Patch::Rewrite { key, kept_bytes, text: into_owned_cow(text) }
            }
            Patch::Close { key, state } => Patch::Close { key, state },
            Patch::Result { key, call, entry } => {
                Patch::Result { key, call: into_owned_cow(call), entry: entry.into_owned() }
            }
            Patch::Attach { key, image } => Patch::Attach { key, image: image.into_owned() },
            Patch::Cite { key, citation } => Patch::Cite { key, citation: citation.into_owned() },
            Patch::Describe { key, description } => Patch::Describe { key, description },
            Patch::Remove { key } => Patch::Remove { key },
            Patch::Withdraw { keys } => Patch::Withdraw { keys },
            Patch::RoundClosed { round, from } => Patch::RoundClosed { round, from },
            Patch::Settle(settled) => Patch::Settle(settled),
            Patch::Overlay(overlay) => Patch::Overlay(overlay.map(Overlay::into_owned)),
            Patch::Status(status) => Patch::Status(status.into_owned()),
            Patch::Ask(ask) => Patch::Ask(ask.into_owned()),
            Patch::Resolve(resolved) => Patch::Resolve(resolved.into_owned()),
            Patch::Ended(ended) => Patch::Ended(ended.into_owned()),
        }
    }
}
