//! Incremental renderer of Markdown to rows.
//!
//! Lines are read once. A row is settled when no later text can change it, or when the text that
//! could change it would take more rows than the screen has; it is returned once, in order.
//! [`MarkdownRenderer::live`] renders the unsettled rest as it looks now.
//!
//! Invariant: the settled rows depend on the text and the sizes of the screen, never on how the
//! text was cut or when it arrived.

mod indentation;
mod leaf;
mod line;
mod paragraph;
mod table;

use millpond_engine::markdown::{BlockScanner, LineKind};

pub use crate::hyperlinks::HyperlinkMode;
use crate::inline::Ending;
use crate::limits::held_bytes_max;
use crate::row::Row;
use crate::size::Size;
use crate::style::{Attributes, Colour, Style};
use crate::text::Neutraliser;

use leaf::LeafBlock;
use line::{Container, LineDecision, LineRole, Seen};

/// Widest horizontal rule, in columns.
const RULE_COLS_MAX: usize = 80;
const QUOTE: &str = "│ ";
const QUOTE_STYLE: Style = Style::coloured(Colour::Green).with_attributes_const(Attributes::DIM);

/// Renders one Markdown text into rows.
#[derive(Clone, Debug)]
pub struct MarkdownRenderer {
    size: Size,
    links: HyperlinkMode,
    neutral: Neutraliser,
    blocks: BlockScanner,
    containers: Vec<Container>,
    leaf: LeafBlock,
    line: Line,
    /// A blank line was read: a blank row is pushed before the next block.
    gap: bool,
    /// At least one block has been shown.
    begun: bool,
    settled: Vec<Row>,
}

/// State of the line that has not ended yet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// The text so far; what the line starts is not decided.
    Undecided(String),
    /// The rest of the line is pushed to the leaf.
    Decided,
}

impl MarkdownRenderer {
    /// Creates a renderer for an area of `size`: the columns of the screen, and the rows left by
    /// the other live rows.
    #[must_use]
    pub fn new(size: Size, links: HyperlinkMode) -> MarkdownRenderer {
        MarkdownRenderer {
            size: Size::new(size.cols, size.rows),
            links,
            neutral: Neutraliser::default(),
            blocks: BlockScanner::default(),
            containers: Vec::new(),
            leaf: LeafBlock::None,
            line: Line::Undecided(String::new()),
            gap: false,
            begun: false,
            settled: Vec::new(),
        }
    }

    /// Appends a chunk of text, cut at any position.
    pub fn push(&mut self, text: &str) {
        let mut clean = String::with_capacity(text.len());
        self.neutral.push(text, &mut clean);
        let mut rest = clean.as_str();
        while let Some(end) = rest.find('\n') {
            self.push_line_part(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.push_line_part(rest);
    }

    /// Ends the text and settles everything.
    pub fn finish(&mut self) {
        self.close_all_blocks(Ending::Final);
    }

    /// Returns the rows that have settled since the last call, in order.
    pub fn take_settled(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.settled)
    }

    /// Renders the unsettled rows as they look now.
    pub fn live_rows(&self) -> Vec<Row> {
        let mut now = MarkdownRenderer { settled: Vec::new(), ..self.clone() };
        now.close_all_blocks(Ending::Preview);
        now.settled
    }

    /// Lays out the open block and later rows for a screen of this size.
    pub fn set_size_and_rewrap(&mut self, size: Size) {
        let size = Size::new(size.cols, size.rows);
        if size != self.size {
            self.size = size;
            self.leaf.set_size_and_rewrap(size, &mut self.settled);
        }
    }

    /// Settles the first `rows` live rows without returning them: they scrolled away as they were
    /// shown. Call `take_settled` before.
    pub fn settle_as_shown_and_drop_rows(&mut self, rows: usize) {
        let before = self.settled.len();
        self.leaf.settle_as_shown(&mut self.settled);
        if self.settled.len() - before < rows {
            self.leaf.end_row_mid_text(&mut self.settled);
        }
        let gone = rows.min(self.settled.len() - before);
        self.settled.drain(before..before + gone);
    }

    /// Appends a part of a line without its line end.
    fn push_line_part(&mut self, text: &str) {
        let mut rest = text;
        while let Line::Undecided(line) = &mut self.line {
            let Some(char) = rest.chars().next() else { return };
            let (first, later) = rest.split_at(char.len_utf8());
            line.push_str(first);
            rest = later;
            for byte in first.bytes() {
                self.blocks.push_byte(byte);
            }
            self.decide_and_apply_line_if_possible();
        }
        if self.blocks.current_or_last_line_kind().is_some_and(LineKind::can_have_inline_markup) {
            for byte in rest.bytes() {
                self.blocks.push_text_byte_if_decided(byte);
            }
        }
        self.leaf.push(rest, &mut self.settled);
    }

    /// Decides what the line starts, if its text so far allows it. A line that is undecided beyond
    /// the limit of held bytes is text.
    fn decide_and_apply_line_if_possible(&mut self) {
        let Line::Undecided(line) = &self.line else { return };
        if held_bytes_max(self.size) < line.len() {
            self.blocks.decide_line_is_text_unless_code();
            self.apply_decision_if_known(Seen::Whole);
        } else {
            self.apply_decision_if_known(Seen::Part);
        }
    }

    fn apply_decision_if_known(&mut self, seen: Seen) {
        if let Line::Undecided(line) = &self.line
            && let Some(decision) =
                line::decide_line(line, seen, &self.blocks, self.leaf.context_for_next_line())
        {
            self.apply_line_decision(decision);
        }
    }

    fn end_line(&mut self) {
        self.blocks.push_undecided_or_line_end_byte(b'\n');
        self.apply_decision_if_known(Seen::Whole);
        self.leaf.end_line(&mut self.settled);
        self.line = Line::Undecided(String::new());
    }

    fn close_all_blocks(&mut self, ending: Ending) {
        self.blocks.push_undecided_or_line_end_byte(b'\n');
        self.apply_decision_if_known(Seen::Whole);
        self.close_leaf(ending);
        self.close_containers_from(0);
    }

    /// Closes and opens blocks as decided, and pushes the line's text so far to the leaf.
    fn apply_line_decision(&mut self, decision: LineDecision) {
        self.line = Line::Decided;
        let LineDecision { kept, opened, start, begins_paragraph, content } = decision;
        let closes = kept < self.containers.len() || !opened.is_empty() || begins_paragraph;
        if closes || !self.leaf.can_continue_with(&start) {
            self.close_leaf(Ending::Final);
        }
        let replaced = self.containers.get(kept).cloned();
        self.close_containers_from(kept);
        if start == LineRole::Blank && opened.is_empty() {
            self.gap = true;
            return;
        }
        self.open_containers(opened, replaced.as_ref());
        self.begin_leaf_line(start, &content);
    }

    /// Opens containers in place of the replaced one, and shows the gap before them.
    fn open_containers(&mut self, opened: Vec<Container>, replaced: Option<&Container>) {
        for container in opened {
            if let Container::Item { .. } = container {
                // No gap between the items of a list, also if blank lines separate them.
                if [replaced, self.containers.last()].into_iter().flatten().any(Container::is_item)
                {
                    self.gap = false;
                }
                self.push_pending_item_row();
            }
            self.push_pending_gap_row();
            self.containers.push(container);
        }
    }

    fn begin_leaf_line(&mut self, start: LineRole, content: &str) {
        if matches!(self.leaf, LeafBlock::None) && start != LineRole::Blank {
            self.push_pending_gap_row();
        }
        let leaf = std::mem::replace(&mut self.leaf, LeafBlock::None);
        self.leaf = match start {
            LineRole::Blank => leaf,
            LineRole::Rule => {
                let (mut row, below) = self.take_row_prefixes();
                let cols = self.size.width().min(RULE_COLS_MAX).saturating_sub(below.width());
                row.push(&"─".repeat(cols), Style::DIM);
                self.settled.push(row);
                LeafBlock::None
            }
            LineRole::Delimiters => self.turn_paragraph_into_table(leaf, content),
            start => {
                let mut leaf = match leaf {
                    LeafBlock::None => self.open_leaf_for_line(&start, content),
                    open => open,
                };
                leaf.begin_line_or_end_block(start, content, &mut self.settled);
                leaf
            }
        };
    }

    fn open_leaf_for_line(&mut self, start: &LineRole, content: &str) -> LeafBlock {
        match start {
            LineRole::OpenFence(fence) => {
                let leads = self.push_item_row_returning_code_prefix();
                LeafBlock::open_fenced_code_and_push_row(
                    self.size,
                    leads,
                    *fence,
                    content,
                    &mut self.settled,
                )
            }
            LineRole::Indented => {
                let leads = self.push_item_row_returning_code_prefix();
                LeafBlock::new_indented_code(self.size, leads)
            }
            start => {
                let leads = self.take_row_prefixes();
                LeafBlock::new_paragraph_or_heading(self.size, self.links, leads, start)
            }
        }
    }

    fn turn_paragraph_into_table(&mut self, leaf: LeafBlock, delimiters: &str) -> LeafBlock {
        let LeafBlock::Paragraph(mut paragraph) = leaf else { return leaf };
        let (head, text_before) = paragraph.take_table_head();
        let leads = if text_before {
            paragraph.finish(Ending::Final, &mut self.settled);
            self.take_row_prefixes()
        } else {
            paragraph.row_prefixes()
        };
        LeafBlock::new_table(self.size, self.links, leads, &head, delimiters)
    }

    fn close_leaf(&mut self, ending: Ending) {
        let mut leaf = std::mem::replace(&mut self.leaf, LeafBlock::None);
        leaf.finish(ending, &mut self.settled);
    }

    fn close_containers_from(&mut self, kept: usize) {
        if kept < self.containers.len() {
            self.push_pending_item_row();
            self.containers.truncate(kept);
        }
    }

    /// Pushes the markers of items that have no content.
    fn push_pending_item_row(&mut self) {
        let is_fresh =
            |container: &Container| matches!(container, Container::Item { fresh: true, .. });
        if self.containers.iter().any(is_fresh) {
            let (row, _) = self.take_row_prefixes();
            self.settled.push(row);
        }
    }

    fn push_pending_gap_row(&mut self) {
        if std::mem::take(&mut self.gap) && self.begun {
            let quotes = self.containers.iter().filter(|&container| *container == Container::Quote);
            let row = Row::from_text(&QUOTE.repeat(quotes.count()), QUOTE_STYLE);
            self.settled.push(row.clip_to_width(self.prefix_cols_max()));
        }
        self.begun = true;
    }

    /// Returns the prefixes of a block's first row and of its other rows; an item's marker only
    /// once.
    fn take_row_prefixes(&mut self) -> (Row, Row) {
        let mut first = Row::default();
        let mut rest = Row::default();
        for container in &mut self.containers {
            match container {
                Container::Quote => {
                    first.push(QUOTE, QUOTE_STYLE);
                    rest.push(QUOTE, QUOTE_STYLE);
                }
                Container::Item { marker, fresh, .. } => {
                    let blank = " ".repeat(crate::text::text_width(marker) + 1);
                    if std::mem::take(fresh) {
                        first.push(&format!("{marker} "), Style::coloured(Colour::Cyan));
                    } else {
                        first.push(&blank, Style::PLAIN);
                    }
                    rest.push(&blank, Style::PLAIN);
                }
            }
        }
        let max = self.prefix_cols_max();
        (first.clip_to_width(max), rest.clip_to_width(max))
    }

    /// Returns the prefix of code rows: quote bars only, so that the code can be copied. Pushes an
    /// item's pending marker as a row of its own.
    fn push_item_row_returning_code_prefix(&mut self) -> Row {
        self.push_pending_item_row();
        let quotes = self.containers.iter().filter(|&container| *container == Container::Quote);
        let row = Row::from_text(&QUOTE.repeat(quotes.count()), QUOTE_STYLE);
        row.clip_to_width(self.prefix_cols_max())
    }

    /// Returns the widest prefix: at least half of the columns are left to the text.
    fn prefix_cols_max(&self) -> usize {
        self.size.width() / 2
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
