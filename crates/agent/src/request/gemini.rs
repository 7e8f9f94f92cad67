//! Gemini's generateContent.

use engine::event::Image;
use serde_json::{Value, json};

use super::{Asked, arguments, is_own, result_text, sealed, words};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::Model;

pub(super) fn body(model: &Model, asked: Asked<'_>) -> Value {
    let mut contents = Vec::new();
    for turn in asked.turns {
        let (role, parts): (&str, Vec<Value>) = match turn {
            Turn::Person(prompt) => {
                let text = words(prompt).map(|text| json!({ "text": text }));
                ("user", text.into_iter().chain(pictures(&prompt.images)).collect())
            }
            Turn::Agent(parts) => ("model", parts.iter().filter_map(part).collect()),
            Turn::Results(results) => ("user", results.iter().flat_map(response).collect()),
        };
        if !parts.is_empty() {
            contents.push(json!({ "role": role, "parts": parts }));
        }
    }
    let mut body = json!({
        "contents": contents,
        "generationConfig": { "maxOutputTokens": model.max_tokens },
    });
    if !asked.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": asked.system }] });
    }
    if !asked.tools.is_empty() {
        let declarations: Vec<Value> = asked
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.about,
                    "parametersJsonSchema": tool.schema,
                })
            })
            .collect();
        body["tools"] = json!([{ "functionDeclarations": declarations }]);
    }
    if let Some(tokens) = model.thinking_tokens {
        body["generationConfig"]["thinkingConfig"] =
            json!({ "includeThoughts": true, "thinkingBudget": tokens });
    }
    body
}

fn part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(json!({ "text": text })),
        Part::Thought { .. } => None,
        Part::Call(call) => {
            let args = arguments(&call.arguments);
            let function = json!({ "functionCall": { "name": call.name, "args": args } });
            let seal = call.seal.as_ref().filter(|seal| is_own(seal, &["thoughtSignature"]));
            Some(sealed(function, seal))
        }
    }
}

/// A result, and its pictures after it.
fn response(result: &ToolResult) -> Vec<Value> {
    let member = if result.failed { "error" } else { "output" };
    let function = json!({
        "functionResponse": {
            "name": result.name,
            "response": { member: result_text(&result.text) },
        },
    });
    std::iter::once(function).chain(pictures(&result.images)).collect()
}

fn pictures(images: &[Image<'_>]) -> impl Iterator<Item = Value> {
    images.iter().filter_map(|image| match image {
        Image::Inline { media_type, base64 } => {
            Some(json!({ "inlineData": { "mimeType": media_type, "data": base64 } }))
        }
        Image::Url { .. } | Image::Kept { .. } => None,
    })
}
