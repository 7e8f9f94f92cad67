//! What is said to the terminal beside the screen: a word to another window, a text to the clipboard.

use std::io::{Write, stdout};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::text::one_line;

/// Bytes that terminals take for their clipboard.
const COPY_BYTES_MAX: usize = 70_000;

/// For whoever looks elsewhere.
pub(super) fn notify(words: &str) {
    say(&format!("\x1b]9;Millpond: {}\x1b\\", one_line(words).replace(';', ",")));
}

/// Says whether all of it went, as far as the terminal lets anybody copy.
pub(super) fn copy(text: &str) -> bool {
    let end = text.floor_char_boundary(COPY_BYTES_MAX);
    say(&format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(&text[..end])));
    end == text.len()
}

fn say(sequence: &str) {
    let mut out = stdout();
    // A terminal that is gone takes no words.
    let _gone = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
}
