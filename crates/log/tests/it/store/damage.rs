//! Damage is found, stays local, and can be repaired.

use millpond_log::store::sqlite::Damage;
use rusqlite::Connection;

use super::*;

fn row_bytes(raw: &Connection, first: u64) -> Vec<u8> {
    let sql = "SELECT bytes FROM chunks WHERE first = ?1 ORDER BY session LIMIT 1";
    raw.query_row(sql, [first], |row| row.get(0)).unwrap()
}

fn set_row_bytes(raw: &Connection, first: u64, bytes: &[u8]) {
    let sql = "UPDATE chunks SET bytes = ?2 WHERE first = ?1
         AND session = (SELECT min(session) FROM chunks)";
    assert_eq!(raw.execute(sql, (first, bytes)).unwrap(), 1);
}

fn is_damaged(test_store: &TestStore, seq: u64) -> bool {
    matches!(
        test_store.store.read(session_id(1), seq, ALL_BYTES),
        Err(StoreError::Damaged { session, seq: at, .. }) if session == session_id(1) && at == seq
    )
}

/// Three rows of session 1 and one of session 2.
fn store_with_four_rows() -> TestStore {
    let test_store = open_with_sessions(2);
    for first in [0, 2, 4] {
        test_store.store.append(&[batch(1, 1, first, 2)]).unwrap();
    }
    test_store.store.append(&[batch(2, 2, 0, 2)]).unwrap();
    test_store
}

#[test]
fn every_changed_byte_of_a_row_is_found_and_other_sessions_are_unharmed() {
    let test_store = store_with_four_rows();
    let raw = test_store.raw_connection();
    let original = row_bytes(&raw, 2);
    for index in 0..original.len() {
        for flip in [0x01, 0x80] {
            let mut corrupted = original.clone();
            corrupted[index] ^= flip;
            set_row_bytes(&raw, 2, &corrupted);
            assert!(is_damaged(&test_store, 2), "byte {index}");
            assert_eq!(read_lines(&test_store.store, 2).len(), 2);
        }
    }
    for len in 0..original.len() {
        set_row_bytes(&raw, 2, &original[..len]);
        assert!(is_damaged(&test_store, 2), "cut at {len}");
    }
    set_row_bytes(&raw, 2, &original);
    assert_eq!(read_lines(&test_store.store, 1).len(), 6);
}

#[test]
fn what_stands_before_and_behind_the_damage_can_be_read() {
    let test_store = store_with_four_rows();
    set_row_bytes(&test_store.raw_connection(), 2, b"nonsense");
    let chunks_before = test_store.store.read(session_id(1), 0, ALL_BYTES).unwrap();
    assert_eq!((chunks_before.len(), chunks_before[0].next_seq()), (1, 2));
    assert!(is_damaged(&test_store, 2) && is_damaged(&test_store, 3));
    assert_eq!(read_lines_from(&test_store.store, session_id(1), 4, ALL_BYTES).unwrap().len(), 2);
}

#[test]
fn a_row_whose_place_changed_or_that_is_gone_is_found() {
    let changes = [
        "UPDATE chunks SET len = 3 WHERE first = 2",
        "UPDATE chunks SET len = 1 WHERE first = 2",
        "UPDATE chunks SET len = -1 WHERE first = 2",
        "UPDATE chunks SET len = 'x' WHERE first = 2",
        "UPDATE chunks SET crc = crc + 1 WHERE first = 2",
        "UPDATE chunks SET crc = NULL WHERE first = 2",
        "UPDATE chunks SET bytes = 7 WHERE first = 2",
        "UPDATE chunks SET bytes = zeroblob(0) WHERE first = 2",
        "UPDATE chunks SET first = 3 WHERE first = 2",
        "UPDATE chunks SET first = 1 WHERE first = 2",
        "DELETE FROM chunks WHERE first = 2",
        "DELETE FROM chunks WHERE first = 0 AND session = 1;
         UPDATE chunks SET first = 0 WHERE first = 2",
    ];
    for sql in changes {
        let test_store = store_with_four_rows();
        // The table itself rejects some of them.
        let _ = test_store.raw_connection().execute_batch(sql);
        let expected = expected_lines(&[batch(1, 1, 0, 6)]);
        match read_lines_from(&test_store.store, session_id(1), 0, ALL_BYTES) {
            Ok(read) => assert!(sql.contains("NULL") && read == expected, "{sql}"),
            Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}"),
        }
        assert_eq!(read_lines(&test_store.store, 2).len(), 2, "{sql}");
    }
}

#[test]
fn a_log_whose_end_is_wrong_is_found() {
    for head in [0_u64, 2, 5, 7, 1 << 40] {
        let test_store = store_with_four_rows();
        test_store
            .raw_connection()
            .execute("UPDATE sessions SET head = ?1 WHERE key = 1", [head])
            .unwrap();
        let read = read_lines_from(&test_store.store, session_id(1), 0, ALL_BYTES);
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{head}: {read:?}");
    }
}

#[test]
fn a_sound_store_is_called_sound() {
    let test_store = store_with_four_rows();
    let report = test_store.store.check().unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.sessions, report.records), (2, 8));
    assert_eq!(test_store.store.repair().unwrap(), report);
}

#[test]
fn a_repair_leaves_a_dense_log_and_keeps_the_damaged_bytes() {
    let test_store = open_with_sessions(2);
    test_store.store.append(&[beginning_batch(1, 1, 0, 2)]).unwrap();
    test_store.store.append(&[batch(1, 1, 2, 3)]).unwrap();
    test_store.store.append(&[batch(1, 1, 5, 1)]).unwrap();
    test_store.store.append(&[batch(2, 2, 0, 2)]).unwrap();
    let raw = test_store.raw_connection();
    set_row_bytes(&raw, 2, b"nonsense");
    raw.execute("DELETE FROM chunks WHERE first = 5", []).unwrap();
    test_store.store.append(&[ending_batch(1, 1, 6)]).unwrap();

    let found = test_store.store.check().unwrap().damages;
    let stretch = |damage: &Damage| match damage {
        Damage::Records { session, first, end, .. } if *session == session_id(1) => (*first, *end),
        other => panic!("{other:?}"),
    };
    assert_eq!(found.iter().map(stretch).collect::<Vec<_>>(), [(2, 6)]);
    let report = test_store.store.repair().unwrap();
    assert_eq!((report.repaired, &report.damages), (1, &found));
    assert!(test_store.store.check().unwrap().is_sound());

    let read = read_lines(&test_store.store, 1);
    let records: Vec<Record<'_>> =
        read.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().zip(0..).all(|(record, seq)| record.seq == seq));
    assert!(records.iter().all(|record| record.run == run_id(1).to_string()));
    let is_lost_record = |record: &Record<'_>| matches!(record.event, Event::Unrecognised { .. });
    assert_eq!(
        records.iter().map(is_lost_record).collect::<Vec<_>>(),
        [false, false, true, true, true, true, false]
    );
    let kept_bytes: Vec<u8> =
        raw.query_row("SELECT bytes FROM damaged", [], |row| row.get(0)).unwrap();
    assert_eq!(kept_bytes, b"nonsense");
    test_store.store.append(&[beginning_batch(1, 3, 7, 1)]).unwrap();
}

#[test]
fn heads_runs_orphans_and_words_are_checked_and_repaired() {
    let damage_statements = [
        "UPDATE sessions SET head = 1 << 50 WHERE key = 1",
        "UPDATE sessions SET head = 1 WHERE key = 1",
        "UPDATE runs SET ended = NULL, outcome = NULL",
        "UPDATE runs SET ended = 1",
        "PRAGMA foreign_keys = OFF; INSERT INTO chunks VALUES (77, 0, 1, 0, x'00', 0, 0)",
        "PRAGMA foreign_keys = OFF; INSERT INTO queue VALUES (77, 0, x'00', '', 0, '[]', 0)",
        "INSERT INTO blobs VALUES (zeroblob(32), x'00')",
        "INSERT INTO words (words, rowid, text) VALUES ('delete', 1, 'Session 1')",
    ];
    for sql in damage_statements {
        let test_store = open_with_sessions(2);
        test_store.store.append(&[beginning_batch(1, 1, 0, 2), ending_batch(1, 1, 2)]).unwrap();
        let lines_before = read_lines(&test_store.store, 1);
        test_store.raw_connection().execute_batch(sql).unwrap();
        let report = test_store.store.check().unwrap();
        assert_eq!(report.damages.len(), 1, "{sql}: {report:?}");
        assert_eq!(test_store.store.repair().unwrap().repaired, 1, "{sql}");
        let report_after = test_store.store.check().unwrap();
        assert!(report_after.is_sound(), "{sql}: {report_after:?}");
        assert_eq!(read_lines(&test_store.store, 1), lines_before, "{sql}");
        assert_eq!(test_store.store.list_open_runs(), Ok(Vec::new()), "{sql}");
    }
}

/// Whichever byte of the file changes, a record is served as written, or not at all.
#[test]
fn no_changed_byte_of_the_file_makes_a_wrong_record() {
    let test_store = store_with_four_rows();
    let expected_lines = [read_lines(&test_store.store, 1), read_lines(&test_store.store, 2)];
    drop(test_store.store);
    let path = test_store.dir.path().join("millpond.db");
    let file = std::fs::read(&path).unwrap();
    let mut detected = 0;
    for index in (0..file.len()).step_by(701) {
        let mut corrupted = file.clone();
        corrupted[index] ^= 0x10;
        let dir = temp_dir();
        std::fs::write(dir.path().join("millpond.db"), corrupted).unwrap();
        let Ok(store) =
            SqliteStore::open_or_create_with_options(dir.path(), options_without_background_work())
        else {
            detected += 1;
            continue;
        };
        for (expected, n) in expected_lines.iter().zip([1, 2]) {
            match read_lines_from(&store, session_id(n), 0, ALL_BYTES) {
                Ok(read) => assert_eq!(read, *expected, "byte {index}"),
                Err(_) => detected += 1,
            }
        }
    }
    assert!(detected > 0, "no corrupted byte was detected");
}
