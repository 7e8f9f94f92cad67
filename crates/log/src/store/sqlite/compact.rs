//! Merges the small rows of ended runs and compresses them, off the write path.
//!
//! Rows are read and merged beside the writer, which is locked only to replace them, a few
//! megabytes at a time. After a crash the rest is found by the `compacted` mark that its run lacks.
//!
//! Invariant: the records are the same before and after, byte for byte.

use rusqlite::{Connection, OptionalExtension};

use super::chunk_rows::{self, ChunkRow, CompressionEffort};
use super::fault::{Fault, failed_fault};
use super::{StoreCore, lock_ignoring_poison};
use crate::id::{RunId, SessionId};
use crate::limits::{CHUNK_BYTES_MAX, COMPACT_BATCH_BYTES_MAX};
use crate::store::{Chunk, StoreError};

/// Main loop of the compacting thread.
pub(super) fn run_compact_thread(core: &StoreCore) {
    while core.signals.wait_for_compact_task() {
        if let Err(error) = compact_ended_runs(core) {
            tracing::warn!(%error, "compaction failed");
        }
    }
}

/// Merges the rows of all ended runs.
pub(super) fn compact_ended_runs(core: &StoreCore) -> Result<(), StoreError> {
    let _alone = lock_ignoring_poison(&core.compact_lock);
    while let Some(run) = core.read_transaction(|file| select_uncompacted_run(file))? {
        let mut next_seq = Some(run.first);
        while let Some(start_seq) = next_seq {
            if core.signals.is_stopping() {
                return Ok(());
            }
            let plan = core.read_transaction(|file| plan_merged_rows(file, &run, start_seq))?;
            core.write_transaction(|file| replace_rows_and_mark_if_done(file, &run, &plan))?;
            next_seq = plan.next_seq;
        }
    }
    Ok(())
}

/// An ended run whose rows are not merged yet.
struct UncompactedRun {
    id: RunId,
    session_key: i64,
    session: SessionId,
    first: u64,
    end: u64,
}

fn select_uncompacted_run(connection: &Connection) -> Result<Option<UncompactedRun>, Fault> {
    let sql = "SELECT r.id, r.session, s.id, r.first, r.ended + 1
         FROM runs r JOIN sessions s ON s.key = r.session
         WHERE r.ended IS NOT NULL AND r.compacted = 0 LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([], |row| {
        Ok(UncompactedRun {
            id: RunId::from_bytes(row.get(0)?),
            session_key: row.get(1)?,
            session: SessionId::from_bytes(row.get(2)?),
            first: row.get(3)?,
            end: row.get(4)?,
        })
    });
    Ok(found.optional()?)
}

/// Merged rows, and where to continue.
#[derive(Default)]
struct MergePlan {
    merged_rows: Vec<MergedRow>,
    next_seq: Option<u64>,
}

struct MergedRow {
    chunk: Chunk,
    source_rows: usize,
}

/// Merges rows of a run from `from` on. Stops at a damaged row, or one that the next run shares.
fn plan_merged_rows(
    connection: &Connection,
    run: &UncompactedRun,
    from: u64,
) -> Result<MergePlan, Fault> {
    let sql = "SELECT first, len, crc, bytes, epoch, codec FROM chunks
         WHERE session = ?1 AND first >= ?2 AND first < ?3 ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query((run.session_key, from, run.end))?;
    let mut plan = MergePlan::default();
    let mut builder = RowBuilder::default();
    let mut bytes = 0;
    while let Some(row) = found.next()? {
        let Ok(row) = ChunkRow::from_row(row) else { break };
        let Ok(lines) = row.verified_lines(run.session) else { break };
        if row.first + row.len > run.end
            || builder.source_rows > 0 && row.first != builder.next_seq()
        {
            break;
        }
        if bytes >= COMPACT_BATCH_BYTES_MAX {
            plan.next_seq = Some(row.first);
            break;
        }
        if builder.epoch != row.epoch || builder.lines.len() + lines.len() > CHUNK_BYTES_MAX {
            plan.merged_rows.extend(builder.reset_and_take_if_shorter());
        }
        builder.push_row(&row, &lines);
        bytes += lines.len();
    }
    plan.merged_rows.extend(builder.reset_and_take_if_shorter());
    Ok(plan)
}

/// A merged row being built.
#[derive(Default)]
struct RowBuilder {
    first: u64,
    len: u64,
    epoch: u64,
    lines: String,
    source_rows: usize,
    is_compressible: bool,
}

impl RowBuilder {
    fn next_seq(&self) -> u64 {
        self.first + self.len
    }

    fn push_row(&mut self, row: &ChunkRow<'_>, lines: &str) {
        if self.source_rows == 0 {
            (self.first, self.epoch) = (row.first, row.epoch);
        }
        self.len += row.len;
        self.lines.push_str(lines);
        self.source_rows += 1;
        self.is_compressible |= row.is_compressible();
    }

    /// Empties the builder and returns the merged row. `None` if it would be the same as its only
    /// source row.
    fn reset_and_take_if_shorter(&mut self) -> Option<MergedRow> {
        let RowBuilder { first, len, epoch, lines, source_rows, is_compressible } =
            std::mem::take(self);
        let chunk = Chunk { epoch, first, len, lines: lines.into() };
        (source_rows > 1 || is_compressible).then_some(MergedRow { chunk, source_rows })
    }
}

/// Replaces the source rows by the merged ones.
fn replace_rows_and_mark_if_done(
    connection: &Connection,
    run: &UncompactedRun,
    plan: &MergePlan,
) -> Result<(), Fault> {
    match chunk_rows::find_session_position(connection, run.session)? {
        Some(position) if position.key == run.session_key => {}
        // The session was erased in the meantime.
        Some(_) | None => return Ok(()),
    }
    for MergedRow { chunk, source_rows: rows } in &plan.merged_rows {
        let deleted_rows = connection
            .prepare_cached("DELETE FROM chunks WHERE session = ?1 AND first >= ?2 AND first < ?3")?
            .execute((run.session_key, chunk.first, chunk.next_seq()))?;
        if deleted_rows != *rows {
            return Err(failed_fault("rows changed during compaction"));
        }
        let effort = CompressionEffort::Thorough;
        chunk_rows::insert_chunk(connection, run.session_key, run.session, chunk, effort)?;
    }
    if plan.next_seq.is_none() {
        connection.execute("UPDATE runs SET compacted = 1 WHERE id = ?1", [run.id.to_bytes()])?;
    }
    Ok(())
}
