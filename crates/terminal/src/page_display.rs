//! Read-only display of a page: drawn live on a screen, else printed as it settles.
//!
//! Draws in its own thread, so that a burst of patches is one frame and the last patch does not
//! wait for the next one.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use millpond_engine::view::patch::Ask;
use millpond_engine::view::{Page, Patch, ViewName};

use crate::limits::{FRAME_INTERVAL, TICK_INTERVAL};
use crate::output::RowOutput;
use crate::page::status::run_status_row_unless_writing;
use crate::page::{PageRenderer, RenderOptions, push_wrapped_text};
use crate::row::Row;
use crate::style::{Colour, Style};
use crate::text::neutralise_and_escape_invisible;

/// Patches buffered for a slow terminal.
const PATCHES_QUEUED_MAX: usize = 1_024;

/// Handle of the display thread.
#[derive(Debug)]
pub struct PageDisplay {
    patches: SyncSender<Patch<'static>>,
    thread: JoinHandle<io::Result<()>>,
}

impl PageDisplay {
    pub fn start(view: ViewName, output: RowOutput) -> PageDisplay {
        let (patches, queued) = sync_channel(PATCHES_QUEUED_MAX);
        let thread = std::thread::spawn(move || DisplayLoop::new(view, output).run(&queued));
        PageDisplay { patches, thread }
    }

    /// Sends a patch to the display; ignored if the display has ended.
    pub fn send_patch(&self, patch: Patch<'_>) {
        let _gone = self.patches.send(patch.into_owned());
    }

    /// Returns true if the display thread has ended.
    pub fn has_thread_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until everything is shown and ends the thread.
    pub fn finish(self) -> io::Result<()> {
        drop(self.patches);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the display thread panicked")))
    }
}

/// State of the display thread.
struct DisplayLoop {
    output: RowOutput,
    renderer: PageRenderer,
    /// When the active run was first seen.
    run_seen_at: Option<Instant>,
}

impl DisplayLoop {
    fn new(view: ViewName, output: RowOutput) -> DisplayLoop {
        let renderer = PageRenderer::new(view, output.render_options());
        DisplayLoop { output, renderer, run_seen_at: None }
    }

    fn run(mut self, patches: &Receiver<Patch<'static>>) -> io::Result<()> {
        let mut dirty = false;
        let mut next = Instant::now();
        loop {
            let wait =
                if dirty { next.saturating_duration_since(Instant::now()) } else { TICK_INTERVAL };
            match patches.recv_timeout(wait) {
                Ok(patch) => {
                    self.apply_patch(&patch);
                    dirty = true;
                }
                Err(RecvTimeoutError::Timeout) => dirty |= self.run_seen_at.is_some(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if dirty && next <= Instant::now() {
                self.draw_frame()?;
                dirty = false;
                next = Instant::now() + FRAME_INTERVAL;
            }
        }
        self.draw_frame()?;
        self.output.erase_live_rows_and_close()
    }

    fn apply_patch(&mut self, patch: &Patch<'_>) {
        self.renderer.apply_patch(patch);
        self.run_seen_at = match self.run_seen_at {
            _ if !self.renderer.is_run_active() => None,
            None => Some(Instant::now()),
            began => began,
        };
    }

    fn draw_frame(&mut self) -> io::Result<()> {
        if let Some(scrolled_away) = self.output.wait_and_apply_resize_if_changed()? {
            self.renderer.resize(self.output.render_options(), scrolled_away);
        }
        let settled = self.renderer.take_settled();
        let live = if self.output.can_draw_live_rows() { self.live_rows() } else { Vec::new() };
        self.output.draw_rows(&settled, &live)
    }

    fn live_rows(&mut self) -> Vec<Row> {
        let options = self.output.render_options();
        let mut rows = self.renderer.live_rows();
        let page = self.renderer.page();
        push_rows_of_asks_without_item(page, options, &mut rows);
        let elapsed = self.run_seen_at.map_or(Duration::ZERO, |began| began.elapsed());
        if let Some(status) = run_status_row_unless_writing(page, elapsed, options) {
            if !rows.is_empty() || self.renderer.has_content_above() {
                rows.push(Row::default());
            }
            rows.push(status);
        }
        rows
    }
}

/// Pushes rows for open asks that are not items of the page.
fn push_rows_of_asks_without_item(page: &Page, options: RenderOptions, rows: &mut Vec<Row>) {
    let is_item = |ask: &Ask<'_>| page.items.values().rev().any(|item| item.is_of_ask(ask));
    for ask in page.asks.iter().filter(|ask| !is_item(ask)) {
        push_wrapped_text(
            rows,
            options,
            ("? ", Style::coloured(Colour::Yellow)),
            &neutralise_and_escape_invisible(&ask.text),
            Style::PLAIN,
        );
        let labels: Vec<&str> = ask.options.iter().map(|option| &*option.label).collect();
        if !labels.is_empty() {
            push_wrapped_text(rows, options, ("  ", Style::PLAIN), &labels.join(" / "), Style::DIM);
        }
    }
}
