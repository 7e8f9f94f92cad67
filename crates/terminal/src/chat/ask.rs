//! Something only a person can settle, and the keys that settle it.
//!
//! Invariant: a key that comes within 350 ms of the ask, or of a key before it, answers nothing and
//! goes to what is being written; nothing that can be typed ever answers.

use std::time::{Duration, Instant};

use engine::view::patch::Ask;

use crate::page::{Look, put};
use crate::row::Row;
use crate::style::{Attributes, Colour, Style};
use crate::text::{one_line, spelled_out};

/// Whoever was typing when the ask came has stopped by then.
const GRACE: Duration = Duration::from_millis(350);

#[derive(Clone, Debug)]
pub(super) struct AskBox {
    run: String,
    id: String,
    /// Answers, by what is sent and what a person reads.
    options: Vec<(String, String)>,
    chosen: usize,
    text: String,
    digest: Option<String>,
    /// Rows of the text that are above what is shown.
    scrolled: usize,
    deaf_until: Instant,
}

/// What a person has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub run: String,
    pub ask: String,
    pub answer: String,
}

impl AskBox {
    pub(super) fn new(ask: &Ask<'_>, now: Instant) -> AskBox {
        let options = ask.options.iter().map(|option| {
            let label = if option.label.is_empty() { &option.id } else { &option.label };
            (option.id.to_string(), one_line(label))
        });
        AskBox {
            run: ask.run.to_string(),
            id: ask.id.to_string(),
            options: options.collect(),
            chosen: 0,
            text: spelled_out(&ask.text),
            digest: ask.digest.as_deref().map(one_line),
            scrolled: 0,
            deaf_until: now + GRACE,
        }
    }

    pub(super) fn is(&self, ask: &Ask<'_>) -> bool {
        self.run == ask.run && self.id == ask.id
    }

    /// Whether keys are still meant for what was being written. Each one begins the wait anew.
    pub(super) fn is_deaf(&mut self, now: Instant) -> bool {
        let deaf = now < self.deaf_until;
        if deaf {
            self.deaf_until = now + GRACE;
        }
        deaf
    }

    pub(super) fn choose(&mut self, step: isize) {
        let count = self.options.len();
        if 0 < count {
            self.chosen = self.chosen.wrapping_add_signed(step).wrapping_add(count) % count;
        }
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        self.scrolled = self.scrolled.saturating_add_signed(rows);
    }

    /// The answer that is chosen; asks without options are answered in words.
    pub(super) fn answer(&self) -> Option<Answer> {
        let (answer, _) = self.options.get(self.chosen)?;
        Some(self.answer_with(answer))
    }

    pub(super) fn answer_with(&self, answer: &str) -> Answer {
        Answer { run: self.run.clone(), ask: self.id.clone(), answer: answer.to_owned() }
    }

    pub(super) fn has_options(&self) -> bool {
        !self.options.is_empty()
    }

    /// At most so many rows; what does not fit can be scrolled to.
    pub(super) fn rows(&mut self, look: Look, most: usize) -> Vec<Row> {
        let mut text = Vec::new();
        put(&mut text, look, ("│ ", FRAME), &self.text, Style::PLAIN);
        let room = most.saturating_sub(3 + self.options.len()).max(1);
        self.scrolled = self.scrolled.min(text.len().saturating_sub(room));
        let end = (self.scrolled + room).min(text.len());
        let mut rows = vec![Row::line("? This needs you", FRAME.with(Attributes::BOLD))];
        if room < text.len() {
            let words =
                format!("  rows {} to {end} of {}, PgUp and PgDn", self.scrolled + 1, text.len());
            rows.push(Row::line(&words, Style::DIM));
        }
        rows.extend(text.drain(self.scrolled..end));
        for (place, (_, label)) in self.options.iter().enumerate() {
            let (sign, style) =
                if place == self.chosen { ("› ", Style::BOLD) } else { ("  ", Style::PLAIN) };
            rows.push(Row::line(&format!("{sign}{label}"), style).clipped(look.size.width()));
        }
        if let Some(digest) = self.digest.as_deref().filter(|_| rows.len() < most) {
            rows.push(
                Row::line(&format!("  digest {digest}"), Style::DIM).clipped(look.size.width()),
            );
        }
        rows
    }
}

const FRAME: Style = Style::coloured(Colour::Yellow);
