//! The one place that hides: separates markup and what it wraps from visible text.
//!
//! Does: hold back exactly what may still become a tag, whatever the chunk boundaries; leave tags
//! in code alone; keep every byte, hidden or not, in some [`Piece`].
//! Does not: trim, edit or reorder anything.
//!
//! Invariant: the pieces of a message, joined, are its text; each byte is in exactly one piece.

mod inline;
mod markdown;
mod tag;

use std::sync::Arc;

use crate::event::MarkupClass;
use crate::limits::HELD_BYTES_MAX;

use inline::{Inline, InlineStep};
use markdown::{Fence, FenceStep, Found, LineStart};
pub use tag::{BadTagLine, Class, TagTable};
use tag::{Form, Step, Tag, TagScan};

/// What a stretch of text turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Visible(&'a str),
    /// Text between hidden tags.
    Inside(Class, &'a str),
    /// A tag itself.
    Markup(MarkupClass, &'a str),
}

/// Where a text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartsIn {
    #[default]
    Text,
    /// The prompt already opened the reasoning tag, as some chat templates do.
    Thinking,
}

#[derive(Clone, Debug, PartialEq)]
enum Mode {
    /// At the start of a line, as `line` tells.
    Line,
    Text,
    /// After a backslash.
    Escape,
    /// Counting back-ticks that may open inline code.
    Ticks {
        len: usize,
    },
    /// After back-ticks that may open inline code; a tag met here is held.
    Inline(Inline),
    Indented,
    Fence(Fence),
    Hidden {
        class: Class,
        depth: usize,
        back_to_line: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    table: Arc<TagTable>,
    starts_in: StartsIn,
    mode: Mode,
    line: LineStart,
    /// A tag in the making; its text is `held`.
    tag: Option<TagScan>,
    /// What is not yet decided: the beginning of a tag, or a whole one that may stand in code.
    held: String,
}

/// How far a text has been read.
struct Place {
    at: usize,
    /// Up to here it has been handed on.
    emitted: usize,
    /// From here on it may be a tag, or stand in code.
    undecided: Option<usize>,
}

/// Bytes that matter in the middle of a line of text; all others are passed over.
const fn interrupts_text(byte: u8) -> bool {
    matches!(byte, b'<' | b'`' | b'\n' | b'\\')
}

impl Filter {
    pub fn new(table: Arc<TagTable>, starts_in: StartsIn) -> Filter {
        let mut filter = Filter {
            table,
            starts_in,
            mode: Mode::Line,
            line: LineStart::new(),
            tag: None,
            held: String::new(),
        };
        filter.begin_round();
        filter
    }

    /// One with the same table, outside of everything.
    #[must_use]
    pub fn fresh(&self) -> Filter {
        Filter::new(Arc::clone(&self.table), StartsIn::Text)
    }

    /// Bytes held back because they may be markup.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        if !self.held.is_empty() {
            let mut joined = std::mem::take(&mut self.held);
            let from = joined.len();
            joined.push_str(text);
            self.read(&joined, from, out);
        } else if matches!(self.mode, Mode::Text) && !text.bytes().any(interrupts_text) {
            out_visible(text, out);
        } else {
            self.read(text, 0, out);
        }
    }

    /// Reads `text` from `from` on, and again what turned out otherwise than it looked.
    fn read(&mut self, text: &str, from: usize, out: &mut impl FnMut(Piece<'_>)) {
        let mut rest = text;
        let mut again = self.scan(rest, from, out);
        while let Some(at) = again {
            rest = &rest[at..];
            again = self.scan(rest, 0, out);
        }
    }

    /// The message is over: what is held is decided. Hidden text that is still open stays open,
    /// because a step may interrupt it.
    pub fn end_message(&mut self, out: &mut impl FnMut(Piece<'_>)) {
        while let Mode::Inline(inline) = &self.mode
            && inline.holds()
        {
            let held = std::mem::take(&mut self.held);
            let end = inline.at_end(&held).unwrap_or(0);
            out_visible(&held[..end], out);
            self.mode = Mode::Text;
            self.read(&held[end..], 0, out);
        }
        self.tag = None;
        let held = std::mem::take(&mut self.held);
        self.emit(&held, out);
        if !matches!(self.mode, Mode::Hidden { .. }) {
            self.mode = Mode::Line;
        }
        self.line = LineStart::new();
    }

    /// A new reply begins: nothing of the last one matters.
    pub fn begin_round(&mut self) {
        self.held.clear();
        self.tag = None;
        self.line = LineStart::new();
        self.mode = match self.starts_in {
            StartsIn::Text => Mode::Line,
            StartsIn::Thinking => {
                Mode::Hidden { class: Class::Reasoning, depth: 1, back_to_line: true }
            }
        };
    }

    /// Reads `text` from `from` on; what is before was read when it was held. Returns from where it
    /// has to be read again because what it was turned out otherwise.
    fn scan(&mut self, text: &str, from: usize, out: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        let undecided = (0 < from).then_some(0);
        let mut place = Place { at: from, emitted: 0, undecided };
        while place.at < text.len() {
            match (&self.tag, &self.mode) {
                (Some(_), _) => self.step_tag(text, &mut place, out),
                (None, Mode::Inline(_)) => {
                    if let Some(again_from) = self.step_inline(text, &mut place) {
                        self.emit(&text[place.emitted..again_from], out);
                        self.mode = Mode::Text;
                        return Some(again_from);
                    }
                }
                (None, _) => {
                    place.at = self.step(text.as_bytes(), place.at);
                    if self.tag.is_some() {
                        place.undecided = Some(place.at - 1);
                    }
                }
            }
        }
        let end = place.undecided.unwrap_or(text.len());
        self.emit(&text[place.emitted..end], out);
        self.held.push_str(&text[end..]);
        None
    }

    /// Reads one more byte of what may be a tag.
    fn step_tag(&mut self, text: &str, place: &mut Place, out: &mut impl FnMut(Piece<'_>)) {
        let (Some(tag), Some(begin)) = (&mut self.tag, place.undecided) else {
            return;
        };
        match tag.step(text.as_bytes()[place.at], &self.table) {
            Step::More => place.at += 1,
            Step::NotATag => {
                self.tag = None;
                self.lone_bracket();
                place.undecided = None;
                place.at = begin + 1;
            }
            Step::Tag(tag) => {
                self.tag = None;
                place.at += 1;
                if let Mode::Inline(inline) = &mut self.mode {
                    inline.hold();
                } else {
                    self.emit(&text[place.emitted..begin], out);
                    self.apply(tag, &text[begin..place.at], out);
                    place.undecided = None;
                    place.emitted = place.at;
                }
            }
        }
    }

    /// Reads one more byte of what may be inline code. Returns from where to read again, if what
    /// was held turned out to be no code, or only its beginning.
    fn step_inline(&mut self, text: &str, place: &mut Place) -> Option<usize> {
        let Mode::Inline(inline) = &mut self.mode else {
            return None;
        };
        match inline.step(text.as_bytes()[place.at], &mut self.line) {
            InlineStep::Consumed => place.at += 1,
            InlineStep::TagBegins => {
                self.tag = Some(TagScan::new());
                place.undecided = Some(place.at);
                place.at += 1;
            }
            InlineStep::Code { next } => {
                place.undecided = None;
                self.mode = next.into();
            }
            InlineStep::NotCode { .. } | InlineStep::ParagraphEnded
                if let Some(begin) = place.undecided =>
            {
                let held = &text[begin..place.at];
                let paragraph = held.rfind('\n').map_or(held, |end| &held[..end]);
                return Some(begin + inline.code_end(paragraph).unwrap_or(0));
            }
            InlineStep::NotCode { next } => self.mode = next.into(),
            InlineStep::ParagraphEnded => {
                self.mode = Mode::Line;
                place.at += 1;
            }
        }
        let begin = place.undecided.filter(|_| self.tag.is_none())?;
        (HELD_BYTES_MAX < place.at - begin).then_some(begin)
    }

    /// Reads one byte, or a stretch that does not matter. Leaves the byte where it is when only
    /// the mode had to change first.
    fn step(&mut self, bytes: &[u8], at: usize) -> usize {
        let byte = bytes[at];
        match &mut self.mode {
            Mode::Text => match byte {
                b'<' => self.tag = Some(TagScan::new()),
                b'`' => self.mode = Mode::Ticks { len: 1 },
                b'\\' => self.mode = Mode::Escape,
                b'\n' => {
                    self.line.after_text();
                    self.mode = Mode::Line;
                }
                _ => {
                    let rest = &bytes[at..];
                    let plain = rest.iter().position(|&byte| interrupts_text(byte));
                    return at + plain.unwrap_or(rest.len());
                }
            },
            Mode::Escape => {
                self.mode = Mode::Text;
                // Marks lose their meaning, but for tags: one after a backslash is still hidden.
                let escaped = byte.is_ascii_punctuation() && byte != b'<';
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
                step => {
                    self.line.after_fence();
                    self.mode = Mode::Line;
                    return if step == FenceStep::Left { at } else { at + 1 };
                }
            },
            Mode::Hidden { .. } => {
                if byte == b'<' {
                    self.tag = Some(TagScan::new());
                } else {
                    let rest = &bytes[at..];
                    return at + memchr::memchr(b'<', rest).unwrap_or(rest.len());
                }
            }
            Mode::Inline(_) => {}
        }
        at + 1
    }

    fn step_line(&mut self, byte: u8, at: usize) -> usize {
        match self.line.step(byte) {
            Found::More | Found::Blank => at + 1,
            Found::Text if byte == b'<' => {
                self.tag = Some(TagScan::new());
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

    /// A `<` that begins no tag is text.
    fn lone_bracket(&mut self) {
        match &mut self.mode {
            Mode::Line => self.mode = Mode::Text,
            Mode::Inline(inline) => inline.passed_text(),
            _ => {}
        }
    }

    fn apply(&mut self, tag: Tag, raw: &str, out: &mut impl FnMut(Piece<'_>)) {
        if let Mode::Hidden { class, depth, back_to_line } = self.mode {
            let depth = match tag.form {
                _ if tag.class != class => depth,
                Form::Open => depth + 1,
                Form::Close => depth - 1,
                Form::SelfClosing => depth,
            };
            if depth == 0 {
                out(Piece::Markup(markup(class), raw));
                self.mode = if back_to_line { Mode::Line } else { Mode::Text };
            } else {
                out(Piece::Inside(class, raw));
                self.mode = Mode::Hidden { class, depth, back_to_line };
            }
            return;
        }
        let back_to_line = matches!(self.mode, Mode::Line);
        match (tag.class, tag.form) {
            (Class::Unwrapped, _) => out(Piece::Markup(MarkupClass::Unwrapped, raw)),
            (_, Form::Close) => out(Piece::Markup(MarkupClass::Stray, raw)),
            (class, Form::SelfClosing) => out(Piece::Markup(markup(class), raw)),
            (class, Form::Open) => {
                out(Piece::Markup(markup(class), raw));
                self.mode = Mode::Hidden { class, depth: 1, back_to_line };
            }
        }
    }

    fn emit(&self, text: &str, out: &mut impl FnMut(Piece<'_>)) {
        match self.mode {
            Mode::Hidden { class, .. } if !text.is_empty() => out(Piece::Inside(class, text)),
            _ => out_visible(text, out),
        }
    }
}

fn out_visible(text: &str, out: &mut impl FnMut(Piece<'_>)) {
    if !text.is_empty() {
        out(Piece::Visible(text));
    }
}

fn markup(class: Class) -> MarkupClass {
    match class {
        Class::Reasoning => MarkupClass::Reasoning,
        Class::Tool => MarkupClass::Tool,
        Class::Unwrapped => MarkupClass::Unwrapped,
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

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
