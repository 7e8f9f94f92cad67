//! Finding sessions by words, whatever was typed.

use gateway::store::{Change, Query};

use super::*;

fn found(store: &SqliteStore, words: &str) -> Vec<SessionId> {
    let query = Query { words: Some(words.to_owned()), limit: 99, ..Query::default() };
    store.sessions(owner(1), &query).unwrap().into_iter().map(|session| session.id).collect()
}

/// Session 1 has texts, session 2 a title, session 3 belongs to someone else.
fn library() -> Kept {
    let kept = open();
    kept.store.create(&session(1)).unwrap();
    kept.store.create(&Session { title: "Größe of a millpond".to_owned(), ..session(2) }).unwrap();
    kept.store.create(&Session { owner: owner(2), ..session(3) }).unwrap();
    let texts = vec!["The quick brown fox".to_owned(), "jumps over \"lazy\" dogs".to_owned()];
    for n in [1, 3] {
        kept.store.append(&[Batch { texts: texts.clone(), ..batch(n, n, 0, 2) }]).unwrap();
    }
    kept
}

#[test]
fn all_words_must_be_found_somewhere_in_the_session() {
    let Kept { store, .. } = &library();
    assert_eq!(found(store, "fox"), [session_id(1)]);
    assert_eq!(found(store, "FOX lazy"), [session_id(1)], "in different texts");
    assert_eq!(found(store, "fox millpond"), []);
    assert_eq!(found(store, "session quick"), [session_id(1)], "title and text");
    assert_eq!(found(store, "grosse"), [] as [SessionId; 0]);
    assert_eq!(found(store, "größe"), [session_id(2)]);
    assert_eq!(found(store, "of a mill"), [session_id(2)], "the last may be a beginning");
    assert_eq!(found(store, "mill of"), [], "only the last");
    assert_eq!(found(store, "  "), [session_id(2), session_id(1)], "nothing is asked for");
}

#[test]
fn a_new_title_is_found_and_the_old_one_no_more() {
    let Kept { store, .. } = &library();
    let change = Change { title: Some("Weir".to_owned()), ..Change::default() };
    store.change(session_id(2), &change, 5).unwrap();
    assert_eq!(found(store, "weir"), [session_id(2)]);
    assert_eq!(found(store, "millpond"), []);
}

#[test]
fn a_branch_is_found_by_what_it_took_along() {
    let Kept { store, .. } = &library();
    store.append(&[Batch { texts: vec!["later".to_owned()], ..batch(1, 1, 2, 1) }]).unwrap();
    store.branch(session_id(1), 2, &session(4), None).unwrap();
    assert_eq!(found(store, "fox"), [session_id(4), session_id(1)]);
    assert_eq!(found(store, "later"), [session_id(1)]);
}

#[test]
fn no_query_is_an_error() {
    let Kept { store, .. } = &library();
    let hostile = [
        "\"",
        "\"\"",
        "\"\"\"",
        "*",
        "fox*",
        "* fox",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "NEAR(a b)",
        "NEAR/2",
        "text:fox",
        "{text}:fox",
        "-text:fox",
        "^fox",
        "(fox",
        "fox)",
        "fox + dogs",
        "fox AND",
        "rowid:1",
        "words",
        "'; DROP TABLE words; --",
        "\\",
        "\0",
        "fo\0x",
        "%",
        "?1",
        ":a",
        "@a",
        "$a",
        "🦊",
        "\u{202e}fox",
        "\u{301}",
        "e\u{301}",
        "-",
        "--",
        "a\"b\"c",
        "fox\n\r\tdogs",
        "\u{feff}",
        "\u{fffd}",
        ",",
        "fox,dogs",
    ];
    for words in hostile {
        found(store, words);
        found(store, &format!("fox {words}"));
        found(store, &format!("{words} fox"));
    }
    found(store, &"\"".repeat(9999));
    found(store, &"x".repeat(200_000));
    found(store, &"word ".repeat(20_000));
    assert_eq!(found(store, "OR"), [], "a word like any other");
    assert_eq!(found(store, "\"lazy\""), [session_id(1)]);
    assert_eq!(found(store, "nothing OR fox"), []);
    assert_eq!(found(store, "text:fox"), [], "no column can be named");
}
