//! `codex app-server` over JSON-RPC lines: starts or resumes a thread, then a turn in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::agent_kind::is_unknown_session_error;
use super::json_rpc::{RpcMessage, ask_id_of_request};
use super::protocol::{Decision, LineOutcome, OutgoingMessage, TurnInput, text_part};

/// State of one turn with Codex.
#[derive(Debug)]
pub(super) struct Codex {
    turn: TurnInput,
    thread: Option<String>,
    /// Id of the running turn.
    active_turn: Option<String>,
    asks: BTreeMap<String, ApprovalRequest>,
}

/// An open approval request: its id as received, and the decisions offered.
#[derive(Debug)]
struct ApprovalRequest {
    id: Value,
    method: String,
    decisions: Vec<Value>,
    questions: Vec<String>,
    permissions: Value,
}

const INITIALIZE_ID: u64 = 1;
const THREAD_ID: u64 = 2;
const TURN_ID: u64 = 3;
const INTERRUPT_ID: u64 = 4;

impl Codex {
    pub(super) fn new(turn: TurnInput) -> Codex {
        Codex { turn, thread: None, active_turn: None, asks: BTreeMap::new() }
    }

    pub(super) fn opening_messages() -> Vec<OutgoingMessage> {
        let version = env!("CARGO_PKG_VERSION");
        let client = json!({"name": "millpond", "title": "Millpond", "version": version});
        vec![rpc_request(INITIALIZE_ID, "initialize", json!({"clientInfo": client}))]
    }

    pub(super) fn handle_line(&mut self, text: &str) -> LineOutcome {
        let Ok(line) = serde_json::from_str::<RpcMessage>(text) else {
            return LineOutcome::for_log();
        };
        match (line.method.as_deref(), line.id) {
            (None, Some(id)) => {
                self.handle_response(id.as_u64(), &line.result, line.error.as_ref())
            }
            (Some(method), Some(id)) => self.keep_ask_or_refuse_request(method, id, &line.params),
            (Some("turn/completed"), None) if self.is_own_turn(&line.params) => {
                LineOutcome::turn_over()
            }
            (Some("serverRequest/resolved"), None) => {
                if let Some(id) = line.params.get("requestId") {
                    self.asks.remove(&ask_id_of_request(id));
                }
                LineOutcome::for_log()
            }
            // While a thread is being opened, lines may belong to earlier turns.
            _ => LineOutcome { is_for_log: self.thread.is_some(), ..LineOutcome::default() },
        }
    }

    /// True if the turn is this one, not a sub-agent's or an earlier one.
    fn is_own_turn(&self, params: &Value) -> bool {
        let thread = params.get("threadId").and_then(Value::as_str);
        let turn = params.pointer("/turn/id").and_then(Value::as_str);
        self.thread.is_some()
            && thread == self.thread.as_deref()
            && (self.active_turn.is_none() || turn.is_none() || turn == self.active_turn.as_deref())
    }

    fn handle_response(
        &mut self,
        id: Option<u64>,
        result: &Value,
        error: Option<&Value>,
    ) -> LineOutcome {
        match id {
            Some(THREAD_ID)
                if error.is_some_and(|error| is_unknown_session_error(&error.to_string()))
                    && self.turn.agent_session.take().is_some() =>
            {
                return LineOutcome {
                    is_session_lost: true,
                    ..LineOutcome::reply_without_log([self.build_start_or_resume_thread_request()])
                };
            }
            // The error line is logged; nothing more follows.
            Some(INITIALIZE_ID | THREAD_ID | TURN_ID) if error.is_some() => {
                return LineOutcome::turn_over();
            }
            _ => {}
        }
        let name = |member: &str| Some(result.get(member)?.get("id")?.as_str()?.to_owned());
        match id {
            Some(INITIALIZE_ID) => {
                let initialized =
                    OutgoingMessage::Line(json!({"method": "initialized"}).to_string());
                LineOutcome::reply_without_log([
                    initialized,
                    self.build_start_or_resume_thread_request(),
                ])
            }
            Some(THREAD_ID) => {
                self.thread = name("thread");
                let input = self.turn.prompt_parts(text_part, |media_type, data| {
                    json!({"type": "image", "url": format!("data:{media_type};base64,{data}")})
                });
                let params = json!({"threadId": self.thread, "input": input});
                LineOutcome::reply_without_log([rpc_request(TURN_ID, "turn/start", params)])
            }
            Some(TURN_ID) => {
                self.active_turn = name("turn");
                LineOutcome::for_log()
            }
            _ => LineOutcome::for_log(),
        }
    }

    fn build_start_or_resume_thread_request(&self) -> OutgoingMessage {
        let mut params = Value::Object(self.turn.session_params.clone());
        params["cwd"] = self.turn.folder.as_str().into();
        if let Some(model) = &self.turn.model {
            params["model"] = model.as_str().into();
        }
        match &self.turn.agent_session {
            Some(thread) => {
                params["threadId"] = thread.as_str().into();
                rpc_request(THREAD_ID, "thread/resume", params)
            }
            None => rpc_request(THREAD_ID, "thread/start", params),
        }
    }

    fn keep_ask_or_refuse_request(
        &mut self,
        method: &str,
        id: Value,
        params: &Value,
    ) -> LineOutcome {
        let is_approval_request = method.ends_with("requestApproval")
            || [
                "execCommandApproval",
                "applyPatchApproval",
                "item/tool/requestUserInput",
                "mcpServer/elicitation/request",
            ]
            .contains(&method);
        if !is_approval_request {
            let error = json!({"code": -32601, "message": format!("{method} is not supported")});
            let replies =
                vec![OutgoingMessage::Line(json!({"id": id, "error": error}).to_string())];
            return LineOutcome { replies, ..LineOutcome::for_log() };
        }
        let list = |name: &str| params.get(name).and_then(Value::as_array).cloned();
        let questions = list("questions").unwrap_or_default();
        let questions = questions.iter().filter_map(|question| question.get("id")?.as_str());
        let questions = questions.map(str::to_owned).collect();
        let decisions = list("availableDecisions").unwrap_or_default();
        let permissions = params.get("permissions").cloned().unwrap_or_default();
        let (key, method) = (ask_id_of_request(&id), method.to_owned());
        let request = ApprovalRequest { id, method, decisions, questions, permissions };
        self.asks.insert(key, request);
        LineOutcome::for_log()
    }

    pub(super) fn try_build_answer_and_close_ask(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
    ) -> Option<OutgoingMessage> {
        let request = self.asks.get(ask)?;
        let result = match request.method.as_str() {
            "item/tool/requestUserInput" => request.question_answers(decision)?,
            "item/permissions/requestApproval" => request.granted_permissions(decision)?,
            "mcpServer/elicitation/request" => elicitation_response(decision)?,
            _ => json!({"decision": request.find_offered_decision(decision)?}),
        };
        let request = self.asks.remove(ask)?;
        Some(OutgoingMessage::Line(json!({"id": request.id, "result": result}).to_string()))
    }

    pub(super) fn interrupt_message(&mut self) -> Option<OutgoingMessage> {
        let params =
            json!({"threadId": self.thread.as_ref()?, "turnId": self.active_turn.as_ref()?});
        Some(rpc_request(INTERRUPT_ID, "turn/interrupt", params))
    }

    pub(super) fn agent_session_id(&self) -> Option<&str> {
        self.thread.as_deref()
    }
}

impl ApprovalRequest {
    /// The offered decision of that name, with its parameters.
    fn find_offered_decision(&self, decision: Decision<'_>) -> Option<Value> {
        let name = match decision {
            Decision::Allow => "accept",
            Decision::Deny => return Some(self.decline_or_cancel_decision()),
            Decision::Answer(name) => name,
        };
        if self.decisions.is_empty() {
            let standard_decisions = ["accept", "acceptForSession", "decline", "cancel"];
            return standard_decisions.contains(&name).then(|| name.into());
        }
        let offered = self.decisions.iter().find(|offered| match offered {
            Value::String(offered) => offered == name,
            Value::Object(members) => members.keys().next().is_some_and(|key| key == name),
            _ => false,
        });
        offered.cloned()
    }

    fn decline_or_cancel_decision(&self) -> Value {
        let declines = |offered: &Value| offered == "decline";
        let can_decline = self.decisions.is_empty() || self.decisions.iter().any(declines);
        if can_decline { "decline".into() } else { "cancel".into() }
    }

    fn question_answers(&self, decision: Decision<'_>) -> Option<Value> {
        let answers = match decision {
            Decision::Answer(text) => vec![text],
            Decision::Deny => Vec::new(),
            Decision::Allow => return None,
        };
        let replies = self.questions.iter().map(|id| (id.clone(), json!({"answers": answers})));
        Some(json!({"answers": replies.collect::<serde_json::Map<_, _>>()}))
    }

    /// Grants at most the permissions that were requested.
    fn granted_permissions(&self, decision: Decision<'_>) -> Option<Value> {
        let grant =
            |permissions: &Value, scope| json!({"permissions": permissions, "scope": scope});
        match decision {
            Decision::Allow | Decision::Answer("accept") => Some(grant(&self.permissions, "turn")),
            Decision::Answer("acceptForSession") => Some(grant(&self.permissions, "session")),
            Decision::Deny | Decision::Answer("decline" | "cancel") => {
                Some(grant(&json!({}), "turn"))
            }
            Decision::Answer(_) => None,
        }
    }
}

/// Response to an MCP server's elicitation; sends no content.
fn elicitation_response(decision: Decision<'_>) -> Option<Value> {
    let action = match decision {
        Decision::Allow | Decision::Answer("accept" | "acceptForSession") => "accept",
        Decision::Deny | Decision::Answer("decline") => "decline",
        Decision::Answer("cancel") => "cancel",
        Decision::Answer(_) => return None,
    };
    Some(json!({"action": action, "content": null}))
}

#[allow(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn rpc_request(id: u64, method: &str, params: Value) -> OutgoingMessage {
    OutgoingMessage::Line(json!({"id": id, "method": method, "params": params}).to_string())
}
