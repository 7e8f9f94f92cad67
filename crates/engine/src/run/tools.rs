//! The tools that are open: called, running, not yet answered.

use crate::event::{Event, Executor, StepId, ToolKind, ToolOutcome};
use crate::limits::OPEN_TOOLS_MAX;

use super::Out;
use super::fingerprint::Fingerprint;

/// What a source says when it calls a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolStart<'a> {
    pub call: &'a str,
    pub name: &'a str,
    pub kind: ToolKind,
    pub executor: Executor,
    pub server: Option<&'a str>,
    pub parent: Option<StepId>,
}

impl<'a> ToolStart<'a> {
    /// A function that whoever called the model runs.
    pub fn function(call: &'a str, name: &'a str) -> ToolStart<'a> {
        ToolStart {
            call,
            name,
            kind: ToolKind::Function,
            executor: Executor::Client,
            server: None,
            parent: None,
        }
    }

    /// A tool that the provider runs inside the round.
    pub fn provider(call: &'a str, name: &'a str, kind: ToolKind) -> ToolStart<'a> {
        ToolStart { kind, executor: Executor::Provider, ..ToolStart::function(call, name) }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct OpenTool {
    step: StepId,
    call: Box<str>,
    ready: bool,
    arguments: Fingerprint,
    output: Fingerprint,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tools {
    open: Vec<OpenTool>,
}

impl Tools {
    pub(super) fn start(
        &mut self,
        step: StepId,
        round: u32,
        tool: ToolStart<'_>,
        out: &mut Out<'_>,
    ) {
        if OPEN_TOOLS_MAX <= self.open.len() {
            let oldest = self.open.remove(0);
            oldest.close(out);
        }
        self.open.push(OpenTool {
            step,
            call: tool.call.into(),
            ready: false,
            arguments: Fingerprint::default(),
            output: Fingerprint::default(),
        });
        out.event(Event::ToolStarted {
            step,
            round,
            call: tool.call.into(),
            name: tool.name.into(),
            kind: tool.kind,
            executor: tool.executor,
            server: tool.server.map(Into::into),
            parent: tool.parent,
        });
    }

    /// The newest open tool of this call id.
    pub(super) fn step_of(&self, call: &str) -> Option<StepId> {
        self.open.iter().rev().find(|tool| *tool.call == *call).map(|tool| tool.step)
    }

    pub(super) fn is_open(&self, step: StepId) -> bool {
        self.open.iter().any(|tool| tool.step == step)
    }

    fn get(&mut self, step: StepId) -> Option<&mut OpenTool> {
        self.open.iter_mut().rev().find(|tool| tool.step == step)
    }

    pub(super) fn arguments(&mut self, step: StepId, text: &str, out: &mut Out<'_>) {
        if let Some(tool) = self.get(step)
            && !text.is_empty()
        {
            tool.arguments.push(text);
            out.event(Event::ArgumentsAppended { step, text: text.into() });
        }
    }

    /// The whole arguments: recorded unless they are what was sent before.
    pub(super) fn whole_arguments(&mut self, step: StepId, text: &str, out: &mut Out<'_>) {
        let Some(tool) = self.get(step) else { return };
        let whole = Fingerprint::of(text);
        if whole.same_text(&tool.arguments) {
            return;
        }
        let first = tool.arguments.is_empty();
        tool.arguments = whole;
        out.event(if first {
            Event::ArgumentsAppended { step, text: text.into() }
        } else {
            Event::ArgumentsReplaced { step, text: text.into() }
        });
    }

    pub(super) fn ready(&mut self, step: StepId, out: &mut Out<'_>) {
        if let Some(tool) = self.get(step)
            && !tool.ready
        {
            tool.ready = true;
            out.event(Event::ToolReady { step });
        }
    }

    pub(super) fn all_ready(&mut self, out: &mut Out<'_>) {
        for tool in &mut self.open {
            if !tool.ready {
                tool.ready = true;
                out.event(Event::ToolReady { step: tool.step });
            }
        }
    }

    pub(super) fn output(&mut self, step: StepId, text: &str, out: &mut Out<'_>) {
        if let Some(tool) = self.get(step)
            && !text.is_empty()
        {
            tool.output.push(text);
            out.event(Event::OutputAppended { step, text: text.into() });
        }
    }

    /// The whole output: recorded unless it has been sent piece by piece.
    pub(super) fn whole_output(&mut self, step: StepId, text: &str, out: &mut Out<'_>) {
        let Some(tool) = self.get(step) else { return };
        if tool.output.is_empty() {
            self.output(step, text, out);
        }
    }

    pub(super) fn end(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: &mut Out<'_>,
    ) {
        self.ready(step, out);
        let Some(at) = self.open.iter().position(|tool| tool.step == step) else {
            return;
        };
        self.open.remove(at);
        out.event(Event::ToolEnded { step, outcome, detail: detail.map(Into::into) });
    }

    pub(super) fn close_all(&mut self, out: &mut Out<'_>) {
        for tool in std::mem::take(&mut self.open) {
            tool.close(out);
        }
    }

    /// Forgets steps that were taken back, closing them first.
    pub(super) fn close_from(&mut self, first: StepId, out: &mut Out<'_>) {
        let (stay, go) =
            std::mem::take(&mut self.open).into_iter().partition(|tool| tool.step < first);
        self.open = stay;
        let go: Vec<OpenTool> = go;
        for tool in go {
            tool.close(out);
        }
    }
}

impl OpenTool {
    fn close(self, out: &mut Out<'_>) {
        let outcome = if self.ready { ToolOutcome::NoResult } else { ToolOutcome::Cut };
        out.event(Event::ToolEnded { step: self.step, outcome, detail: None });
    }
}
