//! What tools put out: in their own item, or in one that follows it.

use std::borrow::Cow;

use crate::event::{Image, StepId, ToolOutcome};
use crate::ingest::json::{Shape, elements, number, string, string_or_json};
use crate::run::Writer;

use super::super::openai_chat::{error_text, image_of_url};
use super::Body;
use super::tool::XAI_SEARCHES;

/// The result of a tool whose item is also that of its result.
pub(super) fn result_in_item(step: StepId, body: &Body<'_>, out: &mut Writer<'_>) {
    if comes_with_result(body) {
        result(step, body, out);
        end(step, body, out);
    }
}

fn comes_with_result(body: &Body<'_>) -> bool {
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

fn result(step: StepId, body: &Body<'_>, out: &mut Writer<'_>) {
    match body.kind.as_deref() {
        Some("image_generation_call") => {
            if let Some(image) = body.result.and_then(string) {
                let format = body.output_format.as_deref();
                out.output_image(step, image_of(image, format));
            }
        }
        Some("code_interpreter_call") => {
            for raw in body.outputs.map(elements).unwrap_or_default() {
                const OUTPUT: Shape<2> = Shape { read: ["logs", "url"], skip: &["type"] };
                let [logs, url] = OUTPUT.read(raw.get()).map_or([None; 2], |output| output.read);
                match (logs.and_then(string), url.and_then(string)) {
                    (Some(logs), _) => out.output(step, &logs),
                    (None, Some(url)) => out.output_image(step, image_of_url(url)),
                    (None, None) => out.output(step, raw.get()),
                }
            }
        }
        _ => {
            if let Some(output) = body.output.or(body.results).or(body.tools) {
                out.whole_output(step, &string_or_json(output));
            }
        }
    }
}

fn end(step: StepId, body: &Body<'_>, out: &mut Writer<'_>) {
    let error = body.error.map(error_text);
    let failed = matches!(body.status.as_deref(), Some("failed" | "incomplete"));
    let outcome =
        if failed || error.is_some() { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool(step, outcome, error.as_deref());
}

/// A picture, as base64 that tells its own type, or where it is.
fn image_of<'a>(image: Cow<'a, str>, format: Option<&str>) -> Image<'a> {
    if image.starts_with("http") || image.starts_with("data:") {
        return image_of_url(image);
    }
    let media_type = match format {
        Some(format) => Cow::Owned(format!("image/{format}")),
        None if image.starts_with("/9j/") => "image/jpeg".into(),
        None if image.starts_with("UklGR") => "image/webp".into(),
        None => "image/png".into(),
    };
    Image::Inline { media_type, base64: image }
}

/// The end of an item that holds what a tool of another item put out.
pub(super) fn output_done(step: StepId, body: &Body<'_>, out: &mut Writer<'_>) {
    const SCREENSHOT: Shape<1> = Shape { read: ["image_url"], skip: &[] };
    if body.kind.as_deref() == Some("shell_call_output") {
        return shell_output_done(step, body, out);
    }
    let screenshot = body.output.and_then(|raw| SCREENSHOT.read(raw.get())?.read[0]);
    match screenshot.and_then(string) {
        Some(url) => out.output_image(step, image_of_url(url)),
        None => {
            if let Some(output) = body.output.or(body.result).or(body.tools) {
                out.whole_output(step, &string_or_json(output));
            }
        }
    }
    end(step, body, out);
}

fn shell_output_done(step: StepId, body: &Body<'_>, out: &mut Writer<'_>) {
    const OUTPUT: Shape<3> = Shape { read: ["stdout", "stderr", "outcome"], skip: &[] };
    const OUTCOME: Shape<2> = Shape { read: ["type", "exit_code"], skip: &[] };
    let mut text = String::new();
    let mut failure = None;
    for raw in body.output.map(elements).unwrap_or_default() {
        let Some([stdout, stderr, outcome]) = OUTPUT.read(raw.get()).map(|output| output.read)
        else {
            continue;
        };
        for stream in [stdout, stderr] {
            text.push_str(&stream.and_then(string).unwrap_or_default());
        }
        let outcome = outcome.and_then(|raw| OUTCOME.read(raw.get()));
        let [kind, code] = outcome.map_or([None; 2], |outcome| outcome.read);
        match code.and_then(number::<i64>) {
            Some(0) => {}
            Some(code) => failure = Some(format!("exit code {code}")),
            None => failure = kind.and_then(string).map(Cow::into_owned).or(failure),
        }
    }
    out.whole_output(step, &text);
    let outcome = if failure.is_some() { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool(step, outcome, failure.as_deref());
}
