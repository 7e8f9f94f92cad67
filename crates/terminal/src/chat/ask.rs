//! Something only a person can settle, and the keys that settle it.
//!
//! Invariant: a key that comes within 350 ms of the ask, or of a key before it, answers nothing and
//! goes to what is being written; nothing that can be typed ever answers.

use std::fmt::Write;
use std::time::{Duration, Instant};

use engine::view::patch::Ask;

use crate::page::{Look, put};
use crate::row::Row;
use crate::style::{Attributes, Colour, Style};
use crate::text::{one_line, spelled_out};

/// Whoever was typing when the ask came has stopped by then.
const GRACE: Duration = Duration::from_millis(350);

/// The answer that forbids, alone and with what follows it.
const DENY: &str = "deny";
const DENY_BECAUSE: &str = "deny:";

#[derive(Clone, Debug)]
pub(super) struct AskBox {
    run: String,
    id: String,
    /// Answers, by what is sent and what a person reads.
    options: Vec<(String, String)>,
    chosen: usize,
    text: String,
    digest: Option<String>,
    /// The person is writing why not.
    wants_reason: bool,
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
        let mut options: Vec<(String, String)> = options.collect();
        if options.iter().any(|(id, _)| id == DENY) {
            options.push((DENY_BECAUSE.to_owned(), "Deny with a reason".to_owned()));
        }
        AskBox {
            run: ask.run.to_string(),
            id: ask.id.to_string(),
            options,
            chosen: 0,
            text: spelled_out(&ask.text),
            digest: ask.digest.as_deref().map(one_line),
            wants_reason: false,
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

    /// The answer that is chosen. One that needs words waits for them, and so do asks without
    /// options.
    pub(super) fn answer(&mut self) -> Option<Answer> {
        let (answer, _) = self.options.get(self.chosen)?;
        if answer == DENY_BECAUSE {
            self.wants_reason = true;
            return None;
        }
        Some(self.answer_with(answer))
    }

    pub(super) fn wants_reason(&self) -> bool {
        self.wants_reason
    }

    pub(super) fn drop_reason(&mut self) {
        self.wants_reason = false;
    }

    /// What is written as an answer: the reason, or the number of an option with one, or the words.
    pub(super) fn answer_in_words(&self, words: &str) -> Result<Answer, String> {
        if self.wants_reason {
            return Ok(self.answer_with(&format!("{DENY_BECAUSE} {words}")));
        }
        if self.options.is_empty() {
            return Ok(self.answer_with(words));
        }
        let (number, why) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let option = place.and_then(|place| self.options.get(place));
        match (option, why.trim()) {
            (Some((id, _)), "") if id != DENY_BECAUSE => Ok(self.answer_with(id)),
            (Some((id, _)), why) if id.starts_with(DENY) && !why.is_empty() => {
                Ok(self.answer_with(&format!("{DENY_BECAUSE} {why}")))
            }
            (Some((_, label)), _) => Err(format!("`{label}` needs a reason, and no other does")),
            (None, _) => Err(format!("`{number}` is no number of an answer")),
        }
    }

    /// All of it as text, with how to answer.
    pub(super) fn in_words(&self) -> String {
        let mut words = format!("This needs you:\n{}", self.text);
        for (place, (_, label)) in self.options.iter().enumerate() {
            let _written = write!(words, "\n/answer {} {label}", place + 1);
        }
        if self.options.is_empty() {
            words.push_str("\n/answer and your words");
        }
        words
    }

    fn answer_with(&self, answer: &str) -> Answer {
        Answer { run: self.run.clone(), ask: self.id.clone(), answer: answer.to_owned() }
    }

    /// Whether it is answered by what is written.
    pub(super) fn takes_words(&self) -> bool {
        self.wants_reason || self.options.is_empty()
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
