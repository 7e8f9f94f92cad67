//! Builds model requests for each API. Pure: a conversation in, a request out.

mod chat;
mod gemini;
mod messages;
mod ollama;
mod responses;

use millpond_engine::event::Image;
use millpond_log::agent::Prompt;
use serde_json::{Map, Value, json};

use crate::conversation::Turn;
use crate::model::{Model, ModelApi};

/// Definition of a tool for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Name by which the model calls it.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// Input of one model call.
#[derive(Clone, Copy, Debug)]
pub struct ModelInput<'a> {
    /// System prompt.
    pub system_prompt: &'a str,
    /// Conversation so far.
    pub turns: &'a [Turn],
    /// Tools it may call.
    pub tools: &'a [ToolSpec],
}

/// An HTTP request, complete except for the API key.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Full URL.
    pub url: String,
    /// Name of the header for the key, and the prefix of its value.
    pub key_header: (&'static str, &'static str),
    /// Other headers.
    pub headers: Vec<(&'static str, &'static str)>,
    /// JSON body.
    pub body: Value,
}

/// Builds the request of one call.
pub fn build_request(model: &Model, input: ModelInput<'_>) -> Request {
    let (path, body) = match model.api {
        ModelApi::Chat => ("/chat/completions".to_owned(), chat::build_body(model, input)),
        ModelApi::Responses => ("/responses".to_owned(), responses::build_body(model, input)),
        ModelApi::Messages => ("/messages".to_owned(), messages::build_body(model, input)),
        ModelApi::Gemini => {
            let path = format!("/models/{}:streamGenerateContent?alt=sse", model.name);
            (path, gemini::build_body(model, input))
        }
        ModelApi::Ollama => ("/api/chat".to_owned(), ollama::build_body(model, input)),
    };
    let (key_header, headers) = match model.api {
        ModelApi::Messages => (("x-api-key", ""), vec![("anthropic-version", "2023-06-01")]),
        ModelApi::Gemini => (("x-goog-api-key", ""), Vec::new()),
        ModelApi::Chat | ModelApi::Responses | ModelApi::Ollama => {
            (("authorization", "Bearer "), Vec::new())
        }
    };
    let url = format!("{}{path}", model.base_url.trim_end_matches('/'));
    Request { url, key_header, headers, body: merge_extra_params(body, &model.extra_params) }
}

/// Merges the profile's extra members into the body; they win, objects and arrays are combined.
fn merge_extra_params(mut body: Value, extra: &Map<String, Value>) -> Value {
    fn merge_objects(target: &mut Map<String, Value>, source: &Map<String, Value>) {
        for (name, value) in source {
            match (target.get_mut(name), value) {
                (Some(Value::Object(target)), Value::Object(source)) => {
                    merge_objects(target, source);
                }
                (Some(Value::Array(target)), Value::Array(source)) => {
                    target.extend(source.iter().cloned());
                }
                _ => {
                    target.insert(name.clone(), value.clone());
                }
            }
        }
    }
    if let Value::Object(body) = &mut body {
        merge_objects(body, extra);
    }
    body
}

/// Arguments as a JSON object, which most APIs require. Anything else is wrapped as text.
fn arguments_as_json_object(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Value::Object(members),
        _ if text.trim().is_empty() => json!({}),
        _ => json!({ "unreadable": text }),
    }
}

/// Arguments as JSON text: as the model wrote them if they are an object.
fn arguments_as_json_text(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => arguments_as_json_object(text).to_string(),
    }
}

/// True if the seal has one of these members, so it is this API's. Other APIs' seals are not sent.
fn seal_has_any_member(seal: &str, members: &[&str]) -> bool {
    let seal: Map<String, Value> = serde_json::from_str(seal).unwrap_or_default();
    members.iter().any(|name| seal.contains_key(*name))
}

/// URL or data URL of an image.
fn image_url(image: &Image<'_>) -> Option<String> {
    match image {
        Image::Url { url } => Some(url.to_string()),
        Image::Inline { media_type, base64 } => Some(format!("data:{media_type};base64,{base64}")),
        Image::Kept { .. } => None,
    }
}

/// Text of a prompt; `None` if it is blank and there are images.
fn prompt_text_unless_only_images(prompt: &Prompt) -> Option<&str> {
    Some(prompt.text.as_str()).filter(|text| prompt.images.is_empty() || !text.trim().is_empty())
}

/// Output of a tool, or a placeholder: some providers reject an empty result.
fn result_text_or_placeholder(text: &str) -> &str {
    if text.is_empty() { "(no output)" } else { text }
}

/// Tool definition for chat completions and Ollama.
fn function_tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
        },
    })
}

/// Adds the members of a seal to an object.
fn merge_seal(mut object: Value, seal: Option<&String>) -> Value {
    if let (Value::Object(target), Some(seal)) = (&mut object, seal)
        && let Ok(Value::Object(members)) = serde_json::from_str(seal)
    {
        target.extend(members);
    }
    object
}
