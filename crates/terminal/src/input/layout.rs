//! How a text that is being written lies on rows.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Where something is on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub row: usize,
    pub column: usize,
}

/// Rows, as ranges of the text; line breaks are in none.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    rows: Vec<Range<usize>>,
}

impl Layout {
    pub(super) fn new(text: &str, columns: usize, width: impl Fn(&str) -> usize) -> Layout {
        let columns = columns.max(1);
        let (mut rows, mut start) = (Vec::new(), 0);
        for line in text.split('\n') {
            let end = start + line.len();
            lay_line(&text[start..end], start, columns, &width, &mut rows);
            start = end + 1;
        }
        Layout { rows }
    }

    pub(super) fn rows(&self) -> &[Range<usize>] {
        &self.rows
    }

    pub(super) fn place_of(
        &self,
        text: &str,
        cursor: usize,
        width: impl Fn(&str) -> usize,
    ) -> Place {
        // After the last character of a row that goes on below, one stands before the next row.
        let row = self.rows.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
        let start = self.rows.get(row).map_or(0, |row| row.start);
        Place { row, column: width(&text[start..cursor]) }
    }

    /// The place in a row that is nearest to a column, not beyond it.
    pub(super) fn at_column(
        &self,
        text: &str,
        row: Range<usize>,
        column: usize,
        width: impl Fn(&str) -> usize,
    ) -> usize {
        // The end of a row that goes on below is the beginning of the next.
        let goes_on = self.rows.iter().any(|next| next.start == row.end && next.start != row.start);
        let (mut at, mut before) = (row.start, 0);
        for part in text[row.clone()].graphemes(true) {
            before += width(part);
            if column < before || (goes_on && at + part.len() == row.end) {
                break;
            }
            at += part.len();
        }
        at
    }
}

/// Breaks a line behind a blank where there is one, else where the row is full.
fn lay_line(
    line: &str,
    offset: usize,
    columns: usize,
    width: &impl Fn(&str) -> usize,
    rows: &mut Vec<Range<usize>>,
) {
    let (mut start, mut blank, mut used) = (0, None, 0);
    for (at, part) in line.grapheme_indices(true) {
        let wide = width(part);
        // A blank at the end of a row needs no room of its own.
        if columns < used + wide && start < at && part != " " {
            let end = blank.unwrap_or(at);
            rows.push(offset + start..offset + end);
            start = end;
            used = width(&line[start..at]);
            blank = None;
        }
        used += wide;
        if part == " " {
            blank = Some(at + 1);
        }
    }
    rows.push(offset + start..offset + line.len());
    // Behind a row that is full the cursor has a row of its own.
    if columns <= used && !line.is_empty() {
        rows.push(offset + line.len()..offset + line.len());
    }
}
