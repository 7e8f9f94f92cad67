//! A row: styled text on one line, and how that line began.
//!
//! Does not: know where on a screen it stands. Links are side data; they never change geometry.
//!
//! Invariant: its text holds no line end, no control character but tabs, and nothing that turns the
//! direction of what follows.

use std::borrow::Cow;
use std::sync::Arc;

use crate::graphics::Art;
use crate::links::Link;
use crate::style::Style;
use crate::text::{Cluster, TAB_COLS, clusters, on_one_line};

/// How a row follows the one above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// A line of its own.
    #[default]
    Line,
    /// The same line, broken at a space that is not shown.
    AfterSpace,
    /// The same line, broken between two characters.
    Within,
}

/// Text of one look. Its bytes follow those of the run before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) bytes: usize,
    pub(crate) style: Style,
    pub(crate) link: Option<Link>,
}

/// What begins with a row, for terminals that can go from one prompt to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Prompt,
    Output,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    text: String,
    runs: Vec<Run>,
    begins: Begins,
    mark: Option<Mark>,
    /// A picture that covers this row and blank ones below it.
    art: Option<Arc<Art>>,
}

/// What stands in one place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    pub(crate) text: &'a str,
    /// Byte of the row at which it begins.
    pub(crate) at: usize,
    pub(crate) col: usize,
    pub(crate) width: usize,
    /// The terminal has to be told where the next one stands.
    pub(crate) doubtful: bool,
}

impl Row {
    #[must_use]
    pub fn new(begins: Begins) -> Row {
        Row { begins, ..Row::default() }
    }

    /// A line of one style.
    #[must_use]
    pub fn line(text: &str, style: Style) -> Row {
        let mut row = Row::default();
        row.push(text, style);
        row
    }

    /// Appends text. What could command a terminal is shown instead: no row holds it.
    pub fn push(&mut self, text: &str, style: Style) {
        self.push_linked(text, style, None);
    }

    pub fn push_linked(&mut self, text: &str, style: Style, link: Option<&Link>) {
        let text: Cow<'_, str> = on_one_line(text);
        if text.is_empty() {
            return;
        }
        self.text.push_str(&text);
        match self.runs.last_mut() {
            Some(run) if run.style == style && run.link.as_ref() == link => run.bytes += text.len(),
            _ => self.runs.push(Run { bytes: text.len(), style, link: link.cloned() }),
        }
    }

    pub fn push_row(&mut self, row: &Row) {
        for (text, style, link) in row.spans() {
            self.push_linked(text, style, link);
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn begins(&self) -> Begins {
        self.begins
    }

    pub(crate) fn set_begins(&mut self, begins: Begins) {
        self.begins = begins;
    }

    pub fn mark(&self) -> Option<Mark> {
        self.mark
    }

    pub(crate) fn art(&self) -> Option<&Arc<Art>> {
        self.art.as_ref()
    }

    #[must_use]
    pub(crate) fn with_art(self, art: Arc<Art>) -> Row {
        Row { art: Some(art), ..self }
    }

    #[must_use]
    pub fn marked(self, mark: Mark) -> Row {
        Row { mark: Some(mark), ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn spans(&self) -> impl Iterator<Item = (&str, Style, Option<&Link>)> {
        let mut at = 0;
        self.runs.iter().map(move |run| {
            let text = &self.text[at..at + run.bytes];
            at += run.bytes;
            (text, run.style, run.link.as_ref())
        })
    }

    /// Columns it takes when it begins at the left edge.
    pub fn width(&self) -> usize {
        if self.text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return self.text.len();
        }
        self.cells().last().map_or(0, |cell| cell.col + cell.width)
    }

    /// Lays a style under all of it.
    pub(crate) fn restyle(&mut self, below: Style) {
        for run in &mut self.runs {
            run.style = run.style.over(below);
        }
    }

    /// Takes the first `bytes` away and returns them.
    pub(crate) fn split_front(&mut self, bytes: usize) -> Row {
        let rest = self.text.split_off(bytes);
        let text = std::mem::replace(&mut self.text, rest);
        let (mark, art) = (self.mark.take(), self.art.take());
        let mut front = Row { text, runs: Vec::new(), begins: self.begins, mark, art };
        let mut left = bytes;
        let mut whole = 0;
        for run in &mut self.runs {
            if left == 0 {
                break;
            }
            let taken = run.bytes.min(left);
            left -= taken;
            front.runs.push(Run { bytes: taken, ..run.clone() });
            if taken == run.bytes {
                whole += 1;
            } else {
                run.bytes -= taken;
            }
        }
        self.runs.drain(..whole);
        self.begins = Begins::Within;
        front
    }

    /// What fits into so many columns.
    #[must_use]
    pub fn clipped(&self, cols: usize) -> Row {
        let end = self.cells().take_while(|cell| cell.col + cell.width <= cols).last();
        self.clone().split_front(end.map_or(0, |cell| cell.at + cell.text.len()))
    }

    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What stands where. Clusters do not reach over the end of a run.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut at = 0;
        let mut col = 0;
        let pieces = self.spans().flat_map(|(text, _, _)| text.split_inclusive('\t'));
        let parts = pieces.flat_map(|piece| {
            let (text, tab) = match piece.strip_suffix('\t') {
                Some(text) => (text, Some(Cluster { text: "\t", width: 0, doubtful: false })),
                None => (piece, None),
            };
            clusters(text).chain(tab)
        });
        parts.map(move |Cluster { text, width, doubtful }| {
            let width = if text == "\t" { TAB_COLS - col % TAB_COLS } else { width };
            let cell = Cell { text, at, col, width, doubtful };
            at += text.len();
            col += width;
            cell
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_lead_to_the_next_stop() {
        let row = Row::line("a\t水\tb", Style::PLAIN);
        let cols: Vec<_> = row.cells().map(|cell| (cell.col, cell.width)).collect();
        assert_eq!(cols, [(0, 1), (1, 7), (8, 2), (10, 6), (16, 1)]);
        assert_eq!(row.width(), 17);
    }

    #[test]
    fn splitting_keeps_styles() {
        let mut row = Row::line("ab", Style::BOLD);
        row.push("cd", Style::DIM);
        let front = row.split_front(3);
        assert_eq!(front.spans().map(|(text, ..)| text).collect::<Vec<_>>(), ["ab", "c"]);
        assert_eq!(row.spans().map(|(text, ..)| text).collect::<Vec<_>>(), ["d"]);
        assert_eq!(row.begins(), Begins::Within);
    }

    #[test]
    fn s12_no_row_holds_a_command() {
        let row = Row::line("a\x1b[2J\u{9b}\r\n\u{202e}b\tc", Style::PLAIN);
        assert_eq!(row.text(), "a␛[2J\u{fffd}␊\\u{202e}b\tc");
    }

    #[test]
    fn clipping_never_splits_a_wide_character() {
        assert_eq!(Row::line("a水b", Style::PLAIN).clipped(2).text(), "a");
    }
}
