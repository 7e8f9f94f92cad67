//! Records as a reader gets them: decoded already if this process appended them.

use std::ops::Deref;
use std::sync::Arc;

use millpond_engine::event::Record;

use crate::store::Chunk;

/// Consecutive records of one session, read from the store or from a tail.
#[derive(Clone, Debug)]
pub struct ReadChunk {
    chunk: Chunk,
    /// The same records as in `chunk`, decoded.
    decoded: Option<Arc<[Record<'static>]>>,
}

impl ReadChunk {
    /// A chunk whose records are parsed whenever they are needed.
    pub(super) fn from_store(chunk: Chunk) -> ReadChunk {
        ReadChunk { chunk, decoded: None }
    }

    /// A chunk with its decoded records.
    pub(super) fn with_decoded(chunk: Chunk, records: Vec<Record<'static>>) -> ReadChunk {
        debug_assert_eq!(chunk.len, records.len() as u64);
        ReadChunk { chunk, decoded: Some(records.into()) }
    }

    /// The records from `from` on.
    pub fn records_from(
        &self,
        from: u64,
    ) -> impl Iterator<Item = serde_json::Result<ReadRecord<'_>>> {
        let skipped = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let decoded = self.decoded.as_deref().unwrap_or_default();
        let unparsed_lines = if self.decoded.is_some() { "" } else { &*self.chunk.lines };
        let decoded = decoded.iter().skip(skipped).map(|record| Ok(ReadRecord::Decoded(record)));
        let parsed = unparsed_lines.lines().skip(skipped);
        decoded.chain(parsed.map(|line| serde_json::from_str(line).map(ReadRecord::Parsed)))
    }

    /// Bytes in memory, about.
    pub(super) fn memory_bytes(&self) -> usize {
        let records = self.decoded.as_ref().map_or(0, |records| records.len());
        // The texts of a decoded record are about as long as its line.
        let texts = if records == 0 { 1 } else { 2 };
        self.chunk.lines.len() * texts + records * size_of::<Record<'_>>()
    }
}

impl Deref for ReadChunk {
    type Target = Chunk;

    fn deref(&self) -> &Chunk {
        &self.chunk
    }
}

/// One record of a `ReadChunk`.
#[derive(Debug)]
pub enum ReadRecord<'a> {
    Decoded(&'a Record<'static>),
    Parsed(Record<'a>),
}

impl<'a> Deref for ReadRecord<'a> {
    type Target = Record<'a>;

    fn deref(&self) -> &Record<'a> {
        match self {
            ReadRecord::Decoded(record) => record,
            ReadRecord::Parsed(record) => record,
        }
    }
}
