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
    /// Of its call id, which may be as long as a frame.
    call: Fingerprint,
    ready: bool,
    arguments: Fingerprint,
    output: Fingerprint,
    output_bytes: usize,
    executor: Executor,
}

/// Whether a whole output goes on from what had been sent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    GoesOn,
    /// It begins otherwise: the source cut or rewrote it. Nothing was recorded.
    Changed,
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
            call: Fingerprint::of(tool.call),
            ready: false,
            arguments: Fingerprint::default(),
            output: Fingerprint::default(),
            output_bytes: 0,
            executor: tool.executor,
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

    /// A tool that the log says is open.
    pub(super) fn recall(&mut self, step: StepId, call: &str, executor: Executor) {
        self.open.push(OpenTool {
            step,
            call: Fingerprint::of(call),
            ready: true,
            arguments: Fingerprint::default(),
            output: Fingerprint::default(),
            output_bytes: 0,
            executor,
        });
    }

    /// A tool that the log says has ended.
    pub(super) fn forget(&mut self, step: StepId) -> Option<Executor> {
        let at = self.open.iter().position(|tool| tool.step == step)?;
        Some(self.open.remove(at).executor)
    }

    /// The newest open tool of this call id.
    pub(super) fn step_of(&self, call: &str) -> Option<StepId> {
        let call = Fingerprint::of(call);
        self.open.iter().rev().find(|tool| tool.call == call).map(|tool| tool.step)
    }

    pub(super) fn is_open(&self, step: StepId) -> bool {
        self.open.iter().any(|tool| tool.step == step)
    }

    /// Whether a tool of this or a later step is open.
    pub(super) fn any_open_from(&self, first: StepId) -> bool {
        self.open.iter().any(|tool| first <= tool.step)
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
            tool.output_bytes += text.len();
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

    /// The output so far, from a source that repeats it: records what is new.
    pub(super) fn output_so_far(&mut self, step: StepId, whole: &str, out: &mut Out<'_>) -> Growth {
        let Some(tool) = self.get(step) else { return Growth::GoesOn };
        match whole.split_at_checked(tool.output_bytes) {
            Some((sent, new)) if Fingerprint::of(sent).same_text(&tool.output) => {
                self.output(step, new, out);
                Growth::GoesOn
            }
            _ => Growth::Changed,
        }
    }

    /// Closes the tool; tells who ran it.
    pub(super) fn end(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: &mut Out<'_>,
    ) -> Option<Executor> {
        self.ready(step, out);
        let at = self.open.iter().position(|tool| tool.step == step)?;
        let tool = self.open.remove(at);
        out.event(Event::ToolEnded { step, outcome, detail: detail.map(Into::into) });
        Some(tool.executor)
    }

    pub(super) fn close_all(&mut self, out: &mut Out<'_>) {
        for tool in std::mem::take(&mut self.open) {
            tool.close(out);
        }
    }

    /// Closes calls that whoever called the model was to run.
    pub(super) fn close_clients(&mut self, out: &mut Out<'_>) {
        self.close_if(|tool| tool.executor == Executor::Client && tool.ready, out);
    }

    /// Forgets steps that were taken back, closing them first.
    pub(super) fn close_from(&mut self, first: StepId, out: &mut Out<'_>) {
        self.close_if(|tool| first <= tool.step, out);
    }

    fn close_if(&mut self, goes: impl Fn(&OpenTool) -> bool, out: &mut Out<'_>) {
        for tool in self.open.extract_if(.., |tool| goes(tool)) {
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
