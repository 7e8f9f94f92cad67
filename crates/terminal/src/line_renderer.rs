//! Incremental renderer for text that is not Markdown: tool output, commands, files.
//!
//! Same invariant as [`MarkdownRenderer`](crate::markdown::MarkdownRenderer): a row is returned once, when it
//! cannot change any more, and chunk boundaries do not show.

use crate::code::CodeRenderer;
use crate::inline::Ending;
use crate::row::Row;
use crate::size::Size;
use crate::style::Style;
use crate::text::Neutraliser;

/// Renders lines of plain text or code into rows.
#[derive(Clone, Debug)]
pub struct LineRenderer {
    neutraliser: Neutraliser,
    code: CodeRenderer,
    settled: Vec<Row>,
}

impl LineRenderer {
    /// Creates a renderer for text of one style, with `lead` before each line.
    #[must_use]
    pub fn new(size: Size, lead: Row, style: Style) -> LineRenderer {
        LineRenderer::with_renderer(CodeRenderer::for_plain_text(size, lead, style))
    }

    /// Creates a renderer for code; `language` is an info string and may be unknown.
    #[must_use]
    pub fn for_code(size: Size, language: &str) -> LineRenderer {
        LineRenderer::with_renderer(CodeRenderer::new(size, Row::default(), language))
    }

    fn with_renderer(code: CodeRenderer) -> LineRenderer {
        LineRenderer { neutraliser: Neutraliser::default(), code, settled: Vec::new() }
    }

    /// Appends a chunk of text.
    pub fn push(&mut self, text: &str) {
        let mut clean = String::with_capacity(text.len());
        self.neutraliser.push(text, &mut clean);
        let mut rest = clean.as_str();
        while let Some(end) = rest.find('\n') {
            self.code.push(&rest[..end], &mut self.settled);
            self.code.end_line(&mut self.settled);
            rest = &rest[end + 1..];
        }
        self.code.push(rest, &mut self.settled);
    }

    /// Ends the text and settles everything.
    pub fn finish(&mut self) {
        self.code.finish(Ending::Final, &mut self.settled);
    }

    /// Returns the rows that have settled since the last call, in order.
    pub fn take_settled(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.settled)
    }

    /// Returns the unsettled rows as they look now.
    pub fn live_rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.code.clone().finish(Ending::Preview, &mut rows);
        rows
    }

    /// Lays out later rows for a screen of this size.
    pub fn set_size_and_rewrap(&mut self, size: Size) {
        self.code.set_size_and_rewrap(size, &mut self.settled);
    }

    /// Settles the first `rows` live rows without returning them: they scrolled away as they were
    /// shown. Call `take_settled` before.
    pub fn settle_as_shown_and_drop_rows(&mut self, rows: usize) {
        let before = self.settled.len();
        self.code.settle_held_line_unhighlighted(&mut self.settled);
        if self.settled.len() - before < rows {
            self.code.end_row_mid_line(&mut self.settled);
        }
        let gone = rows.min(self.settled.len() - before);
        self.settled.drain(before..before + gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_texts(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn lines_settle_when_they_end_and_long_ones_row_by_row() {
        let mut lines =
            LineRenderer::new(Size::new(6, 10), Row::from_text("> ", Style::DIM), Style::PLAIN);
        lines.push("abcdef\x1b\r\n\nxy");
        assert_eq!(row_texts(&lines.take_settled()), ["> abcd", "> ef␛", "> "]);
        assert_eq!(row_texts(&lines.live_rows()), ["> xy"]);
        lines.settle_as_shown_and_drop_rows(1);
        lines.push("z\n");
        lines.finish();
        assert_eq!(row_texts(&lines.take_settled()), ["> z"]);
        assert!(lines.live_rows().is_empty());
    }

    #[test]
    fn code_has_its_colours_once_a_line_is_whole() {
        let mut lines = LineRenderer::for_code(Size::new(40, 10), "rust");
        lines.push("let a");
        assert_eq!(lines.live_rows()[0].spans().count(), 1);
        lines.push(" = 1;\n");
        assert!(lines.take_settled()[0].spans().count() > 1);
    }
}
