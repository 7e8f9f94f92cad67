//! Repairs a damaged store.
//!
//! Invariant: a repair never invents a record that looks real, never discards bytes of a log, and
//! leaves `seq` dense. A lost run ending is restored from the run's row and marked as such; without
//! it the run would never end.

use std::borrow::Cow;

use millpond_engine::event::{Ending, Event, Record, Reply, UnrecognisedReason};
use rusqlite::{Connection, params};

use super::check::{
    self, CheckReport, Damage, LogScan, ORPHANED_CONDITION, RunMismatch, SESSION_TABLES,
    UNUSED_BLOB_CONDITION,
};
use super::chunk_rows::CompressionEffort;
use super::fault::{Fault, failed_fault};
use super::{SqliteStore, chunk_rows, runs};
use crate::clock::random_epoch;
use crate::limits::REPAIRED_GAP_RECORDS_MAX;
use crate::store::{Chunk, RunRow, StoreError};

/// Text of a record that replaces a lost one.
const LOST_RECORD_TEXT: &str = "this record was damaged on the disk";

/// Records per row that a repair writes.
const FILLED_ROW_RECORDS_MAX: u64 = 512;

impl SqliteStore {
    /// Replaces damaged records by `unrecognised` ones, keeps their bytes in the table `damaged`,
    /// and repairs heads, runs, orphans and the search index. Run a check afterwards to see what is
    /// left.
    pub fn repair(&self) -> Result<CheckReport, StoreError> {
        let core = &*self.core;
        let mut report = CheckReport::default();
        let file_damage = check::run_integrity_check(core)?;
        if !file_damage.is_empty() {
            report.repaired += u64::from(
                core.write_transaction(|file| Ok(file.execute_batch("REINDEX")?)).is_ok(),
            );
        }
        for detail in file_damage {
            report.add_damage_or_count_unlisted(Damage::File { detail });
        }
        for (key, session) in core.read_transaction(|file| check::select_session_keys(file))? {
            let scan = core.read_transaction(|file| LogScan::scan_session(file, key, session))?;
            report.sessions += 1;
            report.records += scan.good_records;
            let damages = scan.damages();
            if !damages.is_empty() {
                report.repaired += core.write_transaction(|file| repair_session(file, &scan))?;
            }
            report.add_damages(damages);
        }
        let orphans = core.read_transaction(|file| check::find_orphans(file))?;
        if !orphans.is_empty() {
            report.repaired += orphans.len() as u64;
            core.write_transaction(|file| delete_orphans(file))?;
        }
        report.add_damages(orphans);
        if let Some(damage) = check::check_search_index(core) {
            let rebuild = "INSERT INTO words (words) VALUES ('rebuild')";
            core.write_transaction(|file| Ok(file.execute(rebuild, [])?))?;
            report.repaired += 1;
            report.add_damage_or_count_unlisted(damage);
        }
        Ok(report)
    }
}

fn delete_orphans(connection: &Connection) -> Result<(), Fault> {
    for table in SESSION_TABLES {
        connection.execute(&format!("DELETE FROM {table} WHERE {ORPHANED_CONDITION}"), [])?;
    }
    connection.execute(&format!("DELETE FROM blobs WHERE {UNUSED_BLOB_CONDITION}"), [])?;
    Ok(())
}

/// Repairs one session. Returns the number of damages repaired.
fn repair_session(connection: &Connection, scan: &LogScan) -> Result<u64, Fault> {
    if chunk_rows::require_session_position(connection, scan.session)?.head != scan.head {
        return Err(failed_fault(format!("session {} changed during its repair", scan.session)));
    }
    move_damaged_rows(connection, scan)?;
    let runs = runs::select_session_runs(connection, scan.session)?;
    let mut head = scan.end;
    let mut repaired = 0;
    for (first, end, _) in &scan.gaps {
        // A head far beyond all records is itself the damage.
        if end - first <= REPAIRED_GAP_RECORDS_MAX {
            fill_gap(connection, scan, &runs, *first, *end)?;
            head = head.max(*end);
        }
        repaired += 1;
    }
    if head != scan.head {
        connection.execute("UPDATE sessions SET head = ?2 WHERE key = ?1", (scan.key, head))?;
        repaired += u64::from(scan.end > scan.head);
    }
    for RunMismatch { run, logged_end: told, .. } in &scan.run_mismatches {
        if let Some((seq, outcome)) = told {
            connection.execute(
                "UPDATE runs SET ended = ?2, outcome = ?3 WHERE id = ?1",
                params![run.to_bytes(), seq, runs::outcome_name(*outcome)],
            )?;
            repaired += 1;
        }
    }
    Ok(repaired)
}

/// Moves damaged rows to the table `damaged`.
fn move_damaged_rows(connection: &Connection, scan: &LogScan) -> Result<(), Fault> {
    for first in &scan.bad_rows {
        connection.execute(
            "INSERT INTO damaged (session, first, len, crc, bytes, epoch, codec)
             SELECT session, first, len, crc, bytes, epoch, codec FROM chunks WHERE session = ?1 AND first = ?2",
            (scan.key, first),
        )?;
        connection
            .execute("DELETE FROM chunks WHERE session = ?1 AND first = ?2", (scan.key, first))?;
    }
    Ok(())
}

/// Inserts one replacement record for each lost one, in the run that it belonged to.
fn fill_gap(
    connection: &Connection,
    scan: &LogScan,
    runs: &[RunRow],
    first: u64,
    end: u64,
) -> Result<(), Fault> {
    let epoch = random_epoch().map_err(StoreError::from)?;
    let mut row_start = first;
    while row_start < end {
        let row_end = end.min(row_start + FILLED_ROW_RECORDS_MAX);
        let mut lines = String::new();
        for seq in row_start..row_end {
            let run = runs.iter().rev().find(|run| run.first <= seq);
            let record = Record {
                seq,
                at_ms: None,
                run: run.map_or(Cow::Borrowed(""), |run| run.id.to_string().into()),
                event: run
                    .map_or_else(lost_record_event, |run| ending_or_lost_record_event(run, seq)),
            };
            let line =
                serde_json::to_string(&record).map_err(|error| failed_fault(error.to_string()))?;
            lines.push_str(&line);
            lines.push('\n');
        }
        let len = row_end - row_start;
        let chunk = Chunk { epoch, first: row_start, len, lines: lines.into() };
        let effort = CompressionEffort::Thorough;
        chunk_rows::insert_chunk(connection, scan.key, scan.session, &chunk, effort)?;
        row_start = row_end;
    }
    Ok(())
}

fn lost_record_event() -> Event<'static> {
    Event::Unrecognised { reason: UnrecognisedReason::Unreadable, raw: LOST_RECORD_TEXT.into() }
}

/// Replacement for record `seq` of a run: its ending if that was lost, else `unrecognised`.
fn ending_or_lost_record_event(run: &RunRow, seq: u64) -> Event<'static> {
    match run.ended {
        Some((ended, outcome)) if ended == seq => Event::RunEnded {
            ending: Ending {
                outcome,
                stop: None,
                reason: None,
                detail: Some(LOST_RECORD_TEXT.into()),
                reply: Reply::None,
                message: None,
                incomplete: true,
            },
        },
        _ => lost_record_event(),
    }
}
