//! `opencode serve`: events from a stream, messages as HTTP requests.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::protocol::{Decision, LineOutcome, OutgoingMessage, TurnInput, text_part};

/// State of one turn with opencode.
#[derive(Debug)]
pub(super) struct Opencode {
    turn: TurnInput,
    session: Option<String>,
    open_permissions: BTreeSet<String>,
    open_questions: BTreeSet<String>,
}

/// Path that creates a session.
pub(super) const NEW_SESSION_PATH: &str = "/session";

impl Opencode {
    pub(super) fn new(turn: TurnInput) -> Opencode {
        let session = turn.agent_session.clone();
        Opencode {
            turn,
            session,
            open_permissions: BTreeSet::new(),
            open_questions: BTreeSet::new(),
        }
    }

    pub(super) fn opening_messages(&mut self) -> Vec<OutgoingMessage> {
        match self.session {
            Some(_) => self.prompt_message().into_iter().collect(),
            None => vec![build_post_message(NEW_SESSION_PATH, &json!({}))],
        }
    }

    fn prompt_message(&self) -> Option<OutgoingMessage> {
        let path = format!("/session/{}/prompt_async", self.session.as_ref()?);
        let parts = self.turn.prompt_parts(text_part, |media_type, data| {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "file", "mime": media_type, "filename": "picture", "url": url})
        });
        let mut body = json!({ "parts": parts });
        if let Some((provider, model)) = self.turn.model.as_ref().and_then(|m| m.split_once('/')) {
            body["model"] = json!({"providerID": provider, "modelID": model});
        }
        Some(build_post_message(&path, &body))
    }

    pub(super) fn handle_line(&mut self, line: &str) -> LineOutcome {
        let Some(data) = line.strip_prefix("data:") else { return LineOutcome::for_log() };
        let Ok(event) = serde_json::from_str::<Value>(data) else { return LineOutcome::for_log() };
        let properties = event.get("properties").cloned().unwrap_or_default();
        let text = |name: &str| properties.get(name).and_then(Value::as_str);
        match event.get("type").and_then(Value::as_str).unwrap_or("") {
            "session.created" if self.session.is_none() => {
                let id = properties.pointer("/info/id").and_then(Value::as_str);
                self.session = id.map(str::to_owned);
                LineOutcome {
                    replies: self.prompt_message().into_iter().collect(),
                    ..LineOutcome::for_log()
                }
            }
            "session.idle" if text("sessionID") == self.session.as_deref() => {
                LineOutcome::turn_over()
            }
            "permission.asked" => {
                self.open_permissions.extend(text("id").map(str::to_owned));
                LineOutcome::for_log()
            }
            "question.asked" => {
                self.open_questions.extend(text("id").map(str::to_owned));
                LineOutcome::for_log()
            }
            _ => LineOutcome::for_log(),
        }
    }

    pub(super) fn try_build_answer_and_close_ask(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
    ) -> Option<OutgoingMessage> {
        if self.open_permissions.contains(ask) {
            let reply = match decision {
                Decision::Allow => "once",
                Decision::Deny => "reject",
                Decision::Answer(reply @ ("once" | "always" | "reject")) => reply,
                Decision::Answer(_) => return None,
            };
            self.open_permissions.remove(ask);
            return Some(build_post_message(
                &format!("/permission/{ask}/reply"),
                &json!({"reply": reply}),
            ));
        }
        if self.open_questions.remove(ask) {
            return Some(match decision {
                Decision::Answer(answer) => build_post_message(
                    &format!("/question/{ask}/reply"),
                    &json!({"answers": [[answer]]}),
                ),
                Decision::Allow | Decision::Deny => {
                    build_post_message(&format!("/question/{ask}/reject"), &json!({}))
                }
            });
        }
        None
    }

    pub(super) fn interrupt_message(&mut self) -> Option<OutgoingMessage> {
        let path = format!("/session/{}/abort", self.session.as_ref()?);
        Some(build_post_message(&path, &json!({})))
    }

    pub(super) fn agent_session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

fn build_post_message(path: &str, body: &Value) -> OutgoingMessage {
    OutgoingMessage::Post { path: path.to_owned(), body: body.to_string() }
}
