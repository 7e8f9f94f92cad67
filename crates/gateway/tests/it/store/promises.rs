//! What the trait promises about logs, sessions, runs and what lies beside them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use engine::event::Outcome;
use gateway::limits::LIST_MAX;
use gateway::store::{Change, Query, Queued, Session, Store, StoreError, Turn, Used};
use sha2::{Digest, Sha256};

use super::*;

#[test]
fn what_was_appended_is_read_back_in_order_from_anywhere() {
    let Kept { store, .. } = &open_with_sessions(2);
    let batches = [beginning(1, 1, 0, 3), batch(1, 1, 3, 1), batch(1, 1, 4, 5), ending(1, 1, 9)];
    for one in &batches {
        store.append(std::slice::from_ref(one)).unwrap();
    }
    let all = lines_of(&batches);
    for from in 0..=all.len() {
        for bytes_max in [0, 1, 100, ALL] {
            let read = lines_from(store, session_id(1), from as u64, bytes_max).unwrap();
            assert_eq!(read, all[from..], "from {from}, {bytes_max} at a time");
        }
    }
    assert_eq!(store.read(session_id(1), 99, ALL), Ok(Vec::new()));
    assert_eq!(store.read(session_id(2), 0, ALL), Ok(Vec::new()));
    assert_eq!(store.session(session_id(1)).unwrap().unwrap().head, 10);
}

#[test]
fn reading_stops_at_about_the_bytes_asked_for() {
    let Kept { store, .. } = &open_with_sessions(1);
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
    let Kept { store, .. } = &open_with_sessions(1);
    store.append(&[batch(1, 1, 0, 2)]).unwrap();
    for first in [0, 1, 3, 1 << 40] {
        let refused = StoreError::NotAtHead { session: session_id(1), head: 2, first };
        assert_eq!(store.append(&[batch(1, 1, first, 1)]), Err(refused));
    }
    assert_eq!(
        store.append(&[batch(9, 1, 0, 1)]),
        Err(StoreError::NoSession(session_id(9))),
        "nor where there is no session"
    );
    assert_eq!(lines(store, 1).len(), 2);
}

#[test]
fn all_batches_are_kept_or_none() {
    let Kept { store, .. } = &open_with_sessions(2);
    let good = || Batch { texts: vec!["findable".to_owned()], ..beginning(1, 1, 0, 2) };
    let miscounted = Batch { chunk: Chunk { len: 3, ..batch(2, 2, 0, 2).chunk }, ..good() };
    let bad =
        [batch(2, 2, 1, 1), batch(3, 2, 0, 1), Batch { session: session_id(2), ..miscounted }];
    for bad in bad {
        assert!(store.append(&[good(), bad]).is_err());
        assert_eq!(store.read(session_id(1), 0, ALL), Ok(Vec::new()));
        assert_eq!(store.run(run_id(1)), Ok(None));
        let found = Query { words: Some("findable".to_owned()), limit: 9, ..Query::default() };
        assert_eq!(store.sessions(owner(1), &found), Ok(Vec::new()));
    }
    store.append(&[good(), batch(1, 1, 2, 1), beginning(2, 2, 0, 1)]).unwrap();
    assert_eq!((lines(store, 1).len(), lines(store, 2).len()), (3, 1));
}

#[test]
fn nothing_follows_the_end_of_a_run() {
    let Kept { store, .. } = &open_with_sessions(1);
    store.append(&[beginning(1, 1, 0, 2), ending(1, 1, 2)]).unwrap();
    let refused = Err(StoreError::RunEnded(run_id(1)));
    assert_eq!(store.append(&[batch(1, 1, 3, 1)]), refused, "a record");
    assert_eq!(store.append(&[ending(1, 1, 3)]), refused, "an ending");
    assert_eq!(store.append(&[beginning(1, 1, 3, 1)]), refused, "a beginning");

    let mut late = beginning(1, 2, 3, 3);
    let used = Used::default();
    late.turns.push(Turn::Ended { run: run_id(2), seq: 4, outcome: Outcome::Failed, used });
    assert_eq!(store.append(&[late]), Err(StoreError::RunEnded(run_id(2))), "within a batch");

    store.append(&[beginning(1, 3, 3, 1)]).unwrap();
    assert!(store.append(&[beginning(1, 3, 4, 1)]).is_err(), "a run begins once");
    assert!(store.append(&[ending(1, 4, 4)]).is_err(), "and ends only when it has begun");
    assert_eq!(lines(store, 1).len(), 4);
}

#[test]
fn runs_are_known_with_what_they_used() {
    let Kept { store, .. } = &open_with_sessions(2);
    store.append(&[beginning(1, 1, 0, 2), ending(1, 1, 2), beginning(1, 2, 3, 1)]).unwrap();
    store.append(&[beginning(2, 3, 0, 1), ending(2, 3, 1)]).unwrap();
    let used = Used { tokens_in: 10, tokens_out: 2, cost_micro_usd: 300 };
    let runs = store.runs(session_id(1)).unwrap();
    assert_eq!(
        runs.iter().map(|run| (run.id, run.first)).collect::<Vec<_>>(),
        [(run_id(1), 0), (run_id(2), 3)]
    );
    assert_eq!((runs[0].ended, runs[0].used), (Some((2, Outcome::Completed)), used));
    assert_eq!(store.run(run_id(1)), Ok(Some(runs[0])));
    assert_eq!(store.open_runs(), Ok(vec![runs[1]]));
    assert_eq!(store.used(owner(1), Some(session_id(1))), Ok(used));
    assert_eq!(store.used(owner(2), Some(session_id(1))), Ok(Used::default()), "not theirs");
    let both = Used { tokens_in: 20, tokens_out: 4, cost_micro_usd: 600 };
    assert_eq!(store.used(owner(1), None), Ok(both));
    store.erase(session_id(2)).unwrap();
    assert_eq!(store.used(owner(1), None), Ok(both), "spent is spent");
}

#[test]
fn sessions_are_listed_by_owner_newest_change_first_page_by_page() {
    let Kept { store, .. } = &open();
    for n in 1..=9 {
        let owner = owner(if n == 5 { 2 } else { 1 });
        store.create(&Session { owner, changed_ms: u64::from(n / 3), ..session(n) }).unwrap();
    }
    let archive = Change { archived: Some(true), ..Change::default() };
    store.change(session_id(9), &archive, 3).unwrap();
    let delete = Change { deleted_ms: Some(Some(2)), ..Change::default() };
    store.change(session_id(8), &delete, 2).unwrap();
    let mut query = Query { limit: 2, ..Query::default() };
    let mut listed = Vec::new();
    loop {
        let page = store.sessions(owner(1), &query).unwrap();
        let Some(last) = page.last() else { break };
        query.before = Some((last.changed_ms, last.id));
        listed.extend(page.into_iter().map(|session| session.id));
    }
    assert_eq!(listed, [7, 6, 4, 3, 2, 1].map(session_id));
    let archived = Query { archived: true, limit: ALL, ..Query::default() };
    let archived = store.sessions(owner(1), &archived).unwrap();
    assert_eq!(archived.iter().map(|session| session.id).collect::<Vec<_>>(), [session_id(9)]);
}

#[test]
fn a_page_has_a_limit() {
    let Kept { store, .. } = &open();
    for n in 0..=u8::MAX {
        store.create(&session(n)).unwrap();
    }
    let page = store.sessions(owner(1), &Query { limit: ALL, ..Query::default() }).unwrap();
    assert_eq!(page.len(), LIST_MAX);
}

#[test]
fn a_turn_moves_its_session_to_the_top_and_a_delta_does_not() {
    let Kept { store, .. } = &open_with_sessions(3);
    let top = || store.sessions(owner(1), &Query { limit: 1, ..Query::default() }).unwrap()[0].id;
    store.append(&[Batch { at_ms: 100, ..beginning(1, 1, 0, 1) }]).unwrap();
    assert_eq!(top(), session_id(1));
    store.append(&[Batch { at_ms: 200, ..batch(2, 2, 0, 1) }]).unwrap();
    assert_eq!(top(), session_id(1));
}

#[test]
fn a_session_changes_and_comes_back_as_it_was_made() {
    let kept = open();
    let made = Session { pinned: true, ..session(1) };
    kept.store.create(&made).unwrap();
    assert!(kept.store.create(&made).is_err(), "once");
    assert_eq!(kept.store.session(session_id(1)), Ok(Some(made.clone())));
    assert_eq!(kept.store.session(session_id(2)), Ok(None));
    let change = Change {
        title: Some("New".to_owned()),
        pinned: Some(false),
        archived: Some(true),
        deleted_ms: Some(Some(7)),
    };
    kept.store.change(session_id(1), &change, 9).unwrap();
    let back = Change { deleted_ms: Some(None), ..Change::default() };
    let changed = Session {
        title: "New".to_owned(),
        pinned: false,
        archived: true,
        deleted_ms: Some(7),
        changed_ms: 9,
        ..made
    };
    let kept = kept.reopened();
    assert_eq!(kept.store.session(session_id(1)), Ok(Some(changed.clone())));
    kept.store.change(session_id(1), &back, 10).unwrap();
    let back = Session { deleted_ms: None, changed_ms: 10, ..changed };
    assert_eq!(kept.store.session(session_id(1)), Ok(Some(back)));
}

#[test]
fn a_branch_begins_as_its_parent_and_goes_its_own_way() {
    let Kept { store, .. } = &open_with_sessions(1);
    let batches = [beginning(1, 1, 0, 4), batch(1, 1, 4, 4), ending(1, 1, 8)];
    store.append(&batches).unwrap();
    let bytes = b"picture".as_slice();
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    store.put_blob(session_id(1), digest, "image/png", bytes).unwrap();
    let all = lines_of(&batches);
    for end in 0..=9_u8 {
        let n = 100 + end;
        store.branch(session_id(1), u64::from(end), &session(n), None).unwrap();
        assert_eq!(lines(store, n), all[..usize::from(end)], "up to {end}");
        let branch = store.session(session_id(n)).unwrap().unwrap();
        assert_eq!(branch.parent, Some((session_id(1), u64::from(end))));
        assert_eq!(branch.head, u64::from(end));
        assert_eq!(store.runs(session_id(n)), Ok(Vec::new()), "used once");
    }
    store.append(&[beginning(104, 2, 4, 1)]).unwrap();
    store.erase(session_id(1)).unwrap();
    assert_eq!(lines(store, 104)[..4], all[..4]);
    assert_eq!(lines(store, 104).len(), 5);
    let blob = store.blob(session_id(104), digest).unwrap();
    assert_eq!(blob, Some(("image/png".to_owned(), bytes.to_vec())));
    let too_far = StoreError::NotAtHead { session: session_id(104), head: 5, first: 6 };
    assert_eq!(store.branch(session_id(104), 6, &session(120), None), Err(too_far));
    assert_eq!(store.session(session_id(120)), Ok(None));
}

#[test]
fn a_queue_is_replaced_as_a_whole_and_outlives_the_process() {
    let kept = open_with_sessions(2);
    let queued = |n| Queued {
        id: queued_id(n),
        text: format!("text {n}"),
        images: Vec::new(),
        accepted_ms: 5,
    };
    kept.store.set_queue(session_id(1), &[queued(3), queued(1), queued(2)]).unwrap();
    kept.store.set_queue(session_id(2), &[queued(4)]).unwrap();
    kept.store.set_queue(session_id(1), &[queued(1), queued(2)]).unwrap();
    let kept = kept.reopened();
    assert_eq!(kept.store.queue(session_id(1)), Ok(vec![queued(1), queued(2)]));
    assert_eq!(kept.store.queue(session_id(2)), Ok(vec![queued(4)]));
}

#[test]
fn sessions_in_which_something_waits_are_known_but_for_deleted_ones() {
    let kept = open_with_sessions(4);
    let queued = |n| Queued {
        id: queued_id(n),
        text: format!("text {n}"),
        images: Vec::new(),
        accepted_ms: 5,
    };
    for n in [4, 2, 3] {
        kept.store.set_queue(session_id(n), &[queued(n), queued(n + 10)]).unwrap();
    }
    let gone = Change { deleted_ms: Some(Some(1)), ..Change::default() };
    kept.store.change(session_id(3), &gone, 9).unwrap();
    let kept = kept.reopened();
    assert_eq!(kept.store.queued(), Ok(vec![session_id(2), session_id(4)]));
    kept.store.set_queue(session_id(2), &[]).unwrap();
    assert_eq!(kept.store.queued(), Ok(vec![session_id(4)]));
}

#[test]
fn a_blob_is_only_for_sessions_that_have_it_and_only_what_its_digest_says() {
    let Kept { store, .. } = &open_with_sessions(2);
    let digest: [u8; 32] = Sha256::digest(b"bytes").into();
    assert!(store.put_blob(session_id(1), digest, "text/plain", b"others").is_err());
    store.put_blob(session_id(1), digest, "text/plain", b"bytes").unwrap();
    let kept = Ok(Some(("text/plain".to_owned(), b"bytes".to_vec())));
    assert_eq!(store.blob(session_id(1), digest), kept);
    assert_eq!(store.blob(session_id(2), digest), Ok(None));
    store.put_blob(session_id(2), digest, "text/plain", b"bytes").unwrap();
    store.erase(session_id(1)).unwrap();
    assert_eq!(store.blob(session_id(2), digest), kept);
}

#[test]
fn readers_see_whole_batches_while_others_write_and_rows_are_put_together() {
    let Kept { store, .. } = &open_with_sessions(1);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut seen = 0;
                while !done.load(Ordering::Acquire) {
                    let read = lines(store, 1);
                    assert!(read.len() >= seen, "the log never shrinks");
                    assert_eq!(read.len() % 5, 0, "a batch is whole");
                    seen = read.len();
                }
            });
        }
        let written = (0..60_u8).try_for_each(|n| {
            let first = u64::from(n) * 5;
            store.append(&[beginning(1, n, first, 4), ending(1, n, first + 4)])?;
            if n % 10 == 0 {
                store.compact()?;
                store.checkpoint()?;
            }
            Ok::<(), StoreError>(())
        });
        done.store(true, Ordering::Release);
        written.unwrap();
    });
    assert_eq!(lines(store, 1).len(), 300);
}

#[test]
fn reading_does_not_wait_for_a_writer() {
    let kept = open_with_sessions(1);
    kept.store.append(&[batch(1, 1, 0, 3)]).unwrap();
    let other = kept.raw();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM chunks").unwrap();
    assert_eq!(lines(&kept.store, 1).len(), 3);
}

#[test]
fn a_directory_serves_one_store_at_a_time() {
    let kept = open();
    let second = SqliteStore::open_with(kept.dir.path(), quiet()).map(drop);
    let said = second.unwrap_err().to_string();
    assert!(said.contains("in use by another gateway"), "{said}");
    drop(kept.store);
    SqliteStore::open_with(kept.dir.path(), quiet()).unwrap();
}
