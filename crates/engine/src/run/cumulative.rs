//! Sources that repeat themselves: each report is the whole text of the message so far.
//!
//! Does: tell what is new, and what was rewritten, in the text as it is shown.
//! Does not: guess that a source is one; its dialect or a quirk says so.

use crate::event::{Event, MarkupClass};
use crate::ingest::filter::{Filter, Piece};

use super::fingerprint::Fingerprint;
use super::finish::{Asks, Before};
use super::text::{AfterTag, Message, layout_len};
use super::{Ledger, Out};

/// What a cumulative source has said so far in the message that is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cumulative {
    raw: String,
    pub(super) visible: String,
    pub(super) hidden: String,
}

impl Cumulative {
    pub(super) fn is(&self, text: &str) -> bool {
        self.raw == text
    }
}

impl Ledger {
    /// The whole text of the message so far, from a source that repeats itself.
    pub(super) fn text_so_far(&mut self, raw: &str, filter: &mut Filter, out: &mut Out<'_>) {
        // First of all: a new round forgets what the message before it said.
        if !raw.is_empty() {
            self.ensure_round(filter, out);
        }
        let said = self.remembered(filter, out);
        if let Some(fresh) = raw.strip_prefix(said.raw.as_str()) {
            said.raw.push_str(fresh);
            self.text(fresh, filter, out);
            return;
        }
        let before = std::mem::take(said);
        said.raw.push_str(raw);
        filter.begin_round();
        self.end_reasoning(out);
        let Message::Open { id, .. } = self.message else {
            // Nothing has been shown that could be wrong.
            self.message = Message::None;
            self.asks = Asks::Nothing;
            self.text(raw, filter, out);
            return;
        };
        let Reread { visible, hidden, asks, .. } = reread(raw, filter);
        self.asks = asks;
        if hidden != before.hidden {
            out.hidden(MarkupClass::Rewritten, &hidden);
        }
        let kept = common_prefix(&before.visible, &visible);
        out.event(Event::TextRewritten {
            message: id,
            kept_bytes: kept,
            text: visible[kept..].into(),
        });
        self.message = Message::Open { id, print: Fingerprint::of(&visible) };
        self.cumulative = Some(Cumulative { raw: raw.to_owned(), visible, hidden });
    }

    /// What the open message has said; one that was not remembered from its start is over.
    fn remembered(&mut self, filter: &mut Filter, out: &mut Out<'_>) -> &mut Cumulative {
        if self.cumulative.is_none() && matches!(self.message, Message::Open { .. }) {
            self.end_message(filter, out);
        }
        self.cumulative.get_or_insert_default()
    }

    /// New text of a message that is remembered.
    pub(super) fn text_kept(&mut self, text: &str, filter: &mut Filter, out: &mut Out<'_>) {
        self.ensure_round(filter, out);
        self.remembered(filter, out).raw.push_str(text);
        self.text(text, filter, out);
    }
}

/// What the filter makes of a text that has come before.
pub(super) struct Reread {
    pub(super) visible: String,
    pub(super) hidden: String,
    pub(super) asks: Asks,
    pub(super) after_tag: AfterTag,
}

/// What the filter shows and hides of a text, by the same rules as when it came piece by piece.
pub(super) fn reread(raw: &str, filter: &mut Filter) -> Reread {
    let (mut visible, mut hidden) = (String::new(), String::new());
    let mut asks = Asks::Nothing;
    let mut after_tag = AfterTag::No;
    filter.push(raw, &mut |piece| match piece {
        Piece::Visible(text) => {
            asks.text(text);
            visible.push_str(text);
        }
        Piece::Control(meaning, text) => {
            asks.word(meaning, Before::of(&visible));
            hidden.push_str(text);
        }
        Piece::Inside(_, text) | Piece::Markup(_, text) => {
            if matches!(piece, Piece::Markup(MarkupClass::Reasoning, _))
                && visible.chars().all(char::is_whitespace)
            {
                after_tag = AfterTag::Yes;
                visible.clear();
            }
            hidden.push_str(text);
        }
    });
    if after_tag == AfterTag::Yes {
        let lead = visible.len() - visible.trim_start().len();
        visible.drain(..layout_len("", &visible[..lead]));
    }
    Reread { visible, hidden, asks, after_tag }
}

pub(super) fn common_prefix(one: &str, other: &str) -> usize {
    let mut len = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(len) {
        len -= 1;
    }
    len
}
