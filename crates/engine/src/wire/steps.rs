//! The frames of `steps`: `overlay`, `text`, `segment`, `entry`, once per round `finalized`, then an
//! ending.
//!
//! An append is exactly one frame. `finalized` looks only at what stands on the page since its
//! round began to show.

use serde::Serialize;

use crate::event::{Citation, Millis};
use crate::view::blob::Shown;
use crate::view::patch::Overlay;
use crate::view::{Item, Key, Kind as ItemKind, Patch, Picture, State};

use super::json::{Object, write_number, write_text, write_value};
use super::own::{About, Say, ending, item};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Of the overlay that is up, so that it can be said whose goes.
    round: Option<u32>,
}

impl Spelling {
    pub(super) fn spell(
        &mut self,
        patch: &Patch<'_>,
        picture: &Picture,
        about: About<'_>,
        data: &mut String,
        say: &mut Say<'_>,
    ) {
        let run = about.run;
        match patch {
            Patch::Overlay(overlay) => self.overlay(overlay.as_ref(), run, data, say),
            Patch::Put { item, .. } => match item.kind {
                ItemKind::Text => {
                    text(item, &item.text, Writing::Begin, run, data, say);
                }
                ItemKind::Reasoning | ItemKind::Tool => {
                    let frame = Object::new(data).json("run", run).value("round", &item.round);
                    say("segment", frame.members(&Part::of(item)).end());
                }
                ItemKind::Entry => {
                    let frame = Object::new(data).json("run", run).value("round", &item.round);
                    say("entry", frame.members(&Part::of(item)).end());
                }
                _ => {}
            },
            Patch::Append { key, text: delta } => {
                if let Some(item) = item(*key, picture) {
                    text(item, delta, Writing::On, run, data, say);
                }
            }
            Patch::Rewrite { key, .. } => {
                if let Some(item) = item(*key, picture) {
                    text(item, &item.text, Writing::Anew, run, data, say);
                }
            }
            Patch::RoundClosed { round, from } => finalized(*round, *from, picture, run, data, say),
            Patch::Ended(ended) => say(ended.outcome.as_str(), ending(ended, data).end()),
            _ => {}
        }
    }

    fn overlay(
        &mut self,
        overlay: Option<&Overlay<'_>>,
        run: &str,
        data: &mut String,
        say: &mut Say<'_>,
    ) {
        self.round = overlay.map(|overlay| overlay.round).or(self.round);
        let frame = Object::new(data)
            .json("run", run)
            .value("round", &self.round)
            .value("phase", &overlay.map(|overlay| overlay.phase))
            .value("label", &overlay.map(|overlay| &overlay.label));
        say("overlay", frame.end());
    }
}

#[derive(Clone, Copy)]
enum Writing {
    /// A new part, with the name its pictures and sources call it by.
    Begin,
    /// After what stands there.
    On,
    /// In place of it.
    Anew,
}

fn text(
    item: &Item<'_>,
    delta: &str,
    writing: Writing,
    run: &str,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let mut frame = Object::new(data).json("run", run);
    match item.round {
        Some(round) => write_number(round.into(), frame.member("round")),
        None => frame.member("round").push_str("null"),
    }
    write_number(item.index.unwrap_or_default().into(), frame.member("index"));
    match writing {
        Writing::Begin => write_text(&item.id, frame.member("id")),
        Writing::On => {}
        Writing::Anew => frame.member("replace").push_str("true"),
    }
    say("text", frame.text("delta", delta).end());
}

/// The round's whole picture.
fn finalized(
    round: u32,
    from: Key,
    picture: &Picture,
    run: &str,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let control = item(from, picture).filter(|item| item.kind == ItemKind::Steps);
    let steps: Vec<Part<'_>> =
        control.map(|item| item.steps.iter().map(Part::of).collect()).unwrap_or_default();
    let of_round = |item: &&Item<'_>| {
        let shown = matches!(item.kind, ItemKind::Text | ItemKind::Reasoning | ItemKind::Tool);
        shown && item.round == Some(round) && item.state != State::Withdrawn
    };
    let mut frame = Object::new(data)
        .json("run", run)
        .value("round", &round)
        .value("label", &control.and_then(|item| item.label.as_deref()))
        .value("ranForMs", &control.and_then(|item| item.ran_for_ms))
        .value("steps", &steps);
    let list = frame.member("segments");
    list.push('[');
    for (at, (_, item)) in picture.items.from(from).filter(|(_, item)| of_round(item)).enumerate() {
        if 0 < at {
            list.push(',');
        }
        write_value(&Part::of(item), list);
    }
    list.push(']');
    say("finalized", frame.end());
}

/// A part of a round, spelt as this view's document spells. A field is missing where it says
/// nothing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    kind: ItemKind,
    id: &'a str,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// What sort of tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    /// The source's words on how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_for_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Part<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    images: &'a [Shown<'a>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    citations: &'a [Citation<'a>],
}

impl<'a> Part<'a> {
    fn of(item: &'a Item<'a>) -> Part<'a> {
        Part {
            index: item.index,
            kind: item.kind,
            id: &item.id,
            state: item.state,
            name: item.name.as_deref(),
            sort: item.sort.as_deref(),
            call_id: item.call.as_deref(),
            text: &item.text,
            arguments: item.arguments.as_deref(),
            result: item.result.as_deref(),
            detail: item.label.as_deref(),
            ran_for_ms: item.ran_for_ms,
            steps: item.steps.iter().map(Part::of).collect(),
            images: &item.images,
            citations: &item.citations,
        }
    }
}
