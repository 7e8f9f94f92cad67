//! SQL of the message queue.

use millpond_engine::event::PromptOrigin;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, params};

use super::chunk_rows;
use super::fault::Fault;
use crate::id::{QueuedId, SessionId};
use crate::store::QueuedMessage;

pub(super) fn replace_queue(
    connection: &Connection,
    session: SessionId,
    queue: &[QueuedMessage],
) -> Result<(), Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    connection.execute("DELETE FROM queue WHERE session = ?1", [key])?;
    let sql = "INSERT INTO queue (session, place, id, text, images, accepted_ms, is_heartbeat)
         VALUES (?1,?2,?3,?4,?5,?6,?7)";
    let mut statement = connection.prepare_cached(sql)?;
    for (position, queued) in (0_i64..).zip(queue) {
        let id = queued.id.to_bytes();
        let QueuedMessage { text, images, origin, accepted_ms, .. } = queued;
        let is_heartbeat = *origin == PromptOrigin::Heartbeat;
        let images = serde_json::to_string(images)
            .map_err(|error| Error::ToSqlConversionFailure(error.into()))?;
        statement.execute(params![key, position, id, text, images, accepted_ms, is_heartbeat])?;
    }
    Ok(())
}

pub(super) fn select_queue(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<QueuedMessage>, Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    let sql = "SELECT id, text, images, accepted_ms, is_heartbeat FROM queue WHERE session = ?1 ORDER BY place";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([key], |row| {
        let images: String = row.get(2)?;
        let images = serde_json::from_str(&images)
            .map_err(|error| Error::FromSqlConversionFailure(2, Type::Text, error.into()))?;
        Ok(QueuedMessage {
            id: QueuedId::from_bytes(row.get(0)?),
            text: row.get(1)?,
            images,
            accepted_ms: row.get(3)?,
            origin: if row.get(4)? { PromptOrigin::Heartbeat } else { PromptOrigin::Person },
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Sessions with queued messages, oldest first, except deleted ones.
pub(super) fn select_undeleted_sessions_with_queue(
    connection: &Connection,
) -> Result<Vec<SessionId>, Fault> {
    let sql = "SELECT s.id FROM (SELECT DISTINCT session FROM queue) q
         JOIN sessions s ON s.key = q.session WHERE s.deleted_ms IS NULL ORDER BY s.key";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([], |row| Ok(SessionId::from_bytes(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}
