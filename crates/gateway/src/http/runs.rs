//! Endpoints for runs: status, cancellation, answers to asks.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use millpond_engine::event::Outcome;
use serde::{Deserialize, Serialize};

use crate::gateway::Gateway;
use millpond_log::id::{OwnerId, RunId, SessionId};
use millpond_log::runs::AnswerResult;
use millpond_log::store::RunRow;

use super::AppState;
use super::access_middleware::OwnerOnly;
use super::error::ApiError;
use super::extract::{Json, Path};

#[derive(Serialize)]
pub(super) struct RunResponse {
    id: RunId,
    session: SessionId,
    /// Sequence number of its first record.
    first: u64,
    /// Sequence number of its ending.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
    /// `null` while it is active.
    outcome: Option<Outcome>,
}

impl From<RunRow> for RunResponse {
    fn from(row: RunRow) -> RunResponse {
        let RunRow { id, session, first, ended, .. } = row;
        RunResponse {
            id,
            session,
            first,
            last: ended.map(|end| end.0),
            outcome: ended.map(|end| end.1),
        }
    }
}

/// Finds a run in a session of this owner.
pub(super) async fn find_owned_run(
    gateway: &Gateway,
    owner: OwnerId,
    raw_id: &str,
) -> Result<RunRow, ApiError> {
    let id: RunId = raw_id.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway
        .log
        .call_store(move |store| {
            let Some(run) = store.load_run(id)? else { return Ok(None) };
            let session = store.load_session_even_deleted(run.session)?;
            Ok(session.filter(|session| session.owner == owner).map(|_| run))
        })
        .await?;
    found.ok_or_else(ApiError::not_found)
}

pub(super) async fn get_run(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<Json<RunResponse>, ApiError> {
    Ok(Json(find_owned_run(&gateway, owner, &raw_id).await?.into()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerRequest {
    answer: String,
}

/// Answers an ask. The first answer counts.
pub(super) async fn post_answer(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path((raw_id, ask)): Path<(String, String)>,
    Json(AnswerRequest { answer }): Json<AnswerRequest>,
) -> Result<StatusCode, ApiError> {
    let run = find_owned_run(&gateway, owner, &raw_id).await?;
    match gateway.scheduler.runs.deliver_answer_and_await_result(run.id, ask, answer).await {
        Some(AnswerResult::Accepted) => Ok(StatusCode::ACCEPTED),
        Some(AnswerResult::NotOpen) => Err(ApiError::conflict(
            "answered_already",
            "This ask was already answered, or has expired.",
        )),
        Some(AnswerResult::UnknownOption) => {
            Err(ApiError::bad_request("The answer is not one of the options."))
        }
        None => Err(ApiError::conflict(
            "nobody_waits",
            "The run takes no answers: it has ended, or its agent runs elsewhere.",
        )),
    }
}

/// How long to wait for a cancelled run to end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Cancels a run and responds when its ending is in the log. An ended run is returned unchanged.
pub(super) async fn cancel_and_wait_for_ending(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<Json<RunResponse>, ApiError> {
    let run = find_owned_run(&gateway, owner, &raw_id).await?;
    cancel_run_and_wait_with_timeout(&gateway, run.session, run.id)
        .await
        .map(|run| Json(run.into()))
}

/// Cancels a run, also one that is yet to begin, and waits for its ending.
pub(super) async fn cancel_run_and_wait_with_timeout(
    gateway: &Gateway,
    session: SessionId,
    run: RunId,
) -> Result<RunRow, ApiError> {
    let mut log_end = gateway.log.watch_log_end(session).await?;
    let ended = async {
        loop {
            let row = gateway.log.call_store(move |store| store.load_run(run)).await?;
            if let Some(row) = row.filter(|row| row.ended.is_some()) {
                return Ok(row);
            }
            gateway.scheduler.runs.request_cancel(run);
            if log_end.changed().await.is_err() {
                return Err(ApiError::not_found());
            }
        }
    };
    tokio::time::timeout(CANCEL_TIMEOUT, ended).await.unwrap_or_else(|_| {
        Err(ApiError::conflict("not_stopped_yet", "The run is cancelled but has not ended yet."))
    })
}
