//! One byte at a time, outside of tags and words: what it makes of the place it stands in.
//!
//! Does: follow code, lines and hidden text, and see where a tag or a word may begin.
//! Does not: hold or hand on anything.

use super::fence::{Fence, FenceStep};
use super::inline::{self, Inline};
use super::markdown::Found;
use super::tag::{Class, TagScan};
use super::{Filter, Mark};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mode {
    /// At the start of a line, as `line` tells.
    Line,
    Text,
    /// After a backslash.
    Escape,
    /// Counting back-ticks that may open inline code.
    Ticks {
        len: usize,
    },
    /// After back-ticks that may open inline code; a tag or word met here is held.
    Inline(Inline),
    Indented,
    Fence(Fence),
    Hidden {
        class: Class,
        depth: usize,
        back_to_line: bool,
    },
}

/// Bytes that matter in the middle of a line of text; all others are passed over.
const fn interrupts_text(byte: u8) -> bool {
    matches!(byte, b'<' | b'`' | b'\n' | b'\\')
}

impl Filter {
    /// Reads one byte, or a stretch that does not matter. Leaves the byte where it is when only
    /// the mode had to change first.
    pub(super) fn step(&mut self, bytes: &[u8], at: usize) -> usize {
        let byte = bytes[at];
        match &mut self.mode {
            Mode::Text => match byte {
                b'<' => self.mark = Some(Mark::Tag(TagScan::new())),
                b'`' => self.mode = Mode::Ticks { len: 1 },
                b'\\' => self.mode = Mode::Escape,
                b'\n' => {
                    self.line.after_text();
                    self.mode = Mode::Line;
                }
                _ if self.words.may_begin(byte) => self.mark = Some(Mark::Word),
                _ => return at + self.plain_len(&bytes[at..]),
            },
            Mode::Escape => {
                self.mode = Mode::Text;
                // Marks lose their meaning, but for tags and words: one after a backslash is still
                // hidden.
                let hides = byte == b'<' || self.words.may_begin(byte);
                let escaped = byte.is_ascii_punctuation() && !hides;
                return if escaped { at + 1 } else { at };
            }
            Mode::Ticks { len } if byte == b'`' => *len += 1,
            Mode::Ticks { len } => {
                self.mode = Mode::Inline(Inline::new(*len));
                return at;
            }
            Mode::Line => return self.step_line(byte, at),
            Mode::Indented => {
                if byte == b'\n' {
                    self.line.after_indented();
                    self.mode = Mode::Line;
                }
            }
            Mode::Fence(fence) => match fence.step(byte) {
                FenceStep::Inside => {}
                FenceStep::Ended => {
                    self.line.after_fence();
                    self.mode = Mode::Line;
                    return at;
                }
            },
            Mode::Hidden { .. } => {
                if byte == b'<' {
                    self.mark = Some(Mark::Tag(TagScan::new()));
                } else {
                    let rest = &bytes[at..];
                    return at + memchr::memchr(b'<', rest).unwrap_or(rest.len());
                }
            }
            Mode::Inline(_) => {}
        }
        at + 1
    }

    /// Text that matters to nobody here, up to the next byte that may.
    pub(super) fn plain_len(&self, bytes: &[u8]) -> usize {
        let plain = if self.words.is_empty() {
            bytes.iter().position(|&byte| interrupts_text(byte))
        } else {
            bytes.iter().position(|&byte| interrupts_text(byte) || self.words.may_begin(byte))
        };
        plain.unwrap_or(bytes.len())
    }

    fn step_line(&mut self, byte: u8, at: usize) -> usize {
        // A word may begin with a mark that means something to a line.
        if self.words.may_begin(byte)
            && matches!(self.line.clone().step(byte), Found::More | Found::Text)
        {
            self.mark = Some(Mark::Word);
            return at + 1;
        }
        self.go_on_with_line(byte, at)
    }

    pub(super) fn go_on_with_line(&mut self, byte: u8, at: usize) -> usize {
        match self.line.step(byte) {
            Found::More | Found::Blank => at + 1,
            Found::Text if byte == b'<' => {
                self.mark = Some(Mark::Tag(TagScan::new()));
                at + 1
            }
            Found::Text => {
                self.mode = Mode::Text;
                at
            }
            Found::Indented => {
                self.mode = Mode::Indented;
                at
            }
            Found::Fence(fence) => {
                self.mode = Mode::Fence(fence);
                at
            }
            Found::Ticks { len, fence } => {
                self.mode = Mode::Inline(Inline::at_line_start(len, fence));
                at
            }
        }
    }
}

impl From<inline::Next> for Mode {
    fn from(next: inline::Next) -> Mode {
        match next {
            inline::Next::Text => Mode::Text,
            inline::Next::Fence(fence) => Mode::Fence(fence),
            inline::Next::Ticks { len, fence } => Mode::Inline(Inline::at_line_start(len, fence)),
        }
    }
}
