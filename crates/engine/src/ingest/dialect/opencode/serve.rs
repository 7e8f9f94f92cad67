//! Events of the server: one session is followed, its sub-sessions belong to the tools that
//! started them.

mod ask;

use crate::event::{Event, Level, StepId, Stop, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, number, object, string};
use crate::limits::{ID_BYTES_MAX, OPEN_TOOLS_MAX};
use crate::run::Writer;

use super::super::Unreadable;
use super::super::repeated::{Recent, Repeated};
use super::{Ends, Opencode, Part, fail, retry};

/// What is known of the server's sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Serve {
    /// The session that is followed.
    main: String,
    /// Sessions of sub-agents, and the tools that started them.
    children: Vec<(String, StepId)>,
    child_texts: Repeated,
    /// Other sessions that need no more words: those of sub-agents, and those that were named.
    met: Recent,
    /// Messages that a person wrote, and the parts of them that have been told.
    persons: Recent,
    prompts: Recent,
    /// Calls that a person refused.
    denied: Recent,
    /// Calls that a person is asked about, by ask.
    asks: Vec<(String, String)>,
    /// How the last step ended.
    pub(super) stop: Option<Stop>,
}

object! { Properties {
    session: Text<'a> = "sessionID",
    info: &'a RawValue = "info",
    part: &'a RawValue = "part",
    part_id: Text<'a> = "partID",
    field: Text<'a> = "field",
    delta: Text<'a> = "delta",
    time: &'a RawValue = "time",
    status: &'a RawValue = "status",
    error: &'a RawValue = "error",
    id: Text<'a> = "id",
    permission: Text<'a> = "permission",
    permission_kind: Text<'a> = "type",
    title: Text<'a> = "title",
    patterns: &'a RawValue = "patterns",
    pattern: &'a RawValue = "pattern",
    call: Text<'a> = "callID",
    tool: &'a RawValue = "tool",
    questions: &'a RawValue = "questions",
    request: Text<'a> = "requestID",
    permission_id: Text<'a> = "permissionID",
    reply: Text<'a> = "reply",
    response: Text<'a> = "response",
    answers: &'a RawValue = "answers",
    metadata: &'a RawValue = "metadata",
    always: &'a RawValue = "always",
    ; skip "messageID" | "diff"
} }

const INFO: Shape<6> =
    Shape { read: ["id", "role", "modelID", "error", "parentID", "sessionID"], skip: &[] };

impl Serve {
    /// The first session that is heard of is the one.
    fn follow(&mut self, session: &str) {
        if self.main.is_empty() && session.len() <= ID_BYTES_MAX {
            session.clone_into(&mut self.main);
        }
    }

    pub(super) fn child_of(&mut self, session: &str, step: StepId) {
        let known = self.children.iter().any(|(child, _)| child == session);
        if !known && self.children.len() < OPEN_TOOLS_MAX && session.len() <= ID_BYTES_MAX {
            self.met.add(session);
            self.children.push((session.to_owned(), step));
        }
    }

    pub(super) fn forget(&mut self, step: StepId) {
        self.children.retain(|&(_, parent)| parent != step);
    }

    pub(super) fn was_denied(&self, call: &str) -> bool {
        self.denied.has(call)
    }

    fn parent(&self, session: &str) -> Option<StepId> {
        self.children.iter().find(|(child, _)| child == session).map(|&(_, step)| step)
    }

    fn is_other(&self, session: &str) -> bool {
        !session.is_empty() && !self.main.is_empty() && session != self.main
    }
}

impl Opencode {
    pub(super) fn event(
        &mut self,
        kind: &str,
        properties: &RawValue,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        if is_about_the_server(kind) {
            return Ok(());
        }
        let event: Properties<'_> =
            serde_json::from_str(properties.get()).map_err(|_| Unreadable)?;
        out.unknown_fields(&event.unknown);
        let session = event.session.as_deref().unwrap_or("");
        let other = self.serve.is_other(session);
        match kind {
            "message.updated" => self.message(&event, out),
            "message.part.updated" => self.updated(&event, out)?,
            "message.part.delta" => self.delta(&event, frame, out),
            // Whoever asks, a person has to answer.
            "permission.asked" | "permission.updated" => self.permission(&event, out),
            "question.asked" => ask::question(&event, out),
            "permission.replied" | "question.replied" | "question.rejected" => {
                self.replied(&event, out);
            }
            "session.idle" | "session.status" if other => {}
            _ if self.serve.parent(session).is_some() => {
                out.unrecognised(UnrecognisedReason::Frame, frame.data);
            }
            _ if other => self.stranger(session, out),
            "session.idle" => self.idle(out),
            "session.status" => self.status(&event, out),
            "session.error" => {
                if let Some(error) = event.error {
                    fail(error, out);
                }
            }
            "session.compacted" => out.note(Event::HistoryCompacted { summary: None }),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    fn message(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) {
        let Some(info) = event.info.and_then(|raw| INFO.read(raw.get())) else {
            return;
        };
        let [id, role, model, error, _, session] = info.read;
        let text = |raw: Option<_>| raw.and_then(string).unwrap_or_default();
        let session = event.session.as_deref().map_or_else(|| text(session), Into::into);
        self.serve.follow(&session);
        let id = text(id);
        match text(role).as_ref() {
            "user" => {
                self.serve.persons.add(&id);
            }
            _ if self.serve.is_other(&session) => {}
            _ => {
                self.begin_round(&id, model.and_then(string).as_deref(), out);
                if let Some(error) = error {
                    fail(error, out);
                }
            }
        }
    }

    fn updated(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let Some(raw) = event.part else {
            return Err(Unreadable);
        };
        let part: Part<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
        self.told = event.time.and_then(number);
        let message = part.message.as_deref().unwrap_or("");
        let session = part.session.as_deref().or(event.session.as_deref()).unwrap_or("");
        self.serve.follow(session);
        if self.serve.is_other(session) {
            match self.serve.parent(session) {
                Some(_) if self.serve.persons.has(message) => {}
                Some(parent) => self.child_part(&part, parent, out),
                None => self.stranger(session, out),
            }
        } else if self.serve.persons.has(message) {
            self.prompt(&part, out);
        } else {
            self.part(&part, raw, Ends::Round, out);
        }
        Ok(())
    }

    /// A session that no tool of the one that is followed has started.
    fn stranger(&mut self, session: &str, out: &mut Writer<'_>) {
        if self.serve.met.add(session) {
            let words = format!("another session is not followed: {session}");
            out.notice(Level::Info, &words);
        }
    }

    fn prompt(&mut self, part: &Part<'_>, out: &mut Writer<'_>) {
        let id = part.id.as_deref().unwrap_or("");
        let written = part.kind.as_deref() == Some("text") && part.synthetic != Some(true);
        if written && self.serve.prompts.add(id) {
            self.at(self.told, out);
            out.prompt(part.text.as_deref().unwrap_or(""));
        }
    }

    fn child_part(&mut self, part: &Part<'_>, parent: StepId, out: &mut Writer<'_>) {
        out.unknown_fields(&part.unknown);
        let id = part.id.as_deref().unwrap_or("");
        let text = part.text.as_deref().unwrap_or("");
        match part.kind.as_deref() {
            Some("text") => out.output(parent, self.serve.child_texts.rest(id, text)),
            Some("tool") => self.tool(part, Some(parent), out),
            _ => {}
        }
    }

    fn delta(&mut self, event: &Properties<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let part = event.part_id.as_deref().unwrap_or("");
        let delta = event.delta.as_deref().unwrap_or("");
        let session = event.session.as_deref().unwrap_or("");
        let is_text = event.field.as_deref().is_none_or(|field| field == "text");
        if let Some(parent) = self.serve.parent(session) {
            if is_text && self.serve.child_texts.more(part, delta) {
                out.output(parent, delta);
            }
        } else if self.serve.is_other(session) {
            self.stranger(session, out);
        } else if is_text && self.texts.knows(part) {
            self.texts.text_delta(part, delta, out);
        } else if is_text && self.thoughts.knows(part) {
            self.thoughts.thought_delta(part, delta, out);
        } else {
            // What kind of part it is will be known when it comes whole.
            out.unrecognised(UnrecognisedReason::Frame, frame.data);
        }
    }

    fn status(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) {
        const STATUS: Shape<1> = Shape { read: ["type"], skip: &[] };
        let Some(raw) = event.status else { return };
        let kind = STATUS.read(raw.get()).and_then(|status| status.read[0]).and_then(string);
        match kind.as_deref() {
            Some("idle") => self.idle(out),
            Some("retry") => retry(raw, out),
            _ => {}
        }
    }

    /// The session is at rest. One that has not begun yet is, too.
    fn idle(&mut self, out: &mut Writer<'_>) {
        if !self.serve.main.is_empty() && !out.is_settled() {
            out.complete(self.serve.stop.unwrap_or(Stop::End));
        }
        out.end_round(None);
    }
}

/// Events that say nothing about what an agent does.
fn is_about_the_server(kind: &str) -> bool {
    const FAMILIES: [&str; 16] = [
        "server.",
        "plugin.",
        "catalog.",
        "reference.",
        "integration.",
        "lsp.",
        "file.",
        "vcs.",
        "installation.",
        "tui.",
        "pty.",
        "mcp.",
        "project.",
        "ide.",
        "command.",
        "worktree.",
    ];
    FAMILIES.iter().any(|family| kind.starts_with(family))
        || matches!(
            kind,
            "session.created"
                | "session.updated"
                | "session.deleted"
                | "session.diff"
                | "todo.updated"
                | "global.disposed"
        )
}
