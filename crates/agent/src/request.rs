//! What a model is asked, in each protocol's own words. Pure: a conversation in, a request out.

mod chat;
mod gemini;
mod messages;
mod ollama;
mod responses;

use engine::event::Image;
use gateway::agent::Prompt;
use serde_json::{Map, Value, json};

use crate::conversation::Turn;
use crate::model::{Model, Wire};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub name: String,
    pub about: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// All that a model is to know before it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub system: &'a str,
    pub turns: &'a [Turn],
    pub tools: &'a [Spec],
}

/// A request that is ready to be sent, but for its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub url: String,
    /// The header that carries the key, and what stands before it there.
    pub key_header: (&'static str, &'static str),
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Value,
}

pub fn build(model: &Model, asked: Asked<'_>) -> Request {
    let (path, body) = match model.wire {
        Wire::Chat => ("/chat/completions".to_owned(), chat::body(model, asked)),
        Wire::Responses => ("/responses".to_owned(), responses::body(model, asked)),
        Wire::Messages => ("/messages".to_owned(), messages::body(model, asked)),
        Wire::Gemini => {
            let path = format!("/models/{}:streamGenerateContent?alt=sse", model.name);
            (path, gemini::body(model, asked))
        }
        Wire::Ollama => ("/api/chat".to_owned(), ollama::body(model, asked)),
    };
    let (key_header, headers) = match model.wire {
        Wire::Messages => (("x-api-key", ""), vec![("anthropic-version", "2023-06-01")]),
        Wire::Gemini => (("x-goog-api-key", ""), Vec::new()),
        Wire::Chat | Wire::Responses | Wire::Ollama => (("authorization", "Bearer "), Vec::new()),
    };
    let url = format!("{}{path}", model.base.trim_end_matches('/'));
    Request { url, key_header, headers, body: merged(body, &model.extra) }
}

/// The profile's own members beat ours; objects are put together.
fn merged(mut body: Value, extra: &Map<String, Value>) -> Value {
    fn put(into: &mut Map<String, Value>, from: &Map<String, Value>) {
        for (name, value) in from {
            match (into.get_mut(name), value) {
                (Some(Value::Object(into)), Value::Object(from)) => put(into, from),
                (Some(Value::Array(into)), Value::Array(from)) => into.extend(from.iter().cloned()),
                _ => {
                    into.insert(name.clone(), value.clone());
                }
            }
        }
    }
    if let Value::Object(body) = &mut body {
        put(body, extra);
    }
    body
}

/// Arguments as an object, which most protocols want them to be. What the model wrote otherwise is
/// kept as text.
fn arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Value::Object(members),
        _ if text.trim().is_empty() => json!({}),
        _ => json!({ "unreadable": text }),
    }
}

/// Arguments as the model wrote them, if they are what protocols that want text take for arguments.
fn arguments_text(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => arguments(text).to_string(),
    }
}

/// Whether a seal is this protocol's: it has one of these members. Another's is worth nothing here.
fn is_own(seal: &str, members: &[&str]) -> bool {
    let seal: Map<String, Value> = serde_json::from_str(seal).unwrap_or_default();
    members.iter().any(|member| seal.contains_key(*member))
}

/// An image as a URL, or as a data URL.
fn image_url(image: &Image<'_>) -> Option<String> {
    match image {
        Image::Url { url } => Some(url.to_string()),
        Image::Inline { media_type, base64 } => Some(format!("data:{media_type};base64,{base64}")),
        Image::Kept { .. } => None,
    }
}

/// What a person said, unless they only showed something.
fn words(prompt: &Prompt) -> Option<&str> {
    Some(prompt.text.as_str()).filter(|text| prompt.images.is_empty() || !text.trim().is_empty())
}

/// What a tool gave, never nothing: some providers refuse an empty result.
fn result_text(text: &str) -> &str {
    if text.is_empty() { "(no output)" } else { text }
}

/// A tool as chat completions and Ollama know it.
fn function(tool: &Spec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.about,
            "parameters": tool.schema,
        },
    })
}

/// An object, with the members that its seal has.
fn sealed(mut object: Value, seal: Option<&String>) -> Value {
    if let (Value::Object(into), Some(seal)) = (&mut object, seal)
        && let Ok(Value::Object(from)) = serde_json::from_str(seal)
    {
        into.extend(from);
    }
    object
}
