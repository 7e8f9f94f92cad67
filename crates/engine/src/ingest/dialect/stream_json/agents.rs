//! Sub-agents: what they say is output of the tool that started them, what they call is below it.

use crate::event::{StepId, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, elements, string};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{Fingerprint, ToolStart, Writer};

use super::heard::Show;
use super::whole::block_text;
use super::{BLOCK, Event, StreamJson};

/// The sub-agents whose tool is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Agents {
    open: Vec<Agent>,
}

#[derive(Clone, Debug, PartialEq)]
struct Agent {
    step: StepId,
    /// The last text it said: the tool's result is usually the same.
    said: Fingerprint,
    /// Its call whose arguments are being streamed.
    calling: Option<(u64, StepId)>,
}

impl Agents {
    fn of(&mut self, step: StepId) -> &mut Agent {
        let at = self.open.iter().rposition(|agent| agent.step == step).unwrap_or_else(|| {
            // Their tools end in the order of their age, too, when there are too many.
            if OPEN_TOOLS_MAX <= self.open.len() {
                self.open.remove(0);
            }
            self.open.push(Agent { step, said: Fingerprint::default(), calling: None });
            self.open.len() - 1
        });
        &mut self.open[at]
    }

    /// The call of this step is over.
    pub(super) fn forget(&mut self, step: StepId) {
        self.open.retain(|agent| agent.step != step);
    }

    /// Puts out what a sub-agent's tool reports, without repeating its last words; `false` if the
    /// tool has no sub-agent that spoke.
    pub(super) fn report(
        &mut self,
        step: StepId,
        content: &RawValue,
        out: &mut Writer<'_>,
    ) -> bool {
        let Some(at) = self.open.iter().position(|agent| agent.step == step) else { return false };
        let mut agent = self.open.remove(at);
        let parts = elements(content).into_iter().map(block_text);
        for text in string(content).into_iter().chain(parts) {
            if !Fingerprint::of(&text).same_text(&agent.said) {
                agent.begin_text(out);
                out.output(step, &text);
            }
        }
        true
    }
}

impl Agent {
    /// Sets a text apart from the one before it.
    fn begin_text(&mut self, out: &mut Writer<'_>) {
        if !self.said.is_empty() {
            out.output(self.step, "\n");
        }
        self.said = Fingerprint::default();
    }

    fn text(&mut self, text: &str, out: &mut Writer<'_>) {
        self.said.push(text);
        out.output(self.step, text);
    }
}

impl StreamJson {
    /// Something a sub-agent streams. Its reasoning has no place in a tool's output.
    pub(super) fn agent_event(
        &mut self,
        parent: &str,
        event: &Event<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let Some(step) = out.step_of(parent) else {
            out.unrecognised(UnrecognisedReason::Late, frame.data);
            return;
        };
        let index = event.index.unwrap_or(0);
        match event.kind.as_deref().unwrap_or("") {
            "message_start" => {
                let id = event.message.and_then(|raw| BLOCK.read(raw.get())?.read[1]);
                self.heard.start(parent, &id.and_then(string).unwrap_or_default());
            }
            "message_stop" => self.heard.stop(parent),
            "content_block_start" if self.block_start(parent, event, out) == Show::Yes => {
                if let Some(raw) = event.block {
                    self.agent_block(step, raw, Some(index), out);
                }
            }
            "content_block_delta" if self.block_delta(parent, event) == Show::Yes => {
                let Some(delta) = &event.delta else { return };
                let agent = self.agents.of(step);
                if let Some(text) = &delta.text {
                    agent.text(text, out);
                } else if let Some(json) = &delta.partial_json
                    && let Some((_, call)) = agent.calling.filter(|(at, _)| *at == index)
                {
                    out.arguments(call, json);
                }
            }
            "content_block_stop" => {
                self.heard.streaming(parent).stop(index);
                if let Some((_, call)) = self.agents.of(step).calling.take() {
                    out.ready(call);
                }
            }
            _ => {}
        }
    }

    /// Blocks a sub-agent sends whole.
    pub(super) fn agent_blocks(
        &mut self,
        parent: &str,
        id: &str,
        blocks: &[&RawValue],
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) {
        let Some(step) = out.step_of(parent) else {
            out.unrecognised(UnrecognisedReason::Late, frame.data);
            return;
        };
        for &raw in blocks {
            let [kind, call, text, _, _, thinking] =
                BLOCK.read(raw.get()).map_or([None; 6], |block| block.read);
            let kind = kind.and_then(string).unwrap_or_default();
            let call = call.and_then(string).unwrap_or_default();
            let text = text.or(thinking).and_then(string).unwrap_or_default();
            let known = match self.habits.repeats {
                super::Repeats::ById => self.heard.of_id(parent, id),
                super::Repeats::ByPlace => self.heard.of_stream(parent, &kind),
            };
            let show = match known {
                Some(message) => message.whole(&kind, &call, &text),
                None => self.heard.start_whole(parent, id).whole(&kind, &call, &text),
            };
            match show {
                Show::No | Show::Missed(_) => {}
                Show::From(at) if kind == "text" => {
                    self.agents.of(step).text(&text[at..], out);
                }
                Show::From(_) | Show::Yes | Show::Content | Show::Other => {
                    self.agent_block(step, raw, None, out);
                }
            }
        }
    }

    /// A block of a sub-agent: at `index` if it is streamed, else whole.
    fn agent_block(
        &mut self,
        step: StepId,
        raw: &RawValue,
        index: Option<u64>,
        out: &mut Writer<'_>,
    ) {
        let Some(block) = BLOCK.read(raw.get()) else { return };
        let [kind, call, _, name, input, _] = block.read;
        let text_of = |raw: Option<_>| raw.and_then(string).unwrap_or_default();
        let agent = self.agents.of(step);
        match text_of(kind).as_ref() {
            "text" => {
                agent.begin_text(out);
                agent.text(&block_text(raw), out);
            }
            "tool_use" => {
                let (call, name) = (text_of(call), text_of(name));
                let tool = (self.habits.tool.0)(&call, &name);
                let nested = out
                    .step_of(&call)
                    .unwrap_or_else(|| out.tool(ToolStart { parent: Some(step), ..tool }));
                if let Some(input) = input.filter(|input| input.get() != "{}") {
                    out.whole_arguments(nested, input.get());
                }
                match index {
                    Some(index) => agent.calling = Some((index, nested)),
                    None => out.ready(nested),
                }
            }
            _ => {}
        }
    }
}
