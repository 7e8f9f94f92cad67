//! Tool calls: start, updates, permission requests and end.

use std::borrow::Cow;

use crate::event::{AskKind, StepId, ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{RawValue, Text, as_string, object, string_or_json};
use crate::limits::{FOREIGN_ID_BYTES_MAX, OPEN_TOOLS_MAX};
use crate::run::{ToolStart, Writer};

use super::super::shared::cli_agent::LastModelOutput;
use super::super::shared::dedup::{OutputDedup, RecentIds};
use super::content::{self, AgentMeta};

/// State of tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ToolCalls {
    /// Ended calls: later updates do not start them again.
    ended: RecentIds,
    outputs: OutputDedup,
    /// Titles of open calls, for their permission requests.
    titles: Vec<(String, String)>,
    pub(super) last_output: LastModelOutput,
}

/// A call that needs a permission, with the text of its ask.
#[derive(Debug)]
pub(super) struct AskedCall {
    pub(super) id: String,
    pub(super) ask: AskKind,
    pub(super) text: String,
}

object! { ToolCallUpdate {
    id: &'a RawValue = "toolCallId",
    title: Text<'a> = "title",
    name: Text<'a> = "name",
    kind: Text<'a> = "kind",
    status: Text<'a> = "status",
    content: &'a RawValue = "content",
    input: &'a RawValue = "rawInput",
    output: &'a RawValue = "rawOutput",
    meta: &'a RawValue = "_meta",
    ; skip "sessionUpdate" | "locations"
} }

impl<'a> ToolCallUpdate<'a> {
    /// Call id as text; some agents send a number.
    fn id(&self) -> Cow<'a, str> {
        self.id.map(string_or_json).unwrap_or_default()
    }

    /// Open step of this call; `None` without an id.
    fn find_open_step(&self, out: &Writer<'_>) -> Option<StepId> {
        let id = self.id();
        out.find_open_tool(&id).filter(|_| !id.is_empty())
    }
}

impl ToolCalls {
    /// Applies a `tool_call` or `tool_call_update`.
    pub(super) fn apply_update(&mut self, update: &str, raw: &RawValue, out: &mut Writer<'_>) {
        let Ok(call) = serde_json::from_str::<ToolCallUpdate<'_>>(raw.get()) else {
            out.append_unrecognised(UnrecognisedReason::Unreadable, raw.get());
            return;
        };
        out.append_unknown_fields_once(&call.unknown);
        let id = &*call.id();
        let over = update == "tool_call_update" && self.ended.contains(id);
        let known = call.find_open_step(out);
        let Some(step) =
            known.or_else(|| (!over).then(|| self.start_step_and_set_last_output(&call, out)))
        else {
            return;
        };
        self.remember_call_title(id, call.title.as_deref());
        write_arguments_if_changed(step, &call, out);
        let status = call.status.as_deref().unwrap_or("");
        match status {
            "completed" | "failed" => {
                self.write_result(step, &call, out);
                let failed = status == "failed";
                let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
                self.end_call(id, step, outcome, out);
            }
            "in_progress" => {
                out.emit_tool_ready_once(step);
                self.write_output_so_far(step, &call, out);
            }
            // The status is as it was; that of a new call is pending.
            "" if update == "tool_call_update" => self.write_output_so_far(step, &call, out),
            // What a pending call shows is what it is about to do.
            _ => {}
        }
    }

    /// Writes a chunk of a call's content as output.
    pub(super) fn write_content_chunk(raw: &RawValue, out: &mut Writer<'_>) {
        let Ok(call) = serde_json::from_str::<ToolCallUpdate<'_>>(raw.get()) else {
            out.append_unrecognised(UnrecognisedReason::Unreadable, raw.get());
            return;
        };
        out.append_unknown_fields_once(&call.unknown);
        let Some(step) = call.find_open_step(out) else {
            out.append_unrecognised(UnrecognisedReason::Late, raw.get());
            return;
        };
        if let Some(part) = call.content {
            let one = format!("[{}]", part.get());
            let Ok(parts) = serde_json::from_str::<&RawValue>(&one) else {
                return;
            };
            out.append_output_if_open(step, &content::tool_content_text(parts));
        }
    }

    /// Describes the call of a permission request; starts its step if it is new.
    pub(super) fn ensure_and_describe_asked_call(
        &mut self,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Option<AskedCall> {
        let call: ToolCallUpdate<'_> = serde_json::from_str(raw.get()).ok()?;
        out.append_unknown_fields_once(&call.unknown);
        let id = &*call.id();
        let step = call
            .find_open_step(out)
            .unwrap_or_else(|| self.start_step_and_set_last_output(&call, out));
        write_arguments_if_changed(step, &call, out);
        self.remember_call_title(id, call.title.as_deref());
        let title = self.titles.iter().find(|(call, _)| call == id);
        let mut text = title.map(|(_, title)| title.clone()).unwrap_or_default();
        let shown = call.content.map(content::tool_content_text).unwrap_or_default();
        if !shown.is_empty() {
            text.push('\n');
            text += &shown;
        }
        if let Some(input) =
            call.input.filter(|input| !content::text_contains_all_input_values(&text, input))
        {
            text.push('\n');
            text += input.get();
        }
        let ask = match call.kind.as_deref() {
            Some("execute") => AskKind::Command,
            _ => AskKind::Tool,
        };
        Some(AskedCall { id: id.to_owned(), ask, text })
    }

    /// Starts the step of a call.
    fn start_step_and_set_last_output(
        &mut self,
        call: &ToolCallUpdate<'_>,
        out: &mut Writer<'_>,
    ) -> StepId {
        let meta = call.meta.map(AgentMeta::parse).unwrap_or_default();
        if meta.parent.is_none() {
            self.last_output = LastModelOutput::ToolCall;
        }
        start_tool_step(call, &meta, out)
    }

    /// Keeps the title of an open call.
    fn remember_call_title(&mut self, id: &str, title: Option<&str>) {
        let Some(title) = title else { return };
        if let Some((_, known)) = self.titles.iter_mut().find(|(call, _)| call == id) {
            title.clone_into(known);
        } else if self.titles.len() < OPEN_TOOLS_MAX && id.len() <= FOREIGN_ID_BYTES_MAX {
            self.titles.push((id.to_owned(), title.to_owned()));
        }
    }

    /// Writes what is new of a running call's content.
    fn write_output_so_far(
        &mut self,
        step: StepId,
        call: &ToolCallUpdate<'_>,
        out: &mut Writer<'_>,
    ) {
        let so_far = call.content.map(content::tool_content_text).unwrap_or_default();
        self.outputs.push_output_so_far(step, &so_far, out);
    }

    /// Writes the final output: the raw output if it is text and no content was written, else the
    /// content.
    fn write_result(&mut self, step: StepId, call: &ToolCallUpdate<'_>, out: &mut Writer<'_>) {
        for image in call.content.map(content::tool_content_images).unwrap_or_default() {
            out.append_output_image(step, image);
        }
        let shown = call.content.map(content::tool_content_text).filter(|text| !text.is_empty());
        let raw_text = call.output.and_then(as_string);
        match (raw_text, shown) {
            (Some(text), None) => out.append_output_if_none(step, &text),
            (Some(text), Some(_)) if out.output_bytes(step) == 0 => {
                out.append_output_if_open(step, &text);
            }
            (_, Some(text)) => self.outputs.push_final_output_and_forget(step, &text, out),
            (None, None) => {
                if let Some(raw) = call.output {
                    out.append_output_if_none(step, &content::result_text(raw));
                }
            }
        }
    }

    /// Ends a call and drops its state.
    pub(super) fn end_call(
        &mut self,
        id: &str,
        step: StepId,
        how: ToolOutcome,
        out: &mut Writer<'_>,
    ) {
        out.end_tool_if_open(step, how, None);
        self.outputs.forget_step(step);
        self.titles.retain(|(call, _)| call != id);
        self.ended.insert(id);
    }
}

/// Starts a step with name, kind and parent of a call.
fn start_tool_step(
    call: &ToolCallUpdate<'_>,
    meta: &AgentMeta<'_>,
    out: &mut Writer<'_>,
) -> StepId {
    let named = call.name.as_deref().or(meta.tool.as_deref());
    let name = named.or(call.title.as_deref()).or(call.kind.as_deref()).unwrap_or("");
    let kind = match (call.kind.as_deref(), name) {
        (_, "Task" | "Agent") => ToolKind::Agent,
        (Some("execute"), _) => ToolKind::Command,
        (Some("edit" | "delete" | "move"), _) => ToolKind::Edit,
        (Some("fetch"), _) => ToolKind::WebFetch,
        _ => ToolKind::Function,
    };
    let parent = meta.parent.as_deref().and_then(|parent| out.find_open_tool(parent));
    out.start_tool(ToolStart { kind, parent, ..ToolStart::client_function(&call.id(), name) })
}

/// Writes the arguments of a call.
fn write_arguments_if_changed(step: StepId, call: &ToolCallUpdate<'_>, out: &mut Writer<'_>) {
    let input = call.input.filter(|input| input.get() != "{}");
    // Gemini sends a proposed edit only in the content.
    let proposed = call
        .content
        .filter(|raw| call.input.is_none() && call.output.is_none() && content::has_diff(raw));
    let proposed = proposed.filter(|_| matches!(call.status.as_deref(), Some("pending")));
    if let Some(arguments) = input.or(proposed) {
        out.replace_arguments_if_changed(step, arguments.get());
    }
}
