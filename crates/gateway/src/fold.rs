//! A fold from the log to frames of one stream.

use millpond_engine::event::Event;
use millpond_engine::wire::{Cursor, Encoder, Frame, ProtocolVersion, StreamKind, sse};

use millpond_log::Log;
use millpond_log::id::SessionId;
use millpond_log::store::StoreError;

/// Position of a frame in its stream: sequence number of the event, and index of the frame within
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FramePosition {
    pub seq: u64,
    pub frame_index: u32,
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
    epoch: u32,
    encoder: Encoder,
    next_seq: u64,
    last_position: FramePosition,
    frame_count: u64,
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
    pub fn new(topic: Topic, epoch: u32) -> Fold {
        let encoder = Encoder::new(topic.kind, &topic.session.to_string(), epoch);
        Fold {
            topic,
            epoch,
            encoder,
            next_seq: 0,
            last_position: FramePosition::default(),
            frame_count: 0,
        }
    }

    /// Merges consecutive appends into one frame.
    #[must_use]
    pub fn with_merging(self) -> Fold {
        Fold { encoder: self.encoder.with_merging(), ..self }
    }

    /// Epoch in which the frames are valid.
    pub fn epoch(&self) -> u32 {
        self.epoch
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

    /// Reads the next records and writes those of their frames for which `should_write` is true,
    /// including merged ones. Returns false at the end of the log.
    pub async fn read_and_encode_next_records(
        &mut self,
        log: &Log,
        out: &mut String,
        should_write: impl Fn(FramePosition) -> bool,
    ) -> Result<bool, StoreError> {
        let Fold { topic, encoder, next_seq, last_position: position, frame_count: frames, .. } =
            self;
        let start_seq = *next_seq;
        let stream_debug = log.stream_debug();
        let mut write = |frame: Frame<'_>| {
            *position = FramePosition::from(&frame.id);
            *frames += 1;
            if should_write(*position) {
                stream_debug.write_line_if_on(|| format_view_debug_line(topic.session, &frame));
                topic.framing.write_frame(&frame, out);
            }
        };
        for chunk in log.read(topic.session, start_seq).await? {
            for record in chunk.parse_records_from(*next_seq) {
                let record = record.map_err(|error| StoreError::Damaged {
                    session: topic.session,
                    seq: *next_seq,
                    detail: error.to_string(),
                })?;
                encoder.push(&record, &mut write);
                let suppressed = encoder.suppressed_overlay_count();
                let end = FramePosition { seq: record.seq, frame_index: u32::MAX };
                if let (Event::RunEnded { .. }, 1..) = (&record.event, suppressed)
                    && should_write(end)
                {
                    stream_debug.write_line_if_on(|| {
                        format_suppressed_overlays_line(topic.session, suppressed)
                    });
                }
                *next_seq = record.seq + 1;
            }
        }
        encoder.flush(&mut write);
        Ok(start_seq < *next_seq)
    }

    /// Writes a snapshot of the whole page.
    pub fn write_snapshot(&self, version: ProtocolVersion, out: &mut String) {
        let mut write = |frame: Frame<'_>| self.topic.framing.write_frame(&frame, out);
        self.encoder.emit_snapshot(self.next_seq, version, &mut write);
    }
}
