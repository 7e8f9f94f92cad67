//! Native frames of `steps`: `overlay`, `text`, `segment`, `entry`, once per round `finalized`,
//! then an ending.
//!
//! An append is exactly one frame. `finalized` reads only the items since its round's first one.

use serde::Serialize;

use crate::event::{Citation, Millis};
use crate::tool::ToolDescription;
use crate::view::image_ref::ImageRef;
use crate::view::patch::Overlay;
use crate::view::{Item, ItemKey, ItemKind, ItemState, Page, Patch};

use super::json::{ObjectWriter, write_number, write_string, write_value};
use super::native::{FrameEnvelope, FrameSink, begin_ending_payload, find_item};

/// Writer of `steps` frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepsFrames {
    /// Round of the last overlay, for the frame that hides it.
    overlay_round: Option<u32>,
}

impl StepsFrames {
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
            Patch::Overlay(overlay) => self.emit_overlay_frame(overlay.as_ref(), run, data, emit),
            Patch::Put { item, .. } => emit_item_frame_if_any(item, run, data, emit),
            Patch::Append { key, text: delta } => {
                if let Some(item) = find_item(*key, page) {
                    emit_text_frame(item, delta, TextUpdate::Append, run, data, emit);
                }
            }
            Patch::Rewrite { key, .. } => {
                if let Some(item) = find_item(*key, page) {
                    emit_text_frame(item, &item.text, TextUpdate::Replace, run, data, emit);
                }
            }
            Patch::Result { call, entry, .. } => {
                emit_result_frame_if_any(call, entry, run, data, emit);
            }
            Patch::RoundClosed { round, from } => {
                emit_finalized_frame(*round, *from, page, run, data, emit);
            }
            Patch::Ended(ended) => {
                emit(ended.outcome.as_str(), begin_ending_payload(ended, data).finish());
            }
            // This view has no frames for them, or `native` writes them.
            Patch::Next { .. }
            | Patch::Close { .. }
            | Patch::Attach { .. }
            | Patch::Cite { .. }
            | Patch::Describe { .. }
            | Patch::Remove { .. }
            | Patch::Withdraw { .. }
            | Patch::Settle(_)
            | Patch::Status(_)
            | Patch::Ask(_)
            | Patch::Resolve(_) => {}
        }
    }

    /// Emits an `overlay` frame; remembers the overlay's round.
    fn emit_overlay_frame(
        &mut self,
        overlay: Option<&Overlay<'_>>,
        run: &str,
        data: &mut String,
        emit: &mut FrameSink<'_>,
    ) {
        self.overlay_round = overlay.map(|overlay| overlay.round).or(self.overlay_round);
        let frame = ObjectWriter::begin_cleared(data)
            .add_raw_json("run", run)
            .add_serialized("round", &self.overlay_round)
            .add_serialized("phase", &overlay.map(|overlay| overlay.phase))
            .add_serialized("label", &overlay.map(|overlay| &overlay.label));
        emit("overlay", frame.finish());
    }
}

/// Emits the frame of an item: `text`, `segment` or `entry`.
fn emit_item_frame_if_any(item: &Item<'_>, run: &str, data: &mut String, emit: &mut FrameSink<'_>) {
    let name = match item.kind {
        ItemKind::Text => {
            return emit_text_frame(item, &item.text, TextUpdate::Start, run, data, emit);
        }
        ItemKind::Reasoning | ItemKind::Tool => "segment",
        ItemKind::Entry => "entry",
        // `native` writes prompts and asks; folded steps are in `finalized`; this view has no others.
        ItemKind::User
        | ItemKind::Steps
        | ItemKind::Action
        | ItemKind::Ask
        | ItemKind::Request
        | ItemKind::Checkpoint
        | ItemKind::Notice
        | ItemKind::Error
        | ItemKind::Withdrawal => return,
    };
    let frame = ObjectWriter::begin_cleared(data)
        .add_raw_json("run", run)
        .add_serialized("round", &item.round);
    emit(name, frame.add_members_of(&SegmentPayload::from_item(item)).finish());
}

/// Emits the `entry` frame of a result, or `withdrawn`; a call whose result can no longer come has
/// none.
fn emit_result_frame_if_any(
    call: &str,
    entry: &Item<'_>,
    run: &str,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let has_content = !entry.text.is_empty() || !entry.images.is_empty() || !entry.steps.is_empty();
    match entry.state {
        ItemState::Withdrawn => {
            let frame = ObjectWriter::begin_cleared(data).add_raw_json("run", run);
            emit("withdrawn", frame.add_serialized("ids", &[&entry.id]).finish());
        }
        ItemState::Called | ItemState::Incomplete if !has_content => {}
        ItemState::Live
        | ItemState::Draft
        | ItemState::Pending
        | ItemState::Done
        | ItemState::Called
        | ItemState::Failed
        | ItemState::Denied
        | ItemState::Incomplete => {
            let frame = ObjectWriter::begin_cleared(data)
                .add_raw_json("run", run)
                .add_serialized("round", &entry.round)
                .add_serialized("step", &call);
            emit("entry", frame.add_members_of(&SegmentPayload::from_item(entry)).finish());
        }
    }
}

/// Effect of a `text` frame on its part.
#[derive(Clone, Copy)]
enum TextUpdate {
    /// Starts a part, with the id that its images and citations refer to.
    Start,
    /// Appends to the part.
    Append,
    /// Replaces the part's text.
    Replace,
}

/// Emits a `text` frame.
fn emit_text_frame(
    item: &Item<'_>,
    delta: &str,
    writing: TextUpdate,
    run: &str,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let mut frame = ObjectWriter::begin_cleared(data).add_raw_json("run", run);
    match item.round {
        Some(round) => write_number(round.into(), frame.begin_member("round")),
        None => frame.begin_member("round").push_str("null"),
    }
    write_number(item.index.unwrap_or_default().into(), frame.begin_member("index"));
    match writing {
        TextUpdate::Start => write_string(&item.id, frame.begin_member("id")),
        TextUpdate::Append => {}
        TextUpdate::Replace => frame.begin_member("replace").push_str("true"),
    }
    emit("text", frame.add_string("delta", delta).finish());
}

/// Emits a `finalized` frame: all parts of the round.
fn emit_finalized_frame(
    round: u32,
    from: ItemKey,
    page: &Page,
    run: &str,
    data: &mut String,
    emit: &mut FrameSink<'_>,
) {
    let control = find_item(from, page).filter(|item| item.kind == ItemKind::Steps);
    let steps: Vec<SegmentPayload<'_>> = control
        .map(|item| item.steps.iter().map(SegmentPayload::from_item).collect())
        .unwrap_or_default();
    let of_round = |item: &&Item<'_>| {
        let shown = matches!(item.kind, ItemKind::Text | ItemKind::Reasoning | ItemKind::Tool);
        shown && item.round == Some(round) && item.state != ItemState::Withdrawn
    };
    let mut frame = ObjectWriter::begin_cleared(data)
        .add_raw_json("run", run)
        .add_serialized("round", &round)
        .add_serialized("label", &control.and_then(|item| item.label.as_deref()))
        .add_serialized("ranForMs", &control.and_then(|item| item.ran_for_ms))
        .add_serialized("steps", &steps);
    let list = frame.begin_member("segments");
    list.push('[');
    for (at, (_, item)) in page.items.iter_from(from).filter(|(_, item)| of_round(item)).enumerate()
    {
        if 0 < at {
            list.push(',');
        }
        write_value(&SegmentPayload::from_item(item), list);
    }
    list.push(']');
    emit("finalized", frame.finish());
}

/// A part of a round, in the form of the view's specification. Fields without a value are omitted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SegmentPayload<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    kind: ItemKind,
    id: &'a str,
    state: ItemState,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// Sort of tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a ToolDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    /// The provider's detail on how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_for_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<SegmentPayload<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    images: &'a [ImageRef<'a>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    citations: &'a [Citation<'a>],
}

impl<'a> SegmentPayload<'a> {
    /// Builds the payload of an item.
    fn from_item(item: &'a Item<'a>) -> SegmentPayload<'a> {
        SegmentPayload {
            index: item.index,
            kind: item.kind,
            id: &item.id,
            // For a reader of `entry` frames the call is complete.
            state: if item.state == ItemState::Pending { ItemState::Called } else { item.state },
            name: item.name.as_deref(),
            sort: item.sort.as_deref(),
            call_id: item.call.as_deref(),
            text: &item.text,
            arguments: item.arguments.as_deref(),
            description: item.description.as_deref(),
            result: item.result.as_deref(),
            detail: item.label.as_deref(),
            ran_for_ms: item.ran_for_ms,
            steps: item.steps.iter().map(SegmentPayload::from_item).collect(),
            images: &item.images,
            citations: &item.citations,
        }
    }
}
