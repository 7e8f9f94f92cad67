//! Runs: how they stand, and stopping them.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use engine::event::Outcome;
use serde::{Deserialize, Serialize};

use crate::gateway::Gateway;
use crate::id::{OwnerId, RunId, SessionId};
use crate::runs::Heard;
use crate::store::RunRow;

use super::App;
use super::error::ApiError;
use super::extract::{Json, Path};
use super::gate::Owner;

#[derive(Serialize)]
pub(super) struct Shown {
    id: RunId,
    session: SessionId,
    /// Number of its first record.
    first: u64,
    /// Number of its ending.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
    /// Nothing while it is going.
    outcome: Option<Outcome>,
}

impl From<RunRow> for Shown {
    fn from(row: RunRow) -> Shown {
        let RunRow { id, session, first, ended, .. } = row;
        Shown { id, session, first, last: ended.map(|of| of.0), outcome: ended.map(|of| of.1) }
    }
}

/// A run of a session of this owner.
pub(super) async fn find(
    gateway: &Gateway,
    owner: OwnerId,
    word: &str,
) -> Result<RunRow, ApiError> {
    let id: RunId = word.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway
        .log
        .blocking(move |store| {
            let Some(run) = store.run(id)? else { return Ok(None) };
            let session = store.session(run.session)?;
            Ok(session.filter(|session| session.owner == owner).map(|_| run))
        })
        .await?;
    found.ok_or_else(ApiError::not_found)
}

pub(super) async fn show(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<Json<Shown>, ApiError> {
    Ok(Json(find(&gateway, owner, &word).await?.into()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Said {
    answer: String,
}

/// Answers something that only a person can settle. The first answer counts.
pub(super) async fn answer(
    State(gateway): App,
    Owner(owner): Owner,
    Path((word, ask)): Path<(String, String)>,
    Json(Said { answer }): Json<Said>,
) -> Result<StatusCode, ApiError> {
    let run = find(&gateway, owner, &word).await?;
    match gateway.runs.answer(run.id, ask, answer).await {
        Some(Heard::Taken) => Ok(StatusCode::ACCEPTED),
        Some(Heard::NotOpen) => Err(ApiError::conflict(
            "answered_already",
            "This has been answered, or has expired: the log says how.",
        )),
        Some(Heard::NoOption) => Err(ApiError::bad_request("That is none of the options.")),
        None => Err(ApiError::conflict(
            "nobody_waits",
            "Nobody here waits for this answer: the run has ended, or its agent runs elsewhere.",
        )),
    }
}

/// A run that was asked to stop has so long to do so before the caller is told that it has not.
const STOP_WITHIN: Duration = Duration::from_secs(2);

/// Stops a run; answers when its ending is in the log. One that has ended is told as it is.
pub(super) async fn cancel(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<Json<Shown>, ApiError> {
    let run = find(&gateway, owner, &word).await?;
    stop(&gateway, run.session, run.id).await.map(|run| Json(run.into()))
}

/// Asks a run to stop, also one that has yet to begin, and waits for its ending.
pub(super) async fn stop(
    gateway: &Gateway,
    session: SessionId,
    run: RunId,
) -> Result<RunRow, ApiError> {
    let mut end = gateway.log.follow(session).await?;
    let ended = async {
        loop {
            let row = gateway.log.blocking(move |store| store.run(run)).await?;
            if let Some(row) = row.filter(|row| row.ended.is_some()) {
                return Ok(row);
            }
            gateway.runs.cancel(run);
            if end.changed().await.is_err() {
                return Err(ApiError::not_found());
            }
        }
    };
    tokio::time::timeout(STOP_WITHIN, ended).await.unwrap_or_else(|_| {
        Err(ApiError::conflict("not_stopped_yet", "The run was asked to stop and has not yet."))
    })
}
