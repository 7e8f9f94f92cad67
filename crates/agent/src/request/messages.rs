//! Request body of Anthropic's Messages.

use millpond_engine::event::Image;
use serde_json::{Value, json};

use super::{
    ModelInput, arguments_as_json_object, merge_seal, prompt_text_unless_only_images,
    result_text_or_placeholder, seal_has_any_member,
};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::Model;

pub(super) fn build_body(model: &Model, input: ModelInput<'_>) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in input.turns {
        let (role, blocks): (&str, Vec<Value>) = match turn {
            Turn::Person(prompt) => {
                let text = prompt_text_unless_only_images(prompt)
                    .map(|text| json!({ "type": "text", "text": text }));
                ("user", text.into_iter().chain(image_blocks(&prompt.images)).collect())
            }
            Turn::Agent(parts) => ("assistant", parts.iter().filter_map(content_block).collect()),
            Turn::Results(results) => ("user", results.iter().map(tool_result_block).collect()),
        };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            // Roles must alternate.
            Some((last_role, last_blocks)) if *last_role == role => last_blocks.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    // The provider caches everything up to here for the next round.
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
    if !input.system_prompt.is_empty() {
        let cache = json!({ "type": "ephemeral" });
        body["system"] =
            json!([{ "type": "text", "text": input.system_prompt, "cache_control": cache }]);
    }
    if !input.tools.is_empty() {
        let tools = input.tools.iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
        });
        body["tools"] = tools.collect();
    }
    if let Some(tokens) = model.thinking_tokens {
        body["thinking"] = json!({ "type": "enabled", "budget_tokens": tokens });
    }
    body
}

fn content_block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({ "type": "text", "text": text })),
        // Only sealed reasoning can be sent back.
        Part::Thought { text, seal } => {
            let seal =
                seal.as_ref().filter(|seal| seal_has_any_member(seal, &["signature", "data"]))?;
            let is_redacted = seal.contains("\"data\"");
            let block = if is_redacted {
                json!({ "type": "redacted_thinking" })
            } else {
                json!({ "type": "thinking", "thinking": text })
            };
            Some(merge_seal(block, Some(seal)))
        }
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": arguments_as_json_object(&call.arguments),
        })),
    }
}

fn image_blocks(images: &[Image<'_>]) -> impl Iterator<Item = Value> {
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

fn tool_result_block(result: &ToolResult) -> Value {
    let text = json!({ "type": "text", "text": result_text_or_placeholder(&result.text) });
    let content: Vec<Value> = std::iter::once(text).chain(image_blocks(&result.images)).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.id, "content": content });
    if result.failed {
        block["is_error"] = true.into();
    }
    block
}
