//! The AI SDK's chat: `POST /api/chat`, `GET /api/chat/{id}/stream` to come back to it, and `DELETE`
//! there to stop it, because the client's own stop only goes away.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::compat::Encoder;
use crate::compat::ai_sdk::{AiSdk, Options, Version};
use crate::gateway::Gateway;
use crate::id::{OwnerId, RunId, SessionId};
use crate::store::StoreError;

use super::super::App;
use super::super::error::ApiError;
use super::super::extract::{Json, Path};
use super::super::gate::Owner;
use super::super::runs;
use super::{Followed, ask, event_stream, session_named};

/// Fields that mean nothing here are the client's own.
#[derive(Deserialize)]
pub(in crate::http) struct Chat {
    id: String,
    messages: Vec<Message>,
    #[serde(default)]
    trigger: String,
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
    // A client that sends a message again means the same run, unless it has edited it or wants
    // another answer.
    let again = chat.trigger == "regenerate-message";
    let key = last.id.as_ref().filter(|_| !again).map(|id| format!("{id}/{text}"));
    let follower = ask(&gateway, session, key, text).await?;
    Ok(stream(follower, session, &headers))
}

/// The stream of the run that is going, from its beginning; nothing if none is.
pub(in crate::http) async fn reconnect(
    State(gateway): App,
    Owner(owner): Owner,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let session = session_of(owner, &id);
    let Some((run, first)) = going(&gateway, session).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let run = Followed::new(&gateway, session, run, first).await?;
    Ok(stream(run, session, &headers))
}

/// Stops the run that is going, if any is; answers when it has ended.
pub(in crate::http) async fn stop(
    State(gateway): App,
    Owner(owner): Owner,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let session = session_of(owner, &id);
    if let Some((run, _)) = going(&gateway, session).await? {
        runs::stop(&gateway, session, run).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

fn session_of(owner: OwnerId, chat: &str) -> SessionId {
    SessionId::of_key(&format!("{owner}/{}", name(chat)))
}

/// The run that is going or is next, and from which record on it is found.
async fn going(gateway: &Gateway, session: SessionId) -> Result<Option<(RunId, u64)>, StoreError> {
    let (head, next) = gateway
        .log
        .blocking(move |store| {
            let Some(found) = store.session(session)? else { return Ok((0, None)) };
            Ok((found.head, store.queue(session)?.first().map(|message| message.id)))
        })
        .await?;
    // Looked at after the queue: a message leaves it only when its run is going.
    let Some(run) = gateway.runs.of(session).or(next.map(RunId::from)) else { return Ok(None) };
    let row = gateway.log.blocking(move |store| store.run(run)).await?;
    Ok(Some((run, row.map_or(head, |row| row.first))))
}

fn stream(run: Followed, session: SessionId, headers: &HeaderMap) -> Response {
    // Only version 7 of the SDK understands some parts; whoever wants them says so.
    let newer = headers.get("x-millpond-ai-sdk").is_some_and(|version| version == "7");
    let version = if newer { Version::V7 } else { Version::V6 };
    let picture_prefix = format!("/v1/sessions/{session}/blobs/");
    let options = Options { version, picture_prefix, ..Options::default() };
    let mut response = event_stream(run, Encoder::new(AiSdk::new(options)));
    let version = HeaderValue::from_static("v1");
    response.headers_mut().insert("x-vercel-ai-ui-message-stream", version);
    response
}
