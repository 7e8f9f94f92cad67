//! Runs: where they begin and end, and what they used.

use engine::event::Outcome;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::fault::Fault;
use super::rows;
use crate::id::{OwnerId, RunId, SessionId};
use crate::store::{RunRow, Used};

const SELECT: &str = "SELECT r.id, s.id, r.first, r.ended, r.outcome, r.tokens_in, r.tokens_out,
    r.cost_micro_usd FROM runs r JOIN sessions s ON s.key = r.session";

const OUTCOMES: [(Outcome, &str); 6] = [
    (Outcome::Completed, "completed"),
    (Outcome::Failed, "failed"),
    (Outcome::Cancelled, "cancelled"),
    (Outcome::Truncated, "truncated"),
    (Outcome::Stalled, "stalled"),
    (Outcome::Interrupted, "interrupted"),
];

pub(super) fn word(outcome: Outcome) -> &'static str {
    OUTCOMES.iter().find(|(known, _)| *known == outcome).map_or("failed", |(_, word)| word)
}

fn outcome(word: &str) -> Option<Outcome> {
    OUTCOMES.iter().find(|(_, known)| *known == word).map(|(outcome, _)| *outcome)
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let ended: Option<u64> = row.get(3)?;
    let ended = match ended {
        None => None,
        Some(seq) => {
            let word: String = row.get(4)?;
            let outcome = outcome(&word)
                .ok_or_else(|| Error::InvalidColumnType(4, "outcome".to_owned(), Type::Text))?;
            Some((seq, outcome))
        }
    };
    Ok(RunRow {
        id: RunId::from_bytes(row.get(0)?),
        session: SessionId::from_bytes(row.get(1)?),
        first: row.get(2)?,
        ended,
        used: used_from(row, 5)?,
    })
}

fn used_from(row: &Row<'_>, at: usize) -> rusqlite::Result<Used> {
    Ok(Used {
        tokens_in: row.get(at)?,
        tokens_out: row.get(at + 1)?,
        cost_micro_usd: row.get(at + 2)?,
    })
}

pub(super) fn run(connection: &Connection, run: RunId) -> Result<Option<RunRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE r.id = ?1"))?;
    Ok(statement.query_row([run.to_bytes()], run_row).optional()?)
}

/// Where a run ended.
pub(super) fn end(connection: &Connection, run: RunId) -> Result<Option<u64>, Fault> {
    let mut statement = connection.prepare_cached("SELECT ended FROM runs WHERE id = ?1")?;
    Ok(statement.query_row([run.to_bytes()], |row| row.get(0)).optional()?.flatten())
}

pub(super) fn of(connection: &Connection, session: SessionId) -> Result<Vec<RunRow>, Fault> {
    let key = rows::place(connection, session)?.key;
    let sql = format!("{SELECT} WHERE r.session = ?1 ORDER BY r.first");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map([key], run_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn open(connection: &Connection) -> Result<Vec<RunRow>, Fault> {
    let sql = format!("{SELECT} WHERE r.ended IS NULL ORDER BY r.session, r.first");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map([], run_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

const SUMS: &str = "coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
    coalesce(sum(cost_micro_usd), 0)";

pub(super) fn used(
    connection: &Connection,
    owner: OwnerId,
    session: Option<SessionId>,
) -> Result<Used, Fault> {
    let Some(session) = session else {
        let sql = format!(
            "SELECT {SUMS} FROM (
                SELECT r.tokens_in, r.tokens_out, r.cost_micro_usd
                FROM sessions s JOIN runs r ON r.session = s.key WHERE s.owner = ?1
                UNION ALL
                SELECT tokens_in, tokens_out, cost_micro_usd FROM spent WHERE owner = ?1)"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        return Ok(statement.query_row([owner.to_bytes()], |row| used_from(row, 0))?);
    };
    let sql = format!(
        "SELECT {SUMS} FROM runs
         WHERE session = (SELECT key FROM sessions WHERE id = ?1 AND owner = ?2)"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let ids = (session.to_bytes(), owner.to_bytes());
    Ok(statement.query_row(ids, |row| used_from(row, 0))?)
}

/// Adds what a session used to what its owner spent, before it goes.
pub(super) fn spend(connection: &Connection, key: i64) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO spent (owner, tokens_in, tokens_out, cost_micro_usd)
         SELECT (SELECT owner FROM sessions WHERE key = ?1), {SUMS} FROM runs WHERE session = ?1
         ON CONFLICT (owner) DO UPDATE SET
            tokens_in = tokens_in + excluded.tokens_in,
            tokens_out = tokens_out + excluded.tokens_out,
            cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd"
    );
    connection.execute(&sql, params![key])?;
    Ok(())
}
