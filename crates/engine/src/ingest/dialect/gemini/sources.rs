//! What a reply brings along: its sources, by grounding or citation, and pictures.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::{Citation, Image};
use crate::ingest::json::{RawValue, Shape, elements, string};
use crate::limits::CITED_MAX;
use crate::run::Writer;

/// The sources of a round that have been cited, by digest: later frames may repeat them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cited(Vec<u64>);

impl Cited {
    pub(super) fn grounding(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const GROUNDING: Shape<1> = Shape { read: ["groundingChunks"], skip: &[] };
        const CHUNK: Shape<4> =
            Shape { read: ["web", "retrievedContext", "maps", "image"], skip: &[] };
        const SOURCE: Shape<4> = Shape { read: ["uri", "title", "text", "sourceUri"], skip: &[] };
        let chunks = GROUNDING.read(raw.get()).and_then(|grounding| grounding.read[0]);
        for raw in chunks.map(elements).unwrap_or_default() {
            let source = CHUNK.read(raw.get()).and_then(|chunk| {
                let source = chunk.read.into_iter().flatten().next()?;
                SOURCE.read(source.get())
            });
            if let Some(source) = source {
                let [url, title, quote, page] = source.read.map(|member| member.and_then(string));
                self.cite(raw, Citation { url: page.or(url), title, quote }, out);
            }
        }
    }

    pub(super) fn citations(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const CITATIONS: Shape<2> = Shape { read: ["citationSources", "citations"], skip: &[] };
        const SOURCE: Shape<2> = Shape { read: ["uri", "title"], skip: &[] };
        let Some(citations) = CITATIONS.read(raw.get()) else {
            return;
        };
        for raw in citations.read.into_iter().flatten().flat_map(elements) {
            if let Some(source) = SOURCE.read(raw.get()) {
                let [url, title] = source.read.map(|member| member.and_then(string));
                self.cite(raw, Citation { url, title, quote: None }, out);
            }
        }
    }

    fn cite(&mut self, raw: &RawValue, citation: Citation<'_>, out: &mut Writer<'_>) {
        let mut hasher = DefaultHasher::new();
        raw.get().hash(&mut hasher);
        let digest = hasher.finish();
        if out.message().is_some() && !self.0.contains(&digest) && self.0.len() < CITED_MAX {
            self.0.push(digest);
            out.cite(citation);
        }
    }
}

pub(super) fn image_of(raw: &RawValue) -> Option<Image<'_>> {
    const DATA: Shape<3> = Shape { read: ["mimeType", "data", "fileUri"], skip: &[] };
    let [media_type, data, url] = DATA.read(raw.get())?.read.map(|member| member.and_then(string));
    let media_type = media_type.filter(|media_type| media_type.starts_with("image/"))?;
    match (data, url) {
        (Some(base64), _) => Some(Image::Inline { media_type, base64 }),
        (None, Some(url)) => Some(Image::Url { url }),
        (None, None) => None,
    }
}
