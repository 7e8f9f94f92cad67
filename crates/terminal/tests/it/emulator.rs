//! A terminal emulator whose screen and scrollback tests can read.

use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, TermMode};
use alacritty_terminal::vte::ansi::Processor;
use millpond_terminal::size::Size;

const SCROLLBACK_LINES: usize = 100_000;

pub(crate) struct Emulator {
    term: Term<VoidListener>,
    parser: Processor,
}

#[derive(Clone, Copy)]
struct WindowSize(Size);

impl Dimensions for WindowSize {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }
    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows)
    }
    fn columns(&self) -> usize {
        usize::from(self.0.cols)
    }
}

impl Emulator {
    pub(crate) fn new(size: Size) -> Emulator {
        let config = Config {
            scrolling_history: SCROLLBACK_LINES,
            kitty_keyboard: true,
            ..Config::default()
        };
        let term = Term::new(config, &WindowSize(size), VoidListener);
        Emulator { term, parser: Processor::new() }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    pub(crate) fn resize(&mut self, size: Size) {
        self.term.resize(WindowSize(size));
    }

    pub(crate) fn cursor(&self) -> (u16, u16) {
        let point = self.term.grid().cursor.point;
        (u16::try_from(point.line.0).unwrap(), u16::try_from(point.column.0).unwrap())
    }

    pub(crate) fn shows_cursor(&self) -> bool {
        self.term.mode().contains(TermMode::SHOW_CURSOR)
    }

    pub(crate) fn mode(&self) -> TermMode {
        *self.term.mode()
    }

    /// Returns true if the character before the cursor has no style and no hyperlink.
    pub(crate) fn is_plain_before_cursor(&self) -> bool {
        let cursor = self.term.grid().cursor.point;
        let cell = &self.term.grid()[cursor.line][cursor.column - 1];
        cell.flags.is_empty() && cell.hyperlink().is_none() && cell.fg == Cell::default().fg
    }

    /// Returns all lines as copied; wrapped rows are one line.
    pub(crate) fn copied_lines(&self) -> Vec<String> {
        self.copied_lines_to(self.term.bottommost_line())
    }

    /// Returns the lines that have left the screen.
    pub(crate) fn scrollback_lines(&self) -> Vec<String> {
        if self.term.history_size() == 0 {
            return Vec::new();
        }
        self.copied_lines_to(Line(-1))
    }

    /// Returns all lines above a screen row.
    pub(crate) fn copied_lines_above(&self, row: usize) -> Vec<String> {
        self.copied_lines_to(Line(i32::try_from(row).unwrap() - 1))
    }

    /// Returns the rows of the screen.
    pub(crate) fn screen_rows(&self) -> Vec<String> {
        let row = |line| {
            let cells = &self.term.grid()[Line(line)];
            let text: String = (0..self.term.columns()).map(|col| cells[Column(col)].c).collect();
            text.trim_end().to_owned()
        };
        (0..i32::try_from(self.term.screen_lines()).unwrap()).map(row).collect()
    }

    fn copied_lines_to(&self, last: Line) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for row in self.term.topmost_line().0..=last.0 {
            let cells = &self.term.grid()[Line(row)];
            let wraps = cells[self.term.last_column()].flags.contains(Flags::WRAPLINE);
            let mut after_tab = false;
            for col in 0..self.term.columns() {
                let cell = &cells[Column(col)];
                // Cells that a tab skipped belong to it.
                after_tab &= col % 8 != 0 && cell.c == ' ';
                let spacer = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
                if after_tab || cell.flags.intersects(spacer) {
                    continue;
                }
                after_tab = cell.c == '\t';
                line.push(cell.c);
                line.extend(cell.zerowidth().into_iter().flatten());
            }
            if !wraps {
                lines.push(line.trim_end().to_owned());
                line.clear();
            }
        }
        if !line.is_empty() {
            lines.push(line.trim_end().to_owned());
        }
        lines
    }
}
