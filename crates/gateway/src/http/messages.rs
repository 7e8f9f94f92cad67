//! Endpoints for messages and the queue.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use millpond_engine::event::{Millis, PromptOrigin};
use millpond_engine::view::image_ref::ImageRef;
use serde::{Deserialize, Serialize};

use crate::gateway::Gateway;
use millpond_log::agent::Prompt;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::{OwnerId, QueuedId, RunId, SessionId};
use millpond_log::queue::{Delivery, QueueEdit, QueueError};
use millpond_log::store::{QueuedMessage, StoreError};

use super::AppState;
use super::access_middleware::OwnerOnly;
use super::attachments::check_attachments_and_store_types;
use super::error::ApiError;
use super::extract::{Json, Path};
use super::sessions::{find_owned_session, find_owned_undeleted_session};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageRequest {
    #[serde(default)]
    text: String,
    /// Digests of images uploaded to the session.
    #[serde(default)]
    attachments: Vec<String>,
    /// True to join the current run, if possible.
    #[serde(default)]
    join: bool,
}

#[derive(Serialize)]
pub(super) struct AcceptedMessage {
    id: QueuedId,
    /// The run of the message.
    run: RunId,
}

/// Accepts a message. The same idempotency key gets the same response and no second message.
pub(super) async fn post_message(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
    headers: HeaderMap,
    Json(message): Json<MessageRequest>,
) -> Result<(StatusCode, Json<AcceptedMessage>), ApiError> {
    let session = find_owned_undeleted_session(&gateway, owner, &raw_id).await?;
    let MessageRequest { text, attachments, join } = message;
    let images = check_attachments_and_store_types(&gateway, session.id, attachments).await?;
    if text.trim().is_empty() && images.is_empty() {
        return Err(ApiError::bad_request("The message is empty: add text or an image."));
    }
    let turn = if join { Delivery::CurrentRun } else { Delivery::NextRun };
    enqueue_message(&gateway, session.id, owner, &headers, Prompt { text, images }, turn).await
}

/// Adds a message to a session's queue.
pub(super) async fn enqueue_message(
    gateway: &Arc<Gateway>,
    session: SessionId,
    owner: OwnerId,
    headers: &HeaderMap,
    prompt: Prompt,
    turn: Delivery,
) -> Result<(StatusCode, Json<AcceptedMessage>), ApiError> {
    let now = now_ms();
    let id = match parse_idempotency_key(headers)? {
        Some(key) => QueuedId::from_key(&format!("{owner}/{session}/{key}")),
        None => QueuedId::new(now, random_bytes().map_err(StoreError::from)?),
    };
    let Prompt { text, images } = prompt;
    gateway
        .scheduler
        .accept_message_once(
            session,
            QueuedMessage { id, text, images, origin: PromptOrigin::Person, accepted_ms: now },
            turn,
        )
        .await?;
    Ok((StatusCode::ACCEPTED, Json(AcceptedMessage { id, run: RunId::from(id) })))
}

/// Characters of an idempotency key.
const IDEMPOTENCY_KEY_CHARS_MAX: usize = 200;

fn parse_idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| (1..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&key.len()));
    key.map(Some).ok_or_else(|| {
        ApiError::bad_request(format!(
            "The idempotency key must be 1 to {IDEMPOTENCY_KEY_CHARS_MAX} ASCII characters."
        ))
    })
}

#[derive(Serialize)]
pub(super) struct QueuedItem {
    id: QueuedId,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<ImageRef<'static>>,
    accepted_ms: Millis,
}

#[derive(Serialize)]
pub(super) struct QueueResponse {
    queue: Vec<QueuedItem>,
}

fn queue_response(queue: Vec<QueuedMessage>) -> Json<QueueResponse> {
    let queue = queue
        .into_iter()
        .map(|QueuedMessage { id, text, images, accepted_ms, .. }| {
            let images =
                images.iter().map(|image| ImageRef::from_image(image).into_owned()).collect();
            QueuedItem { id, text, images, accepted_ms }
        })
        .collect();
    Json(QueueResponse { queue })
}

pub(super) async fn get_queue(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
) -> Result<Json<QueueResponse>, ApiError> {
    let id = find_owned_session(&gateway, owner, &raw_id).await?.id;
    Ok(queue_response(gateway.log.call_store(move |store| store.load_queue(id)).await?))
}

pub(super) async fn put_queue(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(raw_id): Path<String>,
    Json(edit): Json<QueueEdit>,
) -> Result<Json<QueueResponse>, ApiError> {
    let id = find_owned_session(&gateway, owner, &raw_id).await?.id;
    Ok(queue_response(gateway.scheduler.edit_queue_if_unchanged(id, &edit).await?))
}

impl From<QueueError> for ApiError {
    fn from(error: QueueError) -> ApiError {
        match error {
            QueueError::NoAgent => ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "no_agent",
                "This gateway has no agent. Send runs to POST /v1/ingest/auto.",
            ),
            QueueError::QueueFull => ApiError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "queue_full",
                format!(
                    "The queue is full ({} messages).",
                    millpond_log::limits::QUEUED_MESSAGES_MAX
                ),
            ),
            QueueError::EmptyMessage => {
                ApiError::bad_request("The message is empty: add text or an image.")
            }
            QueueError::Changed => ApiError::conflict(
                "queue_changed",
                "The queue has changed. Read it again, and name every queued message.",
            ),
            QueueError::Store(error) => error.into(),
        }
    }
}
