//! Request body of Gemini's generateContent.

use millpond_engine::event::Image;
use serde_json::{Value, json};

use super::{
    ModelInput, arguments_as_json_object, merge_seal, prompt_text_unless_only_images,
    result_text_or_placeholder, seal_has_any_member,
};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::Model;

pub(super) fn build_body(model: &Model, input: ModelInput<'_>) -> Value {
    let mut contents = Vec::new();
    for turn in input.turns {
        let (role, parts): (&str, Vec<Value>) = match turn {
            Turn::Person(prompt) => {
                let text =
                    prompt_text_unless_only_images(prompt).map(|text| json!({ "text": text }));
                ("user", text.into_iter().chain(inline_image_parts(&prompt.images)).collect())
            }
            Turn::Agent(parts) => ("model", parts.iter().filter_map(content_part).collect()),
            Turn::Results(results) => {
                ("user", results.iter().flat_map(function_response_parts).collect())
            }
        };
        if !parts.is_empty() {
            contents.push(json!({ "role": role, "parts": parts }));
        }
    }
    let mut body = json!({
        "contents": contents,
        "generationConfig": { "maxOutputTokens": model.max_tokens },
    });
    if !input.system_prompt.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": input.system_prompt }] });
    }
    if !input.tools.is_empty() {
        let declarations: Vec<Value> = input
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
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

fn content_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(json!({ "text": text })),
        Part::Thought { .. } => None,
        Part::Call(call) => {
            let args = arguments_as_json_object(&call.arguments);
            let function = json!({ "functionCall": { "name": call.name, "args": args } });
            let seal =
                call.seal.as_ref().filter(|seal| seal_has_any_member(seal, &["thoughtSignature"]));
            Some(merge_seal(function, seal))
        }
    }
}

/// Function response, followed by its images.
fn function_response_parts(result: &ToolResult) -> Vec<Value> {
    let key = if result.failed { "error" } else { "output" };
    let function = json!({
        "functionResponse": {
            "name": result.name,
            "response": { key: result_text_or_placeholder(&result.text) },
        },
    });
    std::iter::once(function).chain(inline_image_parts(&result.images)).collect()
}

fn inline_image_parts(images: &[Image<'_>]) -> impl Iterator<Item = Value> {
    images.iter().filter_map(|image| match image {
        Image::Inline { media_type, base64 } => {
            Some(json!({ "inlineData": { "mimeType": media_type, "data": base64 } }))
        }
        Image::Url { .. } | Image::Kept { .. } => None,
    })
}
