//! The Interactions API: an interaction is a list of steps, each with a start, deltas and a stop.
//!
//! A whole interaction lists its steps (or `outputs`, as it used to) in one object.

use crate::event::{FailureReason, StepId, Stop, ToolOutcome, UnrecognisedReason};
use crate::ingest::dialect::Unreadable;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, object, string, string_or_json,
};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::Writer;

use super::content::{ITEM, cite, content_piece, prompt, start_call, think, think_piece};
use super::fail_with;
use super::usage::interaction_usage;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Interactions {
    open: Vec<OpenStep>,
    /// Steps have come one by one; a list of them says nothing new.
    streamed: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenStep {
    index: u64,
    kind: StepKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StepKind {
    Thought {
        said: bool,
    },
    Output,
    Call {
        step: StepId,
    },
    Result {
        step: StepId,
        outcome: ToolOutcome,
    },
    /// Nothing that it says counts.
    Closed,
}

object! { Line {
    event: Text<'a> = "event_type",
    index: u64 = "index",
    step: &'a RawValue = "step",
    content: &'a RawValue = "content",
    delta: &'a RawValue = "delta",
    interaction: &'a RawValue = "interaction",
    status: Text<'a> = "status",
    error: &'a RawValue = "error",
    object: Text<'a> = "object",
    ; skip "event_id" | "interaction_id" | "metadata" | "id" | "model" | "agent" | "steps"
        | "outputs" | "usage" | "created" | "updated" | "service_tier" | "role"
        | "previous_interaction_id" | "environment_id"
} }

const INTERACTION: Shape<8> = Shape {
    read: ["id", "model", "agent", "status", "usage", "steps", "outputs", "error"],
    skip: &[],
};

impl Interactions {
    pub(super) fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        let index = line.index.unwrap_or(0);
        match line.event.as_deref().unwrap_or("") {
            "step.delta" | "content.delta" => {
                let delta = line.delta.ok_or(Unreadable)?;
                self.streamed = true;
                self.delta(index, delta, out)?;
            }
            "step.start" | "content.start" => {
                let step = line.step.or(line.content).ok_or(Unreadable)?;
                self.streamed = true;
                self.start_step(index, step, out)?;
            }
            "step.stop" | "content.stop" => self.stop_step(index, out),
            "interaction.created" | "interaction.start" => {
                self.begin(line.interaction.ok_or(Unreadable)?, out)?;
            }
            "interaction.completed" | "interaction.complete" => {
                self.complete(line.interaction.ok_or(Unreadable)?, out)?;
            }
            "interaction.status_update" => {
                if let Some(status @ ("failed" | "cancelled")) = line.status.as_deref() {
                    end(status, None, out);
                }
            }
            "error" if let Some(error) = line.error => fail_with(error, out),
            "" if line.object.as_deref() == Some("interaction") => {
                let whole: &RawValue = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
                self.begin(whole, out)?;
                self.complete(whole, out)?;
            }
            "" if let Some(error) = line.error => fail_with(error, out),
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, frame.data);
                return Ok(());
            }
        }
        out.unknown_fields(&line.unknown);
        Ok(())
    }

    fn begin(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let [id, model, agent, ..] = INTERACTION.read(raw.get()).ok_or(Unreadable)?.read;
        *self = Interactions::default();
        let [id, model] = [id, model.or(agent)].map(|member| member.and_then(string));
        let filled = |text: &&str| !text.is_empty();
        out.round(model.as_deref().filter(filled), id.as_deref().filter(filled));
        Ok(())
    }

    fn complete(&mut self, raw: &RawValue, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let [_, _, _, status, usage, steps, outputs, error] =
            INTERACTION.read(raw.get()).ok_or(Unreadable)?.read;
        if !self.streamed {
            for step in steps.or(outputs).map(elements).unwrap_or_default() {
                const WHOLE: u64 = u64::MAX;
                self.start_step(WHOLE, step, out)?;
                self.stop_step(WHOLE, out);
            }
        }
        self.open.clear();
        if let Some(usage) = usage {
            out.round_usage(interaction_usage(usage));
        }
        end(&status.and_then(string).unwrap_or_default(), error, out);
        Ok(())
    }

    fn start_step(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let item = ITEM.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&item.unknown);
        let [kind, _, content, summary, _, id, call, name, server, arguments, ..] = item.read;
        let kind = kind.and_then(string).unwrap_or_default();
        let kind = match kind.as_ref() {
            "thought" => {
                out.end_reasoning();
                let said = summary.is_some_and(|summary| think(summary, out));
                StepKind::Thought { said }
            }
            "model_output" => {
                for piece in content.map(elements).unwrap_or_default() {
                    content_piece(piece, out)?;
                }
                StepKind::Output
            }
            "text" | "image" => {
                content_piece(raw, out)?;
                StepKind::Output
            }
            "user_input" => {
                prompt(content, out);
                StepKind::Closed
            }
            _ if kind.ends_with("_call") => {
                let step = start_call(&kind, [id, name, server, arguments], out);
                StepKind::Call { step }
            }
            _ if kind.ends_with("_result") => start_result(call, raw, out),
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                StepKind::Closed
            }
        };
        self.open_step(index, kind);
        if let StepKind::Result { .. } = kind {
            self.result(index, item.read[11], item.read[12], out);
        }
        Ok(())
    }

    fn delta(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let item = ITEM.read(raw.get()).ok_or(Unreadable)?;
        out.unknown_fields(&item.unknown);
        let [kind, _, content, _, annotations, ..] = item.read;
        let [.., arguments, partial, result, is_error, _, _, _] = item.read;
        let kind = kind.and_then(string).unwrap_or_default();
        match kind.as_ref() {
            "text" | "image" => content_piece(raw, out)?,
            "thought_summary" => {
                let said = content.is_some_and(|content| think_piece(content, out));
                if let Some(StepKind::Thought { said: before }) = self.step(index) {
                    *before |= said;
                }
            }
            "thought_signature" => {}
            "text_annotation_delta" | "text_annotation" => cite(annotations, out),
            "arguments_delta" if let Some(&mut StepKind::Call { step }) = self.step(index) => {
                if let Some(arguments) = arguments.or(partial) {
                    out.arguments(step, &string_or_json(arguments));
                }
            }
            _ if kind.ends_with("_call")
                && let Some(&mut StepKind::Call { step }) = self.step(index) =>
            {
                if let Some(arguments) = arguments {
                    out.whole_arguments(step, arguments.get());
                }
            }
            _ if kind.ends_with("_result")
                && let Some(StepKind::Result { .. }) = self.step(index) =>
            {
                self.result(index, result, is_error, out);
            }
            // Its step never began, or is over.
            "arguments_delta" => out.unrecognised(UnrecognisedReason::Late, raw.get()),
            _ if kind.ends_with("_call") || kind.ends_with("_result") => {
                out.unrecognised(UnrecognisedReason::Late, raw.get());
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
        Ok(())
    }

    fn result(
        &mut self,
        index: u64,
        result: Option<&RawValue>,
        is_error: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(StepKind::Result { step, outcome }) = self.step(index) else {
            return;
        };
        if is_error.is_some_and(is_true) {
            *outcome = ToolOutcome::Failed;
        }
        if let Some(result) = result {
            out.output(*step, &string_or_json(result));
        }
    }

    fn open_step(&mut self, index: u64, kind: StepKind) {
        self.open.retain(|step| step.index != index);
        if OPEN_TOOLS_MAX <= self.open.len() {
            self.open.remove(0);
        }
        self.open.push(OpenStep { index, kind });
    }

    fn step(&mut self, index: u64) -> Option<&mut StepKind> {
        let step = self.open.iter_mut().find(|step| step.index == index)?;
        Some(&mut step.kind)
    }

    fn stop_step(&mut self, index: u64, out: &mut Writer<'_>) {
        let Some(at) = self.open.iter().position(|step| step.index == index) else {
            return;
        };
        match self.open.remove(at).kind {
            StepKind::Thought { said: true } => out.end_reasoning(),
            StepKind::Thought { said: false } => out.redacted_reasoning(),
            StepKind::Call { step } => out.ready(step),
            StepKind::Result { step, outcome } => out.end_tool(step, outcome, None),
            StepKind::Output | StepKind::Closed => {}
        }
    }
}

fn start_result(call: Option<&RawValue>, raw: &RawValue, out: &mut Writer<'_>) -> StepKind {
    let step = call.and_then(string).and_then(|call| out.step_of(&call));
    if step.is_none() {
        out.unrecognised(UnrecognisedReason::Late, raw.get());
    }
    let outcome = ToolOutcome::Succeeded;
    step.map_or(StepKind::Closed, |step| StepKind::Result { step, outcome })
}

fn end(status: &str, error: Option<&RawValue>, out: &mut Writer<'_>) {
    match status {
        "completed" => out.complete(Stop::End),
        "requires_action" => out.complete(Stop::Tools),
        "incomplete" => out.complete(Stop::Length),
        "budget_exceeded" => out.fail(FailureReason::Limit, "the budget was spent"),
        "cancelled" => out.cancelled("the interaction was cancelled"),
        "failed" => match error {
            Some(error) => fail_with(error, out),
            None => out.fail(FailureReason::Error, "the interaction failed"),
        },
        "in_progress" => {}
        _ => out.complete(Stop::Other),
    }
}
