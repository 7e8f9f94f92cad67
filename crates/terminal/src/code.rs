//! Incremental renderer for verbatim lines: code blocks and tool output.
//!
//! A line has no prefix except quote bars, and a line longer than the row continues in the next row
//! as the same line, so that copying it gives the original text.

use crate::highlight::Highlighter;
use crate::inline::Ending;
use crate::limits::{HIGHLIGHT_LINE_BYTES_MAX, held_bytes_max};
use crate::row::{Row, RowStart};
use crate::size::Size;
use crate::style::Style;

/// Bytes laid out at a time.
const PIECE_BYTES: usize = 256;

/// Renderer of verbatim lines, with syntax highlighting for known languages.
#[derive(Clone, Debug)]
pub(crate) struct CodeRenderer {
    size: Size,
    lead: Row,
    style: Style,
    highlighter: Option<Highlighter>,
    line: OpenLine,
}

/// The line that has not ended yet.
#[derive(Clone, Debug)]
enum OpenLine {
    /// Held until complete, because highlighting needs the whole line.
    Held(String),
    /// The row being filled, for a line that is not highlighted or too long for it.
    Filling(Row),
}

impl CodeRenderer {
    /// Creates a renderer for a language, which may be unknown. `lead` is put before every line.
    pub(crate) fn new(size: Size, lead: Row, language: &str) -> CodeRenderer {
        let colours = Highlighter::new(language);
        let mut code = CodeRenderer {
            size,
            lead,
            style: Style::PLAIN,
            highlighter: colours,
            line: OpenLine::Held(String::new()),
        };
        code.line = code.build_empty_line();
        code
    }

    /// Creates a renderer for text of one style.
    pub(crate) fn for_plain_text(size: Size, lead: Row, style: Style) -> CodeRenderer {
        let line = OpenLine::Filling(lead.clone());
        CodeRenderer { size, lead, style, highlighter: None, line }
    }

    /// Appends a part of a line.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Row>) {
        if let OpenLine::Held(line) = &mut self.line {
            line.push_str(text);
            if line.len() <= HIGHLIGHT_LINE_BYTES_MAX.min(held_bytes_max(self.size)) {
                return;
            }
            let line = std::mem::take(line);
            self.line = OpenLine::Filling(self.lead.clone());
            return self.push_text_unhighlighted(&line, out);
        }
        self.push_text_unhighlighted(text, out);
    }

    pub(crate) fn end_line(&mut self, out: &mut Vec<Row>) {
        let next = self.build_empty_line();
        match (std::mem::replace(&mut self.line, next), &mut self.highlighter) {
            (OpenLine::Filling(row), _) => out.push(row),
            (OpenLine::Held(line), Some(colours)) => {
                let mut row = self.lead.clone();
                colours.push_highlighted_line(&line, &mut row);
                self.push_wrapped_row(row, out);
            }
            (OpenLine::Held(line), None) => {
                let mut row = self.lead.clone();
                row.push(&line, self.style);
                self.push_wrapped_row(row, out);
            }
        }
    }

    /// Ends the last line if it has any text. A line that may continue is not highlighted: that
    /// needs the whole line, and doing it again for every few characters costs too much.
    pub(crate) fn finish(&mut self, ending: Ending, out: &mut Vec<Row>) {
        if ending != Ending::Final {
            self.settle_held_line_unhighlighted(out);
        }
        if self.has_unfinished_line() {
            self.end_line(out);
        }
    }

    pub(crate) fn set_size_and_rewrap(&mut self, size: Size, out: &mut Vec<Row>) {
        self.size = size;
        if let OpenLine::Filling(row) = &mut self.line {
            let row = std::mem::take(row);
            let last = self.push_full_rows(row, out);
            self.line = OpenLine::Filling(last);
        }
    }

    fn has_unfinished_line(&self) -> bool {
        match &self.line {
            OpenLine::Held(line) => !line.is_empty(),
            OpenLine::Filling(row) => {
                row.text().len() > self.lead.text().len() || row.row_start() != RowStart::NewLine
            }
        }
    }

    fn build_empty_line(&self) -> OpenLine {
        match &self.highlighter {
            Some(_) => OpenLine::Held(String::new()),
            None => OpenLine::Filling(self.lead.clone()),
        }
    }

    fn push_text_unhighlighted(&mut self, text: &str, out: &mut Vec<Row>) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = (PIECE_BYTES..rest.len()).find(|&at| rest.is_char_boundary(at));
            let (piece, later) = rest.split_at(end.unwrap_or(rest.len()));
            let OpenLine::Filling(row) = &mut self.line else { return };
            row.push(piece, self.style);
            let row = std::mem::take(row);
            let last = self.push_full_rows(row, out);
            self.line = OpenLine::Filling(last);
            rest = later;
        }
    }

    /// Settles the held part of the line as it is shown now; the rest is not highlighted.
    pub(crate) fn settle_held_line_unhighlighted(&mut self, out: &mut Vec<Row>) {
        if let OpenLine::Held(line) = &self.line
            && !line.is_empty()
        {
            let mut row = self.lead.clone();
            row.push(line, self.style);
            let last = self.push_full_rows(row, out);
            self.line = OpenLine::Filling(last);
        }
    }

    /// Ends the row being filled, in the middle of its line.
    pub(crate) fn end_row_mid_line(&mut self, out: &mut Vec<Row>) {
        if let OpenLine::Filling(row) = &mut self.line {
            let mut next = self.lead.clone();
            next.set_row_start(RowStart::WithoutSpace);
            out.push(std::mem::replace(row, next));
        }
    }

    pub(crate) fn push_wrapped_row(&self, row: Row, out: &mut Vec<Row>) {
        let last = self.push_full_rows(row, out);
        out.push(last);
    }

    /// Pushes the full rows of `row` and returns the remainder.
    fn push_full_rows(&self, mut row: Row, out: &mut Vec<Row>) -> Row {
        let cols = self.size.width();
        while cols < row.width() {
            let lead = self.lead.text().len();
            let over = row.cells().find(|cell| cell.col + cell.width > cols && cell.offset > lead);
            let Some(at) = over.map(|cell| cell.offset) else { return row };
            let front = row.split_off_front_bytes(at);
            let mut next = self.lead.clone();
            next.set_row_start(RowStart::WithoutSpace);
            next.push_row(&row);
            out.push(front);
            row = next;
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_chunks(language: &str, cols: u16, chunks: &[&str]) -> Vec<Row> {
        let mut out = Vec::new();
        let mut code = CodeRenderer::new(Size::new(cols, 10), Row::default(), language);
        for chunk in chunks {
            for piece in chunk.split_inclusive('\n') {
                code.push(piece.trim_end_matches('\n'), &mut out);
                if piece.ends_with('\n') {
                    code.end_line(&mut out);
                }
            }
        }
        code.finish(Ending::Final, &mut out);
        out
    }

    #[track_caller]
    fn check(language: &str, cols: u16, text: &str) {
        let whole = render_chunks(language, cols, &[text]);
        let joined: String = whole
            .iter()
            .enumerate()
            .map(|(at, row)| {
                if at > 0 && row.row_start() == RowStart::NewLine { "\n" } else { "" }.to_owned()
                    + row.text()
            })
            .collect();
        assert_eq!(joined, text.trim_end_matches('\n'), "nothing is added or lost");
        assert!(whole.iter().all(|row| row.width() <= usize::from(cols)));
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
        assert_eq!(render_chunks(language, cols, &chars), whole);
    }

    #[test]
    fn long_lines_go_on_below() {
        check("", 7, "abcdefghijklmnopqrst\n\n  x\n水水水水e\u{301}水\n");
        check("rust", 7, "let abc = 1; // long enough\nfn x() {}");
    }

    #[test]
    fn a_line_too_long_for_colours_is_cut_alike_however_it_comes() {
        check("rust", 20, &format!("let a = \"{}\";\nlet b = 1;", "x".repeat(400)));
    }
}
