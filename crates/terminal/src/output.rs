//! Output of rows to stdout: a drawn screen, or plain lines.

use std::io::{self, Stdout, stdout};

use crate::hyperlinks::HyperlinkMode;
use crate::limits::RESIZE_SETTLE_TIME;
use crate::page::RenderOptions;
use crate::plain_writer::PlainWriter;
use crate::row::Row;
use crate::screen::{Frame, FrameCursor, LiveRowsOnClose, Screen, TerminalFeatures};
use crate::size::Size;
use crate::tty::{
    can_draw_on_stdout, query_size, query_size_and_cursor_row, query_size_and_likely_cursor_row,
};

/// Standard output as a target of rows.
#[derive(Debug)]
pub enum RowOutput {
    Screen { screen: Box<Screen<Stdout>>, hyperlinks: HyperlinkMode },
    Plain(PlainWriter<Stdout>),
}

impl RowOutput {
    /// Opens standard output: a screen if the terminal can be drawn on and reports its cursor,
    /// else plain lines. `variable` reads an environment variable.
    pub fn wait_for_cursor_and_open_stdout(variable: impl Fn(&str) -> Option<String>) -> RowOutput {
        if can_draw_on_stdout(&variable)
            && let Ok((size, row)) = query_size_and_cursor_row()
        {
            let screen = Screen::new(stdout(), size, row, TerminalFeatures::detect(&variable));
            let screen = Box::new(screen);
            return RowOutput::Screen { screen, hyperlinks: HyperlinkMode::detect(&variable) };
        }
        RowOutput::Plain(PlainWriter::new(stdout()))
    }

    /// Returns the options to render rows with.
    pub fn render_options(&self) -> RenderOptions {
        match self {
            RowOutput::Screen { screen, hyperlinks: links } => {
                RenderOptions { size: screen.size(), hyperlinks: *links }
            }
            RowOutput::Plain(_) => {
                RenderOptions { size: Size::UNBOUNDED, hyperlinks: HyperlinkMode::SpelledOut }
            }
        }
    }

    /// Writes settled rows, and redraws live rows below them on a screen.
    pub fn draw_rows(&mut self, settled: &[Row], live: &[Row]) -> io::Result<()> {
        match self {
            RowOutput::Screen { screen, .. } => {
                let row = live.len().saturating_sub(1);
                let col = live.last().map_or(0, Row::width);
                screen.draw_frame(Frame { settled, live, cursor: FrameCursor::At { row, col } })
            }
            RowOutput::Plain(plain) => plain.write_rows_leaving_line_open(settled),
        }
    }

    /// Returns true if live rows are shown.
    pub fn can_draw_live_rows(&self) -> bool {
        matches!(self, RowOutput::Screen { .. })
    }

    /// If the size has changed, blocks until it is stable and applies it. Returns how many live
    /// rows have scrolled away.
    pub fn wait_and_apply_resize_if_changed(&mut self) -> io::Result<Option<usize>> {
        let RowOutput::Screen { screen, .. } = self else { return Ok(None) };
        let mut last = query_size()?;
        if last == screen.size() {
            return Ok(None);
        }
        loop {
            std::thread::sleep(RESIZE_SETTLE_TIME);
            let now = query_size()?;
            if now == last {
                break;
            }
            last = now;
        }
        let (size, row) = query_size_and_likely_cursor_row()?;
        Ok(Some(screen.resize_and_locate_live_region(size, row).scrolled_away))
    }

    /// Erases the live rows and ends the output.
    pub fn erase_live_rows_and_close(self) -> io::Result<()> {
        match self {
            RowOutput::Screen { screen, .. } => screen.close(LiveRowsOnClose::Erase).map(drop),
            RowOutput::Plain(plain) => plain.finish().map(drop),
        }
    }
}
