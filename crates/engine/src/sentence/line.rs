//! Start of a line, character by character, as far as pieces depend on it.
//!
//! Does: say what the scanner of Markdown says as soon as pieces can be told from it, and find the
//! markers of items that people write and Markdown does not know: `a)`, `1.)`, bullets.
//! Does not: decide what ends before them; that is the splitter's.
//!
//! Invariant: what it has read without finding anything is in `read`, so that it can be read
//! again as text.

use crate::limits::SENTENCE_HELD_BYTES_MAX;
use crate::markdown::{BlockScanner, LineKind, SoFar};

use super::chars::is_bullet;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// White space, or what may be the beginning of a marker.
    More,
    /// The line ended and was blank.
    Blank,
    Text,
    /// Code by its indentation.
    Indented,
    /// A line of a fence that was open.
    FenceLine,
    /// This character ended the marker of a list item, or is it.
    Item,
    /// This character follows the hashes.
    Heading,
    /// This character is the third mark of a fence.
    Fence,
    Table,
    /// The line ended and was a thematic break.
    Rule,
    /// The line ended and made what was before it a heading, or a table.
    Underline,
}

/// Block that is open when a line begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Open {
    Nothing,
    Paragraph,
    Item,
    Table,
    Fence,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineStart {
    place: Place,
    quoted: bool,
    /// An item began on this line.
    in_item: bool,
    /// What it begins with belongs to the open piece, whatever it turns out to be.
    pub(super) settled: bool,
    /// What may be a marker; its beginning if it is long.
    read: String,
}

/// Read position in the start of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Start,
    AfterSpace,
    AfterMark,
}

impl LineStart {
    pub(super) fn new() -> LineStart {
        LineStart {
            place: Place::Start,
            quoted: false,
            in_item: false,
            settled: false,
            read: String::new(),
        }
    }

    /// True if nothing but white space of the line has been read.
    pub(super) fn has_only_white_space(&self) -> bool {
        self.place != Place::AfterMark
    }

    /// True if nothing of the line has been read.
    pub(super) fn is_at_start(&self) -> bool {
        self.place == Place::Start
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quoted
    }

    pub(super) fn has_item_marker(&self) -> bool {
        self.in_item
    }

    pub(super) fn take_undecided_text(&mut self) -> String {
        std::mem::take(&mut self.read)
    }

    /// Goes on after the marker of an item: its content may begin with another marker.
    pub(super) fn continue_after_item_marker(&mut self) {
        self.in_item = true;
        self.settled = true;
    }

    /// Reads `c`, which `blocks` has read.
    pub(super) fn push_char(&mut self, c: char, blocks: &BlockScanner, open: Open) -> Found {
        let found = self.find_block_start(c, blocks, open);
        // Those that are deeper than Markdown is followed are quote marks here all the same.
        let quotes = c == '>' && self.read.is_empty() && found == Found::More;
        self.quoted |= quotes && !self.in_item;
        self.place = match self.place {
            Place::Start | Place::AfterSpace if c.is_whitespace() => Place::AfterSpace,
            _ => Place::AfterMark,
        };
        let is_white = self.read.is_empty() && c.is_whitespace();
        let room = self.read.len() < SENTENCE_HELD_BYTES_MAX;
        if found == Found::More && !quotes && !is_white && room {
            self.read.push(c);
        }
        found
    }

    fn find_block_start(&self, c: char, blocks: &BlockScanner, open: Open) -> Found {
        if c == '\n' {
            return self.find_block_at_line_end(blocks, open);
        }
        if open == Open::Fence && blocks.is_in_code() {
            return Found::FenceLine;
        }
        if self.read.is_empty() && c.is_whitespace() {
            return Found::More;
        }
        let is_first = self.read.is_empty();
        match blocks.line_state_so_far() {
            _ if c == '|' && is_first && !self.in_item => Found::Table,
            _ if c == '>' && is_first => Found::More,
            SoFar::Nothing | SoFar::Marks | SoFar::Underline => Found::More,
            SoFar::FenceMarks => Found::Fence,
            SoFar::ItemMarker(_) => Found::Item,
            SoFar::Decided(LineKind::IndentedCode) => Found::Indented,
            SoFar::Decided(LineKind::Heading(_)) => Found::Heading,
            SoFar::Decided(LineKind::TableRow) if open == Open::Table => Found::Table,
            SoFar::Decided(_) => self.find_non_markdown_marker(c, open),
        }
    }

    /// Returns what a line was that ended before anything was found.
    fn find_block_at_line_end(&self, blocks: &BlockScanner, open: Open) -> Found {
        let opened_item = blocks.kept_container_count() < blocks.containers().len();
        match blocks.current_or_last_line_kind() {
            Some(LineKind::Blank) if opened_item && !self.read.is_empty() => Found::Item,
            Some(LineKind::Blank) | None => Found::Blank,
            Some(LineKind::ThematicBreak) => Found::Rule,
            Some(LineKind::Underline(_) | LineKind::TableDelimiters) => Found::Underline,
            Some(LineKind::FenceLine(_) | LineKind::FenceClose) => Found::FenceLine,
            Some(LineKind::Heading(_)) => Found::Heading,
            Some(LineKind::FenceOpen(_)) => Found::Fence,
            Some(_) if self.read.is_empty() => Found::Blank,
            Some(_) => self.find_non_markdown_marker('\n', open),
        }
    }

    /// Finds markers that Markdown does not know, in a line that is text to it.
    fn find_non_markdown_marker(&self, c: char, open: Open) -> Found {
        let mut before = self.read.chars();
        match (before.next(), before.next_back()) {
            (None, _) if c.is_ascii_lowercase() => Found::More,
            (None, _) if is_bullet(c) => Found::Item,
            (Some('a'..='z'), None) if matches!(c, '.' | ')') => Found::More,
            (Some('a'..='z' | '0'..='9'), Some('.')) if c == ')' => Found::More,
            (Some('a'..='z' | '0'..='9'), Some('.' | ')'))
                if c.is_whitespace() && self.may_begin_item(open) =>
            {
                Found::Item
            }
            _ => Found::Text,
        }
    }

    /// True if the marker may begin an item. Inside a paragraph only a first item may begin a list.
    fn may_begin_item(&self, open: Open) -> bool {
        let fresh = open != Open::Paragraph || self.in_item;
        let value = self.read.trim_end_matches(['.', ')']);
        let is_letter = value.starts_with(|c: char| c.is_ascii_lowercase());
        match (is_letter, self.read.ends_with('.')) {
            (true, false) => true,
            (true, true) => open == Open::Item || fresh && value == "a",
            // Of these Markdown knows better.
            (false, true) => false,
            (false, false) => self.read.ends_with(".)") && (fresh || value == "1"),
        }
    }
}
