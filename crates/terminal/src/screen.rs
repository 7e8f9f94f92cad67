//! The screen: settled rows above, written once; live rows below, redrawn when they change.
//!
//! Each frame is one write inside a synchronized update, and no write if nothing changed. Settled
//! rows get above the live region by scrolling, so that they reach the terminal's scrollback; a
//! live row that settles unchanged is not written again. Only rows of the live region are ever
//! cleared, also on a resize.
//!
//! Invariant: the live region is at most [`live_rows_max`] rows; every row above it is settled.

mod escape_buffer;
mod features;
mod reflow;
mod repaint;
mod row_placement;

use std::io::{self, Write};

use crate::limits::live_rows_max;
use crate::row::Row;
use crate::size::Size;

use escape_buffer::{CursorPosition, EscapeBuffer};
pub use features::{InsertMethod, Palette, Reflow, TerminalFeatures};
use repaint::ScreenRow;

const BEGIN_SYNC: &str = "\x1b[?2026h";
const END_SYNC: &str = "\x1b[?2026l";

/// Content of the next frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Rows that have settled since the last frame.
    pub settled: &'a [Row],
    /// All live rows; if there are too many, the last ones are shown.
    pub live: &'a [Row],
    /// Cursor after the frame.
    pub cursor: FrameCursor,
}

/// Cursor of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameCursor {
    Hidden,
    /// At a column of a live row.
    At {
        row: usize,
        col: usize,
    },
}

/// Fate of the live rows when the screen is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveRowsOnClose {
    Keep,
    Erase,
}

/// Effect of a resize on the live region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResizeOutcome {
    /// Live rows that have left the screen for the scrollback.
    pub scrolled_away: usize,
}

/// Draws frames on a terminal, writing only differences.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    size: Size,
    features: TerminalFeatures,
    writer: EscapeBuffer,
    /// First screen row of the live region.
    live_top: usize,
    drawn_rows: Vec<Row>,
    /// Rows shown before a resize, which the terminal has reflowed, until the next frame.
    rows_before_resize: Option<RowsBeforeResize>,
    /// The last settled row, while the next row may continue it.
    last_settled: Option<Row>,
    cursor_visibility: CursorVisibility,
    /// Rows below the top of the live region are not ours: they are erased before drawing.
    needs_erase: bool,
}

/// Live rows as drawn before a resize.
#[derive(Debug)]
struct RowsBeforeResize {
    rows: Vec<Row>,
    /// Cursor position among them.
    cursor: CursorPosition,
}

/// Cursor visibility as last set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorVisibility {
    Visible,
    Hidden,
}

impl<W: Write> Screen<W> {
    /// Creates a screen whose cursor is at the start of `row`, from 0.
    pub fn new(out: W, size: Size, row: u16, features: TerminalFeatures) -> Screen<W> {
        let size = Size::new(size.cols, size.rows);
        Screen {
            out,
            size,
            features,
            writer: EscapeBuffer::new(features.palette, size.width()),
            live_top: usize::from(row.min(size.rows - 1)),
            drawn_rows: Vec::new(),
            rows_before_resize: None,
            last_settled: None,
            cursor_visibility: CursorVisibility::Visible,
            needs_erase: true,
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Draws a frame: one write, or none if nothing changed.
    pub fn draw_frame(&mut self, frame: Frame<'_>) -> io::Result<()> {
        let hidden = frame.live.len().saturating_sub(live_rows_max(self.size));
        let cols = self.size.width();
        let mut live: Vec<ScreenRow> =
            frame.live[hidden..].iter().map(|row| ScreenRow::from_live_row(row, cols)).collect();
        if live.is_empty() {
            // The cursor needs a row.
            live.push(ScreenRow::from_live_row(&Row::default(), cols));
        }
        let mut settled = self.split_settled_rows_at_width(frame.settled);
        self.rows_before_resize = None;
        if self.needs_erase {
            self.writer.erase_screen_from(self.live_top);
            self.needs_erase = false;
        }
        while let Some(rest) = self.draw_through_first_image_if_any(&mut settled) {
            settled = rest;
        }
        self.draw_rows(settled, live);
        self.move_and_show_or_hide_cursor(frame.cursor, hidden);
        self.write_buffered_frame_if_any()
    }

    /// Applies a new size, after which the terminal reported its cursor in `row`, from 0. Writes
    /// nothing before the next frame.
    pub fn resize_and_locate_live_region(&mut self, size: Size, row: u16) -> ResizeOutcome {
        let size = Size::new(size.cols, size.rows);
        let mut left = self.rows_before_resize.take().or_else(|| self.take_drawn_rows());
        let reported = usize::from(row);
        let found = match &mut left {
            Some(RowsBeforeResize { rows, cursor }) => {
                let found = reflow::locate_live_region(
                    rows,
                    *cursor,
                    reported,
                    size.width(),
                    self.features.reflow,
                );
                rows.drain(..found.rows_gone);
                cursor.row = cursor.row.saturating_sub(found.rows_gone);
                found
            }
            None => reflow::LiveRegionPosition { top: reported, rows_gone: 0 },
        };
        self.rows_before_resize = left;
        self.drawn_rows.clear();
        self.size = size;
        self.writer.set_cols_and_forget_position(size.width());
        self.live_top = found.top.min(usize::from(size.rows) - 1);
        self.last_settled = None;
        self.needs_erase = true;
        ResizeOutcome { scrolled_away: found.rows_gone }
    }

    /// Takes the drawn live rows and the cursor position among them.
    fn take_drawn_rows(&mut self) -> Option<RowsBeforeResize> {
        let CursorPosition { row, col } = self.writer.position()?;
        let row = row.checked_sub(self.live_top)?;
        Some(RowsBeforeResize {
            rows: std::mem::take(&mut self.drawn_rows),
            cursor: CursorPosition { row, col },
        })
    }

    /// Ends drawing: keeps or erases the live rows, shows the cursor at the start of a line.
    pub fn close(mut self, leave: LiveRowsOnClose) -> io::Result<W> {
        let rows = usize::from(self.size.rows);
        match leave {
            LiveRowsOnClose::Erase => {
                self.writer.erase_screen_from(self.live_top);
            }
            LiveRowsOnClose::Keep if self.drawn_rows.is_empty() => {
                self.writer.move_to(CursorPosition { row: self.live_top, col: 0 });
            }
            LiveRowsOnClose::Keep => {
                let last = (self.live_top + self.drawn_rows.len()).min(rows) - 1;
                self.writer.move_to(CursorPosition { row: last, col: 0 });
                self.writer.write_newline(rows - 1);
            }
        }
        if self.cursor_visibility == CursorVisibility::Hidden {
            self.writer.push_raw("\x1b[?25h");
        }
        self.write_buffered_frame_if_any()?;
        Ok(self.out)
    }

    fn move_and_show_or_hide_cursor(&mut self, cursor: FrameCursor, hidden: usize) {
        let bottom = self.drawn_rows.len().saturating_sub(1);
        let (row, col, shown) = match cursor {
            FrameCursor::At { row, col } if row >= hidden => {
                (row - hidden, col, CursorVisibility::Visible)
            }
            FrameCursor::At { .. } | FrameCursor::Hidden => (bottom, 0, CursorVisibility::Hidden),
        };
        let col = col.min(self.size.width() - 1);
        self.writer.reset_style_and_link();
        self.writer.move_to(CursorPosition { row: self.live_top + row.min(bottom), col });
        if shown != self.cursor_visibility {
            self.writer.push_raw(if shown == CursorVisibility::Visible {
                "\x1b[?25h"
            } else {
                "\x1b[?25l"
            });
            self.cursor_visibility = shown;
        }
    }

    fn write_buffered_frame_if_any(&mut self) -> io::Result<()> {
        if self.writer.out.is_empty() {
            return Ok(());
        }
        self.writer.reset_style_and_link();
        let bytes = format!("{BEGIN_SYNC}{}{END_SYNC}", self.writer.out);
        self.writer.out.clear();
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }
}
