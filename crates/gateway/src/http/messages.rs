//! Messages to an agent, and those that wait.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use engine::event::Millis;
use engine::view::blob::Shown;
use serde::{Deserialize, Serialize};

use crate::agent::Prompt;
use crate::clock::{now_ms, random};
use crate::gateway::{Gateway, no_chance};
use crate::id::{OwnerId, QueuedId, RunId, SessionId};
use crate::messages::{Arrangement, Refused, Turn, accept, arrange};
use crate::store::Queued;

use super::App;
use super::attachments::attached;
use super::error::ApiError;
use super::extract::{Json, Path};
use super::gate::Owner;
use super::sessions::{live, own};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    #[serde(default)]
    text: String,
    /// Digests of pictures that were uploaded to the session.
    #[serde(default)]
    attachments: Vec<String>,
    /// Whether it joins the run that is going, where its agent next can.
    #[serde(default)]
    join: bool,
}

#[derive(Serialize)]
pub(super) struct Accepted {
    id: QueuedId,
    /// The run that the message is or will be.
    run: RunId,
}

/// Accepts a message. The same idempotency key gets the same answer, and no second message.
pub(super) async fn send(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
    headers: HeaderMap,
    Json(message): Json<Message>,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let session = live(&gateway, owner, &word).await?;
    let Message { text, attachments, join } = message;
    let images = attached(&gateway, session.id, attachments).await?;
    if text.trim().is_empty() && images.is_empty() {
        return Err(ApiError::bad_request("A message has some text, or a picture."));
    }
    let turn = if join { Turn::Join } else { Turn::Next };
    put(&gateway, session.id, owner, &headers, Prompt { text, images }, turn).await
}

/// Puts a message into a session's queue.
pub(super) async fn put(
    gateway: &Arc<Gateway>,
    session: SessionId,
    owner: OwnerId,
    headers: &HeaderMap,
    prompt: Prompt,
    turn: Turn,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let now = now_ms();
    let id = match idempotency_key(headers)? {
        Some(key) => QueuedId::of_key(&format!("{owner}/{session}/{key}")),
        None => QueuedId::new(now, random().map_err(no_chance)?),
    };
    let Prompt { text, images } = prompt;
    accept(gateway, session, Queued { id, text, images, accepted_ms: now }, turn).await?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { id, run: RunId::from(id) })))
}

/// Characters of an idempotency key.
const KEY_MAX: usize = 200;

fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| (1..=KEY_MAX).contains(&key.len()));
    key.map(Some).ok_or_else(|| {
        ApiError::bad_request(format!("An idempotency key is 1 to {KEY_MAX} plain characters."))
    })
}

#[derive(Serialize)]
pub(super) struct Waiting {
    id: QueuedId,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<Shown<'static>>,
    accepted_ms: Millis,
}

#[derive(Serialize)]
pub(super) struct Queue {
    queue: Vec<Waiting>,
}

fn show(queue: Vec<Queued>) -> Json<Queue> {
    let queue = queue
        .into_iter()
        .map(|Queued { id, text, images, accepted_ms }| {
            let images = images.iter().map(|image| Shown::of(image).into_owned()).collect();
            Waiting { id, text, images, accepted_ms }
        })
        .collect();
    Json(Queue { queue })
}

pub(super) async fn queue(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
) -> Result<Json<Queue>, ApiError> {
    let id = own(&gateway, owner, &word).await?.id;
    Ok(show(gateway.log.blocking(move |store| store.queue(id)).await?))
}

pub(super) async fn reorder(
    State(gateway): App,
    Owner(owner): Owner,
    Path(word): Path<String>,
    Json(wanted): Json<Arrangement>,
) -> Result<Json<Queue>, ApiError> {
    let id = own(&gateway, owner, &word).await?.id;
    Ok(show(arrange(&gateway, id, &wanted).await?))
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> ApiError {
        match refused {
            Refused::NoAgent => ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "no_agent",
                "No agent works on this gateway yet. Runs come from POST /v1/ingest/auto.",
            ),
            Refused::QueueFull => ApiError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "queue_full",
                format!("{} messages wait already.", crate::limits::QUEUE_MAX),
            ),
            Refused::Blank => ApiError::bad_request("A message has some text, or a picture."),
            Refused::Changed => ApiError::conflict(
                "queue_changed",
                "The queue has changed. Read it again, and name all that wait.",
            ),
            Refused::Store(error) => error.into(),
        }
    }
}
