//! Erased content is gone from the tables and from the disk.

use std::path::Path;

use millpond_log::store::sqlite::{ErasureReason, Retention, Sweep};
use millpond_log::store::{QueuedMessage, SessionQuery, SessionUpdate};
use sha2::{Digest, Sha256};

use super::*;

const CANARY: &str = "zq9canary7x";

fn has_canary(dir: &Path) -> bool {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.is_file()).any(|path| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()))
    })
}

/// Puts the canary into every place that a session has.
fn fill_with_canary(store: &SqliteStore, n: u8, blob: &[u8]) {
    store.create_session(&Session { title: format!("About {CANARY}"), ..session(n) }).unwrap();
    for first in 0..40 {
        let lines = line(first, run_id(n), text_event(&format!("{CANARY} {first}")));
        let chunk = Chunk { epoch: 1, first, len: 1, lines: lines.into() };
        let texts = vec![format!("{CANARY}{first} and {CANARY}")];
        let turns =
            if first == 0 { beginning_batch(n, n, 0, 1).run_boundaries } else { Vec::new() };
        store
            .append(&[Batch {
                chunk,
                searchable_texts: texts,
                run_boundaries: turns,
                ..batch(n, n, first, 0)
            }])
            .unwrap();
    }
    store.append(&[ending_batch(n, n, 40)]).unwrap();
    let queued = QueuedMessage {
        id: queued_id(n),
        text: CANARY.to_owned(),
        images: Vec::new(),
        origin: millpond_engine::event::PromptOrigin::Person,
        accepted_ms: 1,
    };
    store.set_queue(session_id(n), &[queued]).unwrap();
    let digest = Sha256::digest(blob).into();
    store.store_blob_for_session(session_id(n), digest, "text/plain", blob).unwrap();
}

fn count_rows(test_store: &TestStore, table: &str) -> u64 {
    test_store
        .raw_connection()
        .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
        .unwrap()
}

#[test]
fn an_erased_session_leaves_nothing_behind() {
    for compacted in [false, true] {
        let test_store = open_with_sessions(1);
        test_store.store.append(&[batch(1, 99, 0, 100)]).unwrap();
        fill_with_canary(&test_store.store, 2, CANARY.repeat(3000).as_bytes());
        if compacted {
            test_store.store.compact_ended_runs().unwrap();
            test_store.store.try_checkpoint_and_truncate_wal().unwrap();
        }
        assert!(has_canary(test_store.dir.path()));
        test_store.store.erase_session(session_id(2)).unwrap();
        assert_eq!(test_store.store.load_session_even_deleted(session_id(2)), Ok(None));
        assert_eq!(
            test_store.store.read(session_id(2), 0, ALL_BYTES),
            Err(StoreError::NoSession(session_id(2)))
        );
        let found =
            SessionQuery { words: Some(CANARY.to_owned()), limit: 9, ..SessionQuery::default() };
        assert_eq!(
            test_store.store.list_sessions_of_owner_by_query(owner(1), &found),
            Ok(Vec::new())
        );
        for table in ["blobs", "blob_refs", "queue", "runs", "shares", "damaged"] {
            assert_eq!(count_rows(&test_store, table), 0, "{table}");
        }
        assert_eq!((count_rows(&test_store, "sessions"), count_rows(&test_store, "texts")), (1, 1));
        checkpoint_until_empty(&test_store.store);
        assert!(!has_canary(test_store.dir.path()), "compacted: {compacted}");
        assert_eq!(read_lines(&test_store.store, 1).len(), 100);
        assert!(test_store.store.check().unwrap().is_sound());
    }
}

#[test]
fn a_blob_goes_with_the_last_session_that_has_it() {
    let test_store = open_test_store();
    let blob = CANARY.as_bytes();
    fill_with_canary(&test_store.store, 1, blob);
    fill_with_canary(&test_store.store, 2, blob);
    assert_eq!((count_rows(&test_store, "blobs"), count_rows(&test_store, "blob_refs")), (1, 2));
    test_store.store.erase_session(session_id(1)).unwrap();
    assert_eq!(count_rows(&test_store, "blobs"), 1);
    test_store.store.erase_session(session_id(2)).unwrap();
    assert_eq!(count_rows(&test_store, "blobs"), 0);
    assert_eq!(
        test_store.store.erase_session(session_id(2)),
        Err(StoreError::NoSession(session_id(2)))
    );
}

/// Erases expired sessions, all that are too old, and returns their ids.
fn collect_erased(store: &SqliteStore, now: u64, retention: Retention) -> Vec<SessionId> {
    let due = store.list_sessions_past_age(now, retention).unwrap();
    let mut erased = Vec::new();
    store
        .erase_expired_sessions_and_vacuum(Sweep { now, retention, due: &due }, |session, _| {
            erased.push(session);
        })
        .unwrap();
    erased
}

#[test]
fn a_session_is_erased_for_its_age_only_if_it_is_due_and_still_too_old() {
    let TestStore { store, .. } = &open_with_sessions(3);
    let retention = Retention { max_age: Some(Duration::from_millis(5)), max_bytes: None };
    let expired = store.list_sessions_past_age(100, retention).unwrap();
    assert_eq!(expired, [1, 2, 3].map(session_id));
    let rename = SessionUpdate { title: Some("new".to_owned()), ..SessionUpdate::default() };
    store.update_session(session_id(2), &rename, 99).unwrap();
    let mut erased = Vec::new();
    let due = [session_id(1), session_id(2)];
    let sweep = Sweep { now: 100, retention, due: &due };
    store
        .erase_expired_sessions_and_vacuum(sweep, |session, reason| erased.push((session, reason)))
        .unwrap();
    assert_eq!(erased, [(session_id(1), ErasureReason::Age)]);
}

#[test]
fn a_deleted_session_is_erased_when_it_can_no_longer_be_brought_back() {
    let TestStore { store, .. } = &open_with_sessions(2);
    let delete = SessionUpdate { deleted_ms: Some(Some(1000)), ..SessionUpdate::default() };
    store.update_session(session_id(1), &delete, 1000).unwrap();
    let undo = u64::try_from(millpond_log::limits::UNDO_WINDOW.as_millis()).unwrap();
    let erased = collect_erased(store, 1000 + undo, Retention::default());
    assert_eq!(erased, []);
    let erased = collect_erased(store, 1001 + undo, Retention::default());
    assert_eq!(erased, [session_id(1)]);
    assert!(store.load_session_even_deleted(session_id(2)).unwrap().is_some());
}

#[test]
fn the_oldest_unpinned_sessions_go_first_and_running_ones_stay() {
    let test_store = open_with_sessions(6);
    let store = &test_store.store;
    let pin = SessionUpdate { pinned: Some(true), ..SessionUpdate::default() };
    store.update_session(session_id(1), &pin, 1).unwrap();
    store.append(&[Batch { at_ms: 2, ..beginning_batch(2, 2, 0, 1) }]).unwrap();
    let max_age = Some(Duration::from_millis(5));
    let erased = collect_erased(store, 9, Retention { max_age, max_bytes: None });
    assert_eq!(erased, [session_id(3)]);

    for n in 4..=6 {
        let blob = vec![n; 400_000];
        let digest = Sha256::digest(&blob).into();
        store
            .store_blob_for_session(session_id(n), digest, "application/octet-stream", &blob)
            .unwrap();
    }
    let size = |test_store: &TestStore| {
        checkpoint_until_empty(&test_store.store);
        std::fs::metadata(test_store.dir.path().join("millpond.db")).unwrap().len()
    };
    let size_before = size(&test_store);
    let erased = collect_erased(store, 9, Retention { max_age: None, max_bytes: Some(1_000_000) });
    assert_eq!(erased, [session_id(4)]);
    assert!(size(&test_store) + 300_000 < size_before, "the file shrank");
    let erased = collect_erased(store, 9, Retention { max_age: None, max_bytes: Some(0) });
    assert_eq!(erased, [session_id(5), session_id(6)]);
    assert_eq!(
        store.load_session_even_deleted(session_id(1)).unwrap().map(|session| session.pinned),
        Some(true)
    );
}
