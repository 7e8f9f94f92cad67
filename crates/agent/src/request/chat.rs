//! Request body of OpenAI's chat completions.

use millpond_engine::event::Image;
use millpond_log::agent::Prompt;
use serde_json::{Value, json};

use super::{
    ModelInput, arguments_as_json_text, image_url, prompt_text_unless_only_images,
    result_text_or_placeholder,
};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::{Model, ThoughtReplay};

pub(super) fn build_body(model: &Model, input: ModelInput<'_>) -> Value {
    let mut messages = Vec::new();
    if !input.system_prompt.is_empty() {
        messages.push(json!({ "role": "system", "content": input.system_prompt }));
    }
    for turn in input.turns {
        match turn {
            Turn::Person(prompt) => messages.push(user_message(prompt)),
            Turn::Agent(parts) => messages.push(assistant_message(model, parts)),
            Turn::Results(results) => push_result_messages(results, &mut messages),
        }
    }
    let mut body = json!({
        "model": model.name,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if !input.tools.is_empty() {
        body["tools"] = input.tools.iter().map(super::function_tool).collect();
    }
    body
}

/// Joins the text parts of a reply.
pub(super) fn join_text_parts(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(text.as_str()),
        Part::Text(_) | Part::Thought { .. } | Part::Call(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn assistant_message(model: &Model, parts: &[Part]) -> Value {
    let calls: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": arguments_as_json_text(&call.arguments) },
            })),
            Part::Text(_) | Part::Thought { .. } => None,
        })
        .collect();
    let text = join_text_parts(parts);
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let reasoning_texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Thought { text, .. } if !text.is_empty() => Some(text.as_str()),
            Part::Thought { .. } | Part::Text(_) | Part::Call(_) => None,
        })
        .collect();
    if model.thought_replay == ThoughtReplay::Resend && !reasoning_texts.is_empty() {
        message["reasoning_content"] = reasoning_texts.join("\n").into();
    }
    message
}

/// User message. Plain text if there are no images: many servers accept nothing else.
fn user_message(prompt: &Prompt) -> Value {
    let images = image_parts(&prompt.images);
    let content: Value = if images.is_empty() {
        prompt.text.as_str().into()
    } else {
        let text_part = prompt_text_unless_only_images(prompt)
            .map(|text| json!({ "type": "text", "text": text }));
        text_part.into_iter().chain(images).collect()
    };
    json!({ "role": "user", "content": content })
}

fn image_parts(images: &[Image<'_>]) -> Vec<Value> {
    let urls = images.iter().filter_map(image_url);
    urls.map(|url| json!({ "type": "image_url", "image_url": { "url": url } })).collect()
}

/// Pushes tool messages. They are text only, so images follow in a user message.
fn push_result_messages(results: &[ToolResult], messages: &mut Vec<Value>) {
    for result in results {
        messages.push(json!({
            "role": "tool",
            "tool_call_id": result.id,
            "content": result_text_or_placeholder(&result.text),
        }));
    }
    for result in results {
        let images = image_parts(&result.images);
        if !images.is_empty() {
            let note = json!({ "type": "text", "text": format!("Pictures from {}:", result.name) });
            let content: Vec<Value> = std::iter::once(note).chain(images).collect();
            messages.push(json!({ "role": "user", "content": content }));
        }
    }
}
