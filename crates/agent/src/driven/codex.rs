//! `codex app-server`: JSON-RPC lines. A thread is begun or gone on with, and a turn in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kind::is_unknown_conversation;
use super::protocol::{Decision, Reaction, Said, Turn, text_part};
use super::rpc::{Line, name_of};

#[derive(Debug)]
pub(super) struct Codex {
    turn: Turn,
    thread: Option<String>,
    /// The turn that is going, by its name.
    going: Option<String>,
    asks: BTreeMap<String, Asked>,
}

/// What it asks: the id as it wrote it, and the decisions that it takes.
#[derive(Debug)]
struct Asked {
    id: Value,
    method: String,
    decisions: Vec<Value>,
    questions: Vec<String>,
    permissions: Value,
}

const INITIALIZE: u64 = 1;
const THREAD: u64 = 2;
const TURN: u64 = 3;
const INTERRUPT: u64 = 4;

impl Codex {
    pub(super) fn new(turn: Turn) -> Codex {
        Codex { turn, thread: None, going: None, asks: BTreeMap::new() }
    }

    pub(super) fn begin() -> Vec<Said> {
        let version = env!("CARGO_PKG_VERSION");
        let client = json!({"name": "millpond", "title": "Millpond", "version": version});
        vec![request(INITIALIZE, "initialize", json!({"clientInfo": client}))]
    }

    pub(super) fn hear(&mut self, text: &str) -> Reaction {
        let Ok(line) = serde_json::from_str::<Line>(text) else { return Reaction::news() };
        match (line.method.as_deref(), line.id) {
            (None, Some(id)) => self.replied(id.as_u64(), &line.result, line.error.as_ref()),
            (Some(method), Some(id)) => self.asked(method, id, &line.params),
            (Some("turn/completed"), None) if self.is_ours(&line.params) => Reaction::over(),
            (Some("serverRequest/resolved"), None) => {
                if let Some(id) = line.params.get("requestId") {
                    self.asks.remove(&name_of(id));
                }
                Reaction::news()
            }
            // Told also of turns before, while a thread is being opened.
            _ => Reaction { is_news: self.thread.is_some(), ..Reaction::default() },
        }
    }

    /// Sub-agents have threads of their own, and turns before this one have had theirs.
    fn is_ours(&self, params: &Value) -> bool {
        let thread = params.get("threadId").and_then(Value::as_str);
        let turn = params.pointer("/turn/id").and_then(Value::as_str);
        self.thread.is_some()
            && thread == self.thread.as_deref()
            && (self.going.is_none() || turn.is_none() || turn == self.going.as_deref())
    }

    fn replied(&mut self, id: Option<u64>, result: &Value, error: Option<&Value>) -> Reaction {
        match id {
            Some(THREAD)
                if error.is_some_and(|error| is_unknown_conversation(&error.to_string()))
                    && self.turn.session.take().is_some() =>
            {
                return Reaction { is_lost: true, ..Reaction::say([self.open_thread()]) };
            }
            // What it says of that is news, and nothing more comes.
            Some(INITIALIZE | THREAD | TURN) if error.is_some() => return Reaction::over(),
            _ => {}
        }
        let name = |of: &str| Some(result.get(of)?.get("id")?.as_str()?.to_owned());
        match id {
            Some(INITIALIZE) => {
                let initialized = Said::Line(json!({"method": "initialized"}).to_string());
                Reaction::say([initialized, self.open_thread()])
            }
            Some(THREAD) => {
                self.thread = name("thread");
                let input = self.turn.parts(text_part, |media_type, data| {
                    json!({"type": "image", "url": format!("data:{media_type};base64,{data}")})
                });
                let params = json!({"threadId": self.thread, "input": input});
                Reaction::say([request(TURN, "turn/start", params)])
            }
            Some(TURN) => {
                self.going = name("turn");
                Reaction::news()
            }
            _ => Reaction::news(),
        }
    }

    fn open_thread(&self) -> Said {
        let mut params = Value::Object(self.turn.request.clone());
        params["cwd"] = self.turn.folder.as_str().into();
        if let Some(model) = &self.turn.model {
            params["model"] = model.as_str().into();
        }
        match &self.turn.session {
            Some(thread) => {
                params["threadId"] = thread.as_str().into();
                request(THREAD, "thread/resume", params)
            }
            None => request(THREAD, "thread/start", params),
        }
    }

    fn asked(&mut self, method: &str, id: Value, params: &Value) -> Reaction {
        let is_ask = method.ends_with("requestApproval")
            || [
                "execCommandApproval",
                "applyPatchApproval",
                "item/tool/requestUserInput",
                "mcpServer/elicitation/request",
            ]
            .contains(&method);
        if !is_ask {
            let error = json!({"code": -32601, "message": format!("{method} is not offered here")});
            let say = vec![Said::Line(json!({"id": id, "error": error}).to_string())];
            return Reaction { say, ..Reaction::news() };
        }
        let list = |name: &str| params.get(name).and_then(Value::as_array).cloned();
        let questions = list("questions").unwrap_or_default();
        let questions = questions.iter().filter_map(|question| question.get("id")?.as_str());
        let questions = questions.map(str::to_owned).collect();
        let decisions = list("availableDecisions").unwrap_or_default();
        let permissions = params.get("permissions").cloned().unwrap_or_default();
        let (key, method) = (name_of(&id), method.to_owned());
        let asked = Asked { id, method, decisions, questions, permissions };
        self.asks.insert(key, asked);
        Reaction::news()
    }

    pub(super) fn answer(&mut self, ask: &str, decision: Decision<'_>) -> Option<Said> {
        let asked = self.asks.get(ask)?;
        let result = match asked.method.as_str() {
            "item/tool/requestUserInput" => asked.replies(decision)?,
            "item/permissions/requestApproval" => asked.permission(decision)?,
            "mcpServer/elicitation/request" => action(decision)?,
            _ => json!({"decision": asked.decided(decision)?}),
        };
        let asked = self.asks.remove(ask)?;
        Some(Said::Line(json!({"id": asked.id, "result": result}).to_string()))
    }

    pub(super) fn interrupt(&mut self) -> Option<Said> {
        let params = json!({"threadId": self.thread.as_ref()?, "turnId": self.going.as_ref()?});
        Some(request(INTERRUPT, "turn/interrupt", params))
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.thread.as_deref()
    }
}

impl Asked {
    /// The decision with the parameters that it was offered with.
    fn decided(&self, decision: Decision<'_>) -> Option<Value> {
        let name = match decision {
            Decision::Allow => "accept",
            Decision::Deny => return Some(self.refusal()),
            Decision::Said(name) => name,
        };
        if self.decisions.is_empty() {
            let known = ["accept", "acceptForSession", "decline", "cancel"];
            return known.contains(&name).then(|| name.into());
        }
        let offered = self.decisions.iter().find(|offered| match offered {
            Value::String(offered) => offered == name,
            Value::Object(members) => members.keys().next().is_some_and(|key| key == name),
            _ => false,
        });
        offered.cloned()
    }

    fn refusal(&self) -> Value {
        let declines = |offered: &Value| offered == "decline";
        let can = self.decisions.is_empty() || self.decisions.iter().any(declines);
        if can { "decline".into() } else { "cancel".into() }
    }

    fn replies(&self, decision: Decision<'_>) -> Option<Value> {
        let words = match decision {
            Decision::Said(words) => vec![words],
            Decision::Deny => Vec::new(),
            Decision::Allow => return None,
        };
        let replies = self.questions.iter().map(|id| (id.clone(), json!({"answers": words})));
        Some(json!({"answers": replies.collect::<serde_json::Map<_, _>>()}))
    }

    /// Nothing more than was asked for is given.
    fn permission(&self, decision: Decision<'_>) -> Option<Value> {
        let give = |permissions: &Value, scope| json!({"permissions": permissions, "scope": scope});
        match decision {
            Decision::Allow | Decision::Said("accept") => Some(give(&self.permissions, "turn")),
            Decision::Said("acceptForSession") => Some(give(&self.permissions, "session")),
            Decision::Deny | Decision::Said("decline" | "cancel") => Some(give(&json!({}), "turn")),
            Decision::Said(_) => None,
        }
    }
}

/// What is said to an MCP server that asks through the agent. It is given no data.
fn action(decision: Decision<'_>) -> Option<Value> {
    let action = match decision {
        Decision::Allow | Decision::Said("accept" | "acceptForSession") => "accept",
        Decision::Deny | Decision::Said("decline") => "decline",
        Decision::Said("cancel") => "cancel",
        Decision::Said(_) => return None,
    };
    Some(json!({"action": action, "content": null}))
}

#[allow(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn request(id: u64, method: &str, params: Value) -> Said {
    Said::Line(json!({"id": id, "method": method, "params": params}).to_string())
}
