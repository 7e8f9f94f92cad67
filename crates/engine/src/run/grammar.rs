//! What a well-formed log looks like, checked one event at a time. The run machine makes only such
//! logs; this says so from outside, for tests, fuzzers and whoever reads a log from elsewhere.

use std::collections::BTreeSet;

use crate::event::{Ending, Event, MessageId, StepId, Stop};

/// A rule that an event broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    RunNotStarted,
    RunStartedTwice,
    AfterTheEnd,
    RoundInRound,
    NoSuchRound,
    MessageInMessage,
    NoSuchMessage,
    EmptyText,
    NumberNotNext,
    NoSuchStep,
    AskOpenedTwice,
    NoSuchAsk,
    RequestStartedTwice,
    NoSuchRequest,
    LeftOpen,
}

/// A log as far as it has been read.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    started: bool,
    ended: bool,
    round: Option<u32>,
    message: Option<MessageId>,
    messages: u32,
    steps: u32,
    open_steps: BTreeSet<StepId>,
    asks: BTreeSet<String>,
    requests: BTreeSet<String>,
}

fn rule(holds: bool, broken: Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken) }
}

impl Grammar {
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    pub fn apply(&mut self, event: &Event<'_>) -> Result<(), Broken> {
        if self.ended {
            // Only what the run went away waiting for can still be answered.
            let Event::AskResolved { ask, .. } = event else { return Err(Broken::AfterTheEnd) };
            return rule(self.asks.remove(ask.as_ref()), Broken::AfterTheEnd);
        }
        if let Event::RunStarted { .. } = event {
            rule(!self.started, Broken::RunStartedTwice)?;
            self.started = true;
            return Ok(());
        }
        rule(self.started, Broken::RunNotStarted)?;
        match event {
            Event::RoundStarted { round, .. } => {
                rule(self.round.replace(*round).is_none(), Broken::RoundInRound)
            }
            Event::RoundEnded { round, .. } => {
                rule(self.message.is_none(), Broken::LeftOpen)?;
                rule(self.round.take() == Some(*round), Broken::NoSuchRound)
            }
            Event::MessageStarted { message, round, .. } => self.start_message(*message, *round),
            Event::TextAppended { message, text } => {
                rule(!text.is_empty(), Broken::EmptyText)?;
                rule(self.message == Some(*message), Broken::NoSuchMessage)
            }
            Event::TextRewritten { message, .. } => {
                rule(self.message == Some(*message), Broken::NoSuchMessage)
            }
            Event::MessageEnded { message, .. } => {
                rule(self.message.take() == Some(*message), Broken::NoSuchMessage)
            }
            Event::ReasoningStarted { step, .. } | Event::ToolStarted { step, .. } => {
                rule(step.0 == self.steps, Broken::NumberNotNext)?;
                self.steps += 1;
                self.open_steps.insert(*step);
                Ok(())
            }
            Event::ReasoningAppended { step, .. }
            | Event::ArgumentsAppended { step, .. }
            | Event::ArgumentsReplaced { step, .. }
            | Event::ToolReady { step }
            | Event::ToolProgressed { step, .. }
            | Event::OutputAppended { step, .. } => {
                rule(self.open_steps.contains(step), Broken::NoSuchStep)
            }
            Event::ReasoningEnded { step, .. } | Event::ToolEnded { step, .. } => {
                rule(self.open_steps.remove(step), Broken::NoSuchStep)
            }
            Event::AskOpened { ask, .. } => {
                rule(self.asks.insert(ask.to_string()), Broken::AskOpenedTwice)
            }
            Event::AskResolved { ask, .. } => {
                rule(self.asks.remove(ask.as_ref()), Broken::NoSuchAsk)
            }
            Event::RequestStarted { request } => {
                rule(self.requests.insert(request.to_string()), Broken::RequestStartedTwice)
            }
            Event::RequestEnded { request: Some(request), .. } => {
                rule(self.requests.remove(request.as_ref()), Broken::NoSuchRequest)
            }
            Event::Withdrawn { messages, .. } => {
                self.message = self.message.filter(|open| !messages.contains(open));
                Ok(())
            }
            Event::RunEnded { ending } => self.end(ending),
            _ => Ok(()),
        }
    }

    fn start_message(&mut self, message: MessageId, round: u32) -> Result<(), Broken> {
        rule(self.round == Some(round), Broken::NoSuchRound)?;
        rule(self.message.replace(message).is_none(), Broken::MessageInMessage)?;
        rule(message.0 == self.messages, Broken::NumberNotNext)?;
        self.messages += 1;
        Ok(())
    }

    fn end(&mut self, ending: &Ending<'_>) -> Result<(), Broken> {
        self.ended = true;
        let closed = self.round.is_none() && self.message.is_none();
        let waits = ending.stop.is_some_and(Stop::leaves_asks_open);
        let answered = (waits || self.asks.is_empty()) && self.requests.is_empty();
        rule(closed && answered && self.open_steps.is_empty(), Broken::LeftOpen)
    }
}
