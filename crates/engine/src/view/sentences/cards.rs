//! Cards: actions with their parameters and pictures, other tools with their name alone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::event::{Event, Owner, Record, StepId, ToolKind};

use super::super::base::Base;
use super::super::blob::Shown;
use super::super::item::{Item, Key, Kind, State, step_id};
use super::super::patch::Patch;

#[derive(Clone, Debug, Default)]
pub(super) struct Cards {
    by_step: BTreeMap<StepId, Card>,
}

#[derive(Clone, Debug)]
struct Card {
    key: Key,
    /// What stands there; its arguments are filled while they come, if they are to be seen.
    item: Item<'static>,
    life: Life,
    pictures: Pictures,
}

/// When the pictures that came of a tool show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pictures {
    /// They are its result.
    Hidden,
    /// Screenshots of an action.
    AtItsEnd,
    /// Made for the person.
    AtOnce,
}

impl Pictures {
    fn of(kind: ToolKind) -> Pictures {
        match kind {
            ToolKind::Action => Pictures::AtItsEnd,
            ToolKind::ImageGeneration => Pictures::AtOnce,
            _ => Pictures::Hidden,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    Ended,
}

impl Cards {
    pub(super) fn apply(
        &mut self,
        record: &Record<'_>,
        base: &mut Base,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        match &record.event {
            Event::ToolStarted { step, name, kind, parent: None, round, .. }
                if !self.by_step.contains_key(step) =>
            {
                let pictures = Pictures::of(*kind);
                let kind = if *kind == ToolKind::Action { Kind::Action } else { Kind::Tool };
                let mut item = Item::new(kind, &*record.run, step_id(*step)).into_owned();
                item.round = Some(*round);
                item.at_ms = record.at_ms;
                item.name = Some(Cow::Owned(name.clone().into_owned()));
                let card = Card { key: base.key(), item, life: Life::Open, pictures };
                card.put(out);
                self.by_step.insert(*step, card);
            }
            Event::ArgumentsAppended { step, text } => {
                if let Some(card) = self.action(*step) {
                    card.item.arguments.get_or_insert_default().to_mut().push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } => {
                if let Some(card) = self.action(*step) {
                    card.item.arguments = Some(Cow::Owned(text.clone().into_owned()));
                }
            }
            Event::ToolReady { step } => {
                if let Some(card) = self.action(*step) {
                    card.name_by_arguments();
                    card.put(out);
                }
            }
            Event::ImageReceived { owner: Owner::Step(step), image } => {
                if let Some(card) = self.by_step.get_mut(step) {
                    card.picture(Shown::of(image).into_owned(), out);
                }
            }
            Event::ToolEnded { step, outcome, .. } => {
                if let Some(card) = self.open(*step) {
                    card.item.state = State::from(*outcome);
                    card.end(out);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, step: StepId) -> Option<&mut Card> {
        self.by_step.get_mut(&step).filter(|card| card.life == Life::Open)
    }

    fn action(&mut self, step: StepId) -> Option<&mut Card> {
        self.open(step).filter(|card| card.item.kind == Kind::Action)
    }

    pub(super) fn withdraw(&mut self, steps: &[StepId], keys: &mut Vec<Key>) {
        for card in steps.iter().filter_map(|step| self.by_step.remove(step)) {
            keys.push(card.key);
        }
    }

    /// The run is over; so is all that was going on in it.
    pub(super) fn end_all(&mut self, out: &mut impl FnMut(Patch<'_>)) {
        for card in self.by_step.values_mut().filter(|card| card.life == Life::Open) {
            card.item.state = State::Incomplete;
            card.end(out);
        }
    }
}

impl Card {
    fn put(&self, out: &mut impl FnMut(Patch<'_>)) {
        out(Patch::Put { key: self.key, item: self.item.clone() });
    }

    fn picture(&mut self, image: Shown<'static>, out: &mut impl FnMut(Patch<'_>)) {
        match (self.pictures, self.life) {
            (Pictures::Hidden, _) => {}
            (Pictures::AtItsEnd, Life::Open) => self.item.images.push(image),
            (Pictures::AtOnce, Life::Open) => {
                out(Patch::Attach { key: self.key, image: image.clone() });
                self.item.images.push(image);
            }
            (_, Life::Ended) => out(Patch::Attach { key: self.key, image }),
        }
    }

    fn end(&mut self, out: &mut impl FnMut(Patch<'_>)) {
        self.life = Life::Ended;
        self.name_by_arguments();
        self.put(out);
        // What it showed is on the page now.
        self.item.arguments = None;
        self.item.images.clear();
    }

    /// One tool stands for all that can be done to a computer; its arguments say what is done.
    fn name_by_arguments(&mut self) {
        let arguments = self.item.arguments.as_deref().unwrap_or_default();
        if let Some(name) = action_name(arguments) {
            self.item.name = Some(Cow::Owned(name));
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    action: Option<Named>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Word(String),
    Object {
        #[serde(rename = "type")]
        kind: String,
    },
}

fn action_name(arguments: &str) -> Option<String> {
    let arguments: Arguments = serde_json::from_str(arguments).ok()?;
    match arguments.action {
        Some(Named::Word(name) | Named::Object { kind: name }) => Some(name),
        None => arguments.kind,
    }
}
