//! Lines of nothing but marks: thematic breaks, underlines of headings, delimiters of tables.
//!
//! What such a line is shows only at its end, and until then it may as well be list items or text;
//! those are read at the same time.

use super::line::{Position, is_white};
use super::table::DelimiterRow;

/// Fewest marks that make a thematic break.
const BREAK_MARKS_MIN: usize = 3;

/// Kind of a line of marks, decided at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WholeLine {
    ThematicBreak,
    Underline(u8),
    Delimiters,
}

/// Possible continuation of a line of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// No paragraph, or one that the line may only go on with by being text.
    Nothing,
    Paragraph {
        /// Cells of its last line, if that may be the head of a table.
        head_cells: usize,
    },
}

/// A line that has been nothing but marks, and what it may still be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkLine {
    thematic_break: Option<Marks>,
    underline: Option<Underline>,
    delimiters: Option<DelimiterRow>,
    head_cells: usize,
    pub(super) place: Place,
}

/// Position of a line of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Containers around it.
    pub(super) depth: usize,
    /// Where the content of the innermost begins.
    pub(super) content: Position,
    /// Bytes of the line before it.
    pub(super) begins: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    mark: u8,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Underline {
    Marks(Marks),
    /// White space after the marks.
    Ended(Marks),
}

impl MarkLine {
    /// Begins a line whose content begins with `byte`; `None` if it cannot be a line of marks.
    pub(super) fn begin(byte: u8, before: Before, place: Place) -> Option<MarkLine> {
        let (in_paragraph, head_cells) = match before {
            Before::Nothing => (false, 0),
            Before::Paragraph { head_cells } => (true, head_cells),
        };
        let breaks = matches!(byte, b'-' | b'*' | b'_');
        let underlines = in_paragraph && matches!(byte, b'-' | b'=');
        let delimits = 0 < head_cells && matches!(byte, b'|' | b':' | b'-');
        if !(breaks || underlines || delimits) {
            return None;
        }
        let mut line = MarkLine {
            thematic_break: breaks.then_some(Marks { mark: byte, count: 0 }),
            underline: underlines.then_some(Underline::Marks(Marks { mark: byte, count: 0 })),
            delimiters: delimits.then_some(DelimiterRow::new()),
            head_cells,
            place,
        };
        line.push_byte(byte).then_some(line)
    }

    /// Reads one more byte. Returns true if the line may still be one of marks.
    #[must_use]
    pub(super) fn push_byte(&mut self, byte: u8) -> bool {
        let is_white = is_white(byte);
        if let Some(marks) = &mut self.thematic_break {
            if marks.mark == byte {
                marks.count += 1;
            } else if !is_white {
                self.thematic_break = None;
            }
        }
        match &mut self.underline {
            Some(Underline::Marks(marks)) if marks.mark == byte => marks.count += 1,
            Some(Underline::Marks(marks) | Underline::Ended(marks)) if is_white => {
                self.underline = Some(Underline::Ended(*marks));
            }
            _ => self.underline = None,
        }
        if let Some(row) = self.delimiters {
            self.delimiters = row.push_byte(byte);
        }
        self.thematic_break.is_some() || self.underline.is_some() || self.delimiters.is_some()
    }

    /// Returns what the line is, now that it has ended; `None` if it is no line of marks.
    pub(super) fn kind_at_line_end(self) -> Option<WholeLine> {
        let columns = self.delimiters.map_or(0, DelimiterRow::column_count_at_line_end);
        if 0 < columns && columns == self.head_cells {
            return Some(WholeLine::Delimiters);
        }
        if let Some(Underline::Marks(marks) | Underline::Ended(marks)) = self.underline {
            return Some(WholeLine::Underline(marks.mark));
        }
        let breaks = self.thematic_break.is_some_and(|marks| BREAK_MARKS_MIN <= marks.count);
        breaks.then_some(WholeLine::ThematicBreak)
    }

    /// True if the line has so many marks that it hardly is anything but an underline.
    pub(super) fn looks_like_underline(self) -> bool {
        match self.underline {
            Some(Underline::Marks(marks) | Underline::Ended(marks)) => {
                BREAK_MARKS_MIN <= marks.count
            }
            None => false,
        }
    }

    /// True if the line may make the one before it the head of a table.
    pub(super) fn may_be_table_delimiters(self) -> bool {
        self.delimiters.is_some()
    }
}
