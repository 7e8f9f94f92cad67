//! Scan mode of the filter outside tags and words, advanced byte by byte.
//!
//! Does: track code, line starts and hidden text, and detect where a tag or word may begin.
//! Does not: hold or emit text.

use crate::markdown::Found;

use super::inline::{self, PossibleInlineCode};
use super::tag::{TagClass, TagScanner};
use super::{Filter, MarkupCandidate};

/// Kind of text that the filter is in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ScanMode {
    /// At the start of a line; `Filter::blocks` has the details.
    LineStart,
    /// In the middle of a line.
    Text,
    /// After a backslash.
    Escape,
    /// In back-ticks that may open inline code.
    Backticks { len: usize },
    /// After back-ticks that may have opened inline code; a tag or word here is held.
    InlineCode(PossibleInlineCode),
    /// In a line of a code block.
    Code,
    /// Inside a hidden tag.
    Hidden { class: TagClass, depth: usize, resume_at_line_start: bool },
}

/// Bytes that change the mode in the middle of a line, by value: a lookup is cheaper than
/// comparisons.
static IS_TEXT_DELIMITER: [bool; 256] = {
    let mut delimiters = [false; 256];
    let marks = b"<`\n\\|";
    let mut at = 0;
    while at < marks.len() {
        delimiters[marks[at] as usize] = true;
        at += 1;
    }
    delimiters
};

fn is_text_delimiter(byte: u8) -> bool {
    IS_TEXT_DELIMITER[usize::from(byte)]
}

impl Filter {
    /// Scans one byte, or a run of plain text. Returns the next offset, which is `at` if only the
    /// mode changed.
    pub(super) fn scan_byte_or_plain_run(&mut self, bytes: &[u8], at: usize) -> usize {
        let byte = bytes[at];
        match &mut self.mode {
            ScanMode::LineStart => return self.scan_line_start(bytes, at),
            ScanMode::Text => return self.scan_mid_line_byte_or_run(bytes, at),
            ScanMode::Escape => {
                self.mode = ScanMode::Text;
                // A backslash escapes punctuation, but tags and words after one are still hidden.
                let hides = byte == b'<' || self.control_words.can_begin_with(byte);
                let escaped = byte.is_ascii_punctuation() && !hides;
                if !escaped {
                    return at;
                }
                self.blocks.push_text_byte_if_decided(byte);
            }
            ScanMode::Backticks { len } if byte == b'`' => *len += 1,
            ScanMode::Backticks { len } => {
                self.mode = ScanMode::InlineCode(PossibleInlineCode::new(*len));
                return at;
            }
            ScanMode::Code => {
                let rest = &bytes[at..];
                let Some(end) = memchr::memchr(b'\n', rest) else { return bytes.len() };
                self.blocks.push_undecided_or_line_end_byte(b'\n');
                self.mode = ScanMode::LineStart;
                return at + end + 1;
            }
            ScanMode::Hidden { .. } => {
                if byte == b'<' {
                    self.candidate = Some(MarkupCandidate::Tag(TagScanner::new()));
                } else {
                    let rest = &bytes[at..];
                    return at + memchr::memchr(b'<', rest).unwrap_or(rest.len());
                }
            }
            ScanMode::InlineCode(_) => {}
        }
        at + 1
    }

    /// Scans one byte in the middle of a line, or the plain text up to the next delimiter. Returns
    /// the next offset.
    fn scan_mid_line_byte_or_run(&mut self, bytes: &[u8], at: usize) -> usize {
        let byte = bytes[at];
        match byte {
            b'<' => self.candidate = Some(MarkupCandidate::Tag(TagScanner::new())),
            b'\n' => {
                self.blocks.end_line_and_default_to_text();
                self.mode = ScanMode::LineStart;
            }
            _ if self.control_words.can_begin_with(byte) => {
                self.candidate = Some(MarkupCandidate::ControlWord);
            }
            b'`' | b'\\' | b'|' => {
                self.blocks.push_text_byte_if_decided(byte);
                self.mode = match byte {
                    b'`' => ScanMode::Backticks { len: 1 },
                    b'\\' => ScanMode::Escape,
                    _ => ScanMode::Text,
                };
            }
            _ => {
                let len = self.plain_text_len(&bytes[at..]);
                self.blocks.push_plain_text(&bytes[at..at + len]);
                return at + len;
            }
        }
        at + 1
    }

    /// Length of the plain text up to the next delimiter or possible word.
    pub(super) fn plain_text_len(&self, bytes: &[u8]) -> usize {
        let plain = if self.control_words.is_empty() {
            bytes.iter().position(|&byte| is_text_delimiter(byte))
        } else {
            bytes.iter().position(|&byte| {
                is_text_delimiter(byte) || self.control_words.can_begin_with(byte)
            })
        };
        plain.unwrap_or(bytes.len())
    }

    /// Scans the start of a line until its kind is decided or a tag or control word may begin.
    /// Returns the next offset.
    fn scan_line_start(&mut self, bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            if byte == b'<' || self.control_words.can_begin_with(byte) {
                return self.start_candidate_unless_code(byte, at);
            }
            at = self.advance_line_start(byte, at);
            if !matches!(self.mode, ScanMode::LineStart) {
                break;
            }
        }
        at
    }

    /// Starts a tag or control word at the start of a line, unless `byte` belongs to a code block.
    /// Returns the next offset. A word may begin with a Markdown marker.
    fn start_candidate_unless_code(&mut self, byte: u8, at: usize) -> usize {
        let mut ahead = self.blocks.clone();
        let may_hide = match ahead.push_undecided_or_line_end_byte(byte) {
            Found::More => !ahead.is_in_code(),
            Found::Line(kind) => kind.can_have_inline_markup(),
            Found::Ticks { .. } => false,
        };
        if may_hide {
            let tag = byte == b'<';
            self.candidate = Some(if tag {
                MarkupCandidate::Tag(TagScanner::new())
            } else {
                MarkupCandidate::ControlWord
            });
            return at + 1;
        }
        self.advance_line_start(byte, at)
    }

    /// Advances the line start by one byte, ignoring control words. Returns the next offset.
    pub(super) fn advance_line_start(&mut self, byte: u8, at: usize) -> usize {
        let next = match self.blocks.push_undecided_or_line_end_byte(byte) {
            Found::More => return at + 1,
            Found::Ticks { len } => ScanMode::InlineCode(
                PossibleInlineCode::new_after_line_start_ticks(len, &self.blocks),
            ),
            // The next line begins.
            Found::Line(_) if byte == b'\n' => return at + 1,
            Found::Line(kind) if kind.can_have_inline_markup() => ScanMode::Text,
            Found::Line(_) => ScanMode::Code,
        };
        self.mode = next;
        if byte == b'\n' { at + 1 } else { at }
    }
}

impl From<inline::Next> for ScanMode {
    fn from(next: inline::Next) -> ScanMode {
        match next {
            inline::Next::Text => ScanMode::Text,
            inline::Next::Code => ScanMode::Code,
            inline::Next::Ticks(inline) => ScanMode::InlineCode(inline),
        }
    }
}
