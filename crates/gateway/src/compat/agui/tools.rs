//! Tool calls, their results, and asks.

use engine::event::{Ending, Event, Outcome, StepId, ToolOutcome};

use super::AgUi;
use super::event::{self, Custom};
use crate::compat::call::{Call, Change, Stage};
use crate::compat::{Out, json};

const NO_RESULT: &str = "The run ended before a result was seen.";
const CUT: &str = "The run ended in the middle of the arguments.";
const DENIED: &str = "The call was denied.";
const WITHDRAWN: &str = "The call was withdrawn.";

impl AgUi {
    pub(super) fn tool(&mut self, event: &Event<'_>, out: Out<'_>) {
        match event {
            Event::ToolStarted { step, name, .. } => {
                let Some(id) = self.calls.start(event).map(|call| call.id.clone()) else { return };
                let start = event::Event::ToolCallStart { tool_call_id: &id, tool_call_name: name };
                json::say(&start, out);
                self.told.start_call(*step, id, name.clone().into_owned());
            }
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self.calls.get(*step).filter(|call| call.is_arguing()) {
                    call.arguments.push_str(text);
                    self.arguments(*step, text, out);
                }
            }
            Event::ArgumentsReplaced { step, text } => self.replace_arguments(*step, text, out),
            Event::ToolReady { step } => self.settle(*step, out),
            Event::ToolProgressed { step, text } => {
                if let Some(call) = self.calls.get(*step) {
                    AgUi::custom(Custom::Progress { tool_call_id: &call.id, text }, out);
                }
            }
            Event::OutputAppended { step, text } => {
                if let Some(call) = self.calls.get(*step) {
                    call.output.push_str(text);
                }
            }
            Event::ToolEnded { step, outcome, detail } => {
                self.settle(*step, out);
                if let Some(call) = self.calls.end(*step) {
                    self.end_call(*step, call, *outcome, detail.as_deref(), out);
                }
            }
            Event::AskOpened { .. } => self.ask(event, out),
            Event::AskResolved { ask, answer, .. } => {
                AgUi::custom(Custom::AskResolved { id: ask, answer }, out);
            }
            _ => {}
        }
    }

    fn arguments(&mut self, step: StepId, delta: &str, out: Out<'_>) {
        let Some(call) = self.calls.get(step) else { return };
        if !delta.is_empty() {
            json::say(&event::Event::ToolCallArgs { tool_call_id: &call.id, delta }, out);
            if let Some(arguments) = self.told.arguments(step) {
                arguments.push_str(delta);
            }
        }
    }

    fn replace_arguments(&mut self, step: StepId, text: &str, out: Out<'_>) {
        let Some(call) = self.calls.get(step).filter(|call| call.is_arguing()) else { return };
        match call.replace(text) {
            Change::Grew(from) => self.arguments(step, text.get(from..).unwrap_or_default(), out),
            Change::Changed => {
                if let Some(arguments) = self.told.arguments(step) {
                    text.clone_into(arguments);
                }
                self.retell(out);
            }
        }
    }

    fn settle(&mut self, step: StepId, out: Out<'_>) {
        if let Some(call) = self.calls.get(step).filter(|call| call.is_arguing()) {
            call.stage = Stage::Called;
            json::say(&event::Event::ToolCallEnd { tool_call_id: &call.id }, out);
        }
    }

    fn end_call(
        &mut self,
        step: StepId,
        call: Call,
        outcome: ToolOutcome,
        detail: Option<&str>,
        out: Out<'_>,
    ) {
        match outcome {
            ToolOutcome::Succeeded => self.result(step, &call.id, &call.output, out),
            ToolOutcome::Failed => self.result(step, &call.id, &call.failure(detail), out),
            ToolOutcome::Denied => self.result(step, &call.id, detail.unwrap_or(DENIED), out),
            ToolOutcome::Cut => self.result(step, &call.id, CUT, out),
            ToolOutcome::NoResult => self.unanswered.push((step, call.id)),
        }
    }

    fn result(&mut self, step: StepId, call: &str, content: &str, out: Out<'_>) {
        let message_id = format!("{}-result", self.step_id(step));
        let result = event::Event::ToolCallResult {
            message_id: &message_id,
            tool_call_id: call,
            content,
            role: "tool",
        };
        json::say(&result, out);
        self.told.result(step, message_id, call.to_owned(), content.to_owned());
    }

    /// A call without a result is one the client would think is left to it.
    pub(super) fn withdraw_call(&mut self, step: StepId, out: Out<'_>) {
        self.settle(step, out);
        let open = self.calls.end(step).map(|call| call.id);
        let at = self.unanswered.iter().position(|(of, _)| *of == step);
        let unanswered = at.map(|at| self.unanswered.swap_remove(at).1);
        if let Some(id) = open.or(unanswered) {
            self.result(step, &id, WITHDRAWN, out);
        }
    }

    /// Closes all calls. Those that a completed run left for the client to answer are returned.
    pub(super) fn end_calls(&mut self, ending: &Ending<'_>, out: Out<'_>) -> Vec<String> {
        for step in self.calls.open() {
            let is_cut = self.calls.get(step).is_some_and(|call| call.is_arguing());
            self.settle(step, out);
            let Some(call) = self.calls.end(step) else { continue };
            let outcome = if is_cut { ToolOutcome::Cut } else { ToolOutcome::NoResult };
            self.end_call(step, call, outcome, None, out);
        }
        let unanswered = std::mem::take(&mut self.unanswered);
        if ending.outcome == Outcome::Completed {
            return unanswered.into_iter().map(|(_, id)| id).collect();
        }
        for (step, id) in unanswered {
            self.result(step, &id, NO_RESULT, out);
        }
        Vec::new()
    }

    fn ask(&mut self, event: &Event<'_>, out: Out<'_>) {
        let Event::AskOpened { ask, kind, text, options, step, digest, expires_at_ms } = event
        else {
            return;
        };
        let call = step.and_then(|step| self.calls.get(step));
        let custom = Custom::Ask {
            id: ask,
            kind: *kind,
            text,
            options,
            tool_call_id: call.as_ref().map(|call| &*call.id),
            digest: digest.as_deref(),
            expires_at: *expires_at_ms,
        };
        AgUi::custom(custom, out);
    }
}
