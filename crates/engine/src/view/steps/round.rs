//! A round: its overlay, its first text, and what is left of it at its end.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::event::{Event, Record, StepId};
use crate::view::base::state_at_end;
use crate::view::item::{Item, Key, Kind, State};
use crate::view::patch::{Overlay, Patch};

use super::ran::{self, Ran};
use super::tray::Place;
use super::{Steps, overlay};

/// The round that is open, or was last.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) number: Option<u32>,
    pub(super) stage: Stage,
    /// Place of the next part that is shown.
    next_index: u32,
    /// Steps from before the first text, in their order.
    pub(super) folded: Vec<StepId>,
    /// Those of them that are open.
    pub(super) open: BTreeSet<StepId>,
    /// Steps from after it.
    pub(super) inline: Vec<StepId>,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Stage {
    #[default]
    Closed,
    /// There is no text yet.
    Silent { overlay: Overlay<'static> },
    /// There is; the place before it is kept for the control.
    Speaking { control: Key },
}

impl Round {
    pub(super) fn index(&mut self) -> u32 {
        let index = self.next_index;
        self.next_index = index.saturating_add(1);
        index
    }
}

impl Steps {
    pub(super) fn open_round<'r>(
        &mut self,
        number: u32,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        // A part is known by its round and index: no round comes twice.
        if self.round.number.is_some_and(|last| number <= last) {
            return;
        }
        self.close_round(record, out);
        let overlay = overlay::waiting(number);
        out(Patch::Overlay(Some(overlay.clone())));
        self.round =
            Round { number: Some(number), stage: Stage::Silent { overlay }, ..Round::default() };
    }

    pub(super) fn close_round<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let control = match std::mem::take(&mut self.round.stage) {
            Stage::Closed => return,
            Stage::Silent { .. } => {
                out(Patch::Overlay(None));
                self.base.key()
            }
            Stage::Speaking { control } => control,
        };
        self.close_message(State::Done, out);
        let number = self.round.number.unwrap_or_default();
        self.round.open.clear();
        for step in std::mem::take(&mut self.round.inline) {
            if let Some(Place::Inline(key)) = self.tray.place(step)
                && let Some(settled) = self.tray.settle(step)
            {
                out(Patch::Put { key, item: settled.item });
            }
        }
        let mut ran = Ran::default();
        let mut item = Item::new(Kind::Steps, &*record.run, format!("r{number}"));
        for step in std::mem::take(&mut self.round.folded) {
            if let Some(settled) = self.tray.settle(step) {
                ran.add(settled.item.at_ms, settled.ended_ms);
                item.steps.push(settled.item);
            }
        }
        if !item.steps.is_empty() {
            item.round = Some(number);
            item.at_ms = ran.began();
            item.ran_for_ms = ran.total();
            item.label = Some(Cow::Owned(ran::label(item.ran_for_ms)));
            item.state = match record.event {
                Event::RunEnded { .. } => state_at_end(record),
                _ => State::Done,
            };
            out(Patch::Put { key: control, item });
        }
        out(Patch::RoundClosed { round: number, from: control });
    }

    /// The overlay follows the newest step that is open.
    pub(super) fn refresh<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        match &mut self.round.stage {
            Stage::Closed => {}
            Stage::Speaking { .. } => self.suppressed += 1,
            Stage::Silent { overlay } => {
                let newest = self.round.open.last().and_then(|step| self.tray.get(*step));
                let (phase, label) = overlay::words(newest);
                if overlay.phase != phase || overlay.label != label {
                    overlay.phase = phase;
                    overlay.label = Cow::Owned(label.to_owned());
                    out(Patch::Overlay(Some(overlay.clone())));
                }
            }
        }
    }

    /// The first text of a round ends its overlay.
    pub(super) fn speak<'r>(&mut self, out: &mut impl FnMut(Patch<'r>)) {
        if let Stage::Silent { .. } = self.round.stage {
            // Not earlier: results of the round before may still come, and stand above.
            self.round.stage = Stage::Speaking { control: self.base.key() };
            out(Patch::Overlay(None));
        }
    }
}
