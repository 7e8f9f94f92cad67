//! Files written by earlier versions open and read back exactly.
//!
//! A fixture is made once, by the version in its name (`UPDATE=1`), and never again.

use std::fmt::Write;
use std::path::PathBuf;

use millpond_engine::event::Image;
use millpond_log::store::{CredentialStore, QueuedMessage, SessionQuery, SessionUpdate, Token};
use sha2::{Digest, Sha256};

use super::*;

const SCHEMA_VERSION: u32 = 4;

fn fixture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn fill_store(store: &SqliteStore) {
    for n in 1..=3 {
        store.create_session(&session(n)).unwrap();
    }
    let texts = vec!["a mill by a pond".to_owned()];
    store
        .append(&[
            Batch { searchable_texts: texts, ..beginning_batch(1, 1, 0, 3) },
            ending_batch(1, 1, 3),
        ])
        .unwrap();
    store.append(&[beginning_batch(2, 2, 0, 2)]).unwrap();
    store.append(&[batch(2, 2, 2, 2)]).unwrap();
    store.compact_ended_runs().unwrap();
    store.branch_session(session_id(1), 2, &session(4), None).unwrap();
    let change =
        SessionUpdate { pinned: Some(true), archived: Some(true), ..SessionUpdate::default() };
    store.update_session(session_id(3), &change, 30).unwrap();
    let image = Image::Kept { media_type: "image/png".into(), digest: "ab".into() };
    let (id, text) = (queued_id(1), "next".to_owned());
    let queued = QueuedMessage {
        id,
        text,
        images: vec![image],
        origin: millpond_engine::event::PromptOrigin::Person,
        accepted_ms: 4,
    };
    store.set_queue(session_id(2), &[queued]).unwrap();
    store
        .store_blob_for_session(
            session_id(1),
            Sha256::digest(b"blob").into(),
            "text/plain",
            b"blob",
        )
        .unwrap();
    let token = Token {
        id: millpond_log::id::TokenId::new(1, [1; 10]),
        owner: owner(1),
        digest: [1; 32],
        label: "label".to_owned(),
        created_ms: 6,
        revoked_ms: None,
    };
    store.store_token(&token).unwrap();
}

fn dump_store(store: &SqliteStore) -> String {
    let mut out = String::new();
    for n in 1..=4 {
        writeln!(out, "{:#?}", store.load_session_even_deleted(session_id(n)).unwrap()).unwrap();
        writeln!(out, "{:#?}", store.session_runs(session_id(n)).unwrap()).unwrap();
        writeln!(out, "{:#?}", store.load_queue(session_id(n)).unwrap()).unwrap();
        for line in read_lines(store, n) {
            writeln!(out, "{line}").unwrap();
        }
    }
    let query =
        SessionQuery { words: Some("pond".to_owned()), limit: 9, ..SessionQuery::default() };
    for session in store.list_sessions_of_owner_by_query(owner(1), &query).unwrap() {
        writeln!(out, "found {}", session.id).unwrap();
    }
    let blob = store.load_blob_of_session(session_id(1), Sha256::digest(b"blob").into()).unwrap();
    writeln!(out, "{blob:?}").unwrap();
    writeln!(out, "{:#?}", store.owner_tokens_even_revoked(owner(1)).unwrap()).unwrap();
    out
}

fn write_the_fixture() {
    let test_store = open_test_store();
    fill_store(&test_store.store);
    std::fs::write(
        fixture_path(&format!("store-{SCHEMA_VERSION}.txt")),
        dump_store(&test_store.store),
    )
    .unwrap();
    let target = fixture_path(&format!("store-{SCHEMA_VERSION}.db"));
    let test_store = test_store.reopen();
    drop(test_store.store);
    let path = test_store.dir.path().join("millpond.db");
    let raw = rusqlite::Connection::open(path).unwrap();
    // Small pages make a small file.
    raw.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM").unwrap();
    raw.execute("VACUUM INTO ?1", [target.to_str().unwrap()]).unwrap();
}

#[test]
fn what_every_version_wrote_is_read_back_exactly() {
    if std::env::var_os("UPDATE").is_some()
        && !fixture_path(&format!("store-{SCHEMA_VERSION}.db")).exists()
    {
        write_the_fixture();
    }
    for version in 1..=SCHEMA_VERSION {
        let dir = temp_dir();
        let target = dir.path().join("millpond.db");
        std::fs::copy(fixture_path(&format!("store-{version}.db")), target).unwrap();
        let store =
            SqliteStore::open_or_create_with_options(dir.path(), options_without_background_work())
                .unwrap();
        let expected =
            std::fs::read_to_string(fixture_path(&format!("store-{version}.txt"))).unwrap();
        assert_eq!(dump_store(&store), expected, "version {version}");
        assert!(store.check().unwrap().is_sound(), "version {version}");
        assert_ne!(store.record_epoch(session_id(1), 0), Ok(Some(0)), "version {version}");
        store.append(&[batch(2, 2, 4, 1)]).unwrap();
    }
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let test_store = open_test_store();
    test_store.raw_connection().pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    drop(test_store.store);
    let error = SqliteStore::open_or_create_with_options(
        test_store.dir.path(),
        options_without_background_work(),
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("written by a newer version"), "{error}");
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let dir = temp_dir();
    std::fs::write(dir.path().join("millpond.db"), "not a database at all ".repeat(100)).unwrap();
    assert!(
        SqliteStore::open_or_create_with_options(dir.path(), options_without_background_work())
            .is_err()
    );
}
