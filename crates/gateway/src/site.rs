//! The files of the web site that a gateway serves beside its API.

use std::collections::HashMap;
use std::io::Read;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::read::GzDecoder;
use millpond_log::digest::Digest;

/// A file of the site.
#[derive(Clone, Debug)]
pub struct SiteFile {
    pub media_type: &'static str,
    /// Quoted digest of the content.
    pub etag: String,
    /// Uncompressed content; `None` if it is restored from the gzip form.
    bytes: Option<&'static [u8]>,
    /// Content restored from the gzip form, for clients that accept no compression.
    restored: OnceLock<Bytes>,
    pub gzip: Option<&'static [u8]>,
    pub brotli: Option<&'static [u8]>,
    /// True if its name contains a hash of its content.
    pub has_hashed_name: bool,
}

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct Site {
    files: HashMap<&'static str, SiteFile>,
}

/// Path prefixes whose rest only the page itself reads, and their pages.
const PAGE_PREFIXES: [(&str, &str); 3] =
    [("/s/", "/index.html"), ("/share/", "/index.html"), ("/theatre/", "/theatre.html")];

impl SiteFile {
    /// The uncompressed content.
    pub fn content(&self) -> Bytes {
        match (self.bytes, self.gzip) {
            (Some(bytes), _) => Bytes::from_static(bytes),
            (None, gzip) => {
                self.restored.get_or_init(|| decompress(gzip.unwrap_or_default())).clone()
            }
        }
    }
}

/// Decompresses a gzip form that the build has made.
fn decompress(gzip: &[u8]) -> Bytes {
    let mut content = Vec::new();
    if let Err(error) = GzDecoder::new(gzip).read_to_end(&mut content) {
        tracing::error!(%error, "cannot decompress a file of the web chat");
    }
    content.into()
}

impl Site {
    /// Adds a file, with its compressed forms if there are any. Without `bytes` it must have a
    /// gzip form.
    pub fn add_file(
        &mut self,
        path: &'static str,
        bytes: Option<&'static [u8]>,
        gzip: Option<&'static [u8]>,
        brotli: Option<&'static [u8]>,
    ) {
        let content = bytes.or(gzip).unwrap_or_default();
        let tag = format!("\"{}\"", Digest::sha256(content));
        let named_after_content = path.starts_with("/assets/");
        let kind = media_type_of_path(path);
        self.files.insert(
            path,
            SiteFile {
                media_type: kind,
                etag: tag,
                bytes,
                restored: OnceLock::new(),
                gzip,
                brotli,
                has_hashed_name: named_after_content,
            },
        );
    }

    /// True if there is no site.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file of a path; page prefixes map to their page.
    pub fn find_file(&self, path: &str) -> Option<&SiteFile> {
        let page = PAGE_PREFIXES.iter().find(|(start, _)| path.starts_with(start));
        let path = match page {
            Some((_, page)) => page,
            None if path == "/" => "/index.html",
            None => path,
        };
        self.files.get(path)
    }
}

fn media_type_of_path(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
