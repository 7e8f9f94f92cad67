//! The Agent Client Protocol over standard input and output, version 1.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::kind::is_unknown_conversation;
use super::protocol::{Decision, Reaction, Said, Turn, text_part};
use super::rpc::{Line, name_of};
use crate::pictures::without;

#[derive(Debug)]
pub(super) struct Acp {
    turn: Turn,
    /// How to sign in, for agents that want it said.
    sign_in: Option<String>,
    stage: Stage,
    /// Whether the agent takes pictures.
    sees: bool,
    session: Option<String>,
    asks: BTreeMap<String, Asked>,
}

/// What was asked of the agent last, and is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Initialize,
    SignIn(Opening),
    Session(Opening),
    Prompt,
}

/// How the conversation is come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    New,
    Resume,
    /// The agent tells all that was said before; it is in the log already.
    Load,
}

#[derive(Debug)]
struct Asked {
    id: Value,
    options: Vec<Choice>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    #[serde(default)]
    kind: String,
}

impl Acp {
    pub(super) fn new(turn: Turn, sign_in: Option<String>) -> Acp {
        let (session, asks) = (None, BTreeMap::new());
        Acp { turn, sign_in, stage: Stage::Initialize, sees: false, session, asks }
    }

    pub(super) fn begin(&mut self) -> Vec<Said> {
        let files = json!({"readTextFile": false, "writeTextFile": false});
        let version = env!("CARGO_PKG_VERSION");
        vec![self.request(&json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": files, "terminal": false},
            "clientInfo": {"name": "millpond", "title": "Millpond", "version": version},
        }))]
    }

    pub(super) fn hear(&mut self, text: &str) -> Reaction {
        let Ok(line) = serde_json::from_str::<Line>(text) else { return Reaction::news() };
        let in_turn = self.stage == Stage::Prompt;
        match (line.method.as_deref(), line.id) {
            (None, Some(id)) if id == self.stage.id() => self.replied(&line.result, line.error),
            (Some("session/request_permission"), Some(id)) => {
                let options = line.params.get("options").cloned().unwrap_or_default();
                let options = serde_json::from_value(options).unwrap_or_default();
                self.asks.insert(name_of(&id), Asked { id, options });
                Reaction::news()
            }
            (Some(method), Some(id)) => {
                let message = format!("{method} is not offered here");
                let error = json!({"code": -32601, "message": message});
                let said = json!({"jsonrpc": "2.0", "id": id, "error": error});
                let say = vec![Said::Line(said.to_string())];
                Reaction { say, is_news: in_turn, ..Reaction::default() }
            }
            _ => Reaction { is_news: in_turn, ..Reaction::default() },
        }
    }

    fn replied(&mut self, result: &Value, error: Option<Value>) -> Reaction {
        match (self.stage, error) {
            (Stage::Session(Opening::Resume | Opening::Load), Some(error))
                if is_unknown_conversation(&error.to_string()) =>
            {
                Reaction { is_lost: true, ..self.open(Opening::New) }
            }
            (_, Some(_)) | (Stage::Prompt, None) => Reaction::over(),
            (Stage::Initialize, None) => {
                let sees = result.pointer("/agentCapabilities/promptCapabilities/image");
                self.sees = sees == Some(&Value::Bool(true));
                let opening = self.opening(result);
                match self.sign_in.clone() {
                    Some(method) => {
                        self.stage = Stage::SignIn(opening);
                        Reaction::say([self.request(&json!({"methodId": method}))])
                    }
                    None => self.open(opening),
                }
            }
            (Stage::SignIn(opening), None) => self.open(opening),
            (Stage::Session(opening), None) => {
                let new = result.get("sessionId").and_then(Value::as_str).map(str::to_owned);
                self.session = match opening {
                    Opening::New => new,
                    Opening::Resume | Opening::Load => self.turn.session.clone(),
                };
                self.stage = Stage::Prompt;
                let (prompt, is_blind) = self.prompt();
                let params = json!({"sessionId": self.session, "prompt": prompt});
                Reaction { is_blind, ..Reaction::say([self.request(&params)]) }
            }
        }
    }

    /// What is said, and whether the agent cannot see what is shown.
    fn prompt(&self) -> (Vec<Value>, bool) {
        let Turn { prompt, images, .. } = &self.turn;
        if self.sees || images.is_empty() {
            let picture = |media_type: &str, data: &str| json!({"type": "image", "mimeType": media_type, "data": data});
            return (self.turn.parts(text_part, picture), false);
        }
        (vec![text_part(&without(prompt, images.len()))], true)
    }

    fn opening(&self, initialized: &Value) -> Opening {
        let Some(can) = initialized.get("agentCapabilities") else { return Opening::New };
        let resumes = can.pointer("/sessionCapabilities/resume").is_some_and(|can| !can.is_null());
        let loads = can.get("loadSession") == Some(&Value::Bool(true));
        match self.turn.session {
            Some(_) if resumes => Opening::Resume,
            Some(_) if loads => Opening::Load,
            _ => Opening::New,
        }
    }

    fn open(&mut self, opening: Opening) -> Reaction {
        self.stage = Stage::Session(opening);
        let mut params = json!({"cwd": self.turn.folder, "mcpServers": []});
        if opening != Opening::New {
            params["sessionId"] = self.turn.session.clone().into();
        }
        Reaction::say([self.request(&params)])
    }

    pub(super) fn answer(&mut self, ask: &str, decision: Decision<'_>) -> Option<Said> {
        let options = &self.asks.get(ask)?.options;
        let first = |kinds: [&str; 2]| {
            let find = |kind| options.iter().find(|choice| choice.kind == kind);
            kinds.into_iter().find_map(find).map(|choice| choice.option_id.clone())
        };
        let chosen = match decision {
            Decision::Allow => Some(first(["allow_once", "allow_always"])?),
            Decision::Deny => first(["reject_once", "reject_always"]),
            Decision::Said(id) => {
                Some(options.iter().find(|choice| choice.option_id == id)?.option_id.clone())
            }
        };
        let outcome = match chosen {
            Some(id) => json!({"outcome": "selected", "optionId": id}),
            None => json!({"outcome": "cancelled"}),
        };
        let id = self.asks.remove(ask)?.id;
        let said = json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}});
        Some(Said::Line(said.to_string()))
    }

    pub(super) fn interrupt(&mut self) -> Option<Said> {
        let params = json!({"sessionId": self.session.as_ref()?});
        let said = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
        Some(Said::Line(said.to_string()))
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Asks for what the stage is about.
    fn request(&self, params: &Value) -> Said {
        let (id, method) = (self.stage.id(), self.stage.method());
        let said = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Said::Line(said.to_string())
    }
}

impl Stage {
    fn id(self) -> u64 {
        match self {
            Stage::Initialize => 1,
            Stage::SignIn(_) => 2,
            Stage::Session(Opening::Resume | Opening::Load) => 3,
            Stage::Session(Opening::New) => 4,
            Stage::Prompt => 5,
        }
    }

    fn method(self) -> &'static str {
        match self {
            Stage::Initialize => "initialize",
            Stage::SignIn(_) => "authenticate",
            Stage::Session(Opening::New) => "session/new",
            Stage::Session(Opening::Resume) => "session/resume",
            Stage::Session(Opening::Load) => "session/load",
            Stage::Prompt => "session/prompt",
        }
    }
}
