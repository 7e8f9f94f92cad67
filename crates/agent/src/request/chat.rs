//! OpenAI's chat completions.

use engine::event::Image;
use gateway::agent::Prompt;
use serde_json::{Value, json};

use super::{Asked, arguments_text, image_url, result_text, words};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::{Model, Thoughts};

pub(super) fn body(model: &Model, asked: Asked<'_>) -> Value {
    let mut messages = Vec::new();
    if !asked.system.is_empty() {
        messages.push(json!({ "role": "system", "content": asked.system }));
    }
    for turn in asked.turns {
        match turn {
            Turn::Person(prompt) => messages.push(person(prompt)),
            Turn::Agent(parts) => messages.push(agent(model, parts)),
            Turn::Results(results) => results_of(results, &mut messages),
        }
    }
    let mut body = json!({
        "model": model.name,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if !asked.tools.is_empty() {
        body["tools"] = asked.tools.iter().map(super::function).collect();
    }
    body
}

pub(super) fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(text.as_str()),
        Part::Text(_) | Part::Thought { .. } | Part::Call(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn agent(model: &Model, parts: &[Part]) -> Value {
    let calls: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": arguments_text(&call.arguments) },
            })),
            Part::Text(_) | Part::Thought { .. } => None,
        })
        .collect();
    let text = text_of(parts);
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let thoughts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Thought { text, .. } if !text.is_empty() => Some(text.as_str()),
            Part::Thought { .. } | Part::Text(_) | Part::Call(_) => None,
        })
        .collect();
    if model.thoughts == Thoughts::GiveBack && !thoughts.is_empty() {
        message["reasoning_content"] = thoughts.join("\n").into();
    }
    message
}

/// Text alone where nothing is shown: many servers know nothing else.
fn person(prompt: &Prompt) -> Value {
    let pictures = pictures(&prompt.images);
    let content: Value = if pictures.is_empty() {
        prompt.text.as_str().into()
    } else {
        let words = words(prompt).map(|text| json!({ "type": "text", "text": text }));
        words.into_iter().chain(pictures).collect()
    };
    json!({ "role": "user", "content": content })
}

fn pictures(images: &[Image<'_>]) -> Vec<Value> {
    let urls = images.iter().filter_map(image_url);
    urls.map(|url| json!({ "type": "image_url", "image_url": { "url": url } })).collect()
}

/// A result is text alone here; its pictures follow as if the person had shown them.
fn results_of(results: &[ToolResult], messages: &mut Vec<Value>) {
    for result in results {
        messages.push(json!({
            "role": "tool",
            "tool_call_id": result.id,
            "content": result_text(&result.text),
        }));
    }
    for result in results {
        let pictures = pictures(&result.images);
        if !pictures.is_empty() {
            let words =
                json!({ "type": "text", "text": format!("Pictures from {}:", result.name) });
            let content: Vec<Value> = std::iter::once(words).chain(pictures).collect();
            messages.push(json!({ "role": "user", "content": content }));
        }
    }
}
