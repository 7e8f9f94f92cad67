//! The blocks of a message: which line belongs to which piece, and what ends before it.
//!
//! Does: read a message character by character and say what each means for those before it.
//! Does not: keep text; what it asks to hold is given back to it.

use crate::limits::SENTENCE_HELD_BYTES_MAX;
use crate::markdown::{self, BlockScanner, FenceInItem, LineKind, SoFar};

use super::line::{Found, LineStart, Open};
use super::marker::NextMarker;
use super::prose::{CharDecision, ProseScanner};

/// What the current line belongs to.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    /// Nothing: whatever comes is a new piece.
    None,
    Paragraph(ProseScanner),
    Item(Option<NextMarker>),
    /// A line of its own: a heading or a rule.
    Line,
    /// Its lines begin with bars, or with anything.
    Table {
        bars: bool,
    },
    Indented,
    Fence {
        /// Back-ticks that opened it, once they are counted; without a line end they are inline
        /// code.
        ticks: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocks {
    scanner: BlockScanner,
    block: Block,
    /// The start of the line, while it is read.
    line: Option<LineStart>,
    /// The open piece has more than white space and markers.
    filled: bool,
    /// Blank lines came since `block`.
    blank: bool,
    /// The last line was in a quotation.
    quoted: bool,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks {
            // Code blocks are one piece, also those whose lines are not indented as their item is.
            scanner: BlockScanner::new(FenceInItem::EndsWhenClosed),
            block: Block::None,
            line: Some(LineStart::new()),
            filled: false,
            blank: false,
            quoted: false,
        }
    }

    /// Reads `c` and decides about it and `held`, the text held before it.
    pub(super) fn read(&mut self, c: char, held: &str) -> CharDecision {
        let found = self.scan(c);
        if !held.is_empty() && SENTENCE_HELD_BYTES_MAX < held.len() + c.len_utf8() {
            return self.give_up(c, held);
        }
        if self.goes_on_with_fence(held) {
            return CharDecision::Pass;
        }
        if self.line.is_some() { self.line_start(c, held) } else { self.in_line(c, found, held) }
    }

    /// True if the line is surely one in a fence; then its start is no longer read.
    fn goes_on_with_fence(&mut self, held: &str) -> bool {
        let goes_on = matches!(self.block, Block::Fence { .. })
            && self.line.is_some()
            && held.is_empty()
            && self.scanner.is_in_code();
        if goes_on {
            self.line = None;
        }
        goes_on
    }

    /// Gives `c` to the Markdown scanner and returns what it found.
    fn scan(&mut self, c: char) -> markdown::Found {
        if c.is_ascii() {
            return self.scanner.read(c as u8);
        }
        let mut found = markdown::Found::More;
        for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
            match self.scanner.read(byte) {
                markdown::Found::More => {}
                other => found = other,
            }
        }
        found
    }

    /// Reads the beginning of a text in which no piece can end: plain words of a paragraph, the
    /// rest of a line of another block. Returns its length in bytes.
    pub(super) fn skip(&mut self, text: &str) -> usize {
        if self.line.is_some() {
            return 0;
        }
        let len = match &mut self.block {
            Block::Paragraph(prose) => prose.skip_words(text),
            Block::Fence { .. } => {
                let is_decided = self.scanner.kind().is_some();
                return if is_decided { line_len(text) } else { 0 };
            }
            Block::Line | Block::Table { .. } | Block::Indented | Block::Item(None) => {
                line_len(text)
            }
            Block::None | Block::Item(Some(_)) => 0,
        };
        self.filled |= !text[..len].trim_start().is_empty();
        let is_words = matches!(self.block, Block::Paragraph(_));
        if is_words && self.scanner.kind().is_some() {
            self.scanner.pass_text(&text.as_bytes()[..len]);
        } else {
            for &byte in &text.as_bytes()[..len] {
                self.scanner.read(byte);
            }
        }
        len
    }

    /// Ends the message: decides whether a piece ends before the held text.
    pub(super) fn finish(&mut self, held: &str) -> CharDecision {
        let found = self.scan('\n');
        if self.line.is_some() {
            self.line_start('\n', held)
        } else {
            self.in_line('\n', found, held)
        }
    }

    /// Decides that no piece ends before the held text, because the hold limit is reached. Reads
    /// `c` too.
    fn give_up(&mut self, c: char, held: &str) -> CharDecision {
        match (&mut self.block, &mut self.line) {
            (Block::Paragraph(prose), Some(_)) => {
                prose.discard_stop();
                self.text(c)
            }
            (Block::Paragraph(prose), None) => prose.reject_possible_end(c, held),
            (_, Some(line)) => {
                line.settled = true;
                self.line_start(c, "")
            }
            (_, None) => CharDecision::Pass,
        }
    }

    /// Ends the open piece, if it has more than white space and markers.
    fn break_piece(&mut self) -> CharDecision {
        if std::mem::take(&mut self.filled) { CharDecision::Break } else { CharDecision::Pass }
    }

    fn in_line(&mut self, c: char, found: markdown::Found, held: &str) -> CharDecision {
        let mut verdict = CharDecision::Pass;
        match &mut self.block {
            Block::Paragraph(prose) => verdict = prose.push_char(c, held),
            Block::Item(Some(next)) => {
                verdict = next.step(c);
                if verdict == CharDecision::Break {
                    return self.break_piece();
                }
            }
            Block::Fence { ticks } => match found {
                markdown::Found::Ticks { len } => *ticks = len,
                markdown::Found::Line(kind) if kind.has_inline() => {
                    let mut prose = ProseScanner::inside_inline_code(*ticks);
                    prose.push_char(c, "");
                    self.block = Block::Paragraph(prose);
                }
                _ => {}
            },
            _ => {}
        }
        if verdict == CharDecision::Pass {
            self.filled |= !c.is_whitespace();
        }
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    fn end_line(&mut self) {
        match (&self.block, self.scanner.kind()) {
            (Block::Line, _) | (_, Some(LineKind::FenceClose)) => self.block = Block::None,
            _ => {}
        }
        self.begin_line();
    }

    fn begin_line(&mut self) {
        self.line = Some(LineStart::new());
    }

    fn line_start(&mut self, c: char, held: &str) -> CharDecision {
        let Some(mut line) = self.line.take() else { return CharDecision::Pass };
        let mut verdict = CharDecision::Pass;
        if line.is_untouched() && !c.is_whitespace() {
            if self.surely_ended(c, &line) {
                verdict = self.break_piece();
                self.block = Block::None;
            }
            line.settled = !self.filled;
            self.blank = false;
        }
        if matches!(self.block, Block::Fence { .. }) && !self.scanner.may_be_in_fence() && c != '\n'
        {
            verdict = self.break_piece();
            self.block = Block::None;
            line.settled = true;
        }
        // It belongs to the paragraph, whatever it turns out to be.
        line.settled |= self.scanner.so_far() == SoFar::Underline;
        let found = line.step(c, &self.scanner, self.open());
        self.line = Some(line);
        match self.found(found, c, held) {
            CharDecision::Pass => verdict,
            other => other,
        }
    }

    fn open(&self) -> Open {
        match self.block {
            Block::Paragraph(_) => Open::Paragraph,
            Block::Item(_) => Open::Item,
            Block::Table { .. } => Open::Table,
            Block::Fence { .. } => Open::Fence,
            Block::None | Block::Line | Block::Indented => Open::Nothing,
        }
    }

    /// True if the open block is surely over, now that a line begins with `c`.
    fn surely_ended(&self, c: char, line: &LineStart) -> bool {
        let is_code = self.scanner.kind() == Some(LineKind::IndentedCode);
        if self.blank {
            return !(is_code && self.block == Block::Indented);
        }
        let other_quotation = self.quoted != (c == '>');
        match self.block {
            Block::None | Block::Line => true,
            Block::Paragraph(_) | Block::Table { bars: false } => other_quotation,
            Block::Item(_) => other_quotation || line.is_at_start() && c != '>',
            Block::Table { bars: true } => other_quotation || !matches!(c, '|' | '>'),
            Block::Indented => !is_code,
            Block::Fence { .. } => false,
        }
    }

    fn found(&mut self, found: Found, c: char, held: &str) -> CharDecision {
        let Some(line) = &mut self.line else { return CharDecision::Pass };
        let (settled, quoted) = (line.settled, line.is_quoted());
        let block = match found {
            Found::More if settled => return CharDecision::Pass,
            Found::More if c.is_whitespace() && held.is_empty() => return CharDecision::Pass,
            Found::More => return CharDecision::Hold,
            Found::Blank => {
                self.blank = !line.is_in_item();
                self.quoted = quoted;
                self.begin_line();
                return CharDecision::Pass;
            }
            Found::Text => return self.text(c),
            Found::Item => return self.item(c),
            Found::Underline => {
                let is_table = self.scanner.kind() == Some(LineKind::TableDelimiters);
                self.block = if is_table { Block::Table { bars: false } } else { Block::None };
                self.begin_line();
                return CharDecision::Pass;
            }
            Found::FenceLine => return self.go_on(c),
            Found::Table if matches!(self.block, Block::Table { .. }) => return self.go_on(c),
            Found::Indented if self.block == Block::Indented => return self.go_on(c),
            Found::Indented => Block::Indented,
            Found::Heading | Found::Rule => Block::Line,
            Found::Fence => Block::Fence { ticks: 0 },
            Found::Table => Block::Table { bars: true },
        };
        self.line = None;
        self.quoted = quoted;
        self.block = block;
        let verdict = if settled { CharDecision::Pass } else { self.break_piece() };
        self.filled = true;
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    /// Continues the open block: the line belongs to it.
    fn go_on(&mut self, c: char) -> CharDecision {
        self.line = None;
        if c == '\n' {
            self.end_line();
        }
        CharDecision::Pass
    }

    /// Begins an item, whose marker ended with `c`.
    fn item(&mut self, c: char) -> CharDecision {
        let Some(line) = &mut self.line else { return CharDecision::Pass };
        let mut marker = line.take_read();
        if !c.is_whitespace() {
            marker.push(c);
        }
        self.quoted = line.is_quoted();
        if !line.is_in_item() {
            self.block = Block::Item(NextMarker::after(&marker));
        }
        let settled = line.settled;
        line.pass_item_marker();
        let verdict = if settled { CharDecision::Pass } else { self.break_piece() };
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    /// Reads the start of the line, and `c`, as text.
    fn text(&mut self, c: char) -> CharDecision {
        let Some(mut line) = self.line.take() else { return CharDecision::Pass };
        self.quoted = line.is_quoted();
        let read = line.take_read();
        let mut verdict = CharDecision::Pass;
        let ended = match self.block {
            Block::Table { bars } => bars,
            // A paragraph began that is not the item's first.
            Block::Item(_) => !line.is_in_item() && self.scanner.kind() == Some(LineKind::Text),
            _ => false,
        };
        if ended {
            verdict = self.break_piece();
            self.block = Block::None;
        }
        if !matches!(self.block, Block::Paragraph(_) | Block::Item(_) | Block::Table { .. }) {
            self.block = Block::Paragraph(ProseScanner::new());
        }
        // What prose asked to hold of it.
        let mut held = String::new();
        for c in read.chars().chain([c]) {
            let read = match &mut self.block {
                Block::Paragraph(prose) => prose.push_char(c, &held),
                Block::Item(Some(next)) => next.step(c),
                _ => CharDecision::Pass,
            };
            match read {
                CharDecision::Hold => held.push(c),
                CharDecision::Pass | CharDecision::Break => held.clear(),
            }
            verdict = match (verdict, read) {
                (CharDecision::Break, _) => CharDecision::Break,
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

/// Number of bytes before the end of the line, or of the text.
fn line_len(text: &str) -> usize {
    memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len())
}
