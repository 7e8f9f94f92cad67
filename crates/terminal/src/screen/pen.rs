//! Bytes for a terminal: where the cursor is, how it writes, and nothing twice.
//!
//! Invariant: what goes out is our own sequences and the text of rows, which is neutral.

use std::fmt::Write as _;

use crate::links::Link;
use crate::row::{Cell, Mark, Row};
use crate::screen::features::Palette;
use crate::style::{Attributes, Colour, Style};

/// Where the cursor is: on the screen, both from nought. A column equal to the width is the place
/// after the last character of a full row, from which the terminal wraps by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: usize,
    pub(super) col: usize,
}

#[derive(Debug)]
pub(super) struct Pen {
    pub(super) out: String,
    /// Nobody knows after a resize.
    place: Option<Place>,
    style: Style,
    link: Option<Link>,
    palette: Palette,
    cols: usize,
}

impl Pen {
    pub(super) fn new(palette: Palette, cols: usize) -> Pen {
        Pen { out: String::new(), place: None, style: Style::PLAIN, link: None, palette, cols }
    }

    /// Tells the terminal what begins with a row, before it is written.
    pub(super) fn mark(&mut self, row: &Row, at: usize) {
        let letter = match row.mark() {
            None => return,
            Some(Mark::Prompt) => 'A',
            Some(Mark::Output) => 'C',
        };
        self.go_to(Place { row: at, col: 0 });
        // Writing to a string cannot fail.
        let _ = write!(self.out, "\x1b]133;{letter}\x1b\\");
    }

    pub(super) fn place(&self) -> Option<Place> {
        self.place
    }

    pub(super) fn set_cols(&mut self, cols: usize) {
        self.cols = cols;
        self.place = None;
    }

    pub(super) fn raw(&mut self, bytes: &str) {
        self.out.push_str(bytes);
    }

    /// Appends a sequence after which nobody knows where the cursor is.
    pub(super) fn lost(&mut self, bytes: &str) {
        self.out.push_str(bytes);
        self.place = None;
    }

    pub(super) fn go_to(&mut self, place: Place) {
        if self.place == Some(place) {
            return;
        }
        let (row, col) = (place.row + 1, place.col + 1);
        match self.place {
            Some(now) if now.row == place.row && place.col == 0 => self.out.push('\r'),
            Some(now) if now.row == place.row => self.sequence(format_args!("\x1b[{col}G")),
            _ if col == 1 => self.sequence(format_args!("\x1b[{row}H")),
            _ => self.sequence(format_args!("\x1b[{row};{col}H")),
        }
        self.place = Some(place);
    }

    /// Ends the row here and goes to the start of the next, which may scroll.
    pub(super) fn next_row(&mut self, bottom: usize) {
        self.plain();
        self.out.push_str("\r\n");
        if let Some(place) = &mut self.place {
            *place = Place { row: (place.row + 1).min(bottom), col: 0 };
        }
    }

    /// Erases from here to the end of the row.
    pub(super) fn erase_row(&mut self) {
        self.plain();
        self.out.push_str("\x1b[K");
    }

    /// Erases from the start of a row to the end of the screen.
    pub(super) fn erase_from(&mut self, row: usize) {
        self.go_to(Place { row, col: 0 });
        self.plain();
        if row == 0 {
            // Whoever erases all of the screen at once makes tmux keep it as history.
            self.out.push_str("\x1b[K");
            self.go_to(Place { row: 1, col: 0 });
        }
        self.out.push_str("\x1b[J");
        self.go_to(Place { row, col: 0 });
    }

    /// Writes cells of a row, the first of which stands where the cursor is.
    pub(super) fn write<'a>(&mut self, row: &'a Row, cells: impl Iterator<Item = Cell<'a>>) {
        let mut runs = row.runs().iter();
        let mut run = runs.next();
        let mut run_end = run.map_or(0, |run| run.bytes);
        for cell in cells {
            while cell.at >= run_end
                && let Some(next) = runs.next()
            {
                run_end += next.bytes;
                run = Some(next);
            }
            if let Some(run) = run {
                self.dress(run.style, run.link.as_ref());
            }
            self.out.push_str(cell.text);
            let end = cell.col + cell.width;
            if let Some(place) = &mut self.place {
                place.col = end;
            }
            if cell.doubtful && end < self.cols {
                self.sequence(format_args!("\x1b[{}G", end + 1));
            }
        }
    }

    /// The cursor has gone to the next row, because the terminal wrapped.
    pub(super) fn wrapped(&mut self, row: usize) {
        self.place = Some(Place { row, col: 0 });
    }

    /// Back to plain text without a link.
    pub(super) fn plain(&mut self) {
        self.dress(Style::PLAIN, None);
    }

    fn dress(&mut self, style: Style, link: Option<&Link>) {
        if self.link.as_ref() != link {
            let address = link.map_or("", Link::as_str);
            self.sequence(format_args!("\x1b]8;;{address}\x1b\\"));
            self.link = link.cloned();
        }
        let style = self.palette.of(style);
        if self.style != style {
            self.sgr(style);
            self.style = style;
        }
    }

    /// The shortest way from the style now to another.
    fn sgr(&mut self, style: Style) {
        if style == Style::PLAIN {
            return self.out.push_str("\x1b[m");
        }
        let lost = self.style.attributes.without(style.attributes) != Attributes::NONE;
        let now = if lost { Style::PLAIN } else { self.style };
        let mut codes = if lost { "0".to_owned() } else { String::new() };
        let mut add = |code: u8| {
            let semicolon = if codes.is_empty() { "" } else { ";" };
            // Writing to a string cannot fail.
            let _ = write!(codes, "{semicolon}{code}");
        };
        let fresh = style.attributes.without(now.attributes);
        for (attribute, code) in Attributes::CODES {
            if fresh.contains(attribute) {
                add(code);
            }
        }
        if style.colour != now.colour {
            add(colour_code(style.colour));
        }
        self.sequence(format_args!("\x1b[{codes}m"));
    }

    fn sequence(&mut self, sequence: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(sequence);
    }
}

fn colour_code(colour: Colour) -> u8 {
    match colour {
        Colour::Default => 39,
        Colour::Black => 30,
        Colour::Red => 31,
        Colour::Green => 32,
        Colour::Yellow => 33,
        Colour::Blue => 34,
        Colour::Magenta => 35,
        Colour::Cyan => 36,
        Colour::White => 37,
        Colour::BrightBlack => 90,
        Colour::BrightRed => 91,
        Colour::BrightGreen => 92,
        Colour::BrightYellow => 93,
        Colour::BrightBlue => 94,
        Colour::BrightMagenta => 95,
        Colour::BrightCyan => 96,
        Colour::BrightWhite => 97,
    }
}
