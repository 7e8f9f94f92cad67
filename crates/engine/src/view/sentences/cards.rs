//! Cards: actions with their parameters and screenshots, other tools with their name only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::event::{Event, ImageOwner, Record, StepId, ToolKind};
use crate::event_family;

use super::super::common::CommonFold;
use super::super::image_ref::ImageRef;
use super::super::item::{Item, ItemKey, ItemKind, ItemState};
use super::super::patch::Patch;

/// The cards of the active run, by step.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolCards {
    by_step: BTreeMap<StepId, ToolCard>,
}

/// A card and its item on the page.
#[derive(Clone, Debug)]
struct ToolCard {
    key: ItemKey,
    /// The item on the page; its arguments are collected for actions only.
    item: Item<'static>,
    state: CardState,
    image_timing: ImageTiming,
}

/// Time at which a tool's images are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImageTiming {
    /// Never: they are part of the result.
    Hidden,
    /// At the end of the tool: screenshots of an action.
    AtToolEnd,
    /// On arrival: generated images.
    Immediately,
}

impl ImageTiming {
    /// Timing for a kind of tool.
    fn for_tool_kind(kind: ToolKind) -> ImageTiming {
        match kind {
            ToolKind::Action => ImageTiming::AtToolEnd,
            ToolKind::ImageGeneration => ImageTiming::Immediately,
            ToolKind::Function
            | ToolKind::Mcp
            | ToolKind::WebSearch
            | ToolKind::WebFetch
            | ToolKind::FileSearch
            | ToolKind::CodeInterpreter
            | ToolKind::Command
            | ToolKind::Edit
            | ToolKind::Agent
            | ToolKind::Builtin => ImageTiming::Hidden,
        }
    }
}

/// Progress of the card's tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CardState {
    Open,
    Ended,
}

impl ToolCards {
    /// Applies an event of a tool and emits its card; ignores other events.
    pub(super) fn apply(
        &mut self,
        record: &Record<'_>,
        base: &mut CommonFold,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        match &record.event {
            Event::ToolStarted { step, parent: None, .. } if !self.by_step.contains_key(step) => {
                self.start_card(record, base, out);
            }
            Event::ArgumentsAppended { step, text } => {
                if let Some(card) = self.find_open_action_mut(*step) {
                    card.item.arguments.get_or_insert_default().to_mut().push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } => {
                if let Some(card) = self.find_open_action_mut(*step) {
                    card.item.arguments = Some(Cow::Owned(text.clone().into_owned()));
                }
            }
            Event::ToolReady { step } => {
                if let Some(card) = self.find_open_action_mut(*step) {
                    card.rename_if_arguments_name_action();
                    card.emit_put(out);
                }
            }
            Event::ImageReceived { owner: ImageOwner::Step(step), image } => {
                if let Some(card) = self.by_step.get_mut(step) {
                    card.store_emit_or_drop_image(ImageRef::from_image(image).into_owned(), out);
                }
            }
            Event::ToolEnded { step, outcome, .. } => {
                if let Some(card) = self.find_open_card_mut(*step) {
                    card.item.state = ItemState::from(*outcome);
                    card.put_last_time_and_free_item(out);
                    base.allow_item_to_settle(card.key);
                }
            }
            // Not of a tool, or not shown on a card.
            Event::ImageReceived { .. }
            | Event::ToolStarted { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Starts the card of a tool.
    fn start_card(
        &mut self,
        record: &Record<'_>,
        base: &mut CommonFold,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        let Event::ToolStarted { step, name, kind, round, .. } = &record.event else { return };
        let item_kind = if *kind == ToolKind::Action { ItemKind::Action } else { ItemKind::Tool };
        let mut item = Item::new(item_kind, &*record.run, base.ids().step(*step)).into_owned();
        item.round = Some(*round);
        item.at_ms = record.at_ms;
        item.name = Some(Cow::Owned(name.clone().into_owned()));
        let card = ToolCard {
            key: base.allocate_key(),
            item,
            state: CardState::Open,
            image_timing: ImageTiming::for_tool_kind(*kind),
        };
        card.emit_put(out);
        self.by_step.insert(*step, card);
    }

    /// Returns the card of an open tool.
    fn find_open_card_mut(&mut self, step: StepId) -> Option<&mut ToolCard> {
        self.by_step.get_mut(&step).filter(|card| card.state == CardState::Open)
    }

    /// Returns the card of an open action.
    fn find_open_action_mut(&mut self, step: StepId) -> Option<&mut ToolCard> {
        self.find_open_card_mut(step).filter(|card| card.item.kind == ItemKind::Action)
    }

    /// Removes the cards of these steps and adds their keys to `keys`.
    pub(super) fn remove_and_collect_keys(&mut self, steps: &[StepId], keys: &mut Vec<ItemKey>) {
        for card in steps.iter().filter_map(|step| self.by_step.remove(step)) {
            keys.push(card.key);
        }
    }

    /// Ends all open cards as incomplete, because the run has ended.
    pub(super) fn end_open_cards_as_incomplete(&mut self, out: &mut impl FnMut(Patch<'_>)) {
        for card in self.by_step.values_mut().filter(|card| card.state == CardState::Open) {
            card.item.state = ItemState::Incomplete;
            card.put_last_time_and_free_item(out);
        }
    }
}

impl ToolCard {
    /// Emits the card's item.
    fn emit_put(&self, out: &mut impl FnMut(Patch<'_>)) {
        out(Patch::Put { key: self.key, item: self.item.clone() });
    }

    /// Emits an image now, keeps it for the tool's end, or drops it, by the card's image timing.
    fn store_emit_or_drop_image(
        &mut self,
        image: ImageRef<'static>,
        out: &mut impl FnMut(Patch<'_>),
    ) {
        match (self.image_timing, self.state) {
            (ImageTiming::Hidden, _) => {}
            (ImageTiming::AtToolEnd, CardState::Open) => self.item.images.push(image),
            (ImageTiming::Immediately, CardState::Open) => {
                out(Patch::Attach { key: self.key, image: image.clone() });
                self.item.images.push(image);
            }
            (_, CardState::Ended) => out(Patch::Attach { key: self.key, image }),
        }
    }

    /// Ends the card, puts its item again and drops what the page has now.
    fn put_last_time_and_free_item(&mut self, out: &mut impl FnMut(Patch<'_>)) {
        self.state = CardState::Ended;
        self.rename_if_arguments_name_action();
        self.emit_put(out);
        // Already on the page.
        self.item.arguments = None;
        self.item.images.clear();
    }

    /// Renames the card of a tool that covers all actions after the action in its arguments.
    fn rename_if_arguments_name_action(&mut self) {
        if !self.item.name.as_deref().is_some_and(covers_all_actions) {
            return;
        }
        let arguments = self.item.arguments.as_deref().unwrap_or_default();
        if let Some(name) = parse_action_name(arguments) {
            self.item.name = Some(Cow::Owned(name));
        }
    }
}

/// Members of an action's arguments that name it.
#[derive(Deserialize)]
struct ActionArguments {
    action: Option<ActionField>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// An action's name: a string, or an object's `type`.
#[derive(Deserialize)]
#[serde(untagged)]
enum ActionField {
    Word(String),
    Object {
        #[serde(rename = "type")]
        kind: String,
    },
}

/// True for tools whose arguments name the action, such as `computer` or `mcp__desktop__computer`.
fn covers_all_actions(tool: &str) -> bool {
    let name = tool.rsplit_once("__").map_or(tool, |(_, name)| name);
    ["browser", "computer"].into_iter().any(|subject| {
        name.get(..subject.len()).is_some_and(|start| start.eq_ignore_ascii_case(subject))
            && matches!(&name[subject.len()..], "" | "_use" | "-use" | "_action" | "_use_preview")
    })
}

/// Reads the name of an action from its arguments.
fn parse_action_name(arguments: &str) -> Option<String> {
    let arguments: ActionArguments = serde_json::from_str(arguments).ok()?;
    match arguments.action {
        Some(ActionField::Word(name) | ActionField::Object { kind: name }) => Some(name),
        None => arguments.kind,
    }
}
