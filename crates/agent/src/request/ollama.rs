//! Request body of Ollama's chat API.

use millpond_engine::event::Image;
use millpond_log::agent::Prompt;
use serde_json::{Value, json};

use super::chat::join_text_parts;
use super::{ModelInput, arguments_as_json_object, result_text_or_placeholder};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::Model;

pub(super) fn build_body(model: &Model, input: ModelInput<'_>) -> Value {
    let mut messages = Vec::new();
    if !input.system_prompt.is_empty() {
        messages.push(json!({ "role": "system", "content": input.system_prompt }));
    }
    for turn in input.turns {
        match turn {
            Turn::Person(Prompt { text, images }) => {
                messages
                    .push(attach_inline_images(json!({ "role": "user", "content": text }), images));
            }
            Turn::Agent(parts) => messages.push(assistant_message(parts)),
            Turn::Results(results) => messages.extend(results.iter().map(tool_message)),
        }
    }
    let mut body = json!({ "model": model.name, "messages": messages, "stream": true });
    if !input.tools.is_empty() {
        body["tools"] = input.tools.iter().map(super::function_tool).collect();
    }
    if model.thinking_tokens.is_some() {
        body["think"] = true.into();
    }
    body
}

fn assistant_message(parts: &[Part]) -> Value {
    let calls: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(json!({
                "function": { "name": call.name, "arguments": arguments_as_json_object(&call.arguments) },
            })),
            Part::Text(_) | Part::Thought { .. } => None,
        })
        .collect();
    let mut message = json!({ "role": "assistant", "content": join_text_parts(parts) });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn tool_message(result: &ToolResult) -> Value {
    let message = json!({
        "role": "tool",
        "tool_name": result.name,
        "content": result_text_or_placeholder(&result.text),
    });
    attach_inline_images(message, &result.images)
}

fn attach_inline_images(mut message: Value, images: &[Image<'_>]) -> Value {
    let base64_images: Vec<&str> = images
        .iter()
        .filter_map(|image| match image {
            Image::Inline { base64, .. } => Some(&**base64),
            Image::Url { .. } | Image::Kept { .. } => None,
        })
        .collect();
    if !base64_images.is_empty() {
        message["images"] = json!(base64_images);
    }
    message
}
