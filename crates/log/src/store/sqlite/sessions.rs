//! SQL of session metadata: insert, select, update, delete.

use millpond_engine::event::Millis;
use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::{Fault, failed_fault};
use super::{chunk_rows, runs, search};
use crate::id::{OwnerId, SessionId};
use crate::limits::LISTED_SESSIONS_MAX;
use crate::store::{Session, SessionQuery, SessionUpdate};

const SESSION_COLUMNS: &str = "id, owner, title, created_ms, changed_ms, head, pinned, archived,
    deleted_ms, parent, parent_end";

fn parse_session_row(row: &Row<'_>) -> rusqlite::Result<Session> {
    let parent: Option<[u8; 16]> = row.get(9)?;
    let parent_end: Option<u64> = row.get(10)?;
    Ok(Session {
        id: SessionId::from_bytes(row.get(0)?),
        owner: OwnerId::from_bytes(row.get(1)?),
        title: row.get(2)?,
        created_ms: row.get(3)?,
        changed_ms: row.get(4)?,
        head: row.get(5)?,
        pinned: row.get(6)?,
        archived: row.get(7)?,
        deleted_ms: row.get(8)?,
        parent: parent.map(SessionId::from_bytes).zip(parent_end),
    })
}

/// Inserts a session and returns its key.
pub(super) fn insert_session(connection: &Connection, session: &Session) -> Result<i64, Fault> {
    if chunk_rows::find_session_position(connection, session.id)?.is_some() {
        return Err(failed_fault(format!("session {} already exists", session.id)));
    }
    let sql = format!(
        "INSERT INTO sessions ({SESSION_COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"
    );
    connection.prepare_cached(&sql)?.execute(params![
        session.id.to_bytes(),
        session.owner.to_bytes(),
        session.title,
        session.created_ms,
        session.changed_ms,
        session.head,
        session.pinned,
        session.archived,
        session.deleted_ms,
        session.parent.map(|(parent, _)| parent.to_bytes()),
        session.parent.map(|(_, end)| end),
    ])?;
    let key = connection.last_insert_rowid();
    search::insert_search_text(connection, key, None, &session.title)?;
    Ok(key)
}

pub(super) fn select_session_even_deleted(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<Session>, Fault> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([session.to_bytes()], parse_session_row).optional()?)
}

/// The statement that lists sessions, for this number of search words.
pub(super) fn build_list_sessions_sql(word_count: usize) -> String {
    let mut sql = format!(
        "SELECT {SESSION_COLUMNS} FROM sessions
         WHERE owner = ?1 AND archived = ?2 AND deleted_ms IS NULL
         AND (changed_ms, id) < (?3, ?4)"
    );
    for index in 0..word_count {
        sql.push_str(&search::build_match_condition(6 + index));
    }
    sql.push_str(" ORDER BY changed_ms DESC, id DESC LIMIT ?5");
    sql
}

pub(super) fn select_sessions_of_owner(
    connection: &Connection,
    owner: OwnerId,
    query: &SessionQuery,
) -> Result<Vec<Session>, Fault> {
    let search_text = query.words.as_deref().unwrap_or_default();
    let patterns = search::build_match_patterns(search_text);
    if patterns.is_empty() && !search_text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (changed_ms, id) = match query.before {
        Some((changed_ms, id)) => (i64::try_from(changed_ms).unwrap_or(i64::MAX), id.to_bytes()),
        None => (i64::MAX, [0xff; 16]),
    };
    let owner = owner.to_bytes();
    let limit = query.limit.min(LISTED_SESSIONS_MAX);
    let mut values: Vec<&dyn ToSql> = vec![&owner, &query.archived, &changed_ms, &id, &limit];
    values.extend(patterns.iter().map(|pattern| pattern as &dyn ToSql));
    let mut statement = connection.prepare_cached(&build_list_sessions_sql(patterns.len()))?;
    let found = statement.query_map(&*values, parse_session_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn update_session(
    connection: &Connection,
    session: SessionId,
    change: &SessionUpdate,
    now: Millis,
) -> Result<(), Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    if let Some(title) = &change.title {
        connection.execute("UPDATE sessions SET title = ?2 WHERE key = ?1", (key, title))?;
        search::replace_indexed_title(connection, key, title)?;
    }
    if let Some(pinned) = change.pinned {
        connection.execute("UPDATE sessions SET pinned = ?2 WHERE key = ?1", (key, pinned))?;
    }
    if let Some(archived) = change.archived {
        connection.execute("UPDATE sessions SET archived = ?2 WHERE key = ?1", (key, archived))?;
    }
    if let Some(deleted) = change.deleted_ms {
        connection.execute("UPDATE sessions SET deleted_ms = ?2 WHERE key = ?1", (key, deleted))?;
    }
    connection.execute("UPDATE sessions SET changed_ms = ?2 WHERE key = ?1", (key, now))?;
    Ok(())
}

/// Deletes a session. Foreign keys delete its rows elsewhere, a trigger its search texts.
pub(super) fn erase_session_but_keep_usage(
    connection: &Connection,
    session: SessionId,
) -> Result<(), Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    runs::add_session_usage_to_owner(connection, key)?;
    let digests: Vec<[u8; 32]> = connection
        .prepare_cached("SELECT digest FROM blob_refs WHERE session = ?1")?
        .query_map([key], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    connection.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
    let sql = "DELETE FROM blobs WHERE digest = ?1
         AND NOT EXISTS (SELECT 1 FROM blob_refs WHERE digest = ?1)";
    let mut forget = connection.prepare_cached(sql)?;
    for digest in digests {
        forget.execute([digest])?;
    }
    Ok(())
}
