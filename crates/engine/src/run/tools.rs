//! `OpenTools`: tool calls that have started and not ended.

use crate::event::{Event, Executor, StepId, ToolKind, ToolOutcome};
use crate::limits::OPEN_TOOLS_MAX;

use super::EventEmitter;
use super::fingerprint::Fingerprint;

/// A tool call that starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolStart<'a> {
    /// The source's own id of the call.
    pub call: &'a str,
    /// Name of the tool.
    pub name: &'a str,
    /// Kind of the tool.
    pub kind: ToolKind,
    /// Side that runs it.
    pub executor: Executor,
    /// MCP server or container of the tool.
    pub server: Option<&'a str>,
    /// Tool step whose sub-agent made the call.
    pub parent: Option<StepId>,
}

impl<'a> ToolStart<'a> {
    /// A function call that the client runs.
    pub fn client_function(call: &'a str, name: &'a str) -> ToolStart<'a> {
        ToolStart {
            call,
            name,
            kind: ToolKind::Function,
            executor: Executor::Client,
            server: None,
            parent: None,
        }
    }

    /// A tool call that the provider runs inside the round.
    pub fn provider_tool(call: &'a str, name: &'a str, kind: ToolKind) -> ToolStart<'a> {
        ToolStart { kind, executor: Executor::Provider, ..ToolStart::client_function(call, name) }
    }
}

/// How much of a tool's arguments has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentsState {
    Partial,
    /// `ToolReady` was emitted.
    Complete,
}

/// One open tool call.
#[derive(Clone, Debug, PartialEq)]
struct OpenTool {
    step: StepId,
    /// Fingerprint of the call id, which may be as long as a frame.
    call_fingerprint: Fingerprint,
    arguments: ArgumentsState,
    arguments_fingerprint: Fingerprint,
    output_fingerprint: Fingerprint,
    output_bytes: usize,
    executor: Executor,
}

/// Result of comparing a cumulative output with the output recorded so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputContinuity {
    /// It continues the recorded output.
    Continued,
    /// Its beginning differs: the source cut or rewrote it. Nothing was recorded.
    Changed,
}

/// The open tool calls, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OpenTools {
    tools: Vec<OpenTool>,
}

impl OpenTools {
    /// Emits `ToolStarted` and opens the tool; closes the oldest at the limit.
    pub(super) fn start_tool(
        &mut self,
        step: StepId,
        round: u32,
        tool: ToolStart<'_>,
        out: &mut EventEmitter<'_>,
    ) {
        if OPEN_TOOLS_MAX <= self.tools.len() {
            let oldest = self.tools.remove(0);
            oldest.end_without_result(out);
        }
        self.tools.push(OpenTool {
            step,
            call_fingerprint: Fingerprint::from_text(tool.call),
            arguments: ArgumentsState::Partial,
            arguments_fingerprint: Fingerprint::default(),
            output_fingerprint: Fingerprint::default(),
            output_bytes: 0,
            executor: tool.executor,
        });
        out.emit_after_deferred_ends(Event::ToolStarted {
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

    /// Restores a tool that is open in the log. Emits nothing.
    pub(super) fn restore_tool(&mut self, step: StepId, call: &str, executor: Executor) {
        self.tools.push(OpenTool {
            step,
            call_fingerprint: Fingerprint::from_text(call),
            arguments: ArgumentsState::Partial,
            arguments_fingerprint: Fingerprint::default(),
            output_fingerprint: Fingerprint::default(),
            output_bytes: 0,
            executor,
        });
    }

    /// Restores that a tool's arguments are complete in the log. Emits nothing.
    pub(super) fn mark_tool_ready(&mut self, step: StepId) {
        if let Some(tool) = self.find_mut(step) {
            tool.arguments = ArgumentsState::Complete;
        }
    }

    /// Removes a tool that has ended in the log. Emits nothing. Returns its executor.
    pub(super) fn remove_ended_tool(&mut self, step: StepId) -> Option<Executor> {
        let at = self.tools.iter().position(|tool| tool.step == step)?;
        Some(self.tools.remove(at).executor)
    }

    /// Finds the newest open tool with this call id.
    pub(super) fn find_step_by_call_id(&self, call: &str) -> Option<StepId> {
        self.find_step_by_call_fingerprint(Fingerprint::from_text(call))
    }

    /// Finds the newest open tool whose call id has this fingerprint.
    pub(super) fn find_step_by_call_fingerprint(&self, call: Fingerprint) -> Option<StepId> {
        self.tools.iter().rev().find(|tool| tool.call_fingerprint == call).map(|tool| tool.step)
    }

    pub(super) fn is_open(&self, step: StepId) -> bool {
        self.tools.iter().any(|tool| tool.step == step)
    }

    /// True if a tool with this or a later step is open.
    pub(super) fn has_open_at_or_after_step(&self, first: StepId) -> bool {
        self.tools.iter().any(|tool| first <= tool.step)
    }

    fn find_mut(&mut self, step: StepId) -> Option<&mut OpenTool> {
        self.tools.iter_mut().rev().find(|tool| tool.step == step)
    }

    /// Appends text to a tool's arguments.
    pub(super) fn append_arguments_if_open(
        &mut self,
        step: StepId,
        text: &str,
        out: &mut EventEmitter<'_>,
    ) {
        if let Some(tool) = self.find_mut(step)
            && !text.is_empty()
        {
            tool.arguments_fingerprint.push(text);
            out.emit_after_deferred_ends(Event::ArgumentsAppended { step, text: text.into() });
        }
    }

    /// Sets a tool's whole arguments; emits nothing if they are unchanged.
    pub(super) fn replace_arguments_if_changed(
        &mut self,
        step: StepId,
        text: &str,
        out: &mut EventEmitter<'_>,
    ) {
        let Some(tool) = self.find_mut(step) else { return };
        let whole = Fingerprint::from_text(text);
        if whole.is_same_trimmed_text(&tool.arguments_fingerprint) {
            return;
        }
        let first = tool.arguments_fingerprint.is_blank();
        tool.arguments_fingerprint = whole;
        out.emit_after_deferred_ends(if first {
            Event::ArgumentsAppended { step, text: text.into() }
        } else {
            Event::ArgumentsReplaced { step, text: text.into() }
        });
    }

    /// Emits `ToolReady`, once: the tool's arguments are complete.
    pub(super) fn emit_tool_ready_once(&mut self, step: StepId, out: &mut EventEmitter<'_>) {
        if let Some(tool) = self.find_mut(step)
            && tool.arguments == ArgumentsState::Partial
        {
            tool.arguments = ArgumentsState::Complete;
            out.emit_after_deferred_ends(Event::ToolReady { step });
        }
    }

    /// Emits `ToolReady` for each open tool that had none: all arguments are complete.
    pub(super) fn emit_all_tools_ready(&mut self, out: &mut EventEmitter<'_>) {
        for tool in &mut self.tools {
            if tool.arguments == ArgumentsState::Partial {
                tool.arguments = ArgumentsState::Complete;
                out.emit_after_deferred_ends(Event::ToolReady { step: tool.step });
            }
        }
    }

    /// Appends text to a tool's output.
    pub(super) fn append_output_if_open(
        &mut self,
        step: StepId,
        text: &str,
        out: &mut EventEmitter<'_>,
    ) {
        if let Some(tool) = self.find_mut(step)
            && !text.is_empty()
        {
            tool.output_fingerprint.push(text);
            tool.output_bytes += text.len();
            out.emit_after_deferred_ends(Event::OutputAppended { step, text: text.into() });
        }
    }

    /// Length of an open tool's output in bytes.
    pub(super) fn output_bytes(&self, step: StepId) -> usize {
        self.tools.iter().rev().find(|tool| tool.step == step).map_or(0, |tool| tool.output_bytes)
    }

    /// Replaces a tool's output; appends if it has none yet, and emits nothing if it is the same.
    pub(super) fn replace_output_if_changed(
        &mut self,
        step: StepId,
        whole: &str,
        out: &mut EventEmitter<'_>,
    ) {
        let Some(tool) = self.find_mut(step) else { return };
        if tool.output_bytes == 0 {
            return self.append_output_if_open(step, whole, out);
        }
        let whole_fingerprint = Fingerprint::from_text(whole);
        if tool.output_bytes == whole.len() && whole_fingerprint == tool.output_fingerprint {
            return;
        }
        tool.output_fingerprint = whole_fingerprint;
        tool.output_bytes = whole.len();
        out.emit_after_deferred_ends(Event::OutputReplaced { step, text: whole.into() });
    }

    /// Appends the whole output, unless the tool already has some.
    pub(super) fn append_output_if_none(
        &mut self,
        step: StepId,
        text: &str,
        out: &mut EventEmitter<'_>,
    ) {
        let Some(tool) = self.find_mut(step) else { return };
        if tool.output_fingerprint.is_blank() {
            self.append_output_if_open(step, text, out);
        }
    }

    /// Appends the new end of a cumulative output.
    pub(super) fn append_cumulative_output_if_continued(
        &mut self,
        step: StepId,
        whole: &str,
        out: &mut EventEmitter<'_>,
    ) -> OutputContinuity {
        let Some(tool) = self.find_mut(step) else { return OutputContinuity::Continued };
        match whole.split_at_checked(tool.output_bytes) {
            Some((sent, new))
                if Fingerprint::from_text(sent).is_same_trimmed_text(&tool.output_fingerprint) =>
            {
                self.append_output_if_open(step, new, out);
                OutputContinuity::Continued
            }
            _ => OutputContinuity::Changed,
        }
    }

    /// Ends a tool with its result. Returns its executor, or `None` if it is not open. A detail
    /// that repeats the output is dropped.
    pub(super) fn end_tool_if_open(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: &mut EventEmitter<'_>,
    ) -> Option<Executor> {
        self.emit_tool_ready_once(step, out);
        let at = self.tools.iter().position(|tool| tool.step == step)?;
        let tool = self.tools.remove(at);
        let repeats = |detail: &&str| {
            Fingerprint::from_text(detail).is_same_trimmed_text(&tool.output_fingerprint)
        };
        let detail = detail.filter(|detail| !repeats(detail));
        out.emit_after_deferred_ends(Event::ToolEnded {
            step,
            outcome,
            detail: detail.map(Into::into),
        });
        Some(tool.executor)
    }

    /// Ends all open tools without a result.
    pub(super) fn end_all_without_result(&mut self, out: &mut EventEmitter<'_>) {
        for tool in std::mem::take(&mut self.tools) {
            tool.end_without_result(out);
        }
    }

    /// Ends complete client calls without a result.
    pub(super) fn end_ready_client_tools_without_result(&mut self, out: &mut EventEmitter<'_>) {
        let is_ready_client = |tool: &OpenTool| {
            tool.executor == Executor::Client && tool.arguments == ArgumentsState::Complete
        };
        self.end_selected_without_result(is_ready_client, out);
    }

    /// Ends tools with this or a later step without a result.
    pub(super) fn end_from_step_without_result(
        &mut self,
        first: StepId,
        out: &mut EventEmitter<'_>,
    ) {
        self.end_selected_without_result(|tool| first <= tool.step, out);
    }

    /// Ends the tools that `should_close` selects without a result.
    fn end_selected_without_result(
        &mut self,
        should_close: impl Fn(&OpenTool) -> bool,
        out: &mut EventEmitter<'_>,
    ) {
        for tool in self.tools.extract_if(.., |tool| should_close(tool)) {
            tool.end_without_result(out);
        }
    }
}

impl OpenTool {
    /// Emits `ToolEnded` for a tool that has no result.
    fn end_without_result(self, out: &mut EventEmitter<'_>) {
        out.emit_after_deferred_ends(self.arguments.build_tool_end_without_result(self.step));
    }
}

impl ArgumentsState {
    /// Builds the end event of a tool that has no result.
    pub(super) fn build_tool_end_without_result(self, step: StepId) -> Event<'static> {
        let outcome = match self {
            ArgumentsState::Partial => ToolOutcome::Cut,
            ArgumentsState::Complete => ToolOutcome::NoResult,
        };
        Event::ToolEnded { step, outcome, detail: None }
    }
}
