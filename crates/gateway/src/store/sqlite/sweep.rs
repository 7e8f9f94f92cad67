//! Letting go of what is too old or too much.

use std::time::Duration;

use engine::event::Millis;
use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use super::{Core, SqliteStore, sessions};
use crate::id::SessionId;
use crate::limits::UNDO_WINDOW;
use crate::store::StoreError;

/// Pages given back to the file system in one transaction.
const PAGES_AT_ONCE: u32 = 512;

/// What may stay. Pinned sessions, and those with a run going, always do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Since the last change.
    pub max_age: Option<Duration>,
    /// Of the whole store.
    pub max_bytes: Option<u64>,
}

impl SqliteStore {
    /// Erases sessions deleted too long ago to be brought back, then the oldest unpinned ones that
    /// retention does not allow. Each is a transaction of its own, so that appends get in between,
    /// and is told to `erased` at once: what follows may fail.
    pub fn sweep(
        &self,
        now: Millis,
        retention: Retention,
        mut erased: impl FnMut(SessionId),
    ) -> Result<(), StoreError> {
        let core = &*self.core;
        let bound = before(now, UNDO_WINDOW);
        erase_all(core, &mut erased, |file| deleted(file, bound))?;
        if let Some(bound) = retention.max_age.map(|age| before(now, age)) {
            erase_all(core, &mut erased, |file| {
                Ok(oldest(file)?.filter(|old| old.1 < bound).map(|old| old.0))
            })?;
        }
        if let Some(max) = retention.max_bytes {
            erase_all(core, &mut erased, |file| {
                if bytes(file)? > max { Ok(oldest(file)?.map(|old| old.0)) } else { Ok(None) }
            })?;
        }
        give_back(core)
    }
}

fn before(now: Millis, age: Duration) -> Millis {
    now.saturating_sub(Millis::try_from(age.as_millis()).unwrap_or(Millis::MAX))
}

fn erase_all(
    core: &Core,
    erased: &mut impl FnMut(SessionId),
    next: impl Fn(&Connection) -> Result<Option<SessionId>, Fault>,
) -> Result<(), StoreError> {
    // Found and erased in one transaction: it may have been pinned in between.
    let erase_next = |file: &Connection| match next(file)? {
        None => Ok(None),
        Some(session) => sessions::erase(file, session).map(|()| Some(session)),
    };
    while let Some(session) = core.write(|file| erase_next(file))? {
        erased(session);
    }
    Ok(())
}

fn deleted(connection: &Connection, bound: Millis) -> Result<Option<SessionId>, Fault> {
    let sql = "SELECT id FROM sessions WHERE deleted_ms IS NOT NULL AND deleted_ms < ?1
         ORDER BY deleted_ms LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let id = statement.query_row([bound], |row| row.get(0)).optional()?;
    Ok(id.map(SessionId::from_bytes))
}

fn oldest(connection: &Connection) -> Result<Option<(SessionId, Millis)>, Fault> {
    let sql = "SELECT id, changed_ms FROM sessions WHERE pinned = 0
         AND NOT EXISTS (SELECT 1 FROM runs WHERE session = key AND ended IS NULL)
         ORDER BY changed_ms LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found =
        statement.query_row([], |row| Ok((SessionId::from_bytes(row.get(0)?), row.get(1)?)));
    Ok(found.optional()?)
}

fn pragma(connection: &Connection, name: &str) -> Result<u64, Fault> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

/// In use; what was freed does not count.
fn bytes(connection: &Connection) -> Result<u64, Fault> {
    let pages = pragma(connection, "page_count")?;
    let free = pragma(connection, "freelist_count")?;
    Ok(pages.saturating_sub(free) * pragma(connection, "page_size")?)
}

/// Makes the file smaller by what was freed, a little at a time.
fn give_back(core: &Core) -> Result<(), StoreError> {
    let mut free = u64::MAX;
    loop {
        let left = core.write(|file| {
            let sql = format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})");
            let mut statement = file.prepare(&sql)?;
            let mut pages = statement.query([])?;
            while pages.next()?.is_some() {}
            pragma(file, "freelist_count")
        })?;
        if left == 0 || left >= free {
            return Ok(());
        }
        free = left;
    }
}
