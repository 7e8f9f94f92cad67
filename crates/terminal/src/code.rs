//! Text that is shown as it is, line by line: code, and what tools print.
//!
//! Nothing stands before a line that is not part of it, and a line that is too long goes on in the
//! next row as one line, so that copying it out gives what went in.

use crate::highlight::Highlighter;
use crate::inline::Ending;
use crate::limits::{HIGHLIGHT_LINE_BYTES_MAX, held_bytes_max};
use crate::row::{Begins, Row};
use crate::size::Size;
use crate::style::Style;

const PIECE_BYTES: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Code {
    size: Size,
    lead: Row,
    style: Style,
    colours: Option<Highlighter>,
    line: Line,
}

/// The line that has no end yet.
#[derive(Clone, Debug)]
enum Line {
    /// Held until it is whole, because its colours depend on all of it.
    Whole(String),
    /// Too long for that, or without colours: the row that is being filled.
    Filling(Row),
}

impl Code {
    /// Code in a language, which may be unknown. `lead` stands before every line.
    pub(crate) fn new(size: Size, lead: Row, language: &str) -> Code {
        let colours = Highlighter::new(language);
        let mut code =
            Code { size, lead, style: Style::PLAIN, colours, line: Line::Whole(String::new()) };
        code.line = code.empty_line();
        code
    }

    /// Text of one style.
    pub(crate) fn plain(size: Size, lead: Row, style: Style) -> Code {
        let line = Line::Filling(lead.clone());
        Code { size, lead, style, colours: None, line }
    }

    /// Appends a part of a line.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Row>) {
        if let Line::Whole(line) = &mut self.line {
            line.push_str(text);
            if line.len() <= HIGHLIGHT_LINE_BYTES_MAX.min(held_bytes_max(self.size)) {
                return;
            }
            let line = std::mem::take(line);
            self.line = Line::Filling(self.lead.clone());
            return self.fill(&line, out);
        }
        self.fill(text, out);
    }

    pub(crate) fn end_line(&mut self, out: &mut Vec<Row>) {
        let next = self.empty_line();
        match (std::mem::replace(&mut self.line, next), &mut self.colours) {
            (Line::Filling(row), _) => out.push(row),
            (Line::Whole(line), Some(colours)) => {
                let mut row = self.lead.clone();
                colours.line(&line, &mut row);
                self.lay_out(row, out);
            }
            (Line::Whole(line), None) => {
                let mut row = self.lead.clone();
                row.push(&line, self.style);
                self.lay_out(row, out);
            }
        }
    }

    /// Ends the last line, if it has begun. A line that may go on is shown without its colours:
    /// they depend on all of it, and finding them for every few characters costs too much.
    pub(crate) fn finish(&mut self, ending: Ending, out: &mut Vec<Row>) {
        if ending != Ending::Ended {
            self.freeze(out);
        }
        if self.has_begun() {
            self.end_line(out);
        }
    }

    pub(crate) fn set_size(&mut self, size: Size, out: &mut Vec<Row>) {
        self.size = size;
        if let Line::Filling(row) = &mut self.line {
            let row = std::mem::take(row);
            let last = self.split_rows(row, out);
            self.line = Line::Filling(last);
        }
    }

    fn has_begun(&self) -> bool {
        match &self.line {
            Line::Whole(line) => !line.is_empty(),
            Line::Filling(row) => {
                row.text().len() > self.lead.text().len() || row.begins() != Begins::Line
            }
        }
    }

    fn empty_line(&self) -> Line {
        match &self.colours {
            Some(_) => Line::Whole(String::new()),
            None => Line::Filling(self.lead.clone()),
        }
    }

    fn fill(&mut self, text: &str, out: &mut Vec<Row>) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = (PIECE_BYTES..rest.len()).find(|&at| rest.is_char_boundary(at));
            let (piece, later) = rest.split_at(end.unwrap_or(rest.len()));
            let Line::Filling(row) = &mut self.line else { return };
            row.push(piece, self.style);
            let row = std::mem::take(row);
            let last = self.split_rows(row, out);
            self.line = Line::Filling(last);
            rest = later;
        }
    }

    /// Settles what is held of the line as it is shown now; its rest has no colours.
    pub(crate) fn freeze(&mut self, out: &mut Vec<Row>) {
        if let Line::Whole(line) = &self.line
            && !line.is_empty()
        {
            let mut row = self.lead.clone();
            row.push(line, self.style);
            let last = self.split_rows(row, out);
            self.line = Line::Filling(last);
        }
    }

    /// Ends the row that is being filled, in the middle of its line.
    pub(crate) fn cut_row(&mut self, out: &mut Vec<Row>) {
        if let Line::Filling(row) = &mut self.line {
            let mut next = self.lead.clone();
            next.set_begins(Begins::Within);
            out.push(std::mem::replace(row, next));
        }
    }

    pub(crate) fn lay_out(&self, row: Row, out: &mut Vec<Row>) {
        let last = self.split_rows(row, out);
        out.push(last);
    }

    /// Hands out full rows, and returns what is left.
    fn split_rows(&self, mut row: Row, out: &mut Vec<Row>) -> Row {
        let cols = self.size.width();
        while cols < row.width() {
            let lead = self.lead.text().len();
            let over = row.cells().find(|cell| cell.col + cell.width > cols && cell.at > lead);
            let Some(at) = over.map(|cell| cell.at) else { return row };
            let front = row.split_front(at);
            let mut next = self.lead.clone();
            next.set_begins(Begins::Within);
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

    fn rows(language: &str, cols: u16, chunks: &[&str]) -> Vec<Row> {
        let mut out = Vec::new();
        let mut code = Code::new(Size::new(cols, 10), Row::default(), language);
        for chunk in chunks {
            for piece in chunk.split_inclusive('\n') {
                code.push(piece.trim_end_matches('\n'), &mut out);
                if piece.ends_with('\n') {
                    code.end_line(&mut out);
                }
            }
        }
        code.finish(Ending::Ended, &mut out);
        out
    }

    #[track_caller]
    fn check(language: &str, cols: u16, text: &str) {
        let whole = rows(language, cols, &[text]);
        let joined: String = whole
            .iter()
            .enumerate()
            .map(|(at, row)| {
                if at > 0 && row.begins() == Begins::Line { "\n" } else { "" }.to_owned()
                    + row.text()
            })
            .collect();
        assert_eq!(joined, text.trim_end_matches('\n'), "nothing is added or lost");
        assert!(whole.iter().all(|row| row.width() <= usize::from(cols)));
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
        assert_eq!(rows(language, cols, &chars), whole);
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
