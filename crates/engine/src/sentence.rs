//! Cuts the text of one message into sentences and blocks, as it arrives.
//!
//! Does: hand text out as soon as it is known to which piece it belongs, and say where pieces
//! end. A sentence of a paragraph is a piece; so is a list item, a heading, a code block, a table,
//! a rule. White space belongs to the piece before it.
//! Does not: know the language, edit text, or look at it twice.
//!
//! A line break inside a paragraph is white space. A blank line always ends a piece. A list item
//! is one piece with the indented lines after it, whatever sentences are in it.
//!
//! Invariants: the texts handed out are the input, in order. The pieces are the same however the
//! input is cut. What is held is at most the next word and the marks before it, never more than
//! `SENTENCE_HELD_BYTES_MAX`. An end is never taken back.

mod chars;
mod code;
mod enclosure;
mod fence;
mod line;
mod marker;
mod next;
mod prose;
mod words;

use crate::limits::SENTENCE_HELD_BYTES_MAX;

use fence::{Fence, FenceStep};
use line::{Around, Found, LineStart};
use marker::NextMarker;
use prose::{Prose, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut<'a> {
    /// More of the piece that is open, or the first of a new one. Never empty.
    Text(&'a str),
    /// The open piece is over. Never comes twice without text between, never first.
    End,
}

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

/// Cuts the text of one message into pieces as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct Splitter {
    held: String,
    /// Text was handed out since the last end.
    open: bool,
    /// The open piece has more than white space and markers.
    filled: bool,
    block: Block,
    /// The start of the line, while it is read.
    line: Option<LineStart>,
    /// The start of the line belongs to the open piece, whatever it turns out to be.
    settled: bool,
    /// Blank lines came since `block`.
    blank: bool,
    /// The last line was in a quotation.
    quoted: bool,
    /// Column at which the content of the innermost list item begins.
    base: usize,
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter::new()
    }
}

impl Splitter {
    pub fn new() -> Splitter {
        Splitter {
            held: String::new(),
            open: false,
            filled: false,
            block: Block::None,
            line: Some(LineStart::new()),
            settled: false,
            blank: false,
            quoted: false,
            base: 0,
        }
    }

    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Cut<'_>)) {
        // What is before `from` was handed out or is held.
        let mut from = 0;
        for (at, c) in text.char_indices() {
            match self.read(c) {
                Verdict::Pass => self.release(out),
                Verdict::Hold => {
                    self.hand_out(text.get(from..at), out);
                    self.held.push(c);
                    from = at + c.len_utf8();
                }
                Verdict::Break => {
                    self.hand_out(text.get(from..at), out);
                    from = at;
                    self.end(out);
                    self.release(out);
                }
            }
        }
        self.hand_out(text.get(from..), out);
    }

    /// The message is over: what is held is handed out and the open piece ends. What is pushed
    /// next is another message.
    pub fn finish(&mut self, out: &mut impl FnMut(Cut<'_>)) {
        if !self.held.is_empty() {
            let verdict = if self.line.is_some() { self.text(' ') } else { self.read(' ') };
            if verdict == Verdict::Break {
                self.end(out);
            }
            self.release(out);
        }
        self.end(out);
        *self = Splitter::new();
    }

    /// Bytes not yet handed out.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    fn hand_out(&mut self, text: Option<&str>, out: &mut impl FnMut(Cut<'_>)) {
        if let Some(text) = text
            && !text.is_empty()
        {
            out(Cut::Text(text));
            self.open = true;
        }
    }

    fn release(&mut self, out: &mut impl FnMut(Cut<'_>)) {
        if !self.held.is_empty() {
            out(Cut::Text(&self.held));
            self.held.clear();
            self.open = true;
        }
    }

    fn end(&mut self, out: &mut impl FnMut(Cut<'_>)) {
        if std::mem::take(&mut self.open) {
            out(Cut::End);
        }
    }

    fn read(&mut self, c: char) -> Verdict {
        if !self.held.is_empty() && SENTENCE_HELD_BYTES_MAX < self.held.len() + c.len_utf8() {
            return self.give_up(c);
        }
        if self.line.is_some() { self.line_start(c) } else { self.in_line(c) }
    }

    /// As much is held as may be: no piece ends before it.
    fn give_up(&mut self, c: char) -> Verdict {
        match &mut self.block {
            Block::Paragraph(prose) if self.line.is_some() => {
                prose.forget_stop();
                self.text(c)
            }
            Block::Paragraph(prose) => prose.give_up(c, &self.held),
            _ => Verdict::Pass,
        }
    }

    /// The open piece is over, if there is anything in it.
    fn break_piece(&mut self) -> Verdict {
        if std::mem::take(&mut self.filled) { Verdict::Break } else { Verdict::Pass }
    }

    fn in_line(&mut self, c: char) -> Verdict {
        let mut verdict = Verdict::Pass;
        match &mut self.block {
            Block::Paragraph(prose) => verdict = prose.step(c, &self.held),
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
                    return self.line_start(c);
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
        self.settled = false;
    }

    fn line_start(&mut self, c: char) -> Verdict {
        let Some(line) = &self.line else { return Verdict::Pass };
        let columns = line.columns();
        let mut verdict = Verdict::Pass;
        if line.is_untouched() && !c.is_whitespace() {
            if self.surely_ended(c, columns) {
                verdict = self.break_piece();
                self.block = Block::None;
            }
            self.settled = !self.filled;
            self.blank = false;
        }
        let around = Around {
            paragraph: matches!(self.block, Block::Paragraph(_) | Block::Item(_)),
            item: matches!(self.block, Block::Item(_)),
            base: self.base,
        };
        let Some(line) = &mut self.line else { return Verdict::Pass };
        let found = line.step(c, around);
        match self.found(found, c) {
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

    fn found(&mut self, found: Found, c: char) -> Verdict {
        let Some(line) = &mut self.line else { return Verdict::Pass };
        let (columns, quoted) = (line.columns(), line.is_quoted());
        let block = match found {
            Found::More if self.settled => return Verdict::Pass,
            Found::More if c.is_whitespace() && self.held.is_empty() => return Verdict::Pass,
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
        self.line = None;
        self.quoted = quoted;
        self.block = block;
        let verdict = if self.settled { Verdict::Pass } else { self.break_piece() };
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
        let verdict = if line.is_in_item() {
            self.base += line.columns() + marker.len() + 1;
            Verdict::Pass
        } else {
            self.base = line.columns() + marker.len() + 1;
            self.block = Block::Item(NextMarker::after(&marker));
            Verdict::Break
        };
        line.after_item();
        let verdict = match verdict {
            Verdict::Break if !self.settled => self.break_piece(),
            _ => Verdict::Pass,
        };
        self.settled = true;
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

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
