//! OpenAI's Responses, without anything kept on their side.

use engine::event::Image;
use gateway::agent::Prompt;
use serde_json::{Value, json};

use super::{Asked, arguments_text, image_url, is_own, result_text, sealed, words};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::{Model, Thoughts};

pub(super) fn body(model: &Model, asked: Asked<'_>) -> Value {
    let mut input = Vec::new();
    for turn in asked.turns {
        match turn {
            Turn::Person(prompt) => input.push(person(prompt)),
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

fn person(prompt: &Prompt) -> Value {
    let words = words(prompt).map(|text| json!({ "type": "input_text", "text": text }));
    let content: Vec<Value> = words.into_iter().chain(pictures(&prompt.images)).collect();
    json!({ "type": "message", "role": "user", "content": content })
}

fn pictures(images: &[Image<'_>]) -> Vec<Value> {
    let urls = images.iter().filter_map(image_url);
    urls.map(|url| json!({ "type": "input_image", "image_url": url })).collect()
}

fn item(thoughts: Thoughts, part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            Some(json!({ "type": "message", "role": "assistant", "content": content }))
        }
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
    let pictures = pictures(&result.images);
    let output: Value = if pictures.is_empty() {
        result_text(&result.text).into()
    } else {
        let text = json!({ "type": "input_text", "text": result_text(&result.text) });
        std::iter::once(text).chain(pictures).collect()
    };
    json!({ "type": "function_call_output", "call_id": result.id, "output": output })
}
