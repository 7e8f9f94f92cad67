//! Putting the small rows of ended runs together, off the write path.
//!
//! Rows are read and joined beside the writer; it is held up only for swapping them, a few
//! megabytes at a time. What is left over after a crash is found by the mark that its run lacks.
//!
//! Invariant: the records before and after are the same, byte for byte.

use rusqlite::{Connection, OptionalExtension};

use super::fault::{Fault, failed};
use super::rows::{self, Found};
use super::{Core, held};
use crate::id::{RunId, SessionId};
use crate::limits::{CHUNK_BYTES_MAX, COMPACT_BYTES_MAX};
use crate::store::{Chunk, StoreError};

/// The compacting thread.
pub(super) fn work(core: &Core) {
    while core.signal.compact_task() {
        if let Err(error) = all(core) {
            tracing::warn!(%error, "small rows were not put together");
        }
    }
}

pub(super) fn all(core: &Core) -> Result<(), StoreError> {
    let _alone = held(&core.compacting);
    while let Some(run) = core.read(|file| next(file))? {
        let mut from = Some(run.first);
        while let Some(at) = from {
            if core.signal.stopping() {
                return Ok(());
            }
            let part = core.read(|file| join(file, &run, at))?;
            core.write(|file| swap(file, &run, &part))?;
            from = part.next;
        }
    }
    Ok(())
}

/// An ended run whose rows nobody has put together.
struct Loose {
    run: RunId,
    key: i64,
    session: SessionId,
    first: u64,
    end: u64,
}

fn next(connection: &Connection) -> Result<Option<Loose>, Fault> {
    let sql = "SELECT r.id, r.session, s.id, r.first, r.ended + 1
         FROM runs r JOIN sessions s ON s.key = r.session
         WHERE r.ended IS NOT NULL AND r.compacted = 0 LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([], |row| {
        Ok(Loose {
            run: RunId::from_bytes(row.get(0)?),
            key: row.get(1)?,
            session: SessionId::from_bytes(row.get(2)?),
            first: row.get(3)?,
            end: row.get(4)?,
        })
    });
    Ok(found.optional()?)
}

/// Rows joined, and where to go on.
#[derive(Default)]
struct Part {
    joined: Vec<Joined>,
    next: Option<u64>,
}

struct Joined {
    chunk: Chunk,
    rows: usize,
}

/// Joins rows of a run from `from` on. A damaged one, or one that belongs to the next run as well,
/// ends it: both stay as they are.
fn join(connection: &Connection, run: &Loose, from: u64) -> Result<Part, Fault> {
    let sql = "SELECT first, len, crc, bytes FROM chunks
         WHERE session = ?1 AND first >= ?2 AND first < ?3 ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query((run.key, from, run.end))?;
    let mut part = Part::default();
    let mut open = Open::default();
    let mut bytes = 0;
    while let Some(row) = found.next()? {
        let Ok(row) = Found::new(row) else { break };
        let Ok(lines) = row.lines(run.session) else { break };
        if row.first + row.len > run.end || open.rows > 0 && row.first != open.end() {
            break;
        }
        if bytes >= COMPACT_BYTES_MAX {
            part.next = Some(row.first);
            break;
        }
        if open.lines.len() + lines.len() > CHUNK_BYTES_MAX {
            part.joined.extend(open.close());
        }
        open.add(&row, lines);
        bytes += lines.len();
    }
    part.joined.extend(open.close());
    Ok(part)
}

/// A row in the making.
#[derive(Default)]
struct Open {
    first: u64,
    len: u64,
    lines: String,
    rows: usize,
}

impl Open {
    fn end(&self) -> u64 {
        self.first + self.len
    }

    fn add(&mut self, row: &Found<'_>, lines: &str) {
        if self.rows == 0 {
            self.first = row.first;
        }
        self.len += row.len;
        self.lines.push_str(lines);
        self.rows += 1;
    }

    /// Nothing where there is nothing to join.
    fn close(&mut self) -> Option<Joined> {
        let Open { first, len, lines, rows } = std::mem::take(self);
        let chunk = Chunk { first, len, lines: lines.into() };
        (rows > 1).then_some(Joined { chunk, rows })
    }
}

fn swap(connection: &Connection, run: &Loose, part: &Part) -> Result<(), Fault> {
    match rows::find_place(connection, run.session)? {
        Some(place) if place.key == run.key => {}
        // Erased in the meantime.
        Some(_) | None => return Ok(()),
    }
    for Joined { chunk, rows } in &part.joined {
        let gone = connection
            .prepare_cached("DELETE FROM chunks WHERE session = ?1 AND first >= ?2 AND first < ?3")?
            .execute((run.key, chunk.first, chunk.end()))?;
        if gone != *rows {
            return Err(failed("rows changed while they were put together"));
        }
        rows::insert(connection, run.key, run.session, chunk)?;
    }
    if part.next.is_none() {
        connection.execute("UPDATE runs SET compacted = 1 WHERE id = ?1", [run.run.to_bytes()])?;
    }
    Ok(())
}
