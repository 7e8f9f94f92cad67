//! Dialect of `codex app-server`: JSON-RPC lines of one or both sides.
//!
//! Text is incremental; a completed item repeats it. A message is commentary or final answer from
//! its start. Every notification has a time. A run ends at `turn/completed`; another turn is
//! another round. Model calls are not marked: model output after a tool result is a new round.
//! Threads other than the first are sub-agents; their text is output of the tool that started them.

mod asks;
mod items;
mod thread_texts;
mod turns;

use std::collections::VecDeque;

use crate::event::{
    Event, NoticeLevel, ReasoningOrigin, StepId, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::{Frame, FrameOrigin};
use crate::ingest::json::{
    RawValue, Text, as_string, json_object_of_members, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, RoundBoundaries, Writer};

use super::openai_chat::parse_error_message;
use super::shared::calls_without_id::CallMatcher;
use super::shared::cli_agent::{LastModelOutput, PendingError};
use super::shared::shown_items::ShownItemKey;
use super::{Dialect, Unreadable};

use asks::OpenAsk;
use thread_texts::ThreadTexts;

/// Parser state of the `codex-app-server` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CodexAppServer {
    model: Option<String>,
    /// Id of the thread whose text is the reply; empty until it is known.
    main_thread: String,
    turn: TurnState,
    thread_texts: ThreadTexts,
    asks: VecDeque<OpenAsk>,
    /// Threads of sub-agents, each with the step that last addressed it.
    sub_agents: VecDeque<(ShownItemKey, StepId)>,
    /// Usage of the whole thread so far.
    total_usage: Option<Usage>,
    pending_error: PendingError,
    compaction_source: CompactionSource,
    last_plan: String,
    calls: CallMatcher,
    last_output: LastModelOutput,
    /// Prompt that the client sent, until the server repeats it.
    sent_prompt: Option<Fingerprint>,
}

/// State of the main thread's turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TurnState {
    #[default]
    Idle,
    Running,
}

/// Message by which this server reports compaction; some send both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CompactionSource {
    #[default]
    Notification,
    Item,
}

/// Asks and sub-agents remembered at once; the oldest is dropped.
const REMEMBERED_MAX: usize = 1 << 10;

object! { RpcMessage {
    method: Text<'a> = "method",
    params: Params<'a> = "params",
    id: &'a RawValue = "id",
    result: &'a RawValue = "result",
    error: &'a RawValue = "error",
    at: u64 = "emittedAtMs",
    ; skip "jsonrpc" | "trace"
} }

object! { Params {
    thread_id: Text<'a> = "threadId",
    item_id: Text<'a> = "itemId",
    item: &'a RawValue = "item",
    turn: &'a RawValue = "turn",
    thread: &'a RawValue = "thread",
    delta: Text<'a> = "delta",
    summary_index: u64 = "summaryIndex",
    changes: &'a RawValue = "changes",
    message: &'a RawValue = "message",
    summary: &'a RawValue = "summary",
    error: &'a RawValue = "error",
    will_retry: &'a RawValue = "willRetry",
    token_usage: &'a RawValue = "tokenUsage",
    plan: &'a RawValue = "plan",
    explanation: &'a RawValue = "explanation",
    from_model: &'a RawValue = "fromModel",
    to_model: &'a RawValue = "toModel",
    command: &'a RawValue = "command",
    reason: &'a RawValue = "reason",
    decisions: &'a RawValue = "availableDecisions",
    questions: &'a RawValue = "questions",
    input: &'a RawValue = "input",
    server_name: &'a RawValue = "serverName",
    call_id: Text<'a> = "callId",
    started_at: u64 = "startedAtMs",
    cwd: Text<'a> = "cwd",
    grant_root: Text<'a> = "grantRoot",
    permissions: &'a RawValue = "permissions",
    more_permissions: &'a RawValue = "additionalPermissions",
    network: &'a RawValue = "networkApprovalContext",
    ; skip "turnId" | "completedAtMs" | "contentIndex" | "details" | "path" | "kind"
        | "range" | "commandActions" | "approvalId" | "proposedExecpolicyAmendment"
        | "proposedNetworkPolicyAmendments" | "conversationId" | "fileChanges" | "parsedCmd" | "mode" | "requestedSchema"
        | "_meta" | "meta" | "url" | "elicitationId" | "environmentId" | "autoResolutionMs"
        | "processId" | "stdin" | "tool" | "arguments" | "namespace" | "diff" | "status"
        | "clientInfo" | "capabilities" | "model" | "effort" | "approvalPolicy" | "approvalsReviewer"
        | "sandboxPolicy" | "sandbox" | "outputSchema" | "personality" | "serviceTier" | "config"
        | "baseInstructions" | "developerInstructions" | "ephemeral" | "expectedTurnId"
        | "rateLimits" | "installationId" | "name" | "requestId" | "modelProvider"
        | "clientUserMessageId" | "collaborationMode" | "runtimeWorkspaceRoots" | "responsesapiClientMetadata"
} }

object! { Thread { id, model; skip _ } }

impl Dialect for CodexAppServer {
    const NAME: &'static str = "codex-app-server";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let method = probe.text_member("method").unwrap_or_default();
        let ours = ["thread/", "turn/", "item/"].iter().any(|start| method.starts_with(start));
        if ours && probe.has("params") {
            return Likeness::Yes;
        }
        let named = probe.has("emittedAtMs") && !method.is_empty();
        Likeness::maybe_if(named || probe.has_nested("result", "codexHome"))
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let message: RpcMessage<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = message.at {
            out.set_timestamp(at);
        }
        out.set_round_boundaries(RoundBoundaries::AfterToolResults);
        out.append_unknown_fields_once(&message.unknown);
        let Some(method) = &message.method else {
            self.apply_answer_or_hold_error(&message, frame, out);
            return Ok(());
        };
        let params = message.params.unwrap_or_default();
        if matches!(&**method, "turn/start" | "turn/steer") {
            self.write_and_remember_sent_prompt(&params, out);
            return Ok(());
        }
        if frame.origin == FrameOrigin::Client {
            return Ok(());
        }
        if method.starts_with("item/") {
            self.pending_error.write_held_error_or_forget_reported(out);
        }
        match message.id {
            Some(id) if let Some(at) = params.started_at => {
                // Requests have no other time.
                out.set_timestamp(message.at.unwrap_or(at));
                self.apply_request(method, &string_or_json(id), &params, frame.data, out);
            }
            Some(id) => self.apply_request(method, &string_or_json(id), &params, frame.data, out),
            None => self.apply_notification(method, &params, frame.data, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.thread_texts.finish_messages(out);
        self.pending_error.fail_run_or_write_held_error(out);
    }
}

impl CodexAppServer {
    /// Applies a response: the user's to an ask, or an error of the server.
    fn apply_answer_or_hold_error(
        &mut self,
        message: &RpcMessage<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let id = message.id.map(string_or_json).unwrap_or_default();
        match (message.result, message.error) {
            (Some(result), _) => self.resolve_ask_if_answered(&id, result, frame.origin, out),
            (None, Some(error)) if frame.origin == FrameOrigin::Agent => {
                self.pending_error.hold_error_and_write_previous(&parse_error_message(error), out);
            }
            (None, Some(_)) => {}
            (None, None) => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
    }

    /// Applies a notification of the server.
    fn apply_notification(
        &mut self,
        method: &str,
        params: &Params<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        if !params.unknown.is_empty() && !is_ignored_notification(method) {
            out.append_unknown_fields_once(&params.unknown);
        }
        let delta = params.delta.as_deref().unwrap_or("");
        match method {
            "item/agentMessage/delta" | "item/plan/delta" => {
                self.apply_text_delta(params, delta, raw, out);
            }
            "item/reasoning/summaryTextDelta" => {
                self.apply_main_thread_reasoning_delta(
                    params,
                    delta,
                    ReasoningOrigin::Summary,
                    out,
                );
            }
            "item/reasoning/textDelta" => {
                self.apply_main_thread_reasoning_delta(params, delta, ReasoningOrigin::Native, out);
            }
            "item/reasoning/summaryPartAdded" => {
                // The first part needs no gap before it.
                if params.summary_index.is_some_and(|index| 0 < index) {
                    self.apply_main_thread_reasoning_delta(
                        params,
                        "\n\n",
                        ReasoningOrigin::Summary,
                        out,
                    );
                }
            }
            "item/commandExecution/outputDelta"
            | "item/fileChange/outputDelta"
            | "item/fileChange/patchUpdated"
            | "item/mcpToolCall/progress" => write_tool_update(method, params, raw, out),
            "item/started" => self.apply_item(items::ItemStage::Started, params, raw, out),
            "item/completed" => self.apply_item(items::ItemStage::Completed, params, raw, out),
            _ => self.apply_turn_or_thread_notification(method, params, raw, out),
        }
    }

    /// Applies a notification about a turn or thread, a warning or an error.
    fn apply_turn_or_thread_notification(
        &mut self,
        method: &str,
        params: &Params<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match method {
            "thread/started" => {
                let thread = params.thread.and_then(Thread::from_raw);
                let model = thread.and_then(|thread| thread.model).and_then(as_string);
                self.model = model.map(std::borrow::Cow::into_owned).or(self.model.take());
            }
            "turn/started" => self.apply_turn_start_if_main_thread(params, out),
            "turn/completed" => self.apply_turn_end_if_main_thread(params, out),
            "turn/plan/updated" => self.write_changed_plan_as_call(params, out),
            "thread/tokenUsage/updated" => self.write_last_usage_and_hold_total(params, out),
            "thread/compacted" => {
                if self.compaction_source == CompactionSource::Notification {
                    out.append_stateless_event(Event::HistoryCompacted { summary: None });
                }
            }
            "error" => self.withdraw_for_retry_or_hold_error(params, out),
            "warning" | "configWarning" | "guardianWarning" | "deprecationNotice" => {
                out.append_notice(NoticeLevel::Warning, &message_or_summary_text(params));
            }
            "model/rerouted" => {
                let name = |raw: Option<&RawValue>| {
                    raw.map(string_or_json).unwrap_or_default().into_owned()
                };
                let (from, to) = (name(params.from_model), name(params.to_model));
                out.append_notice(NoticeLevel::Info, &format!("model changed from {from} to {to}"));
            }
            _ if is_ignored_notification(method) => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// True if the message is about the main thread, or names no thread.
    fn is_about_main_or_unnamed_thread(&self, params: &Params<'_>) -> bool {
        let thread = params.thread_id.as_deref().unwrap_or("");
        thread.is_empty() || self.main_thread.is_empty() || thread == self.main_thread
    }

    /// True if the thread belongs to a sub-agent.
    fn is_sub_agent_thread(&self, thread: &str) -> bool {
        let thread = Fingerprint::from_text(thread);
        self.sub_agents.iter().any(|(agent, _)| *agent == thread)
    }
}

/// Writes output, progress or changes of a running tool.
fn write_tool_update(method: &str, params: &Params<'_>, raw: &str, out: &mut Writer<'_>) {
    let item = params.item_id.as_deref().unwrap_or("");
    let Some(step) = out.find_open_tool(item) else {
        out.append_unrecognised(UnrecognisedReason::Late, raw);
        return;
    };
    match method {
        "item/fileChange/patchUpdated" => {
            out.replace_arguments_if_changed(
                step,
                &json_object_of_members(&[("changes", params.changes)]),
            );
        }
        "item/mcpToolCall/progress" => {
            out.append_tool_progress_if_open(step, &message_or_summary_text(params));
        }
        _ => out.append_output_if_open(step, params.delta.as_deref().unwrap_or("")),
    }
}

/// Message or summary text of a notification.
fn message_or_summary_text<'a>(params: &Params<'a>) -> std::borrow::Cow<'a, str> {
    params.message.or(params.summary).map(string_or_json).unwrap_or_default()
}

/// True for known notifications that do not affect the run.
fn is_ignored_notification(method: &str) -> bool {
    const GROUPS: [&str; 13] = [
        "account/",
        "app/",
        "command/",
        "fs/",
        "fuzzyFileSearch/",
        "hook/",
        "item/autoApprovalReview/",
        "mcpServer/",
        "process/",
        "remoteControl/",
        "skills/",
        "thread/realtime/",
        "windowsSandbox/",
    ];
    const METHODS: [&str; 17] = [
        "initialized",
        "item/commandExecution/terminalInteraction",
        "model/verification",
        "rawResponseItem/completed",
        "serverRequest/resolved",
        "thread/archived",
        "thread/closed",
        "thread/deleted",
        "thread/environment/connected",
        "thread/environment/disconnected",
        "thread/goal/cleared",
        "thread/goal/updated",
        "thread/name/updated",
        "thread/settings/updated",
        "thread/status/changed",
        "thread/unarchived",
        "turn/diff/updated",
    ];
    METHODS.contains(&method) || GROUPS.iter().any(|group| method.starts_with(group))
}
