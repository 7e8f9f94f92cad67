//! Tools, and the sub-agents behind some of them.

use crate::event::{StepId, Stop, ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, number, object, string, string_or_json,
};
use crate::run::{Fingerprint, ToolStart, Writer};

use super::super::agents::agent_tool;
use super::super::openai_chat::error_text;
use super::{Copilot, Data, asks, remember};

object! { Request {
    call: Text<'a> = "toolCallId",
    name: Text<'a> = "name",
    arguments: &'a RawValue = "arguments",
    mcp_server: Text<'a> = "mcpServerName",
    ; skip "type" | "intentionSummary" | "toolTitle" | "mcpToolName"
} }

impl Copilot {
    pub(super) fn tool(
        &mut self,
        kind: &str,
        data: &Data<'_>,
        parent: Option<StepId>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let call = data.call.as_deref().unwrap_or("");
        let name = data.name.as_deref().unwrap_or("");
        let server = data.mcp_server.as_deref();
        match kind {
            "assistant.tool_call_delta" => {
                let step = step_of(call, name, server, parent, out);
                remember(&mut self.turn.streamed, Fingerprint::of(call));
                out.arguments(step, data.input_delta.as_deref().unwrap_or(""));
            }
            "tool.execution_start" => {
                let step = step_of(call, name, server, parent, out);
                self.whole_arguments(step, call, data.arguments, out);
            }
            "tool.user_requested" => {}
            "tool.shell_output"
            | "tool.execution_partial_result"
            | "tool.execution_progress"
            | "tool.execution_complete" => match out.step_of(call) {
                Some(step) => told_of(step, kind, data, out),
                None => out.unrecognised(UnrecognisedReason::Late, raw),
            },
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// The calls a whole message asks for.
    pub(super) fn requested_tools(
        &mut self,
        requests: &RawValue,
        parent: Option<StepId>,
        out: &mut Writer<'_>,
    ) {
        for raw in elements(requests) {
            let Ok(request) = serde_json::from_str::<Request<'_>>(raw.get()) else {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                continue;
            };
            out.unknown_fields(&request.unknown);
            if parent.is_none() {
                self.turn.stop = Some(Stop::Tools);
            }
            let call = request.call.as_deref().unwrap_or("");
            let name = request.name.as_deref().unwrap_or("");
            let step = step_of(call, name, request.mcp_server.as_deref(), parent, out);
            self.whole_arguments(step, call, request.arguments, out);
        }
    }

    /// Arguments that came piece by piece are spelt otherwise when they come whole.
    fn whole_arguments(
        &mut self,
        step: StepId,
        call: &str,
        arguments: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let streamed = self.turn.streamed.contains(&Fingerprint::of(call));
        if let Some(arguments) = arguments.filter(|_| !streamed) {
            out.whole_arguments(step, &string_or_json(arguments));
        }
        out.ready(step);
    }

    /// What a sub-agent says or does belongs to the tool that started it.
    pub(super) fn sub_agent(
        &mut self,
        agent: Option<&str>,
        parent_call: Option<&str>,
        kind: &str,
        data: &Data<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        if kind == "subagent.started" {
            let step = data.call.as_deref().and_then(|call| out.step_of(call));
            if let (Some(agent), Some(step)) = (agent, step) {
                remember(&mut self.agents, (Fingerprint::of(agent), step));
            }
            return;
        }
        if asks::handle(kind, data, out) {
            return;
        }
        let agent = agent.map(Fingerprint::of);
        let known = self.agents.iter().rev().find(|(known, _)| Some(*known) == agent);
        let step = known.map(|&(_, step)| step);
        let step = step.or_else(|| out.step_of(parent_call?));
        let Some(step) = step else {
            out.unrecognised(UnrecognisedReason::Late, raw);
            return;
        };
        match kind {
            "assistant.message_delta" => {
                remember(&mut self.turn.streamed, data.message_print());
                out.output(step, data.delta.as_deref().unwrap_or(""));
            }
            "assistant.message" => {
                if !self.turn.is_new(data) {
                    return;
                }
                if !self.turn.streamed.contains(&data.message_print()) {
                    out.output(step, data.content.as_deref().unwrap_or(""));
                }
                if let Some(requests) = data.tool_requests {
                    self.requested_tools(requests, Some(step), out);
                }
            }
            _ if kind.starts_with("tool.") || kind == "assistant.tool_call_delta" => {
                self.tool(kind, data, Some(step), raw, out);
            }
            _ if has_no_place(kind) => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}

/// A sub-agent's rounds, its thoughts and what it was told have no place in a tool's output.
fn has_no_place(kind: &str) -> bool {
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

/// What a tool that runs does.
fn told_of(step: StepId, kind: &str, data: &Data<'_>, out: &mut Writer<'_>) {
    match kind {
        "tool.shell_output" => out.output(step, data.text.as_deref().unwrap_or("")),
        "tool.execution_partial_result" => {
            out.output_so_far(step, data.partial_output.as_deref().unwrap_or(""));
        }
        "tool.execution_progress" => out.progress(step, data.progress.as_deref().unwrap_or("")),
        _ => end_tool(step, data, out),
    }
}

/// The call's step, which begins when the call is first seen.
fn step_of(
    call: &str,
    name: &str,
    server: Option<&str>,
    parent: Option<StepId>,
    out: &mut Writer<'_>,
) -> StepId {
    out.step_of(call).unwrap_or_else(|| {
        let kind = if server.is_some() { ToolKind::Mcp } else { kind_of(name) };
        out.tool(ToolStart { call, server, parent, ..agent_tool(name, kind) })
    })
}

fn kind_of(tool: &str) -> ToolKind {
    match tool {
        "bash" | "powershell" => ToolKind::Command,
        "edit" | "create" | "apply_patch" | "str_replace_editor" => ToolKind::Edit,
        "web_search" => ToolKind::WebSearch,
        "web_fetch" => ToolKind::WebFetch,
        "task" => ToolKind::Agent,
        _ => ToolKind::Function,
    }
}

fn end_tool(step: StepId, data: &Data<'_>, out: &mut Writer<'_>) {
    const RESULT: Shape<2> = Shape { read: ["detailedContent", "content"], skip: &[] };
    const SHELL: Shape<1> = Shape { read: ["exitCode"], skip: &[] };
    const ERROR: Shape<1> = Shape { read: ["code"], skip: &[] };
    let result = data.result.and_then(|raw| RESULT.read(raw.get()));
    let [detailed, content] = result.map(|result| result.read).unwrap_or_default();
    if let Some(text) = detailed.or(content).and_then(string) {
        out.settled_output(step, &text);
    }
    let code = data.error.and_then(|raw| ERROR.read(raw.get())?.read[0]).and_then(string);
    let outcome = match code.as_deref() {
        Some("denied" | "rejected") => ToolOutcome::Denied,
        _ if data.success.is_none_or(is_true) => ToolOutcome::Succeeded,
        _ => ToolOutcome::Failed,
    };
    let exit = data.shell.and_then(|raw| SHELL.read(raw.get())?.read[0]).and_then(number::<i64>);
    let exit = exit.filter(|&code| code != 0).map(|code| format!("exit code {code}"));
    out.end_tool(step, outcome, data.error.map(error_text).or(exit).as_deref());
}
