//! The start of a line, byte by byte: its containers and the marks of its block.

use crate::limits::MARKDOWN_NESTING_MAX;

use super::container::{Container, Marker};
use super::fence::{FENCE_MARKS_MIN, Fence, FenceInItem};
use super::line::{Head, Indentation, LineKind, Position, Stage, is_white};
use super::mark_line::{Before, MarkLine, Place};
use super::table::CellCount;
use super::{BlockScanner, Found, Leaf};

/// Columns of white space that make a text code.
const CODE_INDENT: usize = 4;

const HEADING_LEVELS: usize = 6;

/// A longer number is no marker of an item.
const NUMBER_DIGITS_MAX: u8 = 9;

impl BlockScanner {
    /// Reads a byte of a line that is not decided, and leaves a decision in the line's stage.
    /// Returns `Found::Ticks` at the byte after back-ticks, else `None`.
    pub(super) fn read_undecided_byte(&mut self, byte: u8) -> Option<Found> {
        match self.line.stage {
            Stage::Indent => self.read_line_start_byte_and_update_blocks(byte),
            Stage::AfterQuote => self.read_after_quote(byte),
            Stage::Hashes { len } if byte == b'#' => {
                self.line.stage = Stage::Hashes { len: len + 1 };
            }
            Stage::Hashes { len } if is_white(byte) && len <= HEADING_LEVELS => {
                self.withhold_kind_and_update_blocks(LineKind::Heading(len));
            }
            Stage::Bullet { mark } if is_white(byte) => {
                self.read_white_space_after_marker(Marker::Bullet(mark), byte);
            }
            Stage::Digits { value, digits } => self.read_byte_after_digits(value, digits, byte),
            Stage::AfterNumber { marker } if is_white(byte) => {
                self.read_white_space_after_marker(marker, byte);
            }
            Stage::AfterMarker { .. } if is_white(byte) => {
                self.line.advance_column_by_white_space(byte);
            }
            Stage::AfterMarker { marker, content } => {
                self.open_item(marker, content);
                self.read_line_start_byte_and_update_blocks(byte);
            }
            Stage::Ticks { len } if byte == b'`' => self.line.stage = Stage::Ticks { len: len + 1 },
            Stage::Ticks { len } => {
                if FENCE_MARKS_MIN <= len {
                    self.line.stage = Stage::FenceInfo { len };
                } else {
                    self.withhold_kind_and_update_blocks(self.line_kind_if_text());
                }
                return Some(Found::Ticks { len });
            }
            Stage::FenceInfo { .. } if byte != b'`' => {}
            Stage::Tildes { len } if byte == b'~' => {
                self.line.stage = Stage::Tildes { len: len + 1 };
            }
            Stage::Tildes { len } if FENCE_MARKS_MIN <= len => self.open_fence(b'~', len),
            Stage::ClosingMarks { fence, len } => self.read_closing_fence_byte(fence, len, byte),
            Stage::AfterClosingMarks { .. } if is_white(byte) => {}
            Stage::AfterClosingMarks { fence } => {
                self.withhold_kind_and_update_blocks(LineKind::FenceLine(fence));
            }
            Stage::Withheld(_) | Stage::Decided(_) | Stage::Over(_) => {}
            Stage::Hashes { .. }
            | Stage::Bullet { .. }
            | Stage::AfterNumber { .. }
            | Stage::FenceInfo { .. }
            | Stage::Tildes { .. } => {
                self.withhold_kind_and_update_blocks(self.line_kind_if_text());
            }
        }
        None
    }

    fn read_line_start_byte_and_update_blocks(&mut self, byte: u8) {
        if !is_white(byte) {
            return self.read_first_content_byte(byte);
        }
        self.line.advance_column_by_white_space(byte);
        while let Some(Container::Item { indent, .. }) = self.containers.get(self.line.depth)
            && usize::from(indent) <= self.line.indent_columns()
        {
            self.line.content = self
                .line
                .current_position_with_column(self.line.content.column + usize::from(indent));
            self.line.depth += 1;
        }
    }

    fn read_after_quote(&mut self, byte: u8) {
        self.line.stage = Stage::Indent;
        let column = self.line.column;
        if matches!(byte, b' ' | b'\t') {
            self.line.advance_column_by_white_space(byte);
            self.line.content = self.line.current_position_with_column(column + 1);
            self.line.column = column;
        }
        self.read_line_start_byte_and_update_blocks(byte);
    }

    /// Reads the first byte that is not white space, in the containers found so far.
    fn read_first_content_byte(&mut self, byte: u8) {
        self.line.begins = self.line.bytes - 1;
        let indent = self.line.indent_columns();
        let next = self.containers.get(self.line.depth);
        if byte == b'>' && next == Some(Container::Quote) && indent < CODE_INDENT {
            return self.continue_open_quote();
        }
        if let Some(fence) = self.fence_around_line() {
            if byte == fence.mark && indent < CODE_INDENT {
                self.line.stage = Stage::ClosingMarks { fence, len: 1 };
            } else {
                self.withhold_kind_and_update_blocks(LineKind::FenceLine(fence));
            }
            return;
        }
        if CODE_INDENT <= indent && self.line.indentation == Indentation::MakesCode {
            return self.withhold_kind_and_update_blocks(match self.line_kind_if_text() {
                LineKind::Text => LineKind::IndentedCode,
                kind => kind,
            });
        }
        if self.line.marks.is_none() {
            let place = Place {
                depth: self.line.depth,
                content: self.line.content,
                begins: self.line.begins,
            };
            self.line.marks = MarkLine::begin(byte, self.paragraph_before_mark_line(), place);
        }
        self.enter_stage_by_first_byte(byte);
    }

    fn enter_stage_by_first_byte(&mut self, byte: u8) {
        self.line.stage = match byte {
            b'>' if self.line.depth < MARKDOWN_NESTING_MAX => {
                self.open_container_and_close_deeper_blocks(Container::Quote);
                return self.advance_past_quote_mark();
            }
            b'#' => Stage::Hashes { len: 1 },
            b'`' => Stage::Ticks { len: 1 },
            b'~' => Stage::Tildes { len: 1 },
            b'-' | b'*' | b'+' => Stage::Bullet { mark: byte },
            b'0'..=b'9' => Stage::Digits { value: u32::from(byte - b'0'), digits: 1 },
            _ => return self.withhold_kind_and_update_blocks(self.line_kind_if_text()),
        };
    }

    /// Reads the mark of a quote that was open before the line.
    fn continue_open_quote(&mut self) {
        self.line.depth += 1;
        self.advance_past_quote_mark();
    }

    fn advance_past_quote_mark(&mut self) {
        self.line.column += 1;
        self.line.content = self.line.current_position_with_column(self.line.column);
        self.line.stage = Stage::AfterQuote;
    }

    fn read_byte_after_digits(&mut self, value: u32, digits: u8, byte: u8) {
        self.line.stage = match byte {
            b'0'..=b'9' if digits < NUMBER_DIGITS_MAX => {
                Stage::Digits { value: 10 * value + u32::from(byte - b'0'), digits: digits + 1 }
            }
            b'.' | b')' => {
                let marker = Marker::Number { value, digits, delimiter: byte };
                Stage::AfterNumber { marker }
            }
            _ => return self.withhold_kind_and_update_blocks(self.line_kind_if_text()),
        };
    }

    fn read_closing_fence_byte(&mut self, fence: Fence, len: usize, byte: u8) {
        if byte == fence.mark {
            self.line.stage = Stage::ClosingMarks { fence, len: len + 1 };
        } else if is_white(byte) && fence.len <= len {
            self.line.stage = Stage::AfterClosingMarks { fence };
        } else {
            self.withhold_kind_and_update_blocks(LineKind::FenceLine(fence));
        }
    }

    /// Reads the white space right after what may be the marker of an item.
    fn read_white_space_after_marker(&mut self, marker: Marker, byte: u8) {
        if !self.may_open_item(marker) {
            return self.withhold_kind_and_update_blocks(self.line_kind_if_text());
        }
        self.line.column += marker.width();
        let column = self.line.column;
        self.line.advance_column_by_white_space(byte);
        let content = self.line.current_position_with_column(self.line.column.min(column + 1));
        self.line.stage = Stage::AfterMarker { marker, content };
    }

    fn may_open_item(&self, marker: Marker) -> bool {
        self.line.depth < MARKDOWN_NESTING_MAX
            && (marker.interrupts_paragraph() || !self.would_interrupt_paragraph())
    }

    /// True if a paragraph is open and the line is in all of its containers.
    fn would_interrupt_paragraph(&self) -> bool {
        self.has_open_paragraph() && self.is_in_all_containers()
    }

    fn is_in_all_containers(&self) -> bool {
        self.line.depth == self.containers.len()
    }

    /// Opens an item, now that its content begins. Content that is further in is indented code.
    fn open_item(&mut self, marker: Marker, after_one: Position) {
        let spaces = self.line.column + 1 - after_one.column;
        let content = if spaces <= CODE_INDENT {
            Position { bytes: self.line.bytes - 1, column: self.line.column, spare: 0 }
        } else {
            after_one
        };
        let indent = saturate_indent_to_u8(content.column - self.line.content.column);
        self.open_container_and_close_deeper_blocks(Container::Item { indent, marker });
        self.line.content = content;
        self.line.stage = Stage::Indent;
    }

    fn open_container_and_close_deeper_blocks(&mut self, container: Container) {
        self.containers.open_and_close_deeper(self.line.depth, container);
        self.line.depth += 1;
        self.line.opened += 1;
        self.leaf = Leaf::None;
    }

    /// Returns the open fence that the line is in, as far as its containers say.
    pub(super) fn fence_around_line(&self) -> Option<Fence> {
        let Leaf::Fence(fence) = self.leaf else { return None };
        let is_item = |container: &Container| matches!(container, Container::Item { .. });
        let left = self.containers.as_slice().get(self.line.depth..).unwrap_or_default();
        let goes_on = match self.fence_in_item {
            FenceInItem::EndsWithItem => left.is_empty(),
            FenceInItem::EndsWhenClosed => left.iter().all(is_item),
        };
        goes_on.then_some(fence)
    }

    fn paragraph_before_mark_line(&self) -> Before {
        match self.leaf {
            Leaf::Paragraph { head_cells } if self.is_in_all_containers() => {
                Before::Paragraph { head_cells }
            }
            _ => Before::Nothing,
        }
    }

    /// Kind of the line if it is text.
    pub(super) fn line_kind_if_text(&self) -> LineKind {
        match self.leaf {
            Leaf::Paragraph { .. } => LineKind::Continuation,
            Leaf::Table if self.is_in_all_containers() => LineKind::TableRow,
            _ => LineKind::Text,
        }
    }

    fn open_fence(&mut self, mark: u8, len: usize) {
        let fence = Fence { mark, len, indent: self.line.indent_columns() };
        self.withhold_kind_and_update_blocks(LineKind::FenceOpen(fence));
    }

    /// Withholds `kind` as the kind of the line; closes and opens the blocks that such a line does.
    pub(super) fn withhold_kind_and_update_blocks(&mut self, kind: LineKind) {
        self.line.stage = Stage::Withheld(kind);
        if self.line.begins + 1 < self.line.bytes {
            self.line.cells = CellCount::new_after_text();
        }
        self.line.head = match kind {
            LineKind::Text => Head::IfItHasBars,
            LineKind::Continuation
                if self.is_in_all_containers() && self.line.indent_columns() < CODE_INDENT =>
            {
                Head::IfItBeginsWithBar
            }
            _ => Head::Never,
        };
        self.leaf = match kind {
            LineKind::Continuation | LineKind::FenceLine(_) | LineKind::FenceClose => {
                self.line.depth = self.containers.len();
                return;
            }
            LineKind::TableRow => return,
            LineKind::Text => Leaf::Paragraph { head_cells: 0 },
            LineKind::Heading(_) => Leaf::Heading,
            LineKind::FenceOpen(fence) => Leaf::Fence(fence),
            LineKind::IndentedCode => Leaf::IndentedCode,
            LineKind::TableDelimiters => Leaf::Table,
            LineKind::Blank | LineKind::Underline(_) | LineKind::ThematicBreak => Leaf::None,
        };
        self.containers.truncate(self.line.depth);
    }

    /// Decides and returns the kind of a line that was not decided when it ended.
    pub(super) fn decide_kind_at_line_end(&mut self, stage: Stage) -> LineKind {
        match stage {
            Stage::Indent | Stage::AfterQuote => return self.end_blank_or_fence_line(),
            Stage::Hashes { len } if len <= HEADING_LEVELS => {
                self.withhold_kind_and_update_blocks(LineKind::Heading(len));
            }
            Stage::Bullet { mark } if self.may_be_empty_item(Marker::Bullet(mark)) => {
                return self
                    .open_empty_item_at_line_end(Marker::Bullet(mark), self.line.column + 1);
            }
            Stage::AfterNumber { marker } if self.may_be_empty_item(marker) => {
                return self.open_empty_item_at_line_end(marker, self.line.column + marker.width());
            }
            Stage::AfterMarker { marker, content } if self.may_be_empty_item(marker) => {
                return self.open_empty_item_at_line_end(marker, content.column - 1);
            }
            Stage::Ticks { len } if FENCE_MARKS_MIN <= len => self.open_fence(b'`', len),
            Stage::FenceInfo { len } => self.open_fence(b'`', len),
            Stage::Tildes { len } if FENCE_MARKS_MIN <= len => self.open_fence(b'~', len),
            Stage::ClosingMarks { fence, len } if fence.len <= len => {
                self.withhold_kind_and_update_blocks(LineKind::FenceClose);
            }
            Stage::ClosingMarks { fence, .. } => {
                self.withhold_kind_and_update_blocks(LineKind::FenceLine(fence));
            }
            Stage::AfterClosingMarks { .. } => {
                self.withhold_kind_and_update_blocks(LineKind::FenceClose);
            }
            Stage::Withheld(kind) | Stage::Decided(kind) | Stage::Over(kind) => return kind,
            _ => self.withhold_kind_and_update_blocks(self.line_kind_if_text()),
        }
        match self.line.stage {
            Stage::Withheld(kind) => kind,
            _ => LineKind::Text,
        }
    }

    fn may_be_empty_item(&self, marker: Marker) -> bool {
        self.may_open_item(marker) && !self.would_interrupt_paragraph()
    }

    fn open_empty_item_at_line_end(&mut self, marker: Marker, marker_end: usize) -> LineKind {
        let indent = saturate_indent_to_u8(marker_end + 1 - self.line.content.column);
        self.open_container_and_close_deeper_blocks(Container::Item { indent, marker });
        self.leaf = Leaf::EmptyItem;
        LineKind::Blank
    }

    /// Ends a line of white space: items go on over it, quotes do not.
    fn end_blank_or_fence_line(&mut self) -> LineKind {
        let open = self.containers.len();
        while let Some(Container::Item { .. }) = self.containers.get(self.line.depth) {
            self.line.depth += 1;
        }
        if self.leaf == Leaf::EmptyItem {
            // Only one blank line may stand before the content of an item.
            self.line.depth = self.line.depth.min(open - 1);
        }
        if let Some(fence) = self.fence_around_line() {
            return LineKind::FenceLine(fence);
        }
        let stays = self.line.depth == open;
        self.containers.truncate(self.line.depth);
        self.leaf = match self.leaf {
            Leaf::IndentedCode if stays => Leaf::IndentedCode,
            _ => Leaf::None,
        };
        LineKind::Blank
    }
}

/// Converts the columns of an item's indentation and marker; more than fit count as the most.
fn saturate_indent_to_u8(columns: usize) -> u8 {
    u8::try_from(columns).unwrap_or(u8::MAX)
}
