//! One reader: from where it stands to the end of the log, and then along with it.
//!
//! It reads the log itself until it has caught up, and then takes what its channel hands out. When
//! that does not fit, because it was slow or joined in the middle of a window, it reads again.
//!
//! Invariant: no frame is sent twice and none is left out, whatever the reader's pace.

use bytes::Bytes;
use engine::wire::Cursor;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::channel::{Channels, Piece};
use crate::fold::{Fold, Place, Topic};
use crate::limits::LAG_RECORDS_MAX;
use crate::log::Log;
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

/// Behind, it has a fold and no channel; joining, both; live, only its channel.
#[derive(Debug)]
pub struct Reader {
    log: Log,
    channels: Channels,
    topic: Topic,
    /// Under which its frames are true.
    epoch: u32,
    /// The last frame it has.
    place: Place,
    /// It gets the whole page first, not the frames that led there.
    wants_page: bool,
    fold: Option<Box<Fold>>,
    pieces: Option<broadcast::Receiver<Piece>>,
}

impl Reader {
    pub fn new(log: Log, channels: Channels, topic: Topic, start: Start) -> Reader {
        let place = if let Start::After(place) = start { place } else { Place::default() };
        let wants_page = start == Start::Snapshot;
        let epoch = log.store().epoch();
        Reader { log, channels, topic, epoch, place, wants_page, fold: None, pieces: None }
    }

    /// The next bytes for the reader, as soon as there are some.
    pub async fn next(&mut self) -> Result<Bytes, ReadError> {
        loop {
            let bytes = match &mut self.pieces {
                None => self.catch_up().await?,
                Some(pieces) => match pieces.recv().await {
                    Ok(piece) => self.take(piece).await?,
                    Err(RecvError::Lagged(_)) if self.is_too_slow().await? => {
                        return Err(ReadError::TooSlow);
                    }
                    Err(RecvError::Lagged(_) | RecvError::Closed) => self.fall_behind(),
                },
            };
            // Looked at last: what was read may be of before and of after.
            if self.log.store().epoch() != self.epoch {
                return Err(ReadError::NewEpoch);
            }
            if !bytes.is_empty() {
                return Ok(bytes);
            }
        }
    }

    async fn is_too_slow(&self) -> Result<bool, StoreError> {
        let end = *self.log.follow(self.topic.session).await?.borrow();
        let behind = end.saturating_sub(self.place.seq);
        self.log.metrics().lagged(behind);
        Ok(LAG_RECORDS_MAX < behind)
    }

    fn fall_behind(&mut self) -> Bytes {
        self.fold = None;
        self.pieces = None;
        Bytes::new()
    }

    /// Reads some of the log. At its end the reader joins its channel.
    async fn catch_up(&mut self) -> Result<Bytes, StoreError> {
        let Reader { log, channels, topic, epoch, place, wants_page, fold, pieces } = self;
        let fold = fold.get_or_insert_with(|| Box::new(Fold::new(*topic, *epoch)));
        let mut bytes = String::new();
        let (had, page) = (*place, *wants_page);
        if fold.read_on(log, &mut bytes, |place| !page && had < place).await? {
            if !page {
                *place = had.max(fold.place());
            }
            return Ok(bytes.into());
        }
        if page {
            fold.snapshot(&mut bytes);
            (*place, *wants_page) = (fold.place(), false);
        }
        *pieces = Some(channels.join(*topic, fold).await?);
        Ok(bytes.into())
    }

    async fn take(&mut self, piece: Piece) -> Result<Bytes, StoreError> {
        if piece.from == piece.to {
            // A heartbeat.
            return Ok(piece.bytes);
        }
        if piece.to <= self.place {
            return Ok(Bytes::new());
        }
        let bytes = if piece.from == self.place {
            piece.bytes
        } else if let Some(fold) = &mut self.fold {
            // It joined in the middle of this piece, or after it had missed one.
            let had = self.place;
            let mut bytes = String::new();
            let missing = |place| had < place && place <= piece.to;
            while fold.next() <= piece.to.seq
                && fold.read_on(&self.log, &mut bytes, missing).await?
            {}
            bytes.into()
        } else {
            return Ok(self.fall_behind());
        };
        self.fold = None;
        self.place = piece.to;
        Ok(bytes)
    }
}
