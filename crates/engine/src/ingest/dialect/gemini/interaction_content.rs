//! The content of the steps of an interaction.

use crate::event::{Citation, Image, ReasoningOrigin, StepId, ToolKind, UnrecognisedReason};
use crate::ingest::dialect::Unreadable;
use crate::ingest::json::{RawValue, array_elements, as_string, object};
use crate::run::{ToolStart, Writer};

object! {
    /// Members of a step, of a delta of one, and of a piece of content: they share their names.
    pub(super) Item {
        kind = "type", text, content, summary, annotations, id, call_id, name, server_name, arguments,
        partial_arguments, result, is_error, data, mime_type, uri,
        ; skip "signature" | "resolution" | "status"
    }
}

/// Starts the tool step of a call, with its arguments if they are complete.
pub(super) fn start_tool_call(
    kind: &str,
    members: [Option<&RawValue>; 4],
    out: &mut Writer<'_>,
) -> StepId {
    let [id, name, server, arguments] = members;
    let [id, name, server] = [id, name, server].map(|member| member.and_then(as_string));
    let id = id.unwrap_or_default();
    let own = kind.strip_suffix("_call").unwrap_or(kind);
    let name = name.as_deref().unwrap_or(own);
    let step = out.start_tool(match call_tool_kind(own) {
        ToolKind::Function => ToolStart::client_function(&id, name),
        kind => {
            ToolStart { server: server.as_deref(), ..ToolStart::provider_tool(&id, name, kind) }
        }
    });
    // Always `{}` at the start of a streamed call.
    if let Some(arguments) = arguments.filter(|arguments| arguments.get() != "{}") {
        out.replace_arguments_if_changed(step, arguments.get());
    }
    step
}

/// Maps a call's type, without `_call`, to a tool kind.
fn call_tool_kind(own: &str) -> ToolKind {
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

/// Writes one piece of the reply: text or an image.
pub(super) fn write_content_piece(raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
    let Item { kind, text, annotations, data, mime_type, uri, .. } =
        Item::from_raw(raw).ok_or(Unreadable)?;
    let image = match [data, mime_type, uri].map(|member| member.and_then(as_string)) {
        [Some(base64), Some(media_type), _] => Some(Image::Inline { media_type, base64 }),
        [_, _, Some(url)] => Some(Image::Url { url }),
        _ => None,
    };
    match (kind.and_then(as_string).as_deref(), image) {
        (Some("text"), _) => {
            out.append_text(&text.and_then(as_string).unwrap_or_default());
            write_citations(annotations, out);
        }
        (Some("image"), Some(image)) => out.append_message_image(image),
        _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
    }
    Ok(())
}

/// Writes a thought summary; returns true if it has any text.
pub(super) fn write_thought_summary(summary: &RawValue, out: &mut Writer<'_>) -> bool {
    let mut said = false;
    for piece in array_elements(summary) {
        said |= write_thought_piece(piece, out);
    }
    said
}

/// Writes one piece of a thought summary; returns true if it has any text.
pub(super) fn write_thought_piece(raw: &RawValue, out: &mut Writer<'_>) -> bool {
    let text = Item::from_raw(raw).and_then(|item| item.text).and_then(as_string);
    let text = text.unwrap_or_default();
    out.append_reasoning(&text, ReasoningOrigin::Summary);
    !text.is_empty()
}

/// Writes the texts of a `user_input` step as prompts.
pub(super) fn write_prompts(content: Option<&RawValue>, out: &mut Writer<'_>) {
    for piece in content.map(array_elements).unwrap_or_default() {
        if let Some(text) = Item::from_raw(piece).and_then(|item| item.text).and_then(as_string) {
            out.append_prompt_unless_finish_requested(&text);
        }
    }
}

/// Cites the sources of an annotation list.
pub(super) fn write_citations(annotations: Option<&RawValue>, out: &mut Writer<'_>) {
    object! { AnnotationFields {
        url, title, name, document = "document_uri", file = "file_name",
        ; skip _
    } }
    for raw in annotations.map(array_elements).unwrap_or_default() {
        if let Some(annotation) = AnnotationFields::from_raw(raw) {
            let [url, title, name, document, file] = [
                annotation.url,
                annotation.title,
                annotation.name,
                annotation.document,
                annotation.file,
            ]
            .map(|member| member.and_then(as_string));
            let title = title.or(name).or(file);
            out.append_or_hold_citation(Citation { url: url.or(document), title, quote: None });
        }
    }
}
