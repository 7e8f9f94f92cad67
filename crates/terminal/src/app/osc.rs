//! OSC sequences that change nothing on the screen: desktop notifications and the clipboard.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::text::neutralise_to_one_line;

/// Bytes that terminals accept for the clipboard.
const CLIPBOARD_BYTES_MAX: usize = 70_000;

/// Returns a desktop notification as OSC 9 and OSC 777; terminals ignore the one they lack.
pub(super) fn notification_sequence(words: &str) -> String {
    let words = neutralise_to_one_line(words).replace(';', ",");
    format!("\x1b]9;Millpond: {words}\x1b\\\x1b]777;notify;Millpond;{words}\x1b\\")
}

/// Returns the OSC 52 sequence that copies `text`, and true if all of it fits.
pub(super) fn clipboard_sequence_and_completeness(text: &str) -> (String, bool) {
    let end = text.floor_char_boundary(CLIPBOARD_BYTES_MAX);
    (format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(&text[..end])), end == text.len())
}
