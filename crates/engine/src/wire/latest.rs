//! Native frames of `latest`: `queued started (streaming (thinking | tool | final_message_start |
//! assistant)*)+` and an ending.

use crate::view::patch::Status;
use crate::view::{Item, ItemState, Page, Patch};

use super::json::ObjectWriter;
use super::native::{FrameEnvelope, FrameSink, begin_ending_payload, find_item};
use super::stream_kind::ContentMode;

/// Writer of `latest` frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LatestFrames {
    text_announced: TextAnnounced,
}

/// `Yes` once `final_message_start` has been sent in this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TextAnnounced {
    #[default]
    No,
    Yes,
}

impl LatestFrames {
    /// Emits the frames of a patch that is already applied to `page`; `data` is overwritten.
    pub(super) fn emit_frames(
        &mut self,
        patch: &Patch<'_>,
        page: &Page,
        envelope: FrameEnvelope<'_>,
        data: &mut String,
        emit: &mut FrameSink<'_>,
    ) {
        let run = envelope.run;
        match patch {
            Patch::Status(status) => self.emit_status_frame_if_any(status, run, data, emit),
            // Before any text there is nothing to replace.
            Patch::Put { item, .. }
                if item.text.is_empty() && self.text_announced == TextAnnounced::No => {}
            Patch::Put { item, .. } if item.state == ItemState::Live => {
                emit_assistant_frame(item, &item.text, TextUpdate::Replace, envelope, data, emit);
            }
            Patch::Append { key, text: delta } => {
                let Some(item) = find_item(*key, page) else { return };
                match envelope.kind.content {
                    ContentMode::Accumulated => {
                        emit_assistant_frame(
                            item,
                            &item.text,
                            TextUpdate::Replace,
                            envelope,
                            data,
                            emit,
                        );
                    }
                    ContentMode::Delta => {
                        emit_assistant_frame(item, delta, TextUpdate::Append, envelope, data, emit);
                    }
                }
            }
            Patch::Rewrite { key, .. } => {
                if let Some(item) = find_item(*key, page) {
                    emit_assistant_frame(
                        item,
                        &item.text,
                        TextUpdate::Replace,
                        envelope,
                        data,
                        emit,
                    );
                }
            }
            Patch::Ended(ended) => {
                emit(ended.outcome.as_str(), begin_ending_payload(ended, data).finish());
            }
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
            | Patch::Ask(_)
            | Patch::Resolve(_) => {}
        }
    }

    /// Emits the frame of a status, if it has one; remembers whether text was announced.
    fn emit_status_frame_if_any(
        &mut self,
        status: &Status<'_>,
        run: &str,
        data: &mut String,
        emit: &mut FrameSink<'_>,
    ) {
        let frame = ObjectWriter::begin_cleared(data).add_raw_json("run", run);
        match status {
            Status::Queued => emit("queued", frame.finish()),
            Status::Started => {
                self.text_announced = TextAnnounced::No;
                emit("started", frame.finish());
            }
            Status::Streaming { round } => {
                emit("streaming", frame.add_serialized("round", round).finish());
            }
            Status::Thinking { .. } => emit("thinking", frame.finish()),
            Status::Working { phase, .. } => {
                emit("tool", frame.add_serialized("phase", phase).finish());
            }
            Status::Writing if self.text_announced == TextAnnounced::No => {
                self.text_announced = TextAnnounced::Yes;
                emit("final_message_start", frame.finish());
            }
            Status::Writing
            | Status::Inline
            | Status::Waiting
            | Status::Resumed { .. }
            | Status::Idle => {}
        }
    }
}

/// Effect of an `assistant` frame: replaces the displayed text or appends to it.
#[derive(Clone, Copy)]
enum TextUpdate {
    Replace,
    Append,
}

/// Emits an `assistant` frame.
fn emit_assistant_frame(
    item: &Item<'_>,
    text: &str,
    writing: TextUpdate,
    envelope: FrameEnvelope<'_>,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let name = match envelope.kind.content {
        ContentMode::Accumulated => "content",
        ContentMode::Delta => "delta",
    };
    let replace = match writing {
        TextUpdate::Replace => "true",
        TextUpdate::Append => "false",
    };
    let frame = ObjectWriter::begin_cleared(data)
        .add_raw_json("run", envelope.run)
        .add_string("id", &item.id)
        .add_string(name, text);
    emit("assistant", frame.add_raw_json("replace", replace).finish());
}
