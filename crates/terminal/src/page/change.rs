//! Changes of a page, by the patches that make them.

use millpond_engine::view::{ItemKey, ItemKind, Patch};

/// Kind of change that a patch made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageChange {
    /// A message of the user, which may have waited in the queue.
    PromptAdded,
    AskOpened,
    RunEnded,
    Other,
}

impl PageChange {
    pub(super) fn of_patch(patch: &Patch<'_>) -> PageChange {
        match patch {
            Patch::Put { item, .. } if item.kind == ItemKind::User => PageChange::PromptAdded,
            Patch::Ask(_) => PageChange::AskOpened,
            Patch::Ended(_) => PageChange::RunEnded,
            Patch::Put { .. }
            | Patch::Next { .. }
            | Patch::Append { .. }
            | Patch::Rewrite { .. }
            | Patch::Close { .. }
            | Patch::Result { .. }
            | Patch::Attach { .. }
            | Patch::Cite { .. }
            | Patch::Describe { .. }
            | Patch::Remove { .. }
            | Patch::Withdraw { .. }
            | Patch::RoundClosed { .. }
            | Patch::Settle(_)
            | Patch::Overlay(_)
            | Patch::Status(_)
            | Patch::Resolve(_) => PageChange::Other,
        }
    }
}

/// Returns the keys of the items whose text does not merely grow by this patch.
pub(super) fn rewritten_item_keys<'p>(patch: &'p Patch<'_>) -> &'p [ItemKey] {
    match patch {
        Patch::Rewrite { key, .. } | Patch::Put { key, .. } | Patch::Remove { key } => {
            std::slice::from_ref(key)
        }
        Patch::Withdraw { keys } => keys,
        Patch::Next { .. }
        | Patch::Append { .. }
        | Patch::Close { .. }
        | Patch::Result { .. }
        | Patch::Attach { .. }
        | Patch::Cite { .. }
        | Patch::Describe { .. }
        | Patch::RoundClosed { .. }
        | Patch::Settle(_)
        | Patch::Overlay(_)
        | Patch::Status(_)
        | Patch::Ask(_)
        | Patch::Resolve(_)
        | Patch::Ended(_) => &[],
    }
}
