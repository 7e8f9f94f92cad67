//! Creates a session from the first records of another.

use rusqlite::Connection;

use super::chunk_rows::{ChunkRow, CompressionEffort};
use super::fault::{Fault, damaged_fault};
use super::{chunk_rows, sessions};
use crate::id::SessionId;
use crate::store::{Chunk, Session, StoreError};

pub(super) fn insert_branch_session(
    connection: &Connection,
    session: SessionId,
    end: u64,
    branch: &Session,
    closing: Option<&Chunk>,
) -> Result<(), Fault> {
    let parent = chunk_rows::require_session_position(connection, session)?;
    if end > parent.head {
        return Err(StoreError::NotAtHead { session, head: parent.head, first: end }.into());
    }
    let branch_head = end + closing.map_or(0, |chunk| chunk.len);
    let new_branch = Session { head: branch_head, parent: Some((session, end)), ..branch.clone() };
    let key = sessions::insert_session(connection, &new_branch)?;
    verify_and_copy_chunk_rows(connection, (parent.key, session), (key, branch.id), end)?;
    if let Some(closing) = closing.filter(|closing| closing.first == end) {
        let effort = CompressionEffort::None;
        chunk_rows::insert_chunk(connection, key, branch.id, closing, effort)?;
    }
    connection.execute(
        "INSERT INTO texts (session, seq, text)
         SELECT ?1, seq, text FROM texts WHERE session = ?2 AND seq < ?3 ORDER BY id",
        (key, parent.key, end),
    )?;
    connection.execute(
        "INSERT INTO blob_refs (session, digest, kind)
         SELECT ?1, digest, kind FROM blob_refs WHERE session = ?2",
        (key, parent.key),
    )?;
    Ok(())
}

/// Verifies chunk rows and copies them one by one, because each checksum covers its session.
fn verify_and_copy_chunk_rows(
    connection: &Connection,
    source: (i64, SessionId),
    target: (i64, SessionId),
    end: u64,
) -> Result<(), Fault> {
    let sql =
        "SELECT first, len, crc, bytes, epoch, codec FROM chunks WHERE session = ?1 AND first < ?2
         ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query((source.0, end))?;
    let mut next = 0;
    while let Some(row) = found.next()? {
        let row = ChunkRow::from_row(row)?;
        if row.first != next {
            break;
        }
        let lines =
            row.verified_lines(source.1).map_err(|detail| damaged_fault(source.1, next, detail))?;
        let len = row.len.min(end - row.first);
        let lines = chunk_rows::truncate_to_lines(&lines, len).into();
        let chunk = Chunk { epoch: row.epoch, first: row.first, len, lines };
        let effort = CompressionEffort::Thorough;
        chunk_rows::insert_chunk(connection, target.0, target.1, &chunk, effort)?;
        next += len;
    }
    if next == end { Ok(()) } else { Err(damaged_fault(source.1, next, "missing")) }
}
