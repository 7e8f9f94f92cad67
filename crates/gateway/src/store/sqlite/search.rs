//! Finding sessions by their words.
//!
//! Invariant: what a person typed reaches the query language of the index only inside quotes.

use rusqlite::Connection;

use super::fault::Fault;
use crate::limits::SEARCH_WORDS_MAX;

/// Text that a session can be found by; one without a place is its title.
pub(super) fn add(
    connection: &Connection,
    key: i64,
    seq: Option<u64>,
    text: &str,
) -> Result<(), Fault> {
    connection
        .prepare_cached("INSERT INTO texts (session, seq, text) VALUES (?1, ?2, ?3)")?
        .execute((key, seq, text))?;
    Ok(())
}

pub(super) fn retitle(connection: &Connection, key: i64, title: &str) -> Result<(), Fault> {
    connection.execute("DELETE FROM texts WHERE session = ?1 AND seq IS NULL", [key])?;
    add(connection, key, None, title)
}

/// One pattern for each word; together they must be found in a session, not in one text of it.
pub(super) fn patterns(words: &str) -> Vec<String> {
    let words = words.replace('\0', " ");
    let mut patterns: Vec<String> = words
        .split_whitespace()
        // A word of signs alone is nothing to the index, and would find nothing.
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(SEARCH_WORDS_MAX)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    if let Some(last) = patterns.last_mut() {
        last.push('*');
    }
    patterns
}

/// The condition that a session holds what the parameter with this number asks for.
pub(super) fn condition(parameter: usize) -> String {
    format!(
        " AND key IN (SELECT session FROM texts WHERE id IN
            (SELECT rowid FROM words WHERE words MATCH ?{parameter}))"
    )
}
