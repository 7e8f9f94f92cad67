//! Neutralisation of untrusted text: control characters become visible symbols.
//!
//! Invariant: the result contains no control character except `\n` and `\t`, and no bidi control;
//! all other text is unchanged.

mod cluster;

use std::borrow::Cow;

pub(crate) use cluster::TAB_COLS;
pub use cluster::{Cluster, clusters, text_width};

/// Neutralises text incrementally; chunk boundaries do not show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neutraliser {
    /// The last character was `\r`: a following `\n` belongs to the same line end.
    after_carriage_return: bool,
}

impl Neutraliser {
    /// Appends `text` to `out`, neutralised.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for char in text.chars() {
            let after_return = std::mem::replace(&mut self.after_carriage_return, char == '\r');
            match char {
                '\n' if after_return => {}
                '\r' => out.push('\n'),
                '\n' | '\t' => out.push(char),
                _ => push_neutralised(char, out),
            }
        }
    }
}

/// Neutralises a whole text, keeping its lines.
pub fn neutralise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    Neutraliser::default().push(text, &mut out);
    out
}

/// Neutralises the text of a row; line ends become symbols too. Borrows if nothing changes.
pub(crate) fn neutralise_row_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_neutral) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(neutralise(text).replace('\n', "␊"))
}

/// Neutralises a title, name or error and collapses its white space into one line.
pub fn neutralise_to_one_line(text: &str) -> String {
    neutralise(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Neutralises text that the user is asked to approve, with invisible characters escaped.
pub fn neutralise_and_escape_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in neutralise(text).chars() {
        if is_invisible(char) {
            out.extend(char.escape_unicode());
        } else {
            out.push(char);
        }
    }
    out
}

fn is_neutral(char: char) -> bool {
    match u32::from(char) {
        0x09 | 0x20..0x7f => true,
        code => code >= 0xa0 && !is_line_separator_or_explicit_bidi(code),
    }
}

/// Embeddings, overrides and isolates reorder the text around them; line and paragraph separators
/// break lines unexpectedly. Marks (LRM, RLM) only affect their neighbours and are allowed.
fn is_line_separator_or_explicit_bidi(code: u32) -> bool {
    matches!(code, 0x2028..=0x202e | 0x2066..=0x2069)
}

fn push_neutralised(char: char, out: &mut String) {
    match u32::from(char) {
        code @ 0..0x20 => out.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
        0x7f => out.push('\u{2421}'),
        0x80..0xa0 => out.push('\u{fffd}'),
        code if is_line_separator_or_explicit_bidi(code) => out.extend(char.escape_unicode()),
        _ => out.push(char),
    }
}

/// Returns true for invisible characters, which can disguise a command.
fn is_invisible(char: char) -> bool {
    matches!(u32::from(char),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
        | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0xe000..=0xf8ff | 0xe0000..=0xe0fff | 0xf0000..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        assert_eq!(neutralise(input), expected);
        let mut out = String::new();
        let mut one_by_one = Neutraliser::default();
        for char in input.chars() {
            one_by_one.push(char.encode_utf8(&mut [0; 4]), &mut out);
        }
        assert_eq!(out, expected, "character by character");
    }

    #[test]
    fn escape_sequences_are_shown() {
        check("a\x1b[2Jb\x07\u{9b}c\x7f\n\td", "a␛[2Jb␇\u{fffd}c␡\n\td");
    }

    #[test]
    fn every_line_end_is_one_line_end() {
        check("a\r\nb\rc\n\rd\r\r\n", "a\nb\nc\n\nd\n\n");
    }

    #[test]
    fn overrides_are_shown_and_right_to_left_text_is_left_alone() {
        check("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}");
        check("שלום \u{200f}عربى", "שלום \u{200f}عربى");
    }

    #[test]
    fn nothing_to_approve_is_invisible() {
        assert_eq!(
            neutralise_and_escape_invisible("rm\u{200b} \u{e0041}x"),
            "rm\\u{200b} \\u{e0041}x"
        );
    }
}
