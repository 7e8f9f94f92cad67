//! OpenAI's Responses, without anything kept on their side.

use serde_json::{Value, json};

use super::{Asked, arguments_text, image_url, is_own, result_text, sealed};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::{Model, Thoughts};

pub(super) fn body(model: &Model, asked: Asked<'_>) -> Value {
    let mut input = Vec::new();
    for turn in asked.turns {
        match turn {
            Turn::Person(text) => input.push(message("user", "input_text", text)),
            Turn::Agent(parts) => {
                input.extend(parts.iter().filter_map(|part| item(model.thoughts, part)));
            }
            Turn::Results(results) => input.extend(results.iter().map(output)),
        }
    }
    let mut body = json!({
        "model": model.name,
        "instructions": asked.system,
        "input": input,
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "tools": asked.tools.iter().map(|tool| json!({
            "type": "function",
            "name": tool.name,
            "description": tool.about,
            "parameters": tool.schema,
            "strict": false,
        })).collect::<Vec<_>>(),
    });
    if model.thinking_tokens.is_some() {
        body["reasoning"] = json!({ "summary": "auto" });
    }
    body
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] })
}

fn item(thoughts: Thoughts, part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(message("assistant", "output_text", text)),
        Part::Thought { text, seal } if thoughts == Thoughts::GiveBack => {
            let content = json!([{ "type": "reasoning_text", "text": text }]);
            let item = json!({ "type": "reasoning", "summary": [], "content": content });
            Some(sealed(item, seal.as_ref()))
        }
        // Elsewhere only what the provider sealed can be given back.
        Part::Thought { seal, .. } => {
            let seal = seal.as_ref().filter(|seal| is_own(seal, &["encrypted_content"]))?;
            Some(sealed(json!({ "type": "reasoning", "summary": [] }), Some(seal)))
        }
        Part::Call(call) => Some(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_text(&call.arguments),
        })),
    }
}

fn output(result: &ToolResult) -> Value {
    let pictures: Vec<Value> = result
        .images
        .iter()
        .filter_map(image_url)
        .map(|url| json!({ "type": "input_image", "image_url": url }))
        .collect();
    let output: Value = if pictures.is_empty() {
        result_text(&result.text).into()
    } else {
        let text = json!({ "type": "input_text", "text": result_text(&result.text) });
        std::iter::once(text).chain(pictures).collect()
    };
    json!({ "type": "function_call_output", "call_id": result.id, "output": output })
}
