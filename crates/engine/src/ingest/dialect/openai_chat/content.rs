//! Parts, images and annotations of a message's content.

use crate::event::{Citation, ReasoningOrigin, UnrecognisedReason};
use crate::ingest::json::{RawValue, array_elements, as_string, object, string_or_json};
use crate::run::Writer;

use super::image_from_url;

object! { PartFields { kind = "type", text, thinking, image = "image_url"; skip _ } }
object! { ImagePart { image_url, url; skip _ } }
object! { AnnotationFields { url_citation, url, title, quote = "content"; skip _ } }

/// Writes one part of a content array, as Mistral sends it.
pub(super) fn write_part(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(part) = PartFields::from_raw(raw) else {
        return match as_string(raw) {
            Some(text) => out.append_text(&text),
            None => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        };
    };
    let PartFields { kind, text, thinking, image } = part;
    match kind.and_then(as_string).as_deref() {
        Some("text" | "output_text") => {
            if let Some(text) = text.and_then(as_string) {
                out.append_text(&text);
            }
        }
        Some("thinking") => {
            for piece in thinking.map(array_elements).unwrap_or_default() {
                if let Some(text) = PartFields::from_raw(piece).and_then(|piece| piece.text) {
                    out.append_reasoning(&string_or_json(text), ReasoningOrigin::Native);
                }
            }
            if let Some(text) = thinking.and_then(as_string) {
                out.append_reasoning(&text, ReasoningOrigin::Native);
            }
        }
        Some("image_url") if image.is_some() => write_image_part(raw, out),
        Some("reference") => {}
        _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
    }
}

/// Cites the source of one annotation.
pub(super) fn write_annotation_citation(raw: &RawValue, out: &mut Writer<'_>) {
    let Some(annotation) = AnnotationFields::from_raw(raw) else {
        return;
    };
    let inner = annotation.url_citation.and_then(AnnotationFields::from_raw);
    let AnnotationFields { url, title, quote, .. } = inner.unwrap_or(annotation);
    let text = |raw: Option<_>| raw.and_then(as_string);
    out.append_or_hold_citation(Citation {
        url: text(url),
        title: text(title),
        quote: text(quote),
    });
}

/// Writes the image of an `image_url` part.
pub(super) fn write_image_part(raw: &RawValue, out: &mut Writer<'_>) {
    let outer = ImagePart::from_raw(raw);
    let url = outer.and_then(|outer| outer.image_url).and_then(|image| {
        let inner = ImagePart::from_raw(image).and_then(|inner| inner.url);
        as_string(inner.unwrap_or(image))
    });
    if let Some(url) = url {
        out.append_message_image(image_from_url(url));
    }
}
