//! A record keeps its epoch; lost, restored and reused ones are told apart by it.

use super::*;

fn epochs_of(store: &SqliteStore, records: u64) -> Vec<Option<u64>> {
    (0..records).map(|seq| store.record_epoch(session_id(1), seq).unwrap()).collect()
}

fn batch_of_epoch(epoch: u64, first: u64, len: u64) -> Batch {
    let batch = batch(1, 1, first, len);
    Batch { chunk: Chunk { epoch, ..batch.chunk }, ..batch }
}

#[test]
fn every_record_has_the_epoch_of_its_writer_and_none_beyond_the_end() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[batch_of_epoch(7, 0, 2)]).unwrap();
    test_store.store.append(&[batch_of_epoch(8, 2, 1)]).unwrap();
    let expected = [Some(7), Some(7), Some(8), None];
    assert_eq!(epochs_of(&test_store.store, 4), expected);
    let chunks = test_store.store.read(session_id(1), 0, ALL_BYTES).unwrap();
    let chunks: Vec<_> = chunks.iter().map(|chunk| (chunk.epoch, chunk.first, chunk.len)).collect();
    assert_eq!(chunks, [(7, 0, 2), (8, 2, 1)], "a chunk has one epoch");
    assert_eq!(test_store.store.record_epoch(session_id(2), 0), Ok(None), "no such session");
    let largest = test_store.store.record_epoch(session_id(1), u64::MAX);
    assert_eq!(largest, Ok(None), "a client may name any number");
    assert_eq!(epochs_of(&test_store.reopen().store, 4), expected);
}

#[test]
fn merging_rows_keeps_the_epoch_of_each_record() {
    let test_store = open_with_sessions(1);
    let store = &test_store.store;
    let begin = beginning_batch(1, 1, 0, 1);
    store.append(&[Batch { chunk: Chunk { epoch: 5, ..begin.chunk }, ..begin }]).unwrap();
    for (epoch, first) in [(5, 1), (5, 2), (6, 3), (6, 4)] {
        store.append(&[batch_of_epoch(epoch, first, 1)]).unwrap();
    }
    let end = ending_batch(1, 1, 5);
    store.append(&[Batch { chunk: Chunk { epoch: 6, ..end.chunk }, ..end }]).unwrap();
    let before = epochs_of(store, 7);
    store.compact_ended_runs().unwrap();
    let rows: u64 = test_store
        .raw_connection()
        .query_row("SELECT count(*) FROM chunks", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 2, "one row for each epoch");
    assert_eq!(epochs_of(store, 7), before);
    assert!(store.check().unwrap().is_sound());
}

#[test]
fn a_branch_has_the_epochs_of_its_parent_and_a_closing_of_its_own() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[batch_of_epoch(7, 0, 3)]).unwrap();
    let closing = batch_of_epoch(9, 2, 1).chunk;
    test_store.store.branch_session(session_id(1), 2, &session(4), Some(&closing)).unwrap();
    let epoch = |seq| test_store.store.record_epoch(session_id(4), seq).unwrap();
    assert_eq!((0..4).map(epoch).collect::<Vec<_>>(), [Some(7), Some(7), Some(9), None]);
}

#[test]
fn a_row_whose_epoch_was_changed_is_damaged() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[batch_of_epoch(7, 0, 3)]).unwrap();
    test_store.raw_connection().execute("UPDATE chunks SET epoch = 8", []).unwrap();
    let read = test_store.store.read(session_id(1), 0, ALL_BYTES);
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
}
