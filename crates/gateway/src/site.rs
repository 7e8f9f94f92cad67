//! The files of the web site that a gateway serves beside its API.

use std::collections::HashMap;

use millpond_log::digest::Digest;

/// A file of the site.
#[derive(Clone, Debug)]
pub struct SiteFile {
    pub media_type: &'static str,
    /// Quoted digest of the content.
    pub etag: String,
    pub bytes: &'static [u8],
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

impl Site {
    /// Adds a file, with its compressed forms if there are any.
    pub fn add_file(
        &mut self,
        path: &'static str,
        bytes: &'static [u8],
        gzip: Option<&'static [u8]>,
        brotli: Option<&'static [u8]>,
    ) {
        let tag = format!("\"{}\"", Digest::sha256(bytes));
        let named_after_content = path.starts_with("/assets/");
        let kind = media_type_of_path(path);
        self.files.insert(
            path,
            SiteFile {
                media_type: kind,
                etag: tag,
                bytes,
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
