//! `codex app-server`: JSON-RPC lines, of one side or of both.
//!
//! Text is incremental; a completed item repeats it and is not shown again. A message says from its
//! start whether it is commentary or the final answer. Every notification carries its time. A run
//! ends at `turn/completed`; another turn is another round. Model calls are not marked: what the
//! model says after a tool's result is a new round. Other threads than the first are sub-agents,
//! whose words belong to the tool that started them.

mod asks;
mod items;
mod speech;
mod turns;

use crate::event::{Event, Level, ReasoningOrigin, StepId, TextMode, UnrecognisedReason, Usage};
use crate::ingest::frame::{Direction, Frame};
use crate::ingest::json::{RawValue, Shape, Text, object, object_text, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, Rounds, Writer};

use super::agents::{LastError, Voice};
use super::codex::calls::Calls;
use super::codex::shown::Key;
use super::openai_chat::error_text;
use super::{Dialect, Unreadable};

use asks::OpenAsk;
use speech::Speech;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CodexAppServer {
    model: Option<String>,
    /// The thread whose words are the reply; empty until one is known.
    thread: String,
    turn: Turn,
    speech: Speech,
    asks: Vec<OpenAsk>,
    /// Threads of sub-agents, with the step that last dealt with each.
    agents: Vec<(Key, StepId)>,
    /// What the whole thread has used so far.
    total: Option<Usage>,
    error: LastError,
    compaction: Compaction,
    plan: String,
    calls: Calls,
    voice: Voice,
    /// What the client has just sent, until the server tells of it.
    sent: Option<Fingerprint>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Idle,
    Running,
}

/// How this server tells of a shortened history; some say it twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Compaction {
    #[default]
    Notification,
    Item,
}

/// Items, asks and sub-agents remembered at once; the oldest is forgotten.
const REMEMBERED_MAX: usize = 1 << 10;

fn remember<T>(list: &mut Vec<T>, entry: T) {
    if REMEMBERED_MAX <= list.len() {
        list.remove(0);
    }
    list.push(entry);
}

object! { Message {
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

const THREAD: Shape<2> = Shape { read: ["id", "model"], skip: &[] };

impl Dialect for CodexAppServer {
    const NAME: &'static str = "codex-app-server";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let method = probe.text("method").unwrap_or_default();
        let ours = ["thread/", "turn/", "item/"].iter().any(|start| method.starts_with(start));
        if ours && probe.has("params") {
            return Likeness::Yes;
        }
        let named = probe.has("emittedAtMs") && !method.is_empty();
        Likeness::maybe_if(named || probe.inner_has("result", "codexHome"))
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let message: Message<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        if let Some(at) = message.at {
            out.at(at);
        }
        out.rounds(Rounds::AfterResults);
        out.unknown_fields(&message.unknown);
        let Some(method) = &message.method else {
            self.response(&message, frame, out);
            return Ok(());
        };
        let params = message.params.unwrap_or_default();
        if matches!(&**method, "turn/start" | "turn/steer") {
            self.sent(&params, out);
            return Ok(());
        }
        if frame.from == Direction::Client {
            return Ok(());
        }
        if method.starts_with("item/") {
            self.error.tell(out);
        }
        match message.id {
            Some(id) if let Some(at) = params.started_at => {
                // Requests carry no other time than this.
                out.at(message.at.unwrap_or(at));
                self.request(method, &string_or_json(id), &params, frame.data, out);
            }
            Some(id) => self.request(method, &string_or_json(id), &params, frame.data, out),
            None => self.notification(method, &params, frame.data, out),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.speech.finish(out);
        self.error.finish(out);
    }
}

impl CodexAppServer {
    /// An answer: the person's to an ask, or the server's to a request that only matters if it
    /// was refused.
    fn response(&mut self, message: &Message<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let id = message.id.map(string_or_json).unwrap_or_default();
        match (message.result, message.error) {
            (Some(result), _) => self.answer(&id, result, frame.from, out),
            (None, Some(error)) if frame.from == Direction::Agent => {
                self.error.hold(&error_text(error), out);
            }
            (None, Some(_)) => {}
            (None, None) => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
    }

    fn notification(&mut self, method: &str, params: &Params<'_>, raw: &str, out: &mut Writer<'_>) {
        if !params.unknown.is_empty() && !is_boring(method) {
            out.unknown_fields(&params.unknown);
        }
        let delta = params.delta.as_deref().unwrap_or("");
        match method {
            "item/agentMessage/delta" | "item/plan/delta" => self.text(params, delta, raw, out),
            "item/reasoning/summaryTextDelta" => {
                self.reasoning(params, delta, ReasoningOrigin::Summary, out);
            }
            "item/reasoning/textDelta" => {
                self.reasoning(params, delta, ReasoningOrigin::Native, out);
            }
            "item/reasoning/summaryPartAdded" => {
                // The first part needs no gap before it.
                if params.summary_index.is_some_and(|index| 0 < index) {
                    self.reasoning(params, "\n\n", ReasoningOrigin::Summary, out);
                }
            }
            "item/commandExecution/outputDelta"
            | "item/fileChange/outputDelta"
            | "item/fileChange/patchUpdated"
            | "item/mcpToolCall/progress" => running(method, params, raw, out),
            "item/started" => self.item(items::Stage::Started, params, raw, out),
            "item/completed" => self.item(items::Stage::Completed, params, raw, out),
            _ => self.turn_or_thread(method, params, raw, out),
        }
    }

    fn turn_or_thread(
        &mut self,
        method: &str,
        params: &Params<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match method {
            "thread/started" => {
                let thread = params.thread.and_then(|raw| THREAD.read(raw.get()));
                let model = thread.and_then(|thread| thread.read[1]).and_then(string);
                self.model = model.map(std::borrow::Cow::into_owned).or(self.model.take());
            }
            "turn/started" => self.turn_started(params, out),
            "turn/completed" => self.turn_completed(params, out),
            "turn/plan/updated" => self.plan(params, out),
            "thread/tokenUsage/updated" => self.token_usage(params, out),
            "thread/compacted" => {
                if self.compaction == Compaction::Notification {
                    out.note(Event::HistoryCompacted { summary: None });
                }
            }
            "error" => self.error(params, out),
            "warning" | "configWarning" | "guardianWarning" | "deprecationNotice" => {
                out.notice(Level::Warning, &words_of(params));
            }
            "model/rerouted" => {
                let name = |raw: Option<&RawValue>| {
                    raw.map(string_or_json).unwrap_or_default().into_owned()
                };
                let (from, to) = (name(params.from_model), name(params.to_model));
                out.notice(Level::Info, &format!("the provider went from {from} to {to}"));
            }
            _ if is_boring(method) => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Whether this is about the thread whose words are the reply.
    fn is_main(&self, params: &Params<'_>) -> bool {
        let thread = params.thread_id.as_deref().unwrap_or("");
        thread.is_empty() || self.thread.is_empty() || thread == self.thread
    }

    fn is_agent(&self, thread: &str) -> bool {
        let thread = Fingerprint::of(thread);
        self.agents.iter().any(|(agent, _)| *agent == thread)
    }
}

/// News of a tool that runs.
fn running(method: &str, params: &Params<'_>, raw: &str, out: &mut Writer<'_>) {
    let item = params.item_id.as_deref().unwrap_or("");
    let Some(step) = out.step_of(item) else {
        out.unrecognised(UnrecognisedReason::Late, raw);
        return;
    };
    match method {
        "item/fileChange/patchUpdated" => {
            out.whole_arguments(step, &object_text(&[("changes", params.changes)]));
        }
        "item/mcpToolCall/progress" => out.progress(step, &words_of(params)),
        _ => out.output(step, params.delta.as_deref().unwrap_or("")),
    }
}

fn words_of<'a>(params: &Params<'a>) -> std::borrow::Cow<'a, str> {
    params.message.or(params.summary).map(string_or_json).unwrap_or_default()
}

/// Notifications that are known and say nothing about the run.
fn is_boring(method: &str) -> bool {
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
