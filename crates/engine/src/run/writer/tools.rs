//! Tool calls: start, arguments, output, end.

use crate::event::{Event, Executor, Image, ImageOwner, StepId, ToolKind, ToolOutcome};
use crate::run::tools::{OutputContinuity, ToolStart};

use super::Writer;

impl Writer<'_> {
    /// Starts a tool call and returns its step; ends or suspends the open messages, unless a
    /// sub-agent calls. A tool that acts on a computer or browser is an action, whatever kind the
    /// source gives it.
    pub fn start_tool(&mut self, mut tool: ToolStart<'_>) -> StepId {
        if self.state.action_names.is_action(tool.name, tool.server) {
            tool.kind = ToolKind::Action;
        }
        if tool.parent.is_none() {
            self.interrupt_text_and_ensure_round();
        }
        let step = StepId(self.state.step_count);
        self.state.step_count += 1;
        let round = self.state.current_or_last_round_number();
        self.state.unmark_tools_ended();
        self.state.open_tools.start_tool(step, round, tool, &mut self.emitter);
        step
    }

    /// Finds the open tool with this call id.
    pub fn find_open_tool(&self, call: &str) -> Option<StepId> {
        self.state.open_tools.find_step_by_call_id(call)
    }

    /// Finds the newest open tool whose call id has this fingerprint.
    pub(crate) fn find_open_tool_by_fingerprint(
        &self,
        call: crate::run::Fingerprint,
    ) -> Option<StepId> {
        self.state.open_tools.find_step_by_call_fingerprint(call)
    }

    /// True if the tool of this step is open.
    pub fn is_tool_open(&self, step: StepId) -> bool {
        self.state.open_tools.is_open(step)
    }

    /// Appends text to a tool's arguments.
    pub fn append_arguments(&mut self, step: StepId, text: &str) {
        self.state.open_tools.append_arguments_if_open(step, text, &mut self.emitter);
    }

    /// Sets a tool's whole arguments; emits nothing if they are unchanged.
    pub fn replace_arguments_if_changed(&mut self, step: StepId, text: &str) {
        self.state.open_tools.replace_arguments_if_changed(step, text, &mut self.emitter);
    }

    /// Emits `ToolReady`, once: the tool's arguments are complete.
    pub fn emit_tool_ready_once(&mut self, step: StepId) {
        self.state.open_tools.emit_tool_ready_once(step, &mut self.emitter);
    }

    /// Emits a progress message of an open tool.
    pub fn append_tool_progress_if_open(&mut self, step: StepId, text: &str) {
        if self.is_tool_open(step) {
            self.emitter
                .emit_after_deferred_ends(Event::ToolProgressed { step, text: text.into() });
        }
    }

    /// Appends text to a tool's output.
    pub fn append_output_if_open(&mut self, step: StepId, text: &str) {
        self.state.open_tools.append_output_if_open(step, text, &mut self.emitter);
    }

    /// Replaces a tool's output; emits nothing if it is the same.
    pub fn replace_output_if_changed(&mut self, step: StepId, whole: &str) {
        self.state.open_tools.replace_output_if_changed(step, whole, &mut self.emitter);
    }

    /// Length of an open tool's output in bytes.
    pub(crate) fn output_bytes(&self, step: StepId) -> usize {
        self.state.open_tools.output_bytes(step)
    }

    /// Appends a tool's whole output, unless it already has some.
    pub fn append_output_if_none(&mut self, step: StepId, text: &str) {
        self.state.open_tools.append_output_if_none(step, text, &mut self.emitter);
    }

    /// Appends the new end of a tool's cumulative output.
    pub fn append_cumulative_output_if_continued(
        &mut self,
        step: StepId,
        whole: &str,
    ) -> OutputContinuity {
        self.state.open_tools.append_cumulative_output_if_continued(step, whole, &mut self.emitter)
    }

    /// Appends the new end of a tool's final cumulative output, or replaces the output if its
    /// beginning changed.
    pub fn append_rest_or_replace_output(&mut self, step: StepId, whole: &str) {
        if self.append_cumulative_output_if_continued(step, whole) == OutputContinuity::Changed {
            self.replace_output_if_changed(step, whole);
        }
    }

    /// Emits an image that a step put out.
    pub fn append_output_image(&mut self, step: StepId, image: Image<'_>) {
        self.emitter.emit_after_deferred_ends(Event::ImageReceived {
            owner: ImageOwner::Step(step),
            image,
        });
    }

    /// Ends an open tool with its outcome.
    pub fn end_tool_if_open(&mut self, step: StepId, outcome: ToolOutcome, detail: Option<&str>) {
        let executor =
            self.state.open_tools.end_tool_if_open(step, outcome, detail, &mut self.emitter);
        // The result of a provider tool stays inside its round.
        self.state.tool_result_seen |= executor == Some(Executor::Client);
        if executor.is_some() {
            self.state.mark_tools_ended_if_last(step);
        }
    }
}
