//! Messages that wait for their turn, and answers to commands that may be asked again.

use engine::event::Millis;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::rows;
use crate::id::{OwnerId, QueuedId, SessionId};
use crate::store::Queued;

pub(super) fn set(
    connection: &Connection,
    session: SessionId,
    queue: &[Queued],
) -> Result<(), Fault> {
    let key = rows::place(connection, session)?.key;
    connection.execute("DELETE FROM queue WHERE session = ?1", [key])?;
    let sql = "INSERT INTO queue (session, place, id, text, accepted_ms) VALUES (?1,?2,?3,?4,?5)";
    let mut statement = connection.prepare_cached(sql)?;
    for (place, queued) in (0_i64..).zip(queue) {
        let id = queued.id.to_bytes();
        statement.execute(params![key, place, id, queued.text, queued.accepted_ms])?;
    }
    Ok(())
}

pub(super) fn get(connection: &Connection, session: SessionId) -> Result<Vec<Queued>, Fault> {
    let key = rows::place(connection, session)?.key;
    let sql = "SELECT id, text, accepted_ms FROM queue WHERE session = ?1 ORDER BY place";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([key], |row| {
        Ok(Queued {
            id: QueuedId::from_bytes(row.get(0)?),
            text: row.get(1)?,
            accepted_ms: row.get(2)?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The first answer stays.
pub(super) fn remember(
    connection: &Connection,
    owner: OwnerId,
    key: &str,
    answer: &str,
    now: Millis,
) -> Result<(), Fault> {
    connection.execute(
        "INSERT INTO remembered (owner, key, answer, at_ms) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
        params![owner.to_bytes(), key, answer, now],
    )?;
    Ok(())
}

pub(super) fn remembered(
    connection: &Connection,
    owner: OwnerId,
    key: &str,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT answer FROM remembered WHERE owner = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![owner.to_bytes(), key], |row| row.get(0)).optional()?)
}
