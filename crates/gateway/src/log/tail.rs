//! What was committed last, kept at hand so that news need not be read from the store.
//!
//! Invariant: nothing is served that was kept under an earlier epoch; the store may have lost it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::id::SessionId;
use crate::limits::TAIL_BYTES_MAX;
use crate::store::Chunk;

#[derive(Debug, Default)]
pub(super) struct Tails(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    epoch: u32,
    tails: HashMap<SessionId, Tail>,
}

/// The end of one log: chunks without a gap, of which the last ends where the log does.
#[derive(Debug)]
struct Tail {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    end: watch::Sender<u64>,
}

impl Tails {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic elsewhere leaves whole chunks behind: each change is made in one go.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From a new epoch on, what was kept before is forgotten, and those who follow it are told.
    pub(super) fn enter(&self, epoch: u32) {
        let mut kept = self.lock();
        if kept.epoch < epoch {
            kept.epoch = epoch;
            kept.tails.clear();
        }
    }

    /// The chunks from `from` on, if all of them are here.
    pub(super) fn read(&self, session: SessionId, from: u64) -> Option<Vec<Chunk>> {
        let kept = self.lock();
        let tail = kept.tails.get(&session)?;
        if from == *tail.end.borrow() {
            return Some(Vec::new());
        }
        if from < tail.chunks.front()?.first {
            return None;
        }
        let newer = tail.chunks.partition_point(|chunk| chunk.end() <= from);
        Some(tail.chunks.range(newer..).cloned().collect())
    }

    pub(super) fn follow(&self, session: SessionId) -> Option<watch::Receiver<u64>> {
        self.lock().tails.get(&session).map(|tail| tail.end.subscribe())
    }

    /// Follows a log that ended at `end` when it was looked up.
    pub(super) fn follow_from(&self, session: SessionId, end: u64) -> watch::Receiver<u64> {
        let mut kept = self.lock();
        let tail = kept.tails.entry(session).or_insert_with(|| Tail::at(end));
        // The writer may have been faster than the look-up.
        tail.end.send_if_modified(|known| {
            let newer = *known < end;
            *known = end.max(*known);
            newer
        });
        tail.end.subscribe()
    }

    pub(super) fn push(&self, session: SessionId, chunk: Chunk) {
        let mut kept = self.lock();
        let tail = kept.tails.entry(session).or_insert_with(|| Tail::at(chunk.first));
        let end = chunk.end();
        if tail.chunks.back().is_some_and(|last| last.end() != chunk.first) {
            tail.chunks.clear();
            tail.bytes = 0;
        }
        tail.bytes += chunk.lines.len();
        tail.chunks.push_back(chunk);
        while TAIL_BYTES_MAX < tail.bytes && 1 < tail.chunks.len() {
            if let Some(oldest) = tail.chunks.pop_front() {
                tail.bytes -= oldest.lines.len();
            }
        }
        tail.end.send_replace(end);
    }

    pub(super) fn forget(&self, session: SessionId) {
        self.lock().tails.remove(&session);
    }

    pub(super) fn forget_if_idle(&self, session: SessionId) {
        let mut kept = self.lock();
        if kept.tails.get(&session).is_some_and(|tail| tail.end.receiver_count() == 0) {
            kept.tails.remove(&session);
        }
    }
}

impl Tail {
    fn at(end: u64) -> Tail {
        Tail { chunks: VecDeque::new(), bytes: 0, end: watch::Sender::new(end) }
    }
}
