//! Rows of records: writing one, reading a stretch, and knowing a damaged one.
//!
//! Invariant: whatever byte of a row changed, in its place or in its text, the row is not served.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::fault::{Fault, damaged};
use crate::id::SessionId;
use crate::limits::CHUNK_BYTES_MAX;
use crate::store::{Chunk, StoreError};

const MISSING: &str = "it is missing";
const BEYOND: &str = "it stands beyond the end of its log";

/// The columns that `Found` is made of.
pub(super) const COLUMNS: &str = "first, len, crc, bytes";

/// A row as it was found.
pub(super) struct Found<'a> {
    pub(super) first: u64,
    pub(super) len: u64,
    crc: u32,
    bytes: &'a [u8],
}

impl<'a> Found<'a> {
    pub(super) fn new(row: &'a Row<'_>) -> rusqlite::Result<Found<'a>> {
        let bytes = row.get_ref(3)?.as_blob()?;
        Ok(Found { first: row.get(0)?, len: row.get(1)?, crc: row.get(2)?, bytes })
    }

    /// The text, or what is wrong with the row.
    pub(super) fn lines(&self, session: SessionId) -> Result<&'a str, &'static str> {
        if crc(session, self.first, self.len, self.bytes) != self.crc {
            return Err("its checksum does not match");
        }
        let text = std::str::from_utf8(self.bytes).map_err(|_| "it is not text")?;
        if count(text) != self.len {
            return Err("it does not hold as many records as it says");
        }
        Ok(text)
    }
}

fn crc(session: SessionId, first: u64, len: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&session.to_bytes());
    hasher.update(&first.to_be_bytes());
    hasher.update(&len.to_be_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

/// How many lines; each has its newline.
pub(super) fn count(lines: &str) -> u64 {
    lines.bytes().map(|byte| u64::from(byte == b'\n')).sum()
}

/// The first `len` lines.
pub(super) fn cut(lines: &str, len: u64) -> &str {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let end = lines.split_inclusive('\n').take(len).map(str::len).sum();
    lines.get(..end).unwrap_or(lines)
}

/// Where a session is kept, and the number of its next record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) key: i64,
    pub(super) head: u64,
}

pub(super) fn place(connection: &Connection, session: SessionId) -> Result<Place, Fault> {
    find_place(connection, session)?.ok_or(Fault::Refused(StoreError::NoSession(session)))
}

pub(super) fn find_place(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<Place>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT key, head FROM sessions WHERE id = ?1")?;
    let place = statement
        .query_row([session.to_bytes()], |row| Ok(Place { key: row.get(0)?, head: row.get(1)? }));
    Ok(place.optional()?)
}

pub(super) fn insert(
    connection: &Connection,
    key: i64,
    session: SessionId,
    chunk: &Chunk,
) -> Result<(), Fault> {
    let bytes = chunk.lines.as_bytes();
    let crc = crc(session, chunk.first, chunk.len, bytes);
    connection
        .prepare_cached(
            "INSERT INTO chunks (session, first, len, crc, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((key, chunk.first, chunk.len, crc, bytes))?;
    Ok(())
}

/// Records from `from` on, about `bytes_max` of them.
pub(super) fn read(
    connection: &Connection,
    session: SessionId,
    from: u64,
    bytes_max: usize,
) -> Result<Vec<Chunk>, Fault> {
    let place = place(connection, session)?;
    if from >= place.head {
        return match beyond(connection, place)? {
            None => Ok(Vec::new()),
            Some(seq) => Err(damaged(session, seq, BEYOND)),
        };
    }
    let mut stretch = Stretch::new(session, bytes_max);
    match stretch.fill(connection, place, from) {
        Ok(()) => {}
        // What stands before the damage is good; who asks for more hears of it.
        Err(_) if stretch.bytes > 0 => {}
        Err(fault) if fault.is_damage() => {
            return Err(damaged(session, stretch.next.max(from), fault.to_string()));
        }
        Err(fault) => return Err(fault),
    }
    Ok(stretch.finish())
}

/// A record that the session does not know of: then what it says about its end is wrong.
fn beyond(connection: &Connection, place: Place) -> Result<Option<u64>, Fault> {
    let sql = "SELECT first, first + len FROM chunks WHERE session = ?1
         ORDER BY first DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let last: Option<(u64, u64)> =
        statement.query_row([place.key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(last.filter(|(_, end)| *end > place.head).map(|(first, _)| first.max(place.head)))
}

/// Where reading begins.
pub(super) const START: &str = "SELECT first FROM chunks WHERE session = ?1 AND first <= ?2
    ORDER BY first DESC LIMIT 1";

/// What is read from there.
pub(super) const STRETCH: &str = "SELECT first, len, crc, bytes FROM chunks
    WHERE session = ?1 AND first >= ?2 ORDER BY first";

/// Small rows in a row, put together as they are read.
struct Stretch {
    session: SessionId,
    bytes_max: usize,
    chunks: Vec<Chunk>,
    /// Of the chunk in the making.
    first: u64,
    lines: String,
    /// Number of the record that must come next.
    next: u64,
    bytes: usize,
}

impl Stretch {
    fn new(session: SessionId, bytes_max: usize) -> Stretch {
        let (chunks, lines) = (Vec::new(), String::new());
        Stretch { session, bytes_max, chunks, first: 0, lines, next: 0, bytes: 0 }
    }

    fn fill(&mut self, connection: &Connection, place: Place, from: u64) -> Result<(), Fault> {
        let missing = |seq| damaged(self.session, seq, MISSING);
        let start: Option<u64> = connection
            .prepare_cached(START)?
            .query_row((place.key, from), |row| row.get(0))
            .optional()?;
        self.next = start.ok_or_else(|| missing(from))?;
        self.first = self.next;
        let mut statement = connection.prepare_cached(STRETCH)?;
        let mut rows = statement.query((place.key, self.next))?;
        while let Some(row) = rows.next()? {
            let found = Found::new(row)?;
            if found.first != self.next {
                return Err(damaged(self.session, self.next, MISSING));
            }
            let text = found
                .lines(self.session)
                .map_err(|detail| damaged(self.session, self.next.max(from), detail))?;
            if found.first + found.len <= from {
                return Err(damaged(self.session, from, MISSING));
            }
            if found.first + found.len > place.head {
                return Err(damaged(self.session, place.head, BEYOND));
            }
            self.add(found.len, text);
            if self.bytes >= self.bytes_max {
                return Ok(());
            }
        }
        if self.next == place.head {
            return Ok(());
        }
        Err(damaged(self.session, self.next, MISSING))
    }

    fn add(&mut self, len: u64, text: &str) {
        if !self.lines.is_empty() && self.lines.len() + text.len() > CHUNK_BYTES_MAX {
            self.flush();
        }
        self.lines.push_str(text);
        self.next += len;
        self.bytes += text.len();
    }

    fn flush(&mut self) {
        let lines: Arc<str> = Arc::from(&*self.lines);
        self.lines.clear();
        self.chunks.push(Chunk { first: self.first, len: self.next - self.first, lines });
        self.first = self.next;
    }

    fn finish(mut self) -> Vec<Chunk> {
        if !self.lines.is_empty() {
            self.flush();
        }
        self.chunks
    }
}
