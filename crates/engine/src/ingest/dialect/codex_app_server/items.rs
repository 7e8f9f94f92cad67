//! The items of a turn: messages, reasoning and tools, from their start to their end.

use crate::event::{
    Event, Image, Phase, ReasoningOrigin, StepId, ToolKind, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, object, object_text, string, string_or_json,
};
use crate::run::{Fingerprint, ToolStart, Writer};

use super::super::agents::{Voice, agent_tool};
use super::super::codex::calls::Calls;
use super::super::codex::results::{agents_words, content_part, end_command, end_mcp, outcome_of};
use super::super::openai_chat::image_of_url;
use super::{CodexAppServer, Compaction, Params, remember};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Started,
    Completed,
}

object! { Item {
    id: Text<'a> = "id",
    kind: Text<'a> = "type",
    text: Text<'a> = "text",
    phase: Text<'a> = "phase",
    content: &'a RawValue = "content",
    summary: &'a RawValue = "summary",
    command: &'a RawValue = "command",
    cwd: &'a RawValue = "cwd",
    aggregated_output: Text<'a> = "aggregatedOutput",
    exit_code: i64 = "exitCode",
    status: Text<'a> = "status",
    changes: &'a RawValue = "changes",
    server: Text<'a> = "server",
    tool: Text<'a> = "tool",
    arguments: &'a RawValue = "arguments",
    result: &'a RawValue = "result",
    error: &'a RawValue = "error",
    content_items: &'a RawValue = "contentItems",
    success: &'a RawValue = "success",
    prompt: &'a RawValue = "prompt",
    receiver_threads: &'a RawValue = "receiverThreadIds",
    receiver_thread: &'a RawValue = "receiverThreadId",
    agents_states: &'a RawValue = "agentsStates",
    query: &'a RawValue = "query",
    action: &'a RawValue = "action",
    path: &'a RawValue = "path",
    revised_prompt: &'a RawValue = "revisedPrompt",
    review: Text<'a> = "review",
    ; skip "startedAtMs" | "completedAtMs" | "clientId" | "memoryCitation" | "delivery" | "questions"
        | "pluginId" | "scriptPath" | "processId" | "source" | "commandActions" | "durationMs"
        | "senderThreadId" | "newThreadId" | "agentStatus" | "model" | "reasoningEffort" | "savedPath"
        | "namespace" | "mcpAppResourceUri" | "fragments"
} }

impl CodexAppServer {
    pub(super) fn item(
        &mut self,
        stage: Stage,
        params: &Params<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let item = params.item.map(|raw| serde_json::from_str::<Item<'_>>(raw.get()));
        let Some(Ok(item)) = item else {
            out.unrecognised(UnrecognisedReason::Frame, raw);
            return;
        };
        out.unknown_fields(&item.unknown);
        let main = self.is_main(params);
        match item.kind.as_deref().unwrap_or("") {
            "userMessage" => self.user_message(stage, main, &item, out),
            "agentMessage" | "plan" if main => self.message(stage, &item, out),
            "agentMessage" | "plan" => {
                if stage == Stage::Completed {
                    let whole = item.text.as_deref().unwrap_or("");
                    self.agent_message(params, id_of(&item), whole, raw, out);
                }
            }
            "reasoning" => {
                if main && stage == Stage::Completed {
                    self.reasoning_completed(&item, out);
                }
            }
            "contextCompaction" => {
                if main && stage == Stage::Completed {
                    self.compaction = Compaction::Item;
                    out.note(Event::HistoryCompacted { summary: None });
                }
            }
            "exitedReviewMode" => {
                if main && stage == Stage::Completed {
                    self.voice = Voice::Heard;
                    self.speech.leave(out);
                    out.declare_final(item.review.as_deref().unwrap_or(""));
                }
            }
            "enteredReviewMode" | "hookPrompt" => {}
            _ => self.tool(stage, params, &item, raw, out),
        }
    }

    fn user_message(&mut self, stage: Stage, main: bool, item: &Item<'_>, out: &mut Writer<'_>) {
        if self.speech.is_new_prompt(id_of(item), stage) && main {
            let text = words_of_input(item.content);
            let print = Fingerprint::of(&text);
            if self.sent.take().is_none_or(|sent| !sent.same_text(&print)) {
                out.prompt(&text);
            }
        }
    }

    /// What the client sends for the person; the server tells of it once more.
    pub(super) fn sent(&mut self, params: &Params<'_>, out: &mut Writer<'_>) {
        let text = words_of_input(params.input);
        if !text.is_empty() {
            self.sent = Some(Fingerprint::of(&text));
            out.prompt(&text);
        }
    }

    fn message(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let phase = match item.phase.as_deref() {
            Some("commentary") => Some(Phase::Commentary),
            Some("final_answer") => Some(Phase::Final),
            _ => None,
        };
        let text = item.text.as_deref().unwrap_or("");
        if stage == Stage::Started {
            self.speech.begin(id_of(item), phase);
        } else if self.speech.complete(id_of(item), phase, text, out) {
            self.voice = Voice::Heard;
        }
    }

    fn reasoning_completed(&mut self, item: &Item<'_>, out: &mut Writer<'_>) {
        if self.speech.end_thought(id_of(item), out) {
            return;
        }
        let parts = |raw: Option<&RawValue>| {
            let parts: Vec<String> = raw
                .map(elements)
                .unwrap_or_default()
                .into_iter()
                .map(|part| string_or_json(part).into_owned())
                .collect();
            parts.join("\n\n")
        };
        let (summary, content) = (parts(item.summary), parts(item.content));
        if !summary.is_empty() {
            out.reasoning(&summary, ReasoningOrigin::Summary);
            out.end_reasoning();
        } else if !content.is_empty() {
            out.reasoning(&content, ReasoningOrigin::Native);
            out.end_reasoning();
        } else {
            out.redacted_reasoning();
        }
    }

    fn tool(
        &mut self,
        stage: Stage,
        params: &Params<'_>,
        item: &Item<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let Some(tool) = tool_of(item) else {
            if stage == Stage::Completed {
                out.unrecognised(UnrecognisedReason::Frame, raw);
            }
            return;
        };
        if stage == Stage::Completed && self.calls.is_repeat(id_of(item), raw) {
            return;
        }
        let arguments = arguments_of(item);
        let parent = if self.is_main(params) { None } else { self.agent_step(params) };
        let known = match stage {
            Stage::Started => Calls::started(tool, out),
            Stage::Completed => self.calls.step_of(tool, &arguments, out),
        };
        let step = known.unwrap_or_else(|| {
            if parent.is_none() {
                self.voice = Voice::CalledTool;
            }
            let step = out.tool(ToolStart { parent, ..tool });
            self.calls.add(tool, &arguments, step);
            step
        });
        if tool.kind == ToolKind::Agent {
            self.adopt(step, item);
        }
        out.whole_arguments(step, &arguments);
        out.ready(step);
        if stage == Stage::Completed {
            let declined = item.status.as_deref() == Some("declined");
            self.answered_by_item(id_of(item), declined, out);
            end_tool(step, item, out);
        }
    }

    /// What these threads say from now on belongs to this step.
    fn adopt(&mut self, step: StepId, item: &Item<'_>) {
        let several = item.receiver_threads.map(elements).unwrap_or_default();
        for thread in several.into_iter().chain(item.receiver_thread) {
            let Some(thread) = string(thread) else {
                continue;
            };
            if thread != self.thread {
                let thread = Fingerprint::of(&thread);
                self.agents.retain(|(known, _)| *known != thread);
                remember(&mut self.agents, (thread, step));
            }
        }
    }
}

fn id_of<'a>(item: &'a Item<'_>) -> &'a str {
    item.id.as_deref().unwrap_or("")
}

fn words_of_input(input: Option<&RawValue>) -> String {
    const INPUT: Shape<1> = Shape { read: ["text"], skip: &[] };
    let texts: Vec<String> = input
        .map(elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| INPUT.read(raw.get())?.read[0].and_then(string))
        .map(std::borrow::Cow::into_owned)
        .collect();
    texts.join("\n")
}

fn tool_of<'a>(item: &'a Item<'_>) -> Option<ToolStart<'a>> {
    let call = id_of(item);
    let named = item.tool.as_deref();
    let tool = match item.kind.as_deref()? {
        "commandExecution" => agent_tool("command_execution", ToolKind::Command),
        "fileChange" => agent_tool("file_change", ToolKind::Edit),
        "mcpToolCall" => {
            let server = item.server.as_deref();
            ToolStart { server, ..agent_tool(named.unwrap_or(""), ToolKind::Mcp) }
        }
        "dynamicToolCall" => agent_tool(named.unwrap_or(""), ToolKind::Function),
        "collabAgentToolCall" | "collabToolCall" => {
            agent_tool(named.unwrap_or("collab"), ToolKind::Agent)
        }
        "webSearch" => ToolStart::provider("", "web_search", ToolKind::WebSearch),
        "imageView" => agent_tool("image_view", ToolKind::Builtin),
        "imageGeneration" => ToolStart::provider("", "image_generation", ToolKind::ImageGeneration),
        _ => return None,
    };
    Some(ToolStart { call, ..tool })
}

fn arguments_of(item: &Item<'_>) -> String {
    match item.kind.as_deref().unwrap_or("") {
        "commandExecution" => object_text(&[("command", item.command), ("cwd", item.cwd)]),
        "fileChange" => object_text(&[("changes", item.changes)]),
        "webSearch" => object_text(&[("query", item.query), ("action", item.action)]),
        "imageView" => object_text(&[("path", item.path)]),
        "imageGeneration" => object_text(&[("prompt", item.revised_prompt)]),
        "collabAgentToolCall" | "collabToolCall" => object_text(&[("prompt", item.prompt)]),
        _ => item.arguments.map_or("{}", RawValue::get).to_owned(),
    }
}

fn end_tool(step: StepId, item: &Item<'_>, out: &mut Writer<'_>) {
    let status = item.status.as_deref();
    match item.kind.as_deref().unwrap_or("") {
        "commandExecution" => {
            out.whole_output(step, item.aggregated_output.as_deref().unwrap_or(""));
            end_command(step, status, item.exit_code, out);
        }
        "mcpToolCall" => end_mcp(step, status, item.result, item.error, out),
        "dynamicToolCall" => {
            if let Some(content) = item.content_items {
                dynamic_parts(step, content, out);
            }
            let failed = item.success.is_some_and(|success| !is_true(success));
            let outcome = if failed { ToolOutcome::Failed } else { outcome_of(status) };
            out.end_tool(step, outcome, None);
        }
        "imageGeneration" => {
            if let Some(base64) = item.result.and_then(string).filter(|image| !image.is_empty()) {
                out.output_image(step, Image::Inline { media_type: "image/png".into(), base64 });
            }
            out.end_tool(step, outcome_of(status), None);
        }
        _ => {
            if let Some(states) = item.agents_states {
                agents_words(step, states, out);
            }
            out.end_tool(step, outcome_of(status), None);
        }
    }
}

fn dynamic_parts(step: StepId, content: &RawValue, out: &mut Writer<'_>) {
    const PART: Shape<1> = Shape { read: ["imageUrl"], skip: &[] };
    for raw in elements(content) {
        match PART.read(raw.get()).and_then(|part| part.read[0]).and_then(string) {
            Some(url) => out.output_image(step, image_of_url(url)),
            None => content_part(step, raw, out),
        }
    }
}
