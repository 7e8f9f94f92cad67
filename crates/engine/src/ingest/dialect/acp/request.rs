//! Requests of both sides, and their answers.

use crate::event::{
    AnsweredBy, AskKind, AskOption, FailureReason, Stop, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::{Direction, Frame};
use crate::ingest::json::{RawValue, Shape, elements, string, string_or_json};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{Fingerprint, Writer};

use super::super::openai_chat::error_text;
use super::{Acp, Line, Params, content, usage_of};

/// A request that waits for its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    id: String,
    by: Direction,
    what: Asked,
}

#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Turn,
    /// A turn cannot do without the answer.
    Session,
    Permission {
        call: String,
        rejections: Vec<String>,
    },
    Other,
}

const RESULT: Shape<4> = Shape { read: ["stopReason", "usage", "outcome", "_meta"], skip: &[] };
const OPTION: Shape<3> = Shape { read: ["optionId", "name", "kind"], skip: &[] };

impl Acp {
    pub(super) fn request(
        &mut self,
        method: &str,
        id: Option<&RawValue>,
        params: &Params<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let id = id.map(string_or_json).unwrap_or_default();
        let (by, what) = match method {
            "session/prompt" => {
                let text = params.prompt.map(content::plain).unwrap_or_default();
                self.write_prompt(&text, out);
                self.sent = Some(Fingerprint::of(&text));
                (Direction::Client, Asked::Turn)
            }
            "session/request_permission" => (Direction::Agent, self.permission(&id, params, out)),
            "initialize" | "session/new" | "session/load" | "session/resume" => {
                (Direction::Client, Asked::Session)
            }
            "authenticate"
            | "logout"
            | "session/cancel"
            | "session/set_mode"
            | "session/list"
            | "session/set_model"
            | "session/set_config_option"
            | "session/close"
            | "session/fork"
            | "session/delete"
            | "$/cancel_request" => (Direction::Client, Asked::Other),
            "fs/read_text_file"
            | "fs/write_text_file"
            | "terminal/create"
            | "terminal/output"
            | "terminal/wait_for_exit"
            | "terminal/kill"
            | "terminal/release"
            | "craft/drainMidTurnQueue" => (Direction::Agent, Asked::Other),
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, frame.data);
                (frame.from, Asked::Other)
            }
        };
        if OPEN_TOOLS_MAX <= self.requests.len() {
            self.requests.pop_front();
        }
        self.requests.push_back(Request { id: id.into_owned(), by, what });
    }

    fn permission(&mut self, id: &str, params: &Params<'_>, out: &mut Writer<'_>) -> Asked {
        let call = params.tool_call.and_then(|raw| self.tools.asked(raw, out));
        let mut options = Vec::new();
        let mut rejections = Vec::new();
        for raw in params.options.map(elements).unwrap_or_default() {
            let Some(option) = OPTION.read(raw.get()) else {
                continue;
            };
            let [id, label, kind] = option.read.map(|member| member.and_then(string));
            let id = id.unwrap_or_default();
            if kind.is_some_and(|kind| kind.starts_with("reject")) {
                rejections.push(id.clone().into_owned());
            }
            options.push(AskOption { label: label.unwrap_or_else(|| id.clone()), id });
        }
        let (kind, text, call) = match call {
            Some(call) => (call.ask, call.text, call.id),
            None => (AskKind::Tool, String::new(), String::new()),
        };
        out.ask(id, kind, &text, options, out.step_of(&call));
        Asked::Permission { call, rejections }
    }

    pub(super) fn answer(&mut self, line: &Line<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let id = line.id.map(string_or_json).unwrap_or_default();
        let result = line.result.and_then(|raw| RESULT.read(raw.get()));
        let [reason, usage, outcome, meta] = result.map(|result| result.read).unwrap_or_default();
        let asked = self.asked(&id, frame.from, outcome.is_some());
        if let Some(usage) = usage {
            out.run_usage(usage_of(usage));
        } else if let Some(usage) = meta.and_then(content::quota) {
            out.run_usage(usage);
        }
        match (asked, line.error) {
            (Some(Asked::Permission { call, rejections }), _) => {
                let answer = outcome.map_or_else(|| "cancelled".to_owned(), content::choice);
                out.resolve_ask(&id, &answer, AnsweredBy::Person);
                let rejected = answer == "cancelled" || rejections.contains(&answer);
                if rejected && let Some(step) = out.step_of(&call) {
                    self.tools.end(&call, step, ToolOutcome::Denied, out);
                }
            }
            // Agents can do without other answers.
            (Some(Asked::Turn | Asked::Session) | None, Some(error))
                if frame.from == Direction::Agent =>
            {
                fail(error, out);
            }
            _ => {}
        }
        if let Some(reason) = reason.and_then(string) {
            self.stop(&reason, out);
        }
    }

    pub(super) fn stop(&mut self, reason: &str, out: &mut Writer<'_>) {
        let voice = std::mem::take(&mut self.tools.voice);
        match reason {
            "end_turn" => voice.complete(Stop::End, out),
            "max_tokens" => voice.complete(Stop::Length, out),
            "max_turn_requests" => {
                out.fail(FailureReason::Limit, "the limit of requests in a turn was reached");
            }
            "refusal" => out.fail(FailureReason::Refused, "the agent refused"),
            "cancelled" => out.cancelled(""),
            _ => voice.complete(Stop::Other, out),
        }
        // What the agent says after this belongs to another turn.
        out.end_round(None);
    }

    /// The request that is answered. Both sides count their own, so that ids alone do not tell.
    fn asked(&mut self, id: &str, from: Direction, outcome: bool) -> Option<Asked> {
        let at = self.requests.iter().rposition(|request| {
            let permission = matches!(request.what, Asked::Permission { .. });
            // In the agent's lines alone, or unmarked ones, every line counts as the agent's.
            let by_other = from == Direction::Agent || request.by == Direction::Agent;
            request.id == id && by_other && permission == outcome
        });
        let at = at.or_else(|| self.requests.iter().rposition(|request| request.id == id))?;
        self.requests.remove(at).map(|request| request.what)
    }
}

fn fail(error: &RawValue, out: &mut Writer<'_>) {
    const CANCELLED: &str = "-32800";
    const ERROR: Shape<1> = Shape { read: ["code"], skip: &[] };
    let code = ERROR.read(error.get()).and_then(|error| error.read[0]);
    if code.is_some_and(|code| code.get() == CANCELLED) {
        out.cancelled(&error_text(error));
    } else {
        out.fail(FailureReason::Error, &error_text(error));
    }
    out.end_round(None);
}
