//! Native frames of `sentences`: `text-delta`, `text-message`, `action`, `tool`, then `finish` or
//! `error`.

use serde_json::value::RawValue;

use crate::event::Outcome;
use crate::view::{Item, ItemKey, ItemKind, ItemState, Page, Patch};

use super::json::{ObjectWriter, write_string};
use super::native::{FrameEnvelope, FrameSink, begin_ending_payload, find_item};

/// Emits the frames of a patch that is already applied to `page`; `data` is overwritten.
pub(super) fn emit_frames(
    patch: &Patch<'_>,
    page: &Page,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let run = envelope.run;
    match patch {
        Patch::Put { item, .. } if item.kind == ItemKind::Text && item.state == ItemState::Live => {
            emit_text_delta_frame(&item.id, &item.text, run, data, emit);
        }
        Patch::Put { item, .. } if item.kind == ItemKind::Action => {
            emit_action_frame(item, run, data, emit);
        }
        Patch::Put { item, .. } if item.kind == ItemKind::Tool => {
            emit_tool_frame(item, run, data, emit);
        }
        Patch::Next { key, text, .. } => {
            let before = key.0.checked_sub(1).and_then(|before| find_item(ItemKey(before), page));
            if let Some(before) = before {
                emit_text_message_frame(before, run, data, emit);
            }
            if let Some(item) = find_item(*key, page) {
                emit_text_delta_frame(&item.id, text, run, data, emit);
            }
        }
        Patch::Append { key, text } => {
            if let Some(item) = find_item(*key, page) {
                emit_text_delta_frame(&item.id, text, run, data, emit);
            }
        }
        Patch::Close { key, .. } => {
            if let Some(item) = find_item(*key, page) {
                emit_text_message_frame(item, run, data, emit);
            }
        }
        Patch::Ended(ended) => {
            let name = if ended.outcome == Outcome::Completed { "finish" } else { "error" };
            emit(name, begin_ending_payload(ended, data).finish());
        }
        // This view has no frames for them, or `native` writes them.
        Patch::Put { .. }
        | Patch::Rewrite { .. }
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

/// Emits a `text-message` frame: a complete sentence.
fn emit_text_message_frame(
    item: &Item<'_>,
    run: &str,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let mut frame =
        ObjectWriter::begin_cleared(data).add_raw_json("run", run).add_string("id", &item.id);
    frame = frame.add_string("content", &item.text);
    if item.state == ItemState::Incomplete {
        frame = frame.add_serialized("incomplete", &true);
    }
    emit("text-message", frame.finish());
}

/// Emits a `text-delta` frame.
fn emit_text_delta_frame(
    id: &str,
    text: &str,
    run: &str,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let mut frame = ObjectWriter::begin_cleared(data);
    frame.begin_member("run").push_str(run);
    write_string(id, frame.begin_member("id"));
    write_string(text, frame.begin_member("delta"));
    emit("text-delta", frame.finish());
}

/// Emits an `action` frame.
fn emit_action_frame(item: &Item<'_>, run: &str, data: &mut String, emit: &mut FrameSink<'_>) {
    let mut frame =
        ObjectWriter::begin_cleared(data).add_raw_json("run", run).add_string("id", &item.id);
    frame = frame.add_string("action", item.name.as_deref().unwrap_or_default());
    let arguments = item.arguments.as_deref().unwrap_or("{}");
    // A model may write invalid JSON as arguments.
    if serde_json::from_str::<&RawValue>(arguments).is_ok() {
        // In valid JSON, line breaks occur only between tokens; here they would end the frame.
        let line = arguments.split(['\n', '\r']);
        let params = frame.begin_member("params");
        line.for_each(|part| params.push_str(part));
    } else {
        frame = frame.add_string("params", arguments);
    }
    frame = frame.add_string("state", action_state_name(item.state));
    emit("action", frame.add_if_some("screenshot", item.images.last()).finish());
}

/// Emits a `tool` frame.
fn emit_tool_frame(item: &Item<'_>, run: &str, data: &mut String, emit: &mut FrameSink<'_>) {
    let frame =
        ObjectWriter::begin_cleared(data).add_raw_json("run", run).add_string("id", &item.id);
    let frame = frame.add_if_some("name", item.name.as_ref());
    let is_denied = item.state == ItemState::Denied;
    let state = if is_denied { "denied" } else { action_state_name(item.state) };
    emit("tool", frame.add_string("state", state).finish());
}

/// Name of an action's or tool's state in the view's specification.
fn action_state_name(state: ItemState) -> &'static str {
    match state {
        ItemState::Live | ItemState::Draft => "running",
        ItemState::Done => "done",
        ItemState::Pending | ItemState::Called => "called",
        ItemState::Failed | ItemState::Denied | ItemState::Incomplete | ItemState::Withdrawn => {
            "failed"
        }
    }
}
