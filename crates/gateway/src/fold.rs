//! A fold from the log to frames of one stream.

use millpond_engine::event::{Event, Record};
use millpond_engine::wire::{Cursor, Encoder, Frame, ProtocolVersion, StreamKind, sse};

use millpond_log::Log;
use millpond_log::id::SessionId;
use millpond_log::store::StoreError;
use millpond_log::stream_debug::StreamDebug;

/// Position of a frame in its stream: sequence number of the event, and index of the frame within
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FramePosition {
    pub seq: u64,
    pub frame_index: u32,
}

impl FramePosition {
    /// After every frame that can be.
    pub const LAST: FramePosition = FramePosition { seq: u64::MAX, frame_index: u32::MAX };
}

impl From<&Cursor> for FramePosition {
    fn from(cursor: &Cursor) -> FramePosition {
        FramePosition { seq: cursor.seq, frame_index: cursor.frames_sent }
    }
}

/// Framing of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Server-sent events.
    ServerSentEvents,
    /// One JSON object per line.
    JsonLines,
}

impl Framing {
    /// Writes one frame.
    pub fn write_frame(self, frame: &Frame<'_>, out: &mut String) {
        match self {
            Framing::ServerSentEvents => sse::write_sse_event(frame, out),
            Framing::JsonLines => sse::write_json_line(frame, out),
        }
    }

    /// An event about the stream itself. It has no cursor, because it is not in the log.
    pub fn format_event_without_cursor(self, event: &str, data: &str) -> String {
        match self {
            Framing::ServerSentEvents => format!("event:{event}\ndata:{data}\n\n"),
            Framing::JsonLines => format!("{{\"event\":\"{event}\",\"data\":{data}}}\n"),
        }
    }

    /// A keep-alive with the end of the log, so that a reader can see that it is behind.
    pub fn heartbeat_frame(self, end: u64) -> String {
        match self {
            Framing::ServerSentEvents => format!(": head {end}\n\n"),
            Framing::JsonLines => {
                self.format_event_without_cursor("heartbeat", &format!("{{\"head\":{end}}}"))
            }
        }
    }
}

/// Line of `STREAM_DEBUG` about one frame of a view.
fn format_view_debug_line(session: SessionId, frame: &Frame<'_>) -> String {
    let (view, at, event, data) = (frame.id.kind.view.as_str(), &frame.id, frame.event, frame.data);
    format!(
        "{{\"debug\":\"view\",\"view\":\"{view}\",\"session\":\"{session}\",\"at\":\"{at}\",\
         \"event\":\"{event}\",\"data\":{data}}}"
    )
}

/// Line of `STREAM_DEBUG` about overlays that came after the first text of their round.
fn format_suppressed_overlays_line(session: SessionId, count: u64) -> String {
    format!("{{\"debug\":\"overlays_suppressed\",\"session\":\"{session}\",\"count\":{count}}}")
}

/// Identity of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    pub session: SessionId,
    pub kind: StreamKind,
    pub framing: Framing,
}

/// Encodes the log of one topic into frames.
#[derive(Clone, Debug)]
pub struct Fold {
    topic: Topic,
    /// `Store::reopen_count` when the fold began.
    reopen_count: u32,
    encoder: Encoder,
    next_seq: u64,
    last_position: FramePosition,
    frame_count: u64,
}

/// Frames of a stream after one position, up to and including another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    pub after: FramePosition,
    pub through: FramePosition,
}

impl FrameRange {
    /// All frames after a position.
    pub fn after(after: FramePosition) -> FrameRange {
        FrameRange { after, through: FramePosition::LAST }
    }

    /// No frame.
    pub fn empty() -> FrameRange {
        FrameRange::after(FramePosition::LAST)
    }

    fn contains(self, position: FramePosition) -> bool {
        self.after < position && position <= self.through
    }
}

/// Writes the frames of a fold and counts them.
struct FrameOutput<'a> {
    topic: &'a Topic,
    last_position: &'a mut FramePosition,
    frame_count: &'a mut u64,
    stream_debug: &'a StreamDebug,
    out: &'a mut String,
    range: FrameRange,
}

impl FrameOutput<'_> {
    fn write(&mut self, frame: &Frame<'_>) {
        let position = FramePosition::from(&frame.id);
        *self.last_position = position;
        *self.frame_count += 1;
        if self.range.contains(position) {
            self.stream_debug
                .write_line_if_on(|| format_view_debug_line(self.topic.session, frame));
            self.topic.framing.write_frame(frame, self.out);
        }
    }
}

/// Counts of a fold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    pub frames: u64,
    /// Appends that were merged into another frame.
    pub merged: u64,
}

impl Fold {
    /// Starts at the first record.
    pub fn new(topic: Topic, log: &Log) -> Fold {
        let encoder = Encoder::new(topic.kind, &topic.session.to_string());
        Fold {
            topic,
            reopen_count: log.store().reopen_count(),
            encoder,
            next_seq: 0,
            last_position: FramePosition::default(),
            frame_count: 0,
        }
    }

    /// Merges consecutive appends into one frame, until `flush`.
    #[must_use]
    pub fn with_merging(self) -> Fold {
        Fold { encoder: self.encoder.with_merging(), ..self }
    }

    /// Merges nothing.
    #[must_use]
    pub fn without_merging(self) -> Fold {
        Fold { encoder: self.encoder.without_merging(), ..self }
    }

    /// `Store::reopen_count` when the fold began; if it has increased, records that the fold has
    /// read may be lost.
    pub fn reopen_count(&self) -> u32 {
        self.reopen_count
    }

    /// Sequence number of the next record to read.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Frames and merged appends so far.
    pub fn frame_counts(&self) -> FrameCounts {
        FrameCounts { frames: self.frame_count, merged: self.encoder.merged_append_count() }
    }

    /// Position of the last frame.
    pub fn last_position(&self) -> FramePosition {
        self.last_position
    }

    /// Reads the next records and writes their frames that are in `range`, except one that is still
    /// being merged. Returns false at the end of the log.
    pub async fn read_and_encode_next_records(
        &mut self,
        log: &Log,
        out: &mut String,
        range: FrameRange,
    ) -> Result<bool, StoreError> {
        let start_seq = self.next_seq;
        for chunk in log.read(self.topic.session, start_seq).await? {
            self.encoder.set_epoch(chunk.epoch);
            for record in chunk.records_from(self.next_seq) {
                let record = record.map_err(|error| StoreError::Damaged {
                    session: self.topic.session,
                    seq: self.next_seq,
                    detail: error.to_string(),
                })?;
                self.encode_record(&record, log.stream_debug(), out, range);
            }
        }
        Ok(start_seq < self.next_seq)
    }

    /// Writes the frame that is being merged, if it is in `range`.
    pub fn flush(&mut self, stream_debug: &StreamDebug, out: &mut String, range: FrameRange) {
        let Fold { topic, encoder, last_position, frame_count, .. } = self;
        let mut frames =
            FrameOutput { topic, last_position, frame_count, stream_debug, out, range };
        encoder.flush(&mut |frame| frames.write(&frame));
    }

    fn encode_record(
        &mut self,
        record: &Record<'_>,
        stream_debug: &StreamDebug,
        out: &mut String,
        range: FrameRange,
    ) {
        let Fold { topic, encoder, next_seq, last_position, frame_count, .. } = self;
        let mut frames =
            FrameOutput { topic, last_position, frame_count, stream_debug, out, range };
        if range == FrameRange::empty() {
            // Their positions count, although none is written.
            encoder.push(record, &mut |frame| frames.write(&frame));
        } else {
            let FramePosition { seq, frame_index: frames_sent } = range.after;
            let cursor = Cursor { kind: topic.kind, epoch: encoder.epoch(), seq, frames_sent };
            encoder.push_after_cursor(record, &cursor, &mut |frame| frames.write(&frame));
        }
        let suppressed = encoder.suppressed_overlay_count();
        let end = FramePosition { seq: record.seq, frame_index: u32::MAX };
        if let (Event::RunEnded { .. }, 1..) = (&record.event, suppressed)
            && range.contains(end)
        {
            let session = topic.session;
            stream_debug.write_line_if_on(|| format_suppressed_overlays_line(session, suppressed));
        }
        *next_seq = record.seq + 1;
    }

    /// Writes a snapshot of the whole page.
    pub fn write_snapshot(&self, version: ProtocolVersion, out: &mut String) {
        let mut write = |frame: Frame<'_>| self.topic.framing.write_frame(&frame, out);
        self.encoder.emit_snapshot(self.next_seq, version, &mut write);
    }
}
