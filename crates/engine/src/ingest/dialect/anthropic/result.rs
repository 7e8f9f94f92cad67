//! Tool results, images and citations.

use crate::event::{Citation, Image, StepId, ToolOutcome};
use crate::ingest::json::{RawValue, array_elements, as_scalar, as_string, object};
use crate::run::{ToolStart, Writer};

use super::block::server_tool_kind;

object! { CitationFields {
    url, title, quote = "cited_text", document = "document_title", source,
    ; skip _
} }
object! { PartFields { kind = "type", text; skip _ } }

/// Writes a result block and ends its step, which it starts if the call is unknown. The tool is a
/// server tool of the same reply, or one that the client ran.
/// `declared` is the outcome that the block states; its content may be an error all the same.
pub(super) fn ensure_tool_and_end_with_result(
    block: &str,
    call: &str,
    content: Option<&RawValue>,
    declared: ToolOutcome,
    out: &mut Writer<'_>,
) {
    // A paused turn resumes in another stream, where the result arrives without its call.
    let step = out.find_open_tool(call).unwrap_or_else(|| {
        let name = block.strip_suffix("_tool_result").unwrap_or(block);
        out.start_tool(ToolStart::provider_tool(call, name, server_tool_kind(name)))
    });
    if let Some(content) = content {
        write_result_output(step, content, out);
    }
    let is_error = content.is_some_and(is_error_result);
    let outcome = if is_error { ToolOutcome::Failed } else { declared };
    out.end_tool_if_open(step, outcome, None);
}

/// Writes a result's content: a string, or a list of parts.
pub(in crate::ingest::dialect) fn write_result_output(
    step: StepId,
    content: &RawValue,
    out: &mut Writer<'_>,
) {
    match as_string(content) {
        Some(text) => out.append_output_if_none(step, &text),
        None => write_result_parts(step, content, out),
    }
}

/// Writes the text and image parts of a result; other parts as their JSON.
fn write_result_parts(step: StepId, content: &RawValue, out: &mut Writer<'_>) {
    let parts = array_elements(content);
    if parts.is_empty() {
        if content.get() != "[]" {
            out.append_output_if_open(step, content.get());
        }
        return;
    }
    for raw in parts {
        let PartFields { kind, text } = PartFields::from_raw(raw).unwrap_or_default();
        match kind.and_then(as_string).as_deref() {
            Some("text") => {
                out.append_output_if_open(step, &text.and_then(as_string).unwrap_or_default());
            }
            Some("image") if let Some(image) = parse_image(raw) => {
                out.append_output_image(step, image);
            }
            _ => out.append_output_if_open(step, raw.get()),
        }
    }
}

/// Returns true if a result reports an error by its type, `error_code` or `return_code`.
fn is_error_result(content: &RawValue) -> bool {
    object! { ResultFields { kind = "type", error_code, return_code; skip _ } }
    ResultFields::from_raw(content).is_some_and(|result| {
        let ResultFields { kind, error_code, return_code } = result;
        let named = kind.and_then(as_string).is_some_and(|kind| kind.ends_with("_error"));
        named
            || error_code.is_some()
            || return_code.and_then(as_scalar::<i64>).is_some_and(|code| code != 0)
    })
}

/// Reads an image block: inline base64 or a URL.
pub(in crate::ingest::dialect) fn parse_image(raw: &RawValue) -> Option<Image<'_>> {
    object! { ImageFields { source, data, mime = "mimeType"; skip _ } }
    object! { SourceFields { media_type, data, url; skip _ } }
    let ImageFields { source, data, mime } = ImageFields::from_raw(raw)?;
    if let (Some(data), Some(mime)) = (data, mime) {
        return Some(Image::Inline { media_type: as_string(mime)?, base64: as_string(data)? });
    }
    let SourceFields { media_type, data, url } = SourceFields::from_raw(source?)?;
    match (media_type, data, url) {
        (Some(media_type), Some(data), _) => {
            Some(Image::Inline { media_type: as_string(media_type)?, base64: as_string(data)? })
        }
        (_, _, Some(url)) => Some(Image::Url { url: as_string(url)? }),
        _ => None,
    }
}

/// Cites one source of the open message.
pub(super) fn write_citation(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(citation) = CitationFields::from_raw(raw) else {
        return;
    };
    let [url, title, quote, document, source] =
        [citation.url, citation.title, citation.quote, citation.document, citation.source]
            .map(|member| member.and_then(as_string));
    out.append_or_hold_citation(Citation { url: url.or(source), title: title.or(document), quote });
}
