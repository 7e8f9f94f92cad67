//! The promises of the trait: logs, sessions, runs, queues, blobs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use millpond_engine::event::Outcome;
use millpond_log::limits::LISTED_SESSIONS_MAX;
use millpond_log::store::{
    QueuedMessage, RunBoundary, Session, SessionQuery, SessionUpdate, Store, StoreError, TokenUsage,
};
use sha2::{Digest, Sha256};

use super::*;

#[test]
fn what_was_appended_is_read_back_in_order_from_anywhere() {
    let TestStore { store, .. } = &open_with_sessions(2);
    let batches =
        [beginning_batch(1, 1, 0, 3), batch(1, 1, 3, 1), batch(1, 1, 4, 5), ending_batch(1, 1, 9)];
    for next_batch in &batches {
        store.append(std::slice::from_ref(next_batch)).unwrap();
    }
    let expected = expected_lines(&batches);
    for start in 0..=expected.len() {
        for bytes_max in [0, 1, 100, ALL_BYTES] {
            let read = read_lines_from(store, session_id(1), start as u64, bytes_max).unwrap();
            assert_eq!(read, expected[start..], "from {start}, {bytes_max} at a time");
        }
    }
    assert_eq!(store.read(session_id(1), 99, ALL_BYTES), Ok(Vec::new()));
    assert_eq!(store.read(session_id(2), 0, ALL_BYTES), Ok(Vec::new()));
    assert_eq!(store.load_session_even_deleted(session_id(1)).unwrap().unwrap().head, 10);
}

#[test]
fn reading_stops_at_about_the_bytes_asked_for() {
    let TestStore { store, .. } = &open_with_sessions(1);
    for first in 0..100 {
        store.append(&[batch(1, 1, first * 10, 10)]).unwrap();
    }
    let bytes = |max| -> usize {
        store.read(session_id(1), 0, max).unwrap().iter().map(|chunk| chunk.lines.len()).sum()
    };
    let row = batch(1, 1, 500, 10).chunk.lines.len();
    assert!(bytes(1) <= row && (5_000..5_000 + 2 * row).contains(&bytes(5_000)));
}

#[test]
fn a_batch_that_is_not_at_the_head_is_refused() {
    let TestStore { store, .. } = &open_with_sessions(1);
    store.append(&[batch(1, 1, 0, 2)]).unwrap();
    for first in [0, 1, 3, 1 << 40] {
        let expected_error = StoreError::NotAtHead { session: session_id(1), head: 2, first };
        assert_eq!(store.append(&[batch(1, 1, first, 1)]), Err(expected_error));
    }
    assert_eq!(
        store.append(&[batch(9, 1, 0, 1)]),
        Err(StoreError::NoSession(session_id(9))),
        "nor where there is no session"
    );
    assert_eq!(read_lines(store, 1).len(), 2);
}

#[test]
fn all_batches_are_kept_or_none() {
    let TestStore { store, .. } = &open_with_sessions(2);
    let valid_batch =
        || Batch { searchable_texts: vec!["findable".to_owned()], ..beginning_batch(1, 1, 0, 2) };
    let miscounted = Batch { chunk: Chunk { len: 3, ..batch(2, 2, 0, 2).chunk }, ..valid_batch() };
    let invalid_batches =
        [batch(2, 2, 1, 1), batch(3, 2, 0, 1), Batch { session: session_id(2), ..miscounted }];
    for invalid_batch in invalid_batches {
        assert!(store.append(&[valid_batch(), invalid_batch]).is_err());
        assert_eq!(store.read(session_id(1), 0, ALL_BYTES), Ok(Vec::new()));
        assert_eq!(store.load_run(run_id(1)), Ok(None));
        let query = SessionQuery {
            words: Some("findable".to_owned()),
            limit: 9,
            ..SessionQuery::default()
        };
        assert_eq!(store.list_sessions_of_owner_by_query(owner(1), &query), Ok(Vec::new()));
    }
    store.append(&[valid_batch(), batch(1, 1, 2, 1), beginning_batch(2, 2, 0, 1)]).unwrap();
    assert_eq!((read_lines(store, 1).len(), read_lines(store, 2).len()), (3, 1));
}

#[test]
fn nothing_follows_the_end_of_a_run() {
    let TestStore { store, .. } = &open_with_sessions(1);
    store.append(&[beginning_batch(1, 1, 0, 2), ending_batch(1, 1, 2)]).unwrap();
    let expected_error = Err(StoreError::RunEnded(run_id(1)));
    assert_eq!(store.append(&[batch(1, 1, 3, 1)]), expected_error, "a record");
    assert_eq!(store.append(&[ending_batch(1, 1, 3)]), expected_error, "an ending");
    assert_eq!(store.append(&[beginning_batch(1, 1, 3, 1)]), expected_error, "a beginning");

    let mut late_batch = beginning_batch(1, 2, 3, 3);
    let used = TokenUsage::default();
    late_batch.run_boundaries.push(RunBoundary::Ended {
        seq: 4,
        outcome: Outcome::Failed,
        usage: used,
    });
    assert_eq!(store.append(&[late_batch]), Err(StoreError::RunEnded(run_id(2))), "within a batch");

    store.append(&[beginning_batch(1, 3, 3, 1)]).unwrap();
    assert!(store.append(&[beginning_batch(1, 3, 4, 1)]).is_err(), "a run begins once");
    assert!(store.append(&[ending_batch(1, 4, 4)]).is_err(), "and ends only when it has begun");
    assert_eq!(read_lines(store, 1).len(), 4);
}

#[test]
fn runs_are_known_with_what_they_used() {
    let TestStore { store, .. } = &open_with_sessions(2);
    store
        .append(&[beginning_batch(1, 1, 0, 2), ending_batch(1, 1, 2), beginning_batch(1, 2, 3, 1)])
        .unwrap();
    store.append(&[beginning_batch(2, 3, 0, 1), ending_batch(2, 3, 1)]).unwrap();
    let used = TokenUsage { tokens_in: 10, tokens_out: 2, cost_micro_usd: 300 };
    let runs = store.session_runs(session_id(1)).unwrap();
    assert_eq!(
        runs.iter().map(|run| (run.id, run.first)).collect::<Vec<_>>(),
        [(run_id(1), 0), (run_id(2), 3)]
    );
    assert_eq!((runs[0].ended, runs[0].usage), (Some((2, Outcome::Completed)), used));
    assert_eq!(store.load_run(run_id(1)), Ok(Some(runs[0])));
    assert_eq!(store.list_open_runs(), Ok(vec![runs[1]]));
    assert_eq!(store.usage_of_owner_or_session(owner(1), Some(session_id(1))), Ok(used));
    assert_eq!(
        store.usage_of_owner_or_session(owner(2), Some(session_id(1))),
        Ok(TokenUsage::default()),
        "not theirs"
    );
    let total = TokenUsage { tokens_in: 20, tokens_out: 4, cost_micro_usd: 600 };
    assert_eq!(store.usage_of_owner_or_session(owner(1), None), Ok(total));
    store.erase_session(session_id(2)).unwrap();
    assert_eq!(store.usage_of_owner_or_session(owner(1), None), Ok(total), "spent is spent");
}

#[test]
fn sessions_are_listed_by_owner_newest_change_first_page_by_page() {
    let TestStore { store, .. } = &open_test_store();
    for n in 1..=9 {
        let owner = owner(if n == 5 { 2 } else { 1 });
        store
            .create_session(&Session { owner, changed_ms: u64::from(n / 3), ..session(n) })
            .unwrap();
    }
    let archive = SessionUpdate { archived: Some(true), ..SessionUpdate::default() };
    store.update_session(session_id(9), &archive, 3).unwrap();
    let delete = SessionUpdate { deleted_ms: Some(Some(2)), ..SessionUpdate::default() };
    store.update_session(session_id(8), &delete, 2).unwrap();
    let mut query = SessionQuery { limit: 2, ..SessionQuery::default() };
    let mut listed = Vec::new();
    loop {
        let page = store.list_sessions_of_owner_by_query(owner(1), &query).unwrap();
        let Some(last) = page.last() else { break };
        query.before = Some((last.changed_ms, last.id));
        listed.extend(page.into_iter().map(|session| session.id));
    }
    assert_eq!(listed, [7, 6, 4, 3, 2, 1].map(session_id));
    let archived = SessionQuery { archived: true, limit: ALL_BYTES, ..SessionQuery::default() };
    let archived = store.list_sessions_of_owner_by_query(owner(1), &archived).unwrap();
    assert_eq!(archived.iter().map(|session| session.id).collect::<Vec<_>>(), [session_id(9)]);
}

#[test]
fn a_page_has_a_limit() {
    let TestStore { store, .. } = &open_test_store();
    for n in 0..=u8::MAX {
        store.create_session(&session(n)).unwrap();
    }
    let page = store
        .list_sessions_of_owner_by_query(
            owner(1),
            &SessionQuery { limit: ALL_BYTES, ..SessionQuery::default() },
        )
        .unwrap();
    assert_eq!(page.len(), LISTED_SESSIONS_MAX);
}

#[test]
fn a_turn_moves_its_session_to_the_top_and_a_delta_does_not() {
    let TestStore { store, .. } = &open_with_sessions(3);
    let first_listed = || {
        store
            .list_sessions_of_owner_by_query(
                owner(1),
                &SessionQuery { limit: 1, ..SessionQuery::default() },
            )
            .unwrap()[0]
            .id
    };
    store.append(&[Batch { at_ms: 100, ..beginning_batch(1, 1, 0, 1) }]).unwrap();
    assert_eq!(first_listed(), session_id(1));
    store.append(&[Batch { at_ms: 200, ..batch(2, 2, 0, 1) }]).unwrap();
    assert_eq!(first_listed(), session_id(1));
}

#[test]
fn a_session_changes_and_comes_back_as_it_was_made() {
    let test_store = open_test_store();
    let new_session = Session { pinned: true, ..session(1) };
    test_store.store.create_session(&new_session).unwrap();
    assert!(test_store.store.create_session(&new_session).is_err(), "once");
    assert_eq!(
        test_store.store.load_session_even_deleted(session_id(1)),
        Ok(Some(new_session.clone()))
    );
    assert_eq!(test_store.store.load_session_even_deleted(session_id(2)), Ok(None));
    let change = SessionUpdate {
        title: Some("New".to_owned()),
        pinned: Some(false),
        archived: Some(true),
        deleted_ms: Some(Some(7)),
    };
    test_store.store.update_session(session_id(1), &change, 9).unwrap();
    let undelete = SessionUpdate { deleted_ms: Some(None), ..SessionUpdate::default() };
    let changed = Session {
        title: "New".to_owned(),
        pinned: false,
        archived: true,
        deleted_ms: Some(7),
        changed_ms: 9,
        ..new_session
    };
    let test_store = test_store.reopen();
    assert_eq!(
        test_store.store.load_session_even_deleted(session_id(1)),
        Ok(Some(changed.clone()))
    );
    test_store.store.update_session(session_id(1), &undelete, 10).unwrap();
    let undeleted = Session { deleted_ms: None, changed_ms: 10, ..changed };
    assert_eq!(test_store.store.load_session_even_deleted(session_id(1)), Ok(Some(undeleted)));
}

#[test]
fn a_branch_begins_as_its_parent_and_goes_its_own_way() {
    let TestStore { store, .. } = &open_with_sessions(1);
    let batches = [beginning_batch(1, 1, 0, 4), batch(1, 1, 4, 4), ending_batch(1, 1, 8)];
    store.append(&batches).unwrap();
    let bytes = b"picture".as_slice();
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    store.store_blob_for_session(session_id(1), digest, "image/png", bytes).unwrap();
    let expected = expected_lines(&batches);
    for end in 0..=9_u8 {
        let n = 100 + end;
        store.branch_session(session_id(1), u64::from(end), &session(n), None).unwrap();
        assert_eq!(read_lines(store, n), expected[..usize::from(end)], "up to {end}");
        let branch = store.load_session_even_deleted(session_id(n)).unwrap().unwrap();
        assert_eq!(branch.parent, Some((session_id(1), u64::from(end))));
        assert_eq!(branch.head, u64::from(end));
        assert_eq!(store.session_runs(session_id(n)), Ok(Vec::new()), "used once");
    }
    store.append(&[beginning_batch(104, 2, 4, 1)]).unwrap();
    store.erase_session(session_id(1)).unwrap();
    assert_eq!(read_lines(store, 104)[..4], expected[..4]);
    assert_eq!(read_lines(store, 104).len(), 5);
    let blob = store.load_blob_of_session(session_id(104), digest).unwrap();
    assert_eq!(blob, Some(("image/png".to_owned(), bytes.to_vec())));
    let expected_error = StoreError::NotAtHead { session: session_id(104), head: 5, first: 6 };
    assert_eq!(store.branch_session(session_id(104), 6, &session(120), None), Err(expected_error));
    assert_eq!(store.load_session_even_deleted(session_id(120)), Ok(None));
}

#[test]
fn a_queue_is_replaced_as_a_whole_and_outlives_the_process() {
    let test_store = open_with_sessions(2);
    let queued = |n| QueuedMessage {
        id: queued_id(n),
        text: format!("text {n}"),
        images: Vec::new(),
        origin: millpond_engine::event::PromptOrigin::Person,
        accepted_ms: 5,
    };
    test_store.store.set_queue(session_id(1), &[queued(3), queued(1), queued(2)]).unwrap();
    test_store.store.set_queue(session_id(2), &[queued(4)]).unwrap();
    test_store.store.set_queue(session_id(1), &[queued(1), queued(2)]).unwrap();
    let test_store = test_store.reopen();
    assert_eq!(test_store.store.load_queue(session_id(1)), Ok(vec![queued(1), queued(2)]));
    assert_eq!(test_store.store.load_queue(session_id(2)), Ok(vec![queued(4)]));
}

#[test]
fn sessions_in_which_something_waits_are_known_but_for_deleted_ones() {
    let test_store = open_with_sessions(4);
    let queued = |n| QueuedMessage {
        id: queued_id(n),
        text: format!("text {n}"),
        images: Vec::new(),
        origin: millpond_engine::event::PromptOrigin::Person,
        accepted_ms: 5,
    };
    for n in [4, 2, 3] {
        test_store.store.set_queue(session_id(n), &[queued(n), queued(n + 10)]).unwrap();
    }
    let delete = SessionUpdate { deleted_ms: Some(Some(1)), ..SessionUpdate::default() };
    test_store.store.update_session(session_id(3), &delete, 9).unwrap();
    let test_store = test_store.reopen();
    assert_eq!(
        test_store.store.undeleted_sessions_with_queue(),
        Ok(vec![session_id(2), session_id(4)])
    );
    test_store.store.set_queue(session_id(2), &[]).unwrap();
    assert_eq!(test_store.store.undeleted_sessions_with_queue(), Ok(vec![session_id(4)]));
}

#[test]
fn a_blob_is_only_for_sessions_that_have_it_and_only_what_its_digest_says() {
    let TestStore { store, .. } = &open_with_sessions(2);
    let digest: [u8; 32] = Sha256::digest(b"bytes").into();
    assert!(store.store_blob_for_session(session_id(1), digest, "text/plain", b"others").is_err());
    store.store_blob_for_session(session_id(1), digest, "text/plain", b"bytes").unwrap();
    let expected_blob = Ok(Some(("text/plain".to_owned(), b"bytes".to_vec())));
    assert_eq!(store.load_blob_of_session(session_id(1), digest), expected_blob);
    assert_eq!(store.load_blob_of_session(session_id(2), digest), Ok(None));
    store.store_blob_for_session(session_id(2), digest, "text/plain", b"bytes").unwrap();
    store.erase_session(session_id(1)).unwrap();
    assert_eq!(store.load_blob_of_session(session_id(2), digest), expected_blob);
}

#[test]
fn readers_see_whole_batches_while_others_write_and_rows_are_put_together() {
    let TestStore { store, .. } = &open_with_sessions(1);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut seen = 0;
                while !is_done.load(Ordering::Acquire) {
                    let read = read_lines(store, 1);
                    assert!(read.len() >= seen, "the log never shrinks");
                    assert_eq!(read.len() % 5, 0, "a batch is whole");
                    seen = read.len();
                }
            });
        }
        let written = (0..60_u8).try_for_each(|n| {
            let first = u64::from(n) * 5;
            store.append(&[beginning_batch(1, n, first, 4), ending_batch(1, n, first + 4)])?;
            if n % 10 == 0 {
                store.compact_ended_runs()?;
                store.try_checkpoint_and_truncate_wal()?;
            }
            Ok::<(), StoreError>(())
        });
        is_done.store(true, Ordering::Release);
        written.unwrap();
    });
    assert_eq!(read_lines(store, 1).len(), 300);
}

#[test]
fn reading_does_not_wait_for_a_writer() {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[batch(1, 1, 0, 3)]).unwrap();
    let other = test_store.raw_connection();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM chunks").unwrap();
    assert_eq!(read_lines(&test_store.store, 1).len(), 3);
}

#[test]
fn a_directory_serves_one_store_at_a_time() {
    let test_store = open_test_store();
    let second = SqliteStore::open_or_create_with_options(
        test_store.dir.path(),
        options_without_background_work(),
    )
    .map(drop);
    let error_text = second.unwrap_err().to_string();
    assert!(error_text.contains("in use by another gateway"), "{error_text}");
    drop(test_store.store);
    SqliteStore::open_or_create_with_options(
        test_store.dir.path(),
        options_without_background_work(),
    )
    .unwrap();
}
