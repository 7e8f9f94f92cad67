//! Damage is found, stays in its place, and can be repaired without pretending.

use gateway::store::sqlite::Damage;
use rusqlite::Connection;

use super::*;

fn bytes_of(raw: &Connection, first: u64) -> Vec<u8> {
    let sql = "SELECT bytes FROM chunks WHERE first = ?1 ORDER BY session LIMIT 1";
    raw.query_row(sql, [first], |row| row.get(0)).unwrap()
}

fn set_bytes(raw: &Connection, first: u64, bytes: &[u8]) {
    let sql = "UPDATE chunks SET bytes = ?2 WHERE first = ?1
         AND session = (SELECT min(session) FROM chunks)";
    assert_eq!(raw.execute(sql, (first, bytes)).unwrap(), 1);
}

fn is_damaged(kept: &Kept, seq: u64) -> bool {
    matches!(
        kept.store.read(session_id(1), seq, ALL),
        Err(StoreError::Damaged { session, seq: at, .. }) if session == session_id(1) && at == seq
    )
}

/// Three rows of session 1 and one of session 2.
fn small() -> Kept {
    let kept = open_with_sessions(2);
    for first in [0, 2, 4] {
        kept.store.append(&[batch(1, 1, first, 2)]).unwrap();
    }
    kept.store.append(&[batch(2, 2, 0, 2)]).unwrap();
    kept
}

#[test]
fn every_changed_byte_of_a_row_is_found_and_other_sessions_are_unharmed() {
    let kept = small();
    let raw = kept.raw();
    let good = bytes_of(&raw, 2);
    for at in 0..good.len() {
        for flip in [0x01, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            set_bytes(&raw, 2, &bad);
            assert!(is_damaged(&kept, 2), "byte {at}");
            assert_eq!(lines(&kept.store, 2).len(), 2);
        }
    }
    for cut in 0..good.len() {
        set_bytes(&raw, 2, &good[..cut]);
        assert!(is_damaged(&kept, 2), "cut at {cut}");
    }
    set_bytes(&raw, 2, &good);
    assert_eq!(lines(&kept.store, 1).len(), 6);
}

#[test]
fn what_stands_before_and_behind_the_damage_can_be_read() {
    let kept = small();
    set_bytes(&kept.raw(), 2, b"nonsense");
    let before = kept.store.read(session_id(1), 0, ALL).unwrap();
    assert_eq!((before.len(), before[0].end()), (1, 2));
    assert!(is_damaged(&kept, 2) && is_damaged(&kept, 3));
    assert_eq!(lines_from(&kept.store, session_id(1), 4, ALL).unwrap().len(), 2);
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
        let kept = small();
        // Some of them are refused by the table itself.
        let _ = kept.raw().execute_batch(sql);
        let whole = lines_of(&[batch(1, 1, 0, 6)]);
        match lines_from(&kept.store, session_id(1), 0, ALL) {
            Ok(read) => assert!(sql.contains("NULL") && read == whole, "{sql}"),
            Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}"),
        }
        assert_eq!(lines(&kept.store, 2).len(), 2, "{sql}");
    }
}

#[test]
fn a_log_whose_end_is_wrong_is_found() {
    for head in [0_u64, 2, 5, 7, 1 << 40] {
        let kept = small();
        kept.raw().execute("UPDATE sessions SET head = ?1 WHERE key = 1", [head]).unwrap();
        let read = lines_from(&kept.store, session_id(1), 0, ALL);
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{head}: {read:?}");
    }
}

#[test]
fn a_sound_store_is_called_sound() {
    let kept = small();
    let report = kept.store.check().unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.sessions, report.records), (2, 8));
    assert_eq!(kept.store.repair().unwrap(), report);
}

#[test]
fn a_repair_leaves_a_dense_log_and_keeps_the_damaged_bytes() {
    let kept = open_with_sessions(2);
    kept.store.append(&[beginning(1, 1, 0, 2)]).unwrap();
    kept.store.append(&[batch(1, 1, 2, 3)]).unwrap();
    kept.store.append(&[batch(1, 1, 5, 1)]).unwrap();
    kept.store.append(&[batch(2, 2, 0, 2)]).unwrap();
    let raw = kept.raw();
    set_bytes(&raw, 2, b"nonsense");
    raw.execute("DELETE FROM chunks WHERE first = 5", []).unwrap();
    kept.store.append(&[ending(1, 1, 6)]).unwrap();

    let found = kept.store.check().unwrap().damages;
    let stretch = |damage: &Damage| match damage {
        Damage::Records { session, first, end, .. } if *session == session_id(1) => (*first, *end),
        other => panic!("{other:?}"),
    };
    assert_eq!(found.iter().map(stretch).collect::<Vec<_>>(), [(2, 6)]);
    let report = kept.store.repair().unwrap();
    assert_eq!((report.repaired, &report.damages), (1, &found));
    assert!(kept.store.check().unwrap().is_sound());

    let read = lines(&kept.store, 1);
    let records: Vec<Record<'_>> =
        read.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().zip(0..).all(|(record, seq)| record.seq == seq));
    assert!(records.iter().all(|record| record.run == run_id(1).to_string()));
    let lost = |record: &Record<'_>| matches!(record.event, Event::Unrecognised { .. });
    assert_eq!(
        records.iter().map(lost).collect::<Vec<_>>(),
        [false, false, true, true, true, true, false]
    );
    let kept_bytes: Vec<u8> =
        raw.query_row("SELECT bytes FROM damaged", [], |row| row.get(0)).unwrap();
    assert_eq!(kept_bytes, b"nonsense");
    kept.store.append(&[beginning(1, 3, 7, 1)]).unwrap();
}

#[test]
fn heads_runs_orphans_and_words_are_checked_and_repaired() {
    let breaks = [
        "UPDATE sessions SET head = 1 << 50 WHERE key = 1",
        "UPDATE sessions SET head = 1 WHERE key = 1",
        "UPDATE runs SET ended = NULL, outcome = NULL",
        "UPDATE runs SET ended = 1",
        "PRAGMA foreign_keys = OFF; INSERT INTO chunks VALUES (77, 0, 1, 0, x'00')",
        "PRAGMA foreign_keys = OFF; INSERT INTO queue VALUES (77, 0, x'00', '', 0, '[]')",
        "INSERT INTO blobs VALUES (zeroblob(32), x'00')",
        "INSERT INTO words (words, rowid, text) VALUES ('delete', 1, 'Session 1')",
    ];
    for sql in breaks {
        let kept = open_with_sessions(2);
        kept.store.append(&[beginning(1, 1, 0, 2), ending(1, 1, 2)]).unwrap();
        let whole = lines(&kept.store, 1);
        kept.raw().execute_batch(sql).unwrap();
        let found = kept.store.check().unwrap();
        assert_eq!(found.damages.len(), 1, "{sql}: {found:?}");
        assert_eq!(kept.store.repair().unwrap().repaired, 1, "{sql}");
        let after = kept.store.check().unwrap();
        assert!(after.is_sound(), "{sql}: {after:?}");
        assert_eq!(lines(&kept.store, 1), whole, "{sql}");
        assert_eq!(kept.store.open_runs(), Ok(Vec::new()), "{sql}");
    }
}

/// Whatever byte of the file changes, a record is served as it was written, or not at all.
#[test]
fn no_changed_byte_of_the_file_makes_a_wrong_record() {
    let kept = small();
    let good = [lines(&kept.store, 1), lines(&kept.store, 2)];
    drop(kept.store);
    let path = kept.dir.path().join("millpond.db");
    let file = std::fs::read(&path).unwrap();
    let mut hit = 0;
    for at in (0..file.len()).step_by(701) {
        let mut bad = file.clone();
        bad[at] ^= 0x10;
        let dir = dir();
        std::fs::write(dir.path().join("millpond.db"), bad).unwrap();
        let Ok(store) = SqliteStore::open_with(dir.path(), quiet()) else {
            hit += 1;
            continue;
        };
        for (good, n) in good.iter().zip([1, 2]) {
            match lines_from(&store, session_id(n), 0, ALL) {
                Ok(read) => assert_eq!(read, *good, "byte {at}"),
                Err(_) => hit += 1,
            }
        }
    }
    assert!(hit > 0, "none of the changed bytes mattered");
}
