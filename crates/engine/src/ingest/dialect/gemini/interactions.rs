//! The Interactions API: an interaction is a list of steps, each with a start, deltas and a stop.
//!
//! A whole interaction lists its steps (formerly `outputs`) in one object.

use crate::event::{FailureReason, StepId, StopReason, ToolOutcome, UnrecognisedReason};
use crate::ingest::dialect::Unreadable;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_string, is_true, object, string_or_json,
};
use crate::run::Writer;

use super::super::shared::bounded::OpenBlocks;
use super::interaction_content::{
    Item, start_tool_call, write_citations, write_content_piece, write_prompts,
    write_thought_piece, write_thought_summary,
};
use super::report_error_and_end_text;
use super::usage::parse_interaction_usage;

/// State of one Interactions stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Interactions {
    open_steps: OpenBlocks<StepKind>,
    /// Steps were streamed, so a final list of them repeats them.
    has_streamed_steps: bool,
}

/// Kind of an open step, with the state it needs until its stop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StepKind {
    Thought {
        has_text: bool,
    },
    Output,
    Call {
        step: StepId,
    },
    Result {
        step: StepId,
        outcome: ToolOutcome,
    },
    /// Its deltas are ignored.
    Ignored,
}

object! { FramePayload {
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

object! { Interaction { id, model, agent, status, usage, steps, outputs, error; skip _ } }

impl Interactions {
    /// Applies one frame by its `event_type`.
    pub(super) fn push_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let line: FramePayload<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        let index = line.index.unwrap_or(0);
        match line.event.as_deref().unwrap_or("") {
            "step.delta" | "content.delta" => {
                let delta = line.delta.ok_or(Unreadable)?;
                self.has_streamed_steps = true;
                self.apply_delta(index, delta, out)?;
            }
            "step.start" | "content.start" => {
                let step = line.step.or(line.content).ok_or(Unreadable)?;
                self.has_streamed_steps = true;
                self.open_step_and_write_content(index, step, out)?;
            }
            "step.stop" | "content.stop" => self.stop_step(index, out),
            "interaction.created" | "interaction.start" => {
                self.reset_and_start_interaction(line.interaction.ok_or(Unreadable)?, out)?;
            }
            "interaction.completed" | "interaction.complete" => {
                self.write_unstreamed_steps_and_report_end(
                    line.interaction.ok_or(Unreadable)?,
                    out,
                )?;
            }
            "interaction.status_update" => {
                if let Some(status @ ("failed" | "cancelled")) = line.status.as_deref() {
                    report_end_or_refusal_by_status(status, None, out);
                }
            }
            "error" if let Some(error) = line.error => report_error_and_end_text(error, out),
            "" if line.object.as_deref() == Some("interaction") => {
                let whole: &RawValue = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
                self.reset_and_start_interaction(whole, out)?;
                self.write_unstreamed_steps_and_report_end(whole, out)?;
            }
            "" if let Some(error) = line.error => report_error_and_end_text(error, out),
            _ => {
                out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
                return Ok(());
            }
        }
        out.append_unknown_fields_once(&line.unknown);
        Ok(())
    }

    /// Resets the state and starts a round for an interaction.
    fn reset_and_start_interaction(
        &mut self,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let Interaction { id, model, agent, .. } = Interaction::from_raw(raw).ok_or(Unreadable)?;
        *self = Interactions::default();
        let [id, model] = [id, model.or(agent)].map(|member| member.and_then(as_string));
        let filled = |text: &&str| !text.is_empty();
        out.start_round_or_end_run(model.as_deref().filter(filled), id.as_deref().filter(filled));
        Ok(())
    }

    /// Writes the steps of an interaction that was not streamed, its usage and its status.
    fn write_unstreamed_steps_and_report_end(
        &mut self,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let Interaction { status, usage, steps, outputs, error, .. } =
            Interaction::from_raw(raw).ok_or(Unreadable)?;
        if !self.has_streamed_steps {
            for step in steps.or(outputs).map(array_elements).unwrap_or_default() {
                const WHOLE: u64 = u64::MAX;
                self.open_step_and_write_content(WHOLE, step, out)?;
                self.stop_step(WHOLE, out);
            }
        }
        self.open_steps.clear();
        if let Some(usage) = usage {
            out.update_or_emit_round_usage(parse_interaction_usage(usage));
        }
        report_end_or_refusal_by_status(
            &status.and_then(as_string).unwrap_or_default(),
            error,
            out,
        );
        Ok(())
    }

    /// Opens the step at `index` and writes its initial content.
    fn open_step_and_write_content(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let item = Item::from_raw(raw).ok_or(Unreadable)?;
        out.append_unknown_fields_once(&item.unknown);
        let Item { kind, content, summary, id, call_id, name, server_name, arguments, .. } = item;
        let kind = kind.and_then(as_string).unwrap_or_default();
        let kind = match kind.as_ref() {
            "thought" => {
                out.close_reasoning_and_defer_end();
                let said = summary.is_some_and(|summary| write_thought_summary(summary, out));
                StepKind::Thought { has_text: said }
            }
            "model_output" => {
                for piece in content.map(array_elements).unwrap_or_default() {
                    write_content_piece(piece, out)?;
                }
                StepKind::Output
            }
            "text" | "image" => {
                write_content_piece(raw, out)?;
                StepKind::Output
            }
            "user_input" => {
                write_prompts(content, out);
                StepKind::Ignored
            }
            _ if kind.ends_with("_call") => {
                let step = start_tool_call(&kind, [id, name, server_name, arguments], out);
                StepKind::Call { step }
            }
            _ if kind.ends_with("_result") => {
                find_result_step_or_write_unrecognised(call_id, raw, out)
            }
            _ => {
                out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                StepKind::Ignored
            }
        };
        self.open_steps.insert(index, kind);
        if let StepKind::Result { .. } = kind {
            self.append_result_and_record_failure(index, item.result, item.is_error, out);
        }
        Ok(())
    }

    /// Applies a delta to the open step at `index`.
    fn apply_delta(
        &mut self,
        index: u64,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let item = Item::from_raw(raw).ok_or(Unreadable)?;
        out.append_unknown_fields_once(&item.unknown);
        let Item { kind, content, annotations, arguments, result, is_error, .. } = item;
        let partial = item.partial_arguments;
        let kind = kind.and_then(as_string).unwrap_or_default();
        match kind.as_ref() {
            "text" | "image" => write_content_piece(raw, out)?,
            "thought_summary" => {
                let said = content.is_some_and(|content| write_thought_piece(content, out));
                if let Some(StepKind::Thought { has_text: before }) = self.open_steps.get_mut(index)
                {
                    *before |= said;
                }
            }
            "thought_signature" => {}
            "text_annotation_delta" | "text_annotation" => write_citations(annotations, out),
            "arguments_delta"
                if let Some(&mut StepKind::Call { step }) = self.open_steps.get_mut(index) =>
            {
                if let Some(arguments) = arguments.or(partial) {
                    out.append_arguments(step, &string_or_json(arguments));
                }
            }
            _ if kind.ends_with("_call")
                && let Some(&mut StepKind::Call { step }) = self.open_steps.get_mut(index) =>
            {
                if let Some(arguments) = arguments {
                    out.replace_arguments_if_changed(step, arguments.get());
                }
            }
            _ if kind.ends_with("_result")
                && let Some(StepKind::Result { .. }) = self.open_steps.get_mut(index) =>
            {
                self.append_result_and_record_failure(index, result, is_error, out);
            }
            // Its step was never started, or has stopped.
            "arguments_delta" => out.append_unrecognised(UnrecognisedReason::Late, raw.get()),
            _ if kind.ends_with("_call") || kind.ends_with("_result") => {
                out.append_unrecognised(UnrecognisedReason::Late, raw.get());
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
        Ok(())
    }

    /// Appends output to the open result step, and records its failure.
    fn append_result_and_record_failure(
        &mut self,
        index: u64,
        result: Option<&RawValue>,
        is_error: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(StepKind::Result { step, outcome }) = self.open_steps.get_mut(index) else {
            return;
        };
        if is_error.is_some_and(is_true) {
            *outcome = ToolOutcome::Failed;
        }
        if let Some(result) = result {
            out.append_output_if_open(*step, &string_or_json(result));
        }
    }

    /// Closes the step at `index` and ends its reasoning, call or result.
    fn stop_step(&mut self, index: u64, out: &mut Writer<'_>) {
        let Some(step) = self.open_steps.remove(index) else { return };
        match step {
            StepKind::Thought { has_text: true } => out.close_reasoning_and_defer_end(),
            StepKind::Thought { has_text: false } => out.append_redacted_reasoning(),
            StepKind::Call { step } => out.emit_tool_ready_once(step),
            StepKind::Result { step, outcome } => out.end_tool_if_open(step, outcome, None),
            StepKind::Output | StepKind::Ignored => {}
        }
    }
}

/// Returns the kind for a result step. If its call is unknown, writes it as unrecognised and
/// returns `Ignored`.
fn find_result_step_or_write_unrecognised(
    call: Option<&RawValue>,
    raw: &RawValue,
    out: &mut Writer<'_>,
) -> StepKind {
    let step = call.and_then(as_string).and_then(|call| out.find_open_tool(&call));
    if step.is_none() {
        out.append_unrecognised(UnrecognisedReason::Late, raw.get());
    }
    let outcome = ToolOutcome::Succeeded;
    step.map_or(StepKind::Ignored, |step| StepKind::Result { step, outcome })
}

/// Completes, cancels or fails the run according to an interaction's status.
fn report_end_or_refusal_by_status(status: &str, error: Option<&RawValue>, out: &mut Writer<'_>) {
    match status {
        "completed" => out.report_completed_unless_failed(StopReason::End),
        "requires_action" => out.report_completed_unless_failed(StopReason::Tools),
        "incomplete" => out.report_completed_unless_failed(StopReason::Length),
        "budget_exceeded" => {
            out.report_failed_and_end_text(FailureReason::Limit, "budget exceeded");
        }
        "cancelled" => out.report_cancelled_and_end_text("interaction cancelled"),
        "failed" => match error {
            Some(error) => report_error_and_end_text(error, out),
            None => out.report_failed_and_end_text(FailureReason::Error, "interaction failed"),
        },
        "in_progress" => {}
        _ => out.report_completed_unless_failed(StopReason::Other),
    }
}
