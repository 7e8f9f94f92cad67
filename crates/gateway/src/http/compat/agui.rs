//! AG-UI: `POST /agui` runs an agent on a thread.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::compat::Encoder;
use crate::compat::agui::{AgUi, Options};

use super::super::AppState;
use super::super::access_middleware::OwnerOnly;
use super::super::error::ApiError;
use super::super::extract::Json;
use super::{enqueue_message_and_follow_run, find_or_create_named_session, stream_run_as_sse};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct RunRequest {
    thread_id: String,
    run_id: String,
    #[serde(default)]
    messages: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct InputMessage {
    id: String,
    role: String,
    #[serde(default)]
    content: Value,
}

pub(in crate::http) async fn post_run(
    State(gateway): AppState,
    OwnerOnly(owner): OwnerOnly,
    Json(input): Json<RunRequest>,
) -> Result<Response, ApiError> {
    let messages = input.messages.iter().rev();
    let mut messages =
        messages.filter_map(|raw| serde_json::from_str::<InputMessage>(raw.get()).ok());
    let last_message = messages.find(|message| message.role == "user");
    let last_message =
        last_message.ok_or_else(|| ApiError::bad_request("There is no user message."))?;
    let session =
        find_or_create_named_session(&gateway, owner, &format!("ag-ui/{}", input.thread_id))
            .await?;
    // A client may run the same message again under another run id.
    let key = format!("{}/{}", last_message.id, input.run_id);
    let run = enqueue_message_and_follow_run(
        &gateway,
        session,
        Some(key),
        content_text(&last_message.content),
    )
    .await?;
    let options = Options {
        thread: input.thread_id,
        run: Some(input.run_id),
        image_prefix: format!("/v1/sessions/{session}/blobs/"),
        history: input.messages,
        ..Options::default()
    };
    Ok(stream_run_as_sse(run, Encoder::new(AgUi::new(options))))
}

/// Text of a message's content: a string, or the texts of its parts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
