//! Native frames of a view. Frames that all views share are written here, the others in one file
//! per view.

use std::borrow::Cow;

use crate::view::patch::{EndedRun, Status};
use crate::view::{Item, ItemKey, ItemKind, ItemState, Page, Patch, ViewName};

use super::json::ObjectWriter;
use super::stream_kind::StreamKind;
use super::{bubbles, latest, sentences, steps, transcript};

/// Fields of a frame that do not come from its patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameEnvelope<'a> {
    pub(super) kind: StreamKind,
    /// JSON strings, with their quotes.
    pub(super) session: &'a str,
    pub(super) run: &'a str,
    pub(super) seq: u64,
}

/// Receives a frame's name and payload.
pub(super) type FrameSink<'a> = dyn FnMut(&str, &str) + 'a;

/// Writer of native frames for all views.
#[derive(Clone, Debug, Default)]
pub(super) struct NativeFrames {
    latest: latest::LatestFrames,
    steps: steps::StepsFrames,
}

impl NativeFrames {
    /// Emits the frames of a patch that is already applied to `page`; `data` is overwritten.
    #[allow(clippy::too_many_lines, reason = "one arm per patch, nothing else")]
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
            Patch::Put { item, .. }
                if item.kind == ItemKind::User && item.state != ItemState::Draft =>
            {
                let frame = ObjectWriter::begin_cleared(data)
                    .add_raw_json("run", run)
                    .add_string("id", &item.id);
                emit("user", frame.add_string("content", &item.text).finish());
            }
            Patch::Ask(ask) => {
                emit("ask", ObjectWriter::begin_cleared(data).add_members_of(ask).finish());
            }
            Patch::Resolve(resolved) => {
                emit(
                    "ask-resolved",
                    ObjectWriter::begin_cleared(data).add_members_of(resolved).finish(),
                );
            }
            Patch::Attach { key, image } => {
                let frame = ObjectWriter::begin_cleared(data)
                    .add_raw_json("run", run)
                    .add_string("id", item_id_or_empty(*key, page));
                emit("image", frame.add_members_of(image).finish());
            }
            Patch::Cite { key, citation } => {
                let frame = ObjectWriter::begin_cleared(data)
                    .add_raw_json("run", run)
                    .add_string("id", item_id_or_empty(*key, page));
                emit("citation", frame.add_members_of(citation).finish());
            }
            Patch::Withdraw { keys } => {
                let ids: Vec<&str> = keys.iter().map(|key| item_id_or_empty(*key, page)).collect();
                emit(
                    "withdrawn",
                    ObjectWriter::begin_cleared(data)
                        .add_raw_json("run", run)
                        .add_serialized("ids", &ids)
                        .finish(),
                );
            }
            Patch::Status(Status::Thinking { text: Some(text) }) => {
                emit(
                    "thinking",
                    ObjectWriter::begin_cleared(data)
                        .add_raw_json("run", run)
                        .add_string("content", text)
                        .finish(),
                );
            }
            // Different in each view.
            Patch::Put { .. }
            | Patch::Next { .. }
            | Patch::Append { .. }
            | Patch::Rewrite { .. }
            | Patch::Close { .. }
            | Patch::Describe { .. }
            | Patch::Result { .. }
            | Patch::Remove { .. }
            | Patch::RoundClosed { .. }
            | Patch::Settle(_)
            | Patch::Overlay(_)
            | Patch::Status(_)
            | Patch::Ended(_) => match envelope.kind.view {
                ViewName::Latest => self.latest.emit_frames(patch, page, envelope, data, emit),
                ViewName::Steps => self.steps.emit_frames(patch, page, envelope, data, emit),
                ViewName::Transcript => {}
                ViewName::Sentences => sentences::emit_frames(patch, page, envelope, data, emit),
                ViewName::Bubbles => bubbles::emit_frames(patch, page, envelope, data, emit),
            },
        }
        // In this view the shared patches are items as well.
        if envelope.kind.view == ViewName::Transcript {
            transcript::emit_frames(patch, page, envelope, data, emit);
        }
    }
}

/// Id of an item; empty if there is none.
fn item_id_or_empty(key: ItemKey, page: &Page) -> &str {
    page.items.get(key).map_or("", |item| &item.id)
}

/// Returns an item of the page.
pub(super) fn find_item(key: ItemKey, page: &Page) -> Option<&Item<'static>> {
    page.items.get(key)
}

/// Begins the payload of an ending, with the members that every view has.
pub(super) fn begin_ending_payload<'d>(
    ended: &EndedRun<'_>,
    data: &'d mut String,
) -> ObjectWriter<'d> {
    let content = ended.content.clone().or(Some(Cow::Borrowed("")));
    ObjectWriter::begin_cleared(data).add_members_of(&EndedRun { content, ..ended.clone() })
}
