//! Permissions: what a person is asked, and which calls were refused.

use crate::event::{
    AnsweredBy, AskKind, AskOption, Level, ToolKind, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, string, string_or_json};
use crate::run::{Fingerprint, Writer};

use super::{Line, StreamJson};

/// Questions and refusals remembered until they are settled.
const OPEN_MAX: usize = 256;

/// Bytes of a call's id that are remembered.
const CALL_BYTES_MAX: usize = 256;

fn key(call: &str) -> &str {
    &call[..call.floor_char_boundary(CALL_BYTES_MAX)]
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asks {
    /// Open questions: their id and the call they are about.
    asked: Vec<(Fingerprint, String)>,
    /// Calls that were refused and whose result has not come.
    denied: Vec<Denied>,
}

/// A call that was refused, and the words it was refused with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Denied {
    call: String,
    pub(super) words: Option<String>,
}

impl Asks {
    fn ask(&mut self, id: &str, call: &str) {
        if OPEN_MAX <= self.asked.len() {
            self.asked.remove(0);
        }
        self.asked.push((Fingerprint::of(id), key(call).to_owned()));
    }

    fn take_call(&mut self, id: &str) -> Option<String> {
        let id = Fingerprint::of(id);
        let at = self.asked.iter().position(|(asked, _)| *asked == id)?;
        Some(self.asked.remove(at).1)
    }

    fn deny(&mut self, call: &str, words: &str) {
        if OPEN_MAX <= self.denied.len() {
            self.denied.remove(0);
        }
        if !call.is_empty() {
            let words = Some(words.to_owned()).filter(|words| !words.is_empty());
            self.denied.push(Denied { call: key(call).to_owned(), words });
        }
    }

    pub(super) fn take_denied(&mut self, call: &str) -> Option<Denied> {
        let at = self.denied.iter().position(|denied| denied.call == key(call))?;
        Some(self.denied.swap_remove(at))
    }

    /// Ends the calls that were refused and never answered.
    pub(super) fn end_denied(&mut self, out: &mut Writer<'_>) {
        for Denied { call, words } in std::mem::take(&mut self.denied) {
            if let Some(step) = out.step_of(&call) {
                out.end_tool(step, ToolOutcome::Denied, words.as_deref());
            }
        }
    }
}

impl StreamJson {
    pub(super) fn control(&mut self, line: &Line<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let id = line.request_id.as_deref().unwrap_or("");
        match line.kind.as_deref().unwrap_or("") {
            "control_request" => {
                if !line.request.is_some_and(|request| self.request(id, request, out)) {
                    out.unrecognised(UnrecognisedReason::Frame, frame.data);
                }
            }
            "control_response" => {
                if let Some(response) = line.response {
                    self.response(response, out);
                }
            }
            _ => {
                self.asks.take_call(id);
                out.resolve_ask(id, "cancelled", AnsweredBy::Policy);
            }
        }
    }

    /// Whether the request is known.
    fn request(&mut self, id: &str, request: &RawValue, out: &mut Writer<'_>) -> bool {
        const REQUEST: Shape<5> =
            Shape { read: ["subtype", "tool_name", "input", "tool_use_id", "message"], skip: &[] };
        let Some(request) = REQUEST.read(request.get()) else { return false };
        let [subtype, tool, input, call, message] = request.read;
        let text_of = |raw: Option<_>| raw.and_then(string).unwrap_or_default();
        match text_of(subtype).as_ref() {
            "can_use_tool" => {
                let (tool, call) = (text_of(tool), text_of(call));
                let kind = match (self.habits.tool.0)(&call, &tool).kind {
                    ToolKind::Command => AskKind::Command,
                    ToolKind::Mcp => AskKind::Mcp,
                    _ => AskKind::Tool,
                };
                let text = format!("{tool} {}", input.map_or("", RawValue::get));
                let options = vec![
                    AskOption { id: "allow".into(), label: "Allow".into() },
                    AskOption { id: "deny".into(), label: "Deny".into() },
                ];
                self.asks.ask(id, &call);
                out.ask(id, kind, text.trim_end(), options, out.step_of(&call));
            }
            "elicitation" => out.ask(id, AskKind::Followup, &text_of(message), Vec::new(), None),
            // Between the agent and the program around it: no person is asked.
            "initialize"
            | "interrupt"
            | "set_permission_mode"
            | "set_model"
            | "set_max_thinking_tokens"
            | "hook_callback"
            | "mcp_message"
            | "mcp_status" => {}
            _ => return false,
        }
        true
    }

    fn response(&mut self, response: &RawValue, out: &mut Writer<'_>) {
        const RESPONSE: Shape<3> = Shape { read: ["request_id", "response", "error"], skip: &[] };
        const ANSWER: Shape<3> = Shape { read: ["behavior", "action", "message"], skip: &[] };
        let Some(response) = RESPONSE.read(response.get()) else { return };
        let [id, answer, error] = response.read;
        let id = id.and_then(string).unwrap_or_default();
        let said = answer.and_then(|raw| ANSWER.read(raw.get())).map(|answer| answer.read);
        let [behavior, action, message] = said.unwrap_or_default();
        let answer = behavior.or(action);
        let answer = answer.or(error).map(string_or_json).unwrap_or_default();
        let call = self.asks.take_call(&id);
        if answer == "deny" {
            let words = message.and_then(string).unwrap_or_default();
            self.asks.deny(&call.unwrap_or_default(), &words);
        }
        out.resolve_ask(&id, &answer, AnsweredBy::Person);
    }

    /// A call that a rule of the agent's refused; its result is still to come.
    pub(super) fn permission_denied(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        let call = line.call.as_deref().unwrap_or("");
        let words = line.message.map(string_or_json).unwrap_or_default();
        if out.step_of(call).is_some() {
            self.asks.deny(call, &words);
        } else {
            out.notice(Level::Warning, &words);
        }
    }
}
