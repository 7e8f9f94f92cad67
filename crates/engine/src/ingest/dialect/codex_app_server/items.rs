//! Items of a turn: messages, reasoning and tools, started and completed.

use crate::event::{
    Event, Image, MessagePhase, ReasoningOrigin, StepId, ToolKind, ToolOutcome, UnrecognisedReason,
};
use crate::ingest::json::{
    RawValue, Text, array_elements, as_string, is_true, json_object_of_members, object,
    string_or_json,
};
use crate::run::{Fingerprint, ToolStart, Writer};

use super::super::openai_chat::image_from_url;
use super::super::shared::bounded::push_bounded;
use super::super::shared::calls_without_id::CallMatcher;
use super::super::shared::cli_agent::{LastModelOutput, build_tool_start_without_call_id};
use super::super::shared::codex_results::{
    end_command_step, tool_outcome, write_content_part, write_mcp_result_and_end,
    write_sub_agent_messages,
};
use super::asks::ImpliedAnswer;
use super::{CodexAppServer, CompactionSource, Params, REMEMBERED_MAX};

/// Life-cycle stage that an item notification reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemStage {
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
    /// Applies one item by its type.
    pub(super) fn apply_item(
        &mut self,
        stage: ItemStage,
        params: &Params<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let item = params.item.map(|raw| serde_json::from_str::<Item<'_>>(raw.get()));
        let Some(Ok(item)) = item else {
            out.append_unrecognised(UnrecognisedReason::Frame, raw);
            return;
        };
        out.append_unknown_fields_once(&item.unknown);
        let main = self.is_about_main_or_unnamed_thread(params);
        match item.kind.as_deref().unwrap_or("") {
            "userMessage" => {
                if self.thread_texts.record_prompt_if_new(item_id(&item), stage) && main {
                    self.write_prompt_unless_sent(&item, out);
                }
            }
            "agentMessage" | "plan" if main => self.apply_main_thread_message(stage, &item, out),
            "agentMessage" | "plan" => {
                if stage == ItemStage::Completed {
                    let whole = item.text.as_deref().unwrap_or("");
                    self.write_rest_of_sub_agent_message(params, item_id(&item), whole, raw, out);
                }
            }
            "reasoning" => {
                if main && stage == ItemStage::Completed {
                    self.end_or_write_whole_reasoning(&item, out);
                }
            }
            "contextCompaction" => {
                if main && stage == ItemStage::Completed {
                    self.compaction_source = CompactionSource::Item;
                    out.append_stateless_event(Event::HistoryCompacted { summary: None });
                }
            }
            "exitedReviewMode" => {
                if main && stage == ItemStage::Completed {
                    self.last_output = LastModelOutput::Text;
                    self.thread_texts.end_message_and_pause_draft(out);
                    out.end_message_and_declare_or_append_final_text(
                        item.review.as_deref().unwrap_or(""),
                    );
                }
            }
            "enteredReviewMode" | "hookPrompt" => {}
            _ => self.apply_tool_item(stage, params, &item, raw, out),
        }
    }

    /// Writes a prompt of the main thread, unless the client's own line was written.
    fn write_prompt_unless_sent(&mut self, item: &Item<'_>, out: &mut Writer<'_>) {
        let text = input_text(item.content);
        let print = Fingerprint::from_text(&text);
        if self.sent_prompt.take().is_none_or(|sent| !sent.is_same_trimmed_text(&print)) {
            out.append_prompt_unless_finish_requested(&text);
        }
    }

    /// Writes the prompt that the client sends; the server repeats it.
    pub(super) fn write_and_remember_sent_prompt(
        &mut self,
        params: &Params<'_>,
        out: &mut Writer<'_>,
    ) {
        let text = input_text(params.input);
        if !text.is_empty() {
            self.sent_prompt = Some(Fingerprint::from_text(&text));
            out.append_prompt_unless_finish_requested(&text);
        }
    }

    /// Applies a message item of the main thread.
    fn apply_main_thread_message(
        &mut self,
        stage: ItemStage,
        item: &Item<'_>,
        out: &mut Writer<'_>,
    ) {
        let phase = match item.phase.as_deref() {
            Some("commentary") => Some(MessagePhase::Commentary),
            Some("final_answer") => Some(MessagePhase::Final),
            _ => None,
        };
        let text = item.text.as_deref().unwrap_or("");
        if stage == ItemStage::Started {
            self.thread_texts.record_announced_message_if_new(item_id(item), phase);
        } else if self.thread_texts.complete_message(item_id(item), phase, text, out) {
            self.last_output = LastModelOutput::Text;
        }
    }

    /// Ends a reasoning item; writes it whole if no delta arrived.
    fn end_or_write_whole_reasoning(&mut self, item: &Item<'_>, out: &mut Writer<'_>) {
        if self.thread_texts.end_reasoning_and_check_if_written(item_id(item), out) {
            return;
        }
        let parts = |raw: Option<&RawValue>| {
            let parts: Vec<String> = raw
                .map(array_elements)
                .unwrap_or_default()
                .into_iter()
                .map(|part| string_or_json(part).into_owned())
                .collect();
            parts.join("\n\n")
        };
        let (summary, content) = (parts(item.summary), parts(item.content));
        if !summary.is_empty() {
            out.append_reasoning(&summary, ReasoningOrigin::Summary);
            out.close_reasoning_and_defer_end();
        } else if !content.is_empty() {
            out.append_reasoning(&content, ReasoningOrigin::Native);
            out.close_reasoning_and_defer_end();
        } else {
            out.append_redacted_reasoning();
        }
    }

    /// Finds or starts the step of a tool item, and ends it when the item is completed.
    fn apply_tool_item(
        &mut self,
        stage: ItemStage,
        params: &Params<'_>,
        item: &Item<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let Some(tool) = try_build_tool_start(item) else {
            if stage == ItemStage::Completed {
                out.append_unrecognised(UnrecognisedReason::Frame, raw);
            }
            return;
        };
        if stage == ItemStage::Completed
            && self.calls.record_end_and_detect_repeat(item_id(item), raw)
        {
            return;
        }
        let arguments = tool_arguments(item);
        let parent = if self.is_about_main_or_unnamed_thread(params) {
            None
        } else {
            self.find_sub_agent_step(params)
        };
        let known = match stage {
            ItemStage::Started => CallMatcher::find_open_step_by_id(tool, out),
            ItemStage::Completed => self.calls.find_open_step_of_call(tool, &arguments, out),
        };
        let step = known.unwrap_or_else(|| {
            if parent.is_none() {
                self.last_output = LastModelOutput::ToolCall;
            }
            let step = out.start_tool(ToolStart { parent, ..tool });
            self.calls.record_call_if_without_id(tool, &arguments, step);
            step
        });
        if tool.kind == ToolKind::Agent {
            self.assign_threads_to_step(step, item);
        }
        out.replace_arguments_if_changed(step, &arguments);
        out.emit_tool_ready_once(step);
        if stage == ItemStage::Completed {
            let implied = match item.status.as_deref() {
                Some("declined") => ImpliedAnswer::Declined,
                _ => ImpliedAnswer::Accepted,
            };
            self.resolve_asks_of_ended_item(item_id(item), implied, out);
            write_output_if_none_and_end_step(step, item, out);
        }
    }

    /// Assigns the threads that an item addresses to its step.
    fn assign_threads_to_step(&mut self, step: StepId, item: &Item<'_>) {
        let several = item.receiver_threads.map(array_elements).unwrap_or_default();
        for thread in several.into_iter().chain(item.receiver_thread) {
            let Some(thread) = as_string(thread) else {
                continue;
            };
            if thread != self.main_thread {
                let thread = Fingerprint::from_text(&thread);
                self.sub_agents.retain(|(known, _)| *known != thread);
                push_bounded(&mut self.sub_agents, (thread, step), REMEMBERED_MAX);
            }
        }
    }
}

/// Id of an item, or empty.
fn item_id<'a>(item: &'a Item<'_>) -> &'a str {
    item.id.as_deref().unwrap_or("")
}

/// Text of an input list, joined by line breaks.
fn input_text(input: Option<&RawValue>) -> String {
    object! { Input { text; skip _ } }
    let texts: Vec<String> = input
        .map(array_elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| Input::from_raw(raw)?.text.and_then(as_string))
        .map(std::borrow::Cow::into_owned)
        .collect();
    texts.join("\n")
}

/// Tool start of an item; `None` if it is not a tool.
fn try_build_tool_start<'a>(item: &'a Item<'_>) -> Option<ToolStart<'a>> {
    let call = item_id(item);
    let named = item.tool.as_deref();
    let tool = match item.kind.as_deref()? {
        "commandExecution" => {
            build_tool_start_without_call_id("command_execution", ToolKind::Command)
        }
        "fileChange" => build_tool_start_without_call_id("file_change", ToolKind::Edit),
        "mcpToolCall" => {
            let server = item.server.as_deref();
            ToolStart {
                server,
                ..build_tool_start_without_call_id(named.unwrap_or(""), ToolKind::Mcp)
            }
        }
        "dynamicToolCall" => {
            build_tool_start_without_call_id(named.unwrap_or(""), ToolKind::Function)
        }
        "collabAgentToolCall" | "collabToolCall" => {
            build_tool_start_without_call_id(named.unwrap_or("collab"), ToolKind::Agent)
        }
        "webSearch" => ToolStart::provider_tool("", "web_search", ToolKind::WebSearch),
        "imageView" => build_tool_start_without_call_id("image_view", ToolKind::Builtin),
        "imageGeneration" => {
            ToolStart::provider_tool("", "image_generation", ToolKind::ImageGeneration)
        }
        _ => return None,
    };
    Some(ToolStart { call, ..tool })
}

/// Arguments of a tool item as JSON.
fn tool_arguments(item: &Item<'_>) -> String {
    match item.kind.as_deref().unwrap_or("") {
        "commandExecution" => {
            json_object_of_members(&[("command", item.command), ("cwd", item.cwd)])
        }
        "fileChange" => json_object_of_members(&[("changes", item.changes)]),
        "webSearch" => json_object_of_members(&[("query", item.query), ("action", item.action)]),
        "imageView" => json_object_of_members(&[("path", item.path)]),
        "imageGeneration" => json_object_of_members(&[("prompt", item.revised_prompt)]),
        "collabAgentToolCall" | "collabToolCall" => {
            json_object_of_members(&[("prompt", item.prompt)])
        }
        _ => item.arguments.map_or("{}", RawValue::get).to_owned(),
    }
}

/// Writes the output of a tool item and ends its step.
fn write_output_if_none_and_end_step(step: StepId, item: &Item<'_>, out: &mut Writer<'_>) {
    let status = item.status.as_deref();
    match item.kind.as_deref().unwrap_or("") {
        "commandExecution" => {
            out.append_output_if_none(step, item.aggregated_output.as_deref().unwrap_or(""));
            end_command_step(step, status, item.exit_code, out);
        }
        "mcpToolCall" => write_mcp_result_and_end(step, status, item.result, item.error, out),
        "dynamicToolCall" => {
            if let Some(content) = item.content_items {
                write_dynamic_tool_parts(step, content, out);
            }
            let failed = item.success.is_some_and(|success| !is_true(success));
            let outcome = if failed { ToolOutcome::Failed } else { tool_outcome(status) };
            out.end_tool_if_open(step, outcome, None);
        }
        "imageGeneration" => {
            if let Some(base64) = item.result.and_then(as_string).filter(|image| !image.is_empty())
            {
                out.append_output_image(
                    step,
                    Image::Inline { media_type: "image/png".into(), base64 },
                );
            }
            out.end_tool_if_open(step, tool_outcome(status), None);
        }
        _ => {
            if let Some(states) = item.agents_states {
                write_sub_agent_messages(step, states, out);
            }
            out.end_tool_if_open(step, tool_outcome(status), None);
        }
    }
}

/// Writes the texts and images of a dynamic tool as output.
fn write_dynamic_tool_parts(step: StepId, content: &RawValue, out: &mut Writer<'_>) {
    object! { PartFields { image_url = "imageUrl"; skip _ } }
    for raw in array_elements(content) {
        match PartFields::from_raw(raw).and_then(|part| part.image_url).and_then(as_string) {
            Some(url) => out.append_output_image(step, image_from_url(url)),
            None => write_content_part(step, raw, out),
        }
    }
}
