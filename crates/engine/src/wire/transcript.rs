//! Native frames of `transcript`: `message` puts or replaces the item at its index, `append`
//! extends its text, `settled` moves the settled point; then an ending. Items have the form of the
//! view's specification, and additional fields.

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
    match patch {
        Patch::Put { key, item } => emit_message_frame(*key, item, data, emit),
        Patch::Append { key, text } => {
            let frame = ObjectWriter::begin_cleared(data).add_raw_json("run", envelope.run);
            let mut frame = frame.add_number("index", key.0.into());
            write_string(text, frame.begin_member("text"));
            emit("append", frame.finish());
        }
        Patch::Rewrite { key, .. } | Patch::Close { key, .. } => {
            if let Some(item) = find_item(*key, page) {
                emit_message_frame(*key, item, data, emit);
            }
        }
        Patch::Withdraw { keys } => {
            for key in keys {
                if let Some(item) = find_item(*key, page) {
                    emit_message_frame(*key, item, data, emit);
                }
            }
        }
        Patch::Settle(settled) => {
            emit("settled", ObjectWriter::begin_cleared(data).add_raw_json("run", envelope.run).add_members_of(settled).finish());
        }
        Patch::Ended(ended) => emit(ended.outcome.as_str(), begin_ending_payload(ended, data).finish()),
        // Only `sentences` emits these.
        Patch::Next { .. }
        // Only `steps` emits these.
        | Patch::Result { .. }
        // Sent as `image` and `citation` frames.
        | Patch::Attach { .. }
        | Patch::Cite { .. }
        // Followed by the patch that closes the item.
        | Patch::Describe { .. }
        | Patch::Remove { .. }
        | Patch::Overlay(_)
        | Patch::RoundClosed { .. }
        | Patch::Status(_)
        | Patch::Ask(_)
        | Patch::Resolve(_) => {}
    }
}

/// Emits a `message` frame.
fn emit_message_frame(key: ItemKey, item: &Item<'_>, data: &mut String, emit: &mut FrameSink<'_>) {
    // Asks and requests are complete from the start; they wait for something else.
    let waits = matches!(item.kind, ItemKind::Ask | ItemKind::Request);
    let partial = item.state == ItemState::Draft || (item.state == ItemState::Live && !waits);
    let frame = ObjectWriter::begin_cleared(data)
        .add_string("run", &item.run)
        .add_number("index", key.0.into());
    let frame = frame.add_serialized("ts", &item.at_ms).add_string("id", &item.id);
    let frame = match message_type(item) {
        MessageType::User => frame.add_string("type", "user").add_string("content", &item.text),
        MessageType::Say(name) => {
            frame.add_string("type", "say").add_string("say", name).add_string("text", &item.text)
        }
        MessageType::Ask(name) => frame
            .add_string("type", "ask")
            .add_string("ask", name)
            .add_string("text", &item.text)
            .add_serialized("isAnswered", &(item.state == ItemState::Done)),
    };
    let mut frame = frame.add_serialized("partial", &partial).add_serialized("state", &item.state);
    if item.state != ItemState::Withdrawn {
        frame = add_extra_fields(item, frame);
    }
    emit("message", frame.finish());
}

/// Adds the fields that the specified form does not have.
fn add_extra_fields<'d>(item: &Item<'_>, frame: ObjectWriter<'d>) -> ObjectWriter<'d> {
    let (server, of) = match item.kind {
        ItemKind::Tool | ItemKind::Action => (item.label.as_ref(), None),
        ItemKind::User
        | ItemKind::Text
        | ItemKind::Reasoning
        | ItemKind::Steps
        | ItemKind::Entry
        | ItemKind::Ask
        | ItemKind::Request
        | ItemKind::Checkpoint
        | ItemKind::Notice
        | ItemKind::Error
        | ItemKind::Withdrawal => (None, item.label.as_ref()),
    };
    let withdrawn = (item.kind == ItemKind::Withdrawal)
        .then(|| serde_json::from_str::<Vec<u32>>(&item.text).unwrap_or_default());
    frame
        .add_if_some("tool", item.name.as_ref())
        .add_if_some("server", server)
        .add_if_some("of", of)
        .add_if_some("callId", item.call.as_ref())
        .add_if_some("arguments", item.arguments.as_ref())
        .add_if_some("description", item.description.as_ref())
        .add_if_some("answer", item.result.as_ref())
        .add_if_some("indexes", withdrawn.as_ref())
        .add_list_if_nonempty("images", &item.images)
        .add_list_if_nonempty("citations", &item.citations)
}

/// Type of a message in the view's specification.
enum MessageType {
    User,
    Say(&'static str),
    Ask(&'static str),
}

/// Type of the message for an item.
fn message_type(item: &Item<'_>) -> MessageType {
    if item.state == ItemState::Withdrawn {
        return MessageType::Say("withdrawn");
    }
    let sort = item.sort.as_deref().unwrap_or_default();
    MessageType::Say(match (item.kind, sort) {
        (ItemKind::User, "feedback") => "user_feedback",
        (ItemKind::User, _) => return MessageType::User,
        (ItemKind::Ask, sort) => return MessageType::Ask(ask_name(sort)),
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

/// Name of an ask in the view's specification.
fn ask_name(sort: &str) -> &'static str {
    match sort {
        "tool" => "tool",
        "command" => "command",
        "mcp" => "use_mcp_server",
        "browser" => "browser_action_launch",
        "followup" => "followup",
        _ => "other",
    }
}
