//! A minimal chat on an emulator: one Markdown message, a status line and an input line below.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use millpond_terminal::limits::live_rows_max;
use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::row::Row;
use millpond_terminal::screen::{
    Frame, FrameCursor, InsertMethod, LiveRowsOnClose, Palette, Reflow, Screen, TerminalFeatures,
};
use millpond_terminal::size::Size;
use millpond_terminal::style::Style;

use crate::emulator::Emulator;

pub(crate) const SHELL_LINES: [&str; 3] = ["$ echo one", "one", "$ millpond"];
const FOOTER_ROWS: u16 = 2;

/// Features of a terminal that loses rows scrolled out of a region.
pub(crate) const NEWLINE_INSERTION: TerminalFeatures = TerminalFeatures {
    insert_method: InsertMethod::Newlines,
    reflow: Reflow::Wraps,
    palette: Palette::Colours,
    graphics: None,
};

/// A writer whose bytes the test takes out.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedBuffer(Rc<RefCell<Vec<u8>>>, Rc<RefCell<usize>>);

impl SharedBuffer {
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl io::Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        *self.1.borrow_mut() += 1;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) struct MiniChat {
    pub(crate) emulator: Emulator,
    markdown: MarkdownRenderer,
    screen: Screen<SharedBuffer>,
    wire: SharedBuffer,
    /// All settled rows.
    pub(crate) settled: Vec<Row>,
    /// Lines above the live region in the last frame.
    above: Vec<String>,
    status: String,
}

/// Returns the area of the screen that the message may use.
pub(crate) fn message_area(size: Size) -> Size {
    Size::new(size.cols, size.rows.saturating_sub(FOOTER_ROWS))
}

impl MiniChat {
    pub(crate) fn new(size: Size, features: TerminalFeatures) -> MiniChat {
        let mut emulator = Emulator::new(size);
        for line in SHELL_LINES {
            emulator.feed(format!("{line}\r\n").as_bytes());
        }
        let wire = SharedBuffer::default();
        let (row, _) = emulator.cursor();
        MiniChat {
            screen: Screen::new(wire.clone(), size, row, features),
            emulator,
            markdown: MarkdownRenderer::new(message_area(size), HyperlinkMode::Osc8),
            wire,
            settled: Vec::new(),
            above: Vec::new(),
            status: "working".to_owned(),
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.markdown.push(text);
        self.draw_and_check();
    }

    pub(crate) fn set_status(&mut self, status: &str) {
        status.clone_into(&mut self.status);
        self.draw_and_check();
    }

    pub(crate) fn finish(&mut self) {
        self.markdown.finish();
        self.draw_and_check();
    }

    /// Draws a frame, checks the invariants of every frame, and returns the bytes written.
    pub(crate) fn draw_and_check(&mut self) -> usize {
        let settled = self.markdown.take_settled();
        let live = self.live_rows();
        let cursor = FrameCursor::At { row: live.len() - 1, col: 2 };
        let writes = *self.wire.1.borrow();
        self.screen.draw_frame(Frame { settled: &settled, live: &live, cursor }).unwrap();
        assert!(*self.wire.1.borrow() - writes <= 1, "one write per frame");
        self.settled.extend(settled);
        let bytes = self.wire.take();
        check_frame_bytes(&bytes);
        self.emulator.feed(&bytes);
        self.check_live(&live);
        self.check_above(&live);
        bytes.len()
    }

    /// Resizes the terminal and draws a frame.
    pub(crate) fn resize(&mut self, size: Size) {
        self.resize_without_frame(size);
        self.draw_and_check();
    }

    /// Resizes the terminal without drawing a frame.
    pub(crate) fn resize_without_frame(&mut self, size: Size) {
        self.emulator.resize(size);
        let (row, _) = self.emulator.cursor();
        let resized = self.screen.resize_and_locate_live_region(size, row);
        if resized.scrolled_away > 0 {
            let shown = self.markdown.live_rows();
            let gone = resized.scrolled_away.min(shown.len());
            self.markdown.settle_as_shown_and_drop_rows(gone);
            self.settled.extend(shown.into_iter().take(gone));
        }
        self.markdown.set_size_and_rewrap(message_area(size));
    }

    pub(crate) fn close(self, leave: LiveRowsOnClose) -> Emulator {
        let MiniChat { mut emulator, screen, wire, .. } = self;
        screen.close(leave).unwrap();
        let bytes = wire.take();
        check_frame_bytes(&bytes);
        emulator.feed(&bytes);
        emulator
    }

    pub(crate) fn live_rows(&self) -> Vec<Row> {
        let mut live = self.markdown.live_rows();
        live.push(Row::from_text(&self.status, Style::DIM));
        live.push(Row::from_text("> input", Style::PLAIN));
        live
    }

    fn check_live(&self, live: &[Row]) {
        let size = self.screen.size();
        let shown = live.len().min(live_rows_max(size));
        let (row, _) = self.emulator.cursor();
        let rows = self.emulator.screen_rows();
        let top = usize::from(row) + 1 - shown;
        assert!(shown <= live_rows_max(size));
        for (index, row) in live[live.len() - shown..].iter().enumerate() {
            let expected = row.clip_to_width(usize::from(size.cols));
            if row.text().is_ascii() && !row.text().contains('\t') {
                assert_eq!(
                    rows[top + index],
                    expected.text().trim_end(),
                    "live row {index} of {rows:#?}"
                );
            }
        }
        assert!(
            rows[usize::from(row) + 1..].iter().all(String::is_empty),
            "nothing below: {rows:#?}"
        );
    }

    /// Checks that lines above the live region never change; only the last one may grow.
    fn check_above(&mut self, live: &[Row]) {
        let shown = live.len().min(live_rows_max(self.screen.size()));
        let (row, _) = self.emulator.cursor();
        let now = self.emulator.copied_lines_above(usize::from(row) + 1 - shown);
        let kept = self.above.len().saturating_sub(1);
        assert_eq!(now.get(..kept), self.above.get(..kept), "what is settled changed");
        if let Some(before) = self.above.last() {
            assert!(now[kept].starts_with(before), "{:?} was {before:?}", now[kept]);
        }
        self.above = now;
    }
}

/// Checks that a frame clears nothing above the cursor and is one synchronized update.
pub(crate) fn check_frame_bytes(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for clear in ["\x1b[2J", "\x1b[3J", "\x1b[1J", "\x1bc", "\x1b[?1049"] {
        assert!(!text.contains(clear), "{clear:?} in {text:?}");
    }
    if !bytes.is_empty() {
        assert!(text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l"), "{text:?}");
        assert_eq!(text.matches("\x1b[?2026").count(), 2, "{text:?}");
    }
}

/// Joins rows that the terminal wraps into lines, as they are copied.
pub(crate) fn joined_lines(rows: &[Row], cols: u16) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut above_width = 0;
    for row in rows {
        let wraps = row.row_start() == millpond_terminal::row::RowStart::WithoutSpace;
        match lines.last_mut() {
            Some(line) if wraps && above_width + 1 >= usize::from(cols) => {
                line.push_str(row.text());
            }
            _ => lines.push(row.text().to_owned()),
        }
        above_width = row.width();
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}
