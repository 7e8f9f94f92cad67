//! The store, seen through its traits.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::event::{Ending, Event, MessageId, Outcome, Record, Reply};
use gateway::id::{OwnerId, QueuedId, RunId, SessionId};
use gateway::store::sqlite::{Durability, Options, SqliteStore};
use gateway::store::{Batch, Chunk, Session, Store, StoreError, Turn, Used};
use tempfile::TempDir;

mod crash;
mod damage;
pub(crate) mod disk;
mod epoch;
mod erase;
mod fixture;
mod model;
mod promises;
mod search;
mod upkeep;
mod vault;

pub(crate) const ALL: usize = usize::MAX;

pub(crate) fn owner(n: u8) -> OwnerId {
    OwnerId::new(1, [n; 10])
}

pub(crate) fn session_id(n: u8) -> SessionId {
    SessionId::new(u64::from(n), [n; 10])
}

pub(crate) fn run_id(n: u8) -> RunId {
    RunId::new(u64::from(n), [n; 10])
}

pub(crate) fn queued_id(n: u8) -> QueuedId {
    QueuedId::new(u64::from(n), [n; 10])
}

pub(crate) fn session(n: u8) -> Session {
    Session {
        id: session_id(n),
        owner: owner(1),
        title: format!("Session {n}"),
        created_ms: u64::from(n),
        changed_ms: u64::from(n),
        head: 0,
        pinned: false,
        archived: false,
        deleted_ms: None,
        parent: None,
    }
}

pub(crate) fn line(seq: u64, run: RunId, event: Event<'_>) -> String {
    let record = Record { seq, at_ms: Some(seq), run: Cow::Owned(run.to_string()), event };
    let mut line = serde_json::to_string(&record).unwrap();
    line.push('\n');
    line
}

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
        at_ms: first,
        chunk: Chunk { first, len, lines: lines.into() },
        turns: Vec::new(),
        texts: Vec::new(),
    }
}

/// The same, as the beginning of its run.
pub(crate) fn beginning(session: u8, run: u8, first: u64, len: u64) -> Batch {
    let turns = vec![Turn::Began { run: run_id(run), seq: first }];
    Batch { turns, ..batch(session, run, first, len) }
}

/// One record that ends a run.
pub(crate) fn ending(session: u8, run: u8, seq: u64) -> Batch {
    let lines = line(seq, run_id(run), end_event(Outcome::Completed));
    let used = Used { tokens_in: 10, tokens_out: 2, cost_micro_usd: 300 };
    let outcome = Outcome::Completed;
    Batch {
        chunk: Chunk { first: seq, len: 1, lines: lines.into() },
        turns: vec![Turn::Ended { run: run_id(run), seq, outcome, used }],
        ..batch(session, run, seq, 0)
    }
}

/// Nothing happens in the background.
pub(crate) fn quiet() -> Options {
    Options {
        boot: Some("boot".to_owned()),
        sync_window: Duration::MAX,
        checkpoint_every: Duration::MAX,
        reopen_every: Duration::MAX,
        ..Options::new(Durability::Window)
    }
}

/// In memory where there is such a place: nearly all tests are not about the disk.
pub(crate) fn dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap()
}

pub(crate) struct Kept {
    pub(crate) store: SqliteStore,
    pub(crate) dir: TempDir,
}

pub(crate) fn open() -> Kept {
    let dir = dir();
    Kept { store: SqliteStore::open_with(dir.path(), quiet()).unwrap(), dir }
}

/// With sessions 1 to `sessions`, empty.
pub(crate) fn open_with_sessions(sessions: u8) -> Kept {
    let kept = open();
    for n in 1..=sessions {
        kept.store.create(&session(n)).unwrap();
    }
    kept
}

impl Kept {
    /// A look at the file past the store.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir.path().join("millpond.db")).unwrap()
    }

    pub(crate) fn reopened(self) -> Kept {
        drop(self.store);
        Kept { store: SqliteStore::open_with(self.dir.path(), quiet()).unwrap(), dir: self.dir }
    }
}

/// Empties the write-ahead log as soon as nobody reads.
pub(crate) fn emptied(store: &SqliteStore) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !store.checkpoint().unwrap() {
        assert!(Instant::now() < deadline, "somebody reads for ever");
    }
}

/// All lines of a log from `from` on, read in pieces of about `bytes_max`.
pub(crate) fn lines_from(
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
            assert!(chunk.first <= next && next < chunk.end(), "{next} is not next");
            let skipped = usize::try_from(next - chunk.first).unwrap();
            assert_eq!(chunk.lines.lines().count() as u64, chunk.len);
            lines.extend(chunk.lines.lines().skip(skipped).map(str::to_owned));
            next = chunk.end();
        }
    }
}

pub(crate) fn lines(store: &impl Store, session: u8) -> Vec<String> {
    lines_from(store, session_id(session), 0, ALL).unwrap()
}

/// What a session must hold after these batches.
pub(crate) fn lines_of(batches: &[Batch]) -> Vec<String> {
    batches.iter().flat_map(|batch| batch.chunk.lines.lines()).map(str::to_owned).collect()
}
