//! Files written by earlier versions open and read back exactly.
//!
//! A fixture is made once, by the version whose name it has (`UPDATE=1`), and never again.

use std::fmt::Write;
use std::path::PathBuf;

use engine::event::Image;
use gateway::store::{Change, Query, Queued, Token, Vault};
use sha2::{Digest, Sha256};

use super::*;

const VERSION: u32 = 2;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn fill(store: &SqliteStore) {
    for n in 1..=3 {
        store.create(&session(n)).unwrap();
    }
    let texts = vec!["a mill by a pond".to_owned()];
    store.append(&[Batch { texts, ..beginning(1, 1, 0, 3) }, ending(1, 1, 3)]).unwrap();
    store.append(&[beginning(2, 2, 0, 2)]).unwrap();
    store.append(&[batch(2, 2, 2, 2)]).unwrap();
    store.compact().unwrap();
    store.branch(session_id(1), 2, &session(4), None).unwrap();
    let change = Change { pinned: Some(true), archived: Some(true), ..Change::default() };
    store.change(session_id(3), &change, 30).unwrap();
    let image = Image::Kept { media_type: "image/png".into(), digest: "ab".into() };
    let (id, text) = (queued_id(1), "next".to_owned());
    let queued = Queued { id, text, images: vec![image], accepted_ms: 4 };
    store.set_queue(session_id(2), &[queued]).unwrap();
    store.put_blob(session_id(1), Sha256::digest(b"blob").into(), "text/plain", b"blob").unwrap();
    let token = Token {
        id: gateway::id::TokenId::new(1, [1; 10]),
        owner: owner(1),
        digest: [1; 32],
        label: "label".to_owned(),
        created_ms: 6,
        revoked_ms: None,
    };
    store.put_token(&token).unwrap();
}

fn dump(store: &SqliteStore) -> String {
    let mut out = String::new();
    for n in 1..=4 {
        writeln!(out, "{:#?}", store.session(session_id(n)).unwrap()).unwrap();
        writeln!(out, "{:#?}", store.runs(session_id(n)).unwrap()).unwrap();
        writeln!(out, "{:#?}", store.queue(session_id(n)).unwrap()).unwrap();
        for line in lines(store, n) {
            writeln!(out, "{line}").unwrap();
        }
    }
    let found = Query { words: Some("pond".to_owned()), limit: 9, ..Query::default() };
    for found in store.sessions(owner(1), &found).unwrap() {
        writeln!(out, "found {}", found.id).unwrap();
    }
    let blob = store.blob(session_id(1), Sha256::digest(b"blob").into()).unwrap();
    writeln!(out, "{blob:?}").unwrap();
    writeln!(out, "{:#?}", store.tokens(owner(1)).unwrap()).unwrap();
    out
}

fn write_the_fixture() {
    let kept = open();
    fill(&kept.store);
    std::fs::write(fixture(&format!("store-{VERSION}.txt")), dump(&kept.store)).unwrap();
    let to = fixture(&format!("store-{VERSION}.db"));
    let kept = kept.reopened();
    drop(kept.store);
    let path = kept.dir.path().join("millpond.db");
    let raw = rusqlite::Connection::open(path).unwrap();
    // Small pages make a small file.
    raw.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM").unwrap();
    raw.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
}

#[test]
fn what_every_version_wrote_is_read_back_exactly() {
    if std::env::var_os("UPDATE").is_some() && !fixture(&format!("store-{VERSION}.db")).exists() {
        write_the_fixture();
    }
    for version in 1..=VERSION {
        let dir = dir();
        let to = dir.path().join("millpond.db");
        std::fs::copy(fixture(&format!("store-{version}.db")), to).unwrap();
        let store = SqliteStore::open_with(dir.path(), quiet()).unwrap();
        let expected = std::fs::read_to_string(fixture(&format!("store-{version}.txt"))).unwrap();
        assert_eq!(dump(&store), expected, "version {version}");
        assert!(store.check().unwrap().is_sound(), "version {version}");
        store.append(&[batch(2, 2, 4, 1)]).unwrap();
    }
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let kept = open();
    kept.raw().pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(kept.store);
    let refused = SqliteStore::open_with(kept.dir.path(), quiet()).unwrap_err().to_string();
    assert!(refused.contains("written by a newer version"), "{refused}");
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let dir = dir();
    std::fs::write(dir.path().join("millpond.db"), "not a database at all ".repeat(100)).unwrap();
    assert!(SqliteStore::open_with(dir.path(), quiet()).is_err());
}
