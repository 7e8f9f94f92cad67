//! `assistant` and `user` lines: whole blocks, tool results and prompts.

use std::borrow::Cow;

use crate::event::{
    NoticeLevel, ReasoningOrigin, StopReason, ToolOutcome, UnrecognisedReason, Usage,
};
use crate::ingest::dialect::Unreadable;
use crate::ingest::dialect::anthropic::{parse_usage, write_result_output};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, array_elements, as_string, is_true, object};
use crate::run::{Fingerprint, Interruption, Writer};

use super::seen_blocks::ShowDecision;
use super::{
    BlockFields, CurrentRound, MessageFields, ROUND_LINES_MAX, RepeatMatching, StreamJson,
    StreamLine,
};

/// Model name on texts that the agent, not the model, wrote.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Start of the user text that the agent writes when it is interrupted.
const INTERRUPTION_PREFIX: &str = "[Request interrupted by user";

object! { ResultFields { kind = "type", call = "tool_use_id", content, is_error; skip _ } }

impl StreamJson {
    /// Applies an `assistant` line: whole blocks, usage and stop reason.
    pub(super) fn apply_assistant_line(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let message = line.message.ok_or(Unreadable)?;
        if let Some(uuid) = &line.uuid
            && !self.seen_lines.insert(uuid, message.get())
        {
            return Ok(());
        }
        let message = MessageFields::from_raw(message).ok_or(Unreadable)?;
        out.append_unknown_fields_once(&message.unknown);
        let MessageFields { id, model, content, usage, stop_reason, stop_details, .. } = message;
        let id = id.and_then(as_string).unwrap_or_default();
        let blocks = content.map(array_elements).unwrap_or_default();
        if let Some(parent) = line.parent.as_deref() {
            self.apply_sub_agent_blocks(parent, &id, &blocks, frame, out);
            return Ok(());
        }
        let model = model.and_then(as_string);
        if model.as_deref() == Some(SYNTHETIC_MODEL) {
            self.write_synthetic_notice_or_hold_error(line, &blocks, out);
            return Ok(());
        }
        if self.is_any_line_in_round(line.supersedes) {
            self.withdraw_open_round(out);
        }
        for raw in blocks {
            self.apply_whole_block(&id, model.as_deref(), raw, out);
        }
        self.update_usage_unless_streamed(&id, usage, stop_reason, out);
        if let Some(reason) = stop_reason.and_then(as_string) {
            self.record_stop_or_fail_run(&reason, stop_details, out);
        }
        if let Some(uuid) = &line.uuid
            && self.round.line_fingerprints.len() < ROUND_LINES_MAX
        {
            self.round.line_fingerprints.push(Fingerprint::from_text(uuid));
        }
        Ok(())
    }

    /// Writes text that the agent wrote in the model's name as a notice; holds an error until
    /// `result`.
    fn write_synthetic_notice_or_hold_error(
        &mut self,
        line: &StreamLine<'_>,
        blocks: &[&RawValue],
        out: &mut Writer<'_>,
    ) {
        let failed = line.error.is_some() || line.is_api_error.is_some_and(is_true);
        for raw in blocks {
            if failed {
                self.pending_error.hold_error_and_write_previous(&block_text(raw), out);
            } else {
                out.append_notice(NoticeLevel::Info, &block_text(raw));
            }
        }
    }

    /// True if any of these line ids belongs to the open round.
    pub(super) fn is_any_line_in_round(&self, uuids: Option<&RawValue>) -> bool {
        uuids.map(array_elements).unwrap_or_default().iter().any(|uuid| {
            as_string(uuid).is_some_and(|uuid| {
                self.round.line_fingerprints.contains(&Fingerprint::from_text(&uuid))
            })
        })
    }

    /// Writes the part of a whole block that was not streamed.
    fn apply_whole_block(
        &mut self,
        id: &str,
        model: Option<&str>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        let BlockFields { kind, call, text, input, thinking, .. } =
            BlockFields::from_raw(raw).unwrap_or_default();
        let kind = kind.and_then(as_string).unwrap_or_default();
        let call = call.and_then(as_string).unwrap_or_default();
        let text = match text.or(thinking).map(as_string) {
            Some(None) if matches!(kind.as_ref(), "text" | "thinking") => {
                out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
                return;
            }
            text => text.flatten().unwrap_or_default(),
        };
        let known = match self.variant.repeat_matching {
            RepeatMatching::ById => self.seen_blocks.find_message_setting_id("", id),
            RepeatMatching::ByPosition => {
                self.seen_blocks.find_streaming_or_awaiting_message("", &kind)
            }
        };
        let show = if let Some(message) = known {
            message.match_and_record_whole_block(&kind, &call, &text)
        } else {
            self.ensure_round_for_whole_block(id, model, out);
            self.seen_blocks
                .add_whole_message("", id)
                .match_and_record_whole_block(&kind, &call, &text)
        };
        match show {
            ShowDecision::Nothing => {}
            ShowDecision::SuffixFrom(at) if kind == "text" => append_unshown_text(&text, at, out),
            ShowDecision::SuffixFrom(at) => {
                out.append_reasoning(&text[at..], ReasoningOrigin::Native);
            }
            ShowDecision::MissedPrefix(at) => restore_prefix_or_write_notice(&text, at, out),
            ShowDecision::ContentOnly if kind == "tool_use" => {
                let step = out.find_open_tool(&call);
                if let (Some(step), Some(input)) = (step, input.filter(|input| input.get() != "{}"))
                {
                    out.replace_arguments_if_changed(step, input.get());
                }
            }
            ShowDecision::All | ShowDecision::ContentOnly | ShowDecision::Different => {
                if show == ShowDecision::Different
                    && self.variant.repeat_matching == RepeatMatching::ByPosition
                {
                    self.ensure_round_for_whole_block(id, model, out);
                }
                if kind == "text" {
                    out.close_message_and_set_next_phase(None);
                }
                self.reply.apply_whole_block(raw, out);
                if kind == "text" {
                    out.close_message_and_defer_end();
                }
            }
        }
    }

    /// Opens a round for a whole block, unless it continues the open one.
    fn ensure_round_for_whole_block(
        &mut self,
        id: &str,
        model: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        let goes_on = out.has_open_round()
            && match self.variant.repeat_matching {
                RepeatMatching::ById => self.round.id == Fingerprint::from_text(id),
                RepeatMatching::ByPosition => !self.round.has_tool_result,
            };
        if !goes_on {
            self.end_round_and_set_next_id(id, out);
            out.start_round_or_end_run(model, Some(id).filter(|id| !id.is_empty()));
        }
    }

    /// Writes the usage of a whole message that was not streamed.
    fn update_usage_unless_streamed(
        &mut self,
        id: &str,
        usage: Option<&RawValue>,
        stop_reason: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(usage) = usage.map(parse_usage) else { return };
        let usage = match self.variant.repeat_matching {
            RepeatMatching::ById
                if self
                    .seen_blocks
                    .find_message_setting_id("", id)
                    .is_some_and(|message| message.is_streamed()) =>
            {
                return;
            }
            // Output tokens are not final before the reply has stopped.
            RepeatMatching::ById if stop_reason.is_none() => Usage { output_tokens: None, ..usage },
            RepeatMatching::ByPosition if usage.output_tokens == Some(0) => return,
            RepeatMatching::ById | RepeatMatching::ByPosition => usage,
        };
        if out.has_open_round() {
            out.update_or_emit_round_usage(usage);
        }
    }

    /// Applies a `user` line: tool results and prompts.
    pub(super) fn apply_user_line(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let message = line.message.ok_or(Unreadable)?;
        let content = MessageFields::from_raw(message).ok_or(Unreadable)?.content;
        let Some(content) = content else { return Ok(()) };
        if let Some(text) = as_string(content) {
            self.apply_user_text_unless_sub_agent(line, &text, out);
            return Ok(());
        }
        if let Some(parent) = line.parent.as_deref()
            && out.find_open_tool(parent).is_none()
        {
            out.append_unrecognised(UnrecognisedReason::Late, frame.data);
            return Ok(());
        }
        let refused = line.result_meta.map(parse_refused_calls).unwrap_or_default();
        for raw in array_elements(content) {
            let ResultFields { kind, call, content, is_error } =
                ResultFields::from_raw(raw).unwrap_or_default();
            let call = call.and_then(as_string);
            match (kind.and_then(as_string).as_deref(), call) {
                (Some("tool_result"), Some(call)) => {
                    self.round.has_tool_result |= line.parent.is_none();
                    let outcome = match (self.asks.take_denial_of_call(&call), is_error) {
                        (Some(denied), _) => (ToolOutcome::Denied, denied.reason),
                        (None, _) if refused.contains(&call) => (ToolOutcome::Denied, None),
                        (None, Some(error)) if is_true(error) => (ToolOutcome::Failed, None),
                        (None, _) => (ToolOutcome::Succeeded, None),
                    };
                    self.write_result_and_end_call(&call, content, outcome, out);
                }
                (Some("text"), _) => {
                    self.apply_user_text_unless_sub_agent(line, &block_text(raw), out);
                }
                (kind, _) if line.parent.is_none() => {
                    let kind = kind.unwrap_or("something");
                    out.append_notice(NoticeLevel::Info, &format!("user attached: {kind}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the output of a call and ends it.
    fn write_result_and_end_call(
        &mut self,
        call: &str,
        content: Option<&RawValue>,
        (outcome, words): (ToolOutcome, Option<String>),
        out: &mut Writer<'_>,
    ) {
        let Some(step) = out.find_open_tool(call) else {
            if let Some(content) = content {
                out.append_unrecognised(UnrecognisedReason::Late, content.get());
            }
            return;
        };
        if let Some(content) = content
            && !self.sub_agents.try_write_agent_result_and_forget(step, content, out)
        {
            write_result_output(step, content, out);
        }
        self.sub_agents.forget_step(step);
        out.end_tool_if_open(step, outcome, words.as_deref());
    }
}

impl CurrentRound {
    /// Stop reason, or `Tools` if a tool result arrived.
    pub(super) fn reported_or_inferred_stop(&self) -> Option<StopReason> {
        self.stop.or(self.has_tool_result.then_some(StopReason::Tools))
    }

    /// Stop reason of a run that ends without one.
    pub(super) fn non_tool_stop_or_end(&self) -> StopReason {
        self.stop.filter(|stop| *stop != StopReason::Tools).unwrap_or(StopReason::End)
    }
}

/// Writes the rest of a text that was written up to `at` and whose message is open.
fn append_unshown_text(text: &str, at: usize, out: &mut Writer<'_>) {
    if out.remembered_text_equals(&text[..at]) {
        out.append_or_rewrite_cumulative_text(text);
    } else {
        out.append_text(&text[at..]);
    }
}

/// Writes the first `at` bytes, which were missed, by replacing the open text; as a notice if the
/// text is not open.
fn restore_prefix_or_write_notice(text: &str, at: usize, out: &mut Writer<'_>) {
    if out.remembered_text_equals(&text[at..]) {
        out.append_or_rewrite_cumulative_text(text);
        out.close_message_and_defer_end();
    } else {
        let missed = &text[..at];
        out.append_notice(NoticeLevel::Info, &format!("joined the stream after: {missed}"));
    }
}

/// Parses the calls whose permission was denied.
fn parse_refused_calls(meta: &RawValue) -> Vec<Cow<'_, str>> {
    object! { MetaFields { id, decision = "permission_decision"; skip _ } }
    object! { Decision { decision; skip _ } }
    let refused = array_elements(meta).into_iter().filter_map(|raw| {
        let MetaFields { id, decision } = MetaFields::from_raw(raw)?;
        let decision = as_string(Decision::from_raw(decision?)?.decision?)?;
        if matches!(decision.as_ref(), "reject" | "deny") { as_string(id?) } else { None }
    });
    refused.collect()
}

/// Text of a block, or empty.
pub(super) fn block_text(raw: &RawValue) -> Cow<'_, str> {
    let text = BlockFields::from_raw(raw).and_then(|block| block.text);
    text.and_then(as_string).unwrap_or_default()
}

impl StreamJson {
    /// Writes text of a `user` line as prompt, notice or interruption.
    fn apply_user_text_unless_sub_agent(
        &mut self,
        line: &StreamLine<'_>,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if line.parent.is_some() {
            // The prompt of a sub-agent is in the arguments of its call.
        } else if text.starts_with(INTERRUPTION_PREFIX) {
            self.is_interrupted = true;
            out.end_text_and_report_interruption(Interruption::ReplyStopped);
            out.append_notice(NoticeLevel::Warning, text);
        } else if line.is_synthetic.is_some_and(is_true) {
            out.append_notice(NoticeLevel::Info, text);
        } else {
            self.is_interrupted = false;
            out.append_prompt_unless_finish_requested(text);
        }
    }
}
