//! Store failures: clients get errors, reads continue, and the gateway recovers.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use millpond_engine::event::{Event, TextMode};
use millpond_log::store::sqlite::{Durability, SqliteStore, StoreOptions};
use millpond_log::store::{Batch, Chunk, RunBoundary, Store};
use reqwest::Method;
use serde_json::Value;
use tokio::sync::mpsc;

use super::support::{
    SseEvent, TEST_TIMEOUT, TestGateway, read_fixture, start_gateway, start_gateway_in,
    start_gateway_on_store,
};
use crate::log_support::{Mounted, line, owner, run_id, session, session_id};

const PATCH_QUERY: &str = "view=transcript&format=patch";

fn is_ending(event: &SseEvent) -> bool {
    event.data.starts_with("{\"ended\"")
}

async fn read_last_record(gateway: &TestGateway, session: &str) -> Value {
    let log = gateway.get(&format!("/v1/sessions/{session}/log")).send().await.unwrap();
    serde_json::from_str(log.text().await.unwrap().lines().last().unwrap()).unwrap()
}

/// Ingests an endless stream until it is rejected, and returns the response.
async fn ingest_until_refused(
    gateway: &TestGateway,
    session: &str,
    before_first_chunk: impl FnOnce(),
) -> (u16, Value) {
    let (chunk_sender, chunks) = mpsc::channel::<Vec<u8>>(1);
    let body = futures_util::stream::unfold(chunks, |mut chunks| async {
        let chunk = chunks.recv().await?;
        Some((Ok::<_, io::Error>(chunk), chunks))
    });
    let path = format!("/v1/ingest/openai-chat?session={session}");
    let request = gateway.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
    let answer = tokio::spawn(request.send());
    let chunk = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "word ".repeat(1000)
    );
    let mut events = gateway.follow_stream(session, PATCH_QUERY, "").await;
    chunk_sender.send(chunk.clone().into_bytes()).await.unwrap();
    assert!(events.next_event().await.is_some(), "the run has begun");
    before_first_chunk();
    while !answer.is_finished() && chunk_sender.send(chunk.clone().into_bytes()).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let answer = answer.await.unwrap().unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Committed records can be read, whatever the disk does; the gateway is not ready for this reason.
async fn assert_reads_work(
    gateway: &TestGateway,
    [finished, failed]: [&str; 2],
    unready_reason: &str,
) {
    for session in [finished, failed] {
        let path = format!("/v1/sessions/{session}/snapshot?{PATCH_QUERY}");
        assert_eq!(gateway.get(&path).send().await.unwrap().status(), 200);
        assert!(gateway.follow_stream(session, PATCH_QUERY, "").await.next_event().await.is_some());
    }
    assert_eq!(read_readiness(gateway).await, (503, unready_reason.to_owned()));
}

async fn read_readiness(gateway: &TestGateway) -> (u16, String) {
    let answer = gateway.get("/readyz").send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Follows a run to its end; reconnects when the stream is closed by a disk failure.
async fn follow_to_end(gateway: &TestGateway, session: &str) {
    loop {
        let mut events = gateway.follow_stream(session, PATCH_QUERY, "").await;
        while let Some(event) = events.next_event().await {
            if is_ending(&event) {
                return;
            }
        }
    }
}

/// The failed run has ended so, and the next one is stored.
async fn assert_recovered(gateway: &TestGateway, session: &str) {
    follow_to_end(gateway, session).await;
    assert_eq!(read_readiness(gateway).await, (200, "ready\n".to_owned()));
    let last = read_last_record(gateway, session).await;
    assert_eq!(
        (&last["outcome"], &last["reason"]),
        (&"failed".into(), &"storage".into()),
        "{last}"
    );
    let path = format!("/v1/ingest/auto?session={session}");
    let deadline = std::time::Instant::now() + TEST_TIMEOUT;
    loop {
        // The ending is committed a moment before the run is removed.
        let body = read_fixture("anthropic/payload-per-line.jsonl");
        let answer = gateway.request(Method::POST, &path).body(body).send().await.unwrap();
        if answer.status() != 409 {
            assert_eq!(answer.status(), 200);
            break;
        }
        assert!(std::time::Instant::now() < deadline, "the run is never removed");
    }
    assert_eq!(read_last_record(gateway, session).await["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_fails_the_run_and_nothing_else_until_there_is_room() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let Some(disk) = Mounted::new(folder.path().join("disk"), "6m") else {
        println!("skipped: cannot mount a small disk");
        return;
    };
    let filler_file = disk.0.join("ballast");
    std::fs::write(&filler_file, vec![0; 4 << 20]).unwrap();
    let store = SqliteStore::open(&disk.0.join("data"), Durability::Window).unwrap();
    let gateway = start_gateway_on_store(Arc::new(store), folder, None, |_| ()).await;
    let (finished, open_session) = (gateway.new_session().await, gateway.new_session().await);
    gateway.ingest(&finished, read_fixture("anthropic/payload-per-line.jsonl")).await;

    let (status, error_body) = ingest_until_refused(&gateway, &open_session, || ()).await;
    assert_eq!(
        (status, &error_body["error"]["code"]),
        (507, &"storage_full".into()),
        "{error_body}"
    );
    assert_reads_work(&gateway, [&finished, &open_session], "disk full\n").await;

    std::fs::remove_file(&filler_file).unwrap();
    assert_recovered(&gateway, &open_session).await;
    gateway.stop_and_wait().await;
    drop(disk);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fails_fails_the_run_and_closes_the_streams() {
    let sync_fails = Arc::new(AtomicBool::new(false));
    let sync_fails_reader = Arc::clone(&sync_fails);
    let sync = move |_: &File| {
        if sync_fails_reader.load(Ordering::Acquire) {
            Err(io::Error::other("no such luck"))
        } else {
            Ok(())
        }
    };
    let options = StoreOptions {
        sync_file: Arc::new(sync),
        reopen_every: Duration::from_millis(20),
        ..StoreOptions::new(Durability::Window)
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let store = Arc::new(SqliteStore::open_or_create_with_options(folder.path(), options).unwrap());
    let gateway = start_gateway_on_store(Arc::clone(&store), folder, None, |_| ()).await;
    let epoch = store.reopen_count();
    let (finished, open_session) = (gateway.new_session().await, gateway.new_session().await);
    gateway.ingest(&finished, read_fixture("anthropic/payload-per-line.jsonl")).await;
    let mut live = gateway.follow_stream(&finished, PATCH_QUERY, "").await;
    let received = live.events_until(is_ending).await;

    let (status, error_body) =
        ingest_until_refused(&gateway, &open_session, || sync_fails.store(true, Ordering::Release))
            .await;
    assert_eq!((status, &error_body["error"]["code"]), (500, &"storage".into()), "{error_body}");
    assert!(
        !error_body.to_string().contains("no such luck"),
        "what is inside stays inside: {error_body}"
    );
    assert_reads_work(&gateway, [&finished, &open_session], "store not writable\n").await;

    sync_fails.store(false, Ordering::Release);
    assert_recovered(&gateway, &open_session).await;
    assert!(epoch < store.reopen_count());
    // A reader that stayed connected cannot know either if its frames still exist.
    gateway.ingest(&finished, read_fixture("anthropic/payload-per-line.jsonl")).await;
    let closed = live.next_event().await.unwrap();
    assert_eq!((&*closed.event, &*closed.data), ("closed", "{\"reason\":\"storage\"}"));
    let mut events = gateway.follow_stream(&finished, PATCH_QUERY, &received[0].id).await;
    let resume_frame = events.next_event().await.unwrap();
    // This time nothing was lost.
    assert!(resume_frame.data.contains("\"recovered\":true"), "{}", resume_frame.data);
    assert_eq!(events.next_event().await.unwrap().id, received[1].id);
}

#[allow(clippy::ptr_arg, reason = "stands where `tear` does")]
fn flip_bit(bytes: &mut Vec<u8>) {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
}

fn truncate_row(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
}

/// Changes the bytes of the first row of a log.
fn damage_first_row(folder: &Path, session: &str, change: fn(&mut Vec<u8>)) {
    let file = rusqlite::Connection::open(folder.join("millpond.db")).unwrap();
    let id: millpond_log::id::SessionId = session.parse().unwrap();
    let sql = "SELECT chunks.session, first, bytes FROM chunks
         JOIN sessions ON sessions.key = chunks.session WHERE id = ?1 ORDER BY first LIMIT 1";
    let (key, first, mut bytes): (i64, i64, Vec<u8>) = file
        .query_row(sql, [id.to_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    change(&mut bytes);
    let sql = "UPDATE chunks SET bytes = ?3 WHERE session = ?1 AND first = ?2";
    assert_eq!(file.execute(sql, (key, first, bytes)).unwrap(), 1);
}

async fn assert_reported_damaged(gateway: &TestGateway, session: &str) {
    for path in ["snapshot", "log"] {
        let answer = gateway.get(&format!("/v1/sessions/{session}/{path}")).send().await.unwrap();
        assert_eq!(answer.status(), 500, "{path}");
        let error_body: Value = answer.json().await.unwrap();
        assert_eq!(error_body["error"]["code"], "damaged", "{path}: {error_body}");
        let message = error_body["error"]["message"].as_str().unwrap();
        assert!(message.contains("millpond doctor"), "{path}: {message}");
    }
    let mut events = gateway.follow_stream(session, PATCH_QUERY, "").await;
    let closed = events.next_event().await.unwrap();
    assert_eq!((&*closed.event, &*closed.data), ("closed", "{\"reason\":\"damaged\"}"));
    assert!(events.next_event().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn flipped_and_torn_rows_are_told_where_they_are_and_other_sessions_are_unharmed() {
    let gateway = start_gateway().await;
    let token = gateway.token.clone();
    let (flipped, truncated) = (gateway.new_session().await, gateway.new_session().await);
    let undamaged = gateway.new_session().await;
    for session in [&flipped, &truncated, &undamaged] {
        gateway.ingest(session, read_fixture("anthropic/payload-per-line.jsonl")).await;
    }
    let expected =
        gateway.follow_stream(&undamaged, PATCH_QUERY, "").await.events_until(is_ending).await;
    let folder = gateway.stop_and_wait().await;
    // Once it can be opened, no other process has it open.
    drop(start_gateway_in(Arc::clone(&folder), None).await.stop_and_wait().await);
    damage_first_row(folder.path(), &flipped, flip_bit);
    damage_first_row(folder.path(), &truncated, truncate_row);

    let gateway = TestGateway { token, ..start_gateway_in(folder, None).await };
    assert_reported_damaged(&gateway, &flipped).await;
    assert_reported_damaged(&gateway, &truncated).await;
    assert_eq!(
        gateway.follow_stream(&undamaged, PATCH_QUERY, "").await.events_until(is_ending).await,
        expected
    );
    gateway.ingest(&undamaged, read_fixture("anthropic/payload-per-line.jsonl")).await;
    let listed: Value = gateway.get("/v1/sessions").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(3));
}

/// First record of a run that is never ended.
fn open_run_batch(n: u8) -> Batch {
    let run = run_id(n);
    let started =
        Event::RunStarted { version: 1, dialect: "unknown".into(), mode: TextMode::Incremental };
    Batch {
        session: session_id(n),
        run,
        at_ms: 0,
        chunk: Chunk { epoch: 1, first: 0, len: 1, lines: line(0, run, started).into() },
        run_boundaries: vec![RunBoundary::Began { seq: 0 }],
        searchable_texts: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_starts_although_the_log_of_an_open_run_is_damaged() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    {
        let store = SqliteStore::open(folder.path(), Durability::Window).unwrap();
        for n in [1, 2] {
            store.create_session(&session(n)).unwrap();
            store.append(&[open_run_batch(n)]).unwrap();
        }
    }
    damage_first_row(folder.path(), &session_id(1).to_string(), flip_bit);
    let gateway = start_gateway_in(folder, None).await;
    let (_, secret) = gateway.gateway.issue_token(owner(1), "test").await.unwrap();
    let gateway = TestGateway { token: secret.reveal().to_owned(), ..gateway };
    let damaged_path = format!("/v1/sessions/{}/snapshot", session_id(1));
    assert_eq!(gateway.get(&damaged_path).send().await.unwrap().status(), 500);
    let last = read_last_record(&gateway, &session_id(2).to_string()).await;
    assert_eq!(last["outcome"], "interrupted");
}
