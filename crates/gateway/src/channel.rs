//! One kind of stream of one session, encoded once for all who follow it.
//!
//! Does: fold the log, merge what comes within one window, hand the pieces out.
//! Does not: keep anything for anybody. Each piece says from where to where it reaches, so that a
//! reader knows whether it fits; one that does not reads the log for itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use crate::fold::{Fold, Place, Topic};
use crate::id::SessionId;
use crate::limits::{HEARTBEAT_EVERY, MERGE_WINDOW, PIECES_WAITING_MAX};
use crate::log::Log;
use crate::store::StoreError;

/// Frames after `from`, up to and with `to`.
#[derive(Clone, Debug)]
pub struct Piece {
    pub from: Place,
    pub to: Place,
    pub bytes: Bytes,
}

/// All channels that somebody follows.
#[derive(Clone, Debug)]
pub struct Channels {
    log: Log,
    window: Duration,
    stop: watch::Sender<bool>,
    open: Arc<Mutex<HashMap<SessionId, Vec<Open>>>>,
}

#[derive(Debug)]
struct Open {
    topic: Topic,
    epoch: u32,
    sender: broadcast::WeakSender<Piece>,
}

impl Channels {
    pub fn new(log: Log) -> Channels {
        Channels {
            log,
            window: MERGE_WINDOW,
            stop: watch::Sender::new(false),
            open: Arc::default(),
        }
    }

    /// With another window; none means that every event is sent at once.
    #[must_use]
    pub fn with_window(self, window: Duration) -> Channels {
        Channels { window, ..self }
    }

    /// Closes all channels, and those to come.
    pub fn close_all(&self) {
        self.stop.send_replace(true);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a topic. If nobody does yet, its channel goes on from `fold`.
    pub async fn join(
        &self,
        topic: Topic,
        fold: &Fold,
    ) -> Result<broadcast::Receiver<Piece>, StoreError> {
        let end = self.log.follow(topic.session).await?;
        let mut open = self.lock();
        let channels = open.entry(topic.session).or_default();
        let epoch = fold.epoch();
        let found = channels.iter().find(|open| open.topic == topic && open.epoch == epoch);
        if let Some(sender) = found.and_then(|channel| channel.sender.upgrade()) {
            return Ok(sender.subscribe());
        }
        let (sender, pieces) = broadcast::channel(PIECES_WAITING_MAX);
        channels.retain(|channel| channel.topic != topic);
        channels.push(Open { topic, epoch, sender: sender.downgrade() });
        let fold = if self.window.is_zero() { fold.clone() } else { fold.clone().merging() };
        tokio::spawn(Follow { channels: self.clone(), topic, fold, end, sender }.run());
        Ok(pieces)
    }

    /// Closes a channel that nobody follows. Says whether it did.
    fn close_if_idle(&self, topic: Topic, epoch: u32, sender: &broadcast::Sender<Piece>) -> bool {
        let mut open = self.lock();
        if 0 < sender.receiver_count() {
            return false;
        }
        if let Some(channels) = open.get_mut(&topic.session) {
            channels.retain(|open| open.topic != topic || open.epoch != epoch);
            if channels.is_empty() {
                open.remove(&topic.session);
            }
        }
        true
    }

    /// Those that follow a log which is gone, or cannot be read, close with somebody listening.
    fn forget_closed(&self, session: SessionId) {
        let mut open = self.lock();
        if let Some(channels) = open.get_mut(&session) {
            channels.retain(|channel| 0 < channel.sender.strong_count());
            if channels.is_empty() {
                open.remove(&session);
            }
        }
    }
}

/// The fold behind a channel, and those it speaks to.
struct Follow {
    channels: Channels,
    topic: Topic,
    fold: Fold,
    end: watch::Receiver<u64>,
    sender: broadcast::Sender<Piece>,
}

impl Follow {
    /// Sends until nobody follows, the session is gone or the log cannot be read; those who follow
    /// then see the channel close and look for themselves.
    async fn run(mut self) {
        let window = self.channels.window;
        let mut stop = self.channels.stop.subscribe();
        let mut heard = Instant::now();
        loop {
            let next = self.fold.next();
            let grown = async {
                tokio::select! {
                    grown = self.end.wait_for(|end| next < *end) => grown.is_ok(),
                    _ = stop.wait_for(|stop| *stop) => false,
                }
            };
            match tokio::time::timeout_at(heard + HEARTBEAT_EVERY, grown).await {
                Ok(false) => break,
                Ok(true) => {}
                Err(_) => self.heartbeat(),
            }
            heard = Instant::now();
            if self.read_on().await.is_err()
                || self.channels.close_if_idle(self.topic, self.fold.epoch(), &self.sender)
            {
                break;
            }
            // The first of a window has gone at once; the others wait for its end.
            tokio::time::sleep_until(heard + window).await;
        }
        drop((self.end, self.sender));
        self.channels.forget_closed(self.topic.session);
        self.channels.log.forget_if_idle(self.topic.session);
    }

    /// Reads what is new and sends it as one piece.
    async fn read_on(&mut self) -> Result<(), StoreError> {
        let mut bytes = String::new();
        let (from, before) = (self.fold.place(), self.fold.made());
        self.fold.read_on(&self.channels.log, &mut bytes, |_| true).await?;
        let made = self.fold.made();
        self.channels.log.metrics().encoded(
            self.topic.kind.view,
            made.frames - before.frames,
            made.merged - before.merged,
        );
        if !bytes.is_empty() {
            self.send(Piece { from, to: self.fold.place(), bytes: bytes.into() });
        }
        Ok(())
    }

    fn heartbeat(&self) {
        let place = self.fold.place();
        let bytes = self.topic.spelling.heartbeat(self.fold.next()).into();
        self.send(Piece { from: place, to: place, bytes });
    }

    fn send(&self, piece: Piece) {
        // That nobody listens at this moment is no fault.
        let _nobody = self.sender.send(piece);
    }
}
