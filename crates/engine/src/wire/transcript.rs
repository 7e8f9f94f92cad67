//! The frames of `transcript`: `message` puts or replaces the item at its index, `append` grows it,
//! `settled` says what will not change any more; then an ending. Items have the shape that the
//! view's document gives them, and more fields.

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
    match patch {
        Patch::Put { key, item } => message(*key, item, data, say),
        Patch::Append { key, text } => {
            let frame = Object::new(data).json("run", about.run);
            let mut frame = frame.number("index", key.0.into());
            write_text(text, frame.member("text"));
            say("append", frame.end());
        }
        Patch::Rewrite { key, .. } | Patch::Close { key, .. } => {
            if let Some(item) = item(*key, picture) {
                message(*key, item, data, say);
            }
        }
        Patch::Withdraw { keys } => {
            for key in keys {
                if let Some(item) = item(*key, picture) {
                    message(*key, item, data, say);
                }
            }
        }
        Patch::Settle(settled) => {
            say("settled", Object::new(data).json("run", about.run).members(settled).end());
        }
        Patch::Ended(ended) => say(ended.outcome.as_str(), ending(ended, data).end()),
        // Only sentences go on that way.
        Patch::Next { .. }
        // The frames `image` and `citation` tell these.
        | Patch::Attach { .. }
        | Patch::Cite { .. }
        | Patch::Remove { .. }
        | Patch::Overlay(_)
        | Patch::RoundClosed { .. }
        | Patch::Status(_)
        | Patch::Ask(_)
        | Patch::Resolve(_) => {}
    }
}

fn message(key: Key, item: &Item<'_>, data: &mut String, say: &mut Say<'_>) {
    // What is asked or requested is whole from the start: it waits for something else.
    let waits = matches!(item.kind, ItemKind::Ask | ItemKind::Request);
    let partial = item.state == State::Live && !waits;
    let frame = Object::new(data).text("run", &item.run).number("index", key.0.into());
    let frame = frame.value("ts", &item.at_ms).text("id", &item.id);
    let frame = match name(item) {
        Name::User => frame.text("type", "user").text("content", &item.text),
        Name::Say(name) => frame.text("type", "say").text("say", name).text("text", &item.text),
        Name::Ask(name) => frame
            .text("type", "ask")
            .text("ask", name)
            .text("text", &item.text)
            .value("isAnswered", &(item.state == State::Done)),
    };
    let mut frame = frame.value("partial", &partial).value("state", &item.state);
    if item.state != State::Withdrawn {
        frame = more(item, frame);
    }
    say("message", frame.end());
}

/// What the document's shape has no place for.
fn more<'d>(item: &Item<'_>, frame: Object<'d>) -> Object<'d> {
    let (server, of) = match item.kind {
        ItemKind::Tool | ItemKind::Action => (item.label.as_ref(), None),
        _ => (None, item.label.as_ref()),
    };
    let withdrawn = (item.kind == ItemKind::Withdrawal)
        .then(|| serde_json::from_str::<Vec<u32>>(&item.text).unwrap_or_default());
    frame
        .some("tool", item.name.as_ref())
        .some("server", server)
        .some("of", of)
        .some("callId", item.call.as_ref())
        .some("arguments", item.arguments.as_ref())
        .some("answer", item.result.as_ref())
        .some("indexes", withdrawn.as_ref())
        .list("images", &item.images)
        .list("citations", &item.citations)
}

/// What the document calls an item.
enum Name {
    User,
    Say(&'static str),
    Ask(&'static str),
}

fn name(item: &Item<'_>) -> Name {
    if item.state == State::Withdrawn {
        return Name::Say("withdrawn");
    }
    let sort = item.sort.as_deref().unwrap_or_default();
    Name::Say(match (item.kind, sort) {
        (ItemKind::User, "feedback") => "user_feedback",
        (ItemKind::User, _) => return Name::User,
        (ItemKind::Ask, sort) => return Name::Ask(ask(sort)),
        (ItemKind::Text, "final") => "completion_result",
        (ItemKind::Text, _) => "text",
        (ItemKind::Reasoning, _) => "reasoning",
        (ItemKind::Tool, "command") => "command_output",
        (ItemKind::Tool, "mcp") => "mcp_server_response",
        (ItemKind::Tool | ItemKind::Steps | ItemKind::Entry, _) => "tool",
        (ItemKind::Action, "result") => "browser_action_result",
        (ItemKind::Action, _) => "browser_action",
        (ItemKind::Request, _) => "api_req_started",
        (ItemKind::Checkpoint, _) => "checkpoint_saved",
        (ItemKind::Notice, "retry") => "api_req_retry_delayed",
        (ItemKind::Notice, "compaction") => "condense_context",
        (ItemKind::Notice, "warning") => "warning",
        (ItemKind::Notice, "usage") => "usage",
        (ItemKind::Notice, "attachment") => "attachment",
        (ItemKind::Notice, _) => "info",
        (ItemKind::Error, _) => "error",
        (ItemKind::Withdrawal, _) => "withdrawn",
    })
}

fn ask(sort: &str) -> &'static str {
    match sort {
        "tool" => "tool",
        "command" => "command",
        "mcp" => "use_mcp_server",
        "browser" => "browser_action_launch",
        "followup" => "followup",
        _ => "other",
    }
}
