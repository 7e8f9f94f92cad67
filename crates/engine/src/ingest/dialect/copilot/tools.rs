//! Tools and sub-agents.

use crate::event::{StepId, StopReason, ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, is_true, object, string_or_json,
};
use crate::run::{Fingerprint, ToolStart, Writer};

use super::super::anthropic::parse_image;
use super::super::openai_chat::parse_error_message;
use super::super::shared::cli_agent::build_tool_start_without_call_id;
use super::{Copilot, EventBody, asks, insert_bounded_if_new};

object! { ToolRequest {
    call: Text<'a> = "toolCallId",
    name: Text<'a> = "name",
    arguments: &'a RawValue = "arguments",
    mcp_server: Text<'a> = "mcpServerName",
    ; skip "type" | "intentionSummary" | "toolTitle" | "mcpToolName"
} }

impl Copilot {
    /// Applies a tool event.
    pub(super) fn apply_tool_event(
        &mut self,
        kind: &str,
        data: &EventBody<'_>,
        parent: Option<StepId>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let call = data.call.as_deref().unwrap_or("");
        let name = data.name.as_deref().unwrap_or("");
        let server = data.mcp_server.as_deref();
        match kind {
            "assistant.tool_call_delta" => {
                let step = find_or_start_step(call, name, server, parent, out);
                insert_bounded_if_new(&mut self.turn.streamed_ids, Fingerprint::from_text(call));
                out.append_arguments(step, data.input_delta.as_deref().unwrap_or(""));
            }
            "tool.execution_start" => {
                let step = find_or_start_step(call, name, server, parent, out);
                self.write_unstreamed_arguments_and_emit_ready(step, call, data.arguments, out);
            }
            "tool.user_requested" => {}
            "tool.shell_output"
            | "tool.execution_partial_result"
            | "tool.execution_progress"
            | "tool.execution_complete" => match out.find_open_tool(call) {
                Some(step) => write_tool_update_or_end(step, kind, data, out),
                None => out.append_unrecognised(UnrecognisedReason::Late, raw),
            },
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Starts the calls that a whole message requests.
    pub(super) fn ensure_requested_calls_with_arguments(
        &mut self,
        requests: &RawValue,
        parent: Option<StepId>,
        out: &mut Writer<'_>,
    ) {
        for raw in array_elements(requests) {
            let Ok(request) = serde_json::from_str::<ToolRequest<'_>>(raw.get()) else {
                out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                continue;
            };
            out.append_unknown_fields_once(&request.unknown);
            if parent.is_none() {
                self.turn.stop = Some(StopReason::Tools);
            }
            let call = request.call.as_deref().unwrap_or("");
            let name = request.name.as_deref().unwrap_or("");
            let step = find_or_start_step(call, name, request.mcp_server.as_deref(), parent, out);
            self.write_unstreamed_arguments_and_emit_ready(step, call, request.arguments, out);
        }
    }

    /// Writes whole arguments unless they were streamed, because the two differ in formatting;
    /// marks the tool ready.
    fn write_unstreamed_arguments_and_emit_ready(
        &mut self,
        step: StepId,
        call: &str,
        arguments: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let streamed = self.turn.streamed_ids.contains(&Fingerprint::from_text(call));
        if let Some(arguments) = arguments.filter(|_| !streamed) {
            out.replace_arguments_if_changed(step, &string_or_json(arguments));
        }
        out.emit_tool_ready_once(step);
    }

    /// Applies an event of a sub-agent to the step of the tool that started it.
    pub(super) fn apply_sub_agent_event(
        &mut self,
        agent: Option<&str>,
        parent_call: Option<&str>,
        kind: &str,
        data: &EventBody<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        if kind == "subagent.started" {
            let step = data.call.as_deref().and_then(|call| out.find_open_tool(call));
            if let (Some(agent), Some(step)) = (agent, step) {
                insert_bounded_if_new(&mut self.sub_agents, (Fingerprint::from_text(agent), step));
            }
            return;
        }
        if asks::try_apply_ask_event(kind, data, out) {
            return;
        }
        let agent = agent.map(Fingerprint::from_text);
        let known = self.sub_agents.iter().rev().find(|(known, _)| Some(*known) == agent);
        let step = known.map(|&(_, step)| step);
        let step = step.or_else(|| out.find_open_tool(parent_call?));
        let Some(step) = step else {
            out.append_unrecognised(UnrecognisedReason::Late, raw);
            return;
        };
        match kind {
            "assistant.message_delta" => {
                insert_bounded_if_new(&mut self.turn.streamed_ids, data.message_id_fingerprint());
                out.append_output_if_open(step, data.delta.as_deref().unwrap_or(""));
            }
            "assistant.message" => {
                if !self.turn.record_whole_message_if_new(data) {
                    return;
                }
                if !self.turn.streamed_ids.contains(&data.message_id_fingerprint()) {
                    out.append_output_if_open(step, data.content.as_deref().unwrap_or(""));
                }
                if let Some(requests) = data.tool_requests {
                    self.ensure_requested_calls_with_arguments(requests, Some(step), out);
                }
            }
            _ if kind.starts_with("tool.") || kind == "assistant.tool_call_delta" => {
                self.apply_tool_event(kind, data, Some(step), raw, out);
            }
            _ if is_ignored_sub_agent_event(kind) => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}

/// True for sub-agent events that are not tool output: rounds, reasoning and prompts.
fn is_ignored_sub_agent_event(kind: &str) -> bool {
    matches!(
        kind,
        "assistant.turn_start"
            | "assistant.turn_end"
            | "assistant.message_start"
            | "assistant.reasoning"
            | "assistant.reasoning_delta"
            | "model.call_start"
            | "user.message"
            | "subagent.completed"
            | "subagent.selected"
            | "subagent.deselected"
    )
}

/// Writes output, progress or the end of a running tool.
fn write_tool_update_or_end(step: StepId, kind: &str, data: &EventBody<'_>, out: &mut Writer<'_>) {
    match kind {
        "tool.shell_output" => out.append_output_if_open(step, data.text.as_deref().unwrap_or("")),
        "tool.execution_partial_result" => {
            out.append_cumulative_output_if_continued(
                step,
                data.partial_output.as_deref().unwrap_or(""),
            );
        }
        "tool.execution_progress" => {
            out.append_tool_progress_if_open(step, data.progress.as_deref().unwrap_or(""));
        }
        _ => write_output_and_end_step(step, data, out),
    }
}

/// Finds the step of a call, or starts it.
fn find_or_start_step(
    call: &str,
    name: &str,
    server: Option<&str>,
    parent: Option<StepId>,
    out: &mut Writer<'_>,
) -> StepId {
    out.find_open_tool(call).unwrap_or_else(|| {
        let kind = if server.is_some() { ToolKind::Mcp } else { tool_kind(name) };
        out.start_tool(ToolStart {
            call,
            server,
            parent,
            ..build_tool_start_without_call_id(name, kind)
        })
    })
}

/// Kind of a tool by its name.
fn tool_kind(tool: &str) -> ToolKind {
    match tool {
        "bash" | "powershell" => ToolKind::Command,
        "edit" | "create" | "apply_patch" | "str_replace_editor" => ToolKind::Edit,
        "web_search" => ToolKind::WebSearch,
        "web_fetch" => ToolKind::WebFetch,
        "task" => ToolKind::Agent,
        _ => ToolKind::Function,
    }
}

/// Writes the result of a tool and ends its step.
fn write_output_and_end_step(step: StepId, data: &EventBody<'_>, out: &mut Writer<'_>) {
    object! { ResultFields { detailed = "detailedContent", content, contents; skip _ } }
    object! { Shell { exit_code = "exitCode"; skip _ } }
    object! { ErrorFields { code; skip _ } }
    let result = data.result.and_then(ResultFields::from_raw);
    let ResultFields { detailed, content, contents } = result.unwrap_or_default();
    if let Some(text) = detailed.or(content).and_then(as_string) {
        out.append_rest_or_replace_output(step, &text);
    }
    let parts = contents.map(array_elements).unwrap_or_default();
    for image in parts.into_iter().filter_map(parse_image) {
        out.append_output_image(step, image);
    }
    let code = data.error.and_then(|raw| ErrorFields::from_raw(raw)?.code).and_then(as_string);
    let outcome = match code.as_deref() {
        Some("denied" | "rejected") => ToolOutcome::Denied,
        _ if data.success.is_none_or(is_true) => ToolOutcome::Succeeded,
        _ => ToolOutcome::Failed,
    };
    let exit =
        data.shell.and_then(|raw| Shell::from_raw(raw)?.exit_code).and_then(as_scalar::<i64>);
    let exit = exit.filter(|&code| code != 0).map(|code| format!("exit code {code}"));
    out.end_tool_if_open(step, outcome, data.error.map(parse_error_message).or(exit).as_deref());
}
