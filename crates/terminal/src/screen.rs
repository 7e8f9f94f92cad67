//! The screen: settled rows above, written once; live rows below, drawn when they change.
//!
//! Each frame is one write inside a synchronized update, and none where nothing changed. Settled
//! rows get above the live region by scrolling, so that they reach the terminal's own scrollback;
//! a live row that settles as it stands is not written again. Nothing is ever cleared but the rows
//! of the live region, not on a resize either.
//!
//! Invariant: the live region is at most [`live_rows_max`] rows; what is above it is settled.

mod features;
mod lines;
mod paint;
mod pen;
mod reflow;

use std::io::{self, Write};

use crate::limits::live_rows_max;
use crate::row::Row;
use crate::size::Size;

pub use features::{Features, Insertion, Palette, Reflow};
use paint::Drawn;
use pen::{Pen, Place};

const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

/// What the next frame shows.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Rows that have settled since the last frame.
    pub settled: &'a [Row],
    /// All live rows; if they are too many, the last are shown.
    pub live: &'a [Row],
    pub cursor: Cursor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    Hidden,
    /// At a column of a live row.
    At {
        row: usize,
        col: usize,
    },
}

/// What becomes of the live rows in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    Keep,
    Erase,
}

/// What a resize did to the live region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resized {
    /// So many of the live rows that were shown have scrolled away and cannot be taken back.
    pub scrolled_away: usize,
}

#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    size: Size,
    features: Features,
    pen: Pen,
    /// Where the live region begins.
    top: usize,
    drawn: Vec<Row>,
    /// What the terminal has shown since a resize, and wrapped again, until the next frame.
    left: Option<Left>,
    /// The last settled row, as long as a row can go on from it.
    last: Option<Row>,
    shown: Shown,
    /// What is below `top` is not ours: it is erased before anything is drawn.
    stale: bool,
}

#[derive(Debug)]
struct Left {
    rows: Vec<Row>,
    /// Where among them the cursor stands.
    cursor: Place,
}

/// Whether the cursor is visible, as far as the terminal was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

impl<W: Write> Screen<W> {
    /// A screen whose cursor stands at the start of `row`, counted from nought.
    pub fn new(out: W, size: Size, row: u16, features: Features) -> Screen<W> {
        let size = Size::new(size.cols, size.rows);
        Screen {
            out,
            size,
            features,
            pen: Pen::new(features.palette, size.width()),
            top: usize::from(row.min(size.rows - 1)),
            drawn: Vec::new(),
            left: None,
            last: None,
            shown: Shown::Yes,
            stale: true,
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Shows the frame: one write, or none if nothing changed.
    pub fn draw(&mut self, frame: Frame<'_>) -> io::Result<()> {
        let hidden = frame.live.len().saturating_sub(live_rows_max(self.size));
        let cols = self.size.width();
        let mut live: Vec<Drawn> =
            frame.live[hidden..].iter().map(|row| Drawn::live(row, cols)).collect();
        if live.is_empty() {
            // The cursor stands on a row of its own.
            live.push(Drawn::live(&Row::default(), cols));
        }
        let mut settled = self.settled_rows(frame.settled);
        self.left = None;
        if self.stale {
            self.pen.erase_from(self.top);
            self.stale = false;
        }
        while let Some(rest) = self.place_picture(&mut settled) {
            settled = rest;
        }
        self.place_rows(settled, live);
        self.place_cursor(frame.cursor, hidden);
        self.write()
    }

    /// Takes note of a new size, after which the terminal reported its cursor in `row`, counted
    /// from nought. Nothing is written before the next frame.
    pub fn resize(&mut self, size: Size, row: u16) -> Resized {
        let size = Size::new(size.cols, size.rows);
        let mut left = self.left.take().or_else(|| self.take_drawn());
        let reported = usize::from(row);
        let found = match &mut left {
            Some(Left { rows, cursor }) => {
                let found =
                    reflow::find(rows, *cursor, reported, size.width(), self.features.reflow);
                rows.drain(..found.gone);
                cursor.row = cursor.row.saturating_sub(found.gone);
                found
            }
            None => reflow::Found { top: reported, gone: 0 },
        };
        self.left = left;
        self.drawn.clear();
        self.size = size;
        self.pen.set_cols(size.width());
        self.top = found.top.min(usize::from(size.rows) - 1);
        self.last = None;
        self.stale = true;
        Resized { scrolled_away: found.gone }
    }

    /// The live rows as they stand on the screen, with the cursor among them.
    fn take_drawn(&mut self) -> Option<Left> {
        let Place { row, col } = self.pen.place()?;
        let row = row.checked_sub(self.top)?;
        Some(Left { rows: std::mem::take(&mut self.drawn), cursor: Place { row, col } })
    }

    /// Leaves the terminal as it was found, the cursor on a line of its own.
    pub fn leave(mut self, leave: Leave) -> io::Result<W> {
        let rows = usize::from(self.size.rows);
        match leave {
            Leave::Erase => {
                self.pen.erase_from(self.top);
            }
            Leave::Keep if self.drawn.is_empty() => {
                self.pen.go_to(Place { row: self.top, col: 0 });
            }
            Leave::Keep => {
                let last = (self.top + self.drawn.len()).min(rows) - 1;
                self.pen.go_to(Place { row: last, col: 0 });
                self.pen.next_row(rows - 1);
            }
        }
        if self.shown == Shown::No {
            self.pen.raw("\x1b[?25h");
        }
        self.write()?;
        Ok(self.out)
    }

    fn place_cursor(&mut self, cursor: Cursor, hidden: usize) {
        let bottom = self.drawn.len().saturating_sub(1);
        let (row, col, shown) = match cursor {
            Cursor::At { row, col } if row >= hidden => (row - hidden, col, Shown::Yes),
            Cursor::At { .. } | Cursor::Hidden => (bottom, 0, Shown::No),
        };
        let col = col.min(self.size.width() - 1);
        self.pen.plain();
        self.pen.go_to(Place { row: self.top + row.min(bottom), col });
        if shown != self.shown {
            self.pen.raw(if shown == Shown::Yes { "\x1b[?25h" } else { "\x1b[?25l" });
            self.shown = shown;
        }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.pen.out.is_empty() {
            return Ok(());
        }
        self.pen.plain();
        let bytes = format!("{BEGIN}{}{END}", self.pen.out);
        self.pen.out.clear();
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }
}
