//! Claude Code, and whoever speaks as it does: JSON lines both ways, permissions asked in between.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::protocol::{Decision, End, Reaction, Said, Turn, text_part};

#[derive(Debug)]
pub(super) struct Claude {
    turn: Turn,
    session: Option<String>,
    /// What it asks, as it asked: what is allowed is exactly what was shown.
    asks: BTreeMap<String, Asked>,
}

#[derive(Debug)]
struct Asked {
    tool: String,
    input: Value,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    request: Option<Request>,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    is_error: bool,
}

impl Line {
    fn is_answer_to(&self, id: &str) -> bool {
        self.response.get("request_id").is_some_and(|answered| answered == id)
    }
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    input: Value,
}

/// The tool by which it asks questions of its own.
const QUESTION_TOOL: &str = "AskUserQuestion";

impl Claude {
    pub(super) fn new(turn: Turn) -> Claude {
        Claude { turn, session: None, asks: BTreeMap::new() }
    }

    /// Whoever says hello first is asked for permissions.
    pub(super) fn begin() -> Vec<Said> {
        vec![control(HELLO, "initialize")]
    }

    fn prompt(&self) -> Said {
        let content = self.turn.parts(text_part, |media_type, data| {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            json!({"type": "image", "source": source})
        });
        line(&json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    pub(super) fn hear(&mut self, text: &str) -> Reaction {
        let Ok(mut line) = serde_json::from_str::<Line>(text) else { return Reaction::news() };
        if let Some(session) = line.session_id.take() {
            self.session = Some(session);
        }
        match (line.kind.as_str(), line.request_id.clone(), line.request.take()) {
            ("result", ..) if line.is_error => Reaction { end: End::Failed, ..Reaction::over() },
            ("result", ..) => Reaction::over(),
            ("control_response", ..) if line.is_answer_to(HELLO) => Reaction::say([self.prompt()]),
            ("control_response", ..) => Reaction::default(),
            ("control_request", Some(id), Some(request)) => self.asked(id, request),
            ("control_cancel_request", Some(id), _) => {
                self.asks.remove(&id);
                Reaction::news()
            }
            _ => Reaction::news(),
        }
    }

    fn asked(&mut self, id: String, request: Request) -> Reaction {
        if request.subtype == "can_use_tool" {
            self.asks.insert(id, Asked { tool: request.tool_name, input: request.input });
            return Reaction::news();
        }
        // Nothing else is offered here, and an agent that waits for an answer would wait for ever.
        let error = format!("`{}` is not offered here", request.subtype);
        let response = json!({"subtype": "error", "request_id": id, "error": error});
        let say = vec![line(&json!({"type": "control_response", "response": response}))];
        Reaction { say, ..Reaction::news() }
    }

    pub(super) fn answer(&mut self, ask: &str, decision: Decision<'_>) -> Option<Said> {
        let Asked { tool, input } = self.asks.get(ask)?;
        let behavior = match decision {
            Decision::Allow | Decision::Said("allow") => allow(input),
            Decision::Deny => deny("Nobody answered in time."),
            Decision::Said(words) => match (words.strip_prefix("deny"), tool.as_str()) {
                (Some(""), _) => deny("The person did not allow this."),
                (Some(why), _) if why.starts_with(':') => deny(why[1..].trim()),
                (_, QUESTION_TOOL) => allow(&answered(input, words)),
                _ => return None,
            },
        };
        self.asks.remove(ask);
        let response = json!({"subtype": "success", "request_id": ask, "response": behavior});
        Some(line(&json!({"type": "control_response", "response": response})))
    }

    pub(super) fn interrupt() -> Said {
        control("millpond-stop", "interrupt")
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// The request that comes before all others.
const HELLO: &str = "millpond-hello";

fn control(id: &str, subtype: &str) -> Said {
    let request = json!({"subtype": subtype});
    line(&json!({"type": "control_request", "request_id": id, "request": request}))
}

fn line(value: &Value) -> Said {
    Said::Line(value.to_string())
}

fn allow(input: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": input})
}

fn deny(why: &str) -> Value {
    json!({"behavior": "deny", "message": why})
}

/// The same words as the answer to every question that was asked.
fn answered(input: &Value, words: &str) -> Value {
    let mut input = input.clone();
    let questions = input.get("questions").and_then(Value::as_array).cloned().unwrap_or_default();
    let texts = questions.iter().filter_map(|question| question.get("question")?.as_str());
    let answers: serde_json::Map<String, Value> =
        texts.map(|text| (text.to_owned(), words.into())).collect();
    if let Some(members) = input.as_object_mut() {
        members.insert("answers".to_owned(), answers.into());
    }
    input
}
