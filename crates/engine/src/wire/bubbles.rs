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
        Patch::Put { item, .. } => delta(item, &item.text, None, about, data, say),
        Patch::Append { key, text } => {
            let Some(item) = item(*key, picture) else { return };
            match about.kind.content {
                Content::Accumulated => delta(item, &item.text, None, about, data, say),
                Content::Delta => delta(item, text, Some(true), about, data, say),
            }
        }
        Patch::Rewrite { key, .. } => {
            let Some(item) = item(*key, picture) else { return };
            delta(item, &item.text, None, about, data, say);
        }
        Patch::Status(Status::Working { tool: Some(tool), phase, .. }) => {
            let name = match phase {
                ToolPhase::Started => "tool-start",
                ToolPhase::Ended => "tool-end",
            };
            say(name, head(Object::new(data), about).value("tool", tool).end());
        }
        Patch::Ended(ended) => end(ended, picture, about, data, say),
        _ => {}
    }
}

fn head<'d>(mut frame: Object<'d>, about: About<'_>) -> Object<'d> {
    write_text(about.run, frame.member("run"));
    write_text(about.run, frame.member("runId"));
    write_text(about.session, frame.member("sessionKey"));
    write_number(about.seq, frame.member("seq"));
    frame
}

fn delta(
    item: &Item<'_>,
    text: &str,
    append: Option<bool>,
    about: About<'_>,
    data: &mut String,
    say: &mut Say<'_>,
) {
    let mut frame = head(Object::new(data), about).text("state", "delta");
    write_number(item.index.unwrap_or_default().into(), frame.member("messageIndex"));
    let mut frame = frame.some("append", append.as_ref());
    message(item, text, frame.member("message"));
    say("delta", frame.end());
}

/// A message in the shape its document gives it.
fn message(item: &Item<'_>, text: &str, out: &mut String) {
    let mut message = Object::inside(out).text("role", "assistant");
    let content = message.member("content");
    content.push('[');
    Object::inside(content).text("type", "text").text("text", text).end();
    content.push(']');
    message.value("timestamp", &item.at_ms).end();
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
    let of_run = |item: &&Item<'_>| item.run == about.run && item.kind == ItemKind::Text;
    let messages = || picture.items.values().filter(of_run);
    let mut frame = ending(ended, data)
        .text("runId", about.run)
        .text("sessionKey", about.session)
        .value("seq", &about.seq)
        .text("state", state);
    let list = frame.member("messages");
    list.push('[');
    for (at, item) in messages().enumerate() {
        if 0 < at {
            list.push(',');
        }
        whole(item, list);
    }
    list.push(']');
    if let Some(last) = messages().filter(|item| item.state != State::Withdrawn).next_back() {
        message(last, &last.text, frame.member("message"));
    }
    say(name, frame.end());
}

/// A message of the list at the end.
fn whole(item: &Item<'_>, out: &mut String) {
    let mut shell = String::new();
    message(item, &item.text, &mut shell);
    let mut object = Object::inside(out).value("messageIndex", &item.index);
    object.push_members(&shell);
    if item.state == State::Withdrawn {
        object = object.value("withdrawn", &true);
    }
    object.end();
}
