//! Tools and pictures among the parts of a message.

use crate::event::{Image, StepId, ToolKind, ToolOutcome};
use crate::ingest::json::{
    RawValue, Shape, Text, elements, number, object, string, string_or_json,
};
use crate::run::{ToolStart, Writer};

use super::super::openai_chat::image_of_url;
use super::{Opencode, Part};

object! { State {
    status: Text<'a> = "status",
    input: &'a RawValue = "input",
    output: &'a RawValue = "output",
    error: &'a RawValue = "error",
    metadata: &'a RawValue = "metadata",
    attachments: &'a RawValue = "attachments",
    time: &'a RawValue = "time",
    ; skip "raw" | "title"
} }

const METADATA: Shape<3> = Shape { read: ["output", "sessionId", "sessionID"], skip: &[] };

/// When something began and ended.
pub(super) fn times(raw: Option<&RawValue>) -> (Option<u64>, Option<u64>) {
    const TIMES: Shape<2> = Shape { read: ["start", "end"], skip: &[] };
    let times = raw.and_then(|raw| TIMES.read(raw.get())).map(|times| times.read);
    let [start, end] = times.unwrap_or_default();
    (start.and_then(number), end.and_then(number))
}

impl Part<'_> {
    /// What tells a tool from others.
    fn tool_key(&self) -> &str {
        let id = self.id.as_deref().filter(|id| !id.is_empty());
        id.or(self.call.as_deref()).unwrap_or("")
    }

    pub(super) fn image(&self) -> Option<Image<'_>> {
        let url = self.url.as_ref()?;
        let is_image = self.mime.as_ref()?.starts_with("image/");
        is_image.then(|| image_of_url(url.0.clone()))
    }
}

impl Opencode {
    /// A tool as it stands; `parent` is the tool whose sub-agent called it.
    pub(super) fn tool(&mut self, part: &Part<'_>, parent: Option<StepId>, out: &mut Writer<'_>) {
        let id = part.id.as_deref().unwrap_or("");
        let call = part.call.as_deref().unwrap_or(id);
        let state = part.state.map(|raw| serde_json::from_str::<State<'_>>(raw.get()));
        let Some(Ok(state)) = state else { return };
        out.unknown_fields(&state.unknown);
        if self.calls_over.has(part.tool_key()) {
            return;
        }
        let (start, end) = times(state.time);
        let known = out.step_of(call).filter(|_| !call.is_empty());
        self.at(start.filter(|_| known.is_none()).or(self.told), out);
        let name = part.tool.as_deref().unwrap_or("");
        let kind = kind_of(name);
        let step = known.unwrap_or_else(|| {
            out.tool(ToolStart { kind, parent, ..ToolStart::function(call, name) })
        });
        if let Some(input) = state.input.filter(|input| input.get() != "{}") {
            out.whole_arguments(step, input.get());
        }
        let metadata = state.metadata.and_then(|raw| METADATA.read(raw.get()));
        let [output, session, older] = metadata.map(|metadata| metadata.read).unwrap_or_default();
        if kind == ToolKind::Agent
            && let Some(session) = session.or(older).and_then(string)
        {
            self.serve.child_of(&session, step);
        }
        self.at(end, out);
        let so_far = output.and_then(string).unwrap_or_default();
        self.settle(step, part, &state, &so_far, out);
    }

    /// Runs, is done, or has failed.
    fn settle(
        &mut self,
        step: StepId,
        part: &Part<'_>,
        state: &State<'_>,
        so_far: &str,
        out: &mut Writer<'_>,
    ) {
        let id = part.id.as_deref().unwrap_or("");
        let call = part.call.as_deref().unwrap_or(id);
        match state.status.as_deref().unwrap_or("") {
            "running" => {
                out.ready(step);
                self.outputs.so_far(step, so_far, out);
            }
            "completed" => {
                let text = state.output.map(string_or_json).unwrap_or_default();
                self.outputs.whole(step, &text, out);
                attachments(step, state.attachments, out);
                self.end_tool(part.tool_key(), step, ToolOutcome::Succeeded, None, out);
            }
            "error" => {
                let error = state.error.map(string_or_json);
                let denied = self.serve.was_denied(call);
                let outcome = if denied { ToolOutcome::Denied } else { ToolOutcome::Failed };
                self.end_tool(part.tool_key(), step, outcome, error.as_deref(), out);
            }
            _ => {}
        }
    }

    fn end_tool(
        &mut self,
        part: &str,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        out.end_tool(step, outcome, detail);
        self.outputs.forget(step);
        self.serve.forget(step);
        self.calls_over.add(part);
    }
}

fn attachments(step: StepId, raw: Option<&RawValue>, out: &mut Writer<'_>) {
    for raw in raw.map(elements).unwrap_or_default() {
        let Ok(file) = serde_json::from_str::<Part<'_>>(raw.get()) else {
            continue;
        };
        if let Some(image) = file.image() {
            out.output_image(step, image);
        }
    }
}

fn kind_of(name: &str) -> ToolKind {
    match name {
        "bash" => ToolKind::Command,
        "edit" | "write" | "patch" | "multiedit" | "apply_patch" => ToolKind::Edit,
        "webfetch" => ToolKind::WebFetch,
        "websearch" => ToolKind::WebSearch,
        "task" => ToolKind::Agent,
        _ => ToolKind::Function,
    }
}
