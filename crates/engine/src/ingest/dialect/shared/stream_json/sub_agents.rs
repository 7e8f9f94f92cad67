//! Sub-agents: their text is output of the tool that started them, their calls are below it.

use crate::event::{StepId, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, array_elements, as_string};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{Fingerprint, ToolStart, Writer};

use super::seen_blocks::ShowDecision;
use super::whole_blocks::block_text;
use super::{BlockFields, StreamEvent, StreamJson};

/// Sub-agents whose tool is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SubAgents {
    open: Vec<SubAgent>,
}

/// One sub-agent.
#[derive(Clone, Debug, PartialEq)]
struct SubAgent {
    step: StepId,
    /// Its last text, which the tool's result usually repeats.
    last_text: Fingerprint,
    /// Block index and step of the call whose arguments are streaming.
    streaming_call: Option<(u64, StepId)>,
}

impl SubAgents {
    /// The sub-agent of a step; opens one if there is none.
    fn get_or_open(&mut self, step: StepId) -> &mut SubAgent {
        let at = self.open.iter().rposition(|agent| agent.step == step).unwrap_or_else(|| {
            // The run machine also ends the oldest tools first when there are too many.
            if OPEN_TOOLS_MAX <= self.open.len() {
                self.open.remove(0);
            }
            self.open.push(SubAgent {
                step,
                last_text: Fingerprint::default(),
                streaming_call: None,
            });
            self.open.len() - 1
        });
        &mut self.open[at]
    }

    /// Drops the sub-agent of a step.
    pub(super) fn forget_step(&mut self, step: StepId) {
        self.open.retain(|agent| agent.step != step);
    }

    /// Writes the result of a sub-agent's tool without repeating its last text, and drops the
    /// sub-agent; returns false if the tool has none.
    pub(super) fn try_write_agent_result_and_forget(
        &mut self,
        step: StepId,
        content: &RawValue,
        out: &mut Writer<'_>,
    ) -> bool {
        let Some(at) = self.open.iter().position(|agent| agent.step == step) else { return false };
        let mut agent = self.open.remove(at);
        let parts = array_elements(content).into_iter().map(block_text);
        for text in as_string(content).into_iter().chain(parts) {
            if !Fingerprint::from_text(&text).is_same_trimmed_text(&agent.last_text) {
                agent.write_separator_and_forget_last_text(out);
                out.append_output_if_open(step, &text);
            }
        }
        true
    }
}

impl SubAgent {
    /// Writes a line break if a text came before, and forgets that text.
    fn write_separator_and_forget_last_text(&mut self, out: &mut Writer<'_>) {
        if !self.last_text.is_blank() {
            out.append_output_if_open(self.step, "\n");
        }
        self.last_text = Fingerprint::default();
    }

    /// Writes text as output of the tool.
    fn write_text_as_output(&mut self, text: &str, out: &mut Writer<'_>) {
        self.last_text.push(text);
        out.append_output_if_open(self.step, text);
    }
}

impl StreamJson {
    /// Applies a stream event of a sub-agent; ignores its reasoning.
    pub(super) fn apply_sub_agent_event(
        &mut self,
        parent: &str,
        event: &StreamEvent<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let Some(step) = out.find_open_tool(parent) else {
            out.append_unrecognised(UnrecognisedReason::Late, frame.data);
            return;
        };
        let index = event.index.unwrap_or(0);
        match event.kind.as_deref().unwrap_or("") {
            "message_start" => {
                let id = event.message.and_then(|raw| BlockFields::from_raw(raw)?.call);
                self.seen_blocks.record_streamed_message_start(
                    parent,
                    &id.and_then(as_string).unwrap_or_default(),
                );
            }
            "message_stop" => self.seen_blocks.mark_stream_stopped(parent),
            "content_block_start"
                if self.record_block_start_ending_previous_message(parent, event, out)
                    == ShowDecision::All =>
            {
                if let Some(raw) = event.block {
                    self.write_sub_agent_block(step, raw, Some(index), out);
                }
            }
            "content_block_delta"
                if self.record_delta_and_decide_if_new(parent, event) == ShowDecision::All =>
            {
                let Some(delta) = &event.delta else { return };
                let agent = self.sub_agents.get_or_open(step);
                if let Some(text) = &delta.text {
                    agent.write_text_as_output(text, out);
                } else if let Some(json) = &delta.partial_json
                    && let Some((_, call)) = agent.streaming_call.filter(|(at, _)| *at == index)
                {
                    out.append_arguments(call, json);
                }
            }
            "content_block_stop" => {
                self.seen_blocks
                    .ensure_streaming_message(parent)
                    .record_stop_and_detect_text_end(index);
                if let Some((_, call)) = self.sub_agents.get_or_open(step).streaming_call.take() {
                    out.emit_tool_ready_once(call);
                }
            }
            _ => {}
        }
    }

    /// Applies whole blocks of a sub-agent.
    pub(super) fn apply_sub_agent_blocks(
        &mut self,
        parent: &str,
        id: &str,
        blocks: &[&RawValue],
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let Some(step) = out.find_open_tool(parent) else {
            out.append_unrecognised(UnrecognisedReason::Late, frame.data);
            return;
        };
        for &raw in blocks {
            let BlockFields { kind, call, text, thinking, .. } =
                BlockFields::from_raw(raw).unwrap_or_default();
            let kind = kind.and_then(as_string).unwrap_or_default();
            let call = call.and_then(as_string).unwrap_or_default();
            let text = text.or(thinking).and_then(as_string).unwrap_or_default();
            let known = match self.variant.repeat_matching {
                super::RepeatMatching::ById => self.seen_blocks.find_message_setting_id(parent, id),
                super::RepeatMatching::ByPosition => {
                    self.seen_blocks.find_streaming_or_awaiting_message(parent, &kind)
                }
            };
            let show = match known {
                Some(message) => message.match_and_record_whole_block(&kind, &call, &text),
                None => self
                    .seen_blocks
                    .add_whole_message(parent, id)
                    .match_and_record_whole_block(&kind, &call, &text),
            };
            match show {
                ShowDecision::Nothing | ShowDecision::MissedPrefix(_) => {}
                ShowDecision::SuffixFrom(at) if kind == "text" => {
                    self.sub_agents.get_or_open(step).write_text_as_output(&text[at..], out);
                }
                ShowDecision::SuffixFrom(_)
                | ShowDecision::All
                | ShowDecision::ContentOnly
                | ShowDecision::Different => {
                    self.write_sub_agent_block(step, raw, None, out);
                }
            }
        }
    }

    /// Writes a block of a sub-agent: streamed at `index`, or whole.
    fn write_sub_agent_block(
        &mut self,
        step: StepId,
        raw: &RawValue,
        index: Option<u64>,
        out: &mut Writer<'_>,
    ) {
        let Some(block) = BlockFields::from_raw(raw) else { return };
        let BlockFields { kind, call, name, input, .. } = block;
        let text_of = |raw: Option<_>| raw.and_then(as_string).unwrap_or_default();
        let agent = self.sub_agents.get_or_open(step);
        match text_of(kind).as_ref() {
            "text" => {
                agent.write_separator_and_forget_last_text(out);
                agent.write_text_as_output(&block_text(raw), out);
            }
            "tool_use" => {
                let (call, name) = (text_of(call), text_of(name));
                let tool = (self.variant.tool_start.0)(&call, &name);
                let nested = out
                    .find_open_tool(&call)
                    .unwrap_or_else(|| out.start_tool(ToolStart { parent: Some(step), ..tool }));
                if let Some(input) = input.filter(|input| input.get() != "{}") {
                    out.replace_arguments_if_changed(nested, input.get());
                }
                match index {
                    Some(index) => agent.streaming_call = Some((index, nested)),
                    None => out.emit_tool_ready_once(nested),
                }
            }
            _ => {}
        }
    }
}
