//! Where the rows of a frame go: settled rows above, live rows below, and what moves for that.

use std::io::Write;
use std::sync::Arc;

use super::paint::{Drawn, paint, seam, write_joined};
use super::pen::Place;
use super::{Insertion, Screen};
use crate::row::Row;

/// Rows above the ones that stay must be at least two, or terminals ignore the region.
const REGION_ROWS_MIN: usize = 2;

impl<W: Write> Screen<W> {
    /// Settled rows, no wider than the screen, and how each follows the one above.
    pub(super) fn settled_rows(&mut self, rows: &[Row]) -> Vec<Drawn> {
        let cols = self.size.width();
        let mut above = self.last.take().filter(|_| self.top > 0);
        let mut out: Vec<Drawn> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut rest = row.clone();
            loop {
                let over = rest.cells().find(|cell| cell.col > 0 && cols < cell.col + cell.width);
                let over = over.map(|cell| cell.at);
                let part = match over {
                    Some(at) => rest.split_front(at),
                    None => std::mem::take(&mut rest),
                };
                let from = above.as_ref().and_then(|above| seam(above, &part, cols));
                above = Some(part.clone());
                out.push(Drawn { row: part, from });
                if over.is_none() {
                    break;
                }
            }
        }
        self.last = above;
        out
    }

    /// Puts rows down as far as the first picture among them, and draws it while all of its rows are
    /// on the screen. Gives the rows below it.
    pub(super) fn place_picture(&mut self, rows: &mut Vec<Drawn>) -> Option<Vec<Drawn>> {
        let (at, art) = rows.iter().enumerate().find_map(|(at, drawn)| {
            let art = drawn.row.art().filter(|art| art.fits(self.size))?;
            Some((at, Arc::clone(art)))
        })?;
        let rest = rows.split_off((at + art.rows()).min(rows.len()));
        let below = Drawn::live(&Row::default(), self.size.width());
        self.place_rows(std::mem::take(rows), vec![below]);
        self.pen.plain();
        self.pen.go_to(Place { row: self.top.saturating_sub(art.rows()), col: 0 });
        self.pen.lost(art.sequence());
        Some(rest)
    }

    /// Brings the screen from what is drawn to the settled rows followed by the live ones.
    pub(super) fn place_rows(&mut self, settled: Vec<Drawn>, live: Vec<Drawn>) {
        let rows = usize::from(self.size.rows);
        let adopted = self.adopted(&settled);
        self.drawn.drain(..adopted);
        self.top += adopted;
        let settled_count = settled.len() - adopted;
        let wanted: Vec<Drawn> = settled.into_iter().skip(adopted).chain(live).collect();
        let kept = self.kept_below(&wanted);
        let free = rows.saturating_sub(self.top + self.drawn.len());
        let opened = wanted.len().saturating_sub(self.drawn.len()).min(free);
        let body_drawn = self.drawn.len() - kept;
        if kept > 0 && opened > 0 {
            self.pen.go_to(Place { row: self.top + body_drawn, col: 0 });
            self.pen.raw(&format!("\x1b[{opened}L"));
        }
        let body = &wanted[..wanted.len() - kept];
        let in_place = body.len().min(body_drawn + opened);
        self.paint_in_place(&body[..in_place], body_drawn);
        if wanted.len() < self.drawn.len() {
            self.pen.erase_from(self.top + wanted.len());
        }
        if in_place < body.len() {
            self.scroll_in(&body[in_place..], kept);
        }
        let scrolled = (self.top + wanted.len()).saturating_sub(rows);
        self.top = (self.top + settled_count).saturating_sub(scrolled);
        self.drawn = wanted.into_iter().skip(settled_count).map(|drawn| drawn.row).collect();
    }

    /// Live rows that settle as they stand.
    fn adopted(&self, settled: &[Drawn]) -> usize {
        settled.iter().zip(&self.drawn).take_while(|(settled, drawn)| settled.is(drawn)).count()
    }

    /// Rows at the bottom that stay as they are and only move, if the terminal can move them.
    fn kept_below(&self, wanted: &[Drawn]) -> usize {
        if wanted.len() <= self.drawn.len() || self.features.insertion == Insertion::Newlines {
            return 0;
        }
        let pairs = wanted.iter().rev().zip(self.drawn.iter().rev());
        let kept = pairs.take_while(|(wanted, drawn)| wanted.is(drawn)).count();
        if kept + REGION_ROWS_MIN <= usize::from(self.size.rows) { kept } else { 0 }
    }

    /// Paints rows over those that are drawn, of which the first `over` are in their place.
    fn paint_in_place(&mut self, rows: &[Drawn], over: usize) {
        let cols = self.size.width();
        let blank = Row::default();
        for (index, drawn) in rows.iter().enumerate() {
            let at = self.top + index;
            self.pen.mark(&drawn.row, at);
            let old = self.drawn.get(index).filter(|_| index < over).unwrap_or(&blank);
            let Some(seam) = &drawn.from else {
                paint(&mut self.pen, at, old, &drawn.row, cols);
                continue;
            };
            if !old.is_empty() {
                // The terminal wraps into it at once: what stands there has to go first.
                self.pen.go_to(Place { row: at, col: 0 });
                self.pen.erase_row();
            }
            write_joined(&mut self.pen, seam, at.saturating_sub(1), &drawn.row, at);
        }
    }

    /// Writes rows at the bottom of what is above the rows that stay, which scrolls.
    fn scroll_in(&mut self, rows: &[Drawn], kept: usize) {
        let height = usize::from(self.size.rows) - kept;
        let bottom = height - 1;
        if kept > 0 {
            self.pen.lost(&format!("\x1b[1;{height}r"));
        }
        for drawn in rows {
            if let Some(seam) = &drawn.from {
                write_joined(&mut self.pen, seam, bottom, &drawn.row, bottom);
                continue;
            }
            if self.pen.place().is_none_or(|place| place.row != bottom) {
                self.pen.go_to(Place { row: bottom, col: 0 });
            }
            self.pen.next_row(bottom);
            self.pen.mark(&drawn.row, bottom);
            self.pen.write(&drawn.row, drawn.row.cells());
        }
        if kept > 0 {
            self.pen.plain();
            self.pen.lost("\x1b[r");
        }
    }
}
