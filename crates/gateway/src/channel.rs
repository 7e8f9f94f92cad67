//! Channels: each encodes one kind of stream of one session once for all its readers.
//!
//! Does: fold the log, merge the events of one window, broadcast the frames. Does not: buffer for a
//! slow reader. Each batch names the positions it covers, so that a reader can tell if it fits; if
//! not, the reader reads the log itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::fanout::{Receiver, Sender, Subscriber, fanout};
use crate::fold::{Fold, FramePosition, FrameRange, Topic};
use crate::limits::{FRAME_BATCHES_QUEUED_MAX, HEARTBEAT_EVERY};
use millpond_log::id::SessionId;
use millpond_log::store::StoreError;
use millpond_log::{Log, LogEnd};

/// Frames after position `after`, up to and including `through`.
#[derive(Clone, Debug)]
pub struct FrameBatch {
    pub after: FramePosition,
    pub through: FramePosition,
    pub bytes: Bytes,
}

impl FrameBatch {
    /// Frames without a position in the log, such as heartbeats.
    fn new_out_of_band(position: FramePosition, bytes: Bytes) -> FrameBatch {
        FrameBatch { after: position, through: position, bytes }
    }

    /// True for frames without a position in the log.
    pub fn is_out_of_band(&self) -> bool {
        self.after == self.through
    }
}

/// All open channels.
#[derive(Clone, Debug)]
pub struct Channels(Arc<ChannelsShared>);

#[derive(Debug)]
struct ChannelsShared {
    log: Log,
    merge_window: Duration,
    stop: watch::Sender<bool>,
    by_session: Mutex<HashMap<SessionId, Vec<OpenChannel>>>,
}

/// An open channel, as new readers find it.
#[derive(Debug)]
struct OpenChannel {
    topic: Topic,
    reopen_count: u32,
    subscriber: Subscriber<FrameBatch>,
}

impl Channels {
    /// Starts without channels. Events within `window` after a send go out together; zero sends
    /// every event at once.
    pub fn new(log: Log, window: Duration) -> Channels {
        let (stop, open_channels) = (watch::Sender::new(false), Mutex::default());
        Channels(Arc::new(ChannelsShared {
            log,
            merge_window: window,
            stop,
            by_session: open_channels,
        }))
    }

    /// The log that all channels read.
    pub fn log(&self) -> &Log {
        &self.0.log
    }

    /// Closes all channels, also future ones.
    pub fn stop_present_and_future_channels(&self) {
        self.0.stop.send_replace(true);
    }

    /// Wakes all readers although there is nothing to read.
    pub fn wake_all_readers(&self) {
        for channel in self.lock().values().flatten() {
            channel.subscriber.wake_all_receivers();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<OpenChannel>>> {
        self.0.by_session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the channel of a topic and returns the position it has sent. Without an open channel,
    /// starts one from `fold`.
    pub async fn join_or_start(
        &self,
        topic: Topic,
        fold: &Fold,
    ) -> Result<(Receiver<FrameBatch>, FramePosition), StoreError> {
        let log_end = self.log().watch_log_end(topic.session).await?;
        let reopen_count = fold.reopen_count();
        let mut open_channels = self.lock();
        let channels = open_channels.entry(topic.session).or_default();
        let found = channels
            .iter()
            .find(|channel| channel.topic == topic && channel.reopen_count == reopen_count);
        if let Some((batches, last)) = found.and_then(|channel| channel.subscriber.subscribe()) {
            return Ok((batches, last.through));
        }
        let position = fold.last_position();
        let first = FrameBatch::new_out_of_band(position, Bytes::new());
        let (sender, batches) = fanout(FRAME_BATCHES_QUEUED_MAX, first);
        channels.retain(|channel| channel.topic != topic);
        channels.push(OpenChannel { topic, reopen_count, subscriber: sender.subscriber() });
        let fold = fold.clone();
        let fold = if self.0.merge_window.is_zero() {
            fold.without_merging()
        } else {
            fold.with_merging()
        };
        tokio::spawn(
            ChannelTask { channels: self.clone(), topic, fold, log_end, sender }
                .send_frames_until_no_readers(),
        );
        Ok((batches, position))
    }

    /// Removes a channel if it has no readers, so that no reader joins it. Returns true if it did.
    fn remove_if_no_readers(&self, topic: Topic, fold: &Fold, sender: &Sender<FrameBatch>) -> bool {
        let mut open_channels = self.lock();
        if sender.has_receivers() {
            return false;
        }
        if let Some(channels) = open_channels.get_mut(&topic.session) {
            let reopen_count = fold.reopen_count();
            channels
                .retain(|channel| channel.topic != topic || channel.reopen_count != reopen_count);
            if channels.is_empty() {
                open_channels.remove(&topic.session);
            }
        }
        true
    }

    /// Removes channels that closed while they had readers, because the log is gone or cannot be
    /// read.
    fn remove_closed_of_session(&self, session: SessionId) {
        let mut open_channels = self.lock();
        if let Some(channels) = open_channels.get_mut(&session) {
            channels.retain(|channel| !channel.subscriber.is_closed());
            if channels.is_empty() {
                open_channels.remove(&session);
            }
        }
    }
}

/// Task behind a channel: its fold and its sender.
struct ChannelTask {
    channels: Channels,
    topic: Topic,
    fold: Fold,
    log_end: LogEnd,
    sender: Sender<FrameBatch>,
}

impl ChannelTask {
    /// Sends frames until there are no readers, the session is gone or the log cannot be read.
    /// Readers then see the channel close and read the log themselves.
    async fn send_frames_until_no_readers(mut self) {
        let window = self.channels.0.merge_window;
        let mut stop = self.channels.0.stop.subscribe();
        let mut last_sent = Instant::now();
        loop {
            let next_seq = self.fold.next_seq();
            let growth = async {
                tokio::select! {
                    grown = self.log_end.wait_for(|end| next_seq < *end) => grown.is_ok(),
                    () = self.sender.wait_until_abandoned() => true,
                    _ = stop.wait_for(|stop| *stop) => false,
                }
            };
            match tokio::time::timeout_at(last_sent + HEARTBEAT_EVERY, growth).await {
                Ok(false) => break,
                Ok(true) => {}
                Err(_) => self.send_heartbeat(),
            }
            last_sent = Instant::now();
            if self.read_and_send_new_frames().await.is_err()
                || self.channels.remove_if_no_readers(self.topic, &self.fold, &self.sender)
            {
                break;
            }
            // The first event of a window was sent at once; the others wait for its end.
            tokio::time::sleep_until(last_sent + window).await;
        }
        drop((self.log_end, self.sender));
        self.channels.remove_closed_of_session(self.topic.session);
    }

    /// Reads new records and sends their frames as one batch.
    async fn read_and_send_new_frames(&mut self) -> Result<(), StoreError> {
        let mut bytes = String::new();
        let (start_position, counts_before) = (self.fold.last_position(), self.fold.frame_counts());
        let (log, new_frames) = (self.channels.log(), FrameRange::after(start_position));
        self.fold.read_and_encode_next_records(log, &mut bytes, new_frames).await?;
        self.fold.flush(log.stream_debug(), &mut bytes, new_frames);
        let counts_after = self.fold.frame_counts();
        self.channels.log().metrics().record_encoded_frames(
            self.topic.kind.view,
            counts_after.frames - counts_before.frames,
            counts_after.merged - counts_before.merged,
        );
        if !bytes.is_empty() {
            self.sender.send(FrameBatch {
                after: start_position,
                through: self.fold.last_position(),
                bytes: bytes.into(),
            });
        }
        Ok(())
    }

    fn send_heartbeat(&self) {
        let position = self.fold.last_position();
        let bytes = self.topic.framing.heartbeat_frame(self.fold.next_seq()).into();
        self.sender.send(FrameBatch::new_out_of_band(position, bytes));
    }
}

#[cfg(test)]
mod tests {
    use millpond_engine::view::ViewName;
    use millpond_engine::wire::StreamKind;
    use millpond_log::id::OwnerId;
    use millpond_log::store::sqlite::{Durability, SqliteStore};
    use millpond_log::store::{Session, Store};

    use super::*;
    use crate::fold::Framing;

    #[tokio::test]
    async fn a_channel_goes_with_its_last_reader() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(dir.path(), Durability::Window).unwrap());
        let session = Session::new(OwnerId::new(1, [1; 10]), "", 1).unwrap();
        store.create_session(&session).unwrap();
        let channels = Channels::new(Log::open(store).unwrap(), Duration::ZERO);
        let kind = StreamKind::new(ViewName::Latest);
        let topic = Topic { session: session.id, kind, framing: Framing::JsonLines };
        let fold = Fold::new(topic, channels.log());
        let (first, _) = channels.join_or_start(topic, &fold).await.unwrap();
        let (second, _) = channels.join_or_start(topic, &fold).await.unwrap();
        assert_eq!(channels.lock().values().flatten().count(), 1);
        drop(first);
        tokio::task::yield_now().await;
        assert_eq!(channels.lock().values().flatten().count(), 1, "the second still reads");
        drop(second);
        let gone = async {
            while !channels.lock().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        // Long before the next heartbeat, which is when it would be noticed otherwise.
        tokio::time::timeout(HEARTBEAT_EVERY / 2, gone).await.unwrap();
    }
}
