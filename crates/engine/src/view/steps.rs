//! `steps`: until a round's first text an overlay says what goes on; the steps before it end up
//! folded under one control, those after it stand between the texts.
//!
//! Does not show arguments, output or thinking while they grow: a step is put when it starts and
//! once more when it has ended. Keeps only what is open: the steps of the round, tools that wait
//! for a result, and where the run's parts stand.
//!
//! Invariant: nothing that came before a round's first text is on the page before the round has
//! ended, and no overlay is up after it.

mod overlay;
mod ran;
mod round;
mod spoken;
mod tray;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, Image, MessageId, Millis, Owner, Record, StepId};

use super::base::{Base, Rest, message_id, state_at_end};
use super::blob::Shown;
use super::doing::Telling;
use super::item::{Item, Key, Kind, State};
use super::patch::Patch;
use super::{Options, Thinking};

use round::{Round, Stage};
use spoken::{Change, Spoken};
use tray::{Place, Step, Tray};

#[derive(Clone, Debug)]
pub struct Steps {
    base: Base,
    thinking: Thinking,
    round: Round,
    /// Of the run that is going.
    messages: BTreeMap<MessageId, Spoken>,
    /// The last part of the message that has not ended.
    open: Option<Key>,
    /// The part after which a step began: what its message goes on with stands after that.
    interrupted: Option<Key>,
    tray: Tray,
    /// Where steps of the run stand by themselves: inline, as an entry, or both.
    placed: BTreeSet<(StepId, Key)>,
    suppressed: u64,
}

impl Steps {
    pub fn new(options: Options) -> Steps {
        Steps {
            base: Base::new(Telling::new(options)),
            thinking: options.thinking,
            round: Round::default(),
            messages: BTreeMap::new(),
            open: None,
            interrupted: None,
            tray: Tray::default(),
            placed: BTreeSet::new(),
            suppressed: 0,
        }
    }

    /// Changes to the overlay that came too late to be shown.
    pub fn suppressed_overlays(&self) -> u64 {
        self.suppressed
    }

    pub fn apply<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match self.base.apply(record, out) {
            Rest::Nothing | Rest::Began | Rest::AnsweredLate => {}
            Rest::View => self.event(record, out),
            Rest::Ending => self.end(record, out),
        }
    }

    fn event<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::RoundStarted { round, .. } => self.open_round(*round, record, out),
            Event::RoundEnded { round, .. } if self.round.number == Some(*round) => {
                self.close_round(record, out);
            }
            Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::MessageEnded { .. }
            | Event::SourceCited { .. } => self.message(record, out),
            Event::ImageReceived { owner, image } => self.image(*owner, image, record, out),
            Event::ReasoningStarted { step, round, .. } => match self.thinking {
                Thinking::Hide => self.refresh(out),
                _ => self.begin(*step, Step::reasoning(*step, *round, record), out),
            },
            Event::ToolStarted { step, parent, .. } => match (Step::tool(record), parent) {
                (Some(tool), Some(parent)) if !self.is_known(*step) => {
                    self.tray.nest(*parent, *step, tool);
                }
                (Some(tool), None) => self.begin(*step, tool, out),
                _ => {}
            },
            // Of which only the newest is to be seen, in the status.
            Event::ReasoningAppended { .. } if self.thinking == Thinking::Latest => {}
            Event::ReasoningAppended { step, text } => self.tray.think(*step, text),
            Event::ArgumentsAppended { step, text } => self.tray.argue(*step, text),
            Event::ArgumentsReplaced { step, text } => self.tray.argue_anew(*step, text),
            Event::ToolReady { step } => self.tray.ready(*step, record.at_ms),
            Event::OutputAppended { step, text } => self.tray.put_out(*step, text),
            Event::ReasoningEnded { step, incomplete } => {
                self.end_step(*step, State::of_text(*incomplete), None, record.at_ms, out);
            }
            Event::ToolEnded { step, outcome, detail } => {
                let state = State::from(*outcome);
                self.end_step(*step, state, detail.as_deref(), record.at_ms, out);
            }
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps, out),
            _ => {}
        }
    }

    fn end<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        if let Some(key) = self.open.take() {
            out(Patch::Close { key, state: state_at_end(record) });
        }
        self.close_round(record, out);
        for step in self.tray.outside() {
            self.enter(step, out);
        }
        self.base.end(record, out);
        self.round = Round::default();
        self.messages.clear();
        self.tray = Tray::default();
        self.placed.clear();
    }
}

/// Messages.
impl Steps {
    fn message<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::TextAppended { message, text } => match self.messages.get_mut(message) {
                None => self.show(*message, text, record, out),
                Some(spoken) => match spoken.last() {
                    None => {}
                    last if last == self.interrupted => self.show(*message, text, record, out),
                    Some(key) => {
                        spoken.grow(text);
                        out(Patch::Append { key, text: Cow::Borrowed(text) });
                    }
                },
            },
            Event::TextRewritten { message, kept_bytes, text } => {
                match self.messages.get_mut(message) {
                    Some(spoken) => {
                        if let Some(change) = spoken.change(*kept_bytes, text) {
                            self.rewrite(change, text, out);
                        }
                    }
                    None if !text.is_empty() => self.show(*message, text, record, out),
                    None => {}
                }
            }
            Event::MessageEnded { message, incomplete } => {
                let key = self.key_of(*message);
                if key.is_some() && self.open == key {
                    self.close_message(State::of_text(*incomplete), out);
                }
            }
            Event::SourceCited { message, citation } => {
                if let Some(key) = self.key_of(*message) {
                    out(Patch::Cite { key, citation: citation.clone() });
                }
            }
            _ => {}
        }
    }

    fn show<'r>(
        &mut self,
        message: MessageId,
        text: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.speak(out);
        self.close_message(State::Done, out);
        let key = self.base.key();
        let spoken = self.messages.entry(message).or_default();
        let id = match spoken.parts() {
            0 => message_id(message),
            part => format!("{}.{part}", message_id(message)),
        };
        spoken.begin(key);
        spoken.grow(text);
        let mut item = Item::new(Kind::Text, &*record.run, id);
        item.round = self.round.number;
        item.index = Some(self.round.index());
        item.at_ms = record.at_ms;
        item.text = Cow::Borrowed(text);
        self.open = Some(key);
        self.interrupted = None;
        out(Patch::Put { key, item });
    }

    fn rewrite<'r>(&mut self, change: Change, text: &'r str, out: &mut impl FnMut(Patch<'r>)) {
        let Change { key, kept_bytes, gone } = change;
        if !gone.is_empty() {
            self.open = self.open.filter(|open| !gone.contains(open));
            out(Patch::Withdraw { keys: gone });
        }
        out(Patch::Rewrite { key, kept_bytes, text: Cow::Borrowed(text) });
    }

    fn close_message<'r>(&mut self, state: State, out: &mut impl FnMut(Patch<'r>)) {
        if let Some(key) = self.open.take() {
            out(Patch::Close { key, state });
        }
    }

    fn key_of(&self, message: MessageId) -> Option<Key> {
        self.messages.get(&message)?.last()
    }

    fn image<'r>(
        &mut self,
        owner: Owner,
        image: &'r Image<'_>,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let key = match owner {
            Owner::Message(message) => {
                if !self.messages.contains_key(&message) {
                    self.show(message, "", record, out);
                }
                self.key_of(message)
            }
            Owner::Step(step) if self.tray.get(step).is_some() => {
                self.tray.attach(step, image);
                None
            }
            Owner::Step(step) => self.keys_of(step).next_back(),
        };
        if let Some(key) = key {
            out(Patch::Attach { key, image: Shown::of(image) });
        }
    }
}

/// Steps.
impl Steps {
    fn keys_of(&self, step: StepId) -> impl DoubleEndedIterator<Item = Key> {
        self.placed.range((step, Key(0))..=(step, Key(u32::MAX))).map(|(_, key)| *key)
    }

    fn is_known(&self, step: StepId) -> bool {
        self.tray.get(step).is_some() || self.keys_of(step).next().is_some()
    }

    fn begin<'r>(&mut self, id: StepId, mut step: Step, out: &mut impl FnMut(Patch<'r>)) {
        if self.is_known(id) {
            return;
        }
        match self.round.stage {
            // Only a tool may work between two rounds.
            Stage::Closed if step.is_reasoning() => return,
            Stage::Closed => {}
            Stage::Silent { .. } => {
                step.stand(self.round.number, Place::Folded);
                self.round.folded.push(id);
                self.round.open.insert(id);
            }
            Stage::Speaking { .. } => {
                let key = self.base.key();
                step.stand(self.round.number, Place::Inline(key));
                step.item.index = Some(self.round.index());
                self.round.inline.push(id);
                self.placed.insert((id, key));
                self.interrupted = self.open;
                out(Patch::Put { key, item: step.item.clone() });
            }
        }
        self.tray.insert(id, step);
        self.refresh(out);
    }

    fn end_step<'r>(
        &mut self,
        id: StepId,
        state: State,
        detail: Option<&str>,
        at_ms: Option<Millis>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match self.tray.end(id, state, detail, at_ms) {
            None | Some(Place::Under(_)) => {}
            Some(Place::Outside) => self.enter(id, out),
            Some(Place::Folded) => {
                self.round.open.remove(&id);
                self.refresh(out);
            }
            Some(Place::Inline(key)) => {
                if let Some(settled) = self.tray.take(id) {
                    out(Patch::Put { key, item: settled.item });
                }
                self.refresh(out);
            }
        }
    }

    /// A result from outside any round is an entry of its own.
    fn enter<'r>(&mut self, id: StepId, out: &mut impl FnMut(Patch<'r>)) {
        if let Some(item) = self.tray.take_entry(id) {
            let key = self.base.key();
            self.placed.insert((id, key));
            out(Patch::Put { key, item });
        }
    }

    fn withdraw<'r>(
        &mut self,
        messages: &[MessageId],
        steps: &[StepId],
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let mut keys = Vec::new();
        for message in messages {
            keys.extend(self.messages.get_mut(message).map(Spoken::take).unwrap_or_default());
        }
        self.open = self.open.filter(|open| !keys.contains(open));
        let mut was_open = false;
        for step in steps {
            self.tray.take(*step);
            was_open |= self.round.open.remove(step);
            let placed: Vec<Key> = self.keys_of(*step).collect();
            for key in placed {
                self.placed.remove(&(*step, key));
                keys.push(key);
            }
        }
        if !keys.is_empty() {
            out(Patch::Withdraw { keys });
        }
        if was_open {
            self.refresh(out);
        }
    }
}
