//! AG-UI: `POST /agui` runs an agent on a thread.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::compat::Encoder;
use crate::compat::agui::{AgUi, Options};

use super::super::App;
use super::super::error::ApiError;
use super::super::extract::Json;
use super::super::gate::Owner;
use super::{ask, event_stream, session_named};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Input {
    thread_id: String,
    run_id: String,
    #[serde(default)]
    messages: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Message {
    id: String,
    role: String,
    #[serde(default)]
    content: Value,
}

pub(in crate::http) async fn run(
    State(gateway): App,
    Owner(owner): Owner,
    Json(input): Json<Input>,
) -> Result<Response, ApiError> {
    let messages = input.messages.iter().rev();
    let mut messages = messages.filter_map(|raw| serde_json::from_str::<Message>(raw.get()).ok());
    let last = messages.find(|message| message.role == "user");
    let last = last.ok_or_else(|| ApiError::bad_request("There is no message of the user."))?;
    let session = session_named(&gateway, owner, &format!("ag-ui/{}", input.thread_id)).await?;
    // A client may run the same message again under another run id.
    let key = format!("{}/{}", last.id, input.run_id);
    let run = ask(&gateway, session, Some(key), text_of(&last.content)).await?;
    let options = Options {
        thread: input.thread_id,
        run: Some(input.run_id),
        picture_prefix: format!("/v1/sessions/{session}/blobs/"),
        history: input.messages,
        ..Options::default()
    };
    Ok(event_stream(run, Encoder::new(AgUi::new(options))))
}

/// Content is a text, or parts of which some are.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
