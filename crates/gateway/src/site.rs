//! The files of a web site that a gateway serves beside its API.

use std::collections::HashMap;

use crate::digest::Digest;

/// What a file is to be served as.
#[derive(Clone, Debug)]
pub struct File {
    pub kind: &'static str,
    /// Changes when the file does.
    pub tag: String,
    pub bytes: &'static [u8],
    pub gzip: Option<&'static [u8]>,
    pub brotli: Option<&'static [u8]>,
    /// Whether its name changes when it does.
    pub named_after_content: bool,
}

/// Files by their paths, and which paths are pages.
#[derive(Clone, Debug, Default)]
pub struct Site {
    files: HashMap<&'static str, File>,
}

/// Paths whose parameters only the page itself reads.
const PAGES: [(&str, &str); 3] =
    [("/s/", "/index.html"), ("/share/", "/index.html"), ("/theatre/", "/theatre.html")];

impl Site {
    pub fn add(
        &mut self,
        path: &'static str,
        bytes: &'static [u8],
        gzip: Option<&'static [u8]>,
        brotli: Option<&'static [u8]>,
    ) {
        let tag = format!("\"{}\"", Digest::of(bytes));
        let named_after_content = path.starts_with("/assets/");
        let kind = kind(path);
        self.files.insert(path, File { kind, tag, bytes, gzip, brotli, named_after_content });
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn find(&self, path: &str) -> Option<&File> {
        let page = PAGES.iter().find(|(start, _)| path.starts_with(start));
        let path = match page {
            Some((_, page)) => page,
            None if path == "/" => "/index.html",
            None => path,
        };
        self.files.get(path)
    }
}

fn kind(path: &str) -> &'static str {
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
