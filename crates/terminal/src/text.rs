//! Text from outside, made harmless: what could command a terminal is shown, not obeyed.
//!
//! Invariant: what comes out holds no control character but `\n` and `\t`, and no character that
//! changes the direction of what follows it; the rest is as it was.

mod cluster;

use std::borrow::Cow;

pub(crate) use cluster::TAB_COLS;
pub use cluster::{Cluster, clusters, width};

/// Neutralises text as it arrives; chunk boundaries do not show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neutraliser {
    /// The last character was a return: a line feed belongs to the same line end.
    returned: bool,
}

impl Neutraliser {
    /// Appends `text` to `out`, without its powers.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for char in text.chars() {
            let after_return = std::mem::replace(&mut self.returned, char == '\r');
            match char {
                '\n' if after_return => {}
                '\r' => out.push('\n'),
                '\n' | '\t' => out.push(char),
                _ => push_harmless(char, out),
            }
        }
    }
}

/// The whole of a text, on as many lines as it has.
pub fn neutralised(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    Neutraliser::default().push(text, &mut out);
    out
}

/// The text of one row: line ends are shown too. Most text is returned as it is.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_neutral) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(neutralised(text).replace('\n', "␊"))
}

/// The same on one line: a title, a tool's name, an error beside other things.
pub fn one_line(text: &str) -> String {
    neutralised(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// For what a person is asked to approve: nothing in it is invisible.
pub fn spelled_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in neutralised(text).chars() {
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
        code => code >= 0xa0 && !is_separator_or_direction(code),
    }
}

/// Embeddings, overrides and isolates reorder what stands around them; line and paragraph
/// separators end lines where no line ends. Marks (LRM, RLM) reorder nothing but neighbours.
fn is_separator_or_direction(code: u32) -> bool {
    matches!(code, 0x2028..=0x202e | 0x2066..=0x2069)
}

fn push_harmless(char: char, out: &mut String) {
    match u32::from(char) {
        code @ 0..0x20 => out.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
        0x7f => out.push('\u{2421}'),
        0x80..0xa0 => out.push('\u{fffd}'),
        code if is_separator_or_direction(code) => out.extend(char.escape_unicode()),
        _ => out.push(char),
    }
}

/// Characters that take part in deceptions because nobody sees them.
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
        assert_eq!(neutralised(input), expected);
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
        assert_eq!(spelled_out("rm\u{200b} \u{e0041}x"), "rm\\u{200b} \\u{e0041}x");
    }
}
