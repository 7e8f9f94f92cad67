//! What is said to a terminal beside its screen: a word to another window, a text to the clipboard.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::text::one_line;

/// Bytes that terminals take for their clipboard.
const COPY_BYTES_MAX: usize = 70_000;

/// For whoever looks elsewhere. Terminals know one way or the other, and pass over what they do not.
pub(super) fn notification(words: &str) -> String {
    let words = one_line(words).replace(';', ",");
    format!("\x1b]9;Millpond: {words}\x1b\\\x1b]777;notify;Millpond;{words}\x1b\\")
}

/// A text for the clipboard, and whether all of it fits.
pub(super) fn copy(text: &str) -> (String, bool) {
    let end = text.floor_char_boundary(COPY_BYTES_MAX);
    (format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(&text[..end])), end == text.len())
}
