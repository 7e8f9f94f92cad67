//! Calling tools, and what comes of it.

use crate::event::{Event, Executor, Image, Owner, StepId, ToolOutcome};
use crate::run::tools::{Growth, ToolStart};

use super::Writer;

impl Writer<'_> {
    /// A tool is called; ends the message before it.
    pub fn tool(&mut self, tool: ToolStart<'_>) -> StepId {
        if tool.parent.is_none() {
            self.boundary();
        }
        let step = StepId(self.ledger.steps);
        self.ledger.steps += 1;
        let round = self.ledger.current_round();
        self.ledger.tool_started();
        self.ledger.tools.start(step, round, tool, &mut self.out);
        step
    }

    /// The open tool of this call id.
    pub fn step_of(&self, call: &str) -> Option<StepId> {
        self.ledger.tools.step_of(call)
    }

    pub fn is_open(&self, step: StepId) -> bool {
        self.ledger.tools.is_open(step)
    }

    /// New text of a tool's arguments.
    pub fn arguments(&mut self, step: StepId, text: &str) {
        self.ledger.tools.arguments(step, text, &mut self.out);
    }

    /// A tool's whole arguments; nothing happens if they have been sent already.
    pub fn whole_arguments(&mut self, step: StepId, text: &str) {
        self.ledger.tools.whole_arguments(step, text, &mut self.out);
    }

    /// The arguments are complete.
    pub fn ready(&mut self, step: StepId) {
        self.ledger.tools.ready(step, &mut self.out);
    }

    pub fn progress(&mut self, step: StepId, text: &str) {
        if self.is_open(step) {
            self.out.event(Event::ToolProgressed { step, text: text.into() });
        }
    }

    /// New text of a tool's output.
    pub fn output(&mut self, step: StepId, text: &str) {
        self.ledger.tools.output(step, text, &mut self.out);
    }

    /// A tool's whole output; nothing happens if any has been sent already.
    pub fn whole_output(&mut self, step: StepId, text: &str) {
        self.ledger.tools.whole_output(step, text, &mut self.out);
    }

    /// A tool's output so far, from a source that repeats it; only what is new is recorded.
    pub fn output_so_far(&mut self, step: StepId, whole: &str) -> Growth {
        self.ledger.tools.output_so_far(step, whole, &mut self.out)
    }

    /// A tool's final output, from a source that repeated it; recorded anew if it has changed.
    pub fn settled_output(&mut self, step: StepId, whole: &str) {
        if self.output_so_far(step, whole) == Growth::Changed {
            self.output(step, whole);
        }
    }

    pub fn output_image(&mut self, step: StepId, image: Image<'_>) {
        self.out.event(Event::ImageReceived { owner: Owner::Step(step), image });
    }

    pub fn end_tool(&mut self, step: StepId, outcome: ToolOutcome, detail: Option<&str>) {
        let executor = self.ledger.tools.end(step, outcome, detail, &mut self.out);
        // What the provider ran stays inside its round.
        self.ledger.result_seen |= executor == Some(Executor::Client);
        if executor.is_some() {
            self.ledger.tool_ended(step);
        }
    }
}
