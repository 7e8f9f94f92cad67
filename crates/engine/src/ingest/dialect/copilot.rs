//! `copilot --output-format json`: events in envelopes, each with its time.
//!
//! Text is incremental; `assistant.message` repeats it, and comes before the `assistant.reasoning`
//! that repeats the reasoning: neither is shown again. Output of a tool comes as increments
//! (`tool.shell_output`), again as all of it so far (`tool.execution_partial_result`), and whole.
//! A turn is one model call; a run ends at its `result` line. Events of another `agentId` are a
//! sub-agent's, whose words belong to the tool that started it.

mod asks;
mod tools;

use crate::event::{
    Event, FailureReason, Level, ReasoningOrigin, StepId, Stop, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, is_true, number, object, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::ingest::time::iso_millis;
use crate::run::{Fingerprint, Writer};

use super::agents::LastError;
use super::draft::Drafts;
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Copilot {
    turn: Turn,
    /// Sub-agents and the step each belongs to.
    agents: Vec<(Fingerprint, StepId)>,
    error: LastError,
}

/// What the turn has shown so far.
#[derive(Clone, Debug, Default, PartialEq)]
struct Turn {
    call: ModelCall,
    /// Messages and tool calls of which deltas have come.
    streamed: Vec<Fingerprint>,
    /// Messages that have come whole.
    whole: Vec<Fingerprint>,
    reasoned: bool,
    stop: Option<Stop>,
    drafts: Drafts<Fingerprint>,
}

/// A turn begins before its model call is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ModelCall {
    #[default]
    Awaited,
    Begun,
}

/// Items and sub-agents remembered at once; the oldest is forgotten.
const REMEMBERED_MAX: usize = 1 << 10;

/// Says whether the entry is new.
fn remember<T: PartialEq>(list: &mut Vec<T>, entry: T) -> bool {
    if list.contains(&entry) {
        return false;
    }
    if REMEMBERED_MAX <= list.len() {
        list.remove(0);
    }
    list.push(entry);
    true
}

object! { Envelope {
    kind: Text<'a> = "type",
    timestamp: Text<'a> = "timestamp",
    data: &'a RawValue = "data",
    agent: Text<'a> = "agentId",
    exit_code: i64 = "exitCode",
    ; skip "id" | "parentId" | "ephemeral" | "sessionId" | "usage"
} }

object! { Data {
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
        let ours = GROUPS.iter().any(|group| probe.kind().starts_with(group));
        let end = probe.kind() == "result" && probe.has_all(["sessionId", "exitCode"]);
        Likeness::yes_if(end || (ours && probe.has_all(["data", "id", "timestamp"])))
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let envelope: Envelope<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = envelope.timestamp.as_deref().and_then(iso_millis) {
            out.at(at);
        }
        out.unknown_fields(&envelope.unknown);
        let kind = envelope.kind.as_deref().unwrap_or("");
        if is_boring(kind) {
            return Ok(());
        }
        if !matches!(kind, "result" | "session.error" | "session.shutdown" | "assistant.usage") {
            self.error.tell(out);
        }
        if kind == "result" {
            self.result(envelope.exit_code.unwrap_or(0), out);
            return Ok(());
        }
        if kind == "assistant.usage" {
            self.usage(envelope.data, envelope.agent.as_deref(), out);
            return Ok(());
        }
        let data: Data<'_> = match envelope.data {
            Some(data) => serde_json::from_str(data.get()).map_err(|_| Unreadable)?,
            None => Data::default(),
        };
        match (envelope.agent.as_deref(), data.parent_call.as_deref()) {
            (None, None) => self.main(kind, &data, frame.data, out),
            (agent, call) => self.sub_agent(agent, call, kind, &data, frame.data, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.error.finish(out);
    }
}

impl Data<'_> {
    fn message_print(&self) -> Fingerprint {
        Fingerprint::of(self.message_id.as_deref().unwrap_or(""))
    }
}

impl Turn {
    /// Whether this whole message has not come before; one without an id never has.
    fn is_new(&mut self, data: &Data<'_>) -> bool {
        let message = data.message_print();
        message.is_empty() || remember(&mut self.whole, message)
    }
}

impl Copilot {
    fn main(&mut self, kind: &str, data: &Data<'_>, raw: &str, out: &mut Writer<'_>) {
        match kind {
            "user.message" => out.prompt(data.content.as_deref().unwrap_or("")),
            "assistant.turn_start" => {
                out.end_round(None);
                self.turn = Turn::default();
            }
            "model.call_start" => {
                self.turn.call = ModelCall::Begun;
                out.round(data.model.as_deref(), None);
            }
            "assistant.turn_end" => {
                self.turn.drafts.finish_all(out);
                out.end_round(self.turn.stop);
            }
            "assistant.message_start" => {
                self.begin(out);
                out.begin_message(None);
            }
            "assistant.message_delta" => {
                self.begin(out);
                remember(&mut self.turn.streamed, data.message_print());
                let text = data.delta.as_deref().unwrap_or("");
                self.turn.drafts.say(data.message_print(), None, text, out);
            }
            "assistant.reasoning_delta" => {
                self.begin(out);
                self.turn.reasoned = true;
                let text = data.delta.as_deref().unwrap_or("");
                out.reasoning(text, ReasoningOrigin::Native);
            }
            "assistant.reasoning" => self.whole_reasoning(data.content.as_deref(), out),
            "assistant.message" => self.whole_message(data, out),
            _ if kind.starts_with("tool.") || kind == "assistant.tool_call_delta" => {
                self.begin(out);
                self.tool(kind, data, None, raw, out);
            }
            _ => self.session(kind, data, raw, out),
        }
        out.unknown_fields(&data.unknown);
    }

    fn session(&mut self, kind: &str, data: &Data<'_>, raw: &str, out: &mut Writer<'_>) {
        let words = data.message.map(string_or_json).unwrap_or_default();
        match kind {
            "session.error" => {
                self.error.hold(&words, out);
            }
            "session.warning" => out.notice(Level::Warning, &words),
            "session.info" => out.notice(Level::Info, &words),
            "session.compaction_complete" => {
                if data.success.is_none_or(is_true) {
                    let summary = data.summary.as_deref().map(Into::into);
                    out.note(Event::HistoryCompacted { summary });
                }
            }
            "session.shutdown" => match data.shutdown.as_deref() {
                Some("error") => {
                    let words = data.error_reason.as_deref().unwrap_or("the session crashed");
                    self.error.ends(words, out);
                    out.fail(FailureReason::Error, words);
                }
                _ if !out.is_settled() => out.complete(self.turn.stop.unwrap_or(Stop::End)),
                _ => {}
            },
            "abort" => out.cancelled(&data.reason.map(string_or_json).unwrap_or_default()),
            _ if asks::handle(kind, data, out) => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// The round of a turn whose model call was not announced.
    fn begin(&mut self, out: &mut Writer<'_>) {
        if self.turn.call == ModelCall::Awaited {
            self.turn.call = ModelCall::Begun;
            out.round(None, None);
        }
    }

    fn whole_reasoning(&mut self, text: Option<&str>, out: &mut Writer<'_>) {
        let Some(text) = text.filter(|text| !text.is_empty() && !self.turn.reasoned) else {
            return;
        };
        self.turn.reasoned = true;
        self.begin(out);
        out.reasoning(text, ReasoningOrigin::Native);
        out.end_reasoning();
    }

    fn whole_message(&mut self, data: &Data<'_>, out: &mut Writer<'_>) {
        self.begin(out);
        if !self.turn.is_new(data) {
            return;
        }
        let streamed = self.turn.streamed.contains(&data.message_print());
        let text = data.content.as_deref().unwrap_or("");
        let key = data.message_print();
        let known = key.is_empty() || self.turn.drafts.said(key).is_some();
        if streamed && known && !text.is_empty() {
            self.turn.drafts.whole(key, None, text, out).warn(text, out);
            self.turn.drafts.finish(key, out);
        }
        self.whole_reasoning(data.reasoning_text.as_deref(), out);
        if !streamed && !text.is_empty() {
            out.begin_message(None);
            out.text(text);
        }
        out.end_message();
        if let Some(requests) = data.tool_requests {
            self.requested_tools(requests, None, out);
        }
        if self.turn.stop.is_none() {
            self.turn.stop = Some(Stop::End);
        }
    }

    /// The end of the process, and so of the run.
    fn result(&mut self, exit_code: i64, out: &mut Writer<'_>) {
        if exit_code == 0 {
            self.error.tell(out);
            out.complete(self.turn.stop.unwrap_or(Stop::End));
        } else if !out.is_settled() {
            let words = self.error.take().unwrap_or_else(|| format!("exit code {exit_code}"));
            out.fail(FailureReason::Error, &words);
        }
    }

    fn usage(&mut self, data: Option<&RawValue>, agent: Option<&str>, out: &mut Writer<'_>) {
        const USAGE: Shape<6> = Shape {
            read: [
                "inputTokens",
                "outputTokens",
                "reasoningTokens",
                "cacheReadTokens",
                "cacheWriteTokens",
                "finishReason",
            ],
            skip: &[],
        };
        let usage = data.and_then(|raw| USAGE.read(raw.get())).filter(|_| agent.is_none());
        let Some(usage) = usage else { return };
        let [input, output, reasoning, cache_read, cache_write, finish] = usage.read;
        self.turn.stop = match finish.and_then(string).as_deref() {
            Some("length") => Some(Stop::Length),
            _ => self.turn.stop,
        };
        out.round_usage(Usage {
            input_tokens: input.and_then(number),
            output_tokens: output.and_then(number),
            reasoning_tokens: reasoning.and_then(number),
            cache_read_tokens: cache_read.and_then(number),
            cache_write_tokens: cache_write.and_then(number),
            cost_usd: None,
        });
    }
}

/// Events that are known and say nothing about the run.
fn is_boring(kind: &str) -> bool {
    const KINDS: [&str; 32] = [
        "assistant.idle",
        "assistant.intent",
        "assistant.streaming_delta",
        "capabilities.changed",
        "hook.end",
        "hook.start",
        "model.call_final_result",
        "model.call_finished",
        "pending_messages.modified",
        "session.background_tasks_changed",
        "session.compaction_start",
        "session.context_changed",
        "session.custom_agents_updated",
        "session.extensions_loaded",
        "session.idle",
        "session.mcp_server_status_changed",
        "session.mcp_servers_loaded",
        "session.mode_changed",
        "session.model_change",
        "session.plan_changed",
        "session.resume",
        "session.session_limits_changed",
        "session.skills_loaded",
        "session.start",
        "session.task_complete",
        "session.title_changed",
        "session.tools_updated",
        "session.truncation",
        "session.usage_checkpoint",
        "session.usage_info",
        "skill.invoked",
        "system.message",
    ];
    KINDS.contains(&kind)
}
