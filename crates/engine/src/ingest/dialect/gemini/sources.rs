//! Sources (grounding and citations) and images of a reply.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::{Citation, Image};
use crate::ingest::json::{RawValue, array_elements, as_string, object};
use crate::limits::ROUND_CITATIONS_MAX;
use crate::run::Writer;

/// Digests of the sources cited in this round, because later frames may repeat them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CitedSources(Vec<u64>);

impl CitedSources {
    /// Cites the new chunks of a `groundingMetadata`.
    pub(super) fn write_new_grounding_citations(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { Grounding { grounding_chunks = "groundingChunks"; skip _ } }
        object! { Chunk { web, retrieved_context = "retrievedContext", maps, image; skip _ } }
        object! { SourceFields { url = "uri", title, quote = "text", page = "sourceUri"; skip _ } }
        let chunks = Grounding::from_raw(raw).and_then(|grounding| grounding.grounding_chunks);
        for raw in chunks.map(array_elements).unwrap_or_default() {
            let source = Chunk::from_raw(raw).and_then(|chunk| {
                let source = chunk.web.or(chunk.retrieved_context).or(chunk.maps).or(chunk.image)?;
                SourceFields::from_raw(source)
            });
            if let Some(source) = source {
                let [url, title, quote, page] =
                    [source.url, source.title, source.quote, source.page]
                        .map(|member| member.and_then(as_string));
                self.write_citation_if_new(raw, Citation { url: page.or(url), title, quote }, out);
            }
        }
    }

    /// Cites the new sources of a `citationMetadata`.
    pub(super) fn write_new_citations(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { Citations { citation_sources = "citationSources", citations; skip _ } }
        object! { SourceFields { url = "uri", title; skip _ } }
        let Some(citations) = Citations::from_raw(raw) else {
            return;
        };
        let lists = [citations.citation_sources, citations.citations].into_iter().flatten();
        for raw in lists.flat_map(array_elements) {
            if let Some(source) = SourceFields::from_raw(raw) {
                let [url, title] =
                    [source.url, source.title].map(|member| member.and_then(as_string));
                self.write_citation_if_new(raw, Citation { url, title, quote: None }, out);
            }
        }
    }

    /// Cites a source unless it is a repeat, the round has no message, or `ROUND_CITATIONS_MAX` is
    /// reached.
    fn write_citation_if_new(
        &mut self,
        raw: &RawValue,
        citation: Citation<'_>,
        out: &mut Writer<'_>,
    ) {
        let mut hasher = DefaultHasher::new();
        raw.get().hash(&mut hasher);
        let digest = hasher.finish();
        if out.latest_message_id_of_round().is_some()
            && !self.0.contains(&digest)
            && self.0.len() < ROUND_CITATIONS_MAX
        {
            self.0.push(digest);
            out.append_or_hold_citation(citation);
        }
    }
}

/// Reads inline or file data; `None` unless its media type is an image.
pub(super) fn parse_image(raw: &RawValue) -> Option<Image<'_>> {
    object! { Data { media_type = "mimeType", data, url = "fileUri"; skip _ } }
    let Data { media_type, data, url } = Data::from_raw(raw)?;
    let [media_type, data, url] = [media_type, data, url].map(|member| member.and_then(as_string));
    let media_type = media_type.filter(|media_type| media_type.starts_with("image/"))?;
    match (data, url) {
        (Some(base64), _) => Some(Image::Inline { media_type, base64 }),
        (None, Some(url)) => Some(Image::Url { url }),
        (None, None) => None,
    }
}
