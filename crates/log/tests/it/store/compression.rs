//! Ended runs are compressed; what is read is the same, byte for byte.

use super::*;

/// A run of `records` records that has ended, in a row each.
fn ended_run(store: &SqliteStore, records: u64) -> Vec<Batch> {
    let mut batches = vec![beginning_batch(1, 1, 0, 1)];
    batches.extend((1..records - 1).map(|seq| batch(1, 1, seq, 1)));
    batches.push(ending_batch(1, 1, records - 1));
    for batch in &batches {
        store.append(std::slice::from_ref(batch)).unwrap();
    }
    batches
}

fn stored_bytes(test_store: &TestStore) -> u64 {
    let sql = "SELECT sum(length(bytes)) FROM chunks";
    test_store.raw_connection().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn an_ended_run_is_compressed_and_reads_the_same() {
    let test_store = open_with_sessions(1);
    let batches = ended_run(&test_store.store, 2_000);
    let expected = expected_lines(&batches);
    let plain_bytes: usize = expected.iter().map(|line| line.len() + 1).sum();
    test_store.store.compact_ended_runs().unwrap();
    let compressed_bytes = stored_bytes(&test_store);
    assert!(compressed_bytes * 8 < plain_bytes as u64, "{compressed_bytes} of {plain_bytes}");
    assert_eq!(read_lines(&test_store.store, 1), expected);
    for from in [0, 1, 999, 1_999] {
        let lines = read_lines_from(&test_store.store, session_id(1), from, 1).unwrap();
        assert_eq!(lines, expected[usize::try_from(from).unwrap()..], "from {from}");
    }
    assert!(test_store.store.check().unwrap().is_sound());
    test_store.store.branch_session(session_id(1), 1_000, &session(2), None).unwrap();
    assert_eq!(read_lines(&test_store.store, 2), expected[..1_000]);
    assert_eq!(read_lines(&test_store.reopen().store, 1), expected);
}

#[test]
fn short_batches_of_a_run_that_goes_on_are_not_compressed() {
    let test_store = open_with_sessions(2);
    let store = &test_store.store;
    store.append(&[beginning_batch(1, 1, 0, 10), ending_batch(1, 1, 10)]).unwrap();
    store.append(&[beginning_batch(2, 2, 0, 10)]).unwrap();
    store.compact_ended_runs().unwrap();
    let codec = |session: &str| -> u8 {
        let sql = format!("SELECT max(codec) FROM chunks WHERE session = {session}");
        test_store.raw_connection().query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((codec("1"), codec("2")), (1, 0), "the other run has not ended");
    store.append(&[batch(2, 2, 10, 100)]).unwrap();
    assert_eq!(codec("2"), 1, "a long batch is compressed at once");
    let expected = expected_lines(&[batch(2, 2, 0, 110)]);
    assert_eq!(read_lines(store, 2), expected);
}

#[test]
fn any_changed_byte_of_a_compressed_row_is_damage_and_is_never_served() {
    let test_store = open_with_sessions(1);
    let batches = ended_run(&test_store.store, 60);
    test_store.store.compact_ended_runs().unwrap();
    let expected = expected_lines(&batches);
    let raw = test_store.raw_connection();
    let bytes: Vec<u8> = raw.query_row("SELECT bytes FROM chunks", [], |row| row.get(0)).unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            raw.execute("UPDATE chunks SET bytes = ?1", [&changed]).unwrap();
            match read_lines_from(&test_store.store, session_id(1), 0, ALL_BYTES) {
                // A bit of the frame's header may mean nothing.
                Ok(lines) => assert_eq!(lines, expected, "byte {at}"),
                Err(StoreError::Damaged { .. }) => {}
                Err(error) => panic!("byte {at}: {error}"),
            }
        }
    }
    raw.execute("UPDATE chunks SET bytes = ?1", [&bytes[..bytes.len() / 2]]).unwrap();
    let report = test_store.store.check().unwrap();
    assert!(!report.is_sound());
    raw.execute("UPDATE chunks SET bytes = ?1, codec = 9", [&bytes]).unwrap();
    let read = test_store.store.read(session_id(1), 0, ALL_BYTES);
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
}

#[test]
fn a_row_that_says_it_is_huge_takes_no_memory() {
    let test_store = open_with_sessions(1);
    ended_run(&test_store.store, 60);
    test_store.store.compact_ended_runs().unwrap();
    // A frame of zstd whose header claims 2^40 bytes.
    let claim = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0];
    test_store.raw_connection().execute("UPDATE chunks SET bytes = ?1", [&claim[..]]).unwrap();
    let read = test_store.store.read(session_id(1), 0, ALL_BYTES);
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
}
