//! What a log has left open, for a run whose writer is gone: a crash, a full disk.
//!
//! It hears a run's events and can close it at any point, so that every log ends in pairs and once.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{
    AnsweredBy, Ending, Event, FailureReason, MessageId, Outcome, Phase, Reply, StepId, ToolOutcome,
};

use super::writer::unfinished;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Reasoning,
    Tool { ready: bool },
}

/// A run as far as its log goes.
#[derive(Clone, Debug, Default)]
pub struct Unfinished {
    started: bool,
    ended: bool,
    round: Option<u32>,
    message: Option<MessageId>,
    steps: BTreeMap<StepId, Step>,
    asks: BTreeSet<String>,
    requests: BTreeSet<String>,
    declared: Option<MessageId>,
    last: Option<MessageId>,
    withdrawn: BTreeSet<MessageId>,
}

impl Unfinished {
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// How many asks are open.
    pub fn asks(&self) -> usize {
        self.asks.len()
    }

    pub fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { .. } => self.started = true,
            Event::RoundStarted { round, .. } => {
                self.round = Some(*round);
                self.last = None;
            }
            Event::RoundEnded { .. } => self.round = None,
            Event::MessageStarted { message, phase, .. } => {
                self.message = Some(*message);
                self.last = Some(*message);
                if *phase == Some(Phase::Final) {
                    self.declared = Some(*message);
                }
            }
            Event::MessageEnded { .. } => self.message = None,
            Event::ReasoningStarted { step, .. } => {
                self.steps.insert(*step, Step::Reasoning);
            }
            Event::ToolStarted { step, .. } => {
                self.steps.insert(*step, Step::Tool { ready: false });
            }
            Event::ToolReady { step } => {
                self.steps.insert(*step, Step::Tool { ready: true });
            }
            Event::ReasoningEnded { step, .. } | Event::ToolEnded { step, .. } => {
                self.steps.remove(step);
            }
            Event::AskOpened { ask, .. } => {
                self.asks.insert(ask.to_string());
            }
            Event::AskResolved { ask, .. } => {
                self.asks.remove(ask.as_ref());
            }
            Event::RequestStarted { request } => {
                self.requests.insert(request.to_string());
            }
            Event::RequestEnded { request: Some(request), .. } => {
                self.requests.remove(request.as_ref());
            }
            Event::FinalDeclared { message } => self.declared = Some(*message),
            Event::Withdrawn { messages, .. } => self.withdraw(messages),
            Event::RunEnded { .. } => self.ended = true,
            _ => {}
        }
    }

    fn withdraw(&mut self, messages: &[MessageId]) {
        let stands = |id: &MessageId| !messages.contains(id);
        self.message = self.message.filter(stands);
        self.declared = self.declared.filter(stands);
        self.withdrawn.extend(messages);
    }

    /// Whether nothing goes on but waiting for an answer.
    pub fn waits(&self) -> bool {
        self.started && !self.ended && self.message.is_none() && !self.asks.is_empty()
    }

    /// The events that close what is open and end the run. None if it has ended or never began.
    pub fn close(
        &self,
        outcome: Outcome,
        reason: Option<FailureReason>,
        detail: &str,
    ) -> Vec<Event<'static>> {
        let mut events = Vec::new();
        if self.ended || !self.started {
            return events;
        }
        events
            .extend(self.message.map(|message| Event::MessageEnded { message, incomplete: true }));
        let reasoning = self.steps.iter().filter(|(_, kind)| **kind == Step::Reasoning);
        events.extend(reasoning.map(|(&step, _)| Event::ReasoningEnded { step, incomplete: true }));
        events.extend(self.round.map(|round| Event::RoundEnded {
            round,
            stop: None,
            incomplete: true,
        }));
        events.extend(self.steps.iter().filter_map(|(&step, kind)| match kind {
            Step::Reasoning => None,
            Step::Tool { ready } => {
                let outcome = if *ready { ToolOutcome::NoResult } else { ToolOutcome::Cut };
                Some(Event::ToolEnded { step, outcome, detail: None })
            }
        }));
        events.extend(self.asks.iter().map(|ask| Event::AskResolved {
            ask: ask.clone().into(),
            answer: "".into(),
            by: AnsweredBy::Nobody,
        }));
        events.extend(self.requests.iter().cloned().map(unfinished));
        let message = self.declared.or(self.last).filter(|id| !self.withdrawn.contains(id));
        events.push(Event::RunEnded {
            ending: Ending {
                outcome,
                stop: None,
                reason,
                detail: (!detail.is_empty()).then(|| detail.to_owned().into()),
                reply: if message.is_some() { Reply::Message } else { Reply::None },
                message,
                incomplete: true,
            },
        });
        events
    }
}
