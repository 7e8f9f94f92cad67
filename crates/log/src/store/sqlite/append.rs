//! Appends batches of records at the heads of their logs, all or none.
//!
//! Invariant: `seq` is dense, a run begins once and ends once, and no record follows its end.

use rusqlite::{Connection, OptionalExtension, params};

use super::chunk_rows::CompressionEffort;
use super::fault::{Fault, failed_fault};
use super::{chunk_rows, runs, search};
use crate::store::{Batch, Chunk, RunBoundary, StoreError};

/// Batches of this size are compressed at once: that is cheaper than to write them. Shorter ones are
/// compressed when their run has ended, together.
const COMPRESSED_BATCH_BYTES_MIN: usize = 4 << 10;

/// Appends all batches. Returns true if a run ended in one of them.
pub(super) fn append_batches_and_return_run_ended(
    connection: &Connection,
    batches: &[Batch],
) -> Result<bool, Fault> {
    let mut ended = false;
    for batch in batches {
        append_batch(connection, batch)?;
        ended |= batch
            .run_boundaries
            .iter()
            .any(|boundary| matches!(boundary, RunBoundary::Ended { .. }));
    }
    Ok(ended)
}

/// Appends one batch.
fn append_batch(connection: &Connection, batch: &Batch) -> Result<(), Fault> {
    let session = batch.session;
    let position = chunk_rows::require_session_position(connection, session)?;
    let first = batch.chunk.first;
    if position.head != first {
        return Err(StoreError::NotAtHead { session, head: position.head, first }.into());
    }
    let chunk = validate_and_end_with_newline(&batch.chunk)?;
    reject_records_of_ended_run(connection, batch)?;
    if chunk.len > 0 {
        let effort = if COMPRESSED_BATCH_BYTES_MIN <= chunk.lines.len() {
            CompressionEffort::Fast
        } else {
            CompressionEffort::None
        };
        chunk_rows::insert_chunk(connection, position.key, session, &chunk, effort)?;
    }
    for boundary in &batch.run_boundaries {
        insert_or_end_run_row(connection, position.key, batch, boundary)?;
    }
    for text in &batch.searchable_texts {
        search::insert_search_text(connection, position.key, Some(first), text)?;
    }
    let changed_ms = if batch.run_boundaries.is_empty() { 0 } else { batch.at_ms };
    connection
        .prepare_cached(
            "UPDATE sessions SET head = ?2, changed_ms = max(changed_ms, ?3) WHERE key = ?1",
        )?
        .execute((position.key, chunk.next_seq(), changed_ms))?;
    Ok(())
}

/// Checks the number of lines, and adds a missing newline at the end.
fn validate_and_end_with_newline(chunk: &Chunk) -> Result<Chunk, Fault> {
    let mut chunk = chunk.clone();
    if !chunk.lines.is_empty() && !chunk.lines.ends_with('\n') {
        chunk.lines = format!("{}\n", chunk.lines).into();
    }
    let lines = chunk_rows::count_lines(&chunk.lines);
    if lines != chunk.len {
        return Err(failed_fault(format!("batch has {} records but {lines} lines", chunk.len)));
    }
    if chunk.first.checked_add(chunk.len).is_none_or(|end| i64::try_from(end).is_err()) {
        return Err(failed_fault(format!("sequence number {} is too large", chunk.first)));
    }
    Ok(chunk)
}

/// Fails if the batch has records after the end of its run, which may be in the batch.
fn reject_records_of_ended_run(connection: &Connection, batch: &Batch) -> Result<(), Fault> {
    let ended_in_batch = batch.run_boundaries.iter().find_map(|boundary| match boundary {
        RunBoundary::Ended { seq, .. } => Some(*seq),
        RunBoundary::Began { .. } => None,
    });
    let ended = runs::select_run_end_seq(connection, batch.run)?.or(ended_in_batch);
    if batch.chunk.len > 0 && ended.is_some_and(|end| end + 1 < batch.chunk.next_seq()) {
        return Err(StoreError::RunEnded(batch.run).into());
    }
    Ok(())
}

/// Inserts or ends the row of a run.
fn insert_or_end_run_row(
    connection: &Connection,
    key: i64,
    Batch { run, chunk, .. }: &Batch,
    boundary: &RunBoundary,
) -> Result<(), Fault> {
    let (RunBoundary::Began { seq } | RunBoundary::Ended { seq, .. }) = boundary;
    if !(chunk.first..chunk.next_seq()).contains(seq) {
        return Err(failed_fault(format!("run {run} has a boundary at {seq}, not in its batch")));
    }
    let run_row: Option<(i64, Option<u64>)> = connection
        .prepare_cached("SELECT session, ended FROM runs WHERE id = ?1")?
        .query_row([run.to_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match (boundary, run_row) {
        (_, Some((_, Some(_)))) => Err(StoreError::RunEnded(*run).into()),
        (RunBoundary::Began { .. }, None) => {
            connection
                .prepare_cached("INSERT INTO runs (id, session, first) VALUES (?1, ?2, ?3)")?
                .execute((run.to_bytes(), key, seq))?;
            Ok(())
        }
        (RunBoundary::Ended { seq, outcome, usage: used, .. }, Some((session, None)))
            if session == key =>
        {
            let sql = "UPDATE runs SET ended = ?2, outcome = ?3, tokens_in = ?4, tokens_out = ?5,
                 cost_micro_usd = ?6 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute(params![
                run.to_bytes(),
                seq,
                runs::outcome_name(*outcome),
                used.tokens_in,
                used.tokens_out,
                used.cost_micro_usd,
            ])?;
            Ok(())
        }
        (RunBoundary::Began { .. }, Some(_)) => {
            Err(failed_fault(format!("run {run} has already begun")))
        }
        (RunBoundary::Ended { .. }, _) => {
            Err(failed_fault(format!("run {run} did not begin here")))
        }
    }
}
