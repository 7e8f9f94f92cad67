//! Erases sessions that are too old or take too much space.

use std::time::Duration;

use millpond_engine::event::Millis;
use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use super::{SqliteStore, StoreCore, sessions};
use crate::id::SessionId;
use crate::limits::UNDO_WINDOW;
use crate::store::StoreError;

/// Pages returned to the file system per transaction.
const VACUUMED_PAGES_MAX: u32 = 512;

/// Retention rules. Pinned sessions, and those with an active run, are always kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Longest time since the last change.
    pub max_age: Option<Duration>,
    /// Largest size of the whole store.
    pub max_bytes: Option<u64>,
}

impl SqliteStore {
    /// Erases sessions whose undo window has passed, then the oldest unpinned ones beyond the
    /// retention, and returns free pages to the file system. Each in its own transaction, so that
    /// appends run in between; `erased` is called after each, because a later one may fail.
    pub fn erase_expired_sessions_and_vacuum(
        &self,
        now: Millis,
        retention: Retention,
        mut erased: impl FnMut(SessionId),
    ) -> Result<(), StoreError> {
        let core = &*self.core;
        let deleted_before = subtract_age(now, UNDO_WINDOW);
        erase_each_found(core, &mut erased, |file| {
            select_oldest_expired_deleted(file, deleted_before)
        })?;
        if let Some(changed_before) = retention.max_age.map(|age| subtract_age(now, age)) {
            erase_each_found(core, &mut erased, |file| {
                Ok(select_oldest_erasable(file)?
                    .filter(|old| old.1 < changed_before)
                    .map(|old| old.0))
            })?;
        }
        if let Some(max) = retention.max_bytes {
            erase_each_found(core, &mut erased, |file| {
                if used_bytes(file)? > max {
                    Ok(select_oldest_erasable(file)?.map(|old| old.0))
                } else {
                    Ok(None)
                }
            })?;
        }
        vacuum_free_pages(core)
    }
}

fn subtract_age(now: Millis, age: Duration) -> Millis {
    now.saturating_sub(Millis::try_from(age.as_millis()).unwrap_or(Millis::MAX))
}

fn erase_each_found(
    core: &StoreCore,
    erased: &mut impl FnMut(SessionId),
    next_session: impl Fn(&Connection) -> Result<Option<SessionId>, Fault>,
) -> Result<(), StoreError> {
    // Selected and erased in one transaction: it may be pinned in between.
    let erase_next = |file: &Connection| match next_session(file)? {
        None => Ok(None),
        Some(session) => {
            sessions::erase_session_but_keep_usage(file, session).map(|()| Some(session))
        }
    };
    while let Some(session) = core.write_transaction(|file| erase_next(file))? {
        erased(session);
    }
    Ok(())
}

fn select_oldest_expired_deleted(
    connection: &Connection,
    deleted_before: Millis,
) -> Result<Option<SessionId>, Fault> {
    let sql = "SELECT id FROM sessions WHERE deleted_ms IS NOT NULL AND deleted_ms < ?1
         ORDER BY deleted_ms LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let id = statement.query_row([deleted_before], |row| row.get(0)).optional()?;
    Ok(id.map(SessionId::from_bytes))
}

fn select_oldest_erasable(connection: &Connection) -> Result<Option<(SessionId, Millis)>, Fault> {
    let sql = "SELECT id, changed_ms FROM sessions WHERE pinned = 0
         AND NOT EXISTS (SELECT 1 FROM runs WHERE session = key AND ended IS NULL)
         ORDER BY changed_ms LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found =
        statement.query_row([], |row| Ok((SessionId::from_bytes(row.get(0)?), row.get(1)?)));
    Ok(found.optional()?)
}

fn read_pragma(connection: &Connection, name: &str) -> Result<u64, Fault> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

/// Bytes in use, without free pages.
fn used_bytes(connection: &Connection) -> Result<u64, Fault> {
    let pages = read_pragma(connection, "page_count")?;
    let free_pages = read_pragma(connection, "freelist_count")?;
    Ok(pages.saturating_sub(free_pages) * read_pragma(connection, "page_size")?)
}

/// Shrinks the file by its free pages, a few at a time.
fn vacuum_free_pages(core: &StoreCore) -> Result<(), StoreError> {
    let mut free_pages = u64::MAX;
    loop {
        let remaining = core.write_transaction(|file| {
            let sql = format!("PRAGMA incremental_vacuum({VACUUMED_PAGES_MAX})");
            let mut statement = file.prepare(&sql)?;
            let mut pages = statement.query([])?;
            while pages.next()?.is_some() {}
            read_pragma(file, "freelist_count")
        })?;
        if remaining == 0 || remaining >= free_pages {
            return Ok(());
        }
        free_pages = remaining;
    }
}
