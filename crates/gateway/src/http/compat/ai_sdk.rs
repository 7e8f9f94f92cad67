//! The AI SDK's chat: `POST /api/chat`, and `GET /api/chat/{id}/stream` to come back to it.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::compat::Encoder;
use crate::compat::ai_sdk::{AiSdk, Options, Version};
use crate::follow::Follower;
use crate::id::SessionId;

use super::super::App;
use super::super::error::ApiError;
use super::super::extract::{Json, Path};
use super::super::gate::Owner;
use super::{ask, event_stream, session_named};

/// Fields that mean nothing here are the client's own.
#[derive(Deserialize)]
pub(in crate::http) struct Chat {
    id: String,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<String>,
    role: String,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

fn name(id: &str) -> String {
    format!("ai-sdk/{id}")
}

pub(in crate::http) async fn chat(
    State(gateway): App,
    Owner(owner): Owner,
    headers: HeaderMap,
    Json(chat): Json<Chat>,
) -> Result<Response, ApiError> {
    let last = chat.messages.iter().rev().find(|message| message.role == "user");
    let last = last.ok_or_else(|| ApiError::bad_request("There is no message of the user."))?;
    let text = last.parts.iter().filter(|part| part.kind == "text").map(|part| &*part.text);
    let text = text.collect::<Vec<_>>().join("\n");
    let session = session_named(&gateway, owner, &name(&chat.id)).await?;
    let follower = ask(&gateway, session, last.id.clone(), text).await?;
    Ok(stream(follower, session, &headers))
}

/// The stream of the run that is going, from its beginning; nothing if none is.
pub(in crate::http) async fn reconnect(
    State(gateway): App,
    Owner(owner): Owner,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let session = SessionId::of_key(&format!("{owner}/{}", name(&id)));
    let Some(run) = gateway.runs.of(session) else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let row = gateway.log.blocking(move |store| store.run(run)).await?;
    let first = row.ok_or_else(ApiError::not_found)?.first;
    let follower = Follower::new(&gateway.log, session, run, first).await?;
    Ok(stream(follower, session, &headers))
}

fn stream(follower: Follower, session: SessionId, headers: &HeaderMap) -> Response {
    // Only version 7 of the SDK understands some parts; whoever wants them says so.
    let newer = headers.get("x-millpond-ai-sdk").is_some_and(|version| version == "7");
    let version = if newer { Version::V7 } else { Version::V6 };
    let picture_prefix = format!("/v1/sessions/{session}/blobs/");
    let options = Options { version, picture_prefix, ..Options::default() };
    let mut response = event_stream(follower, Encoder::new(AiSdk::new(options)));
    let version = HeaderValue::from_static("v1");
    response.headers_mut().insert("x-vercel-ai-ui-message-stream", version);
    response
}
