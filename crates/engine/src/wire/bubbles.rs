//! Native frames of `bubbles`: `delta`, `tool-start`, `tool-end`, then `final`, `error` or
//! `aborted`.

use crate::event::Outcome;
use crate::view::patch::{EndedRun, Status, ToolPhase};
use crate::view::{Item, ItemKind, ItemState, Page, Patch};

use super::encoder::ContentMode;
use super::json::{ObjectWriter, write_number, write_string};
use super::native::{FrameEnvelope, FrameSink, ending_object, find_item};

/// Emits the frames of a patch that is already applied to `page`; `data` is overwritten.
pub(super) fn write_frames(
    patch: &Patch<'_>,
    page: &Page,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    match patch {
        Patch::Put { item, .. } => {
            write_delta(item, &item.text, TextExtent::Whole, envelope, data, emit);
        }
        Patch::Append { key, text } => {
            let Some(item) = find_item(*key, page) else { return };
            match envelope.kind.content {
                ContentMode::Accumulated => {
                    write_delta(item, &item.text, TextExtent::Whole, envelope, data, emit);
                }
                ContentMode::Delta => {
                    write_delta(item, text, TextExtent::Appended, envelope, data, emit);
                }
            }
        }
        Patch::Rewrite { key, .. } => {
            let Some(item) = find_item(*key, page) else { return };
            write_delta(item, &item.text, TextExtent::Whole, envelope, data, emit);
        }
        Patch::Status(Status::Working { tool: Some(tool), phase, .. }) => {
            let name = match phase {
                ToolPhase::Started => "tool-start",
                ToolPhase::Ended => "tool-end",
            };
            emit(name, begin_frame(data, envelope).value("tool", tool).finish());
        }
        Patch::Ended(ended) => write_ending(ended, page, envelope, data, emit),
        // This view has no frames for them, or `native` writes them.
        Patch::Next { .. }
        | Patch::Close { .. }
        | Patch::Attach { .. }
        | Patch::Cite { .. }
        | Patch::Remove { .. }
        | Patch::Withdraw { .. }
        | Patch::RoundClosed { .. }
        | Patch::Settle(_)
        | Patch::Overlay(_)
        | Patch::Status(_)
        | Patch::Ask(_)
        | Patch::Resolve(_) => {}
    }
}

/// Begins a payload with the members that all frames have.
fn begin_frame<'d>(data: &'d mut String, envelope: FrameEnvelope<'_>) -> ObjectWriter<'d> {
    ObjectWriter::begin_cleared(data)
        .json("run", envelope.run)
        .json("runId", envelope.run)
        .json("sessionKey", envelope.session)
        .number("seq", envelope.seq)
}

/// Extent of a delta's text: the whole message so far, or an addition to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextExtent {
    Whole,
    Appended,
}

/// Emits a `delta` frame.
fn write_delta(
    item: &Item<'_>,
    text: &str,
    is: TextExtent,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let mut frame = begin_frame(data, envelope)
        .json("state", "\"delta\"")
        .number("messageIndex", item.index.unwrap_or_default().into())
        .text("id", &item.id);
    if is == TextExtent::Appended {
        frame = frame.json("append", "true");
    }
    write_message(item, text, frame.begin_member("message"));
    emit("delta", frame.finish());
}

/// Appends a message object in the form of the view's specification.
fn write_message(item: &Item<'_>, text: &str, out: &mut String) {
    out.push_str("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":");
    write_string(text, out);
    out.push_str("}],\"timestamp\":");
    match item.at_ms {
        Some(at) => write_number(at, out),
        None => out.push_str("null"),
    }
    out.push('}');
}

/// Emits the ending with all messages of the run.
fn write_ending(
    ended: &EndedRun<'_>,
    page: &Page,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let (name, state) = match ended.outcome {
        Outcome::Completed => ("final", "final"),
        Outcome::Cancelled => ("aborted", "aborted"),
        Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
            ("error", "error")
        }
    };
    // The run's items are the last ones of the page.
    let of_run = page.items.values().rev().take_while(|item| item.run == ended.run);
    let mut messages: Vec<_> = of_run.filter(|item| item.kind == ItemKind::Text).collect();
    messages.reverse();
    let mut frame = ending_object(ended, data)
        .json("runId", envelope.run)
        .json("sessionKey", envelope.session)
        .number("seq", envelope.seq)
        .text("state", state);
    let list = frame.begin_member("messages");
    list.push('[');
    for (at, item) in messages.iter().enumerate() {
        if 0 < at {
            list.push(',');
        }
        write_listed_message(item, list);
    }
    list.push(']');
    let says = |item: &&&Item<'_>| item.state != ItemState::Withdrawn && !item.text.is_empty();
    if let Some(newest) = messages.iter().rev().find(says) {
        write_message(newest, &newest.text, frame.begin_member("message"));
    }
    emit(name, frame.finish());
}

/// Appends a message of the ending's list.
fn write_listed_message(item: &Item<'_>, out: &mut String) {
    let mut shell = String::new();
    write_message(item, &item.text, &mut shell);
    let mut object =
        ObjectWriter::begin_at_end(out).value("messageIndex", &item.index).text("id", &item.id);
    object.append_members(&shell);
    object =
        object.nonempty_list("images", &item.images).nonempty_list("citations", &item.citations);
    object = match item.state {
        ItemState::Withdrawn => object.value("withdrawn", &true),
        ItemState::Incomplete => object.value("incomplete", &true),
        ItemState::Live
        | ItemState::Done
        | ItemState::Called
        | ItemState::Failed
        | ItemState::Denied => object,
    };
    object.finish();
}
