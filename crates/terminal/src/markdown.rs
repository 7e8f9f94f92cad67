//! Incremental renderer of Markdown to rows.
//!
//! Lines are read once. A row is settled when no later text can change it, or when the text that
//! could change it would take more rows than the screen has; it is returned once, in order.
//! [`Markdown::live`] renders the unsettled rest as it looks now.
//!
//! Invariant: the settled rows depend on the text and the sizes of the screen, never on how the
//! text was cut or when it arrived.

mod cursor;
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

use leaf::Leaf;
use line::{Container, Decision, Seen, Start};

/// Widest horizontal rule, in columns.
const RULE_COLS_MAX: usize = 80;
const QUOTE: &str = "│ ";
const QUOTE_STYLE: Style = Style::coloured(Colour::Green).with_attributes_const(Attributes::DIM);

/// Renders one Markdown text into rows.
#[derive(Clone, Debug)]
pub struct Markdown {
    size: Size,
    links: HyperlinkMode,
    neutral: Neutraliser,
    blocks: BlockScanner,
    containers: Vec<Container>,
    leaf: Leaf,
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

impl Markdown {
    /// Creates a renderer for an area of `size`: the columns of the screen, and the rows left by
    /// the other live rows.
    #[must_use]
    pub fn new(size: Size, links: HyperlinkMode) -> Markdown {
        Markdown {
            size: Size::new(size.cols, size.rows),
            links,
            neutral: Neutraliser::default(),
            blocks: BlockScanner::default(),
            containers: Vec::new(),
            leaf: Leaf::None,
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
            self.part(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.part(rest);
    }

    /// Ends the text and settles everything.
    pub fn finish(&mut self) {
        self.end(Ending::Final);
    }

    /// Returns the rows that have settled since the last call, in order.
    pub fn take_settled(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.settled)
    }

    /// Renders the unsettled rows as they look now.
    pub fn live(&self) -> Vec<Row> {
        let mut now = Markdown { settled: Vec::new(), ..self.clone() };
        now.end(Ending::Preview);
        now.settled
    }

    /// Lays out the open block and later rows for a screen of this size.
    pub fn set_size(&mut self, size: Size) {
        let size = Size::new(size.cols, size.rows);
        if size != self.size {
            self.size = size;
            self.leaf.set_size(size, &mut self.settled);
        }
    }

    /// Settles the first `rows` live rows without returning them: they scrolled away as they were
    /// shown. Call `take_settled` before.
    pub fn scrolled_away(&mut self, rows: usize) {
        let before = self.settled.len();
        self.leaf.freeze(&mut self.settled);
        if self.settled.len() - before < rows {
            self.leaf.cut_row(&mut self.settled);
        }
        let gone = rows.min(self.settled.len() - before);
        self.settled.drain(before..before + gone);
    }

    /// Appends a part of a line without its line end.
    fn part(&mut self, text: &str) {
        let mut rest = text;
        while let Line::Undecided(line) = &mut self.line {
            let Some(char) = rest.chars().next() else { return };
            let (first, later) = rest.split_at(char.len_utf8());
            line.push_str(first);
            rest = later;
            for byte in first.bytes() {
                self.blocks.read(byte);
            }
            self.try_decide();
        }
        if self.blocks.kind().is_some_and(LineKind::has_inline) {
            for byte in rest.bytes() {
                self.blocks.read_text(byte);
            }
        }
        self.leaf.push(rest, &mut self.settled);
    }

    /// Decides what the line starts, if its text so far allows it. A line that is undecided beyond
    /// the limit of held bytes is text.
    fn try_decide(&mut self) {
        let Line::Undecided(line) = &self.line else { return };
        if held_bytes_max(self.size) < line.len() {
            self.blocks.decide_text();
            self.decide(Seen::Whole);
        } else {
            self.decide(Seen::Part);
        }
    }

    fn decide(&mut self, seen: Seen) {
        if let Line::Undecided(line) = &self.line
            && let Some(decision) = line::decide(line, seen, &self.blocks, self.leaf.within())
        {
            self.apply(decision);
        }
    }

    fn end_line(&mut self) {
        self.blocks.step(b'\n');
        self.decide(Seen::Whole);
        self.leaf.end_line(&mut self.settled);
        self.line = Line::Undecided(String::new());
    }

    fn end(&mut self, ending: Ending) {
        self.blocks.step(b'\n');
        self.decide(Seen::Whole);
        self.close_leaf(ending);
        self.close_containers(0);
    }

    /// Closes and opens blocks as decided, and pushes the line's text so far to the leaf.
    fn apply(&mut self, decision: Decision) {
        self.line = Line::Decided;
        let Decision { kept, opened, start, begins_paragraph, content } = decision;
        let closes = kept < self.containers.len() || !opened.is_empty() || begins_paragraph;
        if closes || !self.leaf.goes_on_with(&start) {
            self.close_leaf(Ending::Final);
        }
        let replaces_item = matches!(self.containers.get(kept), Some(Container::Item { .. }));
        self.close_containers(kept);
        if start == Start::Blank && opened.is_empty() {
            self.gap = true;
            return;
        }
        self.open_containers(opened, replaces_item);
        self.begin(start, &content);
    }

    fn open_containers(&mut self, opened: Vec<Container>, replaces_item: bool) {
        for container in opened {
            if let Container::Item { .. } = container {
                // No gap between the items of a list, also if blank lines separate them.
                let inside = matches!(self.containers.last(), Some(Container::Item { .. }));
                if replaces_item || inside {
                    self.gap = false;
                }
                self.close_fresh();
            }
            self.show_gap();
            self.containers.push(container);
        }
    }

    fn begin(&mut self, start: Start, content: &str) {
        if matches!(self.leaf, Leaf::None) && start != Start::Blank {
            self.show_gap();
        }
        let leaf = std::mem::replace(&mut self.leaf, Leaf::None);
        self.leaf = match start {
            Start::Blank => leaf,
            Start::Rule => {
                let (mut row, below) = self.leads();
                let cols = self.size.width().min(RULE_COLS_MAX).saturating_sub(below.width());
                row.push(&"─".repeat(cols), Style::DIM);
                self.settled.push(row);
                Leaf::None
            }
            Start::Delimiters => self.begin_table(leaf, content),
            start => {
                let mut leaf = match leaf {
                    Leaf::None => self.new_leaf(&start, content),
                    open => open,
                };
                leaf.begin_line(start, content, &mut self.settled);
                leaf
            }
        };
    }

    fn new_leaf(&mut self, start: &Start, content: &str) -> Leaf {
        match start {
            Start::OpenFence(fence) => {
                let leads = self.code_leads();
                Leaf::fence(self.size, leads, *fence, content, &mut self.settled)
            }
            Start::Indented => {
                let leads = self.code_leads();
                Leaf::indented(self.size, leads)
            }
            start => {
                let leads = self.leads();
                Leaf::text(self.size, self.links, leads, start)
            }
        }
    }

    fn begin_table(&mut self, leaf: Leaf, delimiters: &str) -> Leaf {
        let Leaf::Paragraph(mut paragraph) = leaf else { return leaf };
        let (head, text_before) = paragraph.take_head();
        let leads = if text_before {
            paragraph.finish(Ending::Final, &mut self.settled);
            self.leads()
        } else {
            paragraph.leads()
        };
        Leaf::table(self.size, self.links, leads, &head, delimiters)
    }

    fn close_leaf(&mut self, ending: Ending) {
        let mut leaf = std::mem::replace(&mut self.leaf, Leaf::None);
        leaf.finish(ending, &mut self.settled);
    }

    fn close_containers(&mut self, kept: usize) {
        if kept < self.containers.len() {
            self.close_fresh();
            self.containers.truncate(kept);
        }
    }

    /// Pushes the markers of items that have no content.
    fn close_fresh(&mut self) {
        let is_fresh =
            |container: &Container| matches!(container, Container::Item { fresh: true, .. });
        if self.containers.iter().any(is_fresh) {
            let (row, _) = self.leads();
            self.settled.push(row);
        }
    }

    fn show_gap(&mut self) {
        if std::mem::take(&mut self.gap) && self.begun {
            let quotes = self.containers.iter().filter(|&container| *container == Container::Quote);
            let row = Row::from_text(&QUOTE.repeat(quotes.count()), QUOTE_STYLE);
            self.settled.push(row.clip_to_width(self.lead_cols_max()));
        }
        self.begun = true;
    }

    /// Returns the prefixes of a block's first row and of its other rows; an item's marker only
    /// once.
    fn leads(&mut self) -> (Row, Row) {
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
        let max = self.lead_cols_max();
        (first.clip_to_width(max), rest.clip_to_width(max))
    }

    /// Returns the prefix of code rows: quote bars only, so that the code can be copied. Pushes an
    /// item's pending marker as a row of its own.
    fn code_leads(&mut self) -> Row {
        self.close_fresh();
        let quotes = self.containers.iter().filter(|&container| *container == Container::Quote);
        let row = Row::from_text(&QUOTE.repeat(quotes.count()), QUOTE_STYLE);
        row.clip_to_width(self.lead_cols_max())
    }

    /// Returns the widest prefix: at least half of the columns are left to the text.
    fn lead_cols_max(&self) -> usize {
        self.size.width() / 2
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
