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

/// What one sweep erases.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    pub now: Millis,
    pub retention: Retention,
    /// Sessions that may be erased for their age, if they are still too old.
    pub due: &'a [SessionId],
}

/// Why a session was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureReason {
    /// Its owner deleted it.
    Deleted,
    /// `Retention::max_age`
    Age,
    /// `Retention::max_bytes`
    Size,
}

impl SqliteStore {
    /// The sessions beyond the age that the retention allows, oldest first.
    pub fn list_sessions_past_age(
        &self,
        now: Millis,
        retention: Retention,
    ) -> Result<Vec<SessionId>, StoreError> {
        let Some(age) = retention.max_age else { return Ok(Vec::new()) };
        self.core.read_transaction(|file| select_erasable_before(file, subtract_age(now, age)))
    }

    /// Erases sessions whose undo window has passed, those that are due and still too old, then the
    /// oldest beyond the size, and returns free pages to the file system. Each in its own
    /// transaction, so that appends run in between; `erased` is called after each, because a later
    /// one may fail.
    pub fn erase_expired_sessions_and_vacuum(
        &self,
        Sweep { now, retention, due }: Sweep<'_>,
        mut erased: impl FnMut(SessionId, ErasureReason),
    ) -> Result<(), StoreError> {
        let core = &*self.core;
        let deleted_before = subtract_age(now, UNDO_WINDOW);
        erase_each_found(core, &mut |session| erased(session, ErasureReason::Deleted), |file| {
            select_oldest_expired_deleted(file, deleted_before)
        })?;
        if let Some(changed_before) = retention.max_age.map(|age| subtract_age(now, age)) {
            for session in due.iter().copied() {
                let is_erased = core.write_transaction(|file| {
                    let is_too_old = is_erasable_before(file, session, changed_before)?;
                    if is_too_old {
                        sessions::erase_session_but_keep_usage(file, session)?;
                    }
                    Ok(is_too_old)
                })?;
                if is_erased {
                    erased(session, ErasureReason::Age);
                }
            }
        }
        if let Some(max) = retention.max_bytes {
            erase_each_found(core, &mut |session| erased(session, ErasureReason::Size), |file| {
                if used_bytes(file)? > max { select_oldest_erasable(file) } else { Ok(None) }
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

/// Condition on sessions that retention may erase.
const ERASABLE: &str = "pinned = 0
         AND NOT EXISTS (SELECT 1 FROM runs WHERE session = key AND ended IS NULL)";

/// Sessions past their age in one look.
const EXPIRED_SESSIONS_MAX: u32 = 10_000;

fn select_oldest_erasable(connection: &Connection) -> Result<Option<SessionId>, Fault> {
    let sql = format!("SELECT id FROM sessions WHERE {ERASABLE} ORDER BY changed_ms LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let id = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(id.map(SessionId::from_bytes))
}

fn select_erasable_before(
    connection: &Connection,
    changed_before: Millis,
) -> Result<Vec<SessionId>, Fault> {
    let sql = format!(
        "SELECT id FROM sessions WHERE {ERASABLE} AND changed_ms < ?1
         ORDER BY changed_ms LIMIT {EXPIRED_SESSIONS_MAX}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found =
        statement.query_map([changed_before], |row| Ok(SessionId::from_bytes(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn is_erasable_before(
    connection: &Connection,
    session: SessionId,
    changed_before: Millis,
) -> Result<bool, Fault> {
    let sql = format!("SELECT 1 FROM sessions WHERE {ERASABLE} AND id = ?1 AND changed_ms < ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.exists((session.to_bytes(), changed_before))?)
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
