//! A second, independent reader: the visible text of a stream by the simplest possible code. It
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
pub(crate) fn whole_reply_texts(dialect: &str, bytes: &[u8]) -> Option<String> {
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
            Some(str_or_empty(whole).to_owned())
        })
        .collect();
    (!texts.is_empty()).then(|| without_tags(&texts.concat()))
}

pub(crate) fn visible_text(dialect: &str, bytes: &[u8]) -> String {
    let payloads = payloads(bytes);
    let said: String = match dialect {
        "claude-code" | "qwen-code" => claude_code_text(&payloads),
        "cursor-agent" => cursor_agent_text(&payloads),
        "codex" => codex_text(&payloads),
        "cline" => cline_text(&payloads),
        "opencode" => opencode_text(&payloads),
        _ => payloads.iter().map(|payload| payload_text(dialect, payload)).collect(),
    };
    without_tags(&said)
}

fn str_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn array_elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn payload_text(dialect: &str, payload: &Value) -> String {
    let kind = str_or_empty(&payload["type"]);
    match dialect {
        "openai-chat" => array_elements(&payload["choices"])
            .filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0)
            .map(|choice| match &choice["delta"]["content"] {
                Value::Array(parts) => {
                    parts.iter().map(|part| str_or_empty(&part["text"])).collect()
                }
                content => str_or_empty(content).to_owned(),
            })
            .collect(),
        "openai-responses" => match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                str_or_empty(&payload["delta"]).to_owned()
            }
            _ => String::new(),
        },
        "anthropic" => match kind {
            "content_block_delta" => str_or_empty(&payload["delta"]["text"]).to_owned(),
            "content_block_start" if payload["content_block"]["type"] == "text" => {
                str_or_empty(&payload["content_block"]["text"]).to_owned()
            }
            _ => String::new(),
        },
        "gemini" if payload["event_type"] == "step.delta" => {
            match str_or_empty(&payload["delta"]["type"]) {
                "text" => str_or_empty(&payload["delta"]["text"]).to_owned(),
                _ => String::new(),
            }
        }
        "gemini" => array_elements(&payload["candidates"][0]["content"]["parts"])
            .filter(|part| part["thought"] != true)
            .map(|part| str_or_empty(&part["text"]))
            .collect(),
        "bedrock" => str_or_empty(&payload["contentBlockDelta"]["delta"]["text"]).to_owned(),
        "cohere" => str_or_empty(&payload["delta"]["message"]["content"]["text"]).to_owned(),
        "gemini-cli" if payload["role"] == "assistant" => {
            str_or_empty(&payload["content"]).to_owned()
        }
        "copilot" if kind == "assistant.message_delta" => {
            str_or_empty(&payload["data"]["deltaContent"]).to_owned()
        }
        "codex-app-server" if payload["method"] == "item/agentMessage/delta" => {
            str_or_empty(&payload["params"]["delta"]).to_owned()
        }
        "pi" if payload["assistantMessageEvent"]["type"] == "text_delta" => {
            str_or_empty(&payload["assistantMessageEvent"]["delta"]).to_owned()
        }
        "acp" => {
            let update = &payload["params"]["update"];
            match str_or_empty(&update["sessionUpdate"]) {
                "agent_message_chunk" => str_or_empty(&update["content"]["text"]).to_owned(),
                _ => String::new(),
            }
        }
        _ => String::new(),
    }
}

/// Text of whole `assistant` lines, which repeat all deltas; errors are not model text.
fn claude_code_text(payloads: &[Value]) -> String {
    payloads
        .iter()
        .filter(|payload| payload["type"] == "assistant" && payload["parent_tool_use_id"].is_null())
        .filter(|payload| payload["message"]["model"] != "<synthetic>")
        .flat_map(|payload| array_elements(&payload["message"]["content"]))
        .filter(|block| block["type"] == "text")
        .map(|block| str_or_empty(&block["text"]))
        .collect()
}

/// Text of the lines with a time but no model call if output is partial; else of all lines.
fn cursor_agent_text(payloads: &[Value]) -> String {
    let assistant = |payload: &&Value| payload["type"] == "assistant";
    let is_delta =
        |payload: &&Value| !payload["timestamp_ms"].is_null() && payload["model_call_id"].is_null();
    let partial = payloads.iter().filter(assistant).any(|payload| is_delta(&payload));
    payloads
        .iter()
        .filter(assistant)
        .filter(|payload| !partial || is_delta(payload))
        .map(|payload| str_or_empty(&payload["message"]["content"][0]["text"]))
        .collect()
}

fn codex_text(payloads: &[Value]) -> String {
    payloads
        .iter()
        .filter(|payload| payload["type"] == "item.completed")
        .filter(|payload| payload["item"]["type"] == "agent_message")
        .map(|payload| str_or_empty(&payload["item"]["text"]))
        .collect()
}

/// Text deltas, then the final message of a tool.
fn cline_text(payloads: &[Value]) -> String {
    let events = payloads.iter().map(|payload| &payload["event"]);
    events
        .map(|event| match str_or_empty(&event["type"]) {
            "content_start" if event["contentType"] == "text" => str_or_empty(&event["text"]),
            "done" => {
                str_or_empty(&event["text"]).trim_start_matches("Submission recorded (verified): ")
            }
            _ => "",
        })
        .collect()
}

/// Whole text parts of `run`; for `serve`, the deltas of text parts.
fn opencode_text(payloads: &[Value]) -> String {
    let part_of = |payload: &Value| payload["properties"]["part"].clone();
    let is_text = |id: &Value| {
        payloads.iter().map(part_of).any(|part| part["id"] == *id && part["type"] == "text")
    };
    payloads
        .iter()
        .map(|payload| match str_or_empty(&payload["type"]) {
            "text" => str_or_empty(&payload["part"]["text"]),
            "message.part.delta" if is_text(&payload["properties"]["partID"]) => {
                str_or_empty(&payload["properties"]["delta"])
            }
            _ => "",
        })
        .collect()
}

/// Removes `<think>…</think>` and a tool tag that a small model left open.
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
