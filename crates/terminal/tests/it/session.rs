//! A chat in miniature: one message in Markdown, a status line and an input line under it.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use terminal::limits::live_rows_max;
use terminal::markdown::{Links, Markdown};
use terminal::row::Row;
use terminal::screen::{Cursor, Features, Frame, Insertion, Leave, Palette, Reflow, Screen};
use terminal::size::Size;
use terminal::style::Style;

use crate::emulator::Emulator;

pub(crate) const SHELL: [&str; 3] = ["$ echo one", "one", "$ millpond"];
const FOOTER_ROWS: u16 = 2;

/// A terminal that loses what scrolls out of a region.
pub(crate) const NEWLINES: Features = Features {
    insertion: Insertion::Newlines,
    reflow: Reflow::Wraps,
    palette: Palette::Colours,
    graphics: None,
};

/// Bytes that somebody else takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire(Rc<RefCell<Vec<u8>>>, Rc<RefCell<usize>>);

impl Wire {
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl io::Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        *self.1.borrow_mut() += 1;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) struct Session {
    pub(crate) emulator: Emulator,
    markdown: Markdown,
    screen: Screen<Wire>,
    wire: Wire,
    /// Everything that has settled, line by line, as it should be copied.
    pub(crate) settled: Vec<Row>,
    /// What has been seen above the live region.
    above: Vec<String>,
    status: String,
}

/// The rows of the screen that the message may use.
pub(crate) fn for_message(size: Size) -> Size {
    Size::new(size.cols, size.rows.saturating_sub(FOOTER_ROWS))
}

impl Session {
    pub(crate) fn new(size: Size, features: Features) -> Session {
        let mut emulator = Emulator::new(size);
        for line in SHELL {
            emulator.feed(format!("{line}\r\n").as_bytes());
        }
        let wire = Wire::default();
        let (row, _) = emulator.cursor();
        Session {
            screen: Screen::new(wire.clone(), size, row, features),
            emulator,
            markdown: Markdown::new(for_message(size), Links::Behind),
            wire,
            settled: Vec::new(),
            above: Vec::new(),
            status: "working".to_owned(),
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.markdown.push(text);
        self.frame();
    }

    pub(crate) fn set_status(&mut self, status: &str) {
        status.clone_into(&mut self.status);
        self.frame();
    }

    pub(crate) fn finish(&mut self) {
        self.markdown.finish();
        self.frame();
    }

    /// Draws what there is, and checks what must hold of every frame.
    pub(crate) fn frame(&mut self) -> usize {
        let settled = self.markdown.take_settled();
        let live = self.live();
        let cursor = Cursor::At { row: live.len() - 1, col: 2 };
        let writes = *self.wire.1.borrow();
        self.screen.draw(Frame { settled: &settled, live: &live, cursor }).unwrap();
        assert!(*self.wire.1.borrow() - writes <= 1, "one write per frame");
        self.settled.extend(settled);
        let bytes = self.wire.take();
        check_bytes(&bytes);
        self.emulator.feed(&bytes);
        self.check_live(&live);
        self.check_above(&live);
        bytes.len()
    }

    /// The terminal is resized, says where its cursor is, and the next frame is drawn.
    pub(crate) fn resize(&mut self, size: Size) {
        self.resize_undrawn(size);
        self.frame();
    }

    /// The same, and the next resize comes before a frame.
    pub(crate) fn resize_undrawn(&mut self, size: Size) {
        self.emulator.resize(size);
        let (row, _) = self.emulator.cursor();
        let resized = self.screen.resize(size, row);
        if resized.scrolled_away > 0 {
            let shown = self.markdown.live();
            let gone = resized.scrolled_away.min(shown.len());
            self.markdown.scrolled_away(gone);
            self.settled.extend(shown.into_iter().take(gone));
        }
        self.markdown.set_size(for_message(size));
    }

    pub(crate) fn leave(self, leave: Leave) -> Emulator {
        let Session { mut emulator, screen, wire, .. } = self;
        screen.leave(leave).unwrap();
        let bytes = wire.take();
        check_bytes(&bytes);
        emulator.feed(&bytes);
        emulator
    }

    pub(crate) fn live(&self) -> Vec<Row> {
        let mut live = self.markdown.live();
        live.push(Row::line(&self.status, Style::DIM));
        live.push(Row::line("> input", Style::PLAIN));
        live
    }

    fn check_live(&self, live: &[Row]) {
        let size = self.screen.size();
        let shown = live.len().min(live_rows_max(size));
        let (row, _) = self.emulator.cursor();
        let rows = self.emulator.rows();
        let top = usize::from(row) + 1 - shown;
        assert!(shown <= live_rows_max(size));
        for (index, row) in live[live.len() - shown..].iter().enumerate() {
            let expected = row.clipped(usize::from(size.cols));
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

    /// What is above the live region never changes; only its last line may go on.
    fn check_above(&mut self, live: &[Row]) {
        let shown = live.len().min(live_rows_max(self.screen.size()));
        let (row, _) = self.emulator.cursor();
        let now = self.emulator.copied_above(usize::from(row) + 1 - shown);
        let kept = self.above.len().saturating_sub(1);
        assert_eq!(now.get(..kept), self.above.get(..kept), "what is settled changed");
        if let Some(before) = self.above.last() {
            assert!(now[kept].starts_with(before), "{:?} was {before:?}", now[kept]);
        }
        self.above = now;
    }
}

/// Nothing is ever cleared but what is below the cursor or right of it.
pub(crate) fn check_bytes(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for clear in ["\x1b[2J", "\x1b[3J", "\x1b[1J", "\x1bc", "\x1b[?1049"] {
        assert!(!text.contains(clear), "{clear:?} in {text:?}");
    }
    if !bytes.is_empty() {
        assert!(text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l"), "{text:?}");
        assert_eq!(text.matches("\x1b[?2026").count(), 2, "{text:?}");
    }
}

/// Rows as a person copies them: lines that the terminal wraps are one.
pub(crate) fn lines(rows: &[Row], cols: u16) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut above_width = 0;
    for row in rows {
        let wraps = row.begins() == terminal::row::Begins::Within;
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
