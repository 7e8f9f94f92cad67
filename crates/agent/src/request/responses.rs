//! Request body of OpenAI's Responses, with nothing stored on the server.

use millpond_engine::event::Image;
use millpond_log::agent::Prompt;
use serde_json::{Value, json};

use super::{
    ModelInput, arguments_as_json_text, image_url, merge_seal, prompt_text_unless_only_images,
    result_text_or_placeholder, seal_has_any_member,
};
use crate::conversation::{Part, ToolResult, Turn};
use crate::model::{Model, ThoughtReplay};

pub(super) fn build_body(model: &Model, model_input: ModelInput<'_>) -> Value {
    let mut input = Vec::new();
    for turn in model_input.turns {
        match turn {
            Turn::Person(prompt) => input.push(user_message(prompt)),
            Turn::Agent(parts) => {
                input
                    .extend(parts.iter().filter_map(|part| input_item(model.thought_replay, part)));
            }
            Turn::Results(results) => input.extend(results.iter().map(function_output_item)),
        }
    }
    let mut body = json!({
        "model": model.name,
        "instructions": model_input.system_prompt,
        "input": input,
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "tools": model_input.tools.iter().map(|tool| json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": false,
        })).collect::<Vec<_>>(),
    });
    if model.thinking_tokens.is_some() {
        body["reasoning"] = json!({ "summary": "auto" });
    }
    body
}

fn user_message(prompt: &Prompt) -> Value {
    let text_part = prompt_text_unless_only_images(prompt)
        .map(|text| json!({ "type": "input_text", "text": text }));
    let content: Vec<Value> = text_part.into_iter().chain(image_parts(&prompt.images)).collect();
    json!({ "type": "message", "role": "user", "content": content })
}

fn image_parts(images: &[Image<'_>]) -> Vec<Value> {
    let urls = images.iter().filter_map(image_url);
    urls.map(|url| json!({ "type": "input_image", "image_url": url })).collect()
}

fn input_item(thought_replay: ThoughtReplay, part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            Some(json!({ "type": "message", "role": "assistant", "content": content }))
        }
        Part::Thought { text, seal } if thought_replay == ThoughtReplay::Resend => {
            let content = json!([{ "type": "reasoning_text", "text": text }]);
            let item = json!({ "type": "reasoning", "summary": [], "content": content });
            Some(merge_seal(item, seal.as_ref()))
        }
        // Otherwise only sealed reasoning can be sent back.
        Part::Thought { seal, .. } => {
            let seal =
                seal.as_ref().filter(|seal| seal_has_any_member(seal, &["encrypted_content"]))?;
            Some(merge_seal(json!({ "type": "reasoning", "summary": [] }), Some(seal)))
        }
        Part::Call(call) => Some(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_as_json_text(&call.arguments),
        })),
    }
}

fn function_output_item(result: &ToolResult) -> Value {
    let images = image_parts(&result.images);
    let output: Value = if images.is_empty() {
        result_text_or_placeholder(&result.text).into()
    } else {
        let text =
            json!({ "type": "input_text", "text": result_text_or_placeholder(&result.text) });
        std::iter::once(text).chain(images).collect()
    };
    json!({ "type": "function_call_output", "call_id": result.id, "output": output })
}
