//! Bytes kept once under their digest, for the sessions that have them.
//!
//! Invariant: nobody gets bytes that are not those of the digest they asked for.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::fault::{Fault, failed};
use super::rows;
use crate::id::SessionId;
use crate::limits::BLOB_BYTES_MAX;

fn is_of(digest: &[u8; 32], bytes: &[u8]) -> bool {
    Sha256::digest(bytes).as_slice() == digest
}

/// Refuses what must not be kept, before a transaction waits for it.
pub(super) fn admit(digest: &[u8; 32], bytes: &[u8]) -> Result<(), Fault> {
    if bytes.len() > BLOB_BYTES_MAX {
        return Err(failed(format!("a blob is at most {BLOB_BYTES_MAX} bytes")));
    }
    if is_of(digest, bytes) { Ok(()) } else { Err(failed("the blob is not what its digest says")) }
}

pub(super) fn put(
    connection: &Connection,
    session: SessionId,
    digest: &[u8; 32],
    kind: &str,
    bytes: &[u8],
) -> Result<(), Fault> {
    let key = rows::place(connection, session)?.key;
    connection.execute(
        "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![digest, bytes],
    )?;
    connection.execute(
        "INSERT INTO blob_refs (session, digest, kind) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET kind = excluded.kind",
        params![key, digest, kind],
    )?;
    Ok(())
}

pub(super) fn get(
    connection: &Connection,
    session: SessionId,
    digest: &[u8; 32],
) -> Result<Option<(String, Vec<u8>)>, Fault> {
    let key = rows::place(connection, session)?.key;
    let sql = "SELECT r.kind, b.bytes FROM blob_refs r JOIN blobs b ON b.digest = r.digest
         WHERE r.session = ?1 AND r.digest = ?2";
    let found: Option<(String, Vec<u8>)> = connection
        .prepare_cached(sql)?
        .query_row(params![key, digest], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        Some((_, bytes)) if !is_of(digest, &bytes) => {
            Err(failed(format!("a blob of session {session} is damaged")))
        }
        found => Ok(found),
    }
}
