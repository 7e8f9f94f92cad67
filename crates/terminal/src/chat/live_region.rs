//! Live region of the chat: unsettled page rows, approval box, queue, status, input, menu.

use std::time::{Duration, Instant};

use super::Chat;
use crate::limits::live_rows_max;
use crate::page::push_wrapped_text;
use crate::page::status::run_status_row_unless_writing;
use crate::row::Row;
use crate::screen::FrameCursor;
use crate::style::{Attributes, Colour, Style};
use crate::text::neutralise_to_one_line;

/// Input rows shown.
const INPUT_ROWS_MAX: usize = 8;

/// Queued messages shown.
const QUEUE_ROWS_MAX: usize = 3;

const PROMPT: &str = "› ";

/// Rows below the settled ones, with the cursor.
#[derive(Clone, Debug)]
pub struct LiveRegion {
    /// All rows, top to bottom.
    pub rows: Vec<Row>,
    /// Cursor of the input line.
    pub cursor: FrameCursor,
}

impl Chat {
    /// Renders the live region within the rows of the screen.
    pub fn render_live_region(&mut self, now: Instant) -> LiveRegion {
        let most = live_rows_max(self.options.size);
        let (input, cursor) = self.input_rows(most);
        let mut below = self.menu_rows();
        below.truncate(most.saturating_sub(input.len()));
        let mut rows = self.queue_rows();
        rows.extend(self.status_rows(now));
        let room = most.saturating_sub(input.len() + below.len());
        rows.truncate(room);
        if let Some(ask) = &mut self.ask {
            let space = room.saturating_sub(rows.len());
            let mut asked = ask.render_rows(self.options, space);
            asked.truncate(space);
            rows.splice(0..0, asked);
        }
        let mut page = self.renderer.live_rows();
        // A blank row between the page and the rest.
        page.push(Row::default());
        let hidden = page.len().saturating_sub(room.saturating_sub(rows.len()));
        self.hidden_rows = hidden;
        let mut all: Vec<Row> = page.drain(hidden..).collect();
        all.append(&mut rows);
        let above = all.len();
        all.extend(input);
        all.append(&mut below);
        let cursor = FrameCursor::At { row: above + cursor.0, col: cursor.1 };
        LiveRegion { rows: all, cursor }
    }

    /// Returns the visible input rows, and the cursor's row and column in them.
    fn input_rows(&self, most: usize) -> (Vec<Row>, (usize, usize)) {
        let lead = PROMPT.chars().count();
        let cols = self.options.size.width();
        let (texts, place) = self.editor.wrapped_rows_and_cursor(cols.saturating_sub(lead).max(1));
        let height = texts.len().min(INPUT_ROWS_MAX).min(most.max(1));
        let first = (place.row + 1).saturating_sub(height);
        let mut rows = Vec::with_capacity(height);
        for (at, text) in texts.iter().enumerate().skip(first).take(height) {
            let mut row = Row::from_text(if at == 0 { PROMPT } else { "  " }, PROMPT_STYLE);
            row.push(text, Style::PLAIN);
            if self.editor.is_empty() {
                row.push(&self.input_hint(), Style::DIM);
            }
            rows.push(row.clip_to_width(cols));
        }
        (rows, (place.row - first, lead + place.column))
    }

    fn input_hint(&self) -> String {
        if let Some(search) = &self.search {
            return format!("search: {}", neutralise_to_one_line(&search.query));
        }
        match (&self.ask, self.renderer.is_run_active()) {
            (Some(ask), _) if ask.is_waiting_for_reason() => {
                "Reason for denying, Esc to go back".to_owned()
            }
            (Some(ask), _) if ask.is_answerable_by_free_text() => {
                "Type your answer and press Enter".to_owned()
            }
            (Some(_), _) => "↑/↓ and Enter to answer, or write a message".to_owned(),
            (None, true) => "Enter to queue, Ctrl-Enter to send now, Ctrl-C to stop".to_owned(),
            (None, false) => "Write a message, / for commands, @ for files".to_owned(),
        }
    }

    fn menu_rows(&self) -> Vec<Row> {
        let Some(menu) = &self.menu else { return Vec::new() };
        let cols = self.options.size.width();
        let offers = menu.visible_completions().map(|(at, offer)| {
            let style = if at == menu.selected {
                Style::PLAIN.with_attributes(Attributes::REVERSE)
            } else {
                Style::PLAIN
            };
            let sign = if at == menu.selected { "▸ " } else { "  " };
            let title = offer.label.as_deref().unwrap_or(&offer.text);
            let mut row =
                Row::from_text(&format!("{sign}{}", neutralise_to_one_line(title)), style);
            if !offer.about.is_empty() {
                row.push(&format!("  {}", offer.about), Style::DIM);
            }
            row.clip_to_width(cols)
        });
        offers.collect()
    }

    fn queue_rows(&self) -> Vec<Row> {
        let cols = self.options.size.width();
        let mut rows: Vec<Row> = Vec::new();
        for message in self.queue.iter().take(QUEUE_ROWS_MAX) {
            let words = format!("  queued: {}", neutralise_to_one_line(&message.text));
            rows.push(Row::from_text(&words, Style::DIM).clip_to_width(cols));
        }
        let more = self.queue.len().saturating_sub(QUEUE_ROWS_MAX);
        if 0 < more {
            rows.push(Row::from_text(&format!("  … {more} more, /queue to list"), Style::DIM));
        }
        rows
    }

    /// Returns the connection problem and the run's status with its elapsed time; empty if idle.
    fn status_rows(&self, now: Instant) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Some(words) = &self.connection_problem {
            push_wrapped_text(
                &mut rows,
                self.options,
                ("! ", PROBLEM_STYLE),
                &neutralise_to_one_line(words),
                PROBLEM_STYLE,
            );
            rows.truncate(1);
        }
        let elapsed = match self.run_seen_at {
            Some(began) => now.saturating_duration_since(began),
            _ => Duration::ZERO,
        };
        rows.extend(run_status_row_unless_writing(self.renderer.page(), elapsed, self.options));
        rows
    }
}

const PROMPT_STYLE: Style = Style::coloured(Colour::Cyan).with_attributes_const(Attributes::BOLD);
const PROBLEM_STYLE: Style = Style::coloured(Colour::Yellow);
