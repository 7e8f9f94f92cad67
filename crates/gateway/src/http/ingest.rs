//! `POST /v1/ingest/{dialect}`: a provider's raw stream as request body, ingested live as one run.

use axum::body::{Body, BodyDataStream};
use axum::extract::State;
use axum::http::StatusCode;
use futures_util::StreamExt;
use millpond_engine::event::Outcome;
use millpond_engine::ingest::{DialectName, IngestOptions};
use millpond_engine::run::{InputEnd, SourceOption, SourceOptions, find_similar_name};
use serde::Serialize;

use crate::gateway::Gateway;
use crate::ingest_run::IngestRun;
use crate::limits::INGEST_IDLE_TIMEOUT;
use millpond_log::clock::now_ms;
use millpond_log::id::{OwnerId, RunId, SessionId};
use millpond_log::runs::{RunControl, Ticket};
use millpond_log::store::StoreError;

use super::AppState;
use super::access_middleware::OwnerOnly;
use super::error::ApiError;
use super::extract::{Json, Path, Query};

/// Parameters of the query.
#[derive(Debug, Default)]
struct IngestQuery {
    /// A new session if missing.
    session: Option<String>,
    /// How the stream is read.
    options: SourceOptions,
}

#[derive(Serialize)]
pub(super) struct IngestResponse {
    session: SessionId,
    run: RunId,
    outcome: Outcome,
}

/// Ingests the body and responds when the run has ended.
pub(super) async fn post_ingest(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(dialect): Path<String>,
    Query(parameters): Query<Vec<(String, String)>>,
    body: Body,
) -> Result<Json<IngestResponse>, ApiError> {
    let query = parse_query(parameters)?;
    let ingest = ensure_session_and_register_ingest_run(&gateway, owner, &dialect, query).await?;
    let (session, run) = (ingest.session(), ingest.run_id());
    // In its own task: a broken connection drops the handler, but the run must still end.
    let ingest_task = tokio::spawn(ingest_body_and_finish_run(
        ingest,
        body.into_data_stream(),
        gateway.ingest_bytes_max,
    ));
    let (input_end, outcome) = ingest_task.await.map_err(|_| ApiError::internal())??;
    if input_end == InputEnd::TooLong && outcome == Outcome::Failed {
        return Err(too_long_error(&gateway, session, run));
    }
    Ok(Json(IngestResponse { session, run, outcome }))
}

/// Registers the run; fails if the session has an active one.
async fn ensure_session_and_register_ingest_run(
    gateway: &Gateway,
    owner: OwnerId,
    dialect: &str,
    query: IngestQuery,
) -> Result<IngestRun, ApiError> {
    let source_dialect = parse_dialect_or_auto(dialect)?;
    let session =
        find_session_or_create_if_unnamed(gateway, owner, query.session.as_deref()).await?;
    let run = gateway.generate_run_id()?;
    let ticket = register_run_after_ended_one(gateway, session, run).await?;
    let options = IngestOptions { dialect: source_dialect, run: query.options.build_run_options() };
    Ok(IngestRun::new(&options, gateway.log.build_run_appender(session, run), ticket))
}

/// Registers a run; fails if the session has another one. One that has ended in the log, so that
/// readers know, is registered a moment longer: waits for it.
async fn register_run_after_ended_one(
    gateway: &Gateway,
    session: SessionId,
    run: RunId,
) -> Result<Ticket, ApiError> {
    let runs = &gateway.scheduler.runs;
    loop {
        if let Some(ticket) = runs.try_register_run(session, run) {
            return Ok(ticket);
        }
        let Some(other) = runs.active_run_of_session(session) else {
            // It was removed just now, or the process is stopping.
            return runs.try_register_run(session, run).ok_or_else(active_run_error);
        };
        let row = gateway.log.call_store(move |store| store.load_run(other)).await?;
        if row.is_none_or(|row| row.ended.is_none()) {
            return Err(active_run_error());
        }
        runs.wait_until_run_removed(other).await;
    }
}

fn active_run_error() -> ApiError {
    let message = "This session has an active run. Wait for it to end, or cancel it.";
    ApiError::conflict("run_going", message)
}

/// Ingests the whole body and finishes the run.
async fn ingest_body_and_finish_run(
    mut ingest: IngestRun,
    mut body: BodyDataStream,
    bytes_max: usize,
) -> Result<(InputEnd, Outcome), StoreError> {
    let body_result = read_body_into_ingest(&mut ingest, &mut body, bytes_max).await;
    // What is left of it is drained while the run ends.
    drop(body);
    match body_result {
        Ok(input_end) => Ok((input_end, ingest.finish(input_end, now_ms()).await?)),
        Err(error) => {
            ingest.spawn_storage_failure_ending(error.clone());
            Err(error)
        }
    }
}

fn too_long_error(gateway: &Gateway, session: SessionId, run: RunId) -> ApiError {
    let message = format!(
        "The stream is larger than {} bytes. Run {run} of session {session} ended as failed, with \
         all input before that. Send the rest as another stream to the same session.",
        gateway.ingest_bytes_max
    );
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

/// Name of the parameter that is no option of the source.
const SESSION: &str = "session";

/// Parses the session and the options of the source; any other parameter is an error.
fn parse_query(parameters: Vec<(String, String)>) -> Result<IngestQuery, ApiError> {
    let mut query = IngestQuery::default();
    for (name, value) in parameters {
        if name == SESSION && query.session.is_none() {
            query.session = Some(value);
        } else if let Some(option) = SourceOption::find(&name) {
            query.options.push(option, &value).map_err(|bad| {
                ApiError::bad_request(format!("invalid value `{value}` for `{name}`: {bad}"))
            })?;
        } else {
            return Err(unknown_parameter_error(&name));
        }
    }
    Ok(query)
}

fn unknown_parameter_error(name: &str) -> ApiError {
    let options = SourceOption::ALL.into_iter().map(SourceOption::as_str);
    let known: Vec<&str> = std::iter::once(SESSION).chain(options).collect();
    ApiError::bad_request(match find_similar_name(name, known.iter().copied()) {
        Some(near) if near == name => format!("`{name}` is given more than once"),
        Some(near) => format!("unknown query parameter `{name}`; did you mean `{near}`?"),
        None => format!("unknown query parameter `{name}` (known: {})", known.join(", ")),
    })
}

fn parse_dialect_or_auto(dialect_name: &str) -> Result<Option<DialectName>, ApiError> {
    if dialect_name == "auto" {
        return Ok(None);
    }
    dialect_name.parse().map(Some).map_err(|_| {
        let known = DialectName::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>();
        let message = format!("Unknown dialect `{dialect_name}`. Use auto, {}.", known.join(", "));
        ApiError::bad_request(message)
    })
}

async fn find_session_or_create_if_unnamed(
    gateway: &Gateway,
    owner: OwnerId,
    raw_id: Option<&str>,
) -> Result<SessionId, ApiError> {
    let Some(raw_id) = raw_id else {
        return Ok(gateway.create_session_and_notify(owner, "").await?.id);
    };
    let id: SessionId = raw_id.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway.log.call_store(move |store| store.load_session_even_deleted(id)).await?;
    let session = found.filter(|session| session.owner == owner && session.deleted_ms.is_none());
    Ok(session.ok_or_else(ApiError::not_found)?.id)
}

/// Reads the body to its end, or until the run is asked to stop. Returns how the input ended.
async fn read_body_into_ingest(
    ingest: &mut IngestRun,
    body: &mut BodyDataStream,
    bytes_max: usize,
) -> Result<InputEnd, StoreError> {
    let mut remaining_bytes = bytes_max;
    let mut control = ingest.control_receiver().clone();
    loop {
        let next_chunk = async {
            tokio::select! {
                biased;
                asked = control.wait_for(|wish| *wish != RunControl::Continue) => {
                    Err(match asked.map(|wish| *wish) {
                        Ok(RunControl::Interrupt) => InputEnd::Interrupted,
                        _ => InputEnd::Cancelled,
                    })
                }
                bytes = body.next() => match bytes {
                    Some(Ok(bytes)) => Ok(bytes),
                    // A broken connection is a truncated stream.
                    Some(Err(_)) | None => Err(InputEnd::EndOfInput),
                },
            }
        };
        let bytes = match tokio::time::timeout(INGEST_IDLE_TIMEOUT, next_chunk).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(input_end)) => return Ok(input_end),
            Err(_) => return Ok(InputEnd::Stalled),
        };
        if remaining_bytes < bytes.len() {
            return Ok(InputEnd::TooLong);
        }
        remaining_bytes -= bytes.len();
        ingest.push(&bytes, now_ms()).await?;
    }
}
