//! A row: styled text of one screen line.
//!
//! A row has no position on the screen. Hyperlinks never change its geometry.
//!
//! Invariant: its text contains no line end, no control character except tabs, and no bidi control.

use std::borrow::Cow;
use std::sync::Arc;

use crate::graphics::TerminalImage;
use crate::hyperlinks::Hyperlink;
use crate::style::Style;
use crate::text::{Cluster, TAB_COLS, clusters, neutralise_row_text};

/// How a row continues the one above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowStart {
    /// Starts a new line.
    #[default]
    NewLine,
    /// Continues the line after a space that is not shown.
    AfterSpace,
    /// Continues the line without a space.
    WithoutSpace,
}

/// Length, style and hyperlink of consecutive text in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StyleRun {
    pub(crate) bytes: usize,
    pub(crate) style: Style,
    pub(crate) link: Option<Hyperlink>,
}

/// OSC 133 mark on a row, which lets terminals jump between prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemanticMark {
    Prompt,
    Output,
}

/// Styled text of one screen line, with an optional mark and image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    text: String,
    style_runs: Vec<StyleRun>,
    start: RowStart,
    mark: Option<SemanticMark>,
    /// An image that covers this row and the blank rows below it.
    image: Option<Arc<TerminalImage>>,
}

/// One grapheme cluster or tab at its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    pub(crate) text: &'a str,
    /// Byte offset in the row.
    pub(crate) offset: usize,
    pub(crate) col: usize,
    pub(crate) width: usize,
    /// Terminals disagree on its width: the cursor is repositioned after it.
    pub(crate) width_uncertain: bool,
}

impl Row {
    #[must_use]
    pub fn new(start: RowStart) -> Row {
        Row { start, ..Row::default() }
    }

    /// Creates a row of one style that starts a new line.
    #[must_use]
    pub fn from_text(text: &str, style: Style) -> Row {
        let mut row = Row::default();
        row.push(text, style);
        row
    }

    /// Appends text; control characters are replaced by visible symbols.
    pub fn push(&mut self, text: &str, style: Style) {
        self.push_linked(text, style, None);
    }

    /// Appends text with an optional hyperlink.
    pub fn push_linked(&mut self, text: &str, style: Style, link: Option<&Hyperlink>) {
        let text: Cow<'_, str> = neutralise_row_text(text);
        if text.is_empty() {
            return;
        }
        self.text.push_str(&text);
        match self.style_runs.last_mut() {
            Some(run) if run.style == style && run.link.as_ref() == link => run.bytes += text.len(),
            _ => self.style_runs.push(StyleRun { bytes: text.len(), style, link: link.cloned() }),
        }
    }

    /// Appends the text of another row with its styles.
    pub fn push_row(&mut self, row: &Row) {
        for (text, style, link) in row.spans() {
            self.push_linked(text, style, link);
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn row_start(&self) -> RowStart {
        self.start
    }

    pub(crate) fn set_row_start(&mut self, begins: RowStart) {
        self.start = begins;
    }

    pub fn semantic_mark(&self) -> Option<SemanticMark> {
        self.mark
    }

    pub(crate) fn image(&self) -> Option<&Arc<TerminalImage>> {
        self.image.as_ref()
    }

    #[must_use]
    pub(crate) fn with_image(self, art: Arc<TerminalImage>) -> Row {
        Row { image: Some(art), ..self }
    }

    #[must_use]
    pub fn with_semantic_mark(self, mark: SemanticMark) -> Row {
        Row { mark: Some(mark), ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Iterates over texts with their style and hyperlink.
    pub fn spans(&self) -> impl Iterator<Item = (&str, Style, Option<&Hyperlink>)> {
        let mut at = 0;
        self.style_runs.iter().map(move |run| {
            let text = &self.text[at..at + run.bytes];
            at += run.bytes;
            (text, run.style, run.link.as_ref())
        })
    }

    /// Returns the columns it takes from the left edge.
    pub fn width(&self) -> usize {
        if self.text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return self.text.len();
        }
        self.cells().last().map_or(0, |cell| cell.col + cell.width)
    }

    /// Puts a style beneath the style of every part.
    pub(crate) fn apply_base_style(&mut self, below: Style) {
        for run in &mut self.style_runs {
            run.style = run.style.layered_over(below);
        }
    }

    /// Removes the first `bytes` and returns them as a row.
    pub(crate) fn split_off_front_bytes(&mut self, bytes: usize) -> Row {
        let rest = self.text.split_off(bytes);
        let text = std::mem::replace(&mut self.text, rest);
        let (mark, art) = (self.mark.take(), self.image.take());
        let mut front = Row { text, style_runs: Vec::new(), start: self.start, mark, image: art };
        let mut left = bytes;
        let mut whole = 0;
        for run in &mut self.style_runs {
            if left == 0 {
                break;
            }
            let taken = run.bytes.min(left);
            left -= taken;
            front.style_runs.push(StyleRun { bytes: taken, ..run.clone() });
            if taken == run.bytes {
                whole += 1;
            } else {
                run.bytes -= taken;
            }
        }
        self.style_runs.drain(..whole);
        self.start = RowStart::WithoutSpace;
        front
    }

    /// Returns the part that fits into `cols` columns.
    #[must_use]
    pub fn clip_to_width(&self, cols: usize) -> Row {
        let end = self.cells().take_while(|cell| cell.col + cell.width <= cols).last();
        self.clone().split_off_front_bytes(end.map_or(0, |cell| cell.offset + cell.text.len()))
    }

    pub(crate) fn style_runs(&self) -> &[StyleRun] {
        &self.style_runs
    }

    /// Iterates over the cells. A cluster does not cross the end of a style run.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut at = 0;
        let mut col = 0;
        let pieces = self.spans().flat_map(|(text, _, _)| text.split_inclusive('\t'));
        let parts = pieces.flat_map(|piece| {
            let (text, tab) = match piece.strip_suffix('\t') {
                Some(text) => {
                    (text, Some(Cluster { text: "\t", width: 0, width_uncertain: false }))
                }
                None => (piece, None),
            };
            clusters(text).chain(tab)
        });
        parts.map(move |Cluster { text, width, width_uncertain: doubtful }| {
            let width = if text == "\t" { TAB_COLS - col % TAB_COLS } else { width };
            let cell = Cell { text, offset: at, col, width, width_uncertain: doubtful };
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
        let row = Row::from_text("a\t水\tb", Style::PLAIN);
        let cols: Vec<_> = row.cells().map(|cell| (cell.col, cell.width)).collect();
        assert_eq!(cols, [(0, 1), (1, 7), (8, 2), (10, 6), (16, 1)]);
        assert_eq!(row.width(), 17);
    }

    #[test]
    fn splitting_keeps_styles() {
        let mut row = Row::from_text("ab", Style::BOLD);
        row.push("cd", Style::DIM);
        let front = row.split_off_front_bytes(3);
        assert_eq!(front.spans().map(|(text, ..)| text).collect::<Vec<_>>(), ["ab", "c"]);
        assert_eq!(row.spans().map(|(text, ..)| text).collect::<Vec<_>>(), ["d"]);
        assert_eq!(row.row_start(), RowStart::WithoutSpace);
    }

    #[test]
    fn s12_no_row_holds_a_command() {
        let row = Row::from_text("a\x1b[2J\u{9b}\r\n\u{202e}b\tc", Style::PLAIN);
        assert_eq!(row.text(), "a␛[2J\u{fffd}␊\\u{202e}b\tc");
    }

    #[test]
    fn clipping_never_splits_a_wide_character() {
        assert_eq!(Row::from_text("a水b", Style::PLAIN).clip_to_width(2).text(), "a");
    }
}
