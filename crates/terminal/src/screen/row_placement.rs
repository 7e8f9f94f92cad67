//! Placement of a frame's rows: settled rows above, live rows below, with the scrolling this needs.

use std::io::Write;
use std::sync::Arc;

use super::escape_buffer::CursorPosition;
use super::repaint::{ScreenRow, find_wrap_point, repaint_row, write_row_by_wrapping_from_above};
use super::{InsertMethod, Screen};
use crate::row::Row;

/// Terminals ignore a scroll region of fewer rows.
const SCROLL_REGION_ROWS_MIN: usize = 2;

impl<W: Write> Screen<W> {
    /// Splits settled rows at the width of the screen, with the wrap point to the row above.
    pub(super) fn split_settled_rows_at_width(&mut self, rows: &[Row]) -> Vec<ScreenRow> {
        let cols = self.size.width();
        let mut above = self.last_settled.take().filter(|_| self.live_top > 0);
        let mut out: Vec<ScreenRow> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut rest = row.clone();
            loop {
                let over = rest.cells().find(|cell| cell.col > 0 && cols < cell.col + cell.width);
                let over = over.map(|cell| cell.offset);
                let part = match over {
                    Some(at) => rest.split_off_front_bytes(at),
                    None => std::mem::take(&mut rest),
                };
                let from = above.as_ref().and_then(|above| find_wrap_point(above, &part, cols));
                above = Some(part.clone());
                out.push(ScreenRow { row: part, wrap_point: from });
                if over.is_none() {
                    break;
                }
            }
        }
        self.last_settled = above;
        out
    }

    /// Draws rows up to the first image and the image itself, while its rows are on the screen.
    /// Returns the rows below it.
    pub(super) fn draw_through_first_image_if_any(
        &mut self,
        rows: &mut Vec<ScreenRow>,
    ) -> Option<Vec<ScreenRow>> {
        let (at, art) = rows.iter().enumerate().find_map(|(at, drawn)| {
            let art = drawn.row.image().filter(|art| art.fits_on_screen(self.size))?;
            Some((at, Arc::clone(art)))
        })?;
        let rest = rows.split_off((at + art.row_count()).min(rows.len()));
        let below = ScreenRow::from_live_row(&Row::default(), self.size.width());
        self.draw_rows(std::mem::take(rows), vec![below]);
        self.writer.reset_style_and_link();
        self.writer
            .move_to(CursorPosition { row: self.live_top.saturating_sub(art.row_count()), col: 0 });
        self.writer.push_raw_and_forget_position(art.escape_sequence());
        Some(rest)
    }

    /// Updates the screen to the settled rows followed by the live ones.
    pub(super) fn draw_rows(&mut self, settled: Vec<ScreenRow>, live: Vec<ScreenRow>) {
        let rows = usize::from(self.size.rows);
        let adopted = self.count_rows_settled_in_place(&settled);
        self.drawn_rows.drain(..adopted);
        self.live_top += adopted;
        let settled_count = settled.len() - adopted;
        let wanted: Vec<ScreenRow> = settled.into_iter().skip(adopted).chain(live).collect();
        let kept = self.count_movable_bottom_rows(&wanted);
        let free = rows.saturating_sub(self.live_top + self.drawn_rows.len());
        let opened = wanted.len().saturating_sub(self.drawn_rows.len()).min(free);
        let body_drawn = self.drawn_rows.len() - kept;
        if kept > 0 && opened > 0 {
            self.writer.move_to(CursorPosition { row: self.live_top + body_drawn, col: 0 });
            self.writer.push_raw(&format!("\x1b[{opened}L"));
        }
        let body = &wanted[..wanted.len() - kept];
        let in_place = body.len().min(body_drawn + opened);
        self.repaint_rows_in_place(&body[..in_place], body_drawn);
        if wanted.len() < self.drawn_rows.len() {
            self.writer.erase_screen_from(self.live_top + wanted.len());
        }
        if in_place < body.len() {
            self.scroll_in_rows(&body[in_place..], kept);
        }
        let scrolled = (self.live_top + wanted.len()).saturating_sub(rows);
        self.live_top = (self.live_top + settled_count).saturating_sub(scrolled);
        self.drawn_rows = wanted.into_iter().skip(settled_count).map(|drawn| drawn.row).collect();
    }

    /// Counts the live rows that settle unchanged.
    fn count_rows_settled_in_place(&self, settled: &[ScreenRow]) -> usize {
        settled
            .iter()
            .zip(&self.drawn_rows)
            .take_while(|(settled, drawn)| settled.is_already_drawn_as(drawn))
            .count()
    }

    /// Counts the bottom rows that stay the same and only move, if the terminal can move them.
    fn count_movable_bottom_rows(&self, wanted: &[ScreenRow]) -> usize {
        if wanted.len() <= self.drawn_rows.len()
            || self.features.insert_method == InsertMethod::Newlines
        {
            return 0;
        }
        let pairs = wanted.iter().rev().zip(self.drawn_rows.iter().rev());
        let kept = pairs.take_while(|(wanted, drawn)| wanted.is_already_drawn_as(drawn)).count();
        if kept + SCROLL_REGION_ROWS_MIN <= usize::from(self.size.rows) { kept } else { 0 }
    }

    /// Repaints rows in place; the first `over` are compared with the drawn rows, the rest are new.
    fn repaint_rows_in_place(&mut self, rows: &[ScreenRow], over: usize) {
        let cols = self.size.width();
        let blank = Row::default();
        for (index, drawn) in rows.iter().enumerate() {
            let at = self.live_top + index;
            self.writer.write_semantic_mark_if_any(&drawn.row, at);
            let old = self.drawn_rows.get(index).filter(|_| index < over).unwrap_or(&blank);
            let Some(seam) = &drawn.wrap_point else {
                repaint_row(&mut self.writer, at, old, &drawn.row, cols);
                continue;
            };
            if !old.is_empty() {
                // The terminal wraps into it at once, so the old text is erased first.
                self.writer.move_to(CursorPosition { row: at, col: 0 });
                self.writer.erase_to_row_end();
            }
            write_row_by_wrapping_from_above(
                &mut self.writer,
                seam,
                at.saturating_sub(1),
                &drawn.row,
                at,
            );
        }
    }

    /// Writes rows above the `kept` bottom rows, scrolling the rest up.
    fn scroll_in_rows(&mut self, rows: &[ScreenRow], kept: usize) {
        let height = usize::from(self.size.rows) - kept;
        let bottom = height - 1;
        if kept > 0 {
            self.writer.push_raw_and_forget_position(&format!("\x1b[1;{height}r"));
        }
        for drawn in rows {
            if let Some(seam) = &drawn.wrap_point {
                write_row_by_wrapping_from_above(
                    &mut self.writer,
                    seam,
                    bottom,
                    &drawn.row,
                    bottom,
                );
                continue;
            }
            if self.writer.position().is_none_or(|place| place.row != bottom) {
                self.writer.move_to(CursorPosition { row: bottom, col: 0 });
            }
            self.writer.write_newline(bottom);
            self.writer.write_semantic_mark_if_any(&drawn.row, bottom);
            self.writer.write_cells(&drawn.row, drawn.row.cells());
        }
        if kept > 0 {
            self.writer.reset_style_and_link();
            self.writer.push_raw_and_forget_position("\x1b[r");
        }
    }
}
