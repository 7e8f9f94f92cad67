//! The frames of `bubbles`: `delta`, `tool-start`, `tool-end`, then `final`, `error` or `aborted`.

use crate::event::Outcome;
use crate::view::patch::{Ended, Status, ToolPhase};
use crate::view::{Item, Kind as ItemKind, Patch, Picture, State};

use super::encoder::Content;
use super::json::{Object, write_number, write_text};
use super::own::{About, Say, ending, item};

pub(super) fn spell(
    patch: &Patch<'_>,
    picture: &Picture,
    about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    match patch {
        Patch::Put { item, .. } => delta(item, &item.text, Text::Whole, about, data, say),
        Patch::Append { key, text } => {
            let Some(item) = item(*key, picture) else { return };
            match about.kind.content {
                Content::Accumulated => delta(item, &item.text, Text::Whole, about, data, say),
                Content::Delta => delta(item, text, Text::More, about, data, say),
            }
        }
        Patch::Rewrite { key, .. } => {
            let Some(item) = item(*key, picture) else { return };
            delta(item, &item.text, Text::Whole, about, data, say);
        }
        Patch::Status(Status::Working { tool: Some(tool), phase, .. }) => {
            let name = match phase {
                ToolPhase::Started => "tool-start",
                ToolPhase::Ended => "tool-end",
            };
            say(name, head(data, about).value("tool", tool).end());
        }
        Patch::Ended(ended) => end(ended, picture, about, data, say),
        _ => {}
    }
}

fn head<'d>(data: &'d mut String, about: About<'_>) -> Object<'d> {
    Object::new(data)
        .json("run", about.run)
        .json("runId", about.run)
        .json("sessionKey", about.session)
        .number("seq", about.seq)
}

/// Whether a delta's text is all of the message so far, or goes on with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Whole,
    More,
}

fn delta(
    item: &Item<'_>,
    text: &str,
    is: Text,
    about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let mut frame = head(data, about)
        .json("state", "\"delta\"")
        .number("messageIndex", item.index.unwrap_or_default().into())
        .text("id", &item.id);
    if is == Text::More {
        frame = frame.json("append", "true");
    }
    message(item, text, frame.member("message"));
    say("delta", frame.end());
}

/// A message in the shape its document gives it.
fn message(item: &Item<'_>, text: &str, out: &mut String) {
    out.push_str("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":");
    write_text(text, out);
    out.push_str("}],\"timestamp\":");
    match item.at_ms {
        Some(at) => write_number(at, out),
        None => out.push_str("null"),
    }
    out.push('}');
}

fn end(
    ended: &Ended<'_>,
    picture: &Picture,
    about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let (name, state) = match ended.outcome {
        Outcome::Completed => ("final", "final"),
        Outcome::Cancelled => ("aborted", "aborted"),
        Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
            ("error", "error")
        }
    };
    // The run's items are the last ones.
    let of_run = picture.items.values().rev().take_while(|item| item.run == ended.run);
    let mut messages: Vec<_> = of_run.filter(|item| item.kind == ItemKind::Text).collect();
    messages.reverse();
    let mut frame = ending(ended, data)
        .json("runId", about.run)
        .json("sessionKey", about.session)
        .number("seq", about.seq)
        .text("state", state);
    let list = frame.member("messages");
    list.push('[');
    for (at, item) in messages.iter().enumerate() {
        if 0 < at {
            list.push(',');
        }
        whole(item, list);
    }
    list.push(']');
    let says = |item: &&&Item<'_>| item.state != State::Withdrawn && !item.text.is_empty();
    if let Some(newest) = messages.iter().rev().find(says) {
        message(newest, &newest.text, frame.member("message"));
    }
    say(name, frame.end());
}

/// A message of the list at the end.
fn whole(item: &Item<'_>, out: &mut String) {
    let mut shell = String::new();
    message(item, &item.text, &mut shell);
    let mut object = Object::inside(out).value("messageIndex", &item.index).text("id", &item.id);
    object.push_members(&shell);
    object = object.list("images", &item.images).list("citations", &item.citations);
    object = match item.state {
        State::Withdrawn => object.value("withdrawn", &true),
        State::Incomplete => object.value("incomplete", &true),
        _ => object,
    };
    object.end();
}
