//! Chat completions and Responses as a server: the agent is the model.
//!
//! These protocols keep no conversation: every request has its own session.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;

use crate::compat::Encoder;
use crate::compat::openai_chat::body::OpenAiChatBody;
use crate::compat::openai_chat::{self, IncludeUsage, OpenAiChat};
use crate::compat::openai_responses::{self, OpenAiResponses};
use crate::gateway::Gateway;
use millpond_log::clock::now_ms;
use millpond_log::id::OwnerId;

use super::super::AppState;
use super::super::access_middleware::OwnerOnly;
use super::super::error::ApiError;
use super::super::extract::Json;
use super::agui::content_text;
use super::{
    FollowedRun, enqueue_message_and_follow_run, stream_run_as_sse, wait_for_last_payload,
};

#[derive(Deserialize)]
pub(in crate::http) struct CompletionRequest {
    model: String,
    messages: Vec<InputMessage>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: StreamOptions,
}

#[derive(Deserialize)]
struct InputMessage {
    role: String,
    #[serde(default)]
    content: Value,
}

#[derive(Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

fn last_user_text(messages: &[InputMessage]) -> String {
    let last_message = messages.iter().rev().find(|message| message.role == "user");
    last_message.map(|message| content_text(&message.content)).unwrap_or_default()
}

async fn enqueue_in_new_session_and_follow(
    gateway: &Arc<Gateway>,
    owner: OwnerId,
    text: String,
) -> Result<FollowedRun, ApiError> {
    let session = gateway.create_session_and_notify(owner, "").await?;
    enqueue_message_and_follow_run(gateway, session.id, None, text).await
}

/// Status 502 for a failed run. `x-should-retry: false`, because a client's retry would start
/// another run.
fn bad_gateway_response(body: String) -> Response {
    (StatusCode::BAD_GATEWAY, [("x-should-retry", "false")], json_response(body)).into_response()
}

fn json_response(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub(in crate::http) async fn post_completions(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Json(request): Json<CompletionRequest>,
) -> Result<Response, ApiError> {
    let run = enqueue_in_new_session_and_follow(&gateway, owner, last_user_text(&request.messages))
        .await?;
    let usage =
        if request.stream_options.include_usage { IncludeUsage::Yes } else { IncludeUsage::No };
    let options = openai_chat::Options {
        model: request.model,
        created: now_ms() / 1000,
        usage,
        ..openai_chat::Options::default()
    };
    if request.stream {
        return Ok(stream_run_as_sse(run, Encoder::new(OpenAiChat::new(options))));
    }
    let mut encoder = Encoder::new(OpenAiChatBody::new(options));
    let body = wait_for_last_payload(run, &mut encoder).await;
    Ok(if encoder.protocol().is_answer() {
        json_response(body)
    } else {
        bad_gateway_response(body)
    })
}

#[derive(Deserialize)]
pub(in crate::http) struct ResponsesRequest {
    model: String,
    /// A string, or messages.
    input: Value,
    #[serde(default)]
    stream: bool,
}

pub(in crate::http) async fn post_responses(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Json(request): Json<ResponsesRequest>,
) -> Result<Response, ApiError> {
    let text = match &request.input {
        Value::String(text) => text.clone(),
        input => {
            let messages: Vec<InputMessage> =
                serde_json::from_value(input.clone()).unwrap_or_default();
            last_user_text(&messages)
        }
    };
    let run = enqueue_in_new_session_and_follow(&gateway, owner, text).await?;
    let options = openai_responses::Options {
        model: request.model,
        created: now_ms() / 1000,
        ..openai_responses::Options::default()
    };
    let mut encoder = Encoder::new(OpenAiResponses::new(options));
    if request.stream {
        return Ok(stream_run_as_sse(run, encoder));
    }
    wait_for_last_payload(run, &mut encoder).await;
    Ok(json_response(encoder.protocol().body().unwrap_or_default().to_owned()))
}
