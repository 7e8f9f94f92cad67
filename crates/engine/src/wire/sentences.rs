//! The frames of `sentences`: `text-delta`, `text-message`, `action`, `tool`, then `finish` or
//! `error`.

use serde_json::value::RawValue;

use crate::event::Outcome;
use crate::view::{Item, Key, Kind as ItemKind, Patch, Picture, State};

use super::json::{Object, write_text};
use super::own::{About, Say, ending, item};

pub(super) fn spell(
    patch: &Patch<'_>,
    picture: &Picture,
    about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let run = about.run;
    match patch {
        Patch::Put { item, .. } if item.kind == ItemKind::Text && item.state == State::Live => {
            delta(&item.id, &item.text, run, data, say);
        }
        Patch::Put { item, .. } if item.kind == ItemKind::Action => action(item, run, data, say),
        Patch::Put { item, .. } if item.kind == ItemKind::Tool => {
            let frame = Object::new(data).json("run", run).text("id", &item.id);
            let frame = frame.some("name", item.name.as_ref());
            let state = if item.state == State::Denied { "denied" } else { state(item.state) };
            say("tool", frame.text("state", state).end());
        }
        Patch::Next { key, text, .. } => {
            let before = key.0.checked_sub(1).and_then(|before| item(Key(before), picture));
            if let Some(before) = before {
                whole(before, run, data, say);
            }
            if let Some(item) = item(*key, picture) {
                delta(&item.id, text, run, data, say);
            }
        }
        Patch::Append { key, text } => {
            if let Some(item) = item(*key, picture) {
                delta(&item.id, text, run, data, say);
            }
        }
        Patch::Close { key, .. } => {
            if let Some(item) = item(*key, picture) {
                whole(item, run, data, say);
            }
        }
        Patch::Ended(ended) => {
            let name = if ended.outcome == Outcome::Completed { "finish" } else { "error" };
            say(name, ending(ended, data).end());
        }
        _ => {}
    }
}

fn whole(item: &Item<'_>, run: &str, data: &mut String, say: &mut Say<'_>) {
    let mut frame = Object::new(data).json("run", run).text("id", &item.id);
    frame = frame.text("content", &item.text);
    if item.state == State::Incomplete {
        frame = frame.value("incomplete", &true);
    }
    say("text-message", frame.end());
}

fn delta(id: &str, text: &str, run: &str, data: &mut String, say: &mut Say<'_>) {
    let mut frame = Object::new(data);
    frame.member("run").push_str(run);
    write_text(id, frame.member("id"));
    write_text(text, frame.member("delta"));
    say("text-delta", frame.end());
}

fn action(item: &Item<'_>, run: &str, data: &mut String, say: &mut Say<'_>) {
    let mut frame = Object::new(data).json("run", run).text("id", &item.id);
    frame = frame.text("action", item.name.as_deref().unwrap_or_default());
    let arguments = item.arguments.as_deref().unwrap_or("{}");
    // A model may write anything where its arguments should be.
    if serde_json::from_str::<&RawValue>(arguments).is_ok() {
        // Line breaks stand only between tokens there, and would end the frame.
        let line = arguments.split(['\n', '\r']);
        let params = frame.member("params");
        line.for_each(|part| params.push_str(part));
    } else {
        frame = frame.text("params", arguments);
    }
    frame = frame.text("state", state(item.state));
    say("action", frame.some("screenshot", item.images.last()).end());
}

/// The document knows no other words for an action.
fn state(state: State) -> &'static str {
    match state {
        State::Live => "running",
        State::Done => "done",
        State::Called => "called",
        State::Failed | State::Denied | State::Incomplete | State::Withdrawn => "failed",
    }
}
