//! Events of `opencode serve`: follows one session; its child sessions belong to the tools that
//! started them.

mod ask;

use crate::event::{Event, NoticeLevel, StepId, StopReason, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, as_scalar, as_string, object};
use crate::limits::{FOREIGN_ID_BYTES_MAX, OPEN_TOOLS_MAX};
use crate::run::{Fingerprint, Writer};

use super::super::Unreadable;
use super::super::shared::dedup::RecentIds;
use super::super::shared::shown_items::{ShownDiff, ShownItems};
use super::{Opencode, Part, StepEndScope, report_end_by_error, write_retry};

/// State of the server's sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServerSessions {
    /// Id of the followed session.
    main_session: String,
    /// Sessions of sub-agents, and the tools that started them.
    child_sessions: Vec<(String, StepId)>,
    child_texts: ShownItems,
    /// Other sessions that need no notice: those of sub-agents, and those with a notice.
    known_sessions: RecentIds,
    /// Messages of the user, and their parts that were written.
    user_messages: RecentIds,
    written_prompts: RecentIds,
    /// Calls that the user denied.
    denied_calls: RecentIds,
    /// Open asks and their calls.
    open_asks: Vec<(String, String)>,
    /// Stop reason of the last step.
    pub(super) last_stop: Option<StopReason>,
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

object! { Info { id, role, model = "modelID", error, session = "sessionID"; skip _ } }

impl ServerSessions {
    /// Follows the session if none is followed yet.
    fn follow_if_first(&mut self, session: &str) {
        if self.main_session.is_empty() && session.len() <= FOREIGN_ID_BYTES_MAX {
            session.clone_into(&mut self.main_session);
        }
    }

    /// Adds the session of a sub-agent with its step.
    pub(super) fn add_child_session(&mut self, session: &str, step: StepId) {
        let known = self.child_sessions.iter().any(|(child, _)| child == session);
        if !known
            && self.child_sessions.len() < OPEN_TOOLS_MAX
            && session.len() <= FOREIGN_ID_BYTES_MAX
        {
            self.known_sessions.insert(session);
            self.child_sessions.push((session.to_owned(), step));
        }
    }

    /// Drops the child sessions of a step.
    pub(super) fn forget_children_of_step(&mut self, step: StepId) {
        self.child_sessions.retain(|&(_, parent)| parent != step);
    }

    /// True if the user denied the call.
    pub(super) fn was_call_denied(&self, call: &str) -> bool {
        self.denied_calls.contains(call)
    }

    /// Step that started a child session.
    fn parent_step(&self, session: &str) -> Option<StepId> {
        self.child_sessions.iter().find(|(child, _)| child == session).map(|&(_, step)| step)
    }

    /// Records a child's text so far and returns its new part; empty if the text changed otherwise.
    fn record_child_text_returning_new<'a>(&mut self, part: &str, whole: &'a str) -> &'a str {
        let key = Fingerprint::from_text(part);
        let new = match self.child_texts.diff_whole_text(key, whole) {
            ShownDiff::New => whole,
            ShownDiff::Appended(rest) => rest,
            ShownDiff::Unchanged | ShownDiff::Changed => return "",
        };
        if !key.is_blank() {
            self.child_texts.record_whole_text(key, whole);
        }
        new
    }

    /// Records new text of a child's part; returns false if the part is unknown.
    fn record_child_delta_if_known(&mut self, part: &str, delta: &str) -> bool {
        let key = Fingerprint::from_text(part);
        let known = !key.is_blank() && self.child_texts.has_begun_item(key);
        if known {
            self.child_texts.record_appended_text(key, delta);
        }
        known
    }

    /// True if another session is followed.
    fn is_not_main_session(&self, session: &str) -> bool {
        !session.is_empty() && !self.main_session.is_empty() && session != self.main_session
    }
}

impl Opencode {
    /// Applies one server event.
    pub(super) fn apply_server_event(
        &mut self,
        kind: &str,
        properties: &RawValue,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        if is_ignored_event(kind) {
            return Ok(());
        }
        let event: Properties<'_> =
            serde_json::from_str(properties.get()).map_err(|_| Unreadable)?;
        out.append_unknown_fields_once(&event.unknown);
        let session = event.session.as_deref().unwrap_or("");
        let other = self.sessions.is_not_main_session(session);
        match kind {
            "message.updated" => self.apply_message_updated(&event, out),
            "message.part.updated" => self.apply_part_updated(&event, out)?,
            "message.part.delta" => self.apply_part_delta(&event, frame, out),
            // Asks of any session need an answer of the user.
            "permission.asked" | "permission.updated" => {
                self.write_and_record_permission_ask(&event, out);
            }
            "question.asked" => ask::write_question_ask(&event, out),
            "permission.replied" | "question.replied" | "question.rejected" => {
                self.resolve_ask_and_record_denial(&event, out);
            }
            "session.idle" | "session.status" if other => {}
            _ if self.sessions.parent_step(session).is_some() => {
                out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
            }
            _ if other => self.write_unfollowed_notice_once(session, out),
            "session.idle" => self.report_completed_once_and_end_round(out),
            "session.status" => self.apply_session_status(&event, out),
            "session.error" => {
                if let Some(error) = event.error {
                    report_end_by_error(error, out);
                }
            }
            "session.compacted" => {
                out.append_stateless_event(Event::HistoryCompacted { summary: None });
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    /// Applies a message update: starts its round or records a user message.
    fn apply_message_updated(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) {
        let Some(info) = event.info.and_then(Info::from_raw) else {
            return;
        };
        let Info { id, role, model, error, session } = info;
        let text = |raw: Option<_>| raw.and_then(as_string).unwrap_or_default();
        let session = event.session.as_deref().map_or_else(|| text(session), Into::into);
        self.sessions.follow_if_first(&session);
        let id = text(id);
        match text(role).as_ref() {
            "user" => {
                self.sessions.user_messages.insert(&id);
            }
            _ if self.sessions.is_not_main_session(&session) => {}
            _ => {
                self.start_round_once_per_message(&id, model.and_then(as_string).as_deref(), out);
                if let Some(error) = error {
                    report_end_by_error(error, out);
                }
            }
        }
    }

    /// Applies a part update of the followed session or of a child session.
    fn apply_part_updated(
        &mut self,
        event: &Properties<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let Some(raw) = event.part else {
            return Err(Unreadable);
        };
        let part: Part<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
        self.part_time = event.time.and_then(as_scalar);
        let message = part.message.as_deref().unwrap_or("");
        let session = part.session.as_deref().or(event.session.as_deref()).unwrap_or("");
        self.sessions.follow_if_first(session);
        if self.sessions.is_not_main_session(session) {
            match self.sessions.parent_step(session) {
                Some(_) if self.sessions.user_messages.contains(message) => {}
                Some(parent) => self.apply_child_part(&part, raw, parent, out),
                None => self.write_unfollowed_notice_once(session, out),
            }
        } else if self.sessions.user_messages.contains(message) {
            self.write_prompt_once_unless_synthetic(&part, out);
        } else {
            self.apply_part(&part, raw, StepEndScope::Round, out);
        }
        Ok(())
    }

    /// Writes a notice about a session that is not followed, once per session.
    fn write_unfollowed_notice_once(&mut self, session: &str, out: &mut Writer<'_>) {
        if self.sessions.known_sessions.insert(session) {
            let words = format!("ignoring another session: {session}");
            out.append_notice(NoticeLevel::Info, &words);
        }
    }

    /// Writes a part of a user message as a prompt, once.
    fn write_prompt_once_unless_synthetic(&mut self, part: &Part<'_>, out: &mut Writer<'_>) {
        let id = part.id.as_deref().unwrap_or("");
        let written = part.kind.as_deref() == Some("text") && part.synthetic != Some(true);
        if written && self.sessions.written_prompts.insert(id) {
            self.advance_writer_timestamp(self.part_time, out);
            out.append_prompt_unless_finish_requested(part.text.as_deref().unwrap_or(""));
        }
    }

    /// Applies a part of a child session to the parent's step.
    fn apply_child_part(
        &mut self,
        part: &Part<'_>,
        raw: &RawValue,
        parent: StepId,
        out: &mut Writer<'_>,
    ) {
        out.append_unknown_fields_once(&part.unknown);
        let id = part.id.as_deref().unwrap_or("");
        let text = part.text.as_deref().unwrap_or("");
        match part.kind.as_deref() {
            Some("text") => out.append_output_if_open(
                parent,
                self.sessions.record_child_text_returning_new(id, text),
            ),
            Some("tool") => self.apply_tool_part(part, raw, Some(parent), out),
            _ => {}
        }
    }

    /// Writes a text delta of a known part; one of an unknown part as unrecognised.
    fn apply_part_delta(&mut self, event: &Properties<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let part = event.part_id.as_deref().unwrap_or("");
        let delta = event.delta.as_deref().unwrap_or("");
        let session = event.session.as_deref().unwrap_or("");
        let is_text = event.field.as_deref().is_none_or(|field| field == "text");
        if let Some(parent) = self.sessions.parent_step(session) {
            if is_text && self.sessions.record_child_delta_if_known(part, delta) {
                out.append_output_if_open(parent, delta);
            }
        } else if self.sessions.is_not_main_session(session) {
            self.write_unfollowed_notice_once(session, out);
        } else if is_text && self.texts.has_part(part) {
            self.texts.append_delta(part, delta, out);
        } else if is_text && self.thoughts.has_item(part) {
            self.thoughts.append_text(part, delta, out);
        } else {
            // The type of the part is unknown until it arrives whole.
            out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
        }
    }

    /// Applies a session status: idle or retry.
    fn apply_session_status(&mut self, event: &Properties<'_>, out: &mut Writer<'_>) {
        object! { Status { kind = "type"; skip _ } }
        let Some(raw) = event.status else { return };
        let kind = Status::from_raw(raw).and_then(|status| status.kind).and_then(as_string);
        match kind.as_deref() {
            Some("idle") => self.report_completed_once_and_end_round(out),
            Some("retry") => write_retry(raw, out),
            _ => {}
        }
    }

    /// Completes the run: the session is idle. Ignored before a session is followed.
    fn report_completed_once_and_end_round(&mut self, out: &mut Writer<'_>) {
        if !self.sessions.main_session.is_empty() && !out.has_reported_end() {
            out.report_completed_unless_failed(self.sessions.last_stop.unwrap_or(StopReason::End));
        }
        out.end_round(None);
    }
}

/// True for known events that do not affect the run.
fn is_ignored_event(kind: &str) -> bool {
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
