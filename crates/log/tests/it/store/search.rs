//! Search for sessions, whatever is typed.

use millpond_log::store::{SessionQuery, SessionUpdate};

use super::*;

fn search_ids(store: &SqliteStore, text: &str) -> Vec<SessionId> {
    let query = SessionQuery { words: Some(text.to_owned()), limit: 99, ..SessionQuery::default() };
    store
        .list_sessions_of_owner_by_query(owner(1), &query)
        .unwrap()
        .into_iter()
        .map(|session| session.id)
        .collect()
}

/// Session 1 has texts, session 2 a title, session 3 another owner.
fn store_with_three_sessions() -> TestStore {
    let test_store = open_test_store();
    test_store.store.create_session(&session(1)).unwrap();
    test_store
        .store
        .create_session(&Session { title: "Größe of a millpond".to_owned(), ..session(2) })
        .unwrap();
    test_store.store.create_session(&Session { owner: owner(2), ..session(3) }).unwrap();
    let texts = vec!["The quick brown fox".to_owned(), "jumps over \"lazy\" dogs".to_owned()];
    for n in [1, 3] {
        test_store
            .store
            .append(&[Batch { searchable_texts: texts.clone(), ..batch(n, n, 0, 2) }])
            .unwrap();
    }
    test_store
}

#[test]
fn all_words_must_be_found_somewhere_in_the_session() {
    let TestStore { store, .. } = &store_with_three_sessions();
    assert_eq!(search_ids(store, "fox"), [session_id(1)]);
    assert_eq!(search_ids(store, "FOX lazy"), [session_id(1)], "in different texts");
    assert_eq!(search_ids(store, "fox millpond"), []);
    assert_eq!(search_ids(store, "session quick"), [session_id(1)], "title and text");
    assert_eq!(search_ids(store, "grosse"), [] as [SessionId; 0]);
    assert_eq!(search_ids(store, "größe"), [session_id(2)]);
    assert_eq!(search_ids(store, "of a mill"), [session_id(2)], "the last may be a beginning");
    assert_eq!(search_ids(store, "mill of"), [], "only the last");
    assert_eq!(search_ids(store, "  "), [session_id(2), session_id(1)], "nothing is asked for");
}

#[test]
fn a_new_title_is_found_and_the_old_one_no_more() {
    let TestStore { store, .. } = &store_with_three_sessions();
    let change = SessionUpdate { title: Some("Weir".to_owned()), ..SessionUpdate::default() };
    store.update_session(session_id(2), &change, 5).unwrap();
    assert_eq!(search_ids(store, "weir"), [session_id(2)]);
    assert_eq!(search_ids(store, "millpond"), []);
}

#[test]
fn a_branch_is_found_by_what_it_took_along() {
    let TestStore { store, .. } = &store_with_three_sessions();
    store
        .append(&[Batch { searchable_texts: vec!["later".to_owned()], ..batch(1, 1, 2, 1) }])
        .unwrap();
    store.branch_session(session_id(1), 2, &session(4), None).unwrap();
    assert_eq!(search_ids(store, "fox"), [session_id(4), session_id(1)]);
    assert_eq!(search_ids(store, "later"), [session_id(1)]);
}

#[test]
fn no_query_is_an_error() {
    let TestStore { store, .. } = &store_with_three_sessions();
    let hostile_queries = [
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
    for query in hostile_queries {
        search_ids(store, query);
        search_ids(store, &format!("fox {query}"));
        search_ids(store, &format!("{query} fox"));
    }
    search_ids(store, &"\"".repeat(9999));
    search_ids(store, &"x".repeat(200_000));
    search_ids(store, &"word ".repeat(20_000));
    assert_eq!(search_ids(store, "OR"), [], "`OR` is searched as a plain word");
    assert_eq!(search_ids(store, "\"lazy\""), [session_id(1)]);
    assert_eq!(search_ids(store, "nothing OR fox"), []);
    assert_eq!(search_ids(store, "text:fox"), [], "no column can be named");
}
