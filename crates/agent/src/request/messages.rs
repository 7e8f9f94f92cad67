//! Anthropic's Messages.

use engine::event::Image;
use serde_json::{Value, json};

use super::{Asked, arguments, is_own, result_text, sealed, words};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::Model;

pub(super) fn body(model: &Model, asked: Asked<'_>) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in asked.turns {
        let (role, blocks): (&str, Vec<Value>) = match turn {
            Turn::Person(prompt) => {
                let text = words(prompt).map(|text| json!({ "type": "text", "text": text }));
                ("user", text.into_iter().chain(pictures(&prompt.images)).collect())
            }
            Turn::Agent(parts) => ("assistant", parts.iter().filter_map(block).collect()),
            Turn::Results(results) => ("user", results.iter().map(result_block).collect()),
        };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            // Sides take turns here.
            Some((last, open)) if *last == role => open.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    // What is said up to here is kept by the provider for the next round.
    if let Some(last) = messages.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
    let messages: Vec<Value> = messages
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect();
    let mut body = json!({
        "model": model.name,
        "max_tokens": model.max_tokens,
        "messages": messages,
        "stream": true,
    });
    if !asked.system.is_empty() {
        let cache = json!({ "type": "ephemeral" });
        body["system"] = json!([{ "type": "text", "text": asked.system, "cache_control": cache }]);
    }
    if !asked.tools.is_empty() {
        let tools = asked.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.about, "input_schema": tool.schema })
        });
        body["tools"] = tools.collect();
    }
    if let Some(tokens) = model.thinking_tokens {
        body["thinking"] = json!({ "type": "enabled", "budget_tokens": tokens });
    }
    body
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({ "type": "text", "text": text })),
        // Only what the provider sealed can be given back.
        Part::Thought { text, seal } => {
            let seal = seal.as_ref().filter(|seal| is_own(seal, &["signature", "data"]))?;
            let is_redacted = seal.contains("\"data\"");
            let block = if is_redacted {
                json!({ "type": "redacted_thinking" })
            } else {
                json!({ "type": "thinking", "thinking": text })
            };
            Some(sealed(block, Some(seal)))
        }
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": arguments(&call.arguments),
        })),
    }
}

fn pictures(images: &[Image<'_>]) -> impl Iterator<Item = Value> {
    images.iter().filter_map(|image| match image {
        Image::Url { url } => {
            Some(json!({ "type": "image", "source": { "type": "url", "url": url } }))
        }
        Image::Inline { media_type, base64 } => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": media_type, "data": base64 },
        })),
        Image::Kept { .. } => None,
    })
}

fn result_block(result: &ToolResult) -> Value {
    let text = json!({ "type": "text", "text": result_text(&result.text) });
    let content: Vec<Value> = std::iter::once(text).chain(pictures(&result.images)).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.id, "content": content });
    if result.failed {
        block["is_error"] = true.into();
    }
    block
}
