//! Permission asks and denied calls.

use std::collections::VecDeque;

use crate::event::{
    AnsweredBy, AskKind, AskOption, NoticeLevel, ToolKind, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, as_string, object, string_or_json};
use crate::run::{Fingerprint, Writer};

use super::super::bounded::push_bounded;
use super::{StreamJson, StreamLine};

/// Open asks, and denied calls, remembered.
const OPEN_ASKS_MAX: usize = 256;

/// Open permission asks and denied calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PermissionAsks {
    /// Ask id and the call it is about.
    open: VecDeque<(Fingerprint, Fingerprint)>,
    /// Denied calls without a result.
    denied: VecDeque<DeniedCall>,
}

/// A denied call and the reason given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeniedCall {
    call: Fingerprint,
    pub(super) reason: Option<String>,
}

impl PermissionAsks {
    /// Records an open ask.
    fn record_ask(&mut self, id: &str, call: &str) {
        let ask = (Fingerprint::from_text(id), Fingerprint::from_text(call));
        push_bounded(&mut self.open, ask, OPEN_ASKS_MAX);
    }

    /// Removes an ask and returns its call.
    fn take_call_of_ask(&mut self, id: &str) -> Option<Fingerprint> {
        let id = Fingerprint::from_text(id);
        let at = self.open.iter().position(|(asked, _)| *asked == id)?;
        self.open.remove(at).map(|(_, call)| call)
    }

    /// Records a denied call.
    fn record_denial(&mut self, call: Fingerprint, words: &str) {
        if !call.is_blank() {
            let reason = Some(words.to_owned()).filter(|words| !words.is_empty());
            push_bounded(&mut self.denied, DeniedCall { call, reason }, OPEN_ASKS_MAX);
        }
    }

    /// Removes and returns the denial of a call.
    pub(super) fn take_denial_of_call(&mut self, call: &str) -> Option<DeniedCall> {
        let call = Fingerprint::from_text(call);
        let at = self.denied.iter().position(|denied| denied.call == call)?;
        self.denied.remove(at)
    }

    /// Ends the denied calls that got no result.
    pub(super) fn end_denied_calls_without_result(&mut self, out: &mut Writer<'_>) {
        for DeniedCall { call, reason: words } in std::mem::take(&mut self.denied) {
            if let Some(step) = out.find_open_tool_by_fingerprint(call) {
                out.end_tool_if_open(step, ToolOutcome::Denied, words.as_deref());
            }
        }
    }
}

impl StreamJson {
    /// Applies a control request, response or cancellation.
    pub(super) fn apply_control_line(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let id = line.request_id.as_deref().unwrap_or("");
        match line.kind.as_deref().unwrap_or("") {
            "control_request" => {
                if !line
                    .request
                    .is_some_and(|request| self.try_apply_control_request(id, request, out))
                {
                    out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
                }
            }
            "control_response" => {
                if let Some(response) = line.response {
                    self.apply_control_response(response, out);
                }
            }
            _ => {
                self.asks.take_call_of_ask(id);
                out.resolve_ask_if_open(id, "cancelled", AnsweredBy::Policy);
            }
        }
    }

    /// Applies a control request; returns false if its subtype is unknown.
    fn try_apply_control_request(
        &mut self,
        id: &str,
        request: &RawValue,
        out: &mut Writer<'_>,
    ) -> bool {
        object! { RequestFields {
            subtype, tool = "tool_name", input, call = "tool_use_id", message,
            ; skip _
        } }
        let Some(request) = RequestFields::from_raw(request) else { return false };
        let RequestFields { subtype, tool, input, call, message } = request;
        let text_of = |raw: Option<_>| raw.and_then(as_string).unwrap_or_default();
        match text_of(subtype).as_ref() {
            "can_use_tool" => {
                let (tool, call) = (text_of(tool), text_of(call));
                let kind = match (self.variant.tool_start.0)(&call, &tool).kind {
                    ToolKind::Command => AskKind::Command,
                    ToolKind::Mcp => AskKind::Mcp,
                    _ => AskKind::Tool,
                };
                let text = format!("{tool} {}", input.map_or("", RawValue::get));
                let options = vec![
                    AskOption { id: "allow".into(), label: "Allow".into() },
                    AskOption { id: "deny".into(), label: "Deny".into() },
                ];
                self.asks.record_ask(id, &call);
                out.open_simple_ask_unless_open(
                    id,
                    kind,
                    text.trim_end(),
                    options,
                    out.find_open_tool(&call),
                );
            }
            "elicitation" => {
                out.open_simple_ask_unless_open(
                    id,
                    AskKind::Followup,
                    &text_of(message),
                    Vec::new(),
                    None,
                );
            }
            // Between the agent and its host program: not an ask.
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

    /// Resolves the ask that a control response answers.
    fn apply_control_response(&mut self, response: &RawValue, out: &mut Writer<'_>) {
        object! { Response { id = "request_id", answer = "response", error; skip _ } }
        object! { AnswerFields { behavior, action, message; skip _ } }
        let Some(response) = Response::from_raw(response) else { return };
        let Response { id, answer, error } = response;
        let id = id.and_then(as_string).unwrap_or_default();
        let fields = answer.and_then(AnswerFields::from_raw);
        let AnswerFields { behavior, action, message } = fields.unwrap_or_default();
        let answer = behavior.or(action);
        let answer = answer.or(error).map(string_or_json).unwrap_or_default();
        let call = self.asks.take_call_of_ask(&id);
        if answer == "deny" {
            let words = message.and_then(as_string).unwrap_or_default();
            self.asks.record_denial(call.unwrap_or_default(), &words);
        }
        out.resolve_ask_if_open(&id, &answer, AnsweredBy::Person);
    }

    /// Records a call that one of the agent's rules denied; its result follows.
    pub(super) fn record_denial_or_write_notice(
        &mut self,
        line: &StreamLine<'_>,
        out: &mut Writer<'_>,
    ) {
        let call = line.call.as_deref().unwrap_or("");
        let words = line.message.map(string_or_json).unwrap_or_default();
        if out.find_open_tool(call).is_some() {
            self.asks.record_denial(Fingerprint::from_text(call), &words);
        } else {
            out.append_notice(NoticeLevel::Warning, &words);
        }
    }
}
