//! What the store does beside writing and reading: putting rows together, carrying the log over,
//! copies of itself.

use std::thread;

use gateway::limits::CHUNK_BYTES_MAX;

use super::*;

fn rows(kept: &Kept) -> Vec<(u64, u64, usize)> {
    let raw = kept.raw();
    let mut statement = raw
        .prepare("SELECT first, len, length(bytes) FROM chunks ORDER BY session, first")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_rows_of_an_ended_run_are_put_together_without_changing_a_byte() {
    let kept = open_with_sessions(1);
    kept.store.append(&[beginning(1, 1, 0, 1)]).unwrap();
    for seq in 1..2000 {
        kept.store.append(&[batch(1, 1, seq, 1)]).unwrap();
    }
    kept.store.append(&[ending(1, 1, 2000)]).unwrap();
    let before = lines(&kept.store, 1);
    kept.store.compact().unwrap();
    let rows = rows(&kept);
    assert!(rows.len() < 10 && rows.iter().all(|row| row.2 <= CHUNK_BYTES_MAX), "{rows:?}");
    assert_eq!(lines(&kept.store, 1), before);
    assert!(kept.store.check().unwrap().is_sound());
    kept.store.append(&[beginning(1, 2, 2001, 1)]).unwrap();
    kept.store.compact().unwrap();
    assert_eq!(lines(&kept.store, 1).len(), 2002);
}

#[test]
fn rows_of_a_run_that_goes_on_stay_as_they_are() {
    let kept = open_with_sessions(2);
    for seq in 0..5 {
        let one = if seq == 0 { beginning(1, 1, 0, 1) } else { batch(1, 1, seq, 1) };
        kept.store.append(&[one]).unwrap();
    }
    kept.store.append(&[beginning(2, 2, 0, 1), ending(2, 2, 1)]).unwrap();
    kept.store.compact().unwrap();
    assert_eq!(rows(&kept).iter().map(|row| row.1).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 2]);
}

#[test]
fn a_damaged_row_is_not_put_together_with_good_ones() {
    let kept = open_with_sessions(1);
    kept.store.append(&[beginning(1, 1, 0, 1)]).unwrap();
    for seq in 1..6 {
        kept.store.append(&[batch(1, 1, seq, 1)]).unwrap();
    }
    kept.raw().execute("UPDATE chunks SET crc = crc - 1 WHERE first = 3", []).unwrap();
    kept.store.append(&[ending(1, 1, 6)]).unwrap();
    kept.store.compact().unwrap();
    assert_eq!(rows(&kept)[1].0, 3);
    let read = lines_from(&kept.store, session_id(1), 3, ALL);
    assert!(matches!(read, Err(StoreError::Damaged { seq: 3, .. })), "{read:?}");
    assert_eq!(lines_from(&kept.store, session_id(1), 4, ALL).unwrap().len(), 3);
}

#[test]
fn ended_runs_are_put_together_in_the_background() {
    let kept = open_with_sessions(1);
    kept.store.append(&[beginning(1, 1, 0, 1)]).unwrap();
    kept.store.append(&[batch(1, 1, 1, 1)]).unwrap();
    kept.store.append(&[ending(1, 1, 2)]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while rows(&kept).len() > 1 {
        assert!(Instant::now() < deadline, "never");
        thread::yield_now();
    }
    assert_eq!(lines(&kept.store, 1).len(), 3);
}

#[test]
fn the_write_ahead_log_is_carried_over_and_emptied_when_idle() {
    let dir = dir();
    let every = Duration::from_millis(2);
    let options = Options { checkpoint_every: every, ..quiet() };
    let store = SqliteStore::open_with(dir.path(), options).unwrap();
    store.create(&session(1)).unwrap();
    for first in 0..100 {
        store.append(&[batch(1, 1, first, 1)]).unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::metadata(dir.path().join("millpond.db-wal")).unwrap().len() > 0 {
        assert!(Instant::now() < deadline, "never");
        thread::yield_now();
    }
    store.append(&[batch(1, 1, 100, 1)]).unwrap();
    assert_eq!(lines(&store, 1).len(), 101);
    drop(store);
    assert!(!dir.path().join("millpond.db-wal").exists(), "one file at rest");
}

#[test]
fn a_backup_made_during_writes_is_a_store_as_it_was_at_one_moment() {
    let kept = open_with_sessions(2);
    let copies = dir();
    kept.store.append(&[beginning(1, 1, 0, 500)]).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for first in 0..200 {
                let both = [batch(1, 1, 500 + first, 1), batch(2, 2, first, 1)];
                kept.store.append(&both).unwrap();
            }
        });
        let mut n = 0;
        loop {
            let last = writer.is_finished();
            let to = copies.path().join(n.to_string()).join("millpond.db");
            std::fs::create_dir(to.parent().unwrap()).unwrap();
            kept.store.backup(&to).unwrap();
            n += 1;
            if last || n > 50 {
                break;
            }
        }
    });
    for copy in std::fs::read_dir(copies.path()).unwrap() {
        let path = copy.unwrap().path();
        let copy = SqliteStore::open_with(&path, quiet()).unwrap();
        assert!(copy.epoch() > kept.store.epoch(), "nobody takes one for the other");
        let both = (lines(&copy, 1), lines(&copy, 2));
        assert_eq!(both.0.len(), both.1.len() + 500, "batches are whole");
        assert_eq!(both.0[..], lines(&kept.store, 1)[..both.0.len()]);
        assert!(copy.check().unwrap().is_sound());
    }
}

#[test]
fn a_backup_replaces_nothing() {
    let kept = open();
    let to = kept.dir.path().join("millpond.db");
    assert!(kept.store.backup(&to).is_err());
    assert!(kept.store.backup(&kept.dir.path().join("no").join("such")).is_err());
    assert!(kept.store.check().unwrap().is_sound());
}
