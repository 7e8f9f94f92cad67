//! Appending: batches of records at the heads of their logs, all or none.
//!
//! Invariant: `seq` is dense, a run begins once and ends once, and nothing follows its end.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;

use super::fault::{Fault, failed};
use super::{rows, runs, search};
use crate::id::RunId;
use crate::store::{Batch, Chunk, StoreError, Turn};

/// Says whether a run ended in it.
pub(super) fn append(connection: &Connection, batches: &[Batch]) -> Result<bool, Fault> {
    let mut ended = false;
    for batch in batches {
        one(connection, batch)?;
        ended |= batch.turns.iter().any(|turn| matches!(turn, Turn::Ended { .. }));
    }
    Ok(ended)
}

fn one(connection: &Connection, batch: &Batch) -> Result<(), Fault> {
    let session = batch.session;
    let place = rows::place(connection, session)?;
    let first = batch.chunk.first;
    if place.head != first {
        return Err(StoreError::NotAtHead { session, head: place.head, first }.into());
    }
    let chunk = whole(&batch.chunk)?;
    refuse_ended(connection, &chunk, &batch.turns)?;
    if chunk.len > 0 {
        rows::insert(connection, place.key, session, &chunk)?;
    }
    for turn in &batch.turns {
        take(connection, place.key, &chunk, turn)?;
    }
    for text in &batch.texts {
        search::add(connection, place.key, Some(first), text)?;
    }
    let changed_ms = if batch.turns.is_empty() { 0 } else { batch.at_ms };
    connection
        .prepare_cached(
            "UPDATE sessions SET head = ?2, changed_ms = max(changed_ms, ?3) WHERE key = ?1",
        )?
        .execute((place.key, chunk.end(), changed_ms))?;
    Ok(())
}

/// Every line with its newline, and as many as the chunk says.
fn whole(chunk: &Chunk) -> Result<Chunk, Fault> {
    let mut chunk = chunk.clone();
    if !chunk.lines.is_empty() && !chunk.lines.ends_with('\n') {
        chunk.lines = format!("{}\n", chunk.lines).into();
    }
    let lines = rows::count(&chunk.lines);
    if lines != chunk.len {
        return Err(failed(format!("a batch of {} records came in {lines} lines", chunk.len)));
    }
    if chunk.first.checked_add(chunk.len).is_none_or(|end| i64::try_from(end).is_err()) {
        return Err(failed(format!("no log is {} records long", chunk.first)));
    }
    Ok(chunk)
}

#[derive(Deserialize)]
struct Of<'a> {
    #[serde(borrow)]
    run: Cow<'a, str>,
}

/// Refuses records of runs that have ended, before or within the batch.
fn refuse_ended(connection: &Connection, chunk: &Chunk, turns: &[Turn]) -> Result<(), Fault> {
    let mut ended: HashMap<RunId, Option<u64>> = HashMap::new();
    for (seq, line) in (chunk.first..).zip(chunk.lines.lines()) {
        // A line that names no run of ours belongs to none.
        let Ok(Of { run }) = serde_json::from_str(line) else { continue };
        let Ok(run) = run.parse() else { continue };
        let end = match ended.entry(run) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                *new.insert(runs::end(connection, run)?.or_else(|| end_within(turns, run)))
            }
        };
        if end.is_some_and(|end| seq > end) {
            return Err(StoreError::RunEnded(run).into());
        }
    }
    Ok(())
}

fn end_within(turns: &[Turn], run: RunId) -> Option<u64> {
    turns.iter().find_map(|turn| match turn {
        Turn::Ended { run: ended, seq, .. } if *ended == run => Some(*seq),
        Turn::Ended { .. } | Turn::Began { .. } => None,
    })
}

fn take(connection: &Connection, key: i64, chunk: &Chunk, turn: &Turn) -> Result<(), Fault> {
    let (Turn::Began { run, seq } | Turn::Ended { run, seq, .. }) = turn;
    if !(chunk.first..chunk.end()).contains(seq) {
        return Err(failed(format!("run {run} turns at record {seq}, which is not in its batch")));
    }
    let known: Option<(i64, Option<u64>)> = connection
        .prepare_cached("SELECT session, ended FROM runs WHERE id = ?1")?
        .query_row([run.to_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match (turn, known) {
        (_, Some((_, Some(_)))) => Err(StoreError::RunEnded(*run).into()),
        (Turn::Began { .. }, None) => {
            connection
                .prepare_cached("INSERT INTO runs (id, session, first) VALUES (?1, ?2, ?3)")?
                .execute((run.to_bytes(), key, seq))?;
            Ok(())
        }
        (Turn::Ended { seq, outcome, used, .. }, Some((session, None))) if session == key => {
            let sql = "UPDATE runs SET ended = ?2, outcome = ?3, tokens_in = ?4, tokens_out = ?5,
                 cost_micro_usd = ?6 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute(params![
                run.to_bytes(),
                seq,
                runs::word(*outcome),
                used.tokens_in,
                used.tokens_out,
                used.cost_micro_usd,
            ])?;
            Ok(())
        }
        (Turn::Began { .. }, Some(_)) => Err(failed(format!("run {run} has begun before"))),
        (Turn::Ended { .. }, _) => Err(failed(format!("run {run} never began in this session"))),
    }
}
