//! What is open: asking about it, and taking it back.

use crate::event::{Event, MessageId, StepId};
use crate::run::fingerprint::Fingerprint;
use crate::run::text::Reasoning;

use super::Writer;

impl Writer<'_> {
    /// The message that is open and has text.
    pub fn open_message(&self) -> Option<MessageId> {
        self.ledger.message.id()
    }

    /// Takes back the message and the reasoning that are open, and these messages, which were not
    /// finished either; what is finished stays. What comes next is a new round.
    pub fn withdraw_unfinished(&mut self, others: &[MessageId]) {
        let open = self.open_message().map_or(self.ledger.messages, |id| id.0);
        let mut steps = Vec::new();
        if let Reasoning::Open { step, .. } = self.ledger.reasoning {
            steps.push(step);
        }
        let next_step = self.ledger.steps;
        // Text that was held may become a message or reasoning only now.
        let finishing = self.ledger.finishing;
        self.abandon();
        self.ledger.finishing = finishing;
        let mut messages = others.to_vec();
        messages.extend((open..self.ledger.messages).map(MessageId));
        messages.sort_unstable();
        messages.dedup();
        steps.extend((next_step..self.ledger.steps).map(StepId));
        self.ledger.withdraw(&messages);
        self.ledger.withdraw_asks(&messages);
        self.forget_withdrawn();
        if !messages.is_empty() || !steps.is_empty() {
            self.out.event(Event::Withdrawn { messages, steps });
        }
        self.end_round(None);
    }

    /// Delivers all text that has come, of a message that is to be taken back.
    pub(super) fn abandon(&mut self) {
        self.ledger.close_message(self.filter, &mut self.out);
        self.ledger.citations.clear();
        self.end_reasoning();
    }

    /// The last message of the round is now the last that stands.
    pub(super) fn forget_withdrawn(&mut self) {
        let ledger = &mut *self.ledger;
        let Some(round) = &mut ledger.round else { return };
        let gone = |id: &MessageId| ledger.withdrawn.contains(id);
        round.last_final = round.last_final.filter(|id| !gone(id));
        if round.last_message.is_some_and(|(id, _)| gone(&id)) {
            let mut standing = (round.first_message..ledger.messages).rev().map(MessageId);
            // Its text is not known any more.
            round.last_message =
                standing.find(|id| !gone(id)).map(|id| (id, Fingerprint::default()));
        }
    }
}
