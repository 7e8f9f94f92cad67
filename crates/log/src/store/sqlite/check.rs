//! Checks the store for damage: the file, every row of every log, runs, the search index, and
//! orphaned rows.

use std::collections::HashMap;
use std::fmt;

use millpond_engine::event::Outcome;
use rusqlite::Connection;
use serde::Deserialize;

use super::chunk_rows::{self, ChunkRow};
use super::fault::Fault;
use super::{SqliteStore, StoreCore, file, runs};
use crate::id::{RunId, SessionId};
use crate::limits::REPORTED_DAMAGES_MAX;
use crate::store::StoreError;

/// Tables whose rows belong to a session.
pub(super) const SESSION_TABLES: [&str; 7] =
    ["chunks", "damaged", "runs", "texts", "queue", "blob_refs", "shares"];

/// One damage found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// `SQLite` reports that the file is damaged.
    File { detail: String },
    /// Records that cannot be read.
    Records { session: SessionId, first: u64, end: u64, detail: String },
    /// A log that is longer than its session's head.
    SessionHead { session: SessionId, head: u64, end: u64 },
    /// A run whose row does not match its log.
    Run { run: RunId, detail: String },
    /// Rows that belong to no session.
    Orphans { table: &'static str, rows: u64 },
    /// The search index does not match the texts.
    SearchIndex { detail: String },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::File { detail } => write!(f, "the database file is damaged: {detail}"),
            Damage::Records { session, first, end, detail } => {
                write!(f, "session {session}: records {first} to {end} are unreadable: {detail}")
            }
            Damage::SessionHead { session, head, end } => {
                write!(f, "session {session}: the log ends at {end}, its head says {head}")
            }
            Damage::Run { run, detail } => {
                write!(f, "run {run}: its row does not match the log: {detail}")
            }
            Damage::Orphans { table, rows } => {
                write!(f, "table {table}: {rows} row(s) belong to no session")
            }
            Damage::SearchIndex { detail } => {
                write!(f, "the search index does not match the texts: {detail}")
            }
        }
    }
}

/// Result of a check or a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub sessions: u64,
    /// Good records.
    pub records: u64,
    pub damages: Vec<Damage>,
    /// Damages beyond those listed.
    pub unlisted: u64,
    /// Number of damages repaired.
    pub repaired: u64,
}

impl CheckReport {
    /// True if there is no damage.
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    pub(super) fn add_damages(&mut self, damages: impl IntoIterator<Item = Damage>) {
        for damage in damages {
            self.add_damage_or_count_unlisted(damage);
        }
    }

    pub(super) fn add_damage_or_count_unlisted(&mut self, damage: Damage) {
        if self.damages.len() < REPORTED_DAMAGES_MAX {
            self.damages.push(damage);
        } else {
            self.unlisted += 1;
        }
    }
}

impl SqliteStore {
    /// Checks the whole store, without changing it.
    pub fn check(&self) -> Result<CheckReport, StoreError> {
        let core = &*self.core;
        let mut report = CheckReport::default();
        for detail in run_integrity_check(core)? {
            report.add_damage_or_count_unlisted(Damage::File { detail });
        }
        for (key, session) in core.read_transaction(|file| select_session_keys(file))? {
            let scan = core.read_transaction(|file| LogScan::scan_session(file, key, session))?;
            report.sessions += 1;
            report.records += scan.good_records;
            report.add_damages(scan.damages());
        }
        report.add_damages(core.read_transaction(|file| find_orphans(file))?);
        report.add_damages(check_search_index(core));
        Ok(report)
    }
}

/// Runs `PRAGMA integrity_check` on a new connection: one that has searched may have cached the
/// index.
pub(super) fn run_integrity_check(core: &StoreCore) -> Result<Vec<String>, Fault> {
    let _place = core.readers.reserve_extra_slot();
    let connection = file::open_reader(&core.path)?;
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

pub(super) fn select_session_keys(connection: &Connection) -> Result<Vec<(i64, SessionId)>, Fault> {
    let mut statement = connection.prepare("SELECT key, id FROM sessions ORDER BY key")?;
    let found =
        statement.query_map([], |row| Ok((row.get(0)?, SessionId::from_bytes(row.get(1)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn find_orphans(connection: &Connection) -> Result<Vec<Damage>, Fault> {
    let mut damages = Vec::new();
    let mut note = |table, sql: &str| -> Result<(), Fault> {
        let rows: u64 = connection.query_row(sql, [], |row| row.get(0))?;
        if rows > 0 {
            damages.push(Damage::Orphans { table, rows });
        }
        Ok(())
    };
    for table in SESSION_TABLES {
        note(table, &format!("SELECT count(*) FROM {table} WHERE {ORPHANED_CONDITION}"))?;
    }
    note("blobs", &format!("SELECT count(*) FROM blobs WHERE {UNUSED_BLOB_CONDITION}"))?;
    Ok(damages)
}

pub(super) const ORPHANED_CONDITION: &str = "session NOT IN (SELECT key FROM sessions)";
pub(super) const UNUSED_BLOB_CONDITION: &str = "digest NOT IN (SELECT digest FROM blob_refs)";

/// Compares the search index with the texts. Needs the writer: the check is an `INSERT`.
pub(super) fn check_search_index(core: &StoreCore) -> Option<Damage> {
    let compare = "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)";
    let compared = core.write_transaction(|file| Ok(file.execute(compare, [])?));
    compared.err().map(|error| Damage::SearchIndex { detail: error.to_string() })
}

/// Result of reading one log from start to end.
pub(super) struct LogScan {
    pub(super) key: i64,
    pub(super) session: SessionId,
    pub(super) head: u64,
    /// Sequence number after the last good record.
    pub(super) end: u64,
    pub(super) good_records: u64,
    /// First sequence numbers of damaged rows.
    pub(super) bad_rows: Vec<u64>,
    /// Ranges without a good record, and why.
    pub(super) gaps: Vec<(u64, u64, String)>,
    /// Records that cannot be parsed or have the wrong sequence number.
    bad_records: Vec<(u64, String)>,
    /// Runs that end in the log: where and how.
    run_ends: HashMap<RunId, (u64, Option<Outcome>)>,
    pub(super) run_mismatches: Vec<RunMismatch>,
}

/// A run whose row does not match its log.
pub(super) struct RunMismatch {
    pub(super) run: RunId,
    detail: String,
    /// The run's ending in the log.
    pub(super) logged_end: Option<(u64, Outcome)>,
}

#[derive(Deserialize)]
struct RecordHeader {
    seq: u64,
    run: String,
    r#type: String,
    #[serde(default)]
    outcome: Option<serde_json::Value>,
}

impl LogScan {
    pub(super) fn scan_session(
        connection: &Connection,
        key: i64,
        session: SessionId,
    ) -> Result<LogScan, Fault> {
        let head = chunk_rows::require_session_position(connection, session)?.head;
        let mut scan = LogScan {
            key,
            session,
            head,
            end: 0,
            good_records: 0,
            bad_rows: Vec::new(),
            gaps: Vec::new(),
            bad_records: Vec::new(),
            run_ends: HashMap::new(),
            run_mismatches: Vec::new(),
        };
        let unreadable_reason = scan.scan_rows(connection)?;
        if scan.end < head {
            scan.gaps.push((
                scan.end,
                head,
                unreadable_reason.unwrap_or_else(|| MISSING_RECORDS.to_owned()),
            ));
        }
        scan.record_run_mismatches(connection)?;
        Ok(scan)
    }

    /// Reads all rows. Returns the error of the rows after the last good one.
    fn scan_rows(&mut self, connection: &Connection) -> Result<Option<String>, Fault> {
        let sql = format!(
            "SELECT {} FROM chunks WHERE session = ?1 ORDER BY first",
            chunk_rows::CHUNK_COLUMNS
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut found = statement.query([self.key])?;
        let mut pending_reason = None;
        loop {
            let row = match found.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(pending_reason),
                // The rows after it cannot be reached.
                Err(error) => return Ok(Some(error.to_string())),
            };
            let first: u64 = row.get(0)?;
            let verified =
                ChunkRow::from_row(row).map_err(|error| error.to_string()).and_then(|found| {
                    let lines = found.verified_lines(self.session).map_err(str::to_owned)?;
                    if first < self.end {
                        return Err("overlaps the previous row".to_owned());
                    }
                    Ok((found.len, lines))
                });
            match verified {
                Ok((len, lines)) => {
                    if first > self.end {
                        let reason =
                            pending_reason.take().unwrap_or_else(|| MISSING_RECORDS.to_owned());
                        self.gaps.push((self.end, first, reason));
                    }
                    self.scan_records(first, &lines);
                    self.good_records += len;
                    self.end = first + len;
                }
                Err(detail) => {
                    self.bad_rows.push(first);
                    pending_reason = Some(detail);
                }
            }
        }
    }

    /// Parses the records of a good row.
    fn scan_records(&mut self, first: u64, lines: &str) {
        for (seq, line) in (first..).zip(lines.lines()) {
            let line: RecordHeader = match serde_json::from_str(line) {
                Ok(line) => line,
                Err(error) => {
                    self.bad_records.push((seq, error.to_string()));
                    continue;
                }
            };
            if line.seq != seq {
                self.bad_records.push((seq, format!("has sequence number {}", line.seq)));
            }
            if line.r#type == "run_ended"
                && let Ok(run) = line.run.parse()
            {
                let outcome = line.outcome.and_then(|value| serde_json::from_value(value).ok());
                self.run_ends.insert(run, (seq, outcome));
            }
        }
    }

    /// Compares the run rows with the endings found in the log.
    fn record_run_mismatches(&mut self, connection: &Connection) -> Result<(), Fault> {
        for run in runs::select_session_runs(connection, self.session)? {
            let recorded_end = self.run_ends.get(&run.id);
            let is_in_gap =
                |seq| self.gaps.iter().any(|(first, end, _)| (*first..*end).contains(&seq));
            let detail = match (run.ended, recorded_end) {
                (None, Some((seq, _))) => format!("open, but ended at {seq} in its log"),
                (Some((seq, _)), Some((recorded_seq, _))) if seq != *recorded_seq => {
                    format!("ended at {seq}, but at {recorded_seq} in its log")
                }
                (Some((seq, _)), None) if !is_in_gap(seq) => {
                    format!("ended at {seq}, but not in its log")
                }
                _ if run.first >= self.head => "begins after the end of its log".to_owned(),
                _ => continue,
            };
            let recorded_end = recorded_end.and_then(|(seq, outcome)| Some((*seq, (*outcome)?)));
            self.run_mismatches.push(RunMismatch { run: run.id, detail, logged_end: recorded_end });
        }
        Ok(())
    }

    pub(super) fn damages(&self) -> Vec<Damage> {
        let session = self.session;
        let gap_damages = self.gaps.iter().map(|(first, end, detail)| Damage::Records {
            session,
            first: *first,
            end: *end,
            detail: detail.clone(),
        });
        let record_damages = self.bad_records.iter().map(|(seq, detail)| Damage::Records {
            session,
            first: *seq,
            end: *seq + 1,
            detail: detail.clone(),
        });
        let runs = self
            .run_mismatches
            .iter()
            .map(|mismatch| Damage::Run { run: mismatch.run, detail: mismatch.detail.clone() });
        let head = (self.end > self.head).then_some(Damage::SessionHead {
            session,
            head: self.head,
            end: self.end,
        });
        gap_damages.chain(record_damages).chain(head).chain(runs).collect()
    }
}

const MISSING_RECORDS: &str = "missing";
