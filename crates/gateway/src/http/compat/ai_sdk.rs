//! The AI SDK's chat: `POST /api/chat`, `GET /api/chat/{id}/stream` to reconnect, and `DELETE`
//! there to stop the run, because the client's own stop only disconnects.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::compat::Encoder;
use crate::compat::ai_sdk::{AiSdk, Options, Version};
use crate::gateway::Gateway;
use millpond_log::id::{OwnerId, RunId, SessionId};
use millpond_log::store::StoreError;

use super::super::AppState;
use super::super::access_middleware::OwnerOnly;
use super::super::error::ApiError;
use super::super::extract::{Json, Path};
use super::super::runs;
use super::{
    FollowedRun, enqueue_message_and_follow_run, find_or_create_named_session, stream_run_as_sse,
};

/// Other fields of the request are ignored.
#[derive(Deserialize)]
pub(in crate::http) struct ChatRequest {
    id: String,
    messages: Vec<ChatMessage>,
    #[serde(default)]
    trigger: String,
}

#[derive(Deserialize)]
struct ChatMessage {
    #[serde(default)]
    id: Option<String>,
    role: String,
    #[serde(default)]
    parts: Vec<ChatPart>,
}

#[derive(Deserialize)]
struct ChatPart {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

fn session_name(id: &str) -> String {
    format!("ai-sdk/{id}")
}

pub(in crate::http) async fn post_chat(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    headers: HeaderMap,
    Json(chat): Json<ChatRequest>,
) -> Result<Response, ApiError> {
    let last_message = chat.messages.iter().rev().find(|message| message.role == "user");
    let last_message =
        last_message.ok_or_else(|| ApiError::bad_request("There is no user message."))?;
    let text = last_message.parts.iter().filter(|part| part.kind == "text").map(|part| &*part.text);
    let text = text.collect::<Vec<_>>().join("\n");
    let session = find_or_create_named_session(&gateway, owner, &session_name(&chat.id)).await?;
    // The same message again is the same run, unless it was edited or another answer is requested.
    let is_regenerate = chat.trigger == "regenerate-message";
    let key = last_message.id.as_ref().filter(|_| !is_regenerate).map(|id| format!("{id}/{text}"));
    let follower = enqueue_message_and_follow_run(&gateway, session, key, text).await?;
    Ok(stream_run(follower, session, &headers))
}

/// Streams the current run from its beginning; `204` if there is none.
pub(in crate::http) async fn reconnect_chat(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let session = derive_session_id_of_chat(owner, &id);
    let Some((run, first_seq)) = find_active_or_next_run(&gateway, session).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let run = FollowedRun::new(&gateway, session, run, first_seq).await?;
    Ok(stream_run(run, session, &headers))
}

/// Stops the current run, if any; responds when it has ended.
pub(in crate::http) async fn stop_chat(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let session = derive_session_id_of_chat(owner, &id);
    if let Some((run, _)) = find_active_or_next_run(&gateway, session).await? {
        runs::cancel_run_and_wait_with_timeout(&gateway, session, run).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

fn derive_session_id_of_chat(owner: OwnerId, chat: &str) -> SessionId {
    SessionId::from_key(&format!("{owner}/{}", session_name(chat)))
}

/// The active run, or that of the first queued message, and the record to start from.
async fn find_active_or_next_run(
    gateway: &Gateway,
    session: SessionId,
) -> Result<Option<(RunId, u64)>, StoreError> {
    let (head, next_queued) = gateway
        .log
        .call_store(move |store| {
            let Some(session_row) = store.load_session_even_deleted(session)? else {
                return Ok((0, None));
            };
            Ok((session_row.head, store.load_queue(session)?.first().map(|message| message.id)))
        })
        .await?;
    // Read after the queue: a message leaves it only when its run is active.
    let Some(run) =
        gateway.scheduler.runs.active_run_of_session(session).or(next_queued.map(RunId::from))
    else {
        return Ok(None);
    };
    let row = gateway.log.call_store(move |store| store.load_run(run)).await?;
    Ok(Some((run, row.map_or(head, |row| row.first))))
}

fn stream_run(run: FollowedRun, session: SessionId, headers: &HeaderMap) -> Response {
    // Only version 7 of the SDK understands some parts; clients opt in.
    let is_v7 = headers.get("x-millpond-ai-sdk").is_some_and(|version| version == "7");
    let version = if is_v7 { Version::V7 } else { Version::V6 };
    let picture_prefix = format!("/v1/sessions/{session}/blobs/");
    let options = Options { version, image_prefix: picture_prefix, ..Options::default() };
    let mut response = stream_run_as_sse(run, Encoder::new(AiSdk::new(options)));
    let version = HeaderValue::from_static("v1");
    response.headers_mut().insert("x-vercel-ai-ui-message-stream", version);
    response
}
