//! What the steps of an interaction hold.

use crate::event::{Citation, Image, ReasoningOrigin, StepId, ToolKind, UnrecognisedReason};
use crate::ingest::dialect::Unreadable;
use crate::ingest::json::{RawValue, Shape, elements, string};
use crate::run::{ToolStart, Writer};

/// A step, a delta of one, and a piece of content: what is in them has the same names.
pub(super) const ITEM: Shape<16> = Shape {
    read: [
        "type",
        "text",
        "content",
        "summary",
        "annotations",
        "id",
        "call_id",
        "name",
        "server_name",
        "arguments",
        "partial_arguments",
        "result",
        "is_error",
        "data",
        "mime_type",
        "uri",
    ],
    skip: &["signature", "resolution", "status"],
};

pub(super) fn start_call(
    kind: &str,
    members: [Option<&RawValue>; 4],
    out: &mut Writer<'_>,
) -> StepId {
    let [id, name, server, arguments] = members;
    let [id, name, server] = [id, name, server].map(|member| member.and_then(string));
    let id = id.unwrap_or_default();
    let own = kind.strip_suffix("_call").unwrap_or(kind);
    let name = name.as_deref().unwrap_or(own);
    let step = out.tool(match tool_kind(own) {
        ToolKind::Function => ToolStart::function(&id, name),
        kind => ToolStart { server: server.as_deref(), ..ToolStart::provider(&id, name, kind) },
    });
    // At the start of a call that is streamed they are always empty.
    if let Some(arguments) = arguments.filter(|arguments| arguments.get() != "{}") {
        out.whole_arguments(step, arguments.get());
    }
    step
}

fn tool_kind(own: &str) -> ToolKind {
    match own {
        "function" => ToolKind::Function,
        "code_execution" => ToolKind::CodeInterpreter,
        "google_search" => ToolKind::WebSearch,
        "url_context" => ToolKind::WebFetch,
        "file_search" => ToolKind::FileSearch,
        "mcp_server_tool" => ToolKind::Mcp,
        _ => ToolKind::Builtin,
    }
}

/// Text or a picture of the reply.
pub(super) fn content_piece(raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
    let [kind, text, _, _, annotations, .., data, mime_type, uri] =
        ITEM.read(raw.get()).ok_or(Unreadable)?.read;
    let image = match [data, mime_type, uri].map(|member| member.and_then(string)) {
        [Some(base64), Some(media_type), _] => Some(Image::Inline { media_type, base64 }),
        [_, _, Some(url)] => Some(Image::Url { url }),
        _ => None,
    };
    match (kind.and_then(string).as_deref(), image) {
        (Some("text"), _) => {
            out.text(&text.and_then(string).unwrap_or_default());
            cite(annotations, out);
        }
        (Some("image"), Some(image)) => out.image(image),
        _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
    }
    Ok(())
}

/// Whether there was anything to say.
pub(super) fn think(summary: &RawValue, out: &mut Writer<'_>) -> bool {
    let mut said = false;
    for piece in elements(summary) {
        said |= think_piece(piece, out);
    }
    said
}

pub(super) fn think_piece(raw: &RawValue, out: &mut Writer<'_>) -> bool {
    let text = ITEM.read(raw.get()).and_then(|item| item.read[1]).and_then(string);
    let text = text.unwrap_or_default();
    out.reasoning(&text, ReasoningOrigin::Summary);
    !text.is_empty()
}

pub(super) fn prompt(content: Option<&RawValue>, out: &mut Writer<'_>) {
    for piece in content.map(elements).unwrap_or_default() {
        if let Some(text) = ITEM.read(piece.get()).and_then(|item| item.read[1]).and_then(string) {
            out.prompt(&text);
        }
    }
}

pub(super) fn cite(annotations: Option<&RawValue>, out: &mut Writer<'_>) {
    const ANNOTATION: Shape<5> =
        Shape { read: ["url", "title", "name", "document_uri", "file_name"], skip: &[] };
    for raw in annotations.map(elements).unwrap_or_default() {
        if let Some(annotation) = ANNOTATION.read(raw.get()) {
            let [url, title, name, document, file] =
                annotation.read.map(|member| member.and_then(string));
            let title = title.or(name).or(file);
            out.cite(Citation { url: url.or(document), title, quote: None });
        }
    }
}
