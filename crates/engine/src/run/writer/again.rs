//! Messages that a source comes back to: saying one again whole, or saying what it is instead.
//!
//! Does not keep any text: whoever comes back knows what had been said, and where it began.

use crate::event::{Event, MarkupClass, MessageId, Phase};
use crate::ingest::filter::Filter;
use crate::run::cumulative::{Reread, common_prefix, reread};
use crate::run::fingerprint::Fingerprint;
use crate::run::finish::Asks;
use crate::run::text::{AfterTag, Message};
use crate::run::{Ledger, Out};

use super::Writer;

/// Where a message begins: what is needed to read its text once more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opening {
    filter: Filter,
    messages: u32,
    closed: u64,
}

impl Writer<'_> {
    /// Where the text that comes next begins; it is a message of its own.
    pub(crate) fn opening(&mut self, phase: Option<Phase>) -> Opening {
        self.begin_message(phase);
        self.ensure_round();
        Opening {
            filter: self.filter.clone(),
            messages: self.ledger.messages,
            closed: self.ledger.messages_closed,
        }
    }

    /// Whether text that comes now goes on with what began there.
    pub(crate) fn goes_on_from(&self, opening: &Opening) -> bool {
        let ledger = &self.ledger;
        opening.closed == ledger.messages_closed && self.in_round() && !ledger.is_answered()
    }

    /// The messages that have begun since.
    pub(crate) fn messages_since(&self, opening: &Opening) -> impl Iterator<Item = MessageId> {
        (opening.messages..self.ledger.messages).map(MessageId)
    }

    /// Says once more, as one message, what was `said` in `messages`, which count no longer. What
    /// the source thought in it stays where it was.
    pub(crate) fn say_again(
        &mut self,
        phase: Option<Phase>,
        opening: &Opening,
        said: &str,
        messages: Vec<MessageId>,
    ) -> Opening {
        let here = self.opening(phase);
        self.withdraw_messages(messages);
        self.filter.clone_from(&opening.filter);
        self.ledger.said_again(said, self.filter, &mut self.out);
        Opening { filter: opening.filter.clone(), ..here }
    }

    /// What began at `opening`, and has `said` this, says something else; it is still open.
    pub(crate) fn rewrite(&mut self, opening: &Opening, said: &str, whole: &str) {
        if self.ledger.cumulative.is_some() {
            return self.text_so_far(whole);
        }
        self.filter.clone_from(&opening.filter);
        let before = reread(said, &mut opening.filter.clone());
        self.ledger.rewritten(&before, whole, self.filter, &mut self.out);
    }

    /// Takes back messages that are over.
    fn withdraw_messages(&mut self, messages: Vec<MessageId>) {
        if messages.is_empty() {
            return;
        }
        self.ledger.withdraw(&messages);
        self.ledger.withdraw_asks(&messages);
        self.forget_withdrawn();
        self.out.event(Event::Withdrawn { messages, steps: Vec::new() });
    }
}

impl Ledger {
    fn said_again(&mut self, said: &str, filter: &mut Filter, out: &mut Out<'_>) {
        if self.is_late() {
            return Ledger::dropped_late(said, out);
        }
        self.end_reasoning(out);
        let Reread { visible, hidden, asks, after_tag } = reread(said, filter);
        if !hidden.is_empty() {
            out.hidden(MarkupClass::Rewritten, &hidden);
        }
        if after_tag == AfterTag::Yes && visible.chars().all(char::is_whitespace) {
            self.message = Message::Blank { text: String::new(), after_tag };
        }
        if !visible.is_empty() {
            self.spoke(out);
            self.visible(&visible, out);
        }
        self.asks = asks;
    }

    fn rewritten(&mut self, before: &Reread, whole: &str, filter: &mut Filter, out: &mut Out<'_>) {
        self.end_reasoning(out);
        let Message::Open { id, .. } = self.message else {
            // Nothing has been shown that could be wrong.
            self.message = Message::None;
            self.asks = Asks::Nothing;
            self.text(whole, filter, out);
            return;
        };
        let Reread { visible, hidden, asks, .. } = reread(whole, filter);
        self.asks = asks;
        if hidden != before.hidden {
            out.hidden(MarkupClass::Rewritten, &hidden);
        }
        let kept = common_prefix(&before.visible, &visible);
        let text = visible.get(kept..).unwrap_or_default();
        out.event(Event::TextRewritten { message: id, kept_bytes: kept, text: text.into() });
        self.message = Message::Open { id, print: Fingerprint::of(&visible) };
    }
}
