//! When the store cannot keep or read: callers are told, reads go on, and all is well afterwards.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::event::{Event, TextMode};
use gateway::store::sqlite::{Durability, Options, SqliteStore};
use gateway::store::{Batch, Chunk, Store, Turn};
use reqwest::Method;
use serde_json::Value;
use tokio::sync::mpsc;

use super::support::{Got, Served, fixture, serve, serve_in, serve_on};
use crate::store::disk::Mounted;
use crate::store::{line, owner, run_id, session, session_id};

const PATCHES: &str = "view=transcript&format=patch";

fn ended(got: &Got) -> bool {
    got.data.starts_with("{\"ended\"")
}

async fn last_record(served: &Served, session: &str) -> Value {
    let log = served.get(&format!("/v1/sessions/{session}/log")).send().await.unwrap();
    serde_json::from_str(log.text().await.unwrap().lines().last().unwrap()).unwrap()
}

/// Sends a stream that does not end until it is refused, and returns how.
async fn send_until_refused(served: &Served, session: &str, first: impl FnOnce()) -> (u16, Value) {
    let (pieces, waiting) = mpsc::channel::<Vec<u8>>(1);
    let body = futures_util::stream::unfold(waiting, |mut waiting| async {
        let piece = waiting.recv().await?;
        Some((Ok::<_, io::Error>(piece), waiting))
    });
    let path = format!("/v1/ingest/openai-chat?session={session}");
    let request = served.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
    let answer = tokio::spawn(request.send());
    let piece = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "word ".repeat(1000)
    );
    let mut events = served.follow(session, PATCHES, "").await;
    pieces.send(piece.clone().into_bytes()).await.unwrap();
    assert!(events.next().await.is_some(), "the run has begun");
    first();
    while !answer.is_finished() && pieces.send(piece.clone().into_bytes()).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let answer = answer.await.unwrap().unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// All that was kept can be read, whatever the disk does.
async fn reads_go_on(served: &Served, finished: &str, open: &str) {
    for session in [finished, open] {
        let path = format!("/v1/sessions/{session}/snapshot?{PATCHES}");
        assert_eq!(served.get(&path).send().await.unwrap().status(), 200);
        assert!(served.follow(session, PATCHES, "").await.next().await.is_some());
    }
    assert_eq!(served.get("/readyz").send().await.unwrap().status(), 200);
}

/// Follows a run to its end; asks again when the stream is closed because the disk failed.
async fn see_the_end(served: &Served, session: &str) {
    loop {
        let mut events = served.follow(session, PATCHES, "").await;
        while let Some(got) = events.next().await {
            if ended(&got) {
                return;
            }
        }
    }
}

/// The run that could not be kept has ended so, and the next one is kept.
async fn is_well_again(served: &Served, session: &str) {
    see_the_end(served, session).await;
    let last = last_record(served, session).await;
    assert_eq!(
        (&last["outcome"], &last["reason"]),
        (&"failed".into(), &"storage".into()),
        "{last}"
    );
    let path = format!("/v1/ingest/auto?session={session}");
    let patience = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        // The ending is in the log a moment before its run has gone.
        let body = fixture("anthropic/payload-per-line.jsonl");
        let answer = served.request(Method::POST, &path).body(body).send().await.unwrap();
        if answer.status() != 409 {
            assert_eq!(answer.status(), 200);
            break;
        }
        assert!(std::time::Instant::now() < patience, "the run never goes");
    }
    assert_eq!(last_record(served, session).await["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_fails_the_run_and_nothing_else_until_there_is_room() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let Some(disk) = Mounted::new(folder.path().join("disk"), "6m") else {
        println!("skipped: no small disk can be mounted here");
        return;
    };
    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; 4 << 20]).unwrap();
    let store = SqliteStore::open(&disk.0.join("data"), Durability::Window).unwrap();
    let served = serve_on(Arc::new(store), folder, None, |_| ()).await;
    let (finished, open) = (served.new_session().await, served.new_session().await);
    served.ingest(&finished, fixture("anthropic/payload-per-line.jsonl")).await;

    let (status, told) = send_until_refused(&served, &open, || ()).await;
    assert_eq!((status, &told["error"]["code"]), (507, &"storage_full".into()), "{told}");
    reads_go_on(&served, &finished, &open).await;

    std::fs::remove_file(&ballast).unwrap();
    is_well_again(&served, &open).await;
    served.stop().await;
    drop(disk);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fails_fails_the_run_and_cursors_are_not_trusted_afterwards() {
    let fails = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&fails);
    let sync = move |_: &File| {
        if asked.load(Ordering::Acquire) { Err(io::Error::other("no such luck")) } else { Ok(()) }
    };
    let options = Options {
        sync: Arc::new(sync),
        reopen_every: Duration::from_millis(20),
        ..Options::new(Durability::Window)
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let store = Arc::new(SqliteStore::open_with(folder.path(), options).unwrap());
    let served = serve_on(Arc::clone(&store), folder, None, |_| ()).await;
    let epoch = store.epoch();
    let (finished, open) = (served.new_session().await, served.new_session().await);
    served.ingest(&finished, fixture("anthropic/payload-per-line.jsonl")).await;
    let mut live = served.follow(&finished, PATCHES, "").await;
    let seen = live.until(ended).await;

    let (status, told) =
        send_until_refused(&served, &open, || fails.store(true, Ordering::Release)).await;
    assert_eq!((status, &told["error"]["code"]), (500, &"storage".into()), "{told}");
    assert!(!told.to_string().contains("no such luck"), "what is inside stays inside: {told}");
    reads_go_on(&served, &finished, &open).await;

    fails.store(false, Ordering::Release);
    is_well_again(&served, &open).await;
    assert!(epoch < store.epoch());
    // One that was there all the time cannot know either whether it has seen what is no more.
    served.ingest(&finished, fixture("anthropic/payload-per-line.jsonl")).await;
    let closed = live.next().await.unwrap();
    assert_eq!((&*closed.event, &*closed.data), ("closed", "{\"reason\":\"storage\"}"));
    let mut events = served.follow(&finished, PATCHES, &seen[0].id).await;
    let hello = events.next().await.unwrap();
    assert!(hello.data.contains("\"recovered\":false"), "{}", hello.data);
    assert_eq!(events.next().await.unwrap().event, "snapshot");
}

#[allow(clippy::ptr_arg, reason = "stands where `tear` does")]
fn flip(bytes: &mut Vec<u8>) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
}

fn tear(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
}

/// Changes the bytes of the first row of a log, as a disk might.
fn damage(folder: &Path, session: &str, change: fn(&mut Vec<u8>)) {
    let file = rusqlite::Connection::open(folder.join("millpond.db")).unwrap();
    let id: gateway::id::SessionId = session.parse().unwrap();
    let sql = "SELECT chunks.session, first, bytes FROM chunks
         JOIN sessions ON sessions.key = chunks.session WHERE id = ?1 ORDER BY first LIMIT 1";
    let (key, first, mut bytes): (i64, i64, Vec<u8>) = file
        .query_row(sql, [id.to_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    change(&mut bytes);
    let sql = "UPDATE chunks SET bytes = ?3 WHERE session = ?1 AND first = ?2";
    assert_eq!(file.execute(sql, (key, first, bytes)).unwrap(), 1);
}

async fn is_told_as_damaged(served: &Served, session: &str) {
    for path in ["snapshot", "log"] {
        let answer = served.get(&format!("/v1/sessions/{session}/{path}")).send().await.unwrap();
        assert_eq!(answer.status(), 500, "{path}");
        let told: Value = answer.json().await.unwrap();
        assert_eq!(told["error"]["code"], "damaged", "{path}: {told}");
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("millpond doctor"), "{path}: {message}");
    }
    let mut events = served.follow(session, PATCHES, "").await;
    let closed = events.next().await.unwrap();
    assert_eq!((&*closed.event, &*closed.data), ("closed", "{\"reason\":\"damaged\"}"));
    assert!(events.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn flipped_and_torn_rows_are_told_where_they_are_and_other_sessions_are_unharmed() {
    let served = serve().await;
    let token = served.token.clone();
    let (flipped, torn) = (served.new_session().await, served.new_session().await);
    let good = served.new_session().await;
    for session in [&flipped, &torn, &good] {
        served.ingest(session, fixture("anthropic/payload-per-line.jsonl")).await;
    }
    let whole = served.follow(&good, PATCHES, "").await.until(ended).await;
    let folder = served.stop().await;
    // Nobody has it open any more once it can be opened.
    drop(serve_in(Arc::clone(&folder), None).await.stop().await);
    damage(folder.path(), &flipped, flip);
    damage(folder.path(), &torn, tear);

    let served = Served { token, ..serve_in(folder, None).await };
    is_told_as_damaged(&served, &flipped).await;
    is_told_as_damaged(&served, &torn).await;
    assert_eq!(served.follow(&good, PATCHES, "").await.until(ended).await, whole);
    served.ingest(&good, fixture("anthropic/payload-per-line.jsonl")).await;
    let listed: Value = served.get("/v1/sessions").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(3));
}

/// The first record of a run that nobody will end.
fn begun(n: u8) -> Batch {
    let run = run_id(n);
    let started =
        Event::RunStarted { version: 1, dialect: "unknown".into(), mode: TextMode::Incremental };
    Batch {
        session: session_id(n),
        at_ms: 0,
        chunk: Chunk { first: 0, len: 1, lines: line(0, run, started).into() },
        turns: vec![Turn::Began { run, seq: 0 }],
        texts: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_starts_although_the_log_of_an_open_run_is_damaged() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    {
        let store = SqliteStore::open(folder.path(), Durability::Window).unwrap();
        for n in [1, 2] {
            store.create(&session(n)).unwrap();
            store.append(&[begun(n)]).unwrap();
        }
    }
    damage(folder.path(), &session_id(1).to_string(), flip);
    let served = serve_in(folder, None).await;
    let (_, secret) = served.gateway.issue(owner(1), "test").await.unwrap();
    let served = Served { token: secret.reveal().to_owned(), ..served };
    let bad = format!("/v1/sessions/{}/snapshot", session_id(1));
    assert_eq!(served.get(&bad).send().await.unwrap().status(), 500);
    let last = last_record(&served, &session_id(2).to_string()).await;
    assert_eq!(last["outcome"], "interrupted");
}
