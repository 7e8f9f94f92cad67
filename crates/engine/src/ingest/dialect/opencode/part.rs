//! Tool and image parts of a message.

use crate::event::{Image, StepId, ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, object, string_or_json,
};
use crate::run::{ToolStart, Writer};

use super::super::openai_chat::image_from_url;
use super::{Opencode, Part};

object! { ToolState {
    status: Text<'a> = "status",
    input: &'a RawValue = "input",
    output: &'a RawValue = "output",
    error: &'a RawValue = "error",
    metadata: &'a RawValue = "metadata",
    attachments: &'a RawValue = "attachments",
    time: &'a RawValue = "time",
    ; skip "raw" | "title"
} }

object! { Metadata { output, session = "sessionId", older = "sessionID"; skip _ } }

/// Parses start and end times.
pub(super) fn parse_start_and_end_times(raw: Option<&RawValue>) -> (Option<u64>, Option<u64>) {
    object! { Times { start, end; skip _ } }
    let times = raw.and_then(Times::from_raw);
    let Times { start, end } = times.unwrap_or_default();
    (start.and_then(as_scalar), end.and_then(as_scalar))
}

impl Part<'_> {
    /// Key of a tool part: its id, or its call id.
    fn tool_key(&self) -> &str {
        let id = self.id.as_deref().filter(|id| !id.is_empty());
        id.or(self.call.as_deref()).unwrap_or("")
    }

    /// Image of a file part.
    pub(super) fn image(&self) -> Option<Image<'_>> {
        let url = self.url.as_ref()?;
        let is_image = self.mime.as_ref()?.starts_with("image/");
        is_image.then(|| image_from_url(url.0.clone()))
    }
}

impl Opencode {
    /// Applies a tool part, whose JSON is `raw`; `parent` is the step whose sub-agent called it.
    pub(super) fn apply_tool_part(
        &mut self,
        part: &Part<'_>,
        raw: &RawValue,
        parent: Option<StepId>,
        out: &mut Writer<'_>,
    ) {
        let id = part.id.as_deref().unwrap_or("");
        let call = part.call.as_deref().unwrap_or(id);
        let state = part.state.map(|raw| serde_json::from_str::<ToolState<'_>>(raw.get()));
        let Some(Ok(state)) = state else {
            return out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
        };
        out.append_unknown_fields_once(&state.unknown);
        if self.ended_calls.contains(part.tool_key()) {
            return;
        }
        let (start, end) = parse_start_and_end_times(state.time);
        let known = out.find_open_tool(call).filter(|_| !call.is_empty());
        self.advance_writer_timestamp(start.filter(|_| known.is_none()).or(self.part_time), out);
        let name = part.tool.as_deref().unwrap_or("");
        let kind = tool_kind(name);
        let step = known.unwrap_or_else(|| {
            out.start_tool(ToolStart { kind, parent, ..ToolStart::client_function(call, name) })
        });
        if let Some(input) = state.input.filter(|input| input.get() != "{}") {
            out.replace_arguments_if_changed(step, input.get());
        }
        let metadata = state.metadata.and_then(Metadata::from_raw);
        let Metadata { output, session, older } = metadata.unwrap_or_default();
        if kind == ToolKind::Agent
            && let Some(session) = session.or(older).and_then(as_string)
        {
            self.sessions.add_child_session(&session, step);
        }
        self.advance_writer_timestamp(end, out);
        let so_far = output.and_then(as_string).unwrap_or_default();
        self.apply_tool_state(step, part, &state, &so_far, out);
    }

    /// Writes output, and ends the step if the tool has completed or failed.
    fn apply_tool_state(
        &mut self,
        step: StepId,
        part: &Part<'_>,
        state: &ToolState<'_>,
        so_far: &str,
        out: &mut Writer<'_>,
    ) {
        let id = part.id.as_deref().unwrap_or("");
        let call = part.call.as_deref().unwrap_or(id);
        match state.status.as_deref().unwrap_or("") {
            "running" => {
                out.emit_tool_ready_once(step);
                self.outputs.push_output_so_far(step, so_far, out);
            }
            "completed" => {
                let text = state.output.map(string_or_json).unwrap_or_default();
                self.outputs.push_final_output_and_forget(step, &text, out);
                write_attached_images(step, state.attachments, out);
                self.end_step_and_mark_part_ended(
                    part.tool_key(),
                    step,
                    ToolOutcome::Succeeded,
                    None,
                    out,
                );
            }
            "error" => {
                let error = state.error.map(string_or_json);
                let denied = self.sessions.was_call_denied(call);
                let outcome = if denied { ToolOutcome::Denied } else { ToolOutcome::Failed };
                self.end_step_and_mark_part_ended(
                    part.tool_key(),
                    step,
                    outcome,
                    error.as_deref(),
                    out,
                );
            }
            _ => {}
        }
    }

    /// Ends a step, drops its state and remembers that its part has ended.
    fn end_step_and_mark_part_ended(
        &mut self,
        part: &str,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        out.end_tool_if_open(step, outcome, detail);
        self.outputs.forget_step(step);
        self.sessions.forget_children_of_step(step);
        self.ended_calls.insert(part);
    }
}

/// Writes attached images as output.
fn write_attached_images(step: StepId, raw: Option<&RawValue>, out: &mut Writer<'_>) {
    for raw in raw.map(array_elements).unwrap_or_default() {
        let Ok(file) = serde_json::from_str::<Part<'_>>(raw.get()) else {
            continue;
        };
        if let Some(image) = file.image() {
            out.append_output_image(step, image);
        }
    }
}

/// Kind of a tool by its name.
fn tool_kind(name: &str) -> ToolKind {
    match name {
        "bash" => ToolKind::Command,
        "edit" | "write" | "patch" | "multiedit" | "apply_patch" => ToolKind::Edit,
        "webfetch" => ToolKind::WebFetch,
        "websearch" => ToolKind::WebSearch,
        "task" => ToolKind::Agent,
        _ => ToolKind::Function,
    }
}
