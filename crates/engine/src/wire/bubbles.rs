//! Native frames of `bubbles`: `delta`, `tool-start`, `tool-end`, then `final`, `error` or
//! `aborted`.

use crate::event::Outcome;
use crate::view::patch::{EndedRun, Status, ToolPhase};
use crate::view::{Item, ItemKind, ItemState, Page, Patch};

use super::json::{ObjectWriter, write_number, write_string};
use super::native::{FrameEnvelope, FrameSink, begin_ending_payload, find_item};
use super::stream_kind::ContentMode;

/// Emits the frames of a patch that is already applied to `page`; `data` is overwritten.
pub(super) fn emit_frames(
    patch: &Patch<'_>,
    page: &Page,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    match patch {
        Patch::Put { item, .. } if item.kind == ItemKind::Text => {
            emit_delta_frame(item, &item.text, TextExtent::Whole, envelope, data, emit);
        }
        Patch::Append { key, text } => {
            let Some(item) = find_item(*key, page) else { return };
            match envelope.kind.content {
                ContentMode::Accumulated => {
                    emit_delta_frame(item, &item.text, TextExtent::Whole, envelope, data, emit);
                }
                ContentMode::Delta => {
                    emit_delta_frame(item, text, TextExtent::Appended, envelope, data, emit);
                }
            }
        }
        Patch::Rewrite { key, .. } => {
            let Some(item) = find_item(*key, page) else { return };
            emit_delta_frame(item, &item.text, TextExtent::Whole, envelope, data, emit);
        }
        Patch::Status(Status::Working { tool: Some(tool), phase, .. }) => {
            let name = match phase {
                ToolPhase::Started => "tool-start",
                ToolPhase::Ended => "tool-end",
            };
            emit(name, begin_frame(data, envelope).add_serialized("tool", tool).finish());
        }
        Patch::Ended(ended) => emit_ending_frame(ended, page, envelope, data, emit),
        // This view has no frames for them, or `native` writes them.
        Patch::Put { .. }
        | Patch::Next { .. }
        | Patch::Close { .. }
        | Patch::Result { .. }
        | Patch::Attach { .. }
        | Patch::Cite { .. }
        | Patch::Describe { .. }
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
        .add_raw_json("run", envelope.run)
        .add_raw_json("runId", envelope.run)
        .add_raw_json("sessionKey", envelope.session)
        .add_number("seq", envelope.seq)
}

/// Extent of a delta's text: the whole message so far, or an addition to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextExtent {
    Whole,
    Appended,
}

/// Emits a `delta` frame.
fn emit_delta_frame(
    item: &Item<'_>,
    text: &str,
    is: TextExtent,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let mut frame = begin_frame(data, envelope)
        .add_raw_json("state", "\"delta\"")
        .add_number("messageIndex", item.index.unwrap_or_default().into())
        .add_string("id", &item.id);
    if is == TextExtent::Appended {
        frame = frame.add_raw_json("append", "true");
    }
    write_message_object(item, text, frame.begin_member("message"));
    emit("delta", frame.finish());
}

/// Appends a message object in the form of the view's specification.
fn write_message_object(item: &Item<'_>, text: &str, out: &mut String) {
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
fn emit_ending_frame(
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
    let mut frame = begin_ending_payload(ended, data)
        .add_raw_json("runId", envelope.run)
        .add_raw_json("sessionKey", envelope.session)
        .add_number("seq", envelope.seq)
        .add_string("state", state);
    let list = frame.begin_member("messages");
    list.push('[');
    for (at, item) in messages.iter().enumerate() {
        if 0 < at {
            list.push(',');
        }
        write_message_of_ending(item, list);
    }
    list.push(']');
    let says = |item: &&&Item<'_>| item.state != ItemState::Withdrawn && !item.text.is_empty();
    if let Some(newest) = messages.iter().rev().find(says) {
        write_message_object(newest, &newest.text, frame.begin_member("message"));
    }
    emit(name, frame.finish());
}

/// Appends a message of the ending's list.
fn write_message_of_ending(item: &Item<'_>, out: &mut String) {
    let mut shell = String::new();
    write_message_object(item, &item.text, &mut shell);
    let mut object = ObjectWriter::begin_at_end(out)
        .add_serialized("messageIndex", &item.index)
        .add_string("id", &item.id);
    object.add_members_of_json(&shell);
    object = object
        .add_list_if_nonempty("images", &item.images)
        .add_list_if_nonempty("citations", &item.citations);
    object = match item.state {
        ItemState::Withdrawn => object.add_serialized("withdrawn", &true),
        ItemState::Incomplete => object.add_serialized("incomplete", &true),
        ItemState::Live
        | ItemState::Draft
        | ItemState::Done
        | ItemState::Pending
        | ItemState::Called
        | ItemState::Failed
        | ItemState::Denied => object,
    };
    object.finish();
}
