//! Tools and what comes out of them.

use crate::event::{ToolKind, ToolOutcome};
use crate::ingest::json::{RawValue, Shape, elements, is_true, string};
use crate::run::{ToolStart, Writer};

use super::super::agents::agent_tool;
use super::super::anthropic::image_of;

pub(super) fn tool_start<'a>(call: &'a str, name: &'a str) -> ToolStart<'a> {
    let kind = match name {
        "bash" => ToolKind::Command,
        "edit" | "write" => ToolKind::Edit,
        _ => ToolKind::Function,
    };
    ToolStart { call, ..agent_tool(name, kind) }
}

pub(super) fn content_of(raw: Option<&RawValue>) -> Option<&RawValue> {
    const RESULT: Shape<1> = Shape { read: ["content"], skip: &[] };
    RESULT.read(raw?.get())?.read[0]
}

/// Content is text, or parts of which the text counts.
pub(super) fn text_of(content: Option<&RawValue>) -> String {
    const PART: Shape<1> = Shape { read: ["text"], skip: &[] };
    let Some(content) = content else {
        return String::new();
    };
    if let Some(text) = string(content) {
        return text.into_owned();
    }
    let parts = elements(content).into_iter();
    parts.filter_map(|raw| PART.read(raw.get())?.read[0].and_then(string)).collect()
}

/// Told at the end of the execution, and again as a message; the second finds the tool closed.
pub(super) fn tool_result(
    call: &str,
    content: Option<&RawValue>,
    is_error: Option<&RawValue>,
    out: &mut Writer<'_>,
) {
    let Some(step) = out.step_of(call) else {
        return;
    };
    out.settled_output(step, &text_of(content));
    for image in content.map(elements).unwrap_or_default().into_iter().filter_map(image_of) {
        out.output_image(step, image);
    }
    let failed = is_error.is_some_and(is_true);
    let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool(step, outcome, None);
}
