//! The cells of a table's lines: how many there are, and whether a line is one of delimiters.

/// Counts the cells of a line, as a table's head would have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellCount {
    /// Bars that are not escaped.
    bars: usize,
    /// The line begins with a bar.
    leads: bool,
    last: Last,
}

/// Class of the last character, white space aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Text,
    Backslash,
    Bar,
}

impl CellCount {
    pub(super) fn new() -> CellCount {
        CellCount { bars: 0, leads: false, last: Last::Nothing }
    }

    pub(super) fn push_byte(&mut self, byte: u8) {
        self.last = match (byte, self.last) {
            (b'|', last) if last != Last::Backslash => {
                self.leads |= last == Last::Nothing;
                self.bars += 1;
                Last::Bar
            }
            (b'\\', last) if last != Last::Backslash => Last::Backslash,
            (b' ' | b'\t' | b'\r', last) if last != Last::Backslash => last,
            _ => Last::Text,
        };
    }

    /// Creates the count of a line that has text before what is read next.
    pub(super) fn new_after_text() -> CellCount {
        CellCount { last: Last::Text, ..CellCount::new() }
    }

    /// Reads text without bars and backslashes; usually this compares one field and returns.
    #[inline]
    pub(super) fn push_plain_text(&mut self, plain: &[u8]) {
        if self.last != Last::Text && !plain.trim_ascii().is_empty() {
            self.last = Last::Text;
        }
    }

    pub(super) fn begins_with_bar(&self) -> bool {
        self.leads
    }

    /// Number of cells of the line; 0 if it has no bar, or nothing but one.
    pub(super) fn cell_count(&self) -> usize {
        let inner = self.bars - usize::from(self.leads);
        match (self.bars, self.last) {
            (0, _) => 0,
            (_, Last::Bar) => inner,
            _ => inner + 1,
        }
    }
}

/// A line of delimiters, such as `|---|:-:|`, as far as it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DelimiterRow {
    bars: usize,
    /// Cells that ended with a bar.
    cells: usize,
    cell: DelimiterCell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DelimiterCell {
    /// Nothing of the line but white space.
    LineStart,
    /// Nothing of the cell but white space.
    Start,
    Colon,
    Dashes,
    /// Nothing but white space may follow in this cell.
    Ended,
}

impl DelimiterRow {
    pub(super) fn new() -> DelimiterRow {
        DelimiterRow { bars: 0, cells: 0, cell: DelimiterCell::LineStart }
    }

    /// Reads one more byte; `None` if the line is no line of delimiters.
    pub(super) fn push_byte(mut self, byte: u8) -> Option<DelimiterRow> {
        use DelimiterCell::{Colon, Dashes, Ended, LineStart, Start};
        self.bars += usize::from(byte == b'|');
        self.cell = match (self.cell, byte) {
            (cell @ (LineStart | Start | Ended), b' ' | b'\t' | b'\r') => cell,
            (LineStart, b'|') => Start,
            (LineStart | Start, b':') => Colon,
            (LineStart | Start | Colon | Dashes, b'-') => Dashes,
            (Dashes, b':' | b' ' | b'\t' | b'\r') => Ended,
            (Dashes | Ended, b'|') => {
                self.cells += 1;
                Start
            }
            _ => return None,
        };
        Some(self)
    }

    /// Number of columns of the table, now that the line has ended; 0 if it has no delimiters.
    pub(super) fn column_count_at_line_end(self) -> usize {
        match self.cell {
            // It is the underline of a heading.
            _ if self.bars == 0 => 0,
            DelimiterCell::Dashes | DelimiterCell::Ended => self.cells + 1,
            DelimiterCell::Start => self.cells,
            DelimiterCell::LineStart | DelimiterCell::Colon => 0,
        }
    }
}
