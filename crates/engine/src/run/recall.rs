//! A run that goes on after whoever wrote it went away: what its log tells of where it stood.

use crate::event::{Event, Executor, MessageId, StepId};

use super::fingerprint::Fingerprint;
use super::{Ledger, Life, Run};

impl Run {
    /// Takes over what the log says, record by record. It can go on from where no message and no
    /// thought is open: between replies, while tools run or an answer is waited for.
    pub fn recall(&mut self, event: &Event<'_>) {
        self.ledger.recall(event);
    }
}

impl Ledger {
    fn recall(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { .. } => self.life = Life::Open,
            Event::RoundStarted { round, .. } => {
                self.round_number = round + 1;
                self.last_round_message = None;
                self.result_seen = false;
            }
            Event::RoundEnded { stop, .. } => self.last_stop = *stop,
            Event::MessageStarted { message, .. } => {
                self.messages = message.0 + 1;
                self.last_round_message = Some((*message, Fingerprint::default()));
            }
            Event::ReasoningStarted { step, .. } => self.recall_step(*step),
            Event::ToolStarted { step, call, executor, .. } => {
                self.recall_step(*step);
                self.tools.recall(*step, call, *executor);
            }
            Event::ToolEnded { step, .. } => {
                self.result_seen |= self.tools.forget(*step) == Some(Executor::Client);
            }
            Event::AskOpened { ask, .. } => self.open_asks.push(ask.to_string()),
            Event::AskResolved { ask, .. } => self.open_asks.retain(|open| open != ask),
            Event::FinalDeclared { message } => self.declared = Some(*message),
            Event::Withdrawn { messages, .. } => self.recall_withdrawn(messages),
            Event::RunEnded { .. } => self.life = Life::Ended,
            _ => {}
        }
    }

    fn recall_step(&mut self, step: StepId) {
        self.steps = step.0 + 1;
    }

    fn recall_withdrawn(&mut self, messages: &[MessageId]) {
        self.withdraw(messages);
        if self.last_round_message.is_some_and(|(last, _)| messages.contains(&last)) {
            self.last_round_message = None;
        }
    }
}
