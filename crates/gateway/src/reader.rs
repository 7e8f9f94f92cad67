//! One reader: from where it stands to the end of the log, and then along with it.
//!
//! It reads the log itself until it has caught up, and then takes what its channel hands out. When
//! that does not fit, because it was slow or joined in the middle of a window, it reads again.
//!
//! Invariant: no frame is sent twice and none is left out, whatever the reader's pace.

use std::cmp::Ordering;
use std::mem;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use engine::wire::Cursor;

use crate::channel::{Channels, Piece};
use crate::fanout::{Receiver, TakeError};
use crate::fold::{Fold, Place, Topic};
use crate::limits::LAG_RECORDS_MAX;
use crate::store::StoreError;

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the first frame.
    Beginning,
    /// After the frame that had this cursor.
    After(Place),
    /// With one frame that holds the whole page, for one that has nothing or cannot go on.
    Snapshot,
}

impl Start {
    /// Reads a cursor. One of another stream, of another epoch or of a record that is not there
    /// cannot be gone on from: whoever has it needs the whole page.
    pub fn at(cursor: Option<&str>, topic: Topic, epoch: u32, end: u64) -> Result<Start, Start> {
        let Some(word) = cursor else {
            return Ok(Start::Beginning);
        };
        match word.parse::<Cursor>() {
            Ok(cursor)
                if cursor.kind == topic.kind
                    && cursor.epoch == epoch
                    && (cursor.seq < end || (cursor.seq == end && cursor.sent == 0)) =>
            {
                Ok(Start::After(Place::from(&cursor)))
            }
            _ => Err(Start::Snapshot),
        }
    }
}

/// Why a reader gets no more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the reader fell too far behind")]
    TooSlow,
    /// What it has seen may be no more: it has to ask again.
    #[error("the log may have lost its end")]
    NewEpoch,
}

#[derive(Debug)]
pub struct Reader {
    channels: Channels,
    topic: Topic,
    /// Under which its frames are true.
    epoch: u32,
    /// The last frame it has.
    place: Place,
    /// It gets the whole page first, not the frames that led there.
    wants_page: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It begins to read; perhaps because its channel went on without it.
    Lost { overtaken: bool },
    /// It reads the log for itself.
    Reading(Box<Fold>),
    /// It has read more than its channel had sent: the next piece is partly known to it.
    Ahead { fold: Box<Fold>, pieces: Receiver<Piece>, next: Option<Piece> },
    /// Each piece fits to the one before.
    Live(Receiver<Piece>),
}

/// What a reader finds without work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Bytes(Bytes),
    /// It has to read the log first.
    Work,
}

impl Reader {
    pub fn new(channels: Channels, topic: Topic, start: Start) -> Reader {
        let place = if let Start::After(place) = start { place } else { Place::default() };
        let wants_page = start == Start::Snapshot;
        let epoch = channels.log().store().epoch();
        let state = State::Lost { overtaken: false };
        Reader { channels, topic, epoch, place, wants_page, state }
    }

    /// The next bytes of a reader that is along with its channel, as soon as there are some.
    pub fn poll_live(&mut self, cx: &mut Context<'_>) -> Poll<Result<Found, ReadError>> {
        loop {
            let (pieces, next) = match &mut self.state {
                State::Lost { .. } | State::Reading(_) | State::Ahead { next: Some(_), .. } => {
                    return Poll::Ready(Ok(Found::Work));
                }
                State::Ahead { pieces, next, .. } => (pieces, Some(next)),
                State::Live(pieces) => (pieces, None),
            };
            let taken = ready!(pieces.poll_take(cx));
            // Looked at last: what was taken may be of before and of after.
            if self.channels.log().store().epoch() != self.epoch {
                return Poll::Ready(Err(ReadError::NewEpoch));
            }
            match (taken, next) {
                (Ok(piece), _) if piece.is_aside() => {
                    return Poll::Ready(Ok(Found::Bytes(piece.bytes)));
                }
                (Ok(piece), _) if piece.to <= self.place => {}
                (Ok(piece), Some(next)) => *next = Some(piece),
                (Ok(piece), None) if piece.from == self.place => {
                    self.place = piece.to;
                    return Poll::Ready(Ok(Found::Bytes(piece.bytes)));
                }
                (Ok(_) | Err(TakeError::Closed), _) => {
                    self.state = State::Lost { overtaken: false };
                }
                (Err(TakeError::Missed), _) => self.state = State::Lost { overtaken: true },
            }
        }
    }

    /// Reads some of the log: what is new to the reader there, which may be nothing. At the end it
    /// joins its channel.
    pub async fn work(&mut self) -> Result<Bytes, ReadError> {
        // What is at hand is read without waiting: others get their turn.
        tokio::task::coop::consume_budget().await;
        let begun = mem::replace(&mut self.state, State::Lost { overtaken: false });
        let bytes = match begun {
            State::Lost { overtaken: true } if self.is_too_slow().await? => {
                return Err(ReadError::TooSlow);
            }
            State::Lost { .. } => self.read(Box::new(Fold::new(self.topic, self.epoch))).await?,
            State::Reading(fold) => self.read(fold).await?,
            State::Ahead { fold, pieces, next: Some(piece) } => {
                self.state = State::Live(pieces);
                self.read_rest(fold, piece).await?
            }
            along => {
                self.state = along;
                Bytes::new()
            }
        };
        if self.channels.log().store().epoch() != self.epoch {
            return Err(ReadError::NewEpoch);
        }
        Ok(bytes)
    }

    async fn is_too_slow(&self) -> Result<bool, StoreError> {
        let log = self.channels.log();
        let end = *log.follow(self.topic.session).await?.borrow();
        let behind = end.saturating_sub(self.place.seq);
        log.metrics().lagged(behind);
        Ok(LAG_RECORDS_MAX < behind)
    }

    async fn read(&mut self, mut fold: Box<Fold>) -> Result<Bytes, StoreError> {
        let mut bytes = String::new();
        let (had, page) = (self.place, self.wants_page);
        if fold.read_on(self.channels.log(), &mut bytes, |place| !page && had < place).await? {
            if !page {
                self.place = had.max(fold.place());
            }
            self.state = State::Reading(fold);
            return Ok(bytes.into());
        }
        if page {
            fold.snapshot(&mut bytes);
            (self.place, self.wants_page) = (fold.place(), false);
        }
        let (pieces, sent) = self.channels.join(self.topic, &fold).await?;
        self.state = match sent.cmp(&self.place) {
            Ordering::Less => State::Ahead { fold, pieces, next: None },
            Ordering::Equal => State::Live(pieces),
            // Something came between reading and joining.
            Ordering::Greater => State::Reading(fold),
        };
        Ok(bytes.into())
    }

    /// What the reader lacks of a piece that it has the beginning of.
    async fn read_rest(&mut self, mut fold: Box<Fold>, piece: Piece) -> Result<Bytes, StoreError> {
        let had = mem::replace(&mut self.place, piece.to);
        if piece.from == had {
            return Ok(piece.bytes);
        }
        let mut bytes = String::new();
        let missing = |place| had < place && place <= piece.to;
        let log = self.channels.log();
        while fold.next() <= piece.to.seq && fold.read_on(log, &mut bytes, missing).await? {}
        Ok(bytes.into())
    }
}
