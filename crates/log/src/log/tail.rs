//! Cache of the newest records of each session, so that followers need not read the store.
//!
//! Invariant: nothing cached under an earlier epoch is served; the store may have lost it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::id::SessionId;
use crate::limits::TAIL_BYTES_MAX;
use crate::store::Chunk;

/// Cached tails of all sessions.
#[derive(Debug, Default)]
pub(super) struct Tails(Mutex<TailsByEpoch>);

#[derive(Debug, Default)]
struct TailsByEpoch {
    epoch: u32,
    tails: HashMap<SessionId, Tail>,
}

/// Contiguous chunks up to the end of one log.
#[derive(Debug)]
struct Tail {
    chunks: VecDeque<Chunk>,
    line_bytes: usize,
    end: watch::Sender<u64>,
}

impl Tails {
    fn lock(&self) -> MutexGuard<'_, TailsByEpoch> {
        // After a panic the chunks are still consistent: each change is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the cache if the epoch is new; this ends all followers.
    pub(super) fn clear_if_new_epoch(&self, epoch: u32) {
        let mut tails = self.lock();
        if tails.epoch < epoch {
            tails.epoch = epoch;
            tails.tails.clear();
        }
    }

    /// Returns the chunks from `from` on, or `None` if some are not cached.
    pub(super) fn read_if_cached(&self, session: SessionId, from: u64) -> Option<Vec<Chunk>> {
        let tails = self.lock();
        let tail = tails.tails.get(&session)?;
        if from == *tail.end.borrow() {
            return Some(Vec::new());
        }
        if from < tail.chunks.front()?.first {
            return None;
        }
        let first_newer = tail.chunks.partition_point(|chunk| chunk.next_seq() <= from);
        Some(tail.chunks.range(first_newer..).cloned().collect())
    }

    pub(super) fn watch_end_if_cached(&self, session: SessionId) -> Option<watch::Receiver<u64>> {
        self.lock().tails.get(&session).map(|tail| tail.end.subscribe())
    }

    /// Follows a log whose end was `end` when the store was read.
    pub(super) fn create_or_advance_tail_and_watch_end(
        &self,
        session: SessionId,
        end: u64,
    ) -> watch::Receiver<u64> {
        let mut tails = self.lock();
        let tail = tails.tails.entry(session).or_insert_with(|| Tail::empty_at(end));
        // The writer may have appended since the store was read.
        tail.end.send_if_modified(|known| {
            let is_newer = *known < end;
            *known = end.max(*known);
            is_newer
        });
        tail.end.subscribe()
    }

    pub(super) fn cache_chunk_and_notify(&self, session: SessionId, chunk: Chunk) {
        let mut tails = self.lock();
        let tail = tails.tails.entry(session).or_insert_with(|| Tail::empty_at(chunk.first));
        let end = chunk.next_seq();
        if tail.chunks.back().is_some_and(|last| last.next_seq() != chunk.first) {
            tail.chunks.clear();
            tail.line_bytes = 0;
        }
        tail.line_bytes += chunk.lines.len();
        tail.chunks.push_back(chunk);
        while TAIL_BYTES_MAX < tail.line_bytes && 1 < tail.chunks.len() {
            if let Some(oldest) = tail.chunks.pop_front() {
                tail.line_bytes -= oldest.lines.len();
            }
        }
        tail.end.send_replace(end);
    }

    pub(super) fn remove_and_end_followers(&self, session: SessionId) {
        self.lock().tails.remove(&session);
    }

    pub(super) fn remove_if_unfollowed(&self, session: SessionId) {
        let mut tails = self.lock();
        if tails.tails.get(&session).is_some_and(|tail| tail.end.receiver_count() == 0) {
            tails.tails.remove(&session);
        }
    }
}

impl Tail {
    fn empty_at(end: u64) -> Tail {
        Tail { chunks: VecDeque::new(), line_bytes: 0, end: watch::Sender::new(end) }
    }
}
