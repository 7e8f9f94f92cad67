//! JSON-RPC requests of both sides, and their responses.

use crate::event::{
    AnsweredBy, AskKind, AskOption, FailureReason, StopReason, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::{Frame, FrameOrigin};
use crate::ingest::json::{RawValue, array_elements, as_string, object, string_or_json};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{Fingerprint, Writer};

use super::super::openai_chat::parse_error_message;
use super::{Acp, Params, RpcMessage, USAGE, content};

/// A request without a response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PendingRequest {
    id: String,
    requester: FrameOrigin,
    kind: RequestKind,
}

/// Kind of a request, as far as its response matters.
#[derive(Clone, Debug, PartialEq)]
enum RequestKind {
    Turn,
    /// Its failure fails the turn.
    Session,
    Permission {
        call: String,
        rejections: Vec<String>,
    },
    Other,
}

/// Kind of request that a response answers: only the answer to a permission has an `outcome`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseKind {
    Permission,
    Other,
}

impl RequestKind {
    /// Kind of the response that answers this request.
    fn response_kind(&self) -> ResponseKind {
        match self {
            RequestKind::Permission { .. } => ResponseKind::Permission,
            RequestKind::Turn | RequestKind::Session | RequestKind::Other => ResponseKind::Other,
        }
    }
}

object! { ResultFields {
    reason = "stopReason", usage, outcome, models, meta = "_meta",
    ; skip _
} }
object! { ModelFields { current = "currentModelId"; skip _ } }
object! { OptionFields { id = "optionId", label = "name", kind; skip _ } }

impl Acp {
    /// Applies a request: writes prompts and asks, and remembers it.
    pub(super) fn apply_request(
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
                let text = params.prompt.map(content::block_text).unwrap_or_default();
                self.write_prompt_between_rounds(&text, out);
                self.sent_prompt = Some(Fingerprint::from_text(&text));
                (FrameOrigin::Client, RequestKind::Turn)
            }
            "session/request_permission" => {
                (FrameOrigin::Agent, self.ensure_call_and_open_ask(&id, params, out))
            }
            "initialize" | "session/new" | "session/load" | "session/resume" => {
                (FrameOrigin::Client, RequestKind::Session)
            }
            "session/set_model" => {
                out.declare_model(params.model.as_deref().unwrap_or(""));
                (FrameOrigin::Client, RequestKind::Other)
            }
            "authenticate"
            | "logout"
            | "session/cancel"
            | "session/set_mode"
            | "session/list"
            | "session/set_config_option"
            | "session/close"
            | "session/fork"
            | "session/delete"
            | "$/cancel_request" => (FrameOrigin::Client, RequestKind::Other),
            "fs/read_text_file"
            | "fs/write_text_file"
            | "terminal/create"
            | "terminal/output"
            | "terminal/wait_for_exit"
            | "terminal/kill"
            | "terminal/release"
            | "craft/drainMidTurnQueue" => (FrameOrigin::Agent, RequestKind::Other),
            _ => {
                out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
                (frame.origin, RequestKind::Other)
            }
        };
        if OPEN_TOOLS_MAX <= self.pending_requests.len() {
            self.pending_requests.pop_front();
        }
        self.pending_requests.push_back(PendingRequest {
            id: id.into_owned(),
            requester: by,
            kind: what,
        });
    }

    /// Opens an ask for a permission request, after starting the step of its call if that is new.
    fn ensure_call_and_open_ask(
        &mut self,
        id: &str,
        params: &Params<'_>,
        out: &mut Writer<'_>,
    ) -> RequestKind {
        let call =
            params.tool_call.and_then(|raw| self.tools.ensure_and_describe_asked_call(raw, out));
        let mut options = Vec::new();
        let mut rejections = Vec::new();
        for raw in params.options.map(array_elements).unwrap_or_default() {
            let Some(option) = OptionFields::from_raw(raw) else {
                out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                continue;
            };
            let [id, label, kind] =
                [option.id, option.label, option.kind].map(|member| member.and_then(as_string));
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
        out.open_simple_ask_unless_open(id, kind, &text, options, out.find_open_tool(&call));
        RequestKind::Permission { call, rejections }
    }

    /// Applies a response: usage, the answer of an ask, a failure, or the end of the turn.
    pub(super) fn apply_response(
        &mut self,
        line: &RpcMessage<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let id = line.id.map(string_or_json).unwrap_or_default();
        let result = line.result.and_then(ResultFields::from_raw);
        let ResultFields { reason, usage, outcome, models, meta } = result.unwrap_or_default();
        let model = models.and_then(|models| ModelFields::from_raw(models)?.current);
        if let Some(model) = model.and_then(as_string) {
            out.declare_model(&model);
        }
        let answered = match outcome {
            Some(_) => ResponseKind::Permission,
            None => ResponseKind::Other,
        };
        let asked = self.take_answered_request(&id, frame.origin, answered);
        if let Some(usage) = usage {
            out.emit_run_usage(USAGE.parse_usage_by_names(usage));
        } else if let Some(usage) = meta.and_then(content::parse_quota_usage) {
            out.emit_run_usage(usage);
        }
        match (asked, line.error) {
            (Some(RequestKind::Permission { call, rejections }), _) => {
                let answer = outcome
                    .map_or_else(|| "cancelled".to_owned(), content::chosen_option_or_cancelled);
                out.resolve_ask_if_open(&id, &answer, AnsweredBy::Person);
                let rejected = answer == "cancelled" || rejections.contains(&answer);
                if rejected && let Some(step) = out.find_open_tool(&call) {
                    self.tools.end_call(&call, step, ToolOutcome::Denied, out);
                }
            }
            // Failures of other requests do not end the turn.
            (Some(RequestKind::Turn | RequestKind::Session) | None, Some(error))
                if frame.origin == FrameOrigin::Agent =>
            {
                report_rpc_error_and_end_round(error, out);
            }
            _ => {}
        }
        if let Some(reason) = reason.and_then(as_string) {
            self.report_turn_end_and_end_round(&reason, out);
        }
    }

    /// Ends the turn, and the run, by its stop reason.
    pub(super) fn report_turn_end_and_end_round(&mut self, reason: &str, out: &mut Writer<'_>) {
        let voice = std::mem::take(&mut self.tools.last_output);
        match reason {
            "end_turn" => voice.ensure_reply_round_and_report_completed(StopReason::End, out),
            "max_tokens" => voice.ensure_reply_round_and_report_completed(StopReason::Length, out),
            "max_turn_requests" => {
                out.report_failed_and_end_text(
                    FailureReason::Limit,
                    "reached the request limit of the turn",
                );
            }
            "refusal" => {
                out.report_failed_and_end_text(FailureReason::Refused, "the agent refused");
            }
            "cancelled" => out.report_cancelled_and_end_text(""),
            _ => voice.ensure_reply_round_and_report_completed(StopReason::Other, out),
        }
        // Later output belongs to another turn.
        out.end_round(None);
    }

    /// Removes and returns the request that a response answers. Ids of both sides overlap, so the
    /// sender and the kind of the response decide.
    fn take_answered_request(
        &mut self,
        id: &str,
        from: FrameOrigin,
        answered: ResponseKind,
    ) -> Option<RequestKind> {
        let at = self.pending_requests.iter().rposition(|request| {
            // In one-sided or unmarked input every line counts as the agent's.
            let by_other = from == FrameOrigin::Agent || request.requester == FrameOrigin::Agent;
            request.id == id && by_other && request.kind.response_kind() == answered
        });
        let at =
            at.or_else(|| self.pending_requests.iter().rposition(|request| request.id == id))?;
        self.pending_requests.remove(at).map(|request| request.kind)
    }
}

/// Fails or cancels the run by a JSON-RPC error.
fn report_rpc_error_and_end_round(error: &RawValue, out: &mut Writer<'_>) {
    const CANCELLED: &str = "-32800";
    object! { ErrorFields { code; skip _ } }
    let code = ErrorFields::from_raw(error).and_then(|error| error.code);
    if code.is_some_and(|code| code.get() == CANCELLED) {
        out.report_cancelled_and_end_text(&parse_error_message(error));
    } else {
        out.report_failed_and_end_text(FailureReason::Error, &parse_error_message(error));
    }
    out.end_round(None);
}
