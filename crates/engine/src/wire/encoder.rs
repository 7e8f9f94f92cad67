//! Encodes records as frames, for one kind of stream.
//!
//! Invariant: frames depend only on the log and the stream kind, so one encoding serves all readers
//! and a reader can resume at any frame.

use std::borrow::Cow;

use crate::event::{Millis, Record};
use crate::limits::MERGED_TEXT_BYTES_MAX;
use crate::view::{ItemKey, Page, Patch, Status, View, ViewFold, ViewOptions};

use super::cursor::Cursor;
use super::json::write_string;
use super::native::{FrameEnvelope, NativeFrames};
use super::patch::PatchEncoder;
use super::snapshot::{ProtocolVersion, overwrite_with_snapshot_payload};
use super::stream_kind::{ContentMode, FrameFormat, StreamKind};

/// One message to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Cursor to resume after this frame.
    pub id: Cursor,
    /// Name of the frame; empty for patch frames.
    pub event: &'a str,
    /// Payload: JSON on one line.
    pub data: &'a str,
}

/// Merging of consecutive appends into one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Merging {
    #[default]
    Off,
    UntilFlush,
}

/// Encoder of one stream, after the records pushed so far.
#[derive(Clone, Debug)]
pub struct Encoder {
    view: View,
    writer: FrameWriter,
    merging: Merging,
    /// An append that has not been sent.
    pending: Option<PendingAppend>,
    merged_count: u64,
}

/// The page, and the writer of its frames.
#[derive(Clone, Debug)]
struct FrameWriter {
    kind: StreamKind,
    /// Epoch of the records that are pushed.
    epoch: u64,
    /// JSON strings, because most frames contain them.
    session: String,
    run: String,
    page: Page,
    encoding: FrameEncoding,
    buffer: String,
}

/// State of the frame format in use.
#[derive(Clone, Debug)]
enum FrameEncoding {
    Native(NativeFrames),
    Patch(PatchEncoder),
}

/// An append that has not been sent and may still grow.
#[derive(Clone, Debug)]
struct PendingAppend {
    key: ItemKey,
    start: PendingStart,
    text: String,
    seq: u64,
    sent: u32,
    epoch: u64,
}

/// Item of a pending append: an existing one, or one that it starts.
#[derive(Clone, Copy, Debug)]
enum PendingStart {
    ExistingItem,
    NewItem { at_ms: Option<Millis> },
}

/// Returns true if later appends can be merged into this patch.
fn accepts_later_appends(patch: &Patch<'_>, format: FrameFormat) -> bool {
    match patch {
        Patch::Append { .. } => true,
        Patch::Next { .. } => format == FrameFormat::Patch,
        Patch::Put { .. }
        | Patch::Rewrite { .. }
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
        | Patch::Resolve(_)
        | Patch::Ended(_) => false,
    }
}

impl PendingAppend {
    /// Creates a pending append; `None` for other patches.
    fn from_patch(patch: &Patch<'_>, seq: u64, sent: u32, epoch: u64) -> Option<PendingAppend> {
        let (Patch::Append { key, text } | Patch::Next { key, text, .. }) = patch else {
            return None;
        };
        let start = if let Patch::Next { at_ms, .. } = patch {
            PendingStart::NewItem { at_ms: *at_ms }
        } else {
            PendingStart::ExistingItem
        };
        Some(PendingAppend { key: *key, start, text: text.to_string(), seq, sent, epoch })
    }

    /// Merges an append to the same item, up to `bytes_max` of text; returns false for other patches.
    fn try_merge(
        &mut self,
        patch: &Patch<'_>,
        (seq, sent, epoch): (u64, u32, u64),
        bytes_max: usize,
    ) -> bool {
        let Patch::Append { key, text } = patch else { return false };
        if *key != self.key || bytes_max < self.text.len() + text.len() {
            return false;
        }
        self.text.push_str(text);
        (self.seq, self.sent, self.epoch) = (seq, sent, epoch);
        true
    }
}

impl Encoder {
    /// Creates an encoder before any record.
    pub fn new(kind: StreamKind, session: &str) -> Encoder {
        let encoding = match kind.format {
            FrameFormat::Native => FrameEncoding::Native(NativeFrames::default()),
            FrameFormat::Patch => FrameEncoding::Patch(PatchEncoder::default()),
        };
        let mut quoted = String::new();
        write_string(session, &mut quoted);
        let writer = FrameWriter {
            kind,
            epoch: 0,
            session: quoted,
            run: String::new(),
            page: Page::default(),
            encoding,
            buffer: String::new(),
        };
        let view = View::new(kind.view, ViewOptions { thinking: kind.thinking });
        Encoder { view, writer, merging: Merging::Off, pending: None, merged_count: 0 }
    }

    /// Sets the epoch of the records that are pushed from now on.
    pub fn set_epoch(&mut self, epoch: u64) {
        self.writer.epoch = epoch;
    }

    /// Epoch of the records that are pushed.
    pub fn epoch(&self) -> u64 {
        self.writer.epoch
    }

    /// Merges appends to one item into one frame until another patch or [`Encoder::flush`].
    #[must_use]
    pub fn with_merging(self) -> Encoder {
        Encoder { merging: Merging::UntilFlush, ..self }
    }

    /// Emits every append in a frame of its own. Nothing may be pending.
    #[must_use]
    pub fn without_merging(self) -> Encoder {
        Encoder { merging: Merging::Off, ..self }
    }

    /// Number of overlay changes that came too late to be shown; only the view `steps` has any.
    pub fn suppressed_overlay_count(&self) -> u64 {
        match self.view.fold() {
            ViewFold::Steps(steps) => steps.suppressed_overlay_count(),
            ViewFold::Latest(_)
            | ViewFold::Bubbles(_)
            | ViewFold::Transcript(_)
            | ViewFold::Sentences(_) => 0,
        }
    }

    /// Number of appends merged into the frame of another.
    pub fn merged_append_count(&self) -> u64 {
        self.merged_count
    }

    /// The current page, including text in an unsent frame.
    pub fn page(&self) -> &Page {
        &self.writer.page
    }

    /// Applies a record and emits its frames.
    pub fn push(&mut self, record: &Record<'_>, out: &mut impl FnMut(Frame<'_>)) {
        let Encoder { view, writer, merging, pending, merged_count } = self;
        let (seq, epoch) = (record.seq, writer.epoch);
        let bytes_max = writer.merged_bytes_max();
        let mut sent = 0;
        view.apply(record, &mut |patch| {
            if *merging == Merging::UntilFlush && accepts_later_appends(&patch, writer.kind.format)
            {
                sent += 1;
                if pending
                    .as_mut()
                    .is_some_and(|open| open.try_merge(&patch, (seq, sent, epoch), bytes_max))
                {
                    *merged_count += 1;
                } else {
                    writer.emit_pending_append(pending, out);
                    *pending = PendingAppend::from_patch(&patch, seq, sent, epoch);
                }
                writer.page.apply(&patch);
                return;
            }
            // First, because a frame may contain the whole item as it is now.
            writer.emit_pending_append(pending, out);
            writer.page.apply(&patch);
            if let Patch::Status(Status::Queued) = patch {
                writer.run.clear();
                write_string(&record.run, &mut writer.run);
            }
            writer.emit_patch_frames(&patch, seq, &mut sent, out);
        });
    }

    /// Applies a record for a reader at `cursor`: emits only later frames. No frame has text from
    /// both sides of the cursor; later ones are merged like those of [`Encoder::push`].
    pub fn push_after_cursor(
        &mut self,
        record: &Record<'_>,
        cursor: &Cursor,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        if cursor.seq < record.seq {
            return self.push(record, out);
        }
        let mut later = |frame: Frame<'_>| {
            if (cursor.seq, cursor.frames_sent) < (frame.id.seq, frame.id.frames_sent) {
                out(frame);
            }
        };
        if record.seq < cursor.seq {
            return self.push(record, &mut later);
        }
        self.flush(&mut later);
        let merging = std::mem::take(&mut self.merging);
        self.push(record, &mut later);
        self.merging = merging;
    }

    /// Emits the pending append.
    pub fn flush(&mut self, out: &mut impl FnMut(Frame<'_>)) {
        self.writer.emit_pending_append(&mut self.pending, out);
    }

    /// Emits the whole page in one frame, for a reader without any. Its cursor is before the event
    /// `next`.
    pub fn emit_snapshot(
        &self,
        next: u64,
        version: ProtocolVersion,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        let FrameWriter { kind, epoch, page, run, .. } = &self.writer;
        let mut data = String::new();
        overwrite_with_snapshot_payload(page, run, version, &mut data);
        let id = Cursor { kind: *kind, epoch: *epoch, seq: next, frames_sent: 0 };
        out(Frame { id, event: "snapshot", data: &data });
    }
}

impl FrameWriter {
    /// Bytes of appended text that may become one frame. Where each frame has the whole text, fewer
    /// frames are smaller.
    fn merged_bytes_max(&self) -> usize {
        match (self.kind.format, self.kind.content) {
            (FrameFormat::Native, ContentMode::Accumulated) => usize::MAX,
            (FrameFormat::Native, ContentMode::Delta) | (FrameFormat::Patch, _) => {
                MERGED_TEXT_BYTES_MAX
            }
        }
    }

    /// Takes the pending append, if any, and emits its frame.
    fn emit_pending_append(
        &mut self,
        pending: &mut Option<PendingAppend>,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        if let Some(PendingAppend { key, start, text, seq, mut sent, epoch }) = pending.take() {
            let text = Cow::Owned(text);
            let patch = match start {
                PendingStart::ExistingItem => Patch::Append { key, text },
                PendingStart::NewItem { at_ms } => Patch::Next { key, at_ms, text },
            };
            sent -= 1;
            let epoch_of_new_records = std::mem::replace(&mut self.epoch, epoch);
            self.emit_patch_frames(&patch, seq, &mut sent, out);
            self.epoch = epoch_of_new_records;
        }
    }

    /// Emits the frames of a patch that is already applied to the page; counts them in `sent`.
    fn emit_patch_frames(
        &mut self,
        patch: &Patch<'_>,
        seq: u64,
        sent: &mut u32,
        out: &mut impl FnMut(Frame<'_>),
    ) {
        let FrameWriter { kind, epoch, session, run, page, encoding, buffer } = self;
        let mut emit = |event: &str, data: &str| {
            *sent += 1;
            let id = Cursor { kind: *kind, epoch: *epoch, seq, frames_sent: *sent };
            out(Frame { id, event, data });
        };
        match encoding {
            FrameEncoding::Native(frames) => {
                let envelope = FrameEnvelope { kind: *kind, session, run, seq };
                frames.emit_frames(patch, page, envelope, buffer, &mut emit);
            }
            FrameEncoding::Patch(frames) => {
                frames.encode_next_into_cleared(patch, buffer);
                emit("", buffer);
            }
        }
    }
}
