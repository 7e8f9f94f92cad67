//! Tool calls that are going on: an id no other call of the run has, arguments and output so far.
//!
//! Sources give no id, or the same twice; protocols know a call by nothing else.

use std::collections::{BTreeMap, HashSet};

use engine::event::{Ending, Event, Executor, Outcome, StepId, Stop, ToolKind, ToolOutcome};

#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    ids: HashSet<String>,
    by_step: BTreeMap<StepId, String>,
    open: BTreeMap<StepId, Call>,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) output: String,
    pub(super) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its arguments are still coming.
    Arguments,
    Called,
}

/// What became of arguments that were sent anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// They only grew, from this byte on.
    Grew(usize),
    Changed,
}

impl Calls {
    /// The call that a `tool_started` begins.
    pub(super) fn start(&mut self, event: &Event<'_>) -> Option<&Call> {
        let Event::ToolStarted { step, call, name, .. } = event else { return None };
        let id = self.free_id(call, *step);
        self.ids.insert(id.clone());
        self.by_step.insert(*step, id.clone());
        let call = Call {
            id,
            name: name.clone().into_owned(),
            arguments: String::new(),
            output: String::new(),
            stage: Stage::Arguments,
        };
        self.open.insert(*step, call);
        self.open.get(step)
    }

    fn free_id(&self, call: &str, step: StepId) -> String {
        let mut id = if call.is_empty() { format!("s{}", step.0) } else { call.to_owned() };
        while self.ids.contains(&id) {
            id = format!("{id}.s{}", step.0);
        }
        id
    }

    /// The id of a call, also of one that has ended.
    pub(super) fn id(&self, step: StepId) -> Option<&str> {
        self.by_step.get(&step).map(String::as_str)
    }

    pub(super) fn get(&mut self, step: StepId) -> Option<&mut Call> {
        self.open.get_mut(&step)
    }

    pub(super) fn end(&mut self, step: StepId) -> Option<Call> {
        self.open.remove(&step)
    }

    pub(super) fn open(&self) -> Vec<StepId> {
        self.open.keys().copied().collect()
    }
}

impl Call {
    pub(super) fn is_arguing(&self) -> bool {
        self.stage == Stage::Arguments
    }

    pub(super) fn replace(&mut self, arguments: &str) -> Change {
        let change = if arguments.starts_with(&self.arguments) {
            Change::Grew(self.arguments.len())
        } else {
            Change::Changed
        };
        arguments.clone_into(&mut self.arguments);
        change
    }

    /// What a failed call has to say for itself.
    pub(super) fn failure(&self, detail: Option<&str>) -> String {
        match detail {
            Some(detail) if !detail.is_empty() => detail.to_owned(),
            _ if !self.output.is_empty() => self.output.clone(),
            _ => "The tool failed.".to_owned(),
        }
    }
}

/// Calls that are the client's to answer: functions that nobody ran, in a run that completed asking
/// for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Unanswered {
    calls: Calls,
    ended: Vec<(StepId, Call)>,
}

impl Unanswered {
    pub(super) fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::ToolStarted {
                kind: ToolKind::Function,
                executor: Executor::Client,
                parent: None,
                ..
            } => {
                self.calls.start(event);
            }
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self.calls.get(*step) {
                    call.arguments.push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } => {
                if let Some(call) = self.calls.get(*step) {
                    call.replace(text);
                }
            }
            Event::ToolEnded { step, outcome, .. } => {
                let call = self.calls.end(*step).filter(|_| *outcome == ToolOutcome::NoResult);
                self.ended.extend(call.map(|call| (*step, call)));
            }
            Event::Withdrawn { steps, .. } => self.ended.retain(|(step, _)| !steps.contains(step)),
            _ => {}
        }
    }

    pub(super) fn take(&mut self, ending: &Ending<'_>) -> Vec<(StepId, Call)> {
        let ended = std::mem::take(&mut self.ended);
        if ending.outcome == Outcome::Completed && ending.stop == Some(Stop::Tools) {
            ended
        } else {
            Vec::new()
        }
    }
}
