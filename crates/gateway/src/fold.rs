//! A stream of frames made from the log, as far as the log has been read.

use engine::wire::{Cursor, Encoder, Frame, Kind, sse};

use crate::id::SessionId;
use crate::log::Log;
use crate::store::StoreError;

/// Where a frame stands in its stream: the event's number, and which of its frames it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub seq: u64,
    pub sent: u32,
}

impl From<&Cursor> for Place {
    fn from(cursor: &Cursor) -> Place {
        Place { seq: cursor.seq, sent: cursor.sent }
    }
}

/// How frames are spelt on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// Server-sent events.
    Events,
    /// A JSON object on a line each.
    Lines,
}

impl Spelling {
    pub fn write(self, frame: &Frame<'_>, out: &mut String) {
        match self {
            Spelling::Events => sse::write_event(frame, out),
            Spelling::Lines => sse::write_line(frame, out),
        }
    }

    /// Something about the stream itself: it has no cursor, because it is in no log.
    pub fn aside(self, event: &str, data: &str) -> String {
        match self {
            Spelling::Events => format!("event:{event}\ndata:{data}\n\n"),
            Spelling::Lines => format!("{{\"event\":\"{event}\",\"data\":{data}}}\n"),
        }
    }

    /// Nothing new, but where the log ends: a reader that is behind can see that it is.
    pub fn heartbeat(self, end: u64) -> String {
        match self {
            Spelling::Events => format!(": head {end}\n\n"),
            Spelling::Lines => self.aside("heartbeat", &format!("{{\"head\":{end}}}")),
        }
    }
}

/// Everything that makes two streams differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    pub session: SessionId,
    pub kind: Kind,
    pub spelling: Spelling,
}

#[derive(Clone, Debug)]
pub struct Fold {
    topic: Topic,
    epoch: u32,
    encoder: Encoder,
    next: u64,
    place: Place,
    frames: u64,
}

/// What a fold has made so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MadeSoFar {
    pub frames: u64,
    /// Appends that went into the frame of another.
    pub merged: u64,
}

impl Fold {
    pub fn new(topic: Topic, epoch: u32) -> Fold {
        let encoder = Encoder::new(topic.kind, &topic.session.to_string(), epoch);
        Fold { topic, epoch, encoder, next: 0, place: Place::default(), frames: 0 }
    }

    /// The same, but appends in a row become one frame.
    #[must_use]
    pub fn merging(self) -> Fold {
        Fold { encoder: self.encoder.merging(), ..self }
    }

    /// Under which its frames are true.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The next record to read.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn made(&self) -> MadeSoFar {
        MadeSoFar { frames: self.frames, merged: self.encoder.merged() }
    }

    /// The last frame made.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Reads on and writes the frames for which `wanted` says so. Says whether there was more to
    /// read; what has been merged is written too.
    pub async fn read_on(
        &mut self,
        log: &Log,
        out: &mut String,
        wanted: impl Fn(Place) -> bool,
    ) -> Result<bool, StoreError> {
        let Fold { topic, encoder, next, place, frames, .. } = self;
        let from = *next;
        let mut write = |frame: Frame<'_>| {
            *place = Place::from(&frame.id);
            *frames += 1;
            if wanted(*place) {
                topic.spelling.write(&frame, out);
            }
        };
        for chunk in log.read(topic.session, from).await? {
            for record in chunk.records(*next) {
                let record = record.map_err(|error| StoreError::Damaged {
                    session: topic.session,
                    seq: *next,
                    detail: error.to_string(),
                })?;
                encoder.push(&record, &mut write);
                *next = record.seq + 1;
            }
        }
        encoder.flush(&mut write);
        Ok(from < *next)
    }

    /// The whole page as it stands.
    pub fn snapshot(&self, out: &mut String) {
        self.encoder.snapshot(self.next, &mut |frame| self.topic.spelling.write(&frame, out));
    }
}
