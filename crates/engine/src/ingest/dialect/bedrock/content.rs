//! Citations, images, usage and stop reasons of a Bedrock reply.

use std::borrow::Cow;

use crate::event::{Citation, FailureReason, Image, StopReason, ToolKind, Usage};
use crate::ingest::json::{RawValue, array_elements, as_string, object, string_or_json};
use crate::run::Writer;

use super::super::shared::usage::UsageNames;

object! { Piece { url, text; skip _ } }

/// Writes text with its citations, from a whole reply.
pub(super) fn write_cited_content(raw: &RawValue, out: &mut Writer<'_>) {
    object! { Cited { content, citations; skip _ } }
    let Cited { content, citations } = Cited::from_raw(raw).unwrap_or_default();
    for piece in content.map(array_elements).unwrap_or_default() {
        if let Some(text) = Piece::from_raw(piece).and_then(|piece| piece.text) {
            out.append_text(&as_string(text).unwrap_or_default());
        }
    }
    for citation in citations.map(array_elements).unwrap_or_default() {
        write_citation(citation, out);
    }
}

/// Cites one source of the open message.
pub(super) fn write_citation(raw: &RawValue, out: &mut Writer<'_>) {
    object! { CitationFields { title, source, quoted = "sourceContent", location; skip _ } }
    object! { Location { web; skip _ } }
    let Some(CitationFields { title, source, quoted, location }) = CitationFields::from_raw(raw)
    else {
        return;
    };
    let web = location.and_then(|location| Location::from_raw(location)?.web);
    let url = web.and_then(|web| Piece::from_raw(web)?.url).or(source).and_then(as_string);
    let quote: String = quoted
        .map(array_elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|piece| Piece::from_raw(piece)?.text.and_then(as_string))
        .collect();
    let quote = (!quote.is_empty()).then(|| quote.into());
    out.append_or_hold_citation(Citation { url, title: title.and_then(as_string), quote });
}

/// Reads an inline image; PNG if no format is given.
pub(super) fn parse_image(raw: &RawValue) -> Option<Image<'_>> {
    object! { ImageFields { format, source; skip _ } }
    object! { SourceFields { bytes; skip _ } }
    let ImageFields { format, source } = ImageFields::from_raw(raw)?;
    let base64 = SourceFields::from_raw(source?)?.bytes.and_then(as_string)?;
    let format = format.and_then(as_string);
    let media_type = format!("image/{}", format.as_deref().unwrap_or("png")).into();
    Some(Image::Inline { media_type, base64 })
}

pub(super) const USAGE: UsageNames = UsageNames {
    input: "inputTokens",
    output: "outputTokens",
    reasoning: "",
    cache_read: "cacheReadInputTokens",
    cache_write: "cacheWriteInputTokens",
};

/// Maps a server tool's name to its kind.
pub(super) fn server_tool_kind(name: &str) -> ToolKind {
    match name {
        "nova_code_interpreter" => ToolKind::CodeInterpreter,
        "nova_grounding" => ToolKind::WebSearch,
        _ => ToolKind::Builtin,
    }
}

/// Completes or fails the reply according to its `stopReason`.
pub(super) fn apply_stop_reason(reason: &str, out: &mut Writer<'_>) {
    match reason {
        "end_turn" | "stop_sequence" => out.report_completed_unless_failed(StopReason::End),
        "tool_use" => out.report_completed_unless_failed(StopReason::Tools),
        "max_tokens" | "model_context_window_exceeded" => {
            out.report_completed_unless_failed(StopReason::Length);
        }
        "guardrail_intervened" => {
            out.report_failed_and_end_text(FailureReason::Refused, "a guardrail intervened");
        }
        "content_filtered" => {
            out.report_failed_and_end_text(FailureReason::Refused, "stopped by a content filter");
        }
        "refusal" => out.report_failed_and_end_text(FailureReason::Refused, "the model refused"),
        "malformed_model_output" | "malformed_tool_use" => {
            out.report_failed_and_end_text(FailureReason::Error, reason);
        }
        _ => out.report_completed_unless_failed(StopReason::Other),
    }
}

/// Returns the message of an exception, or its JSON.
pub(super) fn exception_message(raw: &RawValue) -> Cow<'_, str> {
    object! { Exception { message, original_message = "originalMessage"; skip _ } }
    let exception = Exception::from_raw(raw);
    let words = exception.and_then(|exception| exception.message.or(exception.original_message));
    string_or_json(words.unwrap_or(raw))
}

/// Reads the usage in a `metadata` event.
pub(super) fn parse_metadata_usage(raw: &RawValue) -> Usage {
    object! { Metadata { usage; skip _ } }
    let usage = Metadata::from_raw(raw).and_then(|metadata| metadata.usage);
    usage.map(|usage| USAGE.parse_usage_by_names(usage)).unwrap_or_default()
}
