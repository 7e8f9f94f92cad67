//! Text that is no Markdown to rows, as it arrives: what tools print, commands, code of a file.
//!
//! The same promises as [`Markdown`](crate::markdown::Markdown): a row is handed out once, when it
//! cannot change any more, and how the text was cut does not show.

use crate::code::Code;
use crate::inline::Ending;
use crate::row::Row;
use crate::size::Size;
use crate::style::Style;
use crate::text::Neutraliser;

#[derive(Clone, Debug)]
pub struct Lines {
    neutral: Neutraliser,
    code: Code,
    settled: Vec<Row>,
}

impl Lines {
    /// Text of one style, each line after `lead`.
    #[must_use]
    pub fn new(size: Size, lead: Row, style: Style) -> Lines {
        Lines::of(Code::plain(size, lead, style))
    }

    /// Code in a language as an info string names it, which may be unknown.
    #[must_use]
    pub fn code(size: Size, language: &str) -> Lines {
        Lines::of(Code::new(size, Row::default(), language))
    }

    fn of(code: Code) -> Lines {
        Lines { neutral: Neutraliser::default(), code, settled: Vec::new() }
    }

    /// Appends text exactly as it arrived.
    pub fn push(&mut self, text: &str) {
        let mut clean = String::with_capacity(text.len());
        self.neutral.push(text, &mut clean);
        let mut rest = clean.as_str();
        while let Some(end) = rest.find('\n') {
            self.code.push(&rest[..end], &mut self.settled);
            self.code.end_line(&mut self.settled);
            rest = &rest[end + 1..];
        }
        self.code.push(rest, &mut self.settled);
    }

    /// Says that nothing follows: everything is settled.
    pub fn finish(&mut self) {
        self.code.finish(Ending::Ended, &mut self.settled);
    }

    /// The rows that have settled since the last call, in order.
    pub fn take_settled(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.settled)
    }

    /// What is not settled, as it looks now.
    pub fn live(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.code.clone().finish(Ending::Shown, &mut rows);
        rows
    }

    /// From now on rows are made for a screen of this size.
    pub fn set_size(&mut self, size: Size) {
        self.code.set_size(size, &mut self.settled);
    }

    /// Says that the first `rows` live rows have scrolled away as they were shown: they count as
    /// settled and are not handed out again. What has settled before must have been taken.
    pub fn scrolled_away(&mut self, rows: usize) {
        let before = self.settled.len();
        self.code.freeze(&mut self.settled);
        if self.settled.len() - before < rows {
            self.code.cut_row(&mut self.settled);
        }
        let gone = rows.min(self.settled.len() - before);
        self.settled.drain(before..before + gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn lines_settle_when_they_end_and_long_ones_row_by_row() {
        let mut lines = Lines::new(Size::new(6, 10), Row::line("> ", Style::DIM), Style::PLAIN);
        lines.push("abcdef\x1b\r\n\nxy");
        assert_eq!(texts(&lines.take_settled()), ["> abcd", "> ef␛", "> "]);
        assert_eq!(texts(&lines.live()), ["> xy"]);
        lines.scrolled_away(1);
        lines.push("z\n");
        lines.finish();
        assert_eq!(texts(&lines.take_settled()), ["> z"]);
        assert!(lines.live().is_empty());
    }

    #[test]
    fn code_has_its_colours_once_a_line_is_whole() {
        let mut lines = Lines::code(Size::new(40, 10), "rust");
        lines.push("let a");
        assert_eq!(lines.live()[0].spans().count(), 1);
        lines.push(" = 1;\n");
        assert!(lines.take_settled()[0].spans().count() > 1);
    }
}
