//! Open tool calls: a unique id, arguments and output so far.
//!
//! Sources give no id, or the same one twice; protocols identify a call by nothing else.

use std::collections::{BTreeMap, HashSet};

use millpond_engine::event::{
    Ending, Event, Executor, Outcome, StepId, StopReason, ToolKind, ToolOutcome,
};
use millpond_engine::event_family;

/// All tool calls of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolCalls {
    used_ids: HashSet<String>,
    ids_by_step: BTreeMap<StepId, String>,
    open_calls: BTreeMap<StepId, ToolCall>,
}

/// One open tool call.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) output: String,
    pub(super) stage: CallStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallStage {
    /// More arguments may follow.
    ReceivingArguments,
    Called,
}

/// How replaced arguments differ from those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentsChange {
    /// Only extended, from this byte on.
    Grew(usize),
    Replaced,
}

impl ToolCalls {
    /// Starts the call of a `tool_started` event.
    pub(super) fn record_started_call(&mut self, event: &Event<'_>) -> Option<&ToolCall> {
        let Event::ToolStarted { step, call, name, .. } = event else { return None };
        let id = self.make_unique_id(call, *step);
        self.used_ids.insert(id.clone());
        self.ids_by_step.insert(*step, id.clone());
        let call = ToolCall {
            id,
            name: name.clone().into_owned(),
            arguments: String::new(),
            output: String::new(),
            stage: CallStage::ReceivingArguments,
        };
        self.open_calls.insert(*step, call);
        self.open_calls.get(step)
    }

    fn make_unique_id(&self, call: &str, step: StepId) -> String {
        let mut id = if call.is_empty() { format!("s{}", step.0) } else { call.to_owned() };
        while self.used_ids.contains(&id) {
            id = format!("{id}.s{}", step.0);
        }
        id
    }

    /// Id of a call, also of an ended one.
    pub(super) fn call_id(&self, step: StepId) -> Option<&str> {
        self.ids_by_step.get(&step).map(String::as_str)
    }

    pub(super) fn find_open_call_mut(&mut self, step: StepId) -> Option<&mut ToolCall> {
        self.open_calls.get_mut(&step)
    }

    /// Appends to the output of an open call.
    pub(super) fn append_output(&mut self, step: StepId, text: &str) {
        if let Some(call) = self.open_calls.get_mut(&step) {
            call.output.push_str(text);
        }
    }

    /// Replaces the output of an open call.
    pub(super) fn replace_output(&mut self, step: StepId, text: &str) {
        if let Some(call) = self.open_calls.get_mut(&step) {
            text.clone_into(&mut call.output);
        }
    }

    pub(super) fn take_open_call(&mut self, step: StepId) -> Option<ToolCall> {
        self.open_calls.remove(&step)
    }

    pub(super) fn steps_of_open_calls(&self) -> Vec<StepId> {
        self.open_calls.keys().copied().collect()
    }
}

impl ToolCall {
    pub(super) fn is_receiving_arguments(&self) -> bool {
        self.stage == CallStage::ReceivingArguments
    }

    pub(super) fn replace_arguments(&mut self, arguments: &str) -> ArgumentsChange {
        let change = if arguments.starts_with(&self.arguments) {
            ArgumentsChange::Grew(self.arguments.len())
        } else {
            ArgumentsChange::Replaced
        };
        arguments.clone_into(&mut self.arguments);
        change
    }

    /// Error text of a failed call.
    pub(super) fn failure_text(&self, detail: Option<&str>) -> String {
        match detail {
            Some(detail) if !detail.is_empty() => detail.to_owned(),
            _ if !self.output.is_empty() => self.output.clone(),
            _ => "The tool failed.".to_owned(),
        }
    }
}

/// Calls that are left to the client: client functions without a result, in a run that completed by
/// asking for them.
#[derive(Clone, Debug, Default)]
pub(super) struct UnansweredCalls {
    calls: ToolCalls,
    ended_without_result: Vec<(StepId, ToolCall)>,
}

impl UnansweredCalls {
    pub(super) fn track_event(&mut self, event: &Event<'_>) {
        match event {
            Event::ToolStarted {
                kind: ToolKind::Function | ToolKind::Action,
                executor: Executor::Client,
                parent: None,
                ..
            } => {
                self.calls.record_started_call(event);
            }
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self.calls.find_open_call_mut(*step) {
                    call.arguments.push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } => {
                if let Some(call) = self.calls.find_open_call_mut(*step) {
                    call.replace_arguments(text);
                }
            }
            Event::ToolEnded { step, outcome, .. } => {
                let call =
                    self.calls.take_open_call(*step).filter(|_| *outcome == ToolOutcome::NoResult);
                self.ended_without_result.extend(call.map(|call| (*step, call)));
            }
            Event::Withdrawn { steps, .. } => {
                self.ended_without_result.retain(|(step, _)| !steps.contains(step));
            }
            // Not of a call.
            Event::ImageReceived { .. }
            | Event::ToolStarted { .. }
            | Event::ToolReady { .. }
            | Event::ToolProgressed { .. }
            | Event::OutputAppended { .. }
            | Event::OutputReplaced { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    pub(super) fn take_if_stopped_for_tools(
        &mut self,
        ending: &Ending<'_>,
    ) -> Vec<(StepId, ToolCall)> {
        let ended = std::mem::take(&mut self.ended_without_result);
        if ending.outcome == Outcome::Completed && ending.stop == Some(StopReason::Tools) {
            ended
        } else {
            Vec::new()
        }
    }
}
