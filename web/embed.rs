//! Files of the web chat, built by Vite in this crate's build script and embedded.

/// One embedded file.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// URL path, with a leading slash.
    pub path: &'static str,
    /// Uncompressed content; `None` if there is a gzip form, from which it can be restored.
    pub bytes: Option<&'static [u8]>,
    /// Content compressed with gzip.
    pub gzip: Option<&'static [u8]>,
    /// Content compressed with Brotli.
    pub brotli: Option<&'static [u8]>,
}

/// All embedded files.
pub const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
