//! The files of the web chat, as Vite built them when this crate was built.

/// One file.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// With a slash before it.
    pub path: &'static str,
    pub bytes: &'static [u8],
    /// The same, smaller.
    pub gzip: Option<&'static [u8]>,
    pub brotli: Option<&'static [u8]>,
}

/// All of them.
pub const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
