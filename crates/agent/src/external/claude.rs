//! Claude Code and compatible agents: JSON lines both ways, with control requests for permissions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::protocol::{Decision, LineOutcome, OutgoingMessage, TurnEnd, TurnInput, text_part};

/// State of one turn with Claude Code.
#[derive(Debug)]
pub(super) struct Claude {
    turn: TurnInput,
    session: Option<String>,
    /// Open approval requests with their input: exactly what was shown is allowed.
    asks: BTreeMap<String, ApprovalRequest>,
}

#[derive(Debug)]
struct ApprovalRequest {
    tool: String,
    input: Value,
}

#[derive(Deserialize)]
struct ClaudeMessage {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    request: Option<ControlRequest>,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    is_error: bool,
}

impl ClaudeMessage {
    fn is_response_to(&self, id: &str) -> bool {
        self.response.get("request_id").is_some_and(|answered_id| answered_id == id)
    }
}

#[derive(Deserialize)]
struct ControlRequest {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    input: Value,
}

/// The tool by which it asks the user questions.
const QUESTION_TOOL: &str = "AskUserQuestion";

impl Claude {
    pub(super) fn new(turn: TurnInput) -> Claude {
        Claude { turn, session: None, asks: BTreeMap::new() }
    }

    /// The initialize request: it makes the agent ask for permissions.
    pub(super) fn opening_messages() -> Vec<OutgoingMessage> {
        vec![control_request(INITIALIZE_REQUEST_ID, "initialize")]
    }

    fn prompt_message(&self) -> OutgoingMessage {
        let content = self.turn.prompt_parts(text_part, |media_type, data| {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            json!({"type": "image", "source": source})
        });
        json_line(&json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    pub(super) fn handle_line(&mut self, text: &str) -> LineOutcome {
        let Ok(mut line) = serde_json::from_str::<ClaudeMessage>(text) else {
            return LineOutcome::for_log();
        };
        if let Some(session) = line.session_id.take() {
            self.session = Some(session);
        }
        match (line.kind.as_str(), line.request_id.clone(), line.request.take()) {
            ("result", ..) if line.is_error => {
                LineOutcome { turn_end: TurnEnd::Failed, ..LineOutcome::turn_over() }
            }
            ("result", ..) => LineOutcome::turn_over(),
            ("control_response", ..) if line.is_response_to(INITIALIZE_REQUEST_ID) => {
                LineOutcome::reply_without_log([self.prompt_message()])
            }
            ("control_response", ..) => LineOutcome::default(),
            ("control_request", Some(id), Some(request)) => {
                self.keep_ask_or_refuse_request(id, request)
            }
            ("control_cancel_request", Some(id), _) => {
                self.asks.remove(&id);
                LineOutcome::for_log()
            }
            _ => LineOutcome::for_log(),
        }
    }

    fn keep_ask_or_refuse_request(&mut self, id: String, request: ControlRequest) -> LineOutcome {
        if request.subtype == "can_use_tool" {
            self.asks.insert(id, ApprovalRequest { tool: request.tool_name, input: request.input });
            return LineOutcome::for_log();
        }
        // Always answered; otherwise the agent waits indefinitely.
        let error = format!("`{}` is not supported", request.subtype);
        let response = json!({"subtype": "error", "request_id": id, "error": error});
        let replies = vec![json_line(&json!({"type": "control_response", "response": response}))];
        LineOutcome { replies, ..LineOutcome::for_log() }
    }

    pub(super) fn try_build_answer_and_close_ask(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
    ) -> Option<OutgoingMessage> {
        let ApprovalRequest { tool, input } = self.asks.get(ask)?;
        let behavior = match decision {
            Decision::Allow | Decision::Answer("allow") => allow_behavior(input),
            Decision::Deny => deny_behavior("No answer in time."),
            Decision::Answer(text) => match (text.strip_prefix("deny"), tool.as_str()) {
                (Some(""), _) => deny_behavior("Denied by user."),
                (Some(reason), _) if reason.starts_with(':') => deny_behavior(reason[1..].trim()),
                (_, QUESTION_TOOL) => allow_behavior(&input_answering_all_questions(input, text)),
                _ => return None,
            },
        };
        self.asks.remove(ask);
        let response = json!({"subtype": "success", "request_id": ask, "response": behavior});
        Some(json_line(&json!({"type": "control_response", "response": response})))
    }

    pub(super) fn interrupt_message() -> OutgoingMessage {
        control_request("millpond-stop", "interrupt")
    }

    pub(super) fn agent_session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// Id of the initialize request.
const INITIALIZE_REQUEST_ID: &str = "millpond-hello";

fn control_request(id: &str, subtype: &str) -> OutgoingMessage {
    let request = json!({"subtype": subtype});
    json_line(&json!({"type": "control_request", "request_id": id, "request": request}))
}

fn json_line(value: &Value) -> OutgoingMessage {
    OutgoingMessage::Line(value.to_string())
}

fn allow_behavior(input: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": input})
}

fn deny_behavior(reason: &str) -> Value {
    json!({"behavior": "deny", "message": reason})
}

/// The tool's input with `answer` as the answer to every question.
fn input_answering_all_questions(input: &Value, answer: &str) -> Value {
    let mut input = input.clone();
    let questions = input.get("questions").and_then(Value::as_array).cloned().unwrap_or_default();
    let texts = questions.iter().filter_map(|question| question.get("question")?.as_str());
    let answers: serde_json::Map<String, Value> =
        texts.map(|text| (text.to_owned(), answer.into())).collect();
    if let Some(members) = input.as_object_mut() {
        members.insert("answers".to_owned(), answers.into());
    }
    input
}
