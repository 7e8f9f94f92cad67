//! Ollama's own chat.

use engine::event::Image;
use gateway::agent::Prompt;
use serde_json::{Value, json};

use super::chat::text_of;
use super::{Asked, arguments, result_text};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::Model;

pub(super) fn body(model: &Model, asked: Asked<'_>) -> Value {
    let mut messages = Vec::new();
    if !asked.system.is_empty() {
        messages.push(json!({ "role": "system", "content": asked.system }));
    }
    for turn in asked.turns {
        match turn {
            Turn::Person(Prompt { text, images }) => {
                messages.push(with_pictures(json!({ "role": "user", "content": text }), images));
            }
            Turn::Agent(parts) => messages.push(agent(parts)),
            Turn::Results(results) => messages.extend(results.iter().map(result_message)),
        }
    }
    let mut body = json!({ "model": model.name, "messages": messages, "stream": true });
    if !asked.tools.is_empty() {
        body["tools"] = asked.tools.iter().map(super::function).collect();
    }
    if model.thinking_tokens.is_some() {
        body["think"] = true.into();
    }
    body
}

fn agent(parts: &[Part]) -> Value {
    let calls: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(json!({
                "function": { "name": call.name, "arguments": arguments(&call.arguments) },
            })),
            Part::Text(_) | Part::Thought { .. } => None,
        })
        .collect();
    let mut message = json!({ "role": "assistant", "content": text_of(parts) });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn result_message(result: &ToolResult) -> Value {
    let message = json!({
        "role": "tool",
        "tool_name": result.name,
        "content": result_text(&result.text),
    });
    with_pictures(message, &result.images)
}

fn with_pictures(mut message: Value, images: &[Image<'_>]) -> Value {
    let pictures: Vec<&str> = images
        .iter()
        .filter_map(|image| match image {
            Image::Inline { base64, .. } => Some(&**base64),
            Image::Url { .. } | Image::Kept { .. } => None,
        })
        .collect();
    if !pictures.is_empty() {
        message["images"] = json!(pictures);
    }
    message
}
