//! Cache of the newest records of followed sessions, so that followers need not read the store.
//!
//! A session without followers has no tail. All tails together keep at most `TAILS_BYTES_MAX`.
//!
//! Invariant: nothing from before the store was reopened is served; the store may have lost it.

use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_engine::event::Record;
use tokio::sync::watch;

use crate::id::SessionId;
use crate::limits::{TAIL_BYTES_MAX, TAILS_BYTES_MAX};
use crate::store::Chunk;

use super::read_chunk::ReadChunk;

/// Cached tails of all followed sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct Tails(Arc<Mutex<TailsSinceReopen>>);

#[derive(Debug, Default)]
struct TailsSinceReopen {
    reopen_count: u32,
    tails: HashMap<SessionId, Tail>,
    /// Sum over all tails.
    bytes: usize,
}

/// Contiguous chunks up to the end of one log.
#[derive(Debug)]
struct Tail {
    chunks: VecDeque<ReadChunk>,
    bytes: usize,
    end: watch::Sender<u64>,
    is_end_known: bool,
}

/// Watches the end of one log. Its session has a tail for as long as somebody watches.
#[derive(Debug)]
pub struct LogEnd {
    // Dropped before the guard, which counts the receivers that are left.
    end: watch::Receiver<u64>,
    _guard: UnfollowedTailGuard,
}

impl Deref for LogEnd {
    type Target = watch::Receiver<u64>;

    fn deref(&self) -> &watch::Receiver<u64> {
        &self.end
    }
}

impl DerefMut for LogEnd {
    fn deref_mut(&mut self) -> &mut watch::Receiver<u64> {
        &mut self.end
    }
}

/// Removes a tail that nobody follows any more.
#[derive(Debug)]
struct UnfollowedTailGuard {
    tails: Tails,
    session: SessionId,
}

impl Drop for UnfollowedTailGuard {
    fn drop(&mut self) {
        let mut tails = self.tails.lock();
        if tails.tails.get(&self.session).is_some_and(Tail::is_unfollowed) {
            tails.remove(self.session);
        }
    }
}

impl Tails {
    fn lock(&self) -> MutexGuard<'_, TailsSinceReopen> {
        // After a panic the chunks are still consistent: each change is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn build_log_end(&self, session: SessionId, end: watch::Receiver<u64>) -> LogEnd {
        LogEnd { end, _guard: UnfollowedTailGuard { tails: self.clone(), session } }
    }

    /// Clears the cache if the store was reopened; this ends all followers.
    pub(super) fn clear_if_reopened(&self, reopen_count: u32) {
        let mut tails = self.lock();
        if tails.reopen_count < reopen_count {
            *tails = TailsSinceReopen { reopen_count, ..TailsSinceReopen::default() };
        }
    }

    /// Returns the chunks from `from` on, or `None` if some are not cached.
    pub(super) fn read_if_cached(&self, session: SessionId, from: u64) -> Option<Vec<ReadChunk>> {
        let tails = self.lock();
        let tail = tails.tails.get(&session)?;
        if tail.is_end_known && from == *tail.end.borrow() {
            return Some(Vec::new());
        }
        if from < tail.chunks.front()?.first {
            return None;
        }
        let first_newer = tail.chunks.partition_point(|chunk| chunk.next_seq() <= from);
        Some(tail.chunks.range(first_newer..).cloned().collect())
    }

    /// Watches the end of a log if it is known.
    pub(super) fn watch_end_if_known(&self, session: SessionId) -> Option<LogEnd> {
        let tails = self.lock();
        let tail = tails.tails.get(&session).filter(|tail| tail.is_end_known)?;
        let end = tail.end.subscribe();
        drop(tails);
        Some(self.build_log_end(session, end))
    }

    /// Begins to follow a log. Its end is unknown until the next commit or `set_end`: read it from
    /// the store after this call, so that no commit falls between the two.
    pub(super) fn follow(&self, session: SessionId) -> LogEnd {
        let end = self.lock().tails.entry(session).or_insert_with(Tail::new).end.subscribe();
        self.build_log_end(session, end)
    }

    /// Sets the end of a followed log, as the store has it; a commit may have moved it already.
    pub(super) fn set_end(&self, session: SessionId, end: u64) {
        if let Some(tail) = self.lock().tails.get_mut(&session) {
            tail.move_end(end);
        }
    }

    /// Caches a chunk and notifies its followers. Without followers, `decode` is not called.
    pub(super) fn cache_chunk_if_followed(
        &self,
        session: SessionId,
        chunk: Chunk,
        decode: impl FnOnce() -> Vec<Record<'static>>,
    ) {
        if !self.lock().tails.contains_key(&session) {
            return;
        }
        let end = chunk.next_seq();
        let chunk = ReadChunk::with_decoded(chunk, decode());
        let mut tails = self.lock();
        let TailsSinceReopen { tails: by_session, bytes, .. } = &mut *tails;
        let Some(tail) = by_session.get_mut(&session) else { return };
        *bytes -= tail.bytes;
        tail.push_chunk(chunk);
        *bytes += tail.bytes;
        tail.move_end(end);
        if TAILS_BYTES_MAX < *bytes {
            tails.clear_chunks_except(session);
        }
    }

    pub(super) fn remove_and_end_followers(&self, session: SessionId) {
        self.lock().remove(session);
    }
}

impl TailsSinceReopen {
    fn remove(&mut self, session: SessionId) {
        if let Some(tail) = self.tails.remove(&session) {
            self.bytes -= tail.bytes;
        }
    }

    /// Empties all other tails. Followers that are behind read the store.
    fn clear_chunks_except(&mut self, session: SessionId) {
        for (id, tail) in &mut self.tails {
            if *id != session {
                tail.clear_chunks();
            }
        }
        self.bytes = self.tails.get(&session).map_or(0, |tail| tail.bytes);
    }
}

impl Tail {
    fn new() -> Tail {
        let (chunks, end) = (VecDeque::new(), watch::Sender::new(0));
        Tail { chunks, bytes: 0, end, is_end_known: false }
    }

    fn is_unfollowed(&self) -> bool {
        self.end.receiver_count() == 0
    }

    fn clear_chunks(&mut self) {
        self.chunks.clear();
        self.bytes = 0;
    }

    /// Adds a chunk and drops the oldest beyond the limit.
    fn push_chunk(&mut self, chunk: ReadChunk) {
        if self.chunks.back().is_some_and(|last| last.next_seq() != chunk.first) {
            self.clear_chunks();
        }
        self.bytes += chunk.memory_bytes();
        self.chunks.push_back(chunk);
        while TAIL_BYTES_MAX < self.bytes && 1 < self.chunks.len() {
            if let Some(oldest) = self.chunks.pop_front() {
                self.bytes -= oldest.memory_bytes();
            }
        }
    }

    /// Moves the end forward and notifies the followers.
    fn move_end(&mut self, end: u64) {
        let was_known = std::mem::replace(&mut self.is_end_known, true);
        self.end.send_if_modified(|known| {
            let is_newer = !was_known || *known < end;
            *known = end.max(*known);
            is_newer
        });
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use millpond_engine::event::{Event, MessageId};

    use super::*;

    fn session(n: u8) -> SessionId {
        SessionId::new(u64::from(n), [n; 10])
    }

    fn chunk(first: u64, text: &str) -> (Chunk, Vec<Record<'static>>) {
        let event =
            Event::TextAppended { message: MessageId(0), text: Cow::Owned(text.to_owned()) };
        let record = Record { seq: first, at_ms: None, run: "r".into(), event };
        let lines = serde_json::to_string(&record).unwrap() + "\n";
        (Chunk { epoch: 1, first, len: 1, lines: lines.into() }, vec![record])
    }

    fn commit(tails: &Tails, n: u8, first: u64, text: &str) {
        let (chunk, records) = chunk(first, text);
        tails.cache_chunk_if_followed(session(n), chunk, || records);
    }

    impl Tails {
        /// Number of tails, and the bytes in all of them, counted anew.
        fn count_and_bytes(&self) -> (usize, usize) {
            let tails = self.lock();
            let bytes = tails.tails.values().flat_map(|tail| &tail.chunks);
            let bytes = bytes.map(ReadChunk::memory_bytes).sum();
            assert_eq!(tails.bytes, bytes, "the sum is kept");
            (tails.tails.len(), bytes)
        }
    }

    #[test]
    fn nothing_is_kept_or_decoded_for_nobody() {
        let tails = Tails::default();
        let (unread, _) = chunk(0, "text");
        tails.cache_chunk_if_followed(session(1), unread, || panic!("nobody reads it"));
        assert_eq!(tails.count_and_bytes(), (0, 0));
        let (one, other) = (tails.follow(session(1)), tails.follow(session(1)));
        commit(&tails, 1, 1, "text");
        assert!(0 < tails.count_and_bytes().1);
        drop(one);
        assert_eq!(tails.count_and_bytes().0, 1, "the other reader is there still");
        drop(other);
        assert_eq!(tails.count_and_bytes(), (0, 0));
    }

    #[test]
    fn a_commit_between_following_and_reading_the_end_is_not_missed() {
        let tails = Tails::default();
        let end = tails.follow(session(1));
        assert!(tails.watch_end_if_known(session(1)).is_none(), "nobody knows the end yet");
        assert!(tails.read_if_cached(session(1), 0).is_none());
        commit(&tails, 1, 5, "text");
        tails.set_end(session(1), 5);
        assert_eq!(*end.borrow(), 6, "as the commit left it");
        assert_eq!(tails.read_if_cached(session(1), 5).unwrap().len(), 1);
        assert_eq!(tails.read_if_cached(session(1), 6).unwrap().len(), 0);
        assert!(tails.read_if_cached(session(1), 4).is_none());
    }

    #[test]
    fn all_tails_together_stay_within_their_bytes() {
        let tails = Tails::default();
        let text = "x".repeat(TAIL_BYTES_MAX / 8);
        let ends: Vec<LogEnd> = (0..=255).map(|n| tails.follow(session(n))).collect();
        for first in 0..8 {
            for n in 0..=255 {
                commit(&tails, n, first, &text);
                assert!(tails.count_and_bytes().1 <= TAILS_BYTES_MAX);
            }
        }
        assert!(ends.iter().all(|end| *end.borrow() == 8), "every reader knows the end");
        drop(ends);
        assert_eq!(tails.count_and_bytes(), (0, 0));
    }

    #[test]
    fn reopening_ends_the_followers() {
        let tails = Tails::default();
        let end = tails.follow(session(1));
        commit(&tails, 1, 0, "text");
        tails.clear_if_reopened(1);
        assert!(end.has_changed().is_err(), "closed");
        assert_eq!(tails.count_and_bytes(), (0, 0));
        commit(&tails, 1, 1, "text");
        assert_eq!(tails.count_and_bytes(), (0, 0));
    }
}
