//! A page that is only looked at: drawn while it changes where that can be done, else printed as it
//! settles.
//!
//! Draws in a thread of its own, so that a burst is one frame and the last of it does not wait for
//! what comes next.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::view::{Kind, Picture, ViewName};

use crate::limits::{FRAME_EVERY, TICK_EVERY};
use crate::page::status::status_row;
use crate::page::{Look, Page, put};
use crate::row::Row;
use crate::sheet::Sheet;
use crate::style::{Colour, Style};
use crate::text::spelled_out;

/// Patches that may wait for a terminal that is slow.
const PATCHES_AHEAD: usize = 1_024;

#[derive(Debug)]
pub struct Watch {
    tell: SyncSender<String>,
    drawing: JoinHandle<io::Result<()>>,
}

impl Watch {
    pub fn start(view: ViewName, sheet: Sheet) -> Watch {
        let (tell, told) = sync_channel(PATCHES_AHEAD);
        let drawing = std::thread::spawn(move || Drawing::new(view, sheet).follow(&told));
        Watch { tell, drawing }
    }

    /// A change of the page; what cannot be shown any more is left out.
    pub fn patch(&self, data: &str) {
        let _gone = self.tell.send(data.to_owned());
    }

    /// Whether nobody looks any more.
    pub fn is_over(&self) -> bool {
        self.drawing.is_finished()
    }

    /// Returns once all is shown.
    pub fn finish(self) -> io::Result<()> {
        drop(self.tell);
        self.drawing.join().unwrap_or_else(|_| Err(io::Error::other("the screen broke")))
    }
}

struct Drawing {
    sheet: Sheet,
    page: Page,
    /// When the run that is going was first seen.
    began: Option<Instant>,
}

impl Drawing {
    fn new(view: ViewName, sheet: Sheet) -> Drawing {
        let page = Page::new(view, sheet.look());
        Drawing { sheet, page, began: None }
    }

    fn follow(mut self, told: &Receiver<String>) -> io::Result<()> {
        let mut dirty = false;
        let mut next = Instant::now();
        loop {
            let wait =
                if dirty { next.saturating_duration_since(Instant::now()) } else { TICK_EVERY };
            match told.recv_timeout(wait) {
                Ok(data) => {
                    self.patch(&data)?;
                    dirty = true;
                }
                Err(RecvTimeoutError::Timeout) => dirty |= self.began.is_some(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if dirty && next <= Instant::now() {
                self.draw()?;
                dirty = false;
                next = Instant::now() + FRAME_EVERY;
            }
        }
        self.draw()?;
        self.sheet.leave()
    }

    fn patch(&mut self, data: &str) -> io::Result<()> {
        self.page.patch(data).map_err(|fault| io::Error::other(fault.problem))?;
        self.began = match self.began {
            _ if !self.page.is_going() => None,
            None => Some(Instant::now()),
            began => began,
        };
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        if let Some(scrolled_away) = self.sheet.resized()? {
            self.page.resize(self.sheet.look(), scrolled_away);
        }
        let settled = self.page.take_settled();
        let live = if self.sheet.shows_live() { self.live() } else { Vec::new() };
        self.sheet.draw(&settled, &live)
    }

    fn live(&mut self) -> Vec<Row> {
        let look = self.sheet.look();
        let mut rows = self.page.live();
        let picture = self.page.picture();
        asked(picture, look, &mut rows);
        let elapsed = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        if let Some(status) = status_row(picture, elapsed, look) {
            if !rows.is_empty() || self.page.has_begun() {
                rows.push(Row::default());
            }
            rows.push(status);
        }
        rows
    }
}

/// What waits for a person, as far as it is no item of the page.
fn asked(picture: &Picture, look: Look, rows: &mut Vec<Row>) {
    let is_item =
        |id: &str| picture.items.values().rev().any(|item| item.kind == Kind::Ask && item.id == id);
    for ask in picture.asks.iter().filter(|ask| !is_item(&ask.id)) {
        put(
            rows,
            look,
            ("? ", Style::coloured(Colour::Yellow)),
            &spelled_out(&ask.text),
            Style::PLAIN,
        );
        let options: Vec<&str> = ask.options.iter().map(|option| &*option.label).collect();
        if !options.is_empty() {
            put(rows, look, ("  ", Style::PLAIN), &options.join(" / "), Style::DIM);
        }
    }
}
