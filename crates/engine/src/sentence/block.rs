//! The blocks of a message: which line belongs to which, and what ends before it.
//!
//! Does: read a message character by character and say what each means for those before it.
//! Does not: keep text; what it asks to hold is given back to it.

use crate::limits::SENTENCE_HELD_BYTES_MAX;

use super::fence::{Fence, FenceStep};
use super::line::{Around, Found, LineStart};
use super::marker::NextMarker;
use super::prose::{Prose, Verdict};

/// What the current line belongs to.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    /// Nothing: whatever comes is a new piece.
    None,
    Paragraph(Prose),
    Item(Option<NextMarker>),
    Heading,
    /// A rule, an underline or, if it has bars, the second line of a table.
    Rule {
        bars: bool,
    },
    /// Its lines begin with bars, or with anything.
    Table {
        bars: bool,
    },
    Indented,
    Fence(Fence),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocks {
    block: Block,
    /// The start of the line, while it is read.
    line: Option<LineStart>,
    /// The open piece has more than white space and markers.
    filled: bool,
    /// Blank lines came since `block`.
    blank: bool,
    /// The last line was in a quotation.
    quoted: bool,
    /// Column at which the content of the innermost list item begins.
    base: usize,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks {
            block: Block::None,
            line: Some(LineStart::new()),
            filled: false,
            blank: false,
            quoted: false,
            base: 0,
        }
    }

    /// Reads `c`; `held` is what it asked to hold before.
    pub(super) fn read(&mut self, c: char, held: &str) -> Verdict {
        if !held.is_empty() && SENTENCE_HELD_BYTES_MAX < held.len() + c.len_utf8() {
            return self.give_up(c, held);
        }
        if self.line.is_some() { self.line_start(c, held) } else { self.in_line(c, held) }
    }

    /// Reads what a text begins with as far as it says nothing about what is before it: plain words
    /// of a paragraph, the rest of a line of another block. Says how many bytes that is.
    pub(super) fn skip(&mut self, text: &str) -> usize {
        if self.line.is_some() {
            return 0;
        }
        let len = match &mut self.block {
            Block::Paragraph(prose) => prose.skip_words(text),
            Block::Fence(fence) => return if fence.is_in_code() { line_len(text) } else { 0 },
            Block::Heading | Block::Table { .. } | Block::Indented | Block::Item(None) => {
                line_len(text)
            }
            Block::None | Block::Rule { .. } | Block::Item(Some(_)) => 0,
        };
        self.filled |= !text[..len].trim_start().is_empty();
        len
    }

    /// The message is over: whether a piece ends before what is held.
    pub(super) fn finish(&mut self, held: &str) -> Verdict {
        if self.line.is_some() { self.text('\n') } else { self.in_line('\n', held) }
    }

    /// As much is held as may be: no piece ends before it.
    fn give_up(&mut self, c: char, held: &str) -> Verdict {
        match &mut self.block {
            Block::Paragraph(prose) if self.line.is_some() => {
                prose.forget_stop();
                self.text(c)
            }
            Block::Paragraph(prose) => prose.give_up(c, held),
            _ => Verdict::Pass,
        }
    }

    /// The open piece is over, if there is anything in it.
    fn break_piece(&mut self) -> Verdict {
        if std::mem::take(&mut self.filled) { Verdict::Break } else { Verdict::Pass }
    }

    fn in_line(&mut self, c: char, held: &str) -> Verdict {
        let mut verdict = Verdict::Pass;
        match &mut self.block {
            Block::Paragraph(prose) => verdict = prose.step(c, held),
            Block::Item(Some(next)) => {
                verdict = next.step(c);
                if verdict == Verdict::Break {
                    return self.break_piece();
                }
            }
            Block::Rule { bars } => *bars |= c == '|',
            Block::Fence(fence) => match fence.step(c) {
                FenceStep::Inside => return Verdict::Pass,
                FenceStep::Closed => self.block = Block::None,
                FenceStep::Left => {
                    self.block = Block::None;
                    self.begin_line();
                    return self.line_start(c, held);
                }
                FenceStep::Inline { len } => {
                    let mut prose = Prose::in_code(len);
                    prose.step(c, "");
                    self.block = Block::Paragraph(prose);
                }
            },
            _ => {}
        }
        if verdict == Verdict::Pass {
            self.filled |= !c.is_whitespace();
        }
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    fn end_line(&mut self) {
        match self.block {
            Block::Rule { bars: true } => self.block = Block::Table { bars: false },
            Block::Rule { bars: false } | Block::Heading => self.block = Block::None,
            _ => {}
        }
        self.begin_line();
    }

    fn begin_line(&mut self) {
        self.line = Some(LineStart::new());
    }

    fn line_start(&mut self, c: char, held: &str) -> Verdict {
        let Some(mut line) = self.line.take() else { return Verdict::Pass };
        let mut verdict = Verdict::Pass;
        if line.is_untouched() && !c.is_whitespace() {
            if self.surely_ended(c, line.columns()) {
                verdict = self.break_piece();
                self.block = Block::None;
            }
            line.settled = !self.filled;
            self.blank = false;
        }
        let around = Around {
            paragraph: matches!(self.block, Block::Paragraph(_) | Block::Item(_)),
            item: matches!(self.block, Block::Item(_)),
            base: self.base,
        };
        let found = line.step(c, around);
        self.line = Some(line);
        match self.found(found, c, held) {
            Verdict::Pass => verdict,
            other => other,
        }
    }

    /// Whether what was open is over, now that a line begins with `c`.
    fn surely_ended(&self, c: char, columns: usize) -> bool {
        let is_code = self.base + 4 <= columns;
        if self.blank {
            return !(is_code && self.block == Block::Indented);
        }
        let other_quotation = self.quoted != (c == '>');
        match self.block {
            Block::None | Block::Heading | Block::Rule { .. } => true,
            Block::Paragraph(_) | Block::Table { bars: false } => other_quotation,
            Block::Item(_) => other_quotation || columns == 0 && c != '>',
            Block::Table { bars: true } => other_quotation || !matches!(c, '|' | '>'),
            Block::Indented => !is_code,
            Block::Fence(_) => false,
        }
    }

    fn found(&mut self, found: Found, c: char, held: &str) -> Verdict {
        let Some(line) = &mut self.line else { return Verdict::Pass };
        let (columns, quoted) = (line.columns(), line.is_quoted());
        let block = match found {
            Found::More if line.settled => return Verdict::Pass,
            Found::More if c.is_whitespace() && held.is_empty() => return Verdict::Pass,
            Found::More => return Verdict::Hold,
            Found::Blank => {
                self.blank = !line.is_in_item();
                self.quoted = quoted;
                self.begin_line();
                return Verdict::Pass;
            }
            Found::Text => return self.text(c),
            Found::Item => return self.item(c),
            Found::Underline => {
                self.block = Block::Rule { bars: false };
                self.line = None;
                return Verdict::Pass;
            }
            Found::Table if matches!(self.block, Block::Table { .. }) => {
                self.line = None;
                return Verdict::Pass;
            }
            Found::Indented if self.block == Block::Indented => {
                self.line = None;
                return Verdict::Pass;
            }
            Found::Indented => Block::Indented,
            Found::Heading => Block::Heading,
            Found::Fence { mark } => Block::Fence(Fence::new(mark, 3, quoted)),
            Found::Table => Block::Table { bars: true },
            Found::Rule => Block::Rule { bars: false },
        };
        if !line.is_in_item() {
            self.base = self.base.min(columns);
        }
        let settled = line.settled;
        self.line = None;
        self.quoted = quoted;
        self.block = block;
        let verdict = if settled { Verdict::Pass } else { self.break_piece() };
        self.filled = true;
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    /// An item's marker ended with `c`.
    fn item(&mut self, c: char) -> Verdict {
        let Some(line) = &mut self.line else { return Verdict::Pass };
        let mut marker = line.take_read();
        if !c.is_whitespace() {
            marker.push(c);
        }
        self.quoted = line.is_quoted();
        let width = line.columns() + marker.len() + 1;
        if line.is_in_item() {
            self.base += width;
        } else {
            self.base = width;
            self.block = Block::Item(NextMarker::after(&marker));
        }
        let settled = line.settled;
        line.after_item();
        let verdict = if settled { Verdict::Pass } else { self.break_piece() };
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    /// The line is text, from what was read of it on.
    fn text(&mut self, c: char) -> Verdict {
        let Some(mut line) = self.line.take() else { return Verdict::Pass };
        self.quoted = line.is_quoted();
        let read = line.take_read();
        let mut verdict = Verdict::Pass;
        if matches!(self.block, Block::Table { bars: true }) {
            verdict = self.break_piece();
            self.block = Block::None;
        }
        if !matches!(self.block, Block::Paragraph(_) | Block::Item(_) | Block::Table { .. }) {
            self.base = self.base.min(line.columns());
            self.block = Block::Paragraph(Prose::new());
        }
        // What prose asked to hold of it.
        let mut held = String::new();
        for c in read.chars().chain([c]) {
            let read = match &mut self.block {
                Block::Paragraph(prose) => prose.step(c, &held),
                Block::Item(Some(next)) => next.step(c),
                _ => Verdict::Pass,
            };
            match read {
                Verdict::Hold => held.push(c),
                Verdict::Pass | Verdict::Break => held.clear(),
            }
            verdict = match (verdict, read) {
                (Verdict::Break, _) => Verdict::Break,
                (_, read) => read,
            };
        }
        self.filled = true;
        if c == '\n' {
            self.end_line();
        }
        verdict
    }
}

/// Bytes before the end of the line, or of the text.
fn line_len(text: &str) -> usize {
    memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len())
}
