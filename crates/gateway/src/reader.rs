//! One reader of a stream: catches up from the log, then follows its channel.
//!
//! When a batch does not fit, because the reader was slow or joined within a window, it reads the
//! log again.
//!
//! Invariant: no frame is sent twice or left out, whatever the reader's pace.

use std::cmp::Ordering;
use std::mem;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use millpond_engine::wire::{Cursor, ProtocolVersion};

use crate::channel::{Channels, FrameBatch};
use crate::fanout::{ReceiveError, Receiver};
use crate::fold::{Fold, FramePosition, FrameRange, Topic};
use crate::limits::LAG_RECORDS_MAX;
use millpond_log::Log;
use millpond_log::store::StoreError;

/// Where a reader starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the first frame.
    Beginning,
    /// After the frame with this position.
    After(FramePosition),
    /// With a snapshot of the whole page.
    Snapshot,
}

impl Start {
    /// Parses a cursor. `Snapshot` if it belongs to another stream, or if the record before its
    /// position does not exist or was written under another epoch.
    pub async fn from_cursor(text: &str, topic: Topic, log: &Log) -> Result<Start, StoreError> {
        let Ok(cursor) = text.parse::<Cursor>() else { return Ok(Start::Snapshot) };
        // Without frames of its event, the position is after the event before it.
        let last_seq =
            if cursor.frames_sent == 0 { cursor.seq.checked_sub(1) } else { Some(cursor.seq) };
        let epoch = match last_seq {
            Some(seq) => {
                log.call_store(move |store| store.record_epoch(topic.session, seq)).await?
            }
            None => Some(0),
        };
        if cursor.kind == topic.kind && epoch == Some(cursor.epoch) {
            Ok(Start::After(FramePosition::from(&cursor)))
        } else {
            Ok(Start::Snapshot)
        }
    }
}

/// Reason why a reader is closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the reader fell too far behind")]
    TooSlow,
    /// Frames already sent may be lost; the client must resume.
    #[error("the log may have lost its newest records")]
    StoreReopened,
}

/// One reader of a topic.
#[derive(Debug)]
pub struct Reader {
    channels: Channels,
    topic: Topic,
    /// `Store::reopen_count` when the reader began; if it has increased, frames already sent may be
    /// lost.
    reopen_count: u32,
    /// Position of the last frame sent.
    last_position: FramePosition,
    /// True if a snapshot of the page is to be sent first.
    needs_snapshot: bool,
    version: ProtocolVersion,
    state: ReaderState,
}

/// How far a reader has caught up.
#[derive(Debug)]
enum ReaderState {
    /// About to read the log, possibly because frames were missed.
    Restarting { has_missed_frames: bool },
    /// Reads the log.
    Reading(Box<Fold>),
    /// Has read further than the channel had sent: the next batch overlaps.
    Ahead { fold: Box<Fold>, batches: Receiver<FrameBatch>, next_batch: Option<FrameBatch> },
    /// Each batch continues the one before.
    Live(Receiver<FrameBatch>),
}

/// Result of polling a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollOutcome {
    Bytes(Bytes),
    /// The log must be read first.
    NeedsLogRead,
}

impl Reader {
    /// A reader that has read nothing yet.
    pub fn new(channels: Channels, topic: Topic, start: Start) -> Reader {
        let last_position =
            if let Start::After(position) = start { position } else { FramePosition::default() };
        let needs_snapshot = start == Start::Snapshot;
        let reopen_count = channels.log().store().reopen_count();
        let state = ReaderState::Restarting { has_missed_frames: false };
        let version = ProtocolVersion::default();
        Reader { channels, topic, reopen_count, last_position, needs_snapshot, version, state }
    }

    /// Sets the version of the protocol, which decides the form of a snapshot.
    #[must_use]
    pub fn with_version(self, version: ProtocolVersion) -> Reader {
        Reader { version, ..self }
    }

    /// Polls the channel for the next bytes.
    pub fn poll_live(&mut self, cx: &mut Context<'_>) -> Poll<Result<PollOutcome, ReadError>> {
        loop {
            let (batches, next_batch) = match &mut self.state {
                ReaderState::Restarting { .. }
                | ReaderState::Reading(_)
                | ReaderState::Ahead { next_batch: Some(_), .. } => {
                    return Poll::Ready(Ok(PollOutcome::NeedsLogRead));
                }
                ReaderState::Ahead { batches, next_batch, .. } => (batches, Some(next_batch)),
                ReaderState::Live(batches) => (batches, None),
            };
            let received = ready!(batches.poll_recv(cx));
            // Checked after receiving: the value may be from before or after the change.
            if self.channels.log().store().reopen_count() != self.reopen_count {
                return Poll::Ready(Err(ReadError::StoreReopened));
            }
            match (received, next_batch) {
                (Ok(batch), _) if batch.is_out_of_band() => {
                    return Poll::Ready(Ok(PollOutcome::Bytes(batch.bytes)));
                }
                (Ok(batch), _) if batch.through <= self.last_position => {}
                (Ok(batch), Some(next_batch)) => *next_batch = Some(batch),
                (Ok(batch), None) if batch.after == self.last_position => {
                    self.last_position = batch.through;
                    return Poll::Ready(Ok(PollOutcome::Bytes(batch.bytes)));
                }
                (Ok(_) | Err(ReceiveError::Closed), _) => {
                    self.state = ReaderState::Restarting { has_missed_frames: false };
                }
                (Err(ReceiveError::Missed), _) => {
                    self.state = ReaderState::Restarting { has_missed_frames: true }
                }
            }
        }
    }

    /// Reads some of the log and returns the new frames, if any. At the end of the log it joins the
    /// channel.
    pub async fn catch_up_by_one_read(&mut self) -> Result<Bytes, ReadError> {
        // Cached records are read without waiting; this yields to other tasks.
        tokio::task::coop::consume_budget().await;
        let state =
            mem::replace(&mut self.state, ReaderState::Restarting { has_missed_frames: false });
        let bytes = match state {
            ReaderState::Restarting { has_missed_frames: true }
                if self.record_lag_and_is_over_limit().await? =>
            {
                return Err(ReadError::TooSlow);
            }
            ReaderState::Restarting { .. } => {
                let fold = Fold::new(self.topic, self.channels.log()).with_merging();
                self.read_log_or_join_channel(Box::new(fold)).await?
            }
            ReaderState::Reading(fold) => self.read_log_or_join_channel(fold).await?,
            ReaderState::Ahead { fold, batches, next_batch: Some(batch) } => {
                self.state = ReaderState::Live(batches);
                self.read_rest_of_batch(fold, batch).await?
            }
            live => {
                self.state = live;
                Bytes::new()
            }
        };
        if self.channels.log().store().reopen_count() != self.reopen_count {
            return Err(ReadError::StoreReopened);
        }
        Ok(bytes)
    }

    async fn record_lag_and_is_over_limit(&self) -> Result<bool, StoreError> {
        let log = self.channels.log();
        let end = *log.watch_log_end(self.topic.session).await?.borrow();
        let lag = end.saturating_sub(self.last_position.seq);
        log.metrics().record_reader_lag(lag);
        Ok(LAG_RECORDS_MAX < lag)
    }

    /// Reads some of the log. At its end: flushes the merged frame, sends the snapshot that is due,
    /// and joins the channel.
    async fn read_log_or_join_channel(&mut self, mut fold: Box<Fold>) -> Result<Bytes, StoreError> {
        let mut bytes = String::new();
        let log = self.channels.log();
        let range = if self.needs_snapshot {
            FrameRange::empty()
        } else {
            FrameRange::after(self.last_position)
        };
        let has_more = fold.read_and_encode_next_records(log, &mut bytes, range).await?;
        if !has_more {
            fold.flush(log.stream_debug(), &mut bytes, range);
        }
        if !self.needs_snapshot {
            self.last_position = self.last_position.max(fold.last_position());
        } else if !has_more {
            fold.write_snapshot(self.version, &mut bytes);
            (self.last_position, self.needs_snapshot) = (fold.last_position(), false);
        }
        if has_more {
            self.state = ReaderState::Reading(fold);
            return Ok(bytes.into());
        }
        let (batches, channel_position) = self.channels.join_or_start(self.topic, &fold).await?;
        self.state = match channel_position.cmp(&self.last_position) {
            Ordering::Less => ReaderState::Ahead { fold, batches, next_batch: None },
            Ordering::Equal => ReaderState::Live(batches),
            // Frames were sent between reading and joining.
            Ordering::Greater => ReaderState::Reading(fold),
        };
        Ok(bytes.into())
    }

    /// Reads the part of a batch that the reader lacks; unmerged, because the log may go on after
    /// the batch.
    async fn read_rest_of_batch(
        &mut self,
        fold: Box<Fold>,
        batch: FrameBatch,
    ) -> Result<Bytes, StoreError> {
        let last_sent = mem::replace(&mut self.last_position, batch.through);
        if batch.after == last_sent {
            return Ok(batch.bytes);
        }
        let mut bytes = String::new();
        let missing = FrameRange { after: last_sent, through: batch.through };
        let log = self.channels.log();
        let mut fold = fold.without_merging();
        while fold.next_seq() <= batch.through.seq
            && fold.read_and_encode_next_records(log, &mut bytes, missing).await?
        {}
        Ok(bytes.into())
    }
}
