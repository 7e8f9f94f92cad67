//! Tools and asks. A call's input is whole before its output or an approval is spoken of, and within
//! the step it began in: the client looks for it nowhere else.

use engine::event::{AskKind, AskOption, Ending, Event, Outcome, StepId, ToolOutcome};

use super::AiSdk;
use super::journal::Owner;
use super::part::{Ask, Part, Progress, ToolFacts};
use crate::compat::call::{Call, Change, Stage};
use crate::compat::{Out, json};

const NO_RESULT: &str = "The run ended before a result was seen.";
const CUT: &str = "The run ended in the middle of the arguments.";
const WITHDRAWN: &str = "The call was withdrawn.";

/// An ask that is no approval of a call: it stays in the message, first without its answer.
#[derive(Clone, Debug)]
pub(super) struct Question {
    id: String,
    kind: AskKind,
    text: String,
    options: Vec<AskOption<'static>>,
}

impl AiSdk {
    pub(super) fn tool(&mut self, event: &Event<'_>, out: Out<'_>) {
        match event {
            Event::ToolStarted { .. } => self.start_call(event, out),
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self.calls.get(*step).filter(|call| call.is_arguing()) {
                    call.arguments.push_str(text);
                    self.input_delta(*step, text, out);
                }
            }
            Event::ArgumentsReplaced { step, text } => self.replace_arguments(*step, text, out),
            Event::ToolReady { step } => self.settle(*step, out),
            Event::ToolProgressed { step, text } => {
                if let Some(call) = self.calls.get(*step) {
                    let data = Progress { tool_call_id: &call.id, text };
                    json::say(&Part::DataProgress { data, transient: true }, out);
                }
            }
            Event::OutputAppended { step, text } => {
                if let Some(call) = self.calls.get(*step) {
                    call.output.push_str(text);
                }
            }
            Event::ToolEnded { step, outcome, detail } => {
                self.end_call(*step, *outcome, detail.as_deref(), out);
            }
            Event::AskOpened { .. } => self.ask(event, out),
            Event::AskResolved { ask, answer, .. } => self.answer(ask, answer, out),
            _ => {}
        }
    }

    fn start_call(&mut self, event: &Event<'_>, out: Out<'_>) {
        let Event::ToolStarted { step, name, kind, server, parent, .. } = event else { return };
        let parent = parent.and_then(|parent| self.calls.id(parent)).map(str::to_owned);
        let Some(id) = self.calls.start(event).map(|call| call.id.clone()) else { return };
        let facts =
            ToolFacts { kind: kind.as_str(), server: server.as_deref(), parent: parent.as_deref() };
        let part = Part::ToolInputStart {
            tool_call_id: &id,
            tool_name: name,
            provider_executed: true,
            dynamic: true,
            tool_metadata: Some(facts),
        };
        self.begin_part(Owner::Step(*step), &part, out);
    }

    fn input_delta(&mut self, step: StepId, delta: &str, out: Out<'_>) {
        let Some(id) = self.calls.get(step).map(|call| call.id.clone()) else { return };
        let part = Part::ToolInputDelta { tool_call_id: &id, input_text_delta: delta };
        self.say(Some(Owner::Step(step)), &part, out);
    }

    /// A second start empties the input; then it is sent again.
    fn replace_arguments(&mut self, step: StepId, text: &str, out: Out<'_>) {
        let Some(call) = self.calls.get(step).filter(|call| call.is_arguing()) else { return };
        match call.replace(text) {
            Change::Grew(from) => {
                let delta = text.get(from..).filter(|delta| !delta.is_empty());
                if let Some(delta) = delta {
                    self.input_delta(step, delta, out);
                }
            }
            Change::Changed => {
                let (id, name) = (call.id.clone(), call.name.clone());
                let part = Part::ToolInputStart {
                    tool_call_id: &id,
                    tool_name: &name,
                    provider_executed: true,
                    dynamic: true,
                    tool_metadata: None,
                };
                self.say(Some(Owner::Step(step)), &part, out);
                self.input_delta(step, text, out);
            }
        }
    }

    /// Says the input whole, once.
    fn settle(&mut self, step: StepId, out: Out<'_>) {
        let Some(call) = self.calls.get(step).filter(|call| call.is_arguing()) else { return };
        call.stage = Stage::Called;
        let (id, name, input) = (call.id.clone(), call.name.clone(), json::value(&call.arguments));
        let part = Part::ToolInputAvailable {
            tool_call_id: &id,
            tool_name: &name,
            input: &input,
            provider_executed: true,
            dynamic: true,
        };
        self.say(Some(Owner::Step(step)), &part, out);
    }

    /// Before another step begins, in which the client would not find these calls.
    pub(super) fn settle_arguments(&mut self, out: Out<'_>) {
        for step in self.calls.open() {
            self.settle(step, out);
        }
    }

    fn end_call(&mut self, step: StepId, outcome: ToolOutcome, detail: Option<&str>, out: Out<'_>) {
        if outcome == ToolOutcome::Cut {
            if let Some(call) = self.calls.end(step) {
                self.cut(step, &call, out);
            }
            return;
        }
        self.settle(step, out);
        let Some(call) = self.calls.end(step) else { return };
        match outcome {
            ToolOutcome::Succeeded => {
                let part = Part::ToolOutputAvailable {
                    tool_call_id: &call.id,
                    output: &json::output(&call.output),
                    provider_executed: true,
                    dynamic: true,
                };
                self.say(Some(Owner::Step(step)), &part, out);
            }
            ToolOutcome::Denied => {
                let part = Part::ToolOutputDenied { tool_call_id: &call.id };
                self.say(Some(Owner::Step(step)), &part, out);
            }
            ToolOutcome::NoResult => self.unanswered.push((step, call.id)),
            ToolOutcome::Failed | ToolOutcome::Cut => {
                self.fail(Some(Owner::Step(step)), &call.id, &call.failure(detail), out);
            }
        }
    }

    fn cut(&mut self, step: StepId, call: &Call, out: Out<'_>) {
        if call.stage == Stage::Called {
            return self.fail(Some(Owner::Step(step)), &call.id, CUT, out);
        }
        let part = Part::ToolInputError {
            tool_call_id: &call.id,
            tool_name: &call.name,
            input: &json::value(&call.arguments),
            provider_executed: true,
            dynamic: true,
            error_text: CUT,
        };
        self.say(Some(Owner::Step(step)), &part, out);
    }

    fn fail(&mut self, owner: Option<Owner>, id: &str, error_text: &str, out: Out<'_>) {
        let part = Part::ToolOutputError {
            tool_call_id: id,
            error_text,
            provider_executed: true,
            dynamic: true,
        };
        self.say(owner, &part, out);
    }

    pub(super) fn withdraw_call(&mut self, step: StepId, out: Out<'_>) {
        self.settle(step, out);
        let open = self.calls.end(step).map(|call| call.id);
        let at = self.unanswered.iter().position(|(of, _)| *of == step);
        let unanswered = at.map(|at| self.unanswered.swap_remove(at).1);
        if let Some(id) = open.or(unanswered) {
            self.fail(Some(Owner::Step(step)), &id, WITHDRAWN, out);
        }
    }

    /// Nothing is left waiting. Only a completed run may have calls without results: it asks for
    /// them.
    pub(super) fn end_calls(&mut self, ending: &Ending<'_>, out: Out<'_>) {
        for step in self.calls.open() {
            let Some(call) = self.calls.end(step) else { continue };
            match call.stage {
                Stage::Arguments => self.cut(step, &call, out),
                Stage::Called => self.unanswered.push((step, call.id)),
            }
        }
        let unanswered = std::mem::take(&mut self.unanswered);
        if ending.outcome != Outcome::Completed {
            for (_, id) in unanswered {
                self.fail(None, &id, NO_RESULT, out);
            }
        }
    }

    fn ask(&mut self, event: &Event<'_>, out: Out<'_>) {
        let Event::AskOpened { ask, kind, text, options, step, digest, .. } = event else { return };
        let facts = Ask { kind: *kind, text, options, digest: digest.as_deref(), answer: None };
        let is_approval = !matches!(kind, AskKind::Followup | AskKind::Other);
        let step = step.filter(|step| is_approval && self.calls.get(*step).is_some());
        if let Some(step) = step {
            self.settle(step, out);
            let Some(id) = self.calls.get(step).map(|call| call.id.clone()) else { return };
            let part = Part::ToolApprovalRequest {
                approval_id: ask,
                tool_call_id: &id,
                approval_descriptor: facts,
            };
            return self.say(Some(Owner::Step(step)), &part, out);
        }
        self.say(None, &Part::DataAsk { id: ask, data: facts }, out);
        self.asks.push(Question {
            id: ask.clone().into_owned(),
            kind: *kind,
            text: text.clone().into_owned(),
            options: options.iter().cloned().map(AskOption::into_owned).collect(),
        });
    }

    fn answer(&mut self, ask: &str, answer: &str, out: Out<'_>) {
        let Some(at) = self.asks.iter().position(|asked| asked.id == ask) else { return };
        let asked = self.asks.swap_remove(at);
        let data = Ask {
            kind: asked.kind,
            text: &asked.text,
            options: &asked.options,
            digest: None,
            answer: Some(answer),
        };
        self.say(None, &Part::DataAsk { id: ask, data }, out);
    }
}
