//! The live region: the tail of what is being said, what is asked, what waits, and where one writes.

use std::time::{Duration, Instant};

use super::Chat;
use crate::limits::live_rows_max;
use crate::page::put;
use crate::page::status::status_row;
use crate::row::Row;
use crate::screen::Cursor;
use crate::style::{Attributes, Colour, Style};
use crate::text::one_line;

/// Rows of what is being written that are shown.
const INPUT_ROWS_MAX: usize = 8;

/// Waiting messages that are shown.
const QUEUE_ROWS_MAX: usize = 3;

const PROMPT: &str = "› ";

#[derive(Clone, Debug)]
pub struct Live {
    pub rows: Vec<Row>,
    pub cursor: Cursor,
}

impl Chat {
    /// What stands below the settled rows.
    pub fn live(&mut self, now: Instant) -> Live {
        let most = live_rows_max(self.look.size);
        let (input, cursor) = self.input_rows(most);
        let mut below = self.menu_rows();
        below.truncate(most.saturating_sub(input.len()));
        let mut rows = self.queue_rows();
        rows.extend(self.status_row(now));
        let room = most.saturating_sub(input.len() + below.len());
        rows.truncate(room);
        if let Some(ask) = &mut self.ask {
            let space = room.saturating_sub(rows.len());
            let mut asked = ask.rows(self.look, space);
            asked.truncate(space);
            rows.splice(0..0, asked);
        }
        let mut page = self.page.live();
        // Between what is said and what stands below it.
        page.push(Row::default());
        let hidden = page.len().saturating_sub(room.saturating_sub(rows.len()));
        self.hidden = hidden;
        let mut all: Vec<Row> = page.drain(hidden..).collect();
        all.append(&mut rows);
        let above = all.len();
        all.extend(input);
        all.append(&mut below);
        let cursor = Cursor::At { row: above + cursor.0, col: cursor.1 };
        Live { rows: all, cursor }
    }

    /// The last message line that is shown, with the row and column of the cursor in it.
    fn input_rows(&self, most: usize) -> (Vec<Row>, (usize, usize)) {
        let lead = PROMPT.chars().count();
        let cols = self.look.size.width();
        let (texts, place) = self.editor.rows(cols.saturating_sub(lead).max(1));
        let height = texts.len().min(INPUT_ROWS_MAX).min(most.max(1));
        let first = (place.row + 1).saturating_sub(height);
        let mut rows = Vec::with_capacity(height);
        for (at, text) in texts.iter().enumerate().skip(first).take(height) {
            let mut row = Row::line(if at == 0 { PROMPT } else { "  " }, INPUT);
            row.push(text, Style::PLAIN);
            if self.editor.is_empty() {
                row.push(&self.hint(), Style::DIM);
            }
            rows.push(row.clipped(cols));
        }
        (rows, (place.row - first, lead + place.column))
    }

    fn hint(&self) -> String {
        if let Some(search) = &self.search {
            return format!("search: {}", one_line(&search.words));
        }
        match (&self.ask, self.page.is_going()) {
            (Some(ask), _) if ask.wants_reason() => "why not? Esc goes back".to_owned(),
            (Some(ask), _) if ask.takes_words() => "what you write answers".to_owned(),
            (Some(_), _) => "↑ ↓ and Enter answer; what you type is a message".to_owned(),
            (None, true) => "Enter queues, Ctrl-Enter joins the run, Ctrl-C stops it".to_owned(),
            (None, false) => "Write a message, / for commands, @ for files".to_owned(),
        }
    }

    fn menu_rows(&self) -> Vec<Row> {
        let Some(menu) = &self.menu else { return Vec::new() };
        let cols = self.look.size.width();
        let offers = menu.seen().map(|(at, offer)| {
            let style = if at == menu.chosen {
                Style::PLAIN.with(Attributes::REVERSE)
            } else {
                Style::PLAIN
            };
            let sign = if at == menu.chosen { "▸ " } else { "  " };
            let title = offer.title.as_deref().unwrap_or(&offer.text);
            let mut row = Row::line(&format!("{sign}{}", one_line(title)), style);
            if !offer.about.is_empty() {
                row.push(&format!("  {}", offer.about), Style::DIM);
            }
            row.clipped(cols)
        });
        offers.collect()
    }

    fn queue_rows(&self) -> Vec<Row> {
        let cols = self.look.size.width();
        let mut rows: Vec<Row> = Vec::new();
        for message in self.queue.iter().take(QUEUE_ROWS_MAX) {
            let words = format!("  waits: {}", one_line(&message.text));
            rows.push(Row::line(&words, Style::DIM).clipped(cols));
        }
        let more = self.queue.len().saturating_sub(QUEUE_ROWS_MAX);
        if 0 < more {
            rows.push(Row::line(&format!("  and {more} more, see /queue"), Style::DIM));
        }
        rows
    }

    /// What the agent is doing, and for how long; nothing when it does nothing.
    fn status_row(&self, now: Instant) -> Vec<Row> {
        let mut rows = Vec::new();
        if let Some(words) = &self.away {
            put(&mut rows, self.look, ("! ", AWAY), &one_line(words), AWAY);
            rows.truncate(1);
        }
        let elapsed = match self.began {
            Some(began) => now.saturating_duration_since(began),
            _ => Duration::ZERO,
        };
        rows.extend(status_row(self.page.picture(), elapsed, self.look));
        rows
    }
}

const INPUT: Style = Style::coloured(Colour::Cyan).with_const(Attributes::BOLD);
const AWAY: Style = Style::coloured(Colour::Yellow);
