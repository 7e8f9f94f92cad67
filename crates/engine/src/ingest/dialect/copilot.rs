//! Dialect of `copilot --output-format json`: events in envelopes, each with its time.
//!
//! Text is incremental; `assistant.message` repeats it, before the `assistant.reasoning` that
//! repeats the reasoning. Tool output is sent as increments (`tool.shell_output`), as the output so
//! far (`tool.execution_partial_result`), and whole. A turn is one model call; a run ends at its
//! `result` line. Events with an `agentId` are a sub-agent's; its text is output of the tool that
//! started it.

mod asks;
mod ignored_events;
mod tools;
mod usage;

use std::collections::VecDeque;

use crate::event::{
    Event, FailureReason, NoticeLevel, ReasoningOrigin, StepId, StopReason, TextMode,
    UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, is_true, object, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::parse_iso_millis;
use crate::run::{Fingerprint, Writer};

use super::shared::bounded::push_bounded;
use super::shared::cli_agent::PendingError;
use super::shared::message_drafts::MessageDrafts;
use super::{Dialect, Unreadable};

use ignored_events::is_ignored_event;

/// Parser state of the `copilot` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Copilot {
    turn: TurnState,
    /// Sub-agents and their steps.
    sub_agents: VecDeque<(Fingerprint, StepId)>,
    pending_error: PendingError,
}

/// State of the current turn.
#[derive(Clone, Debug, Default, PartialEq)]
struct TurnState {
    model_call: ModelCallState,
    /// Messages and tool calls that had deltas.
    streamed_ids: VecDeque<Fingerprint>,
    /// Messages that arrived whole.
    whole_message_ids: VecDeque<Fingerprint>,
    has_reasoning: bool,
    stop: Option<StopReason>,
    drafts: MessageDrafts<Fingerprint>,
}

/// State of a turn's model call, which is announced after the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ModelCallState {
    #[default]
    Awaited,
    Started,
}

/// Items and sub-agents remembered at once; the oldest is dropped.
const REMEMBERED_MAX: usize = 1 << 10;

/// Inserts an entry and drops the oldest past the limit; returns true if it is new.
fn insert_bounded_if_new<T: PartialEq>(list: &mut VecDeque<T>, entry: T) -> bool {
    let is_new = !list.contains(&entry);
    if is_new {
        push_bounded(list, entry, REMEMBERED_MAX);
    }
    is_new
}

object! { EventEnvelope {
    kind: Text<'a> = "type",
    timestamp: Text<'a> = "timestamp",
    data: &'a RawValue = "data",
    agent: Text<'a> = "agentId",
    exit_code: i64 = "exitCode",
    ; skip "id" | "parentId" | "ephemeral" | "sessionId" | "usage"
} }

object! { EventBody {
    content: Text<'a> = "content",
    delta: Text<'a> = "deltaContent",
    message_id: Text<'a> = "messageId",
    reasoning_text: Text<'a> = "reasoningText",
    tool_requests: &'a RawValue = "toolRequests",
    call: Text<'a> = "toolCallId",
    name: Text<'a> = "toolName",
    input_delta: Text<'a> = "inputDelta",
    arguments: &'a RawValue = "arguments",
    mcp_server: Text<'a> = "mcpServerName",
    parent_call: Text<'a> = "parentToolCallId",
    text: Text<'a> = "text",
    partial_output: Text<'a> = "partialOutput",
    progress: Text<'a> = "progressMessage",
    success: &'a RawValue = "success",
    result: &'a RawValue = "result",
    error: &'a RawValue = "error",
    shell: &'a RawValue = "shellExecution",
    model: Text<'a> = "model",
    finish_reason: Text<'a> = "finishReason",
    message: &'a RawValue = "message",
    reason: &'a RawValue = "reason",
    summary: Text<'a> = "summaryContent",
    shutdown: Text<'a> = "shutdownType",
    error_reason: Text<'a> = "errorReason",
    request: Text<'a> = "requestId",
    permission: &'a RawValue = "permissionRequest",
    question: Text<'a> = "question",
    choices: &'a RawValue = "choices",
    answer: &'a RawValue = "answer",
    ; skip "turnId" | "interactionId" | "transformedContent" | "supportedNativeDocumentMimeTypes"
        | "delivery" | "parentAgentTaskId" | "attachments" | "source" | "agentMode" | "reasoningId"
        | "originatingMessageId" | "rte" | "apiCallId" | "toolType" | "toolTitle" | "shellToolInfo"
        | "mcpToolName" | "stream" | "sequence" | "toolTelemetry" | "isUserRequested" | "phase"
        | "outputTokens" | "encryptedContent" | "reasoningOpaque" | "toolDescription" | "sandboxed"
        | "intentionSummary" | "serviceRequestId" | "anthropicAdvisorBlocks" | "anthropicAdvisorModel"
        | "agentName" | "agentDisplayName" | "agentDescription" | "durationMs" | "totalTokens"
        | "totalToolCalls" | "errorType" | "stack" | "statusCode" | "providerCallId" | "url"
        | "allowFreeform" | "mode" | "requestedSchema" | "wasFreeform" | "infoType" | "warningType"
} }

impl Dialect for Copilot {
    const NAME: &'static str = "copilot";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        const GROUPS: [&str; 6] =
            ["session.", "assistant.", "tool.", "user.", "model.", "permission."];
        let ours = GROUPS.iter().any(|group| probe.type_text().starts_with(group));
        let end = probe.type_text() == "result" && probe.has_all(["sessionId", "exitCode"]);
        Likeness::yes_if(end || (ours && probe.has_all(["data", "id", "timestamp"])))
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let envelope: EventEnvelope<'_> =
            serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = envelope.timestamp.as_deref().and_then(parse_iso_millis) {
            out.set_timestamp(at);
        }
        out.append_unknown_fields_once(&envelope.unknown);
        let kind = envelope.kind.as_deref().unwrap_or("");
        if is_ignored_event(kind) {
            return Ok(());
        }
        if !matches!(kind, "result" | "session.error" | "session.shutdown" | "assistant.usage") {
            self.pending_error.write_held_error_or_forget_reported(out);
        }
        if kind == "result" {
            self.report_end_by_exit_code(envelope.exit_code.unwrap_or(0), out);
            return Ok(());
        }
        if kind == "assistant.usage" {
            self.apply_main_agent_usage(envelope.data, envelope.agent.as_deref(), out);
            return Ok(());
        }
        let data: EventBody<'_> = match envelope.data {
            Some(data) => serde_json::from_str(data.get()).map_err(|_| Unreadable)?,
            None => EventBody::default(),
        };
        match (envelope.agent.as_deref(), data.parent_call.as_deref()) {
            (None, None) => self.apply_main_agent_event(kind, &data, frame.data, out),
            (agent, call) => self.apply_sub_agent_event(agent, call, kind, &data, frame.data, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.pending_error.fail_run_or_write_held_error(out);
    }
}

impl EventBody<'_> {
    /// Fingerprint of the message id.
    fn message_id_fingerprint(&self) -> Fingerprint {
        Fingerprint::from_text(self.message_id.as_deref().unwrap_or(""))
    }
}

impl TurnState {
    /// Records a whole message; returns true if it is new. One without an id always is.
    fn record_whole_message_if_new(&mut self, data: &EventBody<'_>) -> bool {
        let message = data.message_id_fingerprint();
        message.is_blank() || insert_bounded_if_new(&mut self.whole_message_ids, message)
    }
}

impl Copilot {
    /// Applies an event of the main agent.
    fn apply_main_agent_event(
        &mut self,
        kind: &str,
        data: &EventBody<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match kind {
            "user.message" => {
                out.append_prompt_unless_finish_requested(data.content.as_deref().unwrap_or(""));
            }
            "assistant.turn_start" => {
                out.end_round(None);
                self.turn = TurnState::default();
            }
            "model.call_start" => {
                self.turn.model_call = ModelCallState::Started;
                out.start_round_or_end_run(data.model.as_deref(), None);
            }
            "assistant.turn_end" => {
                self.turn.drafts.merge_pieces_and_drop_paused(out);
                out.end_round(self.turn.stop);
            }
            "assistant.message_start" => {
                self.ensure_round(out);
                out.close_message_and_set_next_phase(None);
            }
            "assistant.message_delta" => {
                self.ensure_round(out);
                insert_bounded_if_new(&mut self.turn.streamed_ids, data.message_id_fingerprint());
                let text = data.delta.as_deref().unwrap_or("");
                self.turn.drafts.resume_or_restate_and_append_text(
                    data.message_id_fingerprint(),
                    None,
                    text,
                    out,
                );
            }
            "assistant.reasoning_delta" => {
                self.ensure_round(out);
                self.turn.has_reasoning = true;
                let text = data.delta.as_deref().unwrap_or("");
                out.append_reasoning(text, ReasoningOrigin::Native);
            }
            "assistant.reasoning" => {
                self.write_reasoning_if_turn_has_none(data.content.as_deref(), out);
            }
            "assistant.message" => self.apply_whole_message(data, out),
            _ if kind.starts_with("tool.") || kind == "assistant.tool_call_delta" => {
                self.ensure_round(out);
                self.apply_tool_event(kind, data, None, raw, out);
            }
            _ => self.apply_session_or_ask_event(kind, data, raw, out),
        }
        out.append_unknown_fields_once(&data.unknown);
    }

    /// Applies a session event or an ask. An error is held: a later event may say what it means.
    fn apply_session_or_ask_event(
        &mut self,
        kind: &str,
        data: &EventBody<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let words = data.message.map(string_or_json).unwrap_or_default();
        match kind {
            "session.error" => {
                self.pending_error.hold_error_and_write_previous(&words, out);
            }
            "session.warning" => out.append_notice(NoticeLevel::Warning, &words),
            "session.info" => out.append_notice(NoticeLevel::Info, &words),
            "session.compaction_complete" => {
                if data.success.is_none_or(is_true) {
                    let summary = data.summary.as_deref().map(Into::into);
                    out.append_stateless_event(Event::HistoryCompacted { summary });
                }
            }
            "session.shutdown" => match data.shutdown.as_deref() {
                Some("error") => {
                    let words = data.error_reason.as_deref().unwrap_or("the session crashed");
                    self.pending_error.clear_and_write_held_unless_repeated(words, out);
                    out.report_failed_and_end_text(FailureReason::Error, words);
                }
                _ if !out.has_reported_end() => {
                    out.report_completed_unless_failed(self.turn.stop.unwrap_or(StopReason::End));
                }
                _ => {}
            },
            "abort" => out.report_cancelled_and_end_text(
                &data.reason.map(string_or_json).unwrap_or_default(),
            ),
            _ if asks::try_apply_ask_event(kind, data, out) => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Starts the round of a turn whose model call was not announced.
    fn ensure_round(&mut self, out: &mut Writer<'_>) {
        if self.turn.model_call == ModelCallState::Awaited {
            self.turn.model_call = ModelCallState::Started;
            out.start_round_or_end_run(None, None);
        }
    }

    /// Writes whole reasoning unless the turn has reasoning.
    fn write_reasoning_if_turn_has_none(&mut self, text: Option<&str>, out: &mut Writer<'_>) {
        let Some(text) = text.filter(|text| !text.is_empty() && !self.turn.has_reasoning) else {
            return;
        };
        self.turn.has_reasoning = true;
        self.ensure_round(out);
        out.append_reasoning(text, ReasoningOrigin::Native);
        out.close_reasoning_and_defer_end();
    }

    /// Applies a whole message: new text, reasoning and tool requests.
    fn apply_whole_message(&mut self, data: &EventBody<'_>, out: &mut Writer<'_>) {
        self.ensure_round(out);
        if !self.turn.record_whole_message_if_new(data) {
            return;
        }
        let streamed = self.turn.streamed_ids.contains(&data.message_id_fingerprint());
        let text = data.content.as_deref().unwrap_or("");
        let key = data.message_id_fingerprint();
        let known = key.is_blank() || self.turn.drafts.text(key).is_some();
        if streamed && known && !text.is_empty() {
            self.turn.drafts.apply_whole_text(key, None, text, out).warn_if_replaced(text, out);
            self.turn.drafts.finish_and_merge_message(key, out);
        }
        self.write_reasoning_if_turn_has_none(data.reasoning_text.as_deref(), out);
        if !streamed && !text.is_empty() {
            out.close_message_and_set_next_phase(None);
            out.append_text(text);
        }
        out.close_message_and_defer_end();
        if let Some(requests) = data.tool_requests {
            self.ensure_requested_calls_with_arguments(requests, None, out);
        }
        if self.turn.stop.is_none() {
            self.turn.stop = Some(StopReason::End);
        }
    }

    /// Reports the end of the run by the exit code of the process.
    fn report_end_by_exit_code(&mut self, exit_code: i64, out: &mut Writer<'_>) {
        if exit_code == 0 {
            self.pending_error.write_held_error_or_forget_reported(out);
            out.report_completed_unless_failed(self.turn.stop.unwrap_or(StopReason::End));
        } else if !out.has_reported_end() {
            let words = self
                .pending_error
                .take_message()
                .unwrap_or_else(|| format!("exit code {exit_code}"));
            out.report_failed_and_end_text(FailureReason::Error, &words);
        }
    }
}
