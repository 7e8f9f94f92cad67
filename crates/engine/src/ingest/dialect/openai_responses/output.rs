//! Tool output: in the tool's own item, or in an output item that follows it.

use std::borrow::Cow;

use crate::event::{Image, StepId, ToolOutcome};
use crate::ingest::json::{array_elements, as_scalar, as_string, object, string_or_json};
use crate::run::Writer;

use super::super::openai_chat::{image_from_url, parse_error_message};
use super::ItemBody;
use super::tool::XAI_SEARCHES;

/// Writes the result of a tool whose item also holds its result, and ends the tool.
pub(super) fn end_tool_if_item_has_result(step: StepId, body: &ItemBody<'_>, out: &mut Writer<'_>) {
    if has_type_with_result(body) {
        write_result_output(step, body, out);
        end_tool_by_item_status(step, body, out);
    }
}

/// Returns true if items of this type hold the tool's result.
fn has_type_with_result(body: &ItemBody<'_>) -> bool {
    match body.kind.as_deref().unwrap_or("") {
        "custom_tool_call" => XAI_SEARCHES.contains(&body.name.as_deref().unwrap_or("")),
        kind => matches!(
            kind,
            "mcp_call"
                | "mcp_list_tools"
                | "web_search_call"
                | "file_search_call"
                | "code_interpreter_call"
                | "image_generation_call"
        ),
    }
}

/// Writes the output or the images of a tool item.
fn write_result_output(step: StepId, body: &ItemBody<'_>, out: &mut Writer<'_>) {
    match body.kind.as_deref() {
        Some("image_generation_call") => {
            if let Some(image) = body.result.and_then(as_string) {
                let format = body.output_format.as_deref();
                out.append_output_image(step, image_from_base64_or_url(image, format));
            }
        }
        Some("code_interpreter_call") => {
            for raw in body.outputs.map(array_elements).unwrap_or_default() {
                object! { Output { logs, url; skip _ } }
                let Output { logs, url } = Output::from_raw(raw).unwrap_or_default();
                match (logs.and_then(as_string), url.and_then(as_string)) {
                    (Some(logs), _) => out.append_output_if_open(step, &logs),
                    (None, Some(url)) => out.append_output_image(step, image_from_url(url)),
                    (None, None) => out.append_output_if_open(step, raw.get()),
                }
            }
        }
        _ => {
            if let Some(output) = body.output.or(body.results).or(body.tools) {
                out.append_output_if_none(step, &string_or_json(output));
            }
        }
    }
}

/// Ends the tool; failed if the item has an error or a failed status.
fn end_tool_by_item_status(step: StepId, body: &ItemBody<'_>, out: &mut Writer<'_>) {
    let error = body.error.map(parse_error_message);
    let failed = matches!(body.status.as_deref(), Some("failed" | "incomplete"));
    let outcome =
        if failed || error.is_some() { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool_if_open(step, outcome, error.as_deref());
}

/// Converts a URL, a `data:` URL or base64 to an image; guesses the media type from the bytes.
fn image_from_base64_or_url<'a>(image: Cow<'a, str>, format: Option<&str>) -> Image<'a> {
    if image.starts_with("http") || image.starts_with("data:") {
        return image_from_url(image);
    }
    let media_type = match format {
        Some(format) => Cow::Owned(format!("image/{format}")),
        None if image.starts_with("/9j/") => "image/jpeg".into(),
        None if image.starts_with("UklGR") => "image/webp".into(),
        None => "image/png".into(),
    };
    Image::Inline { media_type, base64: image }
}

/// Writes the output of a tool that has its own item, and ends the tool.
pub(super) fn end_tool_with_output_item(step: StepId, body: &ItemBody<'_>, out: &mut Writer<'_>) {
    object! { Screenshot { image_url; skip _ } }
    if body.kind.as_deref() == Some("shell_call_output") {
        return end_tool_with_shell_output(step, body, out);
    }
    let screenshot = body.output.and_then(|raw| Screenshot::from_raw(raw)?.image_url);
    match screenshot.and_then(as_string) {
        Some(url) => out.append_output_image(step, image_from_url(url)),
        None => {
            if let Some(output) = body.output.or(body.result).or(body.tools) {
                out.append_output_if_none(step, &string_or_json(output));
            }
        }
    }
    end_tool_by_item_status(step, body, out);
}

/// Writes the output of a shell call and ends it; failed on a non-zero exit code.
fn end_tool_with_shell_output(step: StepId, body: &ItemBody<'_>, out: &mut Writer<'_>) {
    object! { Output { stdout, stderr, outcome; skip _ } }
    object! { OutcomeFields { kind = "type", code = "exit_code"; skip _ } }
    let mut text = String::new();
    let mut failure = None;
    for raw in body.output.map(array_elements).unwrap_or_default() {
        let Some(Output { stdout, stderr, outcome }) = Output::from_raw(raw) else {
            continue;
        };
        for stream in [stdout, stderr] {
            text.push_str(&stream.and_then(as_string).unwrap_or_default());
        }
        let outcome = outcome.and_then(OutcomeFields::from_raw);
        let OutcomeFields { kind, code } = outcome.unwrap_or_default();
        match code.and_then(as_scalar::<i64>) {
            Some(0) => {}
            Some(code) => failure = Some(format!("exit code {code}")),
            None => failure = kind.and_then(as_string).map(Cow::into_owned).or(failure),
        }
    }
    out.append_output_if_none(step, &text);
    let outcome = if failure.is_some() { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool_if_open(step, outcome, failure.as_deref());
}
