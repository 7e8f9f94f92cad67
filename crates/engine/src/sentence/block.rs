//! The blocks of a message: which line belongs to which piece, and what ends before it.
//!
//! Does: read a message character by character and say what each means for those before it.
//! Does not: keep text; what it asks to hold is given back to it.

mod open_enclosure;

use crate::limits::SENTENCE_HELD_BYTES_MAX;
use crate::markdown::{self, BlockScanner, FenceInItem, LineKind, SoFar};

use super::item::{ItemDecision, ListItem};
use super::line::{Found, LineStart, Open};
use super::prose::{CharDecision, ProseScanner};

/// Block that the current line belongs to.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    /// Nothing: whatever comes is a new piece.
    None,
    Paragraph(ProseScanner),
    Item(ListItem),
    Heading(ProseScanner),
    Rule,
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
pub(super) struct BlockSplitter {
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

impl BlockSplitter {
    pub(super) fn new() -> BlockSplitter {
        BlockSplitter {
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
    pub(super) fn push_char(&mut self, c: char, held: &str) -> CharDecision {
        let found = self.push_to_scanner_and_return_finding(c);
        if !held.is_empty() && SENTENCE_HELD_BYTES_MAX < held.len() + c.len_utf8() {
            return self.decide_no_break_and_push_char(c, held);
        }
        if self.try_end_line_start_in_fence(held) {
            return CharDecision::Pass;
        }
        if self.line.is_some() {
            self.push_char_at_line_start(c, held)
        } else {
            self.push_char_in_line(c, found, held)
        }
    }

    /// True if the line is surely one in a fence; then its start is no longer read.
    fn try_end_line_start_in_fence(&mut self, held: &str) -> bool {
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
    fn push_to_scanner_and_return_finding(&mut self, c: char) -> markdown::Found {
        if c.is_ascii() {
            return self.scanner.push_byte(c as u8);
        }
        let mut found = markdown::Found::More;
        for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
            match self.scanner.push_byte(byte) {
                markdown::Found::More => {}
                other => found = other,
            }
        }
        found
    }

    /// Reads the beginning of a text in which no piece can end: plain words of a paragraph, the
    /// rest of a line of another block. Returns its length in bytes.
    pub(super) fn consume_text_without_break(&mut self, text: &str) -> usize {
        if self.line.is_some() {
            return 0;
        }
        let len = match &mut self.block {
            Block::Paragraph(prose) | Block::Heading(prose) => prose.consume_plain_words(text),
            Block::Item(item) => item.consume_plain_words(text),
            Block::Fence { .. } => {
                let is_decided = self.scanner.current_or_last_line_kind().is_some();
                return if is_decided { line_len(text) } else { 0 };
            }
            Block::Rule | Block::Table { .. } | Block::Indented => line_len(text),
            Block::None => 0,
        };
        if len == 0 {
            return 0;
        }
        self.filled = self.filled || !text[..len].trim_start().is_empty();
        let is_words =
            matches!(self.block, Block::Paragraph(_) | Block::Heading(_) | Block::Item(_));
        if is_words && self.scanner.current_or_last_line_kind().is_some() {
            self.scanner.push_plain_text(&text.as_bytes()[..len]);
        } else {
            for &byte in &text.as_bytes()[..len] {
                self.scanner.push_byte(byte);
            }
        }
        len
    }

    /// Ends the message: decides whether a piece ends before the held text.
    pub(super) fn finish(&mut self, held: &str) -> CharDecision {
        let found = self.push_to_scanner_and_return_finding('\n');
        if self.line.is_some() {
            self.push_char_at_line_start('\n', held)
        } else {
            self.push_char_in_line('\n', found, held)
        }
    }

    /// Decides that no piece ends before the held text, because the hold limit is reached. Reads
    /// `c` too.
    fn decide_no_break_and_push_char(&mut self, c: char, held: &str) -> CharDecision {
        match (&mut self.block, &mut self.line) {
            (Block::Paragraph(prose), Some(_)) => {
                prose.discard_possible_end();
                self.push_line_start_as_text(c)
            }
            (Block::Paragraph(prose) | Block::Heading(prose), None) => {
                prose.reject_possible_end_and_push_held(c, held)
            }
            (Block::Item(item), None) => item.reject_possible_end_and_push_held(c, held),
            (block, Some(line)) => {
                if let Block::Item(item) = block {
                    item.discard_possible_end();
                }
                line.settled = true;
                self.push_char_at_line_start(c, "")
            }
            (_, None) => CharDecision::Pass,
        }
    }

    /// Ends the open piece, if it has more than white space and markers.
    fn break_if_piece_filled(&mut self) -> CharDecision {
        if std::mem::take(&mut self.filled) { CharDecision::Break } else { CharDecision::Pass }
    }

    fn push_char_in_line(&mut self, c: char, found: markdown::Found, held: &str) -> CharDecision {
        let mut verdict = CharDecision::Pass;
        match &mut self.block {
            Block::Paragraph(prose) | Block::Heading(prose) => verdict = prose.push_char(c, held),
            Block::Item(item) => match item.push_char(c, held) {
                ItemDecision::Char(decision) => verdict = decision,
                ItemDecision::NextItem => return self.break_if_piece_filled(),
            },
            Block::Fence { ticks } => match found {
                markdown::Found::Ticks { len } => *ticks = len,
                markdown::Found::Line(kind) if kind.can_have_inline_markup() => {
                    let prose = ProseScanner::new_inside_inline_code(*ticks, c);
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
        match (&self.block, self.scanner.current_or_last_line_kind()) {
            (Block::Heading(_) | Block::Rule, _) | (_, Some(LineKind::FenceClose)) => {
                self.block = Block::None;
            }
            _ => {}
        }
        self.reset_line_start();
    }

    fn reset_line_start(&mut self) {
        self.line = Some(LineStart::new());
    }

    fn push_char_at_line_start(&mut self, c: char, held: &str) -> CharDecision {
        let Some(mut line) = self.line.take() else { return CharDecision::Pass };
        let mut verdict = CharDecision::Pass;
        if line.has_only_white_space() && !c.is_whitespace() {
            if self.is_open_block_ended_by(c, &line) {
                verdict = self.break_if_piece_filled();
                self.block = Block::None;
            }
            line.settled = !self.filled;
            self.blank = false;
        }
        if matches!(self.block, Block::Fence { .. }) && !self.scanner.may_be_in_fence() && c != '\n'
        {
            verdict = self.break_if_piece_filled();
            self.block = Block::None;
            line.settled = true;
        }
        // It belongs to the paragraph, whatever it turns out to be.
        line.settled |= self.scanner.line_state_so_far() == SoFar::Underline;
        let found = line.push_char(c, &self.scanner, self.open_block_kind());
        self.line = Some(line);
        match self.apply_line_start_finding(found, c, held) {
            CharDecision::Pass => verdict,
            other => other,
        }
    }

    fn open_block_kind(&self) -> Open {
        match self.block {
            Block::Paragraph(_) => Open::Paragraph,
            Block::Item(_) => Open::Item,
            Block::Table { .. } => Open::Table,
            Block::Fence { .. } => Open::Fence,
            Block::None | Block::Heading(_) | Block::Rule | Block::Indented => Open::Nothing,
        }
    }

    /// True if the open block is surely over, now that a line begins with `c`.
    fn is_open_block_ended_by(&self, c: char, line: &LineStart) -> bool {
        let is_code = self.scanner.current_or_last_line_kind() == Some(LineKind::IndentedCode);
        if self.blank {
            return !(is_code && self.block == Block::Indented);
        }
        let other_quotation = self.quoted != (c == '>');
        match self.block {
            Block::None | Block::Heading(_) | Block::Rule => true,
            // A quoted paragraph goes on without its mark.
            Block::Paragraph(_) => !self.quoted && c == '>',
            Block::Table { bars: false } => other_quotation,
            Block::Item(_) => other_quotation || line.is_at_start() && c != '>',
            Block::Table { bars: true } => other_quotation || !matches!(c, '|' | '>'),
            Block::Indented => !is_code,
            Block::Fence { .. } => false,
        }
    }

    fn apply_line_start_finding(&mut self, found: Found, c: char, held: &str) -> CharDecision {
        let Some(line) = &mut self.line else { return CharDecision::Pass };
        let (settled, quoted) = (line.settled, line.is_quoted());
        let block = match found {
            Found::More if settled => return CharDecision::Pass,
            Found::More if c.is_whitespace() && held.is_empty() => return CharDecision::Pass,
            Found::More => return CharDecision::Hold,
            Found::Blank => {
                self.blank = !line.has_item_marker();
                self.quoted = quoted;
                self.reset_line_start();
                return CharDecision::Pass;
            }
            Found::Text => return self.push_line_start_as_text(c),
            Found::Item => return self.begin_item_after_marker(c),
            Found::Underline => {
                let is_table =
                    self.scanner.current_or_last_line_kind() == Some(LineKind::TableDelimiters);
                self.block = if is_table { Block::Table { bars: false } } else { Block::None };
                self.reset_line_start();
                return CharDecision::Pass;
            }
            Found::FenceLine => return self.continue_open_block(c),
            Found::Table if matches!(self.block, Block::Table { .. }) => {
                return self.continue_open_block(c);
            }
            Found::Indented if self.block == Block::Indented => return self.continue_open_block(c),
            Found::Indented => Block::Indented,
            Found::Heading => Block::Heading(ProseScanner::new()),
            Found::Rule => Block::Rule,
            Found::Fence => Block::Fence { ticks: 0 },
            Found::Table => Block::Table { bars: true },
        };
        self.line = None;
        self.quoted = quoted;
        self.block = block;
        let verdict = if settled { CharDecision::Pass } else { self.break_if_piece_filled() };
        self.filled = true;
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    /// Continues the open block: the line belongs to it.
    fn continue_open_block(&mut self, c: char) -> CharDecision {
        self.line = None;
        if c == '\n' {
            self.end_line();
        }
        CharDecision::Pass
    }

    /// Begins an item, whose marker ended with `c`.
    fn begin_item_after_marker(&mut self, c: char) -> CharDecision {
        let Some(line) = &mut self.line else { return CharDecision::Pass };
        let mut marker = line.take_undecided_text();
        if !c.is_whitespace() {
            marker.push(c);
        }
        self.quoted = line.is_quoted();
        if !line.has_item_marker() {
            self.block = Block::Item(ListItem::after_marker(&marker));
        }
        let settled = line.settled;
        line.continue_after_item_marker();
        let verdict = if settled { CharDecision::Pass } else { self.break_if_piece_filled() };
        if c == '\n' {
            self.end_line();
        }
        verdict
    }

    /// Reads the start of the line, and `c`, as text.
    fn push_line_start_as_text(&mut self, c: char) -> CharDecision {
        let Some(mut line) = self.line.take() else { return CharDecision::Pass };
        let in_quoted_paragraph = self.quoted && matches!(self.block, Block::Paragraph(_));
        self.quoted = line.is_quoted() || in_quoted_paragraph;
        let read = line.take_undecided_text();
        let mut verdict = CharDecision::Pass;
        let ended = match self.block {
            Block::Table { bars } => bars,
            // A paragraph began that is not the item's first.
            Block::Item(_) => {
                !line.has_item_marker()
                    && self.scanner.current_or_last_line_kind() == Some(LineKind::Text)
            }
            _ => false,
        };
        if ended {
            verdict = self.break_if_piece_filled();
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
                Block::Item(item) => item.push_char(c, &held).into(),
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
