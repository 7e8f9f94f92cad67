//! Full-text search for sessions.
//!
//! Invariant: user input reaches the index's query language only inside quotes.

use rusqlite::Connection;

use super::fault::Fault;
use crate::limits::SEARCH_WORDS_MAX;

/// Indexes a text of a session; without `seq` it is the title.
pub(super) fn insert_search_text(
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

pub(super) fn replace_indexed_title(
    connection: &Connection,
    key: i64,
    title: &str,
) -> Result<(), Fault> {
    connection.execute("DELETE FROM texts WHERE session = ?1 AND seq IS NULL", [key])?;
    insert_search_text(connection, key, None, title)
}

/// Builds one `MATCH` pattern per word. The words may be in different texts of a session.
pub(super) fn build_match_patterns(query: &str) -> Vec<String> {
    let query = query.replace('\0', " ");
    let mut patterns: Vec<String> = query
        .split_whitespace()
        // The index ignores words of punctuation only; they would match nothing.
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(SEARCH_WORDS_MAX)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    if let Some(last) = patterns.last_mut() {
        last.push('*');
    }
    patterns
}

/// SQL condition: the session contains a match of this parameter.
pub(super) fn build_match_condition(parameter: usize) -> String {
    format!(
        " AND key IN (SELECT session FROM texts WHERE id IN
            (SELECT rowid FROM words WHERE words MATCH ?{parameter}))"
    )
}
