//! Chat completions and Responses, as a server: the agent is the model.
//!
//! These protocols keep no conversation here: every request is a session of its own.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;

use crate::clock::now_ms;
use crate::compat::Encoder;
use crate::compat::openai_chat::body::OpenAiChatBody;
use crate::compat::openai_chat::{self, IncludeUsage, OpenAiChat};
use crate::compat::openai_responses::{self, OpenAiResponses};
use crate::gateway::Gateway;
use crate::id::OwnerId;

use super::super::App;
use super::super::error::ApiError;
use super::super::extract::Json;
use super::super::gate::Owner;
use super::agui::text_of;
use super::{Followed, ask, event_stream, run_to_end};

#[derive(Deserialize)]
pub(in crate::http) struct Completion {
    model: String,
    messages: Vec<Message>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: StreamOptions,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

#[derive(Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

fn last_of_user(messages: &[Message]) -> String {
    let last = messages.iter().rev().find(|message| message.role == "user");
    last.map(|message| text_of(&message.content)).unwrap_or_default()
}

async fn ask_alone(
    gateway: &Arc<Gateway>,
    owner: OwnerId,
    text: String,
) -> Result<Followed, ApiError> {
    let session = gateway.create(owner, "").await?;
    ask(gateway, session.id, None, text).await
}

/// A run that failed is a failure of what stands behind this server. Clients ask again by
/// themselves after such a status; here that would be another run.
fn failed(body: String) -> Response {
    (StatusCode::BAD_GATEWAY, [("x-should-retry", "false")], json(body)).into_response()
}

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub(in crate::http) async fn completions(
    State(gateway): App,
    Owner(owner): Owner,
    Json(wanted): Json<Completion>,
) -> Result<Response, ApiError> {
    let run = ask_alone(&gateway, owner, last_of_user(&wanted.messages)).await?;
    let usage =
        if wanted.stream_options.include_usage { IncludeUsage::Yes } else { IncludeUsage::No };
    let options = openai_chat::Options {
        model: wanted.model,
        created: now_ms() / 1000,
        usage,
        ..openai_chat::Options::default()
    };
    if wanted.stream {
        return Ok(event_stream(run, Encoder::new(OpenAiChat::new(options))));
    }
    let mut encoder = Encoder::new(OpenAiChatBody::new(options));
    let body = run_to_end(run, &mut encoder).await;
    Ok(if encoder.protocol().is_answer() { json(body) } else { failed(body) })
}

#[derive(Deserialize)]
pub(in crate::http) struct Wanted {
    model: String,
    /// A text, or messages.
    input: Value,
    #[serde(default)]
    stream: bool,
}

pub(in crate::http) async fn responses(
    State(gateway): App,
    Owner(owner): Owner,
    Json(wanted): Json<Wanted>,
) -> Result<Response, ApiError> {
    let text = match &wanted.input {
        Value::String(text) => text.clone(),
        input => {
            let messages: Vec<Message> = serde_json::from_value(input.clone()).unwrap_or_default();
            last_of_user(&messages)
        }
    };
    let run = ask_alone(&gateway, owner, text).await?;
    let options = openai_responses::Options {
        model: wanted.model,
        created: now_ms() / 1000,
        ..openai_responses::Options::default()
    };
    let mut encoder = Encoder::new(OpenAiResponses::new(options));
    if wanted.stream {
        return Ok(event_stream(run, encoder));
    }
    run_to_end(run, &mut encoder).await;
    Ok(json(encoder.protocol().body().unwrap_or_default().to_owned()))
}
