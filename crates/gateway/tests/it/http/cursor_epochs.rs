//! A cursor is good for as long as its record exists: through restarts, but not in a restored copy,
//! after a lost write-ahead log, or in a new session with an old id.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use millpond_log::store::Session;
use millpond_log::store::sqlite::{Durability, SqliteStore, StoreOptions};
use tempfile::TempDir;

use super::support::{
    SseEvent, TestGateway, read_fixture, start_gateway, start_gateway_in, start_gateway_on_store,
};

const QUERY: &str = "view=transcript&format=patch";

/// All frames of a session whose runs have ended.
async fn read_frames(gateway: &TestGateway, session: &str, runs: usize) -> Vec<SseEvent> {
    let mut events = gateway.follow_stream(session, QUERY, "").await;
    let mut frames = Vec::new();
    for _ in 0..runs {
        frames.extend(events.events_until(|event| event.data.contains("\"ended\"")).await);
    }
    frames
}

/// True if a reader goes on after this cursor; else it must get the page.
async fn is_recovered(gateway: &TestGateway, session: &str, cursor: &str) -> bool {
    let mut events = gateway.follow_stream(session, QUERY, cursor).await;
    let resume_frame = events.next_event().await.unwrap();
    assert_eq!(resume_frame.event, "stream");
    let is_recovered = resume_frame.data.contains("\"recovered\":true");
    if !is_recovered {
        assert_eq!(events.next_event().await.unwrap().event, "snapshot", "{cursor}");
    }
    is_recovered
}

async fn ingest_run(gateway: &TestGateway, session: &str) {
    gateway.ingest(session, read_fixture("anthropic/payload-per-line.jsonl")).await;
}

/// Copies the database, and its write-ahead log if `with_wal`.
fn copy_folder(folder: &Path, with_wal: bool) -> Arc<TempDir> {
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(folder.join("millpond.db"), copy.path().join("millpond.db")).unwrap();
    let wal = folder.join("millpond.db-wal");
    if with_wal && wal.exists() {
        std::fs::copy(wal, copy.path().join("millpond.db-wal")).unwrap();
    }
    Arc::new(copy)
}

/// Checks that of the frames of two runs, those of the first can be resumed after, and those of the
/// second only if `second_is_kept`.
async fn check_cursors(
    gateway: &TestGateway,
    session: &str,
    [first, second]: [&[SseEvent]; 2],
    second_is_kept: bool,
) {
    for frame in first {
        assert!(is_recovered(gateway, session, &frame.id).await, "{}", frame.id);
    }
    for frame in second {
        assert_eq!(is_recovered(gateway, session, &frame.id).await, second_is_kept, "{}", frame.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_every_cursor() {
    let gateway = start_gateway().await;
    let (session, token) = (gateway.new_session().await, gateway.token.clone());
    ingest_run(&gateway, &session).await;
    let frames = read_frames(&gateway, &session, 1).await;
    let folder = gateway.stop_and_wait().await;
    let gateway = TestGateway { token, ..start_gateway_in(folder, None).await };
    ingest_run(&gateway, &session).await;
    check_cursors(&gateway, &session, [&frames, &[]], true).await;
    let all = read_frames(&gateway, &session, 2).await;
    assert_eq!(all[..frames.len()], frames);
    check_cursors(&gateway, &session, [&[], &all[frames.len()..]], true).await;
}

/// Starts a gateway whose commits stay in the write-ahead log until it stops.
async fn start_without_checkpoints(folder: Arc<TempDir>, token: Option<&str>) -> TestGateway {
    let options =
        StoreOptions { checkpoint_every: Duration::MAX, ..StoreOptions::new(Durability::Window) };
    let store = SqliteStore::open_or_create_with_options(folder.path(), options).unwrap();
    let gateway = start_gateway_on_store(Arc::new(store), folder, None, |_| ()).await;
    let token = token.map_or_else(|| gateway.token.clone(), str::to_owned);
    TestGateway { token, ..gateway }
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_of_a_folder_that_an_older_copy_replaced_are_not_believed() {
    check_run_lost_by_copy(|folder| Some(copy_folder(folder, true)), |_| None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_of_a_lost_write_ahead_log_are_not_believed() {
    check_run_lost_by_copy(|_| None, |folder| Some(copy_folder(folder, false))).await;
}

/// Ingests two runs, continues with the copy made between them or after them, in which the second
/// is missing, and checks the cursors of both, before and after the same bytes are ingested again.
async fn check_run_lost_by_copy(
    copy_between: impl Fn(&Path) -> Option<Arc<TempDir>>,
    copy_after: impl Fn(&Path) -> Option<Arc<TempDir>>,
) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let gateway = start_without_checkpoints(folder, None).await;
    let (session, token) = (gateway.new_session().await, gateway.token.clone());
    ingest_run(&gateway, &session).await;
    let first = read_frames(&gateway, &session, 1).await;
    let gateway = start_without_checkpoints(gateway.stop_and_wait().await, Some(&token)).await;
    let between = copy_between(gateway.folder.path());
    ingest_run(&gateway, &session).await;
    let lost = read_frames(&gateway, &session, 2).await.split_off(first.len());
    let copy = between.or_else(|| copy_after(gateway.folder.path())).unwrap();
    let gateway = start_without_checkpoints(copy, Some(&token)).await;
    assert_eq!(read_frames(&gateway, &session, 1).await, first);
    check_cursors(&gateway, &session, [&first, &lost], false).await;
    // The records are equal to the lost ones but for their times.
    ingest_run(&gateway, &session).await;
    check_cursors(&gateway, &session, [&first, &lost], false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_the_id_of_an_erased_one_does_not_know_its_cursors() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    ingest_run(&gateway, &session).await;
    let erased = read_frames(&gateway, &session, 1).await;
    let store = gateway.gateway.log.store();
    let row = store.load_session_even_deleted(session.parse().unwrap()).unwrap().unwrap();
    store.erase_session(row.id).unwrap();
    gateway.gateway.log.drop_tail_and_end_followers(row.id);
    store.create_session(&Session { head: 0, ..row }).unwrap();
    check_cursors(&gateway, &session, [&[], &erased], false).await;
    ingest_run(&gateway, &session).await;
    check_cursors(&gateway, &session, [&[], &erased], false).await;
    let new = read_frames(&gateway, &session, 1).await;
    check_cursors(&gateway, &session, [&new, &[]], true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_of_an_earlier_format_or_of_a_future_one_get_the_page() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    ingest_run(&gateway, &session).await;
    let frames = read_frames(&gateway, &session, 1).await;
    for frame in &frames {
        let (position, epoch) = frame.id.split_once('~').unwrap();
        let future_revision = format!("{position}~2{}", &epoch[1..]);
        for cursor in [position.to_owned(), format!("{position}~1"), future_revision] {
            assert!(!is_recovered(&gateway, &session, &cursor).await, "{cursor}");
        }
    }
}
