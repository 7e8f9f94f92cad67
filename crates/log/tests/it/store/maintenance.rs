//! Maintenance of the store: merging rows, checkpoints, backups.

use std::thread;

use millpond_log::limits::CHUNK_BYTES_MAX;

use super::*;

fn select_rows(test_store: &TestStore) -> Vec<(u64, u64, usize)> {
    let raw = test_store.raw_connection();
    let mut statement = raw
        .prepare("SELECT first, len, length(bytes) FROM chunks ORDER BY session, first")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_rows_of_an_ended_run_are_put_together_without_changing_a_byte() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[beginning_batch(1, 1, 0, 1)]).unwrap();
    for seq in 1..2000 {
        test_store.store.append(&[batch(1, 1, seq, 1)]).unwrap();
    }
    test_store.store.append(&[ending_batch(1, 1, 2000)]).unwrap();
    let lines_before = read_lines(&test_store.store, 1);
    test_store.store.compact_ended_runs().unwrap();
    let rows = select_rows(&test_store);
    assert!(rows.len() < 10 && rows.iter().all(|row| row.2 <= CHUNK_BYTES_MAX), "{rows:?}");
    assert_eq!(read_lines(&test_store.store, 1), lines_before);
    assert!(test_store.store.check().unwrap().is_sound());
    test_store.store.append(&[beginning_batch(1, 2, 2001, 1)]).unwrap();
    test_store.store.compact_ended_runs().unwrap();
    assert_eq!(read_lines(&test_store.store, 1).len(), 2002);
}

#[test]
fn rows_of_a_run_that_goes_on_stay_as_they_are() {
    let test_store = open_with_sessions(2);
    for seq in 0..5 {
        let next_batch = if seq == 0 { beginning_batch(1, 1, 0, 1) } else { batch(1, 1, seq, 1) };
        test_store.store.append(&[next_batch]).unwrap();
    }
    test_store.store.append(&[beginning_batch(2, 2, 0, 1), ending_batch(2, 2, 1)]).unwrap();
    test_store.store.compact_ended_runs().unwrap();
    assert_eq!(
        select_rows(&test_store).iter().map(|row| row.1).collect::<Vec<_>>(),
        [1, 1, 1, 1, 1, 2]
    );
}

#[test]
fn a_damaged_row_is_not_put_together_with_good_ones() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[beginning_batch(1, 1, 0, 1)]).unwrap();
    for seq in 1..6 {
        test_store.store.append(&[batch(1, 1, seq, 1)]).unwrap();
    }
    test_store
        .raw_connection()
        .execute("UPDATE chunks SET crc = crc - 1 WHERE first = 3", [])
        .unwrap();
    test_store.store.append(&[ending_batch(1, 1, 6)]).unwrap();
    test_store.store.compact_ended_runs().unwrap();
    assert_eq!(select_rows(&test_store)[1].0, 3);
    let read = read_lines_from(&test_store.store, session_id(1), 3, ALL_BYTES);
    assert!(matches!(read, Err(StoreError::Damaged { seq: 3, .. })), "{read:?}");
    assert_eq!(read_lines_from(&test_store.store, session_id(1), 4, ALL_BYTES).unwrap().len(), 3);
}

#[test]
fn ended_runs_are_put_together_in_the_background() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[beginning_batch(1, 1, 0, 1)]).unwrap();
    test_store.store.append(&[batch(1, 1, 1, 1)]).unwrap();
    test_store.store.append(&[ending_batch(1, 1, 2)]).unwrap();
    let deadline = Instant::now() + WAIT_MAX;
    while select_rows(&test_store).len() > 1 {
        assert!(Instant::now() < deadline, "never");
        thread::yield_now();
    }
    assert_eq!(read_lines(&test_store.store, 1).len(), 3);
}

#[test]
fn the_write_ahead_log_is_carried_over_and_emptied_when_idle() {
    let dir = temp_dir();
    let interval = Duration::from_millis(2);
    let options = StoreOptions { checkpoint_every: interval, ..options_without_background_work() };
    let store = SqliteStore::open_or_create_with_options(dir.path(), options).unwrap();
    store.create_session(&session(1)).unwrap();
    for first in 0..100 {
        store.append(&[batch(1, 1, first, 1)]).unwrap();
    }
    let deadline = Instant::now() + WAIT_MAX;
    while std::fs::metadata(dir.path().join("millpond.db-wal")).unwrap().len() > 0 {
        assert!(Instant::now() < deadline, "never");
        thread::yield_now();
    }
    store.append(&[batch(1, 1, 100, 1)]).unwrap();
    assert_eq!(read_lines(&store, 1).len(), 101);
    drop(store);
    assert!(!dir.path().join("millpond.db-wal").exists(), "one file at rest");
}

#[test]
fn a_backup_made_during_writes_is_a_store_as_it_was_at_one_moment() {
    let test_store = open_with_sessions(2);
    let copies = temp_dir();
    test_store.store.append(&[beginning_batch(1, 1, 0, 500)]).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for first in 0..200 {
                let batches = [batch(1, 1, 500 + first, 1), batch(2, 2, first, 1)];
                test_store.store.append(&batches).unwrap();
            }
        });
        let mut n = 0;
        loop {
            let last = writer.is_finished();
            let target = copies.path().join(n.to_string()).join("millpond.db");
            std::fs::create_dir(target.parent().unwrap()).unwrap();
            test_store.store.backup_to_new_file(&target).unwrap();
            n += 1;
            if last || n > 50 {
                break;
            }
        }
    });
    for copy in std::fs::read_dir(copies.path()).unwrap() {
        let path = copy.unwrap().path();
        let copy =
            SqliteStore::open_or_create_with_options(&path, options_without_background_work())
                .unwrap();
        let copied_lines = (read_lines(&copy, 1), read_lines(&copy, 2));
        assert_eq!(copied_lines.0.len(), copied_lines.1.len() + 500, "batches are whole");
        assert_eq!(copied_lines.0[..], read_lines(&test_store.store, 1)[..copied_lines.0.len()]);
        assert!(copy.check().unwrap().is_sound());
    }
}

#[test]
fn a_backup_replaces_nothing() {
    let test_store = open_test_store();
    let target = test_store.dir.path().join("millpond.db");
    assert!(test_store.store.backup_to_new_file(&target).is_err());
    assert!(
        test_store
            .store
            .backup_to_new_file(&test_store.dir.path().join("no").join("such"))
            .is_err()
    );
    assert!(test_store.store.check().unwrap().is_sound());
}
