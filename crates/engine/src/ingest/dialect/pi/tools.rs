//! Tool starts and tool results.

use crate::event::{ToolKind, ToolOutcome};
use crate::ingest::json::{RawValue, array_elements, as_string, is_true, object};
use crate::run::{ToolStart, Writer};

use super::super::anthropic::parse_image;
use super::super::shared::cli_agent::build_tool_start_without_call_id;

/// Tool start of a call, with the kind by the tool's name.
pub(super) fn build_tool_start<'a>(call: &'a str, name: &'a str) -> ToolStart<'a> {
    let kind = match name {
        "bash" => ToolKind::Command,
        "edit" | "write" => ToolKind::Edit,
        _ => ToolKind::Function,
    };
    ToolStart { call, ..build_tool_start_without_call_id(name, kind) }
}

/// The `content` member of an object.
pub(super) fn content_member(raw: Option<&RawValue>) -> Option<&RawValue> {
    object! { ResultFields { content; skip _ } }
    ResultFields::from_raw(raw?)?.content
}

/// Text of a content: a string, or the joined texts of its parts.
pub(super) fn content_text(content: Option<&RawValue>) -> String {
    object! { PartFields { text; skip _ } }
    let Some(content) = content else {
        return String::new();
    };
    if let Some(text) = as_string(content) {
        return text.into_owned();
    }
    let parts = array_elements(content).into_iter();
    parts.filter_map(|raw| PartFields::from_raw(raw)?.text.and_then(as_string)).collect()
}

/// Writes the result of a call and ends its step. A repeated result finds no open step.
pub(super) fn end_tool_with_result_if_open(
    call: &str,
    content: Option<&RawValue>,
    is_error: Option<&RawValue>,
    out: &mut Writer<'_>,
) {
    let Some(step) = out.find_open_tool(call) else {
        return;
    };
    out.append_rest_or_replace_output(step, &content_text(content));
    for image in content.map(array_elements).unwrap_or_default().into_iter().filter_map(parse_image)
    {
        out.append_output_image(step, image);
    }
    let failed = is_error.is_some_and(is_true);
    let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool_if_open(step, outcome, None);
}
