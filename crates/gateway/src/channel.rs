//! One kind of stream of one session, encoded once for all who follow it.
//!
//! Does: fold the log, merge what comes within one window, hand the pieces out.
//! Does not: keep anything for anybody. Each piece says from where to where it reaches, so that a
//! reader knows whether it fits; one that does not reads the log for itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::fanout::{Door, Receiver, Sender, fanout};
use crate::fold::{Fold, Place, Topic};
use crate::id::SessionId;
use crate::limits::{HEARTBEAT_EVERY, PIECES_WAITING_MAX};
use crate::log::Log;
use crate::store::StoreError;

/// Frames after `from`, up to and with `to`.
#[derive(Clone, Debug)]
pub struct Piece {
    pub from: Place,
    pub to: Place,
    pub bytes: Bytes,
}

impl Piece {
    /// Frames of no place in the log.
    fn aside(place: Place, bytes: Bytes) -> Piece {
        Piece { from: place, to: place, bytes }
    }

    pub fn is_aside(&self) -> bool {
        self.from == self.to
    }
}

/// All channels that somebody follows.
#[derive(Clone, Debug)]
pub struct Channels(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    log: Log,
    window: Duration,
    stop: watch::Sender<bool>,
    open: Mutex<HashMap<SessionId, Vec<Open>>>,
}

#[derive(Debug)]
struct Open {
    topic: Topic,
    epoch: u32,
    door: Door<Piece>,
}

impl Channels {
    /// What comes within `window` after something was sent goes out together; none means that every
    /// event is sent at once.
    pub fn new(log: Log, window: Duration) -> Channels {
        let (stop, open) = (watch::Sender::new(false), Mutex::default());
        Channels(Arc::new(Shared { log, window, stop, open }))
    }

    pub fn log(&self) -> &Log {
        &self.0.log
    }

    /// Closes all channels, and those to come.
    pub fn close_all(&self) {
        self.0.stop.send_replace(true);
    }

    /// Makes all who follow something look up, though nothing has come.
    pub fn rouse_all(&self) {
        for open in self.lock().values().flatten() {
            open.door.rouse();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<Open>>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows a topic, and says up to where it has been sent. If nobody follows it yet, its channel
    /// goes on from `fold`.
    pub async fn join(
        &self,
        topic: Topic,
        fold: &Fold,
    ) -> Result<(Receiver<Piece>, Place), StoreError> {
        let end = self.log().follow(topic.session).await?;
        let mut open = self.lock();
        let channels = open.entry(topic.session).or_default();
        let epoch = fold.epoch();
        let found = channels.iter().find(|open| open.topic == topic && open.epoch == epoch);
        if let Some((pieces, last)) = found.and_then(|channel| channel.door.join()) {
            return Ok((pieces, last.to));
        }
        let place = fold.place();
        let first = Piece::aside(place, Bytes::new());
        let (sender, pieces) = fanout(PIECES_WAITING_MAX, first);
        channels.retain(|channel| channel.topic != topic);
        channels.push(Open { topic, epoch, door: sender.door() });
        let fold = if self.0.window.is_zero() { fold.clone() } else { fold.clone().merging() };
        tokio::spawn(Follow { channels: self.clone(), topic, fold, end, sender }.run());
        Ok((pieces, place))
    }

    /// Closes a channel that nobody follows. Says whether it did.
    fn close_if_idle(&self, topic: Topic, epoch: u32, sender: &Sender<Piece>) -> bool {
        let mut open = self.lock();
        if sender.has_takers() {
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
            channels.retain(|channel| !channel.door.is_closed());
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
    sender: Sender<Piece>,
}

impl Follow {
    /// Sends until nobody follows, the session is gone or the log cannot be read; those who follow
    /// then see the channel close and look for themselves.
    async fn run(mut self) {
        let window = self.channels.0.window;
        let mut stop = self.channels.0.stop.subscribe();
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
        self.channels.log().forget_if_idle(self.topic.session);
    }

    /// Reads what is new and sends it as one piece.
    async fn read_on(&mut self) -> Result<(), StoreError> {
        let mut bytes = String::new();
        let (from, before) = (self.fold.place(), self.fold.made());
        self.fold.read_on(self.channels.log(), &mut bytes, |_| true).await?;
        let made = self.fold.made();
        self.channels.log().metrics().encoded(
            self.topic.kind.view,
            made.frames - before.frames,
            made.merged - before.merged,
        );
        if !bytes.is_empty() {
            self.sender.send(Piece { from, to: self.fold.place(), bytes: bytes.into() });
        }
        Ok(())
    }

    fn heartbeat(&self) {
        let place = self.fold.place();
        let bytes = self.topic.spelling.heartbeat(self.fold.next()).into();
        self.sender.send(Piece::aside(place, bytes));
    }
}
