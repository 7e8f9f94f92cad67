//! What was erased is gone, from the tables and from the disk.

use std::path::Path;

use gateway::store::sqlite::Retention;
use gateway::store::{Change, Query, Queued};
use sha2::{Digest, Sha256};

use super::*;

const CANARY: &str = "zq9canary7x";

fn holds_canary(dir: &Path) -> bool {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.is_file()).any(|path| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()))
    })
}

/// The canary in every place that a session has.
fn fill(store: &SqliteStore, n: u8, blob: &[u8]) {
    store.create(&Session { title: format!("About {CANARY}"), ..session(n) }).unwrap();
    for first in 0..40 {
        let lines = line(first, run_id(n), text_event(&format!("{CANARY} {first}")));
        let chunk = Chunk { first, len: 1, lines: lines.into() };
        let texts = vec![format!("{CANARY}{first} and {CANARY}")];
        let turns = if first == 0 { beginning(n, n, 0, 1).turns } else { Vec::new() };
        store.append(&[Batch { chunk, texts, turns, ..batch(n, n, first, 0) }]).unwrap();
    }
    store.append(&[ending(n, n, 40)]).unwrap();
    let queued =
        Queued { id: queued_id(n), text: CANARY.to_owned(), images: Vec::new(), accepted_ms: 1 };
    store.set_queue(session_id(n), &[queued]).unwrap();
    let digest = Sha256::digest(blob).into();
    store.put_blob(session_id(n), digest, "text/plain", blob).unwrap();
}

fn count(kept: &Kept, table: &str) -> u64 {
    kept.raw().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn an_erased_session_leaves_nothing_behind() {
    for compacted in [false, true] {
        let kept = open_with_sessions(1);
        kept.store.append(&[batch(1, 99, 0, 100)]).unwrap();
        fill(&kept.store, 2, CANARY.repeat(3000).as_bytes());
        if compacted {
            kept.store.compact().unwrap();
            kept.store.checkpoint().unwrap();
        }
        assert!(holds_canary(kept.dir.path()));
        kept.store.erase(session_id(2)).unwrap();
        assert_eq!(kept.store.session(session_id(2)), Ok(None));
        assert_eq!(
            kept.store.read(session_id(2), 0, ALL),
            Err(StoreError::NoSession(session_id(2)))
        );
        let found = Query { words: Some(CANARY.to_owned()), limit: 9, ..Query::default() };
        assert_eq!(kept.store.sessions(owner(1), &found), Ok(Vec::new()));
        for table in ["blobs", "blob_refs", "queue", "runs", "shares", "damaged"] {
            assert_eq!(count(&kept, table), 0, "{table}");
        }
        assert_eq!((count(&kept, "sessions"), count(&kept, "texts")), (1, 1));
        emptied(&kept.store);
        assert!(!holds_canary(kept.dir.path()), "compacted: {compacted}");
        assert_eq!(lines(&kept.store, 1).len(), 100);
        assert!(kept.store.check().unwrap().is_sound());
    }
}

#[test]
fn a_blob_goes_with_the_last_session_that_has_it() {
    let kept = open();
    let blob = CANARY.as_bytes();
    fill(&kept.store, 1, blob);
    fill(&kept.store, 2, blob);
    assert_eq!((count(&kept, "blobs"), count(&kept, "blob_refs")), (1, 2));
    kept.store.erase(session_id(1)).unwrap();
    assert_eq!(count(&kept, "blobs"), 1);
    kept.store.erase(session_id(2)).unwrap();
    assert_eq!(count(&kept, "blobs"), 0);
    assert_eq!(kept.store.erase(session_id(2)), Err(StoreError::NoSession(session_id(2))));
}

/// Sweeps, and says what went.
fn sweep(store: &SqliteStore, now: u64, retention: Retention) -> Vec<SessionId> {
    let mut went = Vec::new();
    store.sweep(now, retention, |session| went.push(session)).unwrap();
    went
}

#[test]
fn a_deleted_session_is_erased_when_it_can_no_longer_be_brought_back() {
    let Kept { store, .. } = &open_with_sessions(2);
    let delete = Change { deleted_ms: Some(Some(1000)), ..Change::default() };
    store.change(session_id(1), &delete, 1000).unwrap();
    let undo = u64::try_from(gateway::limits::UNDO_WINDOW.as_millis()).unwrap();
    let swept = sweep(store, 1000 + undo, Retention::default());
    assert_eq!(swept, []);
    let swept = sweep(store, 1001 + undo, Retention::default());
    assert_eq!(swept, [session_id(1)]);
    assert!(store.session(session_id(2)).unwrap().is_some());
}

#[test]
fn the_oldest_unpinned_sessions_go_first_and_running_ones_stay() {
    let kept = open_with_sessions(6);
    let store = &kept.store;
    let pin = Change { pinned: Some(true), ..Change::default() };
    store.change(session_id(1), &pin, 1).unwrap();
    store.append(&[Batch { at_ms: 2, ..beginning(2, 2, 0, 1) }]).unwrap();
    let max_age = Some(Duration::from_millis(5));
    let swept = sweep(store, 9, Retention { max_age, max_bytes: None });
    assert_eq!(swept, [session_id(3)]);

    for n in 4..=6 {
        let big = vec![n; 400_000];
        let digest = Sha256::digest(&big).into();
        store.put_blob(session_id(n), digest, "application/octet-stream", &big).unwrap();
    }
    let size = |kept: &Kept| {
        emptied(&kept.store);
        std::fs::metadata(kept.dir.path().join("millpond.db")).unwrap().len()
    };
    let before = size(&kept);
    let swept = sweep(store, 9, Retention { max_age: None, max_bytes: Some(1_000_000) });
    assert_eq!(swept, [session_id(4)]);
    assert!(size(&kept) + 300_000 < before, "the room is given back");
    let swept = sweep(store, 9, Retention { max_age: None, max_bytes: Some(0) });
    assert_eq!(swept, [session_id(5), session_id(6)]);
    assert_eq!(store.session(session_id(1)).unwrap().map(|session| session.pinned), Some(true));
}
