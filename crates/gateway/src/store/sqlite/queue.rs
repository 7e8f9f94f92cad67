//! Messages that wait for their turn.

use rusqlite::{Connection, params};

use super::fault::Fault;
use super::rows;
use crate::id::{QueuedId, SessionId};
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

/// Sessions in which something waits, the oldest first; not those that are deleted.
pub(super) fn queued(connection: &Connection) -> Result<Vec<SessionId>, Fault> {
    let sql = "SELECT s.id FROM (SELECT DISTINCT session FROM queue) q
         JOIN sessions s ON s.key = q.session WHERE s.deleted_ms IS NULL ORDER BY s.key";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([], |row| Ok(SessionId::from_bytes(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}
