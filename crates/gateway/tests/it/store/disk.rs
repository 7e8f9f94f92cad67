//! When the disk is full, and when it fails.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;

/// A disk whose syncs fail on demand.
fn failing() -> (Options, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&fails);
    let sync = move |_: &File| {
        if asked.load(Ordering::Acquire) { Err(io::Error::other("no such luck")) } else { Ok(()) }
    };
    (Options { sync: Arc::new(sync), ..quiet() }, fails)
}

#[test]
fn after_a_failed_sync_nothing_is_written_until_the_file_was_opened_anew() {
    let dir = dir();
    let (options, fails) = failing();
    let store = SqliteStore::open_with(dir.path(), options).unwrap();
    let epoch = store.epoch();
    store.create(&session(1)).unwrap();
    store.append(&[batch(1, 1, 0, 2)]).unwrap();
    store.flush().unwrap();

    fails.store(true, Ordering::Release);
    let refused = store.flush().unwrap_err();
    assert!(matches!(&refused, StoreError::Failed(why) if why.contains("no such luck")));
    assert_eq!(store.append(&[batch(1, 1, 2, 1)]), Err(refused.clone()));
    assert_eq!(store.create(&session(2)), Err(refused.clone()));
    assert!(store.reopen().is_err(), "the disk still fails");
    assert_eq!(lines(&store, 1).len(), 2, "reads go on");

    fails.store(false, Ordering::Release);
    assert!(store.flush().is_err(), "a sync that works now does not bring back what is lost");
    assert!(store.append(&[batch(1, 1, 2, 1)]).is_err());
    assert_eq!(store.epoch(), epoch);
    assert_eq!(store.reopen(), Ok(epoch + 1));
    assert_eq!(store.epoch(), epoch + 1);
    store.append(&[batch(1, 1, 2, 1)]).unwrap();
    store.flush().unwrap();
    assert_eq!(lines(&store, 1).len(), 3);

    drop(store);
    let store = SqliteStore::open_with(dir.path(), quiet()).unwrap();
    assert_eq!((store.epoch(), lines(&store, 1).len()), (epoch + 1, 3));
}

#[test]
fn the_store_opens_its_file_anew_by_itself() {
    let dir = dir();
    let (options, fails) = failing();
    let options = Options { reopen_every: Duration::from_millis(1), ..options };
    let store = SqliteStore::open_with(dir.path(), options).unwrap();
    let epoch = store.epoch();
    store.create(&session(1)).unwrap();
    fails.store(true, Ordering::Release);
    assert!(store.flush().is_err());
    fails.store(false, Ordering::Release);
    let deadline = Instant::now() + Duration::from_secs(30);
    while store.append(&[batch(1, 1, 0, 1)]).is_err() {
        assert!(Instant::now() < deadline, "never");
        std::thread::yield_now();
    }
    assert!(store.epoch() > epoch);
}

#[test]
fn a_commit_reaches_the_disk_without_anybody_asking() {
    let (send, synced) = mpsc::channel();
    let sync = move |wal: &File| send.send(wal.metadata()?.len()).map_err(io::Error::other);
    let options =
        Options { sync: Arc::new(sync), sync_window: gateway::limits::SYNC_WINDOW, ..quiet() };
    let dir = dir();
    let store = SqliteStore::open_with(dir.path(), options).unwrap();
    store.create(&session(1)).unwrap();
    let first = synced.recv_timeout(Duration::from_secs(30)).unwrap();
    store.append(&[batch(1, 1, 0, 100)]).unwrap();
    let second = synced.recv_timeout(Duration::from_secs(30)).unwrap();
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
    let dir = dir();
    let options = Options { sync: Arc::new(sync), ..quiet() };
    let options = Options { sync_window: Duration::from_millis(200), ..options };
    let store = SqliteStore::open_with(dir.path(), options).unwrap();
    store.create(&session(1)).unwrap();
    for first in 0..100 {
        store.append(&[batch(1, 1, first, 1)]).unwrap();
    }
    assert!(syncs.load(Ordering::Relaxed) < 100);
}

pub(crate) struct Mounted(pub(crate) PathBuf);

impl Mounted {
    pub(crate) fn new(at: PathBuf, size: &str) -> Option<Mounted> {
        std::fs::create_dir(&at).ok()?;
        let size = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Mounted(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_refuses_whole_batches_and_takes_more_when_there_is_room() {
    let dir = dir();
    let Some(disk) = Mounted::new(dir.path().join("disk"), "4m") else {
        eprintln!("skipped: no small disk can be mounted here");
        return;
    };
    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; 3 << 20]).unwrap();
    let data = disk.0.join("data");
    let store = SqliteStore::open_with(&data, quiet()).unwrap();
    store.create(&session(1)).unwrap();
    store.create(&session(2)).unwrap();
    let mut head = 0;
    let refused = loop {
        match store.append(&[batch(1, 1, head, 50), batch(2, 2, head, 50)]) {
            Ok(()) => head += 50,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, StoreError::Full);
    assert!(head > 0);
    for n in [1, 2] {
        assert_eq!(lines(&store, n).len() as u64, head, "none of the refused batch");
    }
    assert_eq!(store.append(&[batch(1, 1, head, 5000)]), Err(StoreError::Full), "still");

    std::fs::remove_file(&ballast).unwrap();
    store.append(&[batch(1, 1, head, 50), batch(2, 2, head, 50)]).unwrap();
    assert_eq!(lines(&store, 1), lines_of(&[batch(1, 1, 0, head + 50)]));
    assert!(store.check().unwrap().is_sound());
    drop(store);
    let store = SqliteStore::open_with(&data, quiet()).unwrap();
    assert_eq!(lines(&store, 2), lines_of(&[batch(2, 2, 0, head + 50)]));
}
