//! Messages that wait for their turn.

use rusqlite::types::Type;
use rusqlite::{Connection, Error, params};

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
    let sql = "INSERT INTO queue (session, place, id, text, images, accepted_ms)
         VALUES (?1,?2,?3,?4,?5,?6)";
    let mut statement = connection.prepare_cached(sql)?;
    for (place, queued) in (0_i64..).zip(queue) {
        let id = queued.id.to_bytes();
        let Queued { text, images, accepted_ms, .. } = queued;
        let images = serde_json::to_string(images)
            .map_err(|fault| Error::ToSqlConversionFailure(fault.into()))?;
        statement.execute(params![key, place, id, text, images, accepted_ms])?;
    }
    Ok(())
}

pub(super) fn get(connection: &Connection, session: SessionId) -> Result<Vec<Queued>, Fault> {
    let key = rows::place(connection, session)?.key;
    let sql = "SELECT id, text, images, accepted_ms FROM queue WHERE session = ?1 ORDER BY place";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([key], |row| {
        let images: String = row.get(2)?;
        let images = serde_json::from_str(&images)
            .map_err(|fault| Error::FromSqlConversionFailure(2, Type::Text, fault.into()))?;
        Ok(Queued {
            id: QueuedId::from_bytes(row.get(0)?),
            text: row.get(1)?,
            images,
            accepted_ms: row.get(3)?,
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
