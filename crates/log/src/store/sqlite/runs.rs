//! SQL of runs: where they begin and end, and their usage.

use millpond_engine::event::Outcome;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row, params};

use super::chunk_rows;
use super::fault::Fault;
use crate::id::{OwnerId, RunId, SessionId};
use crate::store::{RunRow, TokenUsage};

const SELECT_RUN: &str =
    "SELECT r.id, s.id, r.first, r.ended, r.outcome, r.tokens_in, r.tokens_out,
    r.cost_micro_usd FROM runs r JOIN sessions s ON s.key = r.session";

const OUTCOME_NAMES: [(Outcome, &str); 6] = [
    (Outcome::Completed, "completed"),
    (Outcome::Failed, "failed"),
    (Outcome::Cancelled, "cancelled"),
    (Outcome::Truncated, "truncated"),
    (Outcome::Stalled, "stalled"),
    (Outcome::Interrupted, "interrupted"),
];

pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    OUTCOME_NAMES
        .iter()
        .find(|(candidate, _)| *candidate == outcome)
        .map_or("failed", |(_, name)| name)
}

fn parse_outcome(name: &str) -> Option<Outcome> {
    OUTCOME_NAMES.iter().find(|(_, candidate)| *candidate == name).map(|(outcome, _)| *outcome)
}

fn parse_run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let ended: Option<u64> = row.get(3)?;
    let ended = match ended {
        None => None,
        Some(seq) => {
            let outcome_name: String = row.get(4)?;
            let outcome = parse_outcome(&outcome_name)
                .ok_or_else(|| Error::InvalidColumnType(4, "outcome".to_owned(), Type::Text))?;
            Some((seq, outcome))
        }
    };
    Ok(RunRow {
        id: RunId::from_bytes(row.get(0)?),
        session: SessionId::from_bytes(row.get(1)?),
        first: row.get(2)?,
        ended,
        usage: parse_usage(row, 5)?,
    })
}

fn parse_usage(row: &Row<'_>, column: usize) -> rusqlite::Result<TokenUsage> {
    Ok(TokenUsage {
        tokens_in: row.get(column)?,
        tokens_out: row.get(column + 1)?,
        cost_micro_usd: row.get(column + 2)?,
    })
}

pub(super) fn select_run(connection: &Connection, run: RunId) -> Result<Option<RunRow>, Fault> {
    let mut statement = connection.prepare_cached(&format!("{SELECT_RUN} WHERE r.id = ?1"))?;
    Ok(statement.query_row([run.to_bytes()], parse_run_row).optional()?)
}

/// Sequence number of a run's ending.
pub(super) fn select_run_end_seq(
    connection: &Connection,
    run: RunId,
) -> Result<Option<u64>, Fault> {
    let mut statement = connection.prepare_cached("SELECT ended FROM runs WHERE id = ?1")?;
    Ok(statement.query_row([run.to_bytes()], |row| row.get(0)).optional()?.flatten())
}

pub(super) fn select_session_runs(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<RunRow>, Fault> {
    let key = chunk_rows::require_session_position(connection, session)?.key;
    let sql = format!("{SELECT_RUN} WHERE r.session = ?1 ORDER BY r.first");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map([key], parse_run_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn select_open_runs(connection: &Connection) -> Result<Vec<RunRow>, Fault> {
    let sql = format!("{SELECT_RUN} WHERE r.ended IS NULL ORDER BY r.session, r.first");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map([], parse_run_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

const USAGE_SUMS: &str = "coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
    coalesce(sum(cost_micro_usd), 0)";

pub(super) fn select_usage_of_owner_or_session(
    connection: &Connection,
    owner: OwnerId,
    session: Option<SessionId>,
) -> Result<TokenUsage, Fault> {
    let Some(session) = session else {
        let sql = format!(
            "SELECT {USAGE_SUMS} FROM (
                SELECT r.tokens_in, r.tokens_out, r.cost_micro_usd
                FROM sessions s JOIN runs r ON r.session = s.key WHERE s.owner = ?1
                UNION ALL
                SELECT tokens_in, tokens_out, cost_micro_usd FROM spent WHERE owner = ?1)"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        return Ok(statement.query_row([owner.to_bytes()], |row| parse_usage(row, 0))?);
    };
    let sql = format!(
        "SELECT {USAGE_SUMS} FROM runs
         WHERE session = (SELECT key FROM sessions WHERE id = ?1 AND owner = ?2)"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let ids = (session.to_bytes(), owner.to_bytes());
    Ok(statement.query_row(ids, |row| parse_usage(row, 0))?)
}

/// Adds a session's usage to its owner's total before the session is deleted.
pub(super) fn add_session_usage_to_owner(connection: &Connection, key: i64) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO spent (owner, tokens_in, tokens_out, cost_micro_usd)
         SELECT (SELECT owner FROM sessions WHERE key = ?1), {USAGE_SUMS} FROM runs WHERE session = ?1
         ON CONFLICT (owner) DO UPDATE SET
            tokens_in = tokens_in + excluded.tokens_in,
            tokens_out = tokens_out + excluded.tokens_out,
            cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd"
    );
    connection.execute(&sql, params![key])?;
    Ok(())
}
