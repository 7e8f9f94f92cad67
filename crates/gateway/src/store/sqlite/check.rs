//! Looking for damage: the file, every row of every log, runs, and what belongs to nobody.

use std::collections::HashMap;

use engine::event::Outcome;
use rusqlite::Connection;
use serde::Deserialize;

use super::fault::Fault;
use super::rows::{self, Found};
use super::{Core, SqliteStore, file, runs};
use crate::id::{RunId, SessionId};
use crate::limits::DAMAGES_MAX;
use crate::store::StoreError;

/// Tables whose rows belong to a session.
pub(super) const OWNED: [&str; 7] =
    ["chunks", "damaged", "runs", "texts", "queue", "blob_refs", "shares"];

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The file as such.
    File { detail: String },
    /// Records that cannot be read.
    Records { session: SessionId, first: u64, end: u64, detail: String },
    /// A log that is longer than its session says.
    Head { session: SessionId, head: u64, end: u64 },
    /// A run that its log tells otherwise.
    Run { run: RunId, detail: String },
    /// Rows that belong to no session.
    Orphans { table: &'static str, rows: u64 },
    /// The search index does not match the texts.
    Words { detail: String },
}

/// What a check found, or a repair found and changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub sessions: u64,
    /// Good ones.
    pub records: u64,
    pub damages: Vec<Damage>,
    /// Damages beyond those named.
    pub more: u64,
    /// How many of them were made good.
    pub repaired: u64,
}

impl Report {
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    pub(super) fn add_all(&mut self, damages: impl IntoIterator<Item = Damage>) {
        for damage in damages {
            self.add(damage);
        }
    }

    pub(super) fn add(&mut self, damage: Damage) {
        if self.damages.len() < DAMAGES_MAX {
            self.damages.push(damage);
        } else {
            self.more += 1;
        }
    }
}

impl SqliteStore {
    pub fn check(&self) -> Result<Report, StoreError> {
        let core = &*self.core;
        let mut report = Report::default();
        for detail in integrity(core)? {
            report.add(Damage::File { detail });
        }
        for (key, session) in core.read(|file| all(file))? {
            let scan = core.read(|file| Scan::new(file, key, session))?;
            report.sessions += 1;
            report.records += scan.records;
            report.add_all(scan.damages());
        }
        report.add_all(core.read(|file| orphans(file))?);
        report.add_all(words(core));
        Ok(report)
    }
}

/// On a connection of its own: one that searched before remembers an index that may be no more.
pub(super) fn integrity(core: &Core) -> Result<Vec<String>, Fault> {
    let _place = core.readers.pass();
    let connection = file::reader(&core.path)?;
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

pub(super) fn all(connection: &Connection) -> Result<Vec<(i64, SessionId)>, Fault> {
    let mut statement = connection.prepare("SELECT key, id FROM sessions ORDER BY key")?;
    let found =
        statement.query_map([], |row| Ok((row.get(0)?, SessionId::from_bytes(row.get(1)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn orphans(connection: &Connection) -> Result<Vec<Damage>, Fault> {
    let mut damages = Vec::new();
    let mut note = |table, sql: &str| -> Result<(), Fault> {
        let rows: u64 = connection.query_row(sql, [], |row| row.get(0))?;
        if rows > 0 {
            damages.push(Damage::Orphans { table, rows });
        }
        Ok(())
    };
    for table in OWNED {
        note(table, &format!("SELECT count(*) FROM {table} WHERE {ORPHANED}"))?;
    }
    note("blobs", &format!("SELECT count(*) FROM blobs WHERE {UNUSED}"))?;
    Ok(damages)
}

pub(super) const ORPHANED: &str = "session NOT IN (SELECT key FROM sessions)";
pub(super) const UNUSED: &str = "digest NOT IN (SELECT digest FROM blob_refs)";

/// The index compares itself with the texts only when told so by the writer.
pub(super) fn words(core: &Core) -> Option<Damage> {
    let compare = "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)";
    let compared = core.write(|file| Ok(file.execute(compare, [])?));
    compared.err().map(|error| Damage::Words { detail: error.to_string() })
}

/// One log, read from end to end.
pub(super) struct Scan {
    pub(super) key: i64,
    pub(super) session: SessionId,
    pub(super) head: u64,
    /// Number after the last good record.
    pub(super) end: u64,
    pub(super) records: u64,
    /// First numbers of rows that are not good.
    pub(super) bad: Vec<u64>,
    /// Stretches without a good record, and why.
    pub(super) holes: Vec<(u64, u64, String)>,
    /// Records that are there, but say something else than their place.
    odd: Vec<(u64, String)>,
    /// Runs that the log ends, where and how.
    ends: HashMap<RunId, (u64, Option<Outcome>)>,
    pub(super) runs: Vec<OddRun>,
}

/// A run of which table and log say different things.
pub(super) struct OddRun {
    pub(super) run: RunId,
    detail: String,
    /// How the log ends it.
    pub(super) told: Option<(u64, Outcome)>,
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    run: String,
    r#type: String,
    #[serde(default)]
    outcome: Option<serde_json::Value>,
}

impl Scan {
    pub(super) fn new(
        connection: &Connection,
        key: i64,
        session: SessionId,
    ) -> Result<Scan, Fault> {
        let head = rows::place(connection, session)?.head;
        let mut scan = Scan {
            key,
            session,
            head,
            end: 0,
            records: 0,
            bad: Vec::new(),
            holes: Vec::new(),
            odd: Vec::new(),
            ends: HashMap::new(),
            runs: Vec::new(),
        };
        let why = scan.walk(connection)?;
        if scan.end < head {
            scan.holes.push((scan.end, head, why.unwrap_or_else(|| MISSING.to_owned())));
        }
        scan.compare(connection)?;
        Ok(scan)
    }

    /// Says what was wrong with the rows after the last good one.
    fn walk(&mut self, connection: &Connection) -> Result<Option<String>, Fault> {
        let sql = format!("SELECT {} FROM chunks WHERE session = ?1 ORDER BY first", rows::COLUMNS);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut found = statement.query([self.key])?;
        let mut why = None;
        loop {
            let row = match found.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(why),
                // What lies behind cannot be reached.
                Err(error) => return Ok(Some(error.to_string())),
            };
            let first: u64 = row.get(0)?;
            let good = Found::new(row).map_err(|error| error.to_string()).and_then(|found| {
                let lines = found.lines(self.session).map_err(str::to_owned)?;
                if first < self.end {
                    return Err("it overlaps the row before".to_owned());
                }
                Ok((found.len, lines))
            });
            match good {
                Ok((len, lines)) => {
                    if first > self.end {
                        let why = why.take().unwrap_or_else(|| MISSING.to_owned());
                        self.holes.push((self.end, first, why));
                    }
                    self.look(first, lines);
                    self.records += len;
                    self.end = first + len;
                }
                Err(detail) => {
                    self.bad.push(first);
                    why = Some(detail);
                }
            }
        }
    }

    fn look(&mut self, first: u64, lines: &str) {
        for (seq, line) in (first..).zip(lines.lines()) {
            let line: Line = match serde_json::from_str(line) {
                Ok(line) => line,
                Err(error) => {
                    self.odd.push((seq, error.to_string()));
                    continue;
                }
            };
            if line.seq != seq {
                self.odd.push((seq, format!("it says that it is record {}", line.seq)));
            }
            if line.r#type == "run_ended"
                && let Ok(run) = line.run.parse()
            {
                let outcome = line.outcome.and_then(|word| serde_json::from_value(word).ok());
                self.ends.insert(run, (seq, outcome));
            }
        }
    }

    /// Holds the table of runs against what the log says.
    fn compare(&mut self, connection: &Connection) -> Result<(), Fault> {
        for run in runs::of(connection, self.session)? {
            let told = self.ends.get(&run.id);
            let lost = |seq| self.holes.iter().any(|(first, end, _)| (*first..*end).contains(&seq));
            let detail = match (run.ended, told) {
                (None, Some((seq, _))) => format!("its log ends it at record {seq}"),
                (Some((seq, _)), Some((told, _))) if seq != *told => {
                    format!("it ends at record {seq}, in its log at {told}")
                }
                (Some((seq, _)), None) if !lost(seq) => {
                    format!("its log does not end it at record {seq}")
                }
                _ if run.first >= self.head => "it begins after the end of its log".to_owned(),
                _ => continue,
            };
            let told = told.and_then(|(seq, outcome)| Some((*seq, (*outcome)?)));
            self.runs.push(OddRun { run: run.id, detail, told });
        }
        Ok(())
    }

    pub(super) fn damages(&self) -> Vec<Damage> {
        let session = self.session;
        let holes = self.holes.iter().map(|(first, end, detail)| Damage::Records {
            session,
            first: *first,
            end: *end,
            detail: detail.clone(),
        });
        let odd = self.odd.iter().map(|(seq, detail)| Damage::Records {
            session,
            first: *seq,
            end: *seq + 1,
            detail: detail.clone(),
        });
        let runs =
            self.runs.iter().map(|odd| Damage::Run { run: odd.run, detail: odd.detail.clone() });
        let head = (self.end > self.head).then_some(Damage::Head {
            session,
            head: self.head,
            end: self.end,
        });
        holes.chain(odd).chain(head).chain(runs).collect()
    }
}

const MISSING: &str = "they are missing";
