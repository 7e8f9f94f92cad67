//! A round: its overlay, its first text, and the control with its folded steps.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::event::{Event, Record, StepId};
use crate::view::common::item_state_at_run_end;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::{Overlay, Patch};

use super::duration::{self, StepTimes};
use super::open_steps::StepPlacement;
use super::{Steps, overlay};

/// The open round, or the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) number: Option<u32>,
    pub(super) stage: RoundStage,
    /// Index of the next part.
    next_index: u32,
    /// Steps before the first text, in order.
    pub(super) folded_steps: Vec<StepId>,
    /// Open steps among them.
    pub(super) open_folded_steps: BTreeSet<StepId>,
    /// Steps after the first text.
    pub(super) inline_steps: Vec<StepId>,
}

/// Progress of a round.
#[derive(Clone, Debug, Default)]
pub(super) enum RoundStage {
    #[default]
    Closed,
    /// Before the first text.
    BeforeText { overlay: Overlay<'static> },
    /// After the first text; the key before it is reserved for the control.
    TextStarted { control_key: ItemKey, control_row: ControlRow },
}

/// The control's row on the page before the round has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlRow {
    None,
    /// An empty row, so that the text below it does not move when the control is put.
    Reserved,
}

impl Round {
    /// Returns the next part's index and advances it.
    pub(super) fn take_next_index(&mut self) -> u32 {
        let index = self.next_index;
        self.next_index = index.saturating_add(1);
        index
    }
}

impl Steps {
    /// Closes the previous round and opens this one with a waiting overlay.
    pub(super) fn close_and_open_round_if_new<'r>(
        &mut self,
        number: u32,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        // Parts are identified by round and index, so a repeated round is ignored.
        if self.round.number.is_some_and(|last| number <= last) {
            return;
        }
        self.close_round(record, out);
        let overlay = overlay::waiting_overlay(number);
        out(Patch::Overlay(Some(overlay.clone())));
        self.round = Round {
            number: Some(number),
            stage: RoundStage::BeforeText { overlay },
            ..Round::default()
        };
    }

    /// Puts the final items of the round's steps and its control, and marks it as closed.
    pub(super) fn close_round<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let (control, reserved) = match std::mem::take(&mut self.round.stage) {
            RoundStage::Closed => return,
            RoundStage::BeforeText { .. } => {
                out(Patch::Overlay(None));
                (self.base.allocate_key(), ControlRow::None)
            }
            RoundStage::TextStarted { control_key, control_row } => (control_key, control_row),
        };
        self.close_open_parts(ItemState::Done, out);
        self.round.open_folded_steps.clear();
        for step in std::mem::take(&mut self.round.inline_steps) {
            if let Some(StepPlacement::Inline(key)) = self.open.placement(step)
                && let Some(settled) = self.open.take_step_or_its_call(step, key)
            {
                self.await_result_if_open(step, key);
                self.allow_row_to_settle_unless_awaited(key);
                out(Patch::Put { key, item: settled.item });
            }
        }
        let mut ran = StepTimes::default();
        let mut item = self.build_control_item(record);
        for step in std::mem::take(&mut self.round.folded_steps) {
            if let Some(settled) = self.open.take_step_or_its_call(step, control) {
                self.await_result_if_open(step, control);
                ran.add_step(settled.item.at_ms, settled.ended_ms);
                item.steps.push(settled.item);
            }
        }
        if !item.steps.is_empty() {
            item.at_ms = ran.first_start();
            item.ran_for_ms = ran.total_or_span_ms();
            item.label = Some(Cow::Owned(duration::ran_for_label(item.ran_for_ms)));
            let at_run_end = matches!(record.event, Event::RunEnded { .. });
            item.state = if at_run_end { item_state_at_run_end(record) } else { ItemState::Done };
            out(Patch::Put { key: control, item });
        } else if reserved == ControlRow::Reserved {
            out(Patch::Remove { key: control });
        }
        self.allow_row_to_settle_unless_awaited(control);
        let round = self.round.number.unwrap_or_default();
        out(Patch::RoundClosed { round, from: control });
    }

    /// Builds the round's control without steps.
    fn build_control_item<'r>(&self, record: &'r Record<'_>) -> Item<'r> {
        let number = self.round.number.unwrap_or_default();
        let mut item = Item::new(ItemKind::Steps, &*record.run, self.base.ids().round(number));
        item.round = Some(number);
        item
    }

    /// Updates the overlay to the newest open step; counts changes after the first text.
    pub(super) fn update_overlay_or_count_suppressed<'r>(
        &mut self,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &mut self.round.stage {
            RoundStage::Closed => {}
            RoundStage::TextStarted { .. } => self.suppressed_overlays += 1,
            RoundStage::BeforeText { overlay } => {
                let newest =
                    self.round.open_folded_steps.last().and_then(|step| self.open.get(*step));
                let (phase, label) = overlay::phase_and_label(newest);
                if overlay.phase != phase || overlay.label != label {
                    overlay.phase = phase;
                    overlay.label = Cow::Owned(label.to_owned());
                    out(Patch::Overlay(Some(overlay.clone())));
                }
            }
        }
    }

    /// Ends the overlay at the round's first text and reserves the control's key.
    pub(super) fn end_overlay_if_first_text<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        if let RoundStage::BeforeText { .. } = self.round.stage {
            // Not earlier: entries of the previous round may still arrive, and stand above.
            let control_key = self.base.allocate_key();
            out(Patch::Overlay(None));
            let control_row = if self.round.folded_steps.is_empty() {
                // There will be no control.
                self.base.allow_item_to_settle(control_key);
                ControlRow::None
            } else {
                let item = self.build_control_item(record);
                out(Patch::Put { key: control_key, item });
                ControlRow::Reserved
            };
            self.round.stage = RoundStage::TextStarted { control_key, control_row };
        }
    }
}
