//! Incremental classification of the lines of a Markdown text.
//!
//! Does: follow block quotes, list items, fenced and indented code, headings, thematic breaks,
//! tables and paragraphs, and say what a line is as soon as its bytes decide it.
//! Does not: keep text, look at a byte twice, or read inline markup; HTML blocks and link
//! definitions are text to it.
//!
//! Invariants: the answer for a line is given once and never changes. It depends on the bytes
//! alone, not on how they were cut. The state has a fixed size.

mod container;
mod fence;
mod line;
mod mark_line;
mod start;
mod table;

use container::Containers;
pub use container::{Container, Marker};
use fence::FENCE_MARKS_MIN;
pub use fence::{Fence, FenceInItem};
use line::{Head, Indentation, Line, Stage};
pub use line::{LineKind, Position};
use mark_line::{MarkLine, Place, WholeLine};

/// Result of reading one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing new: the line is still open, or was decided before.
    More,
    /// The line is decided. A text begins before this byte, at [`BlockScanner::text_offset_in_line`].
    Line(LineKind),
    /// This byte follows `len` back-ticks that the line's text begins with. With three or more of
    /// them the line opens a fence if no other back-tick follows on it; otherwise it is text.
    Ticks {
        /// Number of back-ticks.
        len: usize,
    },
}

/// State of the current line before its kind is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoFar {
    /// White space and container markers.
    Nothing,
    /// Possibly the marker of a block, or text.
    Marks,
    /// As many marks as open a fence.
    FenceMarks,
    /// Three `-` or `=` that, if the line goes on so, belong to the paragraph before it.
    Underline,
    /// The marker of an item and white space; it is text if nothing follows and a paragraph was
    /// open.
    ItemMarker(Marker),
    /// The kind of the line.
    Decided(LineKind),
}

/// The block that was open at the end of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    None,
    /// A list item has begun with a blank line.
    EmptyItem,
    Paragraph {
        /// Cells of its last line, if that may be the head of a table.
        head_cells: usize,
    },
    Heading,
    Fence(Fence),
    IndentedCode,
    Table,
}

/// Incremental scanner of Markdown blocks: decides the kind of each line.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockScanner {
    fence_in_item: FenceInItem,
    containers: Containers,
    leaf: Leaf,
    line: Line,
}

impl Default for BlockScanner {
    fn default() -> BlockScanner {
        BlockScanner::new(FenceInItem::default())
    }
}

impl BlockScanner {
    /// Creates a scanner at the start of a text.
    pub fn new(fence_in_item: FenceInItem) -> BlockScanner {
        BlockScanner {
            fence_in_item,
            containers: Containers::new(),
            leaf: Leaf::None,
            line: Line::new(),
        }
    }

    /// Reads the next byte, whether or not the kind of its line is decided.
    pub fn push_byte(&mut self, byte: u8) -> Found {
        let found = self.push_undecided_or_line_end_byte(byte);
        if byte != b'\n' {
            self.push_text_byte_if_decided(byte);
        }
        found
    }

    /// Reads a byte of a line whose kind is not decided. A line end may be read here at any time.
    ///
    /// The byte that decides a text is its user's to give to [`BlockScanner::push_text_byte_if_decided`].
    pub fn push_undecided_or_line_end_byte(&mut self, byte: u8) -> Found {
        if let Stage::Over(_) = self.line.stage {
            self.line = Line::new();
        }
        if byte == b'\n' {
            return self.decide_and_end_line();
        }
        self.line.bytes += 1;
        if let Stage::Decided(_) = self.line.stage {
            return Found::More;
        }
        if let Some(marks) = &mut self.line.marks
            && !marks.push_byte(byte)
        {
            self.line.marks = None;
        }
        let ticks = self.read_undecided_byte(byte);
        match self.line.stage {
            Stage::Withheld(kind) if self.line.marks.is_none() => {
                self.line.stage = Stage::Decided(kind);
                ticks.unwrap_or(Found::Line(kind))
            }
            Stage::Withheld(_) => {
                self.line.cells.push_byte(byte);
                Found::More
            }
            _ => ticks.unwrap_or(Found::More),
        }
    }

    /// Reads a byte of a line whose kind is decided, to count its table cells.
    pub fn push_text_byte_if_decided(&mut self, byte: u8) {
        if let Stage::Decided(_) = self.line.stage {
            self.line.cells.push_byte(byte);
        }
    }

    /// Reads bytes of a text that hold no bar, backslash or line end.
    pub fn push_plain_text(&mut self, plain: &[u8]) {
        self.line.cells.push_plain_text(plain);
    }

    /// Ends the line; if its kind was not decided, it is text.
    pub fn end_line_and_default_to_text(&mut self) {
        if !matches!(self.line.stage, Stage::Decided(_)) {
            self.decide_line_is_text_unless_code();
        }
        self.decide_and_end_line();
    }

    /// Decides that the line is text because it has been open for too long; a line of code stays
    /// one.
    pub fn decide_line_is_text_unless_code(&mut self) {
        match self.line.stage {
            Stage::Over(_) => self.line = Line::new(),
            Stage::Decided(LineKind::FenceOpen(_) | LineKind::TableRow) => {
                self.leaf = Leaf::None;
            }
            Stage::Decided(_) => return,
            _ => {}
        }
        self.line.marks = None;
        let kind = match self.fence_around_line() {
            Some(fence) => LineKind::FenceLine(fence),
            None => self.line_kind_if_text(),
        };
        self.withhold_kind_and_update_blocks(kind);
        self.line.stage = Stage::Decided(kind);
    }

    /// Forbids that white space makes this line code, because something else stood before it.
    pub fn forbid_indented_code_in_line(&mut self) {
        if let Stage::Over(_) = self.line.stage {
            self.line = Line::new();
        }
        self.line.indentation = Indentation::MeansNothing;
    }

    /// The containers around the line, as far as it has been read.
    pub fn containers(&self) -> &[Container] {
        self.containers.as_slice()
    }

    /// Number of these containers that were open before the line; the others began on it.
    pub fn kept_container_count(&self) -> usize {
        self.line.depth - self.line.opened
    }

    /// Position at which the content of the line's innermost container begins.
    pub fn content_position(&self) -> Position {
        self.line.content
    }

    /// Number of bytes of the line before its first that is neither white space nor the mark of a
    /// container.
    pub fn text_offset_in_line(&self) -> usize {
        self.line.begins.max(self.line.content.bytes)
    }

    /// True if the text of the line begins with a bar.
    pub fn line_text_begins_with_bar(&self) -> bool {
        self.line.cells.begins_with_bar()
    }

    /// True if a paragraph is open that the line may continue, or that it is in.
    pub fn has_open_paragraph(&self) -> bool {
        matches!(self.leaf, Leaf::Paragraph { .. })
    }

    /// True if the next byte is the first of a line.
    pub fn is_at_line_start(&self) -> bool {
        matches!(self.line.stage, Stage::Over(_)) || self.line.bytes == 0
    }

    /// True if what has been read of the line is code, whatever follows.
    pub fn is_in_code(&self) -> bool {
        use LineKind::{FenceClose, FenceLine, FenceOpen, IndentedCode};
        match self.line.stage {
            Stage::ClosingMarks { .. } | Stage::AfterClosingMarks { .. } => true,
            Stage::Decided(kind) => {
                matches!(kind, FenceOpen(_) | FenceLine(_) | FenceClose | IndentedCode)
            }
            _ => false,
        }
    }

    /// True if a fence was open before the line, and nothing read of the line has ended it.
    pub fn may_be_in_fence(&self) -> bool {
        let undecided = matches!(self.line.stage, Stage::Indent | Stage::AfterQuote);
        matches!(self.leaf, Leaf::Fence(_)) && (undecided || self.is_in_code())
    }

    /// Kind of the line, if it is decided; of the last line if none has begun since.
    pub fn current_or_last_line_kind(&self) -> Option<LineKind> {
        match self.line.stage {
            Stage::Decided(kind) | Stage::Over(kind) => Some(kind),
            _ => None,
        }
    }

    /// State of the current line: what has been read of it, or its kind if that is decided.
    pub fn line_state_so_far(&self) -> SoFar {
        match self.line.stage {
            Stage::Indent | Stage::AfterQuote => SoFar::Nothing,
            Stage::Decided(kind) | Stage::Over(kind) => SoFar::Decided(kind),
            Stage::AfterMarker { marker, .. } if !self.may_be_table_delimiter_line() => {
                SoFar::ItemMarker(marker)
            }
            Stage::Ticks { len } | Stage::Tildes { len } if FENCE_MARKS_MIN <= len => {
                SoFar::FenceMarks
            }
            Stage::FenceInfo { .. } => SoFar::FenceMarks,
            _ if self.line.marks.is_some_and(MarkLine::looks_like_underline) => SoFar::Underline,
            _ => SoFar::Marks,
        }
    }

    fn may_be_table_delimiter_line(&self) -> bool {
        self.line.marks.is_some_and(MarkLine::may_be_table_delimiters)
    }

    fn decide_and_end_line(&mut self) -> Found {
        let stage = self.line.stage;
        if let Stage::Decided(kind) = stage {
            self.line.stage = Stage::Over(kind);
            self.update_leaf_at_line_end(kind);
            return Found::More;
        }
        let whole =
            self.line.marks.take().and_then(|marks| Some((marks, marks.kind_at_line_end()?)));
        let kind = match whole {
            Some((marks, whole)) => {
                let Place { depth, content, begins } = marks.place;
                self.line.opened = self.line.opened.saturating_sub(self.line.depth - depth);
                self.line.depth = depth;
                self.line.content = content;
                self.line.begins = begins;
                let kind = match whole {
                    WholeLine::ThematicBreak => LineKind::ThematicBreak,
                    WholeLine::Underline(mark) => LineKind::Underline(mark),
                    WholeLine::Delimiters => LineKind::TableDelimiters,
                };
                self.withhold_kind_and_update_blocks(kind);
                kind
            }
            None => self.decide_kind_at_line_end(stage),
        };
        self.line.stage = Stage::Over(kind);
        self.update_leaf_at_line_end(kind);
        match stage {
            Stage::Ticks { len } if len < FENCE_MARKS_MIN => Found::Ticks { len },
            _ => Found::Line(kind),
        }
    }

    /// Updates the open block at the end of a line of this kind.
    fn update_leaf_at_line_end(&mut self, kind: LineKind) {
        match kind {
            LineKind::Text | LineKind::Continuation => {
                let cells = self.line.cells;
                let head_cells = match self.line.head {
                    Head::IfItHasBars => cells.cell_count(),
                    Head::IfItBeginsWithBar if cells.begins_with_bar() => cells.cell_count(),
                    Head::IfItBeginsWithBar | Head::Never => 0,
                };
                self.leaf = Leaf::Paragraph { head_cells };
            }
            LineKind::Heading(_) | LineKind::FenceClose => self.leaf = Leaf::None,
            _ => {}
        }
    }
}
