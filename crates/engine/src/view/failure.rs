//! The failure of a run as an item, which stays on the page of every view.

use crate::event::{Event, Outcome, Record};

use super::item::{ENDING_SORT, Item, ItemKind, ItemState};
use super::item_ids::ItemIds;
use super::patch::ending_label;

/// Builds the item of the failure that a `RunEnded` record reports; `None` if the run did not fail.
pub(super) fn failure_item<'r>(record: &'r Record<'_>, ids: ItemIds) -> Option<Item<'r>> {
    let Event::RunEnded { ending } = &record.event else { return None };
    if !is_failure(ending.outcome) {
        return None;
    }
    let mut item = Item::new(ItemKind::Error, &*record.run, ids.failure());
    item.at_ms = record.at_ms;
    item.state = ItemState::Done;
    item.sort = Some(ENDING_SORT.into());
    item.text = ending_label(ending.outcome, ending.stop, ending.reason, ending.detail.as_deref())?;
    Some(item)
}

/// Returns true for an outcome that is an error: not a normal end, and not the user's wish.
pub(super) fn is_failure(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => true,
        Outcome::Completed | Outcome::Cancelled => false,
    }
}
