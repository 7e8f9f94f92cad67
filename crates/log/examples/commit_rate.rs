//! Measures how fast the store commits and reads on this machine's disk.
//!
//! `cargo run --release -p millpond-log --example commit_rate [directory]`

#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use millpond_log::id::{OwnerId, RunId, SessionId};
use millpond_log::store::sqlite::{Durability, SqliteStore};
use millpond_log::store::{Batch, Chunk, Session, SessionQuery, Store};

type BenchResult<T> = Result<T, Box<dyn Error>>;

const SESSIONS: u64 = 10_000;
const LONG_RUN_RECORDS: u64 = 2_000;

fn session_id(n: u64) -> SessionId {
    SessionId::new(n, [0; 10])
}

fn session(n: u64) -> Session {
    Session {
        id: session_id(n),
        owner: OwnerId::new(0, [0; 10]),
        title: format!("Session {n}"),
        created_ms: n,
        changed_ms: n,
        head: 0,
        pinned: false,
        archived: false,
        deleted_ms: None,
        parent: None,
    }
}

/// Records of about 200 bytes.
fn batch(n: u64, first: u64, len: u64) -> Batch {
    let run = RunId::new(n, [0; 10]);
    let text = "so that a record is about as long as one of a model that talks ".repeat(2);
    let line = |seq| {
        format!(
            "{{\"seq\":{seq},\"at_ms\":{seq},\"run\":\"{run}\",\"type\":\"text_appended\",\
             \"message\":0,\"text\":\"{text}\"}}\n"
        )
    };
    let lines: String = (first..first + len).map(line).collect();
    let chunk = Chunk { epoch: 1, first, len, lines: lines.into() };
    Batch {
        session: session_id(n),
        run,
        at_ms: first,
        chunk,
        run_boundaries: Vec::new(),
        searchable_texts: Vec::new(),
    }
}

fn measure_commits(dir: &Path, durability: Durability, len: u64) -> BenchResult<()> {
    let store = SqliteStore::open(&dir.join(format!("{durability:?}{len}")), durability)?;
    store.create_session(&session(0))?;
    let start = Instant::now();
    let mut times = Vec::new();
    let mut head = 0;
    while start.elapsed() < Duration::from_secs(3) {
        let batch = batch(0, head, len);
        let begun = Instant::now();
        store.append(&[batch])?;
        times.push(begun.elapsed());
        head += len;
    }
    let rate = head * 1000 / u64::try_from(start.elapsed().as_millis())?.max(1);
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 1000).copied().unwrap_or_default();
    println!(
        "{durability:?}, batches of {len}: {rate} events/s acknowledged; one append p50 {:?}, p99 {:?}, p99.9 {:?}",
        at(500),
        at(990),
        at(999)
    );
    Ok(())
}

fn median_duration(times: u32, work: impl Fn() -> BenchResult<()>) -> BenchResult<Duration> {
    let mut taken = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        work()?;
        taken.push(start.elapsed());
    }
    taken.sort();
    Ok(taken.get(taken.len() / 2).copied().unwrap_or_default())
}

fn measure_reads(dir: &Path) -> BenchResult<()> {
    let store = SqliteStore::open(&dir.join("reads"), Durability::Window)?;
    for n in 0..SESSIONS {
        store.create_session(&session(n))?;
        store.append(&[batch(n, 0, 20)])?;
    }
    for first in 20..20 + LONG_RUN_RECORDS {
        store.append(&[batch(SESSIONS / 2, first, 1)])?;
    }
    let whole = || {
        let chunks = store.read(session_id(SESSIONS / 2), 20, usize::MAX)?;
        let len: u64 = chunks.iter().map(|chunk| chunk.len).sum();
        if len < LONG_RUN_RECORDS { Err("records are missing".into()) } else { Ok(()) }
    };
    println!(
        "{LONG_RUN_RECORDS} events, a row each, of {SESSIONS} sessions: p50 {:?}",
        median_duration(200, whole)?
    );
    let copy = Session { title: "Copy".to_owned(), ..session(SESSIONS) };
    store.create_session(&copy)?;
    for first in (0..LONG_RUN_RECORDS).step_by(250) {
        store.append(&[batch(SESSIONS, first, 250)])?;
    }
    let chunked = || {
        let chunks = store.read(session_id(SESSIONS), 0, usize::MAX)?;
        if chunks.is_empty() { Err("records are missing".into()) } else { Ok(()) }
    };
    println!("{LONG_RUN_RECORDS} events in long rows: p50 {:?}", median_duration(200, chunked)?);
    let list = || {
        let query = SessionQuery { limit: 200, ..SessionQuery::default() };
        store.list_sessions_of_owner_by_query(OwnerId::new(0, [0; 10]), &query)?;
        Ok(())
    };
    println!("200 of {SESSIONS} sessions listed: p50 {:?}", median_duration(200, list)?);
    Ok(())
}

fn main() -> BenchResult<()> {
    let home = std::env::args().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let dir = home.join(format!("commit-rate-{}", std::process::id()));
    for durability in [Durability::Window, Durability::Full] {
        for len in [1, 8, 64] {
            measure_commits(&dir, durability, len)?;
        }
    }
    measure_reads(&dir)?;
    Ok(std::fs::remove_dir_all(&dir)?)
}
