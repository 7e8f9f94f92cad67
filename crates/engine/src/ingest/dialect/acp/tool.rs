//! Tool calls: started, updated, asked about.

use std::borrow::Cow;

use crate::event::{AskKind, StepId, ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{RawValue, Text, object, string, string_or_json};
use crate::limits::{ID_BYTES_MAX, OPEN_TOOLS_MAX};
use crate::run::{ToolStart, Writer};

use super::super::agents::Voice;
use super::super::repeated::{Outputs, Recent};
use super::content::{self, Meta};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tools {
    /// Calls that are over: what is still said about them starts nothing.
    past: Recent,
    outputs: Outputs,
    /// What open calls are about, for whoever is asked about them.
    titles: Vec<(String, String)>,
    pub(super) voice: Voice,
}

/// A call that a person has to allow.
#[derive(Debug)]
pub(super) struct AskedCall {
    pub(super) id: String,
    pub(super) ask: AskKind,
    pub(super) text: String,
}

object! { Call {
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

impl<'a> Call<'a> {
    /// A string; some agents count.
    fn id(&self) -> Cow<'a, str> {
        self.id.map(string_or_json).unwrap_or_default()
    }

    /// The open step of this call; one without an id has none.
    fn step(&self, out: &Writer<'_>) -> Option<StepId> {
        let id = self.id();
        out.step_of(&id).filter(|_| !id.is_empty())
    }
}

impl Tools {
    pub(super) fn update(&mut self, update: &str, raw: &RawValue, out: &mut Writer<'_>) {
        let Ok(call) = serde_json::from_str::<Call<'_>>(raw.get()) else {
            out.unrecognised(UnrecognisedReason::Unreadable, raw.get());
            return;
        };
        out.unknown_fields(&call.unknown);
        let id = &*call.id();
        let over = update == "tool_call_update" && self.past.has(id);
        let known = call.step(out);
        let Some(step) = known.or_else(|| (!over).then(|| self.start(&call, out))) else {
            return;
        };
        self.entitle(id, call.title.as_deref());
        arguments(step, &call, out);
        let status = call.status.as_deref().unwrap_or("");
        match status {
            "completed" | "failed" => {
                self.result(step, &call, out);
                let failed = status == "failed";
                let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
                self.end(id, step, outcome, out);
            }
            "in_progress" => {
                out.ready(step);
                let whole = call.content.map(content::shown).unwrap_or_default();
                self.outputs.so_far(step, &whole, out);
            }
            _ => {}
        }
    }

    pub(super) fn content_chunk(raw: &RawValue, out: &mut Writer<'_>) {
        let Ok(call) = serde_json::from_str::<Call<'_>>(raw.get()) else {
            out.unrecognised(UnrecognisedReason::Unreadable, raw.get());
            return;
        };
        out.unknown_fields(&call.unknown);
        let Some(step) = call.step(out) else {
            out.unrecognised(UnrecognisedReason::Late, raw.get());
            return;
        };
        if let Some(part) = call.content {
            let one = format!("[{}]", part.get());
            let Ok(parts) = serde_json::from_str::<&RawValue>(&one) else {
                return;
            };
            out.output(step, &content::shown(parts));
        }
    }

    /// The call in a permission request, which may be the first that is heard of it.
    pub(super) fn asked(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Option<AskedCall> {
        let call: Call<'_> = serde_json::from_str(raw.get()).ok()?;
        out.unknown_fields(&call.unknown);
        let id = &*call.id();
        let step = call.step(out).unwrap_or_else(|| self.start(&call, out));
        arguments(step, &call, out);
        self.entitle(id, call.title.as_deref());
        let title = self.titles.iter().find(|(call, _)| call == id);
        let mut text = title.map(|(_, title)| title.clone()).unwrap_or_default();
        let shown = call.content.map(content::shown).unwrap_or_default();
        if !shown.is_empty() {
            text.push('\n');
            text += &shown;
        }
        if let Some(input) = call.input.filter(|input| !content::says_all_of(&text, input)) {
            text.push('\n');
            text += input.get();
        }
        let ask = match call.kind.as_deref() {
            Some("execute") => AskKind::Command,
            _ => AskKind::Tool,
        };
        Some(AskedCall { id: id.to_owned(), ask, text })
    }

    fn start(&mut self, call: &Call<'_>, out: &mut Writer<'_>) -> StepId {
        let meta = call.meta.map(Meta::read).unwrap_or_default();
        if meta.parent.is_none() {
            self.voice = Voice::CalledTool;
        }
        start(call, &meta, out)
    }

    fn entitle(&mut self, id: &str, title: Option<&str>) {
        let Some(title) = title else { return };
        if let Some((_, known)) = self.titles.iter_mut().find(|(call, _)| call == id) {
            title.clone_into(known);
        } else if self.titles.len() < OPEN_TOOLS_MAX && id.len() <= ID_BYTES_MAX {
            self.titles.push((id.to_owned(), title.to_owned()));
        }
    }

    /// The tool's own words where they are given, else what it shows.
    fn result(&mut self, step: StepId, call: &Call<'_>, out: &mut Writer<'_>) {
        for image in call.content.map(content::shown_images).unwrap_or_default() {
            out.output_image(step, image);
        }
        let shown = call.content.map(content::shown).filter(|text| !text.is_empty());
        if let Some(text) = call.output.and_then(string) {
            out.whole_output(step, &text);
        } else if let Some(text) = shown {
            self.outputs.whole(step, &text, out);
        } else if let Some(raw) = call.output {
            out.whole_output(step, &content::result_text(raw));
        }
    }

    pub(super) fn end(&mut self, id: &str, step: StepId, how: ToolOutcome, out: &mut Writer<'_>) {
        out.end_tool(step, how, None);
        self.outputs.forget(step);
        self.titles.retain(|(call, _)| call != id);
        self.past.add(id);
    }
}

fn start(call: &Call<'_>, meta: &Meta<'_>, out: &mut Writer<'_>) -> StepId {
    let named = call.name.as_deref().or(meta.tool.as_deref());
    let name = named.or(call.title.as_deref()).or(call.kind.as_deref()).unwrap_or("");
    let kind = match (call.kind.as_deref(), name) {
        (_, "Task" | "Agent") => ToolKind::Agent,
        (Some("execute"), _) => ToolKind::Command,
        (Some("edit" | "delete" | "move"), _) => ToolKind::Edit,
        (Some("fetch"), _) => ToolKind::WebFetch,
        _ => ToolKind::Function,
    };
    let parent = meta.parent.as_deref().and_then(|parent| out.step_of(parent));
    out.tool(ToolStart { kind, parent, ..ToolStart::function(&call.id(), name) })
}

fn arguments(step: StepId, call: &Call<'_>, out: &mut Writer<'_>) {
    let input = call.input.filter(|input| input.get() != "{}");
    // Gemini says what it is to write in the content, and nowhere else.
    let proposed = call
        .content
        .filter(|raw| call.input.is_none() && call.output.is_none() && content::has_diff(raw));
    let proposed = proposed.filter(|_| matches!(call.status.as_deref(), Some("pending")));
    if let Some(arguments) = input.or(proposed) {
        out.whole_arguments(step, arguments.get());
    }
}
