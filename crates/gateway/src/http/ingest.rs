//! A provider's raw stream as a request body, live: a run that every reader sees as it comes.

use axum::body::{Body, BodyDataStream};
use axum::extract::State;
use axum::http::StatusCode;
use engine::event::Outcome;
use engine::ingest::{DialectName, Options};
use engine::run::Cut;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::clock::now_ms;
use crate::gateway::Gateway;
use crate::id::{OwnerId, RunId, SessionId};
use crate::intake::Intake;
use crate::limits::{INGEST_IDLE_MAX, LINGER_MAX};
use crate::runs::Wish;
use crate::store::StoreError;

use super::App;
use super::error::ApiError;
use super::extract::{Json, Path, Query};
use super::gate::Owner;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Into {
    /// A new session if not given.
    session: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Taken {
    session: SessionId,
    run: RunId,
    outcome: Outcome,
}

pub(super) async fn take(
    State(gateway): App,
    Owner(owner): Owner,
    Path(dialect): Path<String>,
    Query(into): Query<Into>,
    body: Body,
) -> Result<Json<Taken>, ApiError> {
    let body = body.into_data_stream();
    let intake = match begin(&gateway, owner, &dialect, into).await {
        Ok(intake) => intake,
        Err(error) => {
            tokio::spawn(linger(body));
            return Err(error);
        }
    };
    let (session, run) = (intake.session(), intake.run());
    // On its own: a connection that breaks takes its handler along, and the run must end all the same.
    let taking = tokio::spawn(take_all(intake, body, gateway.ingest_bytes_max));
    let (cut, outcome) = taking.await.map_err(|_| ApiError::internal())??;
    if cut == Cut::TooLong && outcome == Outcome::Failed {
        return Err(too_long(&gateway, session, run));
    }
    Ok(Json(Taken { session, run, outcome }))
}

async fn begin(
    gateway: &Gateway,
    owner: OwnerId,
    dialect: &str,
    into: Into,
) -> Result<Intake, ApiError> {
    let from = parse_dialect(dialect)?;
    let session = session_for(gateway, owner, into.session.as_deref()).await?;
    let run = gateway.new_run()?;
    let Some(ticket) = gateway.runs.begin(session, run) else {
        return Err(ApiError::conflict(
            "run_going",
            "A run is going in this session. Wait for its end, or cancel it.",
        ));
    };
    let options = Options { from, ..Options::default() };
    Ok(Intake::new(&options, gateway.log.run(session, run), ticket))
}

async fn take_all(
    mut intake: Intake,
    mut body: BodyDataStream,
    bytes_max: usize,
) -> Result<(Cut, Outcome), StoreError> {
    let read = read(&mut intake, &mut body, bytes_max).await;
    if !matches!(read, Ok(Cut::EndOfInput)) {
        tokio::spawn(linger(body));
    }
    match read {
        Ok(cut) => Ok((cut, intake.finish(cut, now_ms()).await?)),
        Err(error) => {
            intake.give_up(error.clone());
            Err(error)
        }
    }
}

/// Lets a caller go on sending for a while, so that it comes to read why it was refused: a
/// connection that is closed in the middle of what it sends tells it nothing.
async fn linger(mut body: BodyDataStream) {
    let sent = async { while let Some(Ok(_)) = body.next().await {} };
    let _sent = tokio::time::timeout(LINGER_MAX, sent).await;
}

fn too_long(gateway: &Gateway, session: SessionId, run: RunId) -> ApiError {
    let message = format!(
        "One stream is at most {} bytes. Run {run} of session {session} ended as failed and has all \
         that came before; send the rest as another stream to the same session.",
        gateway.ingest_bytes_max
    );
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

fn parse_dialect(word: &str) -> Result<Option<DialectName>, ApiError> {
    if word == "auto" {
        return Ok(None);
    }
    word.parse().map(Some).map_err(|_| {
        let known = DialectName::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>();
        let message = format!("`{word}` is no dialect. Use auto, {}.", known.join(", "));
        ApiError::bad_request(message)
    })
}

async fn session_for(
    gateway: &Gateway,
    owner: OwnerId,
    word: Option<&str>,
) -> Result<SessionId, ApiError> {
    let Some(word) = word else {
        return Ok(gateway.create(owner, "").await?.id);
    };
    let id: SessionId = word.parse().map_err(|_| ApiError::not_found())?;
    let found = gateway.log.blocking(move |store| store.session(id)).await?;
    let found = found.filter(|found| found.owner == owner && found.deleted_ms.is_none());
    Ok(found.ok_or_else(ApiError::not_found)?.id)
}

/// Reads the body to its end, or until the run is asked to stop. Says why it ended.
async fn read(
    intake: &mut Intake,
    body: &mut BodyDataStream,
    bytes_max: usize,
) -> Result<Cut, StoreError> {
    let mut left = bytes_max;
    let mut wish = intake.wish().clone();
    loop {
        let next = async {
            tokio::select! {
                biased;
                asked = wish.wait_for(|wish| *wish != Wish::GoOn) => {
                    Err(match asked.map(|wish| *wish) {
                        Ok(Wish::Interrupt) => Cut::Interrupted,
                        _ => Cut::Cancelled,
                    })
                }
                bytes = body.next() => match bytes {
                    Some(Ok(bytes)) => Ok(bytes),
                    // A connection that breaks is a stream that ends without its end.
                    Some(Err(_)) | None => Err(Cut::EndOfInput),
                },
            }
        };
        let bytes = match tokio::time::timeout(INGEST_IDLE_MAX, next).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(cut)) => return Ok(cut),
            Err(_) => return Ok(Cut::Stalled),
        };
        if left < bytes.len() {
            return Ok(Cut::TooLong);
        }
        left -= bytes.len();
        intake.push(&bytes, now_ms()).await?;
    }
}
