//! Restores the state of a run from its log, so that a new writer can continue it.

use crate::event::{Event, Executor, MessageId, MessagePhase, StepId, StopReason};
use crate::event_family;

use super::message_state::MessageText;
use super::{Lifecycle, OpenRound, Run, RunState};

impl Run {
    /// Applies one event of the log to the run's state. The run can continue from a point where no
    /// message and no reasoning is open: between replies, while tools run or an ask waits.
    pub fn replay_event(&mut self, event: &Event<'_>) {
        self.state.replay_event(event);
    }
}

/// True if a round that ended so completes its run, unless more follows.
pub(super) fn is_completion(stop: Option<StopReason>) -> bool {
    stop.is_some_and(|stop| stop != StopReason::Tools)
}

impl RunState {
    fn replay_event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { .. } => self.lifecycle = Lifecycle::Open,
            Event::RoundStarted { round, .. } => {
                self.next_round_number = round + 1;
                self.last_round_message = None;
                self.tool_result_seen = false;
                self.open_round = Some(OpenRound::starting_at(self.message_count, self.step_count));
            }
            Event::RoundEnded { stop, .. } => self.replay_round_end(*stop),
            Event::PromptReceived { .. } => {
                if self.open_round.is_none() && is_completion(self.last_round_stop) {
                    self.forget_final_message();
                }
            }
            Event::MessageStarted { message, phase, .. } => {
                self.message_count = message.0 + 1;
                self.replay_message_start(*message, *phase);
            }
            Event::ReasoningStarted { step, .. } => self.replay_step_start(*step),
            Event::ToolStarted { step, call, executor, .. } => {
                self.replay_step_start(*step);
                self.open_tools.restore_tool(*step, call, *executor);
            }
            Event::ToolReady { step } => self.open_tools.mark_tool_ready(*step),
            Event::ToolEnded { step, .. } => {
                self.tool_result_seen |=
                    self.open_tools.remove_ended_tool(*step) == Some(Executor::Client);
            }
            Event::AskOpened { ask, .. } => self.open_asks.push(ask.to_string()),
            Event::AskResolved { ask, .. } => self.open_asks.retain(|open| open != ask),
            Event::RequestStarted { request } => self.open_requests.push_back(request.to_string()),
            Event::RequestEnded { request: Some(request), .. } => {
                self.open_requests.retain(|open| open != request);
            }
            Event::FinalDeclared { message } => self.declared_final = Some(*message),
            Event::Withdrawn { messages, .. } => self.replay_withdrawal(messages),
            Event::RunEnded { .. } => self.lifecycle = Lifecycle::Ended,
            // Allocates no id.
            Event::TextAppended { .. }
            | Event::TextRewritten { .. }
            | Event::MessageEnded { .. }
            | Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::ReasoningAppended { .. }
            | Event::ReasoningEnded { .. }
            | Event::ArgumentsAppended { .. }
            | Event::ArgumentsReplaced { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | Event::PromptJoined { .. }
            | Event::RequestEnded { request: None, .. }
            | Event::UsageReported { .. }
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    fn replay_step_start(&mut self, step: StepId) {
        self.step_count = step.0 + 1;
    }

    fn replay_message_start(&mut self, message: MessageId, phase: Option<MessagePhase>) {
        if let Some(round) = &mut self.open_round {
            round.first_text_traced = true;
            round.last_message = Some(MessageText::empty(message));
            if phase == Some(MessagePhase::Final) {
                round.last_final_message = Some(message);
            }
        }
    }

    fn replay_round_end(&mut self, stop: Option<StopReason>) {
        self.last_round_stop = stop;
        if let Some(round) = self.open_round.take() {
            self.last_round_message = round.last_message;
            self.declared_final = round.last_final_message.or(self.declared_final);
        }
    }

    fn replay_withdrawal(&mut self, messages: &[MessageId]) {
        self.mark_messages_withdrawn(messages);
        let is_kept = |last: &MessageText| !messages.contains(&last.id);
        self.last_round_message = self.last_round_message.filter(is_kept);
        if let Some(round) = &mut self.open_round {
            round.last_message = round.last_message.filter(is_kept);
            round.last_final_message =
                round.last_final_message.filter(|last| !messages.contains(last));
        }
    }
}
