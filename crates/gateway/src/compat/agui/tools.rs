//! Tool calls, their results, and asks.

use millpond_engine::event::{Ending, Event, Outcome, StepId, ToolOutcome};
use millpond_engine::event_family;

use super::AgUi;
use super::event::{self, Custom};
use crate::compat::tool_calls::{ArgumentsChange, CallStage, ToolCall};
use crate::compat::{PayloadSink, json};

const NO_RESULT: &str = "The run ended before a result was seen.";
const CUT: &str = "The run ended in the middle of the arguments.";
const DENIED: &str = "The call was denied.";
const WITHDRAWN: &str = "The call was withdrawn.";

impl AgUi {
    pub(super) fn apply_tool_or_ask_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        match event {
            Event::ToolStarted { step, name, .. } => {
                let Some(id) = self.calls.record_started_call(event).map(|call| call.id.clone())
                else {
                    return;
                };
                let start = event::Event::ToolCallStart { tool_call_id: &id, tool_call_name: name };
                json::write_payload(&start, out);
                self.client_thread.push_call(*step, id, name.clone().into_owned());
            }
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self
                    .calls
                    .find_open_call_mut(*step)
                    .filter(|call| call.is_receiving_arguments())
                {
                    call.arguments.push_str(text);
                    self.write_arguments_delta(*step, text, out);
                }
            }
            Event::ArgumentsReplaced { step, text } => self.replace_arguments(*step, text, out),
            Event::ToolReady { step } => self.end_arguments(*step, out),
            Event::ToolProgressed { step, text } => {
                if let Some(call) = self.calls.find_open_call_mut(*step) {
                    AgUi::write_custom(Custom::Progress { tool_call_id: &call.id, text }, out);
                }
            }
            Event::OutputAppended { step, text } => self.calls.append_output(*step, text),
            Event::OutputReplaced { step, text } => self.calls.replace_output(*step, text),
            Event::ToolEnded { step, outcome, detail } => {
                self.end_arguments(*step, out);
                if let Some(call) = self.calls.take_open_call(*step) {
                    self.write_result_or_keep_unanswered(
                        *step,
                        call,
                        *outcome,
                        detail.as_deref(),
                        out,
                    );
                }
            }
            Event::AskOpened { .. } => self.write_ask(event, out),
            Event::AskResolved { ask, answer, .. } => {
                AgUi::write_custom(Custom::AskResolved { id: ask, answer }, out);
            }
            // Not of a tool, or without a form in this protocol.
            Event::ImageReceived { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    fn write_arguments_delta(&mut self, step: StepId, delta: &str, out: PayloadSink<'_>) {
        let Some(call) = self.calls.find_open_call_mut(step) else { return };
        if !delta.is_empty() {
            json::write_payload(&event::Event::ToolCallArgs { tool_call_id: &call.id, delta }, out);
            if let Some(arguments) = self.client_thread.find_arguments_mut(step) {
                arguments.push_str(delta);
            }
        }
    }

    fn replace_arguments(&mut self, step: StepId, text: &str, out: PayloadSink<'_>) {
        let Some(call) =
            self.calls.find_open_call_mut(step).filter(|call| call.is_receiving_arguments())
        else {
            return;
        };
        match call.replace_arguments(text) {
            ArgumentsChange::Grew(start) => {
                self.write_arguments_delta(step, text.get(start..).unwrap_or_default(), out);
            }
            ArgumentsChange::Replaced => {
                if let Some(arguments) = self.client_thread.find_arguments_mut(step) {
                    text.clone_into(arguments);
                }
                self.resend_thread_or_mark_stale(out);
            }
        }
    }

    fn end_arguments(&mut self, step: StepId, out: PayloadSink<'_>) {
        if let Some(call) =
            self.calls.find_open_call_mut(step).filter(|call| call.is_receiving_arguments())
        {
            call.stage = CallStage::Called;
            json::write_payload(&event::Event::ToolCallEnd { tool_call_id: &call.id }, out);
        }
    }

    fn write_result_or_keep_unanswered(
        &mut self,
        step: StepId,
        call: ToolCall,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: PayloadSink<'_>,
    ) {
        match outcome {
            ToolOutcome::Succeeded => self.write_result(step, &call.id, &call.output, out),
            ToolOutcome::Failed => {
                self.write_result(step, &call.id, &call.failure_text(detail), out);
            }
            ToolOutcome::Denied => self.write_result(step, &call.id, detail.unwrap_or(DENIED), out),
            ToolOutcome::Cut => self.write_result(step, &call.id, CUT, out),
            ToolOutcome::NoResult => self.unanswered.push((step, call.id)),
        }
    }

    fn write_result(&mut self, step: StepId, call: &str, content: &str, out: PayloadSink<'_>) {
        let message_id = format!("{}-result", self.step_id(step));
        let result = event::Event::ToolCallResult {
            message_id: &message_id,
            tool_call_id: call,
            content,
            role: "tool",
        };
        json::write_payload(&result, out);
        self.client_thread.push_result(step, message_id, call.to_owned(), content.to_owned());
    }

    /// Writes a result for a withdrawn call: without one the client would consider the call its
    /// own.
    pub(super) fn end_call_as_withdrawn(&mut self, step: StepId, out: PayloadSink<'_>) {
        self.end_arguments(step, out);
        let open_id = self.calls.take_open_call(step).map(|call| call.id);
        let at = self.unanswered.iter().position(|(pending_step, _)| *pending_step == step);
        let unanswered_id = at.map(|at| self.unanswered.swap_remove(at).1);
        if let Some(id) = open_id.or(unanswered_id) {
            self.write_result(step, &id, WITHDRAWN, out);
        }
    }

    /// Closes all calls. Returns those that a completed run leaves for the client to answer.
    pub(super) fn end_calls_and_take_client_calls(
        &mut self,
        ending: &Ending<'_>,
        out: PayloadSink<'_>,
    ) -> Vec<String> {
        for step in self.calls.steps_of_open_calls() {
            let is_cut = self
                .calls
                .find_open_call_mut(step)
                .is_some_and(|call| call.is_receiving_arguments());
            self.end_arguments(step, out);
            let Some(call) = self.calls.take_open_call(step) else { continue };
            let outcome = if is_cut { ToolOutcome::Cut } else { ToolOutcome::NoResult };
            self.write_result_or_keep_unanswered(step, call, outcome, None, out);
        }
        let unanswered = std::mem::take(&mut self.unanswered);
        if ending.outcome == Outcome::Completed {
            return unanswered.into_iter().map(|(_, id)| id).collect();
        }
        for (step, id) in unanswered {
            self.write_result(step, &id, NO_RESULT, out);
        }
        Vec::new()
    }

    fn write_ask(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        let Event::AskOpened { ask, kind, text, options, step, digest, expires_at_ms } = event
        else {
            return;
        };
        let call = step.and_then(|step| self.calls.find_open_call_mut(step));
        let custom = Custom::Ask {
            id: ask,
            kind: *kind,
            text,
            options,
            tool_call_id: call.as_ref().map(|call| &*call.id),
            digest: digest.as_deref(),
            expires_at: *expires_at_ms,
        };
        AgUi::write_custom(custom, out);
    }
}
