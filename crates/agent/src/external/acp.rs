//! The Agent Client Protocol over standard input and output, version 1.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::agent_kind::is_unknown_session_error;
use super::json_rpc::{RpcMessage, ask_id_of_request};
use super::protocol::{Decision, LineOutcome, OutgoingMessage, TurnInput, text_part};
use crate::images::add_omitted_images_note;

/// State of one turn with an ACP agent.
#[derive(Debug)]
pub(super) struct Acp {
    turn: TurnInput,
    /// Sign-in method, for agents that need one.
    sign_in_method: Option<String>,
    stage: Stage,
    /// True if the agent accepts images.
    accepts_images: bool,
    session: Option<String>,
    asks: BTreeMap<String, PermissionRequest>,
}

/// The request that is waiting for the agent's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Initialize,
    SignIn(SessionOpening),
    Session(SessionOpening),
    Prompt,
}

/// Way to open the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionOpening {
    New,
    Resume,
    /// The agent replays the session's history, which is in the log already.
    Load,
}

/// An open permission request: its id as received, and its options.
#[derive(Debug)]
struct PermissionRequest {
    id: Value,
    options: Vec<PermissionOption>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    #[serde(default)]
    kind: String,
}

impl Acp {
    pub(super) fn new(turn: TurnInput, sign_in_method: Option<String>) -> Acp {
        let (session, asks) = (None, BTreeMap::new());
        Acp { turn, sign_in_method, stage: Stage::Initialize, accepts_images: false, session, asks }
    }

    pub(super) fn opening_messages(&mut self) -> Vec<OutgoingMessage> {
        let files = json!({"readTextFile": false, "writeTextFile": false});
        let version = env!("CARGO_PKG_VERSION");
        vec![self.request_for_stage(&json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": files, "terminal": false},
            "clientInfo": {"name": "millpond", "title": "Millpond", "version": version},
        }))]
    }

    pub(super) fn handle_line(&mut self, text: &str) -> LineOutcome {
        let Ok(line) = serde_json::from_str::<RpcMessage>(text) else {
            return LineOutcome::for_log();
        };
        let in_turn = self.stage == Stage::Prompt;
        match (line.method.as_deref(), line.id) {
            (None, Some(id)) if id == self.stage.request_id() => {
                self.handle_response(&line.result, line.error)
            }
            (Some("session/request_permission"), Some(id)) => {
                let options = line.params.get("options").cloned().unwrap_or_default();
                let options = serde_json::from_value(options).unwrap_or_default();
                self.asks.insert(ask_id_of_request(&id), PermissionRequest { id, options });
                LineOutcome::for_log()
            }
            (Some(method), Some(id)) => {
                let message = format!("{method} is not supported");
                let error = json!({"code": -32601, "message": message});
                let response = json!({"jsonrpc": "2.0", "id": id, "error": error});
                let replies = vec![OutgoingMessage::Line(response.to_string())];
                LineOutcome { replies, is_for_log: in_turn, ..LineOutcome::default() }
            }
            _ => LineOutcome { is_for_log: in_turn, ..LineOutcome::default() },
        }
    }

    fn handle_response(&mut self, result: &Value, error: Option<Value>) -> LineOutcome {
        match (self.stage, error) {
            (Stage::Session(SessionOpening::Resume | SessionOpening::Load), Some(error))
                if is_unknown_session_error(&error.to_string()) =>
            {
                LineOutcome { is_session_lost: true, ..self.request_session(SessionOpening::New) }
            }
            (_, Some(_)) | (Stage::Prompt, None) => LineOutcome::turn_over(),
            (Stage::Initialize, None) => {
                let image_capability =
                    result.pointer("/agentCapabilities/promptCapabilities/image");
                self.accepts_images = image_capability == Some(&Value::Bool(true));
                let opening = self.choose_session_opening(result);
                match self.sign_in_method.clone() {
                    Some(method) => {
                        self.stage = Stage::SignIn(opening);
                        LineOutcome::reply_without_log([
                            self.request_for_stage(&json!({"methodId": method}))
                        ])
                    }
                    None => self.request_session(opening),
                }
            }
            (Stage::SignIn(opening), None) => self.request_session(opening),
            (Stage::Session(opening), None) => {
                let new_session =
                    result.get("sessionId").and_then(Value::as_str).map(str::to_owned);
                self.session = match opening {
                    SessionOpening::New => new_session,
                    SessionOpening::Resume | SessionOpening::Load => {
                        self.turn.agent_session.clone()
                    }
                };
                self.stage = Stage::Prompt;
                let (prompt, omits_images) = self.prompt_content();
                let params = json!({"sessionId": self.session, "prompt": prompt});
                LineOutcome {
                    cannot_show_images: omits_images,
                    ..LineOutcome::reply_without_log([self.request_for_stage(&params)])
                }
            }
        }
    }

    /// Prompt content, and true if images were replaced by a note.
    fn prompt_content(&self) -> (Vec<Value>, bool) {
        let TurnInput { prompt, images, .. } = &self.turn;
        if self.accepts_images || images.is_empty() {
            let image = |media_type: &str, data: &str| json!({"type": "image", "mimeType": media_type, "data": data});
            return (self.turn.prompt_parts(text_part, image), false);
        }
        (vec![text_part(&add_omitted_images_note(prompt, images.len()))], true)
    }

    fn choose_session_opening(&self, initialized: &Value) -> SessionOpening {
        let Some(capabilities) = initialized.get("agentCapabilities") else {
            return SessionOpening::New;
        };
        let resumes = capabilities
            .pointer("/sessionCapabilities/resume")
            .is_some_and(|resume| !resume.is_null());
        let loads = capabilities.get("loadSession") == Some(&Value::Bool(true));
        match self.turn.agent_session {
            Some(_) if resumes => SessionOpening::Resume,
            Some(_) if loads => SessionOpening::Load,
            _ => SessionOpening::New,
        }
    }

    /// Builds the request that opens the session in this way, and waits for its response.
    fn request_session(&mut self, opening: SessionOpening) -> LineOutcome {
        self.stage = Stage::Session(opening);
        let mut params = json!({"cwd": self.turn.folder, "mcpServers": []});
        if opening != SessionOpening::New {
            params["sessionId"] = self.turn.agent_session.clone().into();
        }
        LineOutcome::reply_without_log([self.request_for_stage(&params)])
    }

    pub(super) fn try_build_answer_and_close_ask(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
    ) -> Option<OutgoingMessage> {
        let options = &self.asks.get(ask)?.options;
        let first_option = |kinds: [&str; 2]| {
            let find_kind = |kind| options.iter().find(|choice| choice.kind == kind);
            kinds.into_iter().find_map(find_kind).map(|choice| choice.option_id.clone())
        };
        let chosen = match decision {
            Decision::Allow => Some(first_option(["allow_once", "allow_always"])?),
            Decision::Deny => first_option(["reject_once", "reject_always"]),
            Decision::Answer(id) => {
                Some(options.iter().find(|choice| choice.option_id == id)?.option_id.clone())
            }
        };
        let outcome = match chosen {
            Some(id) => json!({"outcome": "selected", "optionId": id}),
            None => json!({"outcome": "cancelled"}),
        };
        let id = self.asks.remove(ask)?.id;
        let response = json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}});
        Some(OutgoingMessage::Line(response.to_string()))
    }

    pub(super) fn interrupt_message(&mut self) -> Option<OutgoingMessage> {
        let params = json!({"sessionId": self.session.as_ref()?});
        let notification = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
        Some(OutgoingMessage::Line(notification.to_string()))
    }

    pub(super) fn agent_session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// JSON-RPC request of the current stage.
    fn request_for_stage(&self, params: &Value) -> OutgoingMessage {
        let (id, method) = (self.stage.request_id(), self.stage.rpc_method());
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        OutgoingMessage::Line(request.to_string())
    }
}

impl Stage {
    fn request_id(self) -> u64 {
        match self {
            Stage::Initialize => 1,
            Stage::SignIn(_) => 2,
            Stage::Session(SessionOpening::Resume | SessionOpening::Load) => 3,
            Stage::Session(SessionOpening::New) => 4,
            Stage::Prompt => 5,
        }
    }

    fn rpc_method(self) -> &'static str {
        match self {
            Stage::Initialize => "initialize",
            Stage::SignIn(_) => "authenticate",
            Stage::Session(SessionOpening::New) => "session/new",
            Stage::Session(SessionOpening::Resume) => "session/resume",
            Stage::Session(SessionOpening::Load) => "session/load",
            Stage::Prompt => "session/prompt",
        }
    }
}
