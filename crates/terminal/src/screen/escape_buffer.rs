//! Buffer of escape sequences that tracks the cursor and the style, and omits redundant changes.
//!
//! Invariant: the output is our own sequences and the text of rows, which is neutralised.

use std::fmt::Write as _;

use crate::hyperlinks::Hyperlink;
use crate::row::{Cell, Row, SemanticMark};
use crate::screen::features::Palette;
use crate::style::{Attributes, Colour, Style};

/// Cursor position on the screen, from 0. A column equal to the width is the pending wrap after
/// the last character of a full row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CursorPosition {
    pub(super) row: usize,
    pub(super) col: usize,
}

/// Buffers output for one frame.
#[derive(Debug)]
pub(super) struct EscapeBuffer {
    pub(super) out: String,
    /// `None` if unknown, as after a resize.
    position: Option<CursorPosition>,
    style: Style,
    link: Option<Hyperlink>,
    palette: Palette,
    cols: usize,
}

impl EscapeBuffer {
    pub(super) fn new(palette: Palette, cols: usize) -> EscapeBuffer {
        EscapeBuffer {
            out: String::new(),
            position: None,
            style: Style::PLAIN,
            link: None,
            palette,
            cols,
        }
    }

    /// Writes the row's OSC 133 mark at the start of screen row `at`.
    pub(super) fn write_semantic_mark_if_any(&mut self, row: &Row, at: usize) {
        let letter = match row.semantic_mark() {
            None => return,
            Some(SemanticMark::Prompt) => 'A',
            Some(SemanticMark::Output) => 'C',
        };
        self.move_to(CursorPosition { row: at, col: 0 });
        // Writing to a string cannot fail.
        let _ = write!(self.out, "\x1b]133;{letter}\x1b\\");
    }

    pub(super) fn position(&self) -> Option<CursorPosition> {
        self.position
    }

    pub(super) fn set_cols_and_forget_position(&mut self, cols: usize) {
        self.cols = cols;
        self.position = None;
    }

    /// Appends a sequence that does not move the cursor.
    pub(super) fn push_raw(&mut self, bytes: &str) {
        self.out.push_str(bytes);
    }

    /// Appends a sequence after which the cursor position is unknown.
    pub(super) fn push_raw_and_forget_position(&mut self, bytes: &str) {
        self.out.push_str(bytes);
        self.position = None;
    }

    /// Moves the cursor by the shortest sequence.
    pub(super) fn move_to(&mut self, place: CursorPosition) {
        if self.position == Some(place) {
            return;
        }
        let (row, col) = (place.row + 1, place.col + 1);
        match self.position {
            Some(now) if now.row == place.row && place.col == 0 => self.out.push('\r'),
            Some(now) if now.row == place.row => self.push_sequence(format_args!("\x1b[{col}G")),
            _ if col == 1 => self.push_sequence(format_args!("\x1b[{row}H")),
            _ => self.push_sequence(format_args!("\x1b[{row};{col}H")),
        }
        self.position = Some(place);
    }

    /// Moves to the start of the next row; at the bottom the screen scrolls.
    pub(super) fn write_newline(&mut self, bottom: usize) {
        self.reset_style_and_link();
        self.out.push_str("\r\n");
        if let Some(place) = &mut self.position {
            *place = CursorPosition { row: (place.row + 1).min(bottom), col: 0 };
        }
    }

    /// Erases from the cursor to the end of the row.
    pub(super) fn erase_to_row_end(&mut self) {
        self.reset_style_and_link();
        self.out.push_str("\x1b[K");
    }

    /// Erases from the start of a row to the end of the screen.
    pub(super) fn erase_screen_from(&mut self, row: usize) {
        self.move_to(CursorPosition { row, col: 0 });
        self.reset_style_and_link();
        if row == 0 {
            // Erasing the whole screen at once makes tmux copy it into its history.
            self.out.push_str("\x1b[K");
            self.move_to(CursorPosition { row: 1, col: 0 });
        }
        self.out.push_str("\x1b[J");
        self.move_to(CursorPosition { row, col: 0 });
    }

    /// Writes cells of a row; the first is at the cursor.
    pub(super) fn write_cells<'a>(&mut self, row: &'a Row, cells: impl Iterator<Item = Cell<'a>>) {
        let mut runs = row.style_runs().iter();
        let mut run = runs.next();
        let mut run_end = run.map_or(0, |run| run.bytes);
        for cell in cells {
            while cell.offset >= run_end
                && let Some(next) = runs.next()
            {
                run_end += next.bytes;
                run = Some(next);
            }
            if let Some(run) = run {
                self.set_style_and_link(run.style, run.link.as_ref());
            }
            self.out.push_str(cell.text);
            let end = cell.col + cell.width;
            if let Some(place) = &mut self.position {
                place.col = end;
            }
            if cell.width_uncertain && end < self.cols {
                self.push_sequence(format_args!("\x1b[{}G", end + 1));
            }
        }
    }

    /// Notes that the terminal wrapped to the start of `row`.
    pub(super) fn set_position_after_wrap(&mut self, row: usize) {
        self.position = Some(CursorPosition { row, col: 0 });
    }

    /// Resets to plain text without a hyperlink.
    pub(super) fn reset_style_and_link(&mut self) {
        self.set_style_and_link(Style::PLAIN, None);
    }

    fn set_style_and_link(&mut self, style: Style, link: Option<&Hyperlink>) {
        if self.link.as_ref() != link {
            let address = link.map_or("", Hyperlink::as_str);
            self.push_sequence(format_args!("\x1b]8;;{address}\x1b\\"));
            self.link = link.cloned();
        }
        let style = self.palette.apply_to(style);
        if self.style != style {
            self.push_sgr(style);
            self.style = style;
        }
    }

    /// Appends the shortest SGR sequence from the current style to `style`.
    fn push_sgr(&mut self, style: Style) {
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
            add(sgr_colour_code(style.colour));
        }
        self.push_sequence(format_args!("\x1b[{codes}m"));
    }

    fn push_sequence(&mut self, sequence: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(sequence);
    }
}

fn sgr_colour_code(colour: Colour) -> u8 {
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
