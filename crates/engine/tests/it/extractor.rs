//! A second opinion: the visible text of a stream, by the simplest code that could be right. It
//! shares nothing with the dialects.

use serde_json::Value;

fn payloads(bytes: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(bytes)
        .lines()
        .filter_map(|line| {
            let line = line.trim_start_matches('\u{feff}');
            let line = line.strip_prefix("data:").unwrap_or(line);
            let line = line.strip_prefix("< ").unwrap_or(line);
            serde_json::from_str(line.trim()).ok()
        })
        .collect()
}

/// The whole texts that a provider sends after its deltas, if it sends any.
pub(crate) fn final_texts(dialect: &str, bytes: &[u8]) -> Option<String> {
    let texts: Vec<String> = payloads(bytes)
        .iter()
        .filter_map(|payload| {
            let item = &payload["params"]["item"];
            let whole = match dialect {
                "openai-responses" if payload["type"] == "response.output_text.done" => {
                    &payload["text"]
                }
                "openai-responses" if payload["type"] == "response.refusal.done" => {
                    &payload["refusal"]
                }
                "codex-app-server"
                    if payload["method"] == "item/completed" && item["type"] == "agentMessage" =>
                {
                    &item["text"]
                }
                "copilot" if payload["type"] == "assistant.message" => &payload["data"]["content"],
                "pi" if payload["assistantMessageEvent"]["type"] == "text_end" => {
                    &payload["assistantMessageEvent"]["content"]
                }
                _ => return None,
            };
            Some(text(whole).to_owned())
        })
        .collect();
    (!texts.is_empty()).then(|| without_tags(&texts.concat()))
}

pub(crate) fn visible_text(dialect: &str, bytes: &[u8]) -> String {
    let payloads = payloads(bytes);
    let said: String = match dialect {
        "claude-code" | "qwen-code" => claude(&payloads),
        "cursor-agent" => cursor(&payloads),
        "codex" => codex(&payloads),
        "cline" => cline(&payloads),
        "opencode" => opencode(&payloads),
        _ => payloads.iter().map(|payload| one(dialect, payload)).collect(),
    };
    without_tags(&said)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn one(dialect: &str, payload: &Value) -> String {
    let kind = text(&payload["type"]);
    match dialect {
        "openai-chat" => each(&payload["choices"])
            .filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0)
            .map(|choice| match &choice["delta"]["content"] {
                Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
                content => text(content).to_owned(),
            })
            .collect(),
        "openai-responses" => match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                text(&payload["delta"]).to_owned()
            }
            _ => String::new(),
        },
        "anthropic" => match kind {
            "content_block_delta" => text(&payload["delta"]["text"]).to_owned(),
            "content_block_start" if payload["content_block"]["type"] == "text" => {
                text(&payload["content_block"]["text"]).to_owned()
            }
            _ => String::new(),
        },
        "gemini" if payload["event_type"] == "step.delta" => {
            match text(&payload["delta"]["type"]) {
                "text" => text(&payload["delta"]["text"]).to_owned(),
                _ => String::new(),
            }
        }
        "gemini" => each(&payload["candidates"][0]["content"]["parts"])
            .filter(|part| part["thought"] != true)
            .map(|part| text(&part["text"]))
            .collect(),
        "bedrock" => text(&payload["contentBlockDelta"]["delta"]["text"]).to_owned(),
        "cohere" => text(&payload["delta"]["message"]["content"]["text"]).to_owned(),
        "gemini-cli" if payload["role"] == "assistant" => text(&payload["content"]).to_owned(),
        "copilot" if kind == "assistant.message_delta" => {
            text(&payload["data"]["deltaContent"]).to_owned()
        }
        "codex-app-server" if payload["method"] == "item/agentMessage/delta" => {
            text(&payload["params"]["delta"]).to_owned()
        }
        "pi" if payload["assistantMessageEvent"]["type"] == "text_delta" => {
            text(&payload["assistantMessageEvent"]["delta"]).to_owned()
        }
        "acp" => {
            let update = &payload["params"]["update"];
            match text(&update["sessionUpdate"]) {
                "agent_message_chunk" => text(&update["content"]["text"]).to_owned(),
                _ => String::new(),
            }
        }
        _ => String::new(),
    }
}

/// Whole `assistant` lines, which repeat all deltas that stood; errors are not the model's words.
fn claude(payloads: &[Value]) -> String {
    payloads
        .iter()
        .filter(|payload| payload["type"] == "assistant" && payload["parent_tool_use_id"].is_null())
        .filter(|payload| payload["message"]["model"] != "<synthetic>")
        .flat_map(|payload| each(&payload["message"]["content"]))
        .filter(|block| block["type"] == "text")
        .map(|block| text(&block["text"]))
        .collect()
}

/// With partial output, the lines that have a time but no model call; else all of them.
fn cursor(payloads: &[Value]) -> String {
    let assistant = |payload: &&Value| payload["type"] == "assistant";
    let is_delta =
        |payload: &&Value| !payload["timestamp_ms"].is_null() && payload["model_call_id"].is_null();
    let partial = payloads.iter().filter(assistant).any(|payload| is_delta(&payload));
    payloads
        .iter()
        .filter(assistant)
        .filter(|payload| !partial || is_delta(payload))
        .map(|payload| text(&payload["message"]["content"][0]["text"]))
        .collect()
}

fn codex(payloads: &[Value]) -> String {
    payloads
        .iter()
        .filter(|payload| payload["type"] == "item.completed")
        .filter(|payload| payload["item"]["type"] == "agent_message")
        .map(|payload| text(&payload["item"]["text"]))
        .collect()
}

/// Text deltas, then the final message that came through a tool.
fn cline(payloads: &[Value]) -> String {
    let events = payloads.iter().map(|payload| &payload["event"]);
    events
        .map(|event| match text(&event["type"]) {
            "content_start" if event["contentType"] == "text" => text(&event["text"]),
            "done" => text(&event["text"]).trim_start_matches("Submission recorded (verified): "),
            _ => "",
        })
        .collect()
}

/// Whole text parts of `run`; of `serve` the deltas of parts that are text.
fn opencode(payloads: &[Value]) -> String {
    let part_of = |payload: &Value| payload["properties"]["part"].clone();
    let is_text = |id: &Value| {
        payloads.iter().map(part_of).any(|part| part["id"] == *id && part["type"] == "text")
    };
    payloads
        .iter()
        .map(|payload| match text(&payload["type"]) {
            "text" => text(&payload["part"]["text"]),
            "message.part.delta" if is_text(&payload["properties"]["partID"]) => {
                text(&payload["properties"]["delta"])
            }
            _ => "",
        })
        .collect()
}

/// Takes out `<think>…</think>` and a tool tag that a small model left open.
fn without_tags(said: &str) -> String {
    let mut said = said.to_owned();
    for name in ["think", "tool_call", "tool_response"] {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some(begin) = said.find(&open) {
            let end = said[begin..].find(&close).map_or(said.len(), |at| begin + at + close.len());
            said.replace_range(begin..end, "");
        }
    }
    said
}
