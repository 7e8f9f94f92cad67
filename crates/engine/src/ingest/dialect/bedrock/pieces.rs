//! Sources, pictures, usage and endings of a Bedrock reply.

use std::borrow::Cow;

use crate::event::{Citation, FailureReason, Image, Stop, ToolKind, Usage};
use crate::ingest::json::{RawValue, Shape, elements, number, string, string_or_json};
use crate::run::Writer;

const PIECE: Shape<2> = Shape { read: ["url", "text"], skip: &[] };

/// Text with its sources, in a whole reply.
pub(super) fn cited_content(raw: &RawValue, out: &mut Writer<'_>) {
    const CITED: Shape<2> = Shape { read: ["content", "citations"], skip: &[] };
    let [content, citations] = CITED.read(raw.get()).map(|cited| cited.read).unwrap_or_default();
    for piece in content.map(elements).unwrap_or_default() {
        if let Some(text) = PIECE.read(piece.get()).and_then(|piece| piece.read[1]) {
            out.text(&string(text).unwrap_or_default());
        }
    }
    for citation in citations.map(elements).unwrap_or_default() {
        cite(citation, out);
    }
}

pub(super) fn cite(raw: &RawValue, out: &mut Writer<'_>) {
    const CITATION: Shape<4> =
        Shape { read: ["title", "source", "sourceContent", "location"], skip: &[] };
    const LOCATION: Shape<1> = Shape { read: ["web"], skip: &[] };
    let Some([title, source, quoted, location]) = CITATION.read(raw.get()).map(|it| it.read) else {
        return;
    };
    let web = location.and_then(|location| LOCATION.read(location.get())?.read[0]);
    let url = web.and_then(|web| PIECE.read(web.get())?.read[0]).or(source).and_then(string);
    let quote: String = quoted
        .map(elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|piece| PIECE.read(piece.get())?.read[1].and_then(string))
        .collect();
    let quote = (!quote.is_empty()).then(|| quote.into());
    out.cite(Citation { url, title: title.and_then(string), quote });
}

pub(super) fn image_of(raw: &RawValue) -> Option<Image<'_>> {
    const IMAGE: Shape<2> = Shape { read: ["format", "source"], skip: &[] };
    const SOURCE: Shape<1> = Shape { read: ["bytes"], skip: &[] };
    let [format, source] = IMAGE.read(raw.get())?.read;
    let base64 = SOURCE.read(source?.get())?.read[0].and_then(string)?;
    let format = format.and_then(string);
    let media_type = format!("image/{}", format.as_deref().unwrap_or("png")).into();
    Some(Image::Inline { media_type, base64 })
}

pub(super) fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<4> = Shape {
        read: ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"],
        skip: &[],
    };
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, cache_read, cache_write] = usage.read.map(|member| member.and_then(number));
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..Usage::default()
    }
}

pub(super) fn server_tool(name: &str) -> ToolKind {
    match name {
        "nova_code_interpreter" => ToolKind::CodeInterpreter,
        "nova_grounding" => ToolKind::WebSearch,
        _ => ToolKind::Builtin,
    }
}

pub(super) fn end(reason: &str, out: &mut Writer<'_>) {
    match reason {
        "end_turn" | "stop_sequence" => out.complete(Stop::End),
        "tool_use" => out.complete(Stop::Tools),
        "max_tokens" | "model_context_window_exceeded" => out.complete(Stop::Length),
        "guardrail_intervened" => out.fail(FailureReason::Refused, "a guardrail intervened"),
        "content_filtered" => out.fail(FailureReason::Refused, "stopped by a content filter"),
        "refusal" => out.fail(FailureReason::Refused, "the model refused"),
        "malformed_model_output" | "malformed_tool_use" => out.fail(FailureReason::Error, reason),
        _ => out.complete(Stop::Other),
    }
}

pub(super) fn exception_words(raw: &RawValue) -> Cow<'_, str> {
    const EXCEPTION: Shape<2> = Shape { read: ["message", "originalMessage"], skip: &[] };
    let exception = EXCEPTION.read(raw.get());
    let words = exception.and_then(|exception| exception.read.into_iter().flatten().next());
    string_or_json(words.unwrap_or(raw))
}

pub(super) fn metadata_usage(raw: &RawValue) -> Usage {
    const METADATA: Shape<1> = Shape { read: ["usage"], skip: &[] };
    let usage = METADATA.read(raw.get()).and_then(|metadata| metadata.read[0]);
    usage.map(usage_of).unwrap_or_default()
}
