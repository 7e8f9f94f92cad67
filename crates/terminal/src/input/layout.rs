//! Wrapping of the editor's text into rows.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Row and column in the wrapped text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPosition {
    pub row: usize,
    pub column: usize,
}

/// Rows as byte ranges of the text, without line breaks.
#[derive(Clone, Debug)]
pub(super) struct EditorLayout {
    rows: Vec<Range<usize>>,
}

impl EditorLayout {
    pub(super) fn new(text: &str, columns: usize, width: impl Fn(&str) -> usize) -> EditorLayout {
        let columns = columns.max(1);
        let (mut rows, mut start) = (Vec::new(), 0);
        for line in text.split('\n') {
            let end = start + line.len();
            wrap_line(&text[start..end], start, columns, &width, &mut rows);
            start = end + 1;
        }
        EditorLayout { rows }
    }

    pub(super) fn rows(&self) -> &[Range<usize>] {
        &self.rows
    }

    pub(super) fn position_of(
        &self,
        text: &str,
        cursor: usize,
        width: impl Fn(&str) -> usize,
    ) -> TextPosition {
        // At a soft wrap the cursor is at the start of the next row.
        let row = self.rows.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
        let start = self.rows.get(row).map_or(0, |row| row.start);
        TextPosition { row, column: width(&text[start..cursor]) }
    }

    /// Returns the byte offset in `row` nearest to `column`, not beyond it.
    pub(super) fn offset_at_column(
        &self,
        text: &str,
        row: Range<usize>,
        column: usize,
        width: impl Fn(&str) -> usize,
    ) -> usize {
        // The end of a soft-wrapped row is the start of the next.
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

/// Wraps a line after the last space that fits, else at the edge.
fn wrap_line(
    line: &str,
    offset: usize,
    columns: usize,
    width: &impl Fn(&str) -> usize,
    rows: &mut Vec<Range<usize>>,
) {
    let (mut start, mut blank, mut used) = (0, None, 0);
    for (at, part) in line.grapheme_indices(true) {
        let wide = width(part);
        // A space at the end of a row takes no room.
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
    // After a full row the cursor gets a row of its own.
    if columns <= used && !line.is_empty() {
        rows.push(offset + line.len()..offset + line.len());
    }
}
