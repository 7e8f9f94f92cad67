//! Approval box: the open ask, its answers, and the keys that select one.
//!
//! Invariant: a key within 350 ms of the ask's appearance, or of such a key, never answers; it goes
//! to the message being typed. Printable keys never answer.

use std::fmt::Write;
use std::time::{Duration, Instant};

use millpond_engine::view::patch::Ask;

use crate::page::{RenderOptions, push_wrapped_text};
use crate::row::Row;
use crate::style::{Attributes, Colour, Style};
use crate::text::{neutralise_and_escape_invisible, neutralise_to_one_line};

/// Time without keys after which keys count as meant for the ask.
const GRACE_PERIOD: Duration = Duration::from_millis(350);

/// Answer that denies, alone and with a reason.
const DENY_ANSWER: &str = "deny";
const DENY_WITH_REASON_PREFIX: &str = "deny:";

/// The open ask and the state of its selection.
#[derive(Clone, Debug)]
pub(super) struct AskBox {
    run: String,
    id: String,
    /// Pairs of the answer that is sent and its label.
    options: Vec<(String, String)>,
    selected: usize,
    text: String,
    digest: Option<String>,
    /// The user is typing the reason of a denial.
    wants_reason: bool,
    /// Rows of the text that are scrolled out above.
    scroll_offset: usize,
    ignore_keys_until: Instant,
}

/// Answer to an ask, ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskAnswer {
    pub run: String,
    pub ask: String,
    pub answer: String,
}

impl AskBox {
    pub(super) fn new(ask: &Ask<'_>, now: Instant) -> AskBox {
        let options = ask.options.iter().map(|option| {
            let label = if option.label.is_empty() { &option.id } else { &option.label };
            (option.id.to_string(), neutralise_to_one_line(label))
        });
        let mut options: Vec<(String, String)> = options.collect();
        if options.iter().any(|(id, _)| id == DENY_ANSWER) {
            options.push((DENY_WITH_REASON_PREFIX.to_owned(), "Deny with a reason".to_owned()));
        }
        AskBox {
            run: ask.run.to_string(),
            id: ask.id.to_string(),
            options,
            selected: 0,
            text: neutralise_and_escape_invisible(&ask.text),
            digest: ask.digest.as_deref().map(neutralise_to_one_line),
            wants_reason: false,
            scroll_offset: 0,
            ignore_keys_until: now + GRACE_PERIOD,
        }
    }

    pub(super) fn is_for(&self, ask: &Ask<'_>) -> bool {
        self.run == ask.run && self.id == ask.id
    }

    /// Returns true if the key belongs to the message being typed. Such a key restarts the grace
    /// period.
    pub(super) fn extend_grace_period_if_active(&mut self, now: Instant) -> bool {
        let deaf = now < self.ignore_keys_until;
        if deaf {
            self.ignore_keys_until = now + GRACE_PERIOD;
        }
        deaf
    }

    pub(super) fn cycle_selection(&mut self, step: isize) {
        let count = self.options.len();
        if 0 < count {
            self.selected = self.selected.wrapping_add_signed(step).wrapping_add(count) % count;
        }
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        self.scroll_offset = self.scroll_offset.saturating_add_signed(rows);
    }

    /// Returns the selected answer. `None` if it needs a reason, which is awaited from now on, or
    /// if the ask has no options.
    pub(super) fn selected_answer_or_await_reason(&mut self) -> Option<AskAnswer> {
        let (answer, _) = self.options.get(self.selected)?;
        if answer == DENY_WITH_REASON_PREFIX {
            self.wants_reason = true;
            return None;
        }
        Some(self.build_answer(answer))
    }

    pub(super) fn is_waiting_for_reason(&self) -> bool {
        self.wants_reason
    }

    pub(super) fn stop_waiting_for_reason(&mut self) {
        self.wants_reason = false;
    }

    /// Parses typed text: a reason, an option's number with an optional reason, or a free answer.
    pub(super) fn parse_typed_answer(&self, words: &str) -> Result<AskAnswer, String> {
        if self.wants_reason {
            return Ok(self.build_answer(&format!("{DENY_WITH_REASON_PREFIX} {words}")));
        }
        if self.options.is_empty() {
            return Ok(self.build_answer(words));
        }
        let (number, why) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let option = place.and_then(|place| self.options.get(place));
        match (option, why.trim()) {
            (Some((id, _)), "") if id != DENY_WITH_REASON_PREFIX => Ok(self.build_answer(id)),
            (Some((id, _)), why) if id.starts_with(DENY_ANSWER) && !why.is_empty() => {
                Ok(self.build_answer(&format!("{DENY_WITH_REASON_PREFIX} {why}")))
            }
            (Some((id, label)), _) if id == DENY_WITH_REASON_PREFIX => {
                Err(format!("`{label}` needs a reason: /answer {number} REASON"))
            }
            (Some((_, label)), _) => Err(format!("`{label}` takes no reason")),
            (None, _) => Err(format!("no answer number `{number}`")),
        }
    }

    /// Returns the ask and its `/answer` commands as plain text, for line mode.
    pub(super) fn to_plain_text(&self) -> String {
        let mut words = format!("{}:\n{}", self.heading(), self.text);
        for (place, (_, label)) in self.options.iter().enumerate() {
            let _written = write!(words, "\n/answer {} {label}", place + 1);
        }
        if self.options.is_empty() {
            words.push_str("\n/answer TEXT");
        }
        words
    }

    fn build_answer(&self, answer: &str) -> AskAnswer {
        AskAnswer { run: self.run.clone(), ask: self.id.clone(), answer: answer.to_owned() }
    }

    /// Returns true if typed text answers the ask.
    pub(super) fn is_answerable_by_free_text(&self) -> bool {
        self.wants_reason || self.options.is_empty()
    }

    /// Title of the box: an ask that can be denied is an approval.
    fn heading(&self) -> &'static str {
        if self.options.iter().any(|(id, _)| id == DENY_ANSWER) {
            "Approval needed"
        } else {
            "Answer needed"
        }
    }

    /// Renders at most `most` rows; longer text scrolls.
    pub(super) fn render_rows(&mut self, render: RenderOptions, most: usize) -> Vec<Row> {
        let mut text = Vec::new();
        push_wrapped_text(&mut text, render, ("│ ", BORDER_STYLE), &self.text, Style::PLAIN);
        let room = most.saturating_sub(3 + self.options.len()).max(1);
        self.scroll_offset = self.scroll_offset.min(text.len().saturating_sub(room));
        let end = (self.scroll_offset + room).min(text.len());
        let heading = format!("? {}", self.heading());
        let mut rows =
            vec![Row::from_text(&heading, BORDER_STYLE.with_attributes(Attributes::BOLD))];
        if room < text.len() {
            let (first, count) = (self.scroll_offset + 1, text.len());
            let words = format!("  rows {first}-{end} of {count}, PgUp/PgDn to scroll");
            rows.push(Row::from_text(&words, Style::DIM));
        }
        rows.extend(text.drain(self.scroll_offset..end));
        for (place, (_, label)) in self.options.iter().enumerate() {
            let (sign, style) =
                if place == self.selected { ("› ", Style::BOLD) } else { ("  ", Style::PLAIN) };
            rows.push(
                Row::from_text(&format!("{sign}{label}"), style).clip_to_width(render.size.width()),
            );
        }
        if let Some(digest) = self.digest.as_deref().filter(|_| rows.len() < most) {
            rows.push(
                Row::from_text(&format!("  digest {digest}"), Style::DIM)
                    .clip_to_width(render.size.width()),
            );
        }
        rows
    }
}

const BORDER_STYLE: Style = Style::coloured(Colour::Yellow);
