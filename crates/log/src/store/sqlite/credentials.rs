//! SQL of tokens and shared links; only their digests are stored.

use millpond_engine::event::Millis;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::chunk_rows;
use super::fault::Fault;
use crate::id::{OwnerId, SessionId, ShareId, TokenId};
use crate::store::{Share, Token};

const SELECT_TOKEN: &str = "SELECT id, owner, digest, label, created_ms, revoked_ms FROM tokens";
const SELECT_SHARE: &str = "SELECT h.id, s.id, h.digest, h.created_ms
    FROM shares h JOIN sessions s ON s.key = h.session";

fn parse_token_row(row: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        id: TokenId::from_bytes(row.get(0)?),
        owner: OwnerId::from_bytes(row.get(1)?),
        digest: row.get(2)?,
        label: row.get(3)?,
        created_ms: row.get(4)?,
        revoked_ms: row.get(5)?,
    })
}

fn parse_share_row(row: &Row<'_>) -> rusqlite::Result<Share> {
    Ok(Share {
        id: ShareId::from_bytes(row.get(0)?),
        session: SessionId::from_bytes(row.get(1)?),
        digest: row.get(2)?,
        created_ms: row.get(3)?,
    })
}

pub(super) fn select_token_owners(connection: &Connection) -> Result<Vec<OwnerId>, Fault> {
    let sql = "SELECT owner FROM tokens GROUP BY owner ORDER BY min(id)";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([], |row| Ok(OwnerId::from_bytes(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn insert_token(connection: &Connection, token: &Token) -> Result<(), Fault> {
    connection.execute(
        "INSERT INTO tokens (id, owner, digest, label, created_ms, revoked_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            token.id.to_bytes(),
            token.owner.to_bytes(),
            token.digest,
            token.label,
            token.created_ms,
            token.revoked_ms,
        ],
    )?;
    Ok(())
}

pub(super) fn select_token_even_revoked(
    connection: &Connection,
    digest: [u8; 32],
) -> Result<Option<Token>, Fault> {
    let mut statement = connection.prepare_cached(&format!("{SELECT_TOKEN} WHERE digest = ?1"))?;
    Ok(statement.query_row([digest], parse_token_row).optional()?)
}

pub(super) fn select_owner_tokens_even_revoked(
    connection: &Connection,
    owner: OwnerId,
) -> Result<Vec<Token>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("{SELECT_TOKEN} WHERE owner = ?1 ORDER BY id"))?;
    let found = statement.query_map([owner.to_bytes()], parse_token_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Revokes a token, keeping the time of the first revocation. Returns false if the owner has no
/// such token.
pub(super) fn revoke_token_of_owner(
    connection: &Connection,
    owner: OwnerId,
    token: TokenId,
    now: Millis,
) -> Result<bool, Fault> {
    let changed = connection.execute(
        "UPDATE tokens SET revoked_ms = coalesce(revoked_ms, ?3) WHERE id = ?1 AND owner = ?2",
        params![token.to_bytes(), owner.to_bytes(), now],
    )?;
    Ok(changed > 0)
}

pub(super) fn insert_share(connection: &Connection, share: &Share) -> Result<(), Fault> {
    let key = chunk_rows::require_session_position(connection, share.session)?.key;
    connection.execute(
        "INSERT INTO shares (id, session, digest, created_ms) VALUES (?1, ?2, ?3, ?4)",
        params![share.id.to_bytes(), key, share.digest, share.created_ms],
    )?;
    Ok(())
}

pub(super) fn select_share_by_digest(
    connection: &Connection,
    digest: [u8; 32],
) -> Result<Option<Share>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("{SELECT_SHARE} WHERE h.digest = ?1"))?;
    Ok(statement.query_row([digest], parse_share_row).optional()?)
}

pub(super) fn select_session_shares(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<Share>, Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    let mut statement =
        connection.prepare_cached(&format!("{SELECT_SHARE} WHERE h.session = ?1 ORDER BY h.id"))?;
    let found = statement.query_map([key], parse_share_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn delete_share_of_session(
    connection: &Connection,
    session: SessionId,
    share: ShareId,
) -> Result<bool, Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    let deleted_rows = connection.execute(
        "DELETE FROM shares WHERE id = ?1 AND session = ?2",
        params![share.to_bytes(), key],
    )?;
    Ok(deleted_rows > 0)
}
