//! `opencode serve`: events in a stream, and requests for what is said to it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::protocol::{Decision, Reaction, Said, Turn, text_part};

#[derive(Debug)]
pub(super) struct Opencode {
    turn: Turn,
    session: Option<String>,
    permissions: BTreeSet<String>,
    questions: BTreeSet<String>,
}

/// Where a conversation is begun.
pub(super) const NEW_SESSION: &str = "/session";

impl Opencode {
    pub(super) fn new(turn: Turn) -> Opencode {
        let session = turn.session.clone();
        Opencode { turn, session, permissions: BTreeSet::new(), questions: BTreeSet::new() }
    }

    pub(super) fn begin(&mut self) -> Vec<Said> {
        match self.session {
            Some(_) => self.prompt().into_iter().collect(),
            None => vec![post(NEW_SESSION, &json!({}))],
        }
    }

    fn prompt(&self) -> Option<Said> {
        let path = format!("/session/{}/prompt_async", self.session.as_ref()?);
        let parts = self.turn.parts(text_part, |media_type, data| {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "file", "mime": media_type, "filename": "picture", "url": url})
        });
        let mut body = json!({ "parts": parts });
        if let Some((provider, model)) = self.turn.model.as_ref().and_then(|m| m.split_once('/')) {
            body["model"] = json!({"providerID": provider, "modelID": model});
        }
        Some(post(&path, &body))
    }

    pub(super) fn hear(&mut self, line: &str) -> Reaction {
        let Some(data) = line.strip_prefix("data:") else { return Reaction::news() };
        let Ok(event) = serde_json::from_str::<Value>(data) else { return Reaction::news() };
        let about = event.get("properties").cloned().unwrap_or_default();
        let text = |name: &str| about.get(name).and_then(Value::as_str);
        match event.get("type").and_then(Value::as_str).unwrap_or("") {
            "session.created" if self.session.is_none() => {
                let id = about.pointer("/info/id").and_then(Value::as_str);
                self.session = id.map(str::to_owned);
                Reaction { say: self.prompt().into_iter().collect(), ..Reaction::news() }
            }
            "session.idle" if text("sessionID") == self.session.as_deref() => Reaction::over(),
            "permission.asked" => {
                self.permissions.extend(text("id").map(str::to_owned));
                Reaction::news()
            }
            "question.asked" => {
                self.questions.extend(text("id").map(str::to_owned));
                Reaction::news()
            }
            _ => Reaction::news(),
        }
    }

    pub(super) fn answer(&mut self, ask: &str, decision: Decision<'_>) -> Option<Said> {
        if self.permissions.contains(ask) {
            let reply = match decision {
                Decision::Allow => "once",
                Decision::Deny => "reject",
                Decision::Said(reply @ ("once" | "always" | "reject")) => reply,
                Decision::Said(_) => return None,
            };
            self.permissions.remove(ask);
            return Some(post(&format!("/permission/{ask}/reply"), &json!({"reply": reply})));
        }
        if self.questions.remove(ask) {
            return Some(match decision {
                Decision::Said(words) => {
                    post(&format!("/question/{ask}/reply"), &json!({"answers": [[words]]}))
                }
                Decision::Allow | Decision::Deny => {
                    post(&format!("/question/{ask}/reject"), &json!({}))
                }
            });
        }
        None
    }

    pub(super) fn interrupt(&mut self) -> Option<Said> {
        let path = format!("/session/{}/abort", self.session.as_ref()?);
        Some(post(&path, &json!({})))
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

fn post(path: &str, body: &Value) -> Said {
    Said::Post { path: path.to_owned(), body: body.to_string() }
}
