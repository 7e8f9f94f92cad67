//! Tests of the store through its traits.

use std::path::Path;
use std::time::{Duration, Instant};

use millpond_engine::event::{Ending, Event, MessageId, Outcome, Record, Reply};
use millpond_log::id::{RunId, SessionId};
use millpond_log::store::sqlite::{Durability, SqliteStore, StoreOptions};
use millpond_log::store::{Batch, Chunk, RunBoundary, Session, Store, StoreError, TokenUsage};
use tempfile::TempDir;

mod compression;
mod crash;
mod credentials;
mod damage;
pub(crate) mod disk;
mod epoch;
mod erase;
mod fixture;
mod maintenance;
mod model;
mod promises;
mod search;

pub(crate) use crate::support::*;

pub(crate) const ALL_BYTES: usize = usize::MAX;

/// Longest wait for anything to happen. Only a test that fails waits so long.
const WAIT_MAX: Duration = Duration::from_mins(2);

pub(crate) fn text_event(text: &str) -> Event<'_> {
    Event::TextAppended { message: MessageId(0), text: text.into() }
}

pub(crate) fn end_event(outcome: Outcome) -> Event<'static> {
    let ending = Ending {
        outcome,
        stop: None,
        reason: None,
        detail: None,
        reply: Reply::None,
        message: None,
        incomplete: false,
    };
    Event::RunEnded { ending }
}

/// `len` records of a run, each with the text `{session} {seq}`.
pub(crate) fn batch(session: u8, run: u8, first: u64, len: u64) -> Batch {
    let text = |seq| line(seq, run_id(run), text_event(&format!("{session} {seq}")));
    let lines: String = (first..first + len).map(text).collect();
    Batch {
        session: session_id(session),
        run: run_id(run),
        at_ms: first,
        chunk: Chunk { epoch: 1, first, len, lines: lines.into() },
        run_boundaries: Vec::new(),
        searchable_texts: Vec::new(),
    }
}

/// The same, as the beginning of its run.
pub(crate) fn beginning_batch(session: u8, run: u8, first: u64, len: u64) -> Batch {
    let turns = vec![RunBoundary::Began { seq: first }];
    Batch { run_boundaries: turns, ..batch(session, run, first, len) }
}

/// One record that ends a run.
pub(crate) fn ending_batch(session: u8, run: u8, seq: u64) -> Batch {
    let lines = line(seq, run_id(run), end_event(Outcome::Completed));
    let usage = TokenUsage { tokens_in: 10, tokens_out: 2, cost_micro_usd: 300 };
    let outcome = Outcome::Completed;
    Batch {
        chunk: Chunk { epoch: 1, first: seq, len: 1, lines: lines.into() },
        run_boundaries: vec![RunBoundary::Ended { seq, outcome, usage }],
        ..batch(session, run, seq, 0)
    }
}

/// Options without background work.
pub(crate) fn options_without_background_work() -> StoreOptions {
    StoreOptions {
        sync_window: Duration::MAX,
        checkpoint_every: Duration::MAX,
        reopen_every: Duration::MAX,
        ..StoreOptions::new(Durability::Window)
    }
}

/// In memory if possible: most tests do not need a disk.
pub(crate) fn temp_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap()
}

pub(crate) struct TestStore {
    pub(crate) store: SqliteStore,
    pub(crate) dir: TempDir,
}

pub(crate) fn open_test_store() -> TestStore {
    let dir = temp_dir();
    TestStore {
        store: SqliteStore::open_or_create_with_options(
            dir.path(),
            options_without_background_work(),
        )
        .unwrap(),
        dir,
    }
}

/// A store with the empty sessions 1 to `sessions`.
pub(crate) fn open_with_sessions(sessions: u8) -> TestStore {
    let test_store = open_test_store();
    for n in 1..=sessions {
        test_store.store.create_session(&session(n)).unwrap();
    }
    test_store
}

impl TestStore {
    /// Opens the file without the store.
    pub(crate) fn raw_connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir.path().join("millpond.db")).unwrap()
    }

    pub(crate) fn reopen(self) -> TestStore {
        drop(self.store);
        TestStore {
            store: SqliteStore::open_or_create_with_options(
                self.dir.path(),
                options_without_background_work(),
            )
            .unwrap(),
            dir: self.dir,
        }
    }
}

/// Truncates the write-ahead log as soon as there is no reader.
pub(crate) fn checkpoint_until_empty(store: &SqliteStore) {
    let deadline = Instant::now() + WAIT_MAX;
    while !store.try_checkpoint_and_truncate_wal().unwrap() {
        assert!(Instant::now() < deadline, "a reader never finished");
    }
}

/// All lines of a log from `from` on, read in pieces of about `bytes_max`.
pub(crate) fn read_lines_from(
    store: &impl Store,
    session: SessionId,
    from: u64,
    bytes_max: usize,
) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    let mut next = from;
    loop {
        let chunks = store.read(session, next, bytes_max)?;
        if chunks.is_empty() {
            return Ok(lines);
        }
        for chunk in chunks {
            assert!(chunk.first <= next && next < chunk.next_seq(), "{next} is not next");
            let skipped = usize::try_from(next - chunk.first).unwrap();
            assert_eq!(chunk.lines.lines().count() as u64, chunk.len);
            lines.extend(chunk.lines.lines().skip(skipped).map(str::to_owned));
            next = chunk.next_seq();
        }
    }
}

pub(crate) fn read_lines(store: &impl Store, session: u8) -> Vec<String> {
    read_lines_from(store, session_id(session), 0, ALL_BYTES).unwrap()
}

/// The lines that a session must hold after these batches.
pub(crate) fn expected_lines(batches: &[Batch]) -> Vec<String> {
    batches.iter().flat_map(|batch| batch.chunk.lines.lines()).map(str::to_owned).collect()
}
