//! Checks that a log is well formed, one event at a time.
//!
//! The run state machine emits only well-formed logs; this checks them independently, for tests,
//! fuzzers and logs from elsewhere.

use std::collections::BTreeSet;

use crate::event::{Ending, Event, MessageId, StepId, StopReason};
use crate::event_family;

/// Rule that an event violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventOrderError {
    /// An event before `RunStarted`.
    RunNotStarted,
    /// A second `RunStarted`.
    RunStartedTwice,
    /// An event after `RunEnded`, other than the answer to an open ask.
    EventAfterEnd,
    /// A round started in an open round.
    RoundAlreadyOpen,
    /// The round is not open.
    NoSuchRound,
    /// The message is not open.
    NoSuchMessage,
    /// `TextAppended` without text.
    EmptyText,
    /// The id of a message or step is not the next number.
    IdNotNext,
    /// The step is not open.
    NoSuchStep,
    /// The ask is already open.
    AskOpenedTwice,
    /// The ask is not open.
    NoSuchAsk,
    /// The request is already open.
    RequestStartedTwice,
    /// The request is not open.
    NoSuchRequest,
    /// The round or run ended with open parts.
    LeftOpen,
}

impl std::fmt::Display for EventOrderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            EventOrderError::RunNotStarted => "event before the start of the run",
            EventOrderError::RunStartedTwice => "the run starts twice",
            EventOrderError::EventAfterEnd => "event after the end of the run",
            EventOrderError::RoundAlreadyOpen => "a round starts in an open round",
            EventOrderError::NoSuchRound => "the round is not open",
            EventOrderError::NoSuchMessage => "the message is not open",
            EventOrderError::EmptyText => "text without content",
            EventOrderError::IdNotNext => "the id of a message or step is not the next number",
            EventOrderError::NoSuchStep => "the step is not open",
            EventOrderError::AskOpenedTwice => "the ask is already open",
            EventOrderError::NoSuchAsk => "the ask is not open",
            EventOrderError::RequestStartedTwice => "the request is already open",
            EventOrderError::NoSuchRequest => "the request is not open",
            EventOrderError::LeftOpen => "a round or the run ends with open parts",
        })
    }
}

impl std::error::Error for EventOrderError {}

/// Checker of one run's events; holds what is open so far.
#[derive(Clone, Debug, Default)]
pub struct EventOrderChecker {
    started: bool,
    ended: bool,
    open_round: Option<u32>,
    open_messages: BTreeSet<MessageId>,
    message_count: u32,
    step_count: u32,
    open_steps: BTreeSet<StepId>,
    open_asks: BTreeSet<String>,
    open_requests: BTreeSet<String>,
}

/// Returns `broken` as an error unless `holds`.
fn check_rule(holds: bool, broken: EventOrderError) -> Result<(), EventOrderError> {
    if holds { Ok(()) } else { Err(broken) }
}

impl EventOrderChecker {
    /// True after `RunEnded`.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Checks the next event and updates what is open.
    pub fn apply(&mut self, event: &Event<'_>) -> Result<(), EventOrderError> {
        if self.ended {
            // Only asks that the run left open can still be answered.
            let Event::AskResolved { ask, .. } = event else {
                return Err(EventOrderError::EventAfterEnd);
            };
            return check_rule(self.open_asks.remove(ask.as_ref()), EventOrderError::EventAfterEnd);
        }
        if let Event::RunStarted { .. } = event {
            check_rule(!self.started, EventOrderError::RunStartedTwice)?;
            self.started = true;
            return Ok(());
        }
        check_rule(self.started, EventOrderError::RunNotStarted)?;
        self.apply_within_run(event)
    }

    /// Checks an event between the start and the end of the run.
    fn apply_within_run(&mut self, event: &Event<'_>) -> Result<(), EventOrderError> {
        match event {
            Event::RoundStarted { round, .. } => check_rule(
                self.open_round.replace(*round).is_none(),
                EventOrderError::RoundAlreadyOpen,
            ),
            Event::RoundEnded { round, .. } => {
                check_rule(self.open_round.take() == Some(*round), EventOrderError::NoSuchRound)
            }
            Event::MessageStarted { message, round, .. } => {
                self.check_and_start_message(*message, *round)
            }
            Event::TextAppended { message, text } => {
                check_rule(!text.is_empty(), EventOrderError::EmptyText)?;
                check_rule(self.open_messages.contains(message), EventOrderError::NoSuchMessage)
            }
            Event::TextRewritten { message, .. } => {
                check_rule(self.open_messages.contains(message), EventOrderError::NoSuchMessage)
            }
            Event::MessageEnded { message, .. } => {
                check_rule(self.open_messages.remove(message), EventOrderError::NoSuchMessage)
            }
            Event::ReasoningStarted { step, .. } | Event::ToolStarted { step, .. } => {
                check_rule(step.0 == self.step_count, EventOrderError::IdNotNext)?;
                self.step_count += 1;
                self.open_steps.insert(*step);
                Ok(())
            }
            Event::ReasoningAppended { step, .. }
            | Event::ArgumentsAppended { step, .. }
            | Event::ArgumentsReplaced { step, .. }
            | Event::ToolReady { step }
            | Event::ToolProgressed { step, .. }
            | Event::OutputAppended { step, .. }
            | Event::OutputReplaced { step, .. } => {
                check_rule(self.open_steps.contains(step), EventOrderError::NoSuchStep)
            }
            Event::ReasoningEnded { step, .. } | Event::ToolEnded { step, .. } => {
                check_rule(self.open_steps.remove(step), EventOrderError::NoSuchStep)
            }
            event_family!(Ask) | event_family!(Request) => self.apply_ask_or_request(event),
            Event::Withdrawn { messages, .. } => {
                self.open_messages.retain(|open| !messages.contains(open));
                Ok(())
            }
            Event::RunEnded { ending } => self.check_and_end_run(ending),
            // Allowed anywhere in a run.
            Event::RunStarted { .. }
            | Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
            | event_family!(Prompt)
            | event_family!(Notice)
            | event_family!(Internal) => Ok(()),
        }
    }

    /// Checks an event of an ask or a request; other events are allowed.
    fn apply_ask_or_request(&mut self, event: &Event<'_>) -> Result<(), EventOrderError> {
        if let Event::AskOpened { ask, .. } = event {
            check_rule(self.open_asks.insert(ask.to_string()), EventOrderError::AskOpenedTwice)?;
        }
        if let Event::AskResolved { ask, .. } = event {
            check_rule(self.open_asks.remove(ask.as_ref()), EventOrderError::NoSuchAsk)?;
        }
        if let Event::RequestStarted { request } = event {
            let is_new = self.open_requests.insert(request.to_string());
            check_rule(is_new, EventOrderError::RequestStartedTwice)?;
        }
        if let Event::RequestEnded { request: Some(request), .. } = event {
            check_rule(
                self.open_requests.remove(request.as_ref()),
                EventOrderError::NoSuchRequest,
            )?;
        }
        Ok(())
    }

    /// Checks that a message may start and opens it.
    fn check_and_start_message(
        &mut self,
        message: MessageId,
        round: u32,
    ) -> Result<(), EventOrderError> {
        check_rule(self.open_round == Some(round), EventOrderError::NoSuchRound)?;
        check_rule(message.0 == self.message_count, EventOrderError::IdNotNext)?;
        self.message_count += 1;
        self.open_messages.insert(message);
        Ok(())
    }

    /// Checks that nothing is open at the end of the run.
    fn check_and_end_run(&mut self, ending: &Ending<'_>) -> Result<(), EventOrderError> {
        self.ended = true;
        let closed = self.open_round.is_none() && self.open_messages.is_empty();
        let asks_stay_open = ending.stop.is_some_and(StopReason::can_leave_asks_open);
        let answered =
            (asks_stay_open || self.open_asks.is_empty()) && self.open_requests.is_empty();
        check_rule(closed && answered && self.open_steps.is_empty(), EventOrderError::LeftOpen)
    }
}
