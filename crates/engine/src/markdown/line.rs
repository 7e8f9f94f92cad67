//! State of the current line: its position, and its kind once that is decided.

use super::container::Marker;
use super::fence::Fence;
use super::mark_line::MarkLine;
use super::table::CellCount;

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Nothing but white space, after the marks of containers.
    Blank,
    /// The first line of a paragraph.
    Text,
    /// A further line of a paragraph.
    Continuation,
    /// A heading of this level, by its hashes.
    Heading(usize),
    /// The line of `=` or `-` that makes the paragraph before it a heading.
    Underline(u8),
    /// A thematic break, such as `---`.
    ThematicBreak,
    /// The opening line of a fence.
    FenceOpen(Fence),
    /// A line of the code in a fence.
    FenceLine(Fence),
    /// The closing line of a fence.
    FenceClose,
    /// A line of indented code.
    IndentedCode,
    /// The line that makes the one before it the head of a table.
    TableDelimiters,
    /// A row of a table.
    TableRow,
}

impl LineKind {
    /// True if the line has inline markup.
    pub fn can_have_inline_markup(self) -> bool {
        use LineKind::{Continuation, Heading, TableRow, Text};
        matches!(self, Text | Continuation | Heading(_) | TableRow)
    }
}

/// A place in a line. A tab may be used up in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Bytes of the line before it.
    pub bytes: usize,
    /// Column, with tabs expanded.
    pub column: usize,
    /// Columns after it of a tab that `bytes` counts.
    pub spare: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// White space before what comes next.
    Indent,
    /// After a quote mark; one column of white space belongs to it.
    AfterQuote,
    Hashes {
        len: usize,
    },
    Bullet {
        mark: u8,
    },
    Digits {
        value: u32,
        digits: u8,
    },
    AfterNumber {
        marker: Marker,
    },
    /// White space after the marker of an item.
    AfterMarker {
        marker: Marker,
        /// One column after the marker.
        content: Position,
    },
    /// Back-ticks that open a fence or a code span.
    Ticks {
        len: usize,
    },
    /// After enough back-ticks for a fence; it is none if another one follows on the line.
    FenceInfo {
        len: usize,
    },
    Tildes {
        len: usize,
    },
    /// Marks that may close the fence.
    ClosingMarks {
        fence: Fence,
        len: usize,
    },
    /// White space after enough of them.
    AfterClosingMarks {
        fence: Fence,
    },
    /// Decided, unless the line is of marks to its end.
    Withheld(LineKind),
    Decided(LineKind),
    /// Its end has been read.
    Over(LineKind),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) stage: Stage,
    /// Bytes read.
    pub(super) bytes: usize,
    pub(super) column: usize,
    /// Where the content of the innermost container begins.
    pub(super) content: Position,
    /// Containers that the line is in, as far as it has been read.
    pub(super) depth: usize,
    /// Those of them that began on it.
    pub(super) opened: usize,
    /// Bytes before what is neither white space nor the mark of a container.
    pub(super) begins: usize,
    pub(super) marks: Option<MarkLine>,
    pub(super) cells: CellCount,
    /// It may be the head of a table.
    pub(super) head: Head,
    pub(super) indentation: Indentation,
}

/// Whether a line of a paragraph may be the head of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    IfItHasBars,
    IfItBeginsWithBar,
    Never,
}

/// Meaning of four columns of white space before a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indentation {
    MakesCode,
    MeansNothing,
}

impl Line {
    pub(super) fn new() -> Line {
        Line {
            stage: Stage::Indent,
            bytes: 0,
            column: 0,
            content: Position::default(),
            depth: 0,
            opened: 0,
            begins: 0,
            marks: None,
            cells: CellCount::new(),
            head: Head::Never,
            indentation: Indentation::MakesCode,
        }
    }

    /// Columns of white space since the content of the innermost container began.
    pub(super) fn indent_columns(&self) -> usize {
        self.column - self.content.column
    }

    /// Advances the column by white space; the width of a tab depends on the column.
    pub(super) fn advance_column_by_white_space(&mut self, byte: u8) {
        self.column += match byte {
            b' ' => 1,
            b'\t' => TAB_COLUMNS - self.column % TAB_COLUMNS,
            _ => 0,
        };
    }

    /// Position after the byte just read, at `column`, which may be inside a tab.
    pub(super) fn current_position_with_column(&self, column: usize) -> Position {
        Position { bytes: self.bytes, column, spare: self.column - column }
    }
}

pub(super) const TAB_COLUMNS: usize = 4;

pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
