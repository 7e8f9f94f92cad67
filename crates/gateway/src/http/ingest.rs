//! A provider's raw stream as a request body, live: a run that every reader sees as it comes.

use axum::body::{Body, BodyDataStream};
use axum::extract::State;
use engine::event::Outcome;
use engine::ingest::{DialectName, Options};
use engine::run::Cut;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::clock::now_ms;
use crate::gateway::Gateway;
use crate::id::{OwnerId, RunId, SessionId};
use crate::intake::Intake;
use crate::limits::{INGEST_BYTES_MAX, INGEST_IDLE_MAX, LINGER_MAX};
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
    let mut body = body.into_data_stream();
    let taken = take_from(&gateway, owner, &dialect, into, &mut body).await;
    if taken.is_err() {
        tokio::spawn(linger(body));
    }
    taken
}

/// Lets a caller go on sending for a while, so that it comes to read why it was refused: a
/// connection that is closed in the middle of what it sends tells it nothing.
async fn linger(mut body: BodyDataStream) {
    let sent = async { while let Some(Ok(_)) = body.next().await {} };
    let _sent = tokio::time::timeout(LINGER_MAX, sent).await;
}

async fn take_from(
    gateway: &Gateway,
    owner: OwnerId,
    dialect: &str,
    into: Into,
    body: &mut BodyDataStream,
) -> Result<Json<Taken>, ApiError> {
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
    let mut intake = Intake::new(&options, gateway.log.run(session, run), ticket);
    let cut = match read(&mut intake, body).await {
        Ok(cut) => cut,
        Err(error) => {
            intake.give_up(error.clone());
            return Err(error.into());
        }
    };
    let outcome = intake.finish(cut, now_ms()).await?;
    Ok(Json(Taken { session, run, outcome }))
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
async fn read(intake: &mut Intake, body: &mut BodyDataStream) -> Result<Cut, StoreError> {
    let mut left = INGEST_BYTES_MAX;
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
            return Ok(Cut::EndOfInput);
        }
        left -= bytes.len();
        intake.push(&bytes, now_ms()).await?;
    }
}
