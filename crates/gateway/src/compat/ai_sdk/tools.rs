//! Tools and asks. A call's input is complete before its output or an approval is written, and
//! within the step it began in, because the client looks for it only there.

use millpond_engine::event::{AskKind, AskOption, Ending, Event, Outcome, StepId, ToolOutcome};
use millpond_engine::event_family;

use super::AiSdk;
use super::part::{Ask, Part, Progress, ToolMetadata};
use super::step_journal::PartOwner;
use crate::compat::tool_calls::{ArgumentsChange, CallStage, ToolCall};
use crate::compat::{PayloadSink, json};

const NO_RESULT: &str = "The run ended before a result was seen.";
const CUT: &str = "The run ended in the middle of the arguments.";
const WITHDRAWN: &str = "The call was withdrawn.";

/// An ask that is not the approval of a call: a data part, first written without its answer.
#[derive(Clone, Debug)]
pub(super) struct OpenAsk {
    id: String,
    kind: AskKind,
    text: String,
    options: Vec<AskOption<'static>>,
}

impl AiSdk {
    pub(super) fn apply_tool_or_ask_event(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        match event {
            Event::ToolStarted { .. } => self.start_call(event, out),
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self
                    .calls
                    .find_open_call_mut(*step)
                    .filter(|call| call.is_receiving_arguments())
                {
                    call.arguments.push_str(text);
                    self.write_input_delta(*step, text, out);
                }
            }
            Event::ArgumentsReplaced { step, text } => self.replace_arguments(*step, text, out),
            Event::ToolReady { step } => self.end_arguments_and_write_input(*step, out),
            Event::ToolProgressed { step, text } => {
                if let Some(call) = self.calls.find_open_call_mut(*step) {
                    let data = Progress { tool_call_id: &call.id, text };
                    json::write_payload(&Part::DataProgress { data, transient: true }, out);
                }
            }
            Event::OutputAppended { step, text } => self.calls.append_output(*step, text),
            Event::OutputReplaced { step, text } => self.calls.replace_output(*step, text),
            Event::ToolEnded { step, outcome, detail } => {
                self.end_call_or_keep_unanswered(*step, *outcome, detail.as_deref(), out);
            }
            Event::AskOpened { .. } => self.write_ask_as_approval_or_data(event, out),
            Event::AskResolved { ask, answer, .. } => {
                self.write_ask_answer_unless_approval(ask, answer, out);
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

    fn start_call(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        let Event::ToolStarted { step, name, kind, server, parent, .. } = event else { return };
        let parent = parent.and_then(|parent| self.calls.call_id(parent)).map(str::to_owned);
        let Some(id) = self.calls.record_started_call(event).map(|call| call.id.clone()) else {
            return;
        };
        let metadata = ToolMetadata {
            kind: kind.as_str(),
            server: server.as_deref(),
            parent: parent.as_deref(),
        };
        let part = Part::ToolInputStart {
            tool_call_id: &id,
            tool_name: name,
            provider_executed: true,
            dynamic: true,
            tool_metadata: Some(metadata),
        };
        self.write_part_and_mark_owner_begun(PartOwner::Step(*step), &part, out);
    }

    fn write_input_delta(&mut self, step: StepId, delta: &str, out: PayloadSink<'_>) {
        let Some(id) = self.calls.find_open_call_mut(step).map(|call| call.id.clone()) else {
            return;
        };
        let part = Part::ToolInputDelta { tool_call_id: &id, input_text_delta: delta };
        self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
    }

    /// Replaces the arguments. Writes what was added; else a second start, which empties the input,
    /// and all of it again.
    fn replace_arguments(&mut self, step: StepId, text: &str, out: PayloadSink<'_>) {
        let Some(call) =
            self.calls.find_open_call_mut(step).filter(|call| call.is_receiving_arguments())
        else {
            return;
        };
        match call.replace_arguments(text) {
            ArgumentsChange::Grew(start) => {
                let delta = text.get(start..).filter(|delta| !delta.is_empty());
                if let Some(delta) = delta {
                    self.write_input_delta(step, delta, out);
                }
            }
            ArgumentsChange::Replaced => {
                let (id, name) = (call.id.clone(), call.name.clone());
                let part = Part::ToolInputStart {
                    tool_call_id: &id,
                    tool_name: &name,
                    provider_executed: true,
                    dynamic: true,
                    tool_metadata: None,
                };
                self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
                self.write_input_delta(step, text, out);
            }
        }
    }

    /// Writes the complete input, once.
    fn end_arguments_and_write_input(&mut self, step: StepId, out: PayloadSink<'_>) {
        let Some(call) =
            self.calls.find_open_call_mut(step).filter(|call| call.is_receiving_arguments())
        else {
            return;
        };
        call.stage = CallStage::Called;
        let (id, name, input) =
            (call.id.clone(), call.name.clone(), json::arguments_to_json(&call.arguments));
        let part = Part::ToolInputAvailable {
            tool_call_id: &id,
            tool_name: &name,
            input: &input,
            provider_executed: true,
            dynamic: true,
        };
        self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
    }

    /// Completes all inputs before another step begins, where the client would not find these
    /// calls.
    pub(super) fn end_all_arguments(&mut self, out: PayloadSink<'_>) {
        for step in self.calls.steps_of_open_calls() {
            self.end_arguments_and_write_input(step, out);
        }
    }

    fn end_call_or_keep_unanswered(
        &mut self,
        step: StepId,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: PayloadSink<'_>,
    ) {
        if outcome == ToolOutcome::Cut {
            if let Some(call) = self.calls.take_open_call(step) {
                self.write_cut_call_error(step, &call, out);
            }
            return;
        }
        self.end_arguments_and_write_input(step, out);
        let Some(call) = self.calls.take_open_call(step) else { return };
        match outcome {
            ToolOutcome::Succeeded => {
                let part = Part::ToolOutputAvailable {
                    tool_call_id: &call.id,
                    output: &json::output_to_json(&call.output),
                    provider_executed: true,
                    dynamic: true,
                };
                self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
            }
            ToolOutcome::Denied => {
                let part = Part::ToolOutputDenied { tool_call_id: &call.id };
                self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
            }
            ToolOutcome::NoResult => self.unanswered.push((step, call.id)),
            ToolOutcome::Failed | ToolOutcome::Cut => {
                self.write_output_error(
                    Some(PartOwner::Step(step)),
                    &call.id,
                    &call.failure_text(detail),
                    out,
                );
            }
        }
    }

    fn write_cut_call_error(&mut self, step: StepId, call: &ToolCall, out: PayloadSink<'_>) {
        if call.stage == CallStage::Called {
            return self.write_output_error(Some(PartOwner::Step(step)), &call.id, CUT, out);
        }
        let part = Part::ToolInputError {
            tool_call_id: &call.id,
            tool_name: &call.name,
            input: &json::arguments_to_json(&call.arguments),
            provider_executed: true,
            dynamic: true,
            error_text: CUT,
        };
        self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
    }

    fn write_output_error(
        &mut self,
        owner: Option<PartOwner>,
        id: &str,
        error_text: &str,
        out: PayloadSink<'_>,
    ) {
        let part = Part::ToolOutputError {
            tool_call_id: id,
            error_text,
            provider_executed: true,
            dynamic: true,
        };
        self.write_resendable_part(owner, &part, out);
    }

    pub(super) fn end_call_as_withdrawn(&mut self, step: StepId, out: PayloadSink<'_>) {
        self.end_arguments_and_write_input(step, out);
        let open_id = self.calls.take_open_call(step).map(|call| call.id);
        let at = self.unanswered.iter().position(|(pending_step, _)| *pending_step == step);
        let unanswered_id = at.map(|at| self.unanswered.swap_remove(at).1);
        if let Some(id) = open_id.or(unanswered_id) {
            self.write_output_error(Some(PartOwner::Step(step)), &id, WITHDRAWN, out);
        }
    }

    /// Ends all calls. Only a completed run may leave calls without a result, for the client.
    pub(super) fn end_calls(&mut self, ending: &Ending<'_>, out: PayloadSink<'_>) {
        for step in self.calls.steps_of_open_calls() {
            let Some(call) = self.calls.take_open_call(step) else { continue };
            match call.stage {
                CallStage::ReceivingArguments => self.write_cut_call_error(step, &call, out),
                CallStage::Called => self.unanswered.push((step, call.id)),
            }
        }
        let unanswered = std::mem::take(&mut self.unanswered);
        if ending.outcome != Outcome::Completed {
            for (_, id) in unanswered {
                self.write_output_error(None, &id, NO_RESULT, out);
            }
        }
    }

    fn write_ask_as_approval_or_data(&mut self, event: &Event<'_>, out: PayloadSink<'_>) {
        let Event::AskOpened { ask, kind, text, options, step, digest, .. } = event else { return };
        let ask_data = Ask { kind: *kind, text, options, digest: digest.as_deref(), answer: None };
        let is_approval = !matches!(kind, AskKind::Followup | AskKind::Other);
        let step =
            step.filter(|step| is_approval && self.calls.find_open_call_mut(*step).is_some());
        if let Some(step) = step {
            self.end_arguments_and_write_input(step, out);
            let Some(id) = self.calls.find_open_call_mut(step).map(|call| call.id.clone()) else {
                return;
            };
            let part = Part::ToolApprovalRequest {
                approval_id: ask,
                tool_call_id: &id,
                approval_descriptor: ask_data,
            };
            return self.write_resendable_part(Some(PartOwner::Step(step)), &part, out);
        }
        self.write_resendable_part(None, &Part::DataAsk { id: ask, data: ask_data }, out);
        self.open_asks.push(OpenAsk {
            id: ask.clone().into_owned(),
            kind: *kind,
            text: text.clone().into_owned(),
            options: options.iter().cloned().map(AskOption::into_owned).collect(),
        });
    }

    fn write_ask_answer_unless_approval(&mut self, ask: &str, answer: &str, out: PayloadSink<'_>) {
        let Some(at) = self.open_asks.iter().position(|open_ask| open_ask.id == ask) else {
            return;
        };
        let open_ask = self.open_asks.swap_remove(at);
        let data = Ask {
            kind: open_ask.kind,
            text: &open_ask.text,
            options: &open_ask.options,
            digest: None,
            answer: Some(answer),
        };
        self.write_resendable_part(None, &Part::DataAsk { id: ask, data }, out);
    }
}
