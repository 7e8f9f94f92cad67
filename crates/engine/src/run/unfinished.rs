//! Closes the log of a run whose writer is gone (a crash, a full disk).
//!
//! A fold over the run's events that can produce the closing events at any point, so that every
//! log ends in pairs and once.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Ending, Event, FailureReason, MessageId, MessagePhase, Outcome, StepId};
use crate::event_family;

use super::ending::{build_ending, build_unanswered_ask_event};
use super::replay::is_completion;
use super::tools::ArgumentsState;
use super::writer::build_unfinished_model_request_end;

/// Kind of an open step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenStepKind {
    Reasoning,
    Tool(ArgumentsState),
}

/// Open parts of a run, according to its log.
#[derive(Clone, Debug, Default)]
pub struct UnfinishedRun {
    started: bool,
    ended: bool,
    open_round: Option<u32>,
    /// True if the last round completes the run, unless more follows.
    is_reply_complete: bool,
    open_messages: BTreeSet<MessageId>,
    open_steps: BTreeMap<StepId, OpenStepKind>,
    open_asks: BTreeSet<String>,
    open_requests: BTreeSet<String>,
    declared_final: Option<MessageId>,
    last_message: Option<MessageId>,
    withdrawn_messages: BTreeSet<MessageId>,
}

impl UnfinishedRun {
    /// True after `RunEnded`.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Number of open asks.
    pub fn open_ask_count(&self) -> usize {
        self.open_asks.len()
    }

    /// Applies the next event of the log.
    pub fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { .. } => self.started = true,
            Event::RoundStarted { round, .. } => {
                self.open_round = Some(*round);
                self.last_message = None;
            }
            Event::RoundEnded { stop, .. } => {
                self.open_round = None;
                self.is_reply_complete = is_completion(*stop);
            }
            Event::PromptReceived { .. } => self.forget_final_message_if_complete(),
            Event::MessageStarted { message, phase, .. } => {
                self.apply_message_start(*message, *phase);
            }
            Event::MessageEnded { message, .. } => {
                self.open_messages.remove(message);
            }
            Event::ReasoningStarted { step, .. } => {
                self.open_steps.insert(*step, OpenStepKind::Reasoning);
            }
            Event::ToolStarted { step, .. } => {
                self.open_steps.insert(*step, OpenStepKind::Tool(ArgumentsState::Partial));
            }
            Event::ToolReady { step } => {
                self.open_steps.insert(*step, OpenStepKind::Tool(ArgumentsState::Complete));
            }
            Event::ReasoningEnded { step, .. } | Event::ToolEnded { step, .. } => {
                self.open_steps.remove(step);
            }
            Event::AskOpened { ask, .. } => {
                self.open_asks.insert(ask.to_string());
            }
            Event::AskResolved { ask, .. } => {
                self.open_asks.remove(ask.as_ref());
            }
            Event::RequestStarted { request } => {
                self.open_requests.insert(request.to_string());
            }
            Event::RequestEnded { request: Some(request), .. } => {
                self.open_requests.remove(request.as_ref());
            }
            Event::FinalDeclared { message } => self.declared_final = Some(*message),
            Event::Withdrawn { messages, .. } => self.apply_withdrawal(messages),
            Event::RunEnded { .. } => self.ended = true,
            // Opens and closes nothing.
            Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::ReasoningAppended { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | Event::RequestEnded { .. }
            | Event::UsageReported { .. }
            | Event::PromptJoined { .. }
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    fn apply_message_start(&mut self, message: MessageId, phase: Option<MessagePhase>) {
        self.open_messages.insert(message);
        self.last_message = Some(message);
        if phase == Some(MessagePhase::Final) {
            self.declared_final = Some(message);
        }
    }

    /// Forgets the final message of a complete reply: a prompt follows it.
    fn forget_final_message_if_complete(&mut self) {
        if self.open_round.is_none() && self.is_reply_complete {
            self.declared_final = None;
            self.last_message = None;
        }
    }

    /// Marks messages as withdrawn and forgets those that are open or declared final.
    fn apply_withdrawal(&mut self, messages: &[MessageId]) {
        let is_kept = |id: &MessageId| !messages.contains(id);
        self.open_messages.retain(is_kept);
        self.declared_final = self.declared_final.filter(is_kept);
        self.withdrawn_messages.extend(messages);
    }

    /// True if the run has not ended, an ask is open and no message is.
    pub fn is_waiting_for_answer(&self) -> bool {
        self.started && !self.ended && self.open_messages.is_empty() && !self.open_asks.is_empty()
    }

    /// Returns the events that close what is open and end the run; empty if it has ended or never
    /// started.
    pub fn closing_events(
        &self,
        outcome: Outcome,
        reason: Option<FailureReason>,
        detail: &str,
    ) -> Vec<Event<'static>> {
        let mut events = Vec::new();
        if self.ended || !self.started {
            return events;
        }
        let open = self.open_messages.iter();
        events.extend(open.map(|&message| Event::MessageEnded { message, incomplete: true }));
        let reasoning =
            self.open_steps.iter().filter(|(_, kind)| **kind == OpenStepKind::Reasoning);
        events.extend(reasoning.map(|(&step, _)| Event::ReasoningEnded { step, incomplete: true }));
        events.extend(self.open_round.map(|round| Event::RoundEnded {
            round,
            stop: None,
            incomplete: true,
        }));
        events.extend(self.open_steps.iter().filter_map(|(&step, kind)| match kind {
            OpenStepKind::Reasoning => None,
            OpenStepKind::Tool(arguments) => Some(arguments.build_tool_end_without_result(step)),
        }));
        events.extend(self.open_asks.iter().cloned().map(build_unanswered_ask_event));
        events.extend(self.open_requests.iter().cloned().map(build_unfinished_model_request_end));
        let message = self
            .declared_final
            .or(self.last_message)
            .filter(|id| !self.withdrawn_messages.contains(id));
        events.push(Event::RunEnded {
            ending: Ending {
                incomplete: true,
                ..build_ending(outcome, None, reason, detail.to_owned(), message)
            },
        });
        events
    }
}
