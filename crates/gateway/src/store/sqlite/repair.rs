//! Making a damaged store usable again, without pretending that nothing was lost.
//!
//! Invariant: a repair never makes a record up that could be taken for a real one, never throws
//! bytes of a log away, and leaves `seq` dense. The ending of a run is put back where the table of
//! runs still knows it, and says that it was: without it the run would seem to go on for ever.

use std::borrow::Cow;

use engine::event::{Ending, Event, Record, Reply, UnrecognisedReason};
use rusqlite::{Connection, params};

use super::check::{self, Damage, ORPHANED, OWNED, OddRun, Report, Scan, UNUSED};
use super::fault::{Fault, failed};
use super::{SqliteStore, rows, runs};
use crate::limits::REPAIR_RECORDS_MAX;
use crate::store::{Chunk, RunRow, StoreError};

/// Stands where a record was.
const LOST: &str = "this record was damaged on the disk";

/// Records of one row that a repair writes.
const ROW_RECORDS_MAX: u64 = 512;

impl SqliteStore {
    /// Replaces damaged records by `unrecognised` ones and keeps their bytes aside; sets right what
    /// can be told from the logs. A check afterwards says what is left.
    pub fn repair(&self) -> Result<Report, StoreError> {
        let core = &*self.core;
        let mut report = Report::default();
        let file_damage = check::integrity(core)?;
        if !file_damage.is_empty() {
            report.repaired +=
                u64::from(core.write(|file| Ok(file.execute_batch("REINDEX")?)).is_ok());
        }
        for detail in file_damage {
            report.add(Damage::File { detail });
        }
        for (key, session) in core.read(|file| check::all(file))? {
            let scan = core.read(|file| Scan::new(file, key, session))?;
            report.sessions += 1;
            report.records += scan.records;
            let damages = scan.damages();
            if !damages.is_empty() {
                report.repaired += core.write(|file| mend(file, &scan))?;
            }
            report.add_all(damages);
        }
        let orphans = core.read(|file| check::orphans(file))?;
        if !orphans.is_empty() {
            report.repaired += orphans.len() as u64;
            core.write(|file| drop_orphans(file))?;
        }
        report.add_all(orphans);
        if let Some(damage) = check::words(core) {
            let rebuild = "INSERT INTO words (words) VALUES ('rebuild')";
            core.write(|file| Ok(file.execute(rebuild, [])?))?;
            report.repaired += 1;
            report.add(damage);
        }
        Ok(report)
    }
}

fn drop_orphans(connection: &Connection) -> Result<(), Fault> {
    for table in OWNED {
        connection.execute(&format!("DELETE FROM {table} WHERE {ORPHANED}"), [])?;
    }
    connection.execute(&format!("DELETE FROM blobs WHERE {UNUSED}"), [])?;
    Ok(())
}

/// Says how many damages are no more.
fn mend(connection: &Connection, scan: &Scan) -> Result<u64, Fault> {
    if rows::place(connection, scan.session)?.head != scan.head {
        return Err(failed(format!("session {} grew during its repair", scan.session)));
    }
    set_aside(connection, scan)?;
    let known = runs::of(connection, scan.session)?;
    let mut head = scan.end;
    let mut mended = 0;
    for (first, end, _) in &scan.holes {
        // A head that points far behind all records is what was damaged.
        if end - first <= REPAIR_RECORDS_MAX {
            fill(connection, scan, &known, *first, *end)?;
            head = head.max(*end);
        }
        mended += 1;
    }
    if head != scan.head {
        connection.execute("UPDATE sessions SET head = ?2 WHERE key = ?1", (scan.key, head))?;
        mended += u64::from(scan.end > scan.head);
    }
    for OddRun { run, told, .. } in &scan.runs {
        if let Some((seq, outcome)) = told {
            connection.execute(
                "UPDATE runs SET ended = ?2, outcome = ?3 WHERE id = ?1",
                params![run.to_bytes(), seq, runs::word(*outcome)],
            )?;
            mended += 1;
        }
    }
    Ok(mended)
}

fn set_aside(connection: &Connection, scan: &Scan) -> Result<(), Fault> {
    for first in &scan.bad {
        connection.execute(
            "INSERT INTO damaged (session, first, len, crc, bytes)
             SELECT session, first, len, crc, bytes FROM chunks WHERE session = ?1 AND first = ?2",
            (scan.key, first),
        )?;
        connection
            .execute("DELETE FROM chunks WHERE session = ?1 AND first = ?2", (scan.key, first))?;
    }
    Ok(())
}

/// One record for each that was lost, in the run that had it.
fn fill(
    connection: &Connection,
    scan: &Scan,
    known: &[RunRow],
    first: u64,
    end: u64,
) -> Result<(), Fault> {
    let mut at = first;
    while at < end {
        let row_end = end.min(at + ROW_RECORDS_MAX);
        let mut lines = String::new();
        for seq in at..row_end {
            let run = known.iter().rev().find(|run| run.first <= seq);
            let record = Record {
                seq,
                at_ms: None,
                run: run.map_or(Cow::Borrowed(""), |run| run.id.to_string().into()),
                event: run.map_or_else(lost, |run| stand_in(run, seq)),
            };
            let line = serde_json::to_string(&record).map_err(|error| failed(error.to_string()))?;
            lines.push_str(&line);
            lines.push('\n');
        }
        let chunk = Chunk { first: at, len: row_end - at, lines: lines.into() };
        rows::insert(connection, scan.key, scan.session, &chunk)?;
        at = row_end;
    }
    Ok(())
}

fn lost() -> Event<'static> {
    Event::Unrecognised { reason: UnrecognisedReason::Unreadable, raw: LOST.into() }
}

/// What stands where record `seq` of a run was.
fn stand_in(run: &RunRow, seq: u64) -> Event<'static> {
    match run.ended {
        Some((ended, outcome)) if ended == seq => Event::RunEnded {
            ending: Ending {
                outcome,
                stop: None,
                reason: None,
                detail: Some(LOST.into()),
                reply: Reply::None,
                message: None,
                incomplete: true,
            },
        },
        _ => lost(),
    }
}
