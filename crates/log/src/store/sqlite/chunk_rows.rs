//! Rows of records: insert, read, verify.
//!
//! Invariant: a row with any changed byte, in its position or its text, is not served.

use std::borrow::Cow;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::fault::{Fault, damaged_fault};
use crate::id::SessionId;
use crate::limits::CHUNK_BYTES_MAX;
use crate::store::{Chunk, StoreError};

const MISSING_RECORD: &str = "missing";
const BEYOND_HEAD: &str = "beyond the end of its log";

/// Columns of a `ChunkRow`.
pub(super) const CHUNK_COLUMNS: &str = "first, len, crc, bytes, epoch, codec";

/// A row as read, not verified yet.
pub(super) struct ChunkRow<'a> {
    pub(super) first: u64,
    pub(super) len: u64,
    /// 0 in rows from before there were epochs.
    pub(super) epoch: u64,
    crc: u32,
    codec: u8,
    bytes: &'a [u8],
}

/// Encoding of a row's lines, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Plain = 0,
    Zstd = 1,
}

/// Time that compression may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompressionEffort {
    None,
    /// While a run waits for its commit.
    Fast,
    /// In the background.
    Thorough,
}

impl CompressionEffort {
    fn zstd_level(self) -> Option<i32> {
        match self {
            CompressionEffort::None => None,
            CompressionEffort::Fast => Some(1),
            // Higher ones save little more.
            CompressionEffort::Thorough => Some(3),
        }
    }
}

/// Lines shorter than this stay as they are.
const COMPRESSED_BYTES_MIN: usize = 256;

/// Uncompressed bytes of one row, so that a damaged one does not take all memory.
const ROW_BYTES_MAX: usize = 1 << 30;

impl<'a> ChunkRow<'a> {
    pub(super) fn from_row(row: &'a Row<'_>) -> rusqlite::Result<ChunkRow<'a>> {
        let bytes = row.get_ref(3)?.as_blob()?;
        let (first, len, crc, epoch) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(4)?);
        Ok(ChunkRow { first, len, epoch, crc, codec: row.get(5)?, bytes })
    }

    /// Verifies the row and returns its text, or what is wrong with it.
    pub(super) fn verified_lines(&self, session: SessionId) -> Result<Cow<'a, str>, &'static str> {
        let ChunkRow { first, len, epoch, .. } = *self;
        let bytes = self.decompress()?;
        if chunk_checksum(session, first, len, epoch, &bytes) != self.crc {
            return Err("checksum mismatch");
        }
        let not_text = "not valid UTF-8";
        let text = match bytes {
            Cow::Borrowed(bytes) => {
                Cow::Borrowed(std::str::from_utf8(bytes).map_err(|_| not_text)?)
            }
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).map_err(|_| not_text)?),
        };
        if count_lines(&text) != self.len {
            return Err("wrong number of records");
        }
        Ok(text)
    }

    fn decompress(&self) -> Result<Cow<'a, [u8]>, &'static str> {
        const PLAIN: u8 = Codec::Plain as u8;
        const ZSTD: u8 = Codec::Zstd as u8;
        match self.codec {
            PLAIN => Ok(Cow::Borrowed(self.bytes)),
            ZSTD => {
                let size = zstd::zstd_safe::get_frame_content_size(self.bytes).ok().flatten();
                let size = size
                    .and_then(|size| usize::try_from(size).ok())
                    .filter(|size| *size <= ROW_BYTES_MAX)
                    .ok_or("not valid zstd")?;
                let bytes = zstd::bulk::decompress(self.bytes, size);
                bytes.map(Cow::Owned).map_err(|_| "not valid zstd")
            }
            _ => Err("stored in an unknown form"),
        }
    }

    /// True if compression could make the row smaller.
    pub(super) fn is_compressible(&self) -> bool {
        self.codec == Codec::Plain as u8 && COMPRESSED_BYTES_MIN <= self.bytes.len()
    }
}

fn chunk_checksum(session: SessionId, first: u64, len: u64, epoch: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&session.to_bytes());
    hasher.update(&first.to_be_bytes());
    hasher.update(&len.to_be_bytes());
    hasher.update(bytes);
    if epoch != 0 {
        hasher.update(&epoch.to_be_bytes());
    }
    hasher.finalize()
}

/// Number of newlines.
pub(super) fn count_lines(lines: &str) -> u64 {
    lines.bytes().map(|byte| u64::from(byte == b'\n')).sum()
}

/// The first `len` lines.
pub(super) fn truncate_to_lines(lines: &str, len: u64) -> &str {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let end = lines.split_inclusive('\n').take(len).map(str::len).sum();
    lines.get(..end).unwrap_or(lines)
}

/// Key of a session's row, and the sequence number of its next record.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionPosition {
    pub(super) key: i64,
    pub(super) head: u64,
}

pub(super) fn require_session_position(
    connection: &Connection,
    session: SessionId,
) -> Result<SessionPosition, Fault> {
    find_session_position(connection, session)?.ok_or(Fault::Store(StoreError::NoSession(session)))
}

pub(super) fn find_session_position(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<SessionPosition>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT key, head FROM sessions WHERE id = ?1")?;
    let position = statement.query_row([session.to_bytes()], |row| {
        Ok(SessionPosition { key: row.get(0)?, head: row.get(1)? })
    });
    Ok(position.optional()?)
}

/// Inserts a chunk, compressed if that makes it smaller.
pub(super) fn insert_chunk(
    connection: &Connection,
    key: i64,
    session: SessionId,
    chunk: &Chunk,
    effort: CompressionEffort,
) -> Result<(), Fault> {
    let plain = chunk.lines.as_bytes();
    if let Some(level) = effort.zstd_level().filter(|_| COMPRESSED_BYTES_MIN <= plain.len())
        && let Ok(compressed) = zstd::bulk::compress(plain, level)
        && compressed.len() < plain.len()
    {
        return insert_row(connection, key, session, chunk, (Codec::Zstd, &compressed));
    }
    insert_row(connection, key, session, chunk, (Codec::Plain, plain))
}

fn insert_row(
    connection: &Connection,
    key: i64,
    session: SessionId,
    chunk: &Chunk,
    (codec, bytes): (Codec, &[u8]),
) -> Result<(), Fault> {
    let Chunk { first, len, epoch, .. } = *chunk;
    let crc = chunk_checksum(session, first, len, epoch, chunk.lines.as_bytes());
    let sql = "INSERT INTO chunks (session, first, len, crc, bytes, epoch, codec)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = (key, first, len, crc, bytes, epoch, codec as u8);
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// The epoch of one record, as its row has it. `None` if it does not exist.
pub(super) fn select_record_epoch(
    connection: &Connection,
    session: SessionId,
    seq: u64,
) -> Result<Option<u64>, Fault> {
    // A client names the record, so it may be any number.
    let Some(position) =
        find_session_position(connection, session)?.filter(|position| seq < position.head)
    else {
        return Ok(None);
    };
    let sql = "SELECT first + len, epoch FROM chunks WHERE session = ?1 AND first <= ?2
         ORDER BY first DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let row: Option<(u64, u64)> = statement
        .query_row((position.key, seq), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(row.filter(|(end, _)| seq < *end).map(|(_, epoch)| epoch))
}

/// Reads the records from `from` on, about `bytes_max` of them. Epochs are as in the rows.
pub(super) fn read_chunks_up_to_damage(
    connection: &Connection,
    session: SessionId,
    from: u64,
    bytes_max: usize,
) -> Result<Vec<Chunk>, Fault> {
    let position = require_session_position(connection, session)?;
    if from >= position.head {
        return match find_record_beyond_head(connection, position)? {
            None => Ok(Vec::new()),
            Some(seq) => Err(damaged_fault(session, seq, BEYOND_HEAD)),
        };
    }
    let mut stretch = ChunkReader::new(session, bytes_max);
    match stretch.read_rows(connection, position, from) {
        Ok(()) => {}
        // Records before the damage are good; the next read reports it.
        Err(_) if stretch.bytes > 0 => {}
        Err(fault) if fault.is_corruption() => {
            return Err(damaged_fault(session, stretch.next_seq.max(from), fault.to_string()));
        }
        Err(fault) => return Err(fault),
    }
    Ok(stretch.finish())
}

/// Finds a record beyond the session's head, which then is wrong.
fn find_record_beyond_head(
    connection: &Connection,
    position: SessionPosition,
) -> Result<Option<u64>, Fault> {
    let sql = "SELECT first, first + len FROM chunks WHERE session = ?1
         ORDER BY first DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let last: Option<(u64, u64)> =
        statement.query_row([position.key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(last.filter(|(_, end)| *end > position.head).map(|(first, _)| first.max(position.head)))
}

/// Finds the chunk that contains a record.
pub(super) const FIRST_CHUNK_SQL: &str =
    "SELECT first FROM chunks WHERE session = ?1 AND first <= ?2
    ORDER BY first DESC LIMIT 1";

/// Selects chunks from there on.
pub(super) const CHUNKS_FROM_SQL: &str = "SELECT first, len, crc, bytes, epoch, codec FROM chunks
    WHERE session = ?1 AND first >= ?2 ORDER BY first";

/// Reads consecutive rows and merges them into chunks.
struct ChunkReader {
    session: SessionId,
    bytes_max: usize,
    chunks: Vec<Chunk>,
    /// First record of the chunk being built.
    chunk_first: u64,
    epoch: u64,
    lines: String,
    /// Sequence number that must come next.
    next_seq: u64,
    bytes: usize,
}

impl ChunkReader {
    fn new(session: SessionId, bytes_max: usize) -> ChunkReader {
        let (chunks, lines) = (Vec::new(), String::new());
        let (chunk_first, epoch, next_seq) = (0, 0, 0);
        ChunkReader { session, bytes_max, chunks, chunk_first, epoch, lines, next_seq, bytes: 0 }
    }

    fn read_rows(
        &mut self,
        connection: &Connection,
        position: SessionPosition,
        from: u64,
    ) -> Result<(), Fault> {
        let missing = |seq| damaged_fault(self.session, seq, MISSING_RECORD);
        let start: Option<u64> = connection
            .prepare_cached(FIRST_CHUNK_SQL)?
            .query_row((position.key, from), |row| row.get(0))
            .optional()?;
        self.next_seq = start.ok_or_else(|| missing(from))?;
        self.chunk_first = self.next_seq;
        let mut statement = connection.prepare_cached(CHUNKS_FROM_SQL)?;
        let mut rows = statement.query((position.key, self.next_seq))?;
        while let Some(row) = rows.next()? {
            let chunk_row = ChunkRow::from_row(row)?;
            if chunk_row.first != self.next_seq {
                return Err(damaged_fault(self.session, self.next_seq, MISSING_RECORD));
            }
            let text = chunk_row
                .verified_lines(self.session)
                .map_err(|detail| damaged_fault(self.session, self.next_seq.max(from), detail))?;
            if chunk_row.first + chunk_row.len <= from {
                return Err(damaged_fault(self.session, from, MISSING_RECORD));
            }
            if chunk_row.first + chunk_row.len > position.head {
                return Err(damaged_fault(self.session, position.head, BEYOND_HEAD));
            }
            self.push_lines(&chunk_row, &text);
            if self.bytes >= self.bytes_max {
                return Ok(());
            }
        }
        if self.next_seq == position.head {
            return Ok(());
        }
        Err(damaged_fault(self.session, self.next_seq, MISSING_RECORD))
    }

    fn push_lines(&mut self, row: &ChunkRow<'_>, text: &str) {
        let is_too_long = self.lines.len() + text.len() > CHUNK_BYTES_MAX;
        if !self.lines.is_empty() && (is_too_long || self.epoch != row.epoch) {
            self.finish_chunk();
        }
        self.epoch = row.epoch;
        self.lines.push_str(text);
        self.next_seq += row.len;
        self.bytes += text.len();
    }

    fn finish_chunk(&mut self) {
        let lines: Arc<str> = Arc::from(&*self.lines);
        self.lines.clear();
        self.chunks.push(Chunk {
            epoch: self.epoch,
            first: self.chunk_first,
            len: self.next_seq - self.chunk_first,
            lines,
        });
        self.chunk_first = self.next_seq;
    }

    fn finish(mut self) -> Vec<Chunk> {
        if !self.lines.is_empty() {
            self.finish_chunk();
        }
        self.chunks
    }
}
