//! Native frames of `sentences`: `text-delta`, `text-message`, `action`, `tool`, then `finish` or
//! `error`.

use serde_json::value::RawValue;

use crate::event::Outcome;
use crate::view::{Item, ItemKey, ItemKind, ItemState, Page, Patch};

use super::json::{ObjectWriter, write_string};
use super::native::{FrameEnvelope, FrameSink, ending_object, find_item};

/// Emits the frames of a patch that is already applied to `page`; `data` is overwritten.
pub(super) fn write_frames(
    patch: &Patch<'_>,
    page: &Page,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let run = envelope.run;
    match patch {
        Patch::Put { item, .. } if item.kind == ItemKind::Text && item.state == ItemState::Live => {
            write_text_delta(&item.id, &item.text, run, data, emit);
        }
        Patch::Put { item, .. } if item.kind == ItemKind::Action => {
            write_action(item, run, data, emit);
        }
        Patch::Put { item, .. } if item.kind == ItemKind::Tool => {
            let frame = ObjectWriter::begin_cleared(data).json("run", run).text("id", &item.id);
            let frame = frame.optional("name", item.name.as_ref());
            let state = if item.state == ItemState::Denied {
                "denied"
            } else {
                action_state_name(item.state)
            };
            emit("tool", frame.text("state", state).finish());
        }
        Patch::Next { key, text, .. } => {
            let before = key.0.checked_sub(1).and_then(|before| find_item(ItemKey(before), page));
            if let Some(before) = before {
                write_text_message(before, run, data, emit);
            }
            if let Some(item) = find_item(*key, page) {
                write_text_delta(&item.id, text, run, data, emit);
            }
        }
        Patch::Append { key, text } => {
            if let Some(item) = find_item(*key, page) {
                write_text_delta(&item.id, text, run, data, emit);
            }
        }
        Patch::Close { key, .. } => {
            if let Some(item) = find_item(*key, page) {
                write_text_message(item, run, data, emit);
            }
        }
        Patch::Ended(ended) => {
            let name = if ended.outcome == Outcome::Completed { "finish" } else { "error" };
            emit(name, ending_object(ended, data).finish());
        }
        // This view has no frames for them, or `native` writes them.
        Patch::Put { .. }
        | Patch::Rewrite { .. }
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

/// Emits a `text-message` frame: a complete sentence.
fn write_text_message(item: &Item<'_>, run: &str, data: &mut String, emit: &mut FrameSink<'_>) {
    let mut frame = ObjectWriter::begin_cleared(data).json("run", run).text("id", &item.id);
    frame = frame.text("content", &item.text);
    if item.state == ItemState::Incomplete {
        frame = frame.value("incomplete", &true);
    }
    emit("text-message", frame.finish());
}

/// Emits a `text-delta` frame.
fn write_text_delta(id: &str, text: &str, run: &str, data: &mut String, emit: &mut FrameSink<'_>) {
    let mut frame = ObjectWriter::begin_cleared(data);
    frame.begin_member("run").push_str(run);
    write_string(id, frame.begin_member("id"));
    write_string(text, frame.begin_member("delta"));
    emit("text-delta", frame.finish());
}

/// Emits an `action` frame.
fn write_action(item: &Item<'_>, run: &str, data: &mut String, emit: &mut FrameSink<'_>) {
    let mut frame = ObjectWriter::begin_cleared(data).json("run", run).text("id", &item.id);
    frame = frame.text("action", item.name.as_deref().unwrap_or_default());
    let arguments = item.arguments.as_deref().unwrap_or("{}");
    // A model may write invalid JSON as arguments.
    if serde_json::from_str::<&RawValue>(arguments).is_ok() {
        // In valid JSON, line breaks occur only between tokens; here they would end the frame.
        let line = arguments.split(['\n', '\r']);
        let params = frame.begin_member("params");
        line.for_each(|part| params.push_str(part));
    } else {
        frame = frame.text("params", arguments);
    }
    frame = frame.text("state", action_state_name(item.state));
    emit("action", frame.optional("screenshot", item.images.last()).finish());
}

/// Name of an action's or tool's state in the view's specification.
fn action_state_name(state: ItemState) -> &'static str {
    match state {
        ItemState::Live => "running",
        ItemState::Done => "done",
        ItemState::Called => "called",
        ItemState::Failed | ItemState::Denied | ItemState::Incomplete | ItemState::Withdrawn => {
            "failed"
        }
    }
}
