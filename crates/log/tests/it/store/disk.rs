//! A full disk, and a failing one.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;

/// A disk whose syncs fail on demand.
fn options_with_failing_sync() -> (StoreOptions, Arc<AtomicBool>) {
    let sync_fails = Arc::new(AtomicBool::new(false));
    let sync_fails_reader = Arc::clone(&sync_fails);
    let sync = move |_: &File| {
        if sync_fails_reader.load(Ordering::Acquire) {
            Err(io::Error::other("no such luck"))
        } else {
            Ok(())
        }
    };
    (StoreOptions { sync_file: Arc::new(sync), ..options_without_background_work() }, sync_fails)
}

#[test]
fn after_a_failed_sync_nothing_is_written_until_the_file_was_opened_anew() {
    let dir = temp_dir();
    let (options, sync_fails) = options_with_failing_sync();
    let store = SqliteStore::open_or_create_with_options(dir.path(), options).unwrap();
    store.create_session(&session(1)).unwrap();
    store.append(&[batch(1, 1, 0, 2)]).unwrap();
    store.flush_to_disk().unwrap();

    sync_fails.store(true, Ordering::Release);
    let error = store.flush_to_disk().unwrap_err();
    assert!(matches!(&error, StoreError::Failed(why) if why.contains("no such luck")));
    assert_eq!(store.append(&[batch(1, 1, 2, 1)]), Err(error.clone()));
    assert_eq!(store.create_session(&session(2)), Err(error.clone()));
    assert!(store.reopen_file().is_err(), "the disk still fails");
    assert_eq!(read_lines(&store, 1).len(), 2, "reads go on");

    sync_fails.store(false, Ordering::Release);
    assert!(
        store.flush_to_disk().is_err(),
        "a sync that works now does not bring back what is lost"
    );
    assert!(store.append(&[batch(1, 1, 2, 1)]).is_err());
    assert_eq!(store.reopen_count(), 0);
    assert_eq!(store.reopen_file(), Ok(1));
    assert_eq!(store.reopen_count(), 1);
    store.append(&[batch(1, 1, 2, 1)]).unwrap();
    store.flush_to_disk().unwrap();
    assert_eq!(read_lines(&store, 1).len(), 3);

    drop(store);
    let store =
        SqliteStore::open_or_create_with_options(dir.path(), options_without_background_work())
            .unwrap();
    assert_eq!(read_lines(&store, 1).len(), 3);
}

#[test]
fn the_store_opens_its_file_anew_by_itself() {
    let dir = temp_dir();
    let (options, sync_fails) = options_with_failing_sync();
    let options = StoreOptions { reopen_every: Duration::from_millis(1), ..options };
    let store = SqliteStore::open_or_create_with_options(dir.path(), options).unwrap();
    store.create_session(&session(1)).unwrap();
    sync_fails.store(true, Ordering::Release);
    assert!(store.flush_to_disk().is_err());
    sync_fails.store(false, Ordering::Release);
    let deadline = Instant::now() + WAIT_MAX;
    while store.append(&[batch(1, 1, 0, 1)]).is_err() {
        assert!(Instant::now() < deadline, "never");
        std::thread::yield_now();
    }
    assert!(0 < store.reopen_count());
}

#[test]
fn a_commit_reaches_the_disk_without_anybody_asking() {
    let (send, synced) = mpsc::channel();
    let sync = move |wal: &File| send.send(wal.metadata()?.len()).map_err(io::Error::other);
    let options = StoreOptions {
        sync_file: Arc::new(sync),
        sync_window: millpond_log::limits::SYNC_WINDOW,
        ..options_without_background_work()
    };
    let dir = temp_dir();
    let store = SqliteStore::open_or_create_with_options(dir.path(), options).unwrap();
    store.create_session(&session(1)).unwrap();
    let first = synced.recv_timeout(WAIT_MAX).unwrap();
    store.append(&[batch(1, 1, 0, 100)]).unwrap();
    let second = synced.recv_timeout(WAIT_MAX).unwrap();
    assert!(first > 0 && second > first, "the log grew, and was synced after it had");
}

#[test]
fn many_commits_share_a_sync() {
    let syncs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&syncs);
    let sync = move |_: &File| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let dir = temp_dir();
    let options = StoreOptions { sync_file: Arc::new(sync), ..options_without_background_work() };
    // The window is longer than the test: a sync of every commit would be counted all the same.
    let options = StoreOptions { sync_window: Duration::from_hours(1), ..options };
    let store = SqliteStore::open_or_create_with_options(dir.path(), options).unwrap();
    store.create_session(&session(1)).unwrap();
    for first in 0..100 {
        store.append(&[batch(1, 1, first, 1)]).unwrap();
    }
    assert!(syncs.load(Ordering::Relaxed) < 100);
}

#[test]
fn a_full_disk_refuses_whole_batches_and_takes_more_when_there_is_room() {
    let dir = temp_dir();
    let Some(disk) = Mounted::new(dir.path().join("disk"), "4m") else {
        eprintln!("skipped: no small disk can be mounted here");
        return;
    };
    let filler_file = disk.0.join("ballast");
    std::fs::write(&filler_file, vec![0; 3 << 20]).unwrap();
    let data = disk.0.join("data");
    let store =
        SqliteStore::open_or_create_with_options(&data, options_without_background_work()).unwrap();
    store.create_session(&session(1)).unwrap();
    store.create_session(&session(2)).unwrap();
    let mut head = 0;
    let error = loop {
        match store.append(&[batch(1, 1, head, 50), batch(2, 2, head, 50)]) {
            Ok(()) => head += 50,
            Err(error) => break error,
        }
    };
    assert_eq!(error, StoreError::Full);
    assert!(head > 0);
    for n in [1, 2] {
        assert_eq!(read_lines(&store, n).len() as u64, head, "none of the refused batch");
    }
    assert_eq!(store.append(&[batch(1, 1, head, 5000)]), Err(StoreError::Full), "still");

    std::fs::remove_file(&filler_file).unwrap();
    store.append(&[batch(1, 1, head, 50), batch(2, 2, head, 50)]).unwrap();
    assert_eq!(read_lines(&store, 1), expected_lines(&[batch(1, 1, 0, head + 50)]));
    assert!(store.check().unwrap().is_sound());
    drop(store);
    let store =
        SqliteStore::open_or_create_with_options(&data, options_without_background_work()).unwrap();
    assert_eq!(read_lines(&store, 2), expected_lines(&[batch(2, 2, 0, head + 50)]));
}
