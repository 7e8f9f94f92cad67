//! Results that arrive outside the round of their call: added to the call's row, or, without a call
//! on the page, an entry.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::StepId;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::Patch;

use super::Steps;
use super::open_steps::StepPlacement;

/// Calls on the page whose results come after their round.
#[derive(Clone, Debug, Default)]
pub(super) struct AwaitedResults {
    /// Rows of calls that wait or have waited.
    rows: BTreeMap<StepId, ItemKey>,
    /// Number of calls that wait, by row.
    waiting: BTreeMap<ItemKey, usize>,
}

impl AwaitedResults {
    /// Counts a result as arrived, or as no longer expected; returns true if it was the row's last.
    fn release(&mut self, row: ItemKey) -> bool {
        let Some(count) = self.waiting.get_mut(&row) else { return false };
        *count -= 1;
        *count == 0 && self.waiting.remove(&row).is_some()
    }
}

impl Steps {
    /// Keeps the row from settling if the step waits for its result.
    pub(super) fn await_result_if_open(&mut self, step: StepId, row: ItemKey) {
        if self.open.get(step).is_some() {
            self.awaited.rows.insert(step, row);
            *self.awaited.waiting.entry(row).or_default() += 1;
        }
    }

    /// Lets a row settle unless a call in it waits for its result.
    pub(super) fn allow_row_to_settle_unless_awaited(&mut self, row: ItemKey) {
        if !self.awaited.waiting.contains_key(&row) {
            self.base.allow_item_to_settle(row);
        }
    }

    /// Counts a result of the row as arrived; the row may settle after its last one.
    fn release_row(&mut self, row: ItemKey) {
        if self.awaited.release(row) {
            self.base.allow_item_to_settle(row);
        }
    }

    /// Removes a step outside any round and emits its result: in the row of its call, or as an
    /// entry.
    pub(super) fn take_step_and_emit_result<'r>(
        &mut self,
        id: StepId,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let placement = self.open.placement(id);
        let ids = self.base.ids();
        let Some(entry) = self.open.remove_step_and_build_entry(id, ids) else { return };
        if let Some(StepPlacement::AwaitingResult(row)) = placement {
            self.release_row(row);
            out(Patch::Result { key: row, call: ids.step(id).into(), entry });
        } else {
            let key = self.base.allocate_key();
            self.base.allow_item_to_settle(key);
            self.placed.insert((id, key));
            out(Patch::Put { key, item: entry });
        }
    }

    /// Withdraws the call and the result of a step that waits or has waited for a result.
    pub(super) fn withdraw_result_if_awaited<'r>(
        &mut self,
        id: StepId,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(row) = self.awaited.rows.remove(&id) else { return };
        let is_waiting = self.open.get(id).is_some();
        if is_waiting {
            self.release_row(row);
        }
        let is_inline = self.item_keys_of_step(id).next().is_some();
        if is_waiting && is_inline {
            // The row is withdrawn whole.
            return;
        }
        let ids = self.base.ids();
        let shown = if is_waiting { ids.step(id) } else { ids.entry(id) };
        let run = self.base.active_run().unwrap_or_default().to_owned();
        let mut entry = Item::new(ItemKind::Entry, run, shown);
        entry.state = ItemState::Withdrawn;
        out(Patch::Result { key: row, call: Cow::Owned(ids.step(id)), entry });
    }
}
