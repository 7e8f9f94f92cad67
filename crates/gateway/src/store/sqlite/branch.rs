//! Beginning a session as another one is up to some record.

use rusqlite::Connection;

use super::fault::{Fault, damaged};
use super::rows::Found;
use super::{rows, sessions};
use crate::id::SessionId;
use crate::store::{Chunk, Session, StoreError};

pub(super) fn branch(
    connection: &Connection,
    session: SessionId,
    end: u64,
    branch: &Session,
    closing: Option<&Chunk>,
) -> Result<(), Fault> {
    let from = rows::place(connection, session)?;
    if end > from.head {
        return Err(StoreError::NotAtHead { session, head: from.head, first: end }.into());
    }
    let head = end + closing.map_or(0, |chunk| chunk.len);
    let begun = Session { head, parent: Some((session, end)), ..branch.clone() };
    let key = sessions::create(connection, &begun)?;
    copy_rows(connection, (from.key, session), (key, branch.id), end)?;
    if let Some(closing) = closing.filter(|closing| closing.first == end) {
        rows::insert(connection, key, branch.id, closing)?;
    }
    connection.execute(
        "INSERT INTO texts (session, seq, text)
         SELECT ?1, seq, text FROM texts WHERE session = ?2 AND seq < ?3 ORDER BY id",
        (key, from.key, end),
    )?;
    connection.execute(
        "INSERT INTO blob_refs (session, digest, kind)
         SELECT ?1, digest, kind FROM blob_refs WHERE session = ?2",
        (key, from.key),
    )?;
    Ok(())
}

/// Row by row: the checksum of each is over its session, too.
fn copy_rows(
    connection: &Connection,
    from: (i64, SessionId),
    to: (i64, SessionId),
    end: u64,
) -> Result<(), Fault> {
    let sql = "SELECT first, len, crc, bytes FROM chunks WHERE session = ?1 AND first < ?2
         ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query((from.0, end))?;
    let mut next = 0;
    while let Some(row) = found.next()? {
        let row = Found::new(row)?;
        if row.first != next {
            break;
        }
        let lines = row.lines(from.1).map_err(|detail| damaged(from.1, next, detail))?;
        let len = row.len.min(end - row.first);
        let lines = rows::cut(lines, len).into();
        rows::insert(connection, to.0, to.1, &Chunk { first: row.first, len, lines })?;
        next += len;
    }
    if next == end { Ok(()) } else { Err(damaged(from.1, next, "it is missing")) }
}
