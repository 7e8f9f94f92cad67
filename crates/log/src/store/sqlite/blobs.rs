//! Blobs: bytes stored once under their digest, for the sessions that refer to them.
//!
//! Invariant: bytes that do not match their digest are never returned.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::chunk_rows;
use super::fault::{Fault, failed_fault};
use crate::id::SessionId;
use crate::limits::BLOB_BYTES_MAX;

fn bytes_match_digest(digest: &[u8; 32], bytes: &[u8]) -> bool {
    Sha256::digest(bytes).as_slice() == digest
}

/// Rejects a blob that is too large or does not match, before a transaction is opened.
pub(super) fn validate_blob(digest: &[u8; 32], bytes: &[u8]) -> Result<(), Fault> {
    if bytes.len() > BLOB_BYTES_MAX {
        return Err(failed_fault(format!("blob larger than {BLOB_BYTES_MAX} bytes")));
    }
    if bytes_match_digest(digest, bytes) {
        Ok(())
    } else {
        Err(failed_fault("blob does not match its digest"))
    }
}

pub(super) fn insert_blob_and_session_ref(
    connection: &Connection,
    session: SessionId,
    digest: &[u8; 32],
    kind: &str,
    bytes: &[u8],
) -> Result<(), Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
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

pub(super) fn select_verified_blob_of_session(
    connection: &Connection,
    session: SessionId,
    digest: &[u8; 32],
) -> Result<Option<(String, Vec<u8>)>, Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    let sql = "SELECT r.kind, b.bytes FROM blob_refs r JOIN blobs b ON b.digest = r.digest
         WHERE r.session = ?1 AND r.digest = ?2";
    let found: Option<(String, Vec<u8>)> = connection
        .prepare_cached(sql)?
        .query_row(params![key, digest], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        Some((_, bytes)) if !bytes_match_digest(digest, &bytes) => {
            Err(failed_fault(format!("damaged blob in session {session}")))
        }
        found => Ok(found),
    }
}
