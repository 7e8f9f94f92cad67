//! Results of tools, pictures and citations.

use crate::event::{Citation, Image, StepId, ToolOutcome};
use crate::ingest::json::{RawValue, Shape, elements, number, string};
use crate::run::{ToolStart, Writer};

use super::block::server_tool_kind;

const CITATION: Shape<5> = Shape {
    read: ["url", "title", "cited_text", "document_title", "source"],
    skip: &["type", "encrypted_index", "document_index", "start_char_index", "end_char_index"],
};
const PART: Shape<2> = Shape { read: ["type", "text"], skip: &[] };

/// A result that comes as a block: of a server tool in the same reply, or of a tool the client ran.
pub(super) fn tool_result(
    block: &str,
    call: &str,
    content: Option<&RawValue>,
    failed: bool,
    out: &mut Writer<'_>,
) {
    // A turn that was paused goes on in another stream: its result comes without its call.
    let step = out.step_of(call).unwrap_or_else(|| {
        let name = block.strip_suffix("_tool_result").unwrap_or(block);
        out.tool(ToolStart::provider(call, name, server_tool_kind(name)))
    });
    let failed = failed || content.is_some_and(is_error_result);
    if let Some(content) = content {
        result_output(step, content, out);
    }
    let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Succeeded };
    out.end_tool(step, outcome, None);
}

/// What a tool put out, as a text or in parts.
pub(in crate::ingest::dialect) fn result_output(
    step: StepId,
    content: &RawValue,
    out: &mut Writer<'_>,
) {
    match string(content) {
        Some(text) => out.whole_output(step, &text),
        None => result_parts(step, content, out),
    }
}

/// Text and pictures of a result; anything else as the JSON it is.
fn result_parts(step: StepId, content: &RawValue, out: &mut Writer<'_>) {
    let parts = elements(content);
    if parts.is_empty() {
        if content.get() != "[]" {
            out.output(step, content.get());
        }
        return;
    }
    for raw in parts {
        let [kind, text] = PART.read(raw.get()).map_or([None; 2], |part| part.read);
        match kind.and_then(string).as_deref() {
            Some("text") => out.output(step, &text.and_then(string).unwrap_or_default()),
            Some("image") if let Some(image) = image_of(raw) => out.output_image(step, image),
            _ => out.output(step, raw.get()),
        }
    }
}

fn is_error_result(content: &RawValue) -> bool {
    const RESULT: Shape<3> = Shape { read: ["type", "error_code", "return_code"], skip: &[] };
    RESULT.read(content.get()).is_some_and(|result| {
        let [kind, error_code, return_code] = result.read;
        let named = kind.and_then(string).is_some_and(|kind| kind.ends_with("_error"));
        named
            || error_code.is_some()
            || return_code.and_then(number::<i64>).is_some_and(|code| code != 0)
    })
}

pub(in crate::ingest::dialect) fn image_of(raw: &RawValue) -> Option<Image<'_>> {
    const IMAGE: Shape<3> = Shape { read: ["source", "data", "mimeType"], skip: &[] };
    const SOURCE: Shape<3> = Shape { read: ["media_type", "data", "url"], skip: &[] };
    let [source, data, mime] = IMAGE.read(raw.get())?.read;
    if let (Some(data), Some(mime)) = (data, mime) {
        return Some(Image::Inline { media_type: string(mime)?, base64: string(data)? });
    }
    let [media_type, data, url] = SOURCE.read(source?.get())?.read;
    match (media_type, data, url) {
        (Some(media_type), Some(data), _) => {
            Some(Image::Inline { media_type: string(media_type)?, base64: string(data)? })
        }
        (_, _, Some(url)) => Some(Image::Url { url: string(url)? }),
        _ => None,
    }
}

pub(super) fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(citation) = CITATION.read(raw.get()) else {
        return;
    };
    let [url, title, quote, document, source] = citation.read.map(|member| member.and_then(string));
    out.cite(Citation { url: url.or(source), title: title.or(document), quote });
}
