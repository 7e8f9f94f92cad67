//! Lines that carry whole blocks: what the agent said, what its tools answered, what a person wrote.

use std::borrow::Cow;

use crate::event::{Level, ReasoningOrigin, Stop, ToolOutcome, UnrecognisedReason, Usage};
use crate::ingest::dialect::Unreadable;
use crate::ingest::dialect::anthropic::{result_output, usage_of};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, elements, is_true, string};
use crate::run::{Fingerprint, Writer};

use super::heard::Show;
use super::{BLOCK, Line, MESSAGE, ROUND_LINES_MAX, Repeats, Round, StreamJson};

/// The model that error texts and other words of the agent's own are said to come from.
const NO_MODEL: &str = "<synthetic>";

/// What the agent writes in the person's place when the person stops it.
const INTERRUPTION: &str = "[Request interrupted by user";

const RESULT: Shape<4> = Shape { read: ["type", "tool_use_id", "content", "is_error"], skip: &[] };

impl StreamJson {
    pub(super) fn assistant(
        &mut self,
        line: &Line<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let message = line.message.ok_or(Unreadable)?;
        if let Some(uuid) = &line.uuid
            && !self.lines.is_new(uuid, message.get())
        {
            return Ok(());
        }
        let message = MESSAGE.read(message.get()).ok_or(Unreadable)?;
        out.unknown_fields(&message.unknown);
        let [id, model, content, usage, stop_reason, stop_details] = message.read;
        let id = id.and_then(string).unwrap_or_default();
        let blocks = content.map(elements).unwrap_or_default();
        if let Some(parent) = line.parent.as_deref() {
            self.agent_blocks(parent, &id, &blocks, frame, out);
            return Ok(());
        }
        let model = model.and_then(string);
        if model.as_deref() == Some(NO_MODEL) {
            self.own_words(line, &blocks, out);
            return Ok(());
        }
        if self.is_of_round(line.supersedes) {
            self.withdraw(out);
        }
        for raw in blocks {
            self.whole_block(&id, model.as_deref(), raw, out);
        }
        self.whole_usage(&id, usage, stop_reason, out);
        if let Some(reason) = stop_reason.and_then(string) {
            self.stop_round(&reason, stop_details, out);
        }
        if let Some(uuid) = &line.uuid
            && self.round.lines.len() < ROUND_LINES_MAX
        {
            self.round.lines.push(Fingerprint::of(uuid));
        }
        Ok(())
    }

    /// Words of the agent's own that look like the model's. What they mean, `result` tells.
    fn own_words(&mut self, line: &Line<'_>, blocks: &[&RawValue], out: &mut Writer<'_>) {
        let failed = line.error.is_some() || line.is_api_error.is_some_and(is_true);
        for raw in blocks {
            if failed {
                self.error.hold(&block_text(raw), out);
            } else {
                out.notice(Level::Info, &block_text(raw));
            }
        }
    }

    /// Whether lines that are named belong to the open round.
    pub(super) fn is_of_round(&self, uuids: Option<&RawValue>) -> bool {
        uuids.map(elements).unwrap_or_default().iter().any(|uuid| {
            string(uuid).is_some_and(|uuid| self.round.lines.contains(&Fingerprint::of(&uuid)))
        })
    }

    fn whole_block(&mut self, id: &str, model: Option<&str>, raw: &RawValue, out: &mut Writer<'_>) {
        let [kind, call, text, _, input, thinking] =
            BLOCK.read(raw.get()).map_or([None; 6], |block| block.read);
        let kind = kind.and_then(string).unwrap_or_default();
        let call = call.and_then(string).unwrap_or_default();
        let text = match text.or(thinking).map(string) {
            Some(None) if matches!(kind.as_ref(), "text" | "thinking") => {
                out.unrecognised(UnrecognisedReason::Frame, raw.get());
                return;
            }
            text => text.flatten().unwrap_or_default(),
        };
        let known = match self.habits.repeats {
            Repeats::ById => self.heard.of_id("", id),
            Repeats::ByPlace => self.heard.of_stream("", &kind),
        };
        let show = if let Some(message) = known {
            message.whole(&kind, &call, &text)
        } else {
            self.whole_round(id, model, out);
            self.heard.start_whole("", id).whole(&kind, &call, &text)
        };
        match show {
            Show::No => {}
            Show::From(at) if kind == "text" => go_on(&text, at, out),
            Show::From(at) => out.reasoning(&text[at..], ReasoningOrigin::Native),
            Show::Missed(at) => put_right(&text, at, out),
            Show::Content if kind == "tool_use" => {
                let step = out.step_of(&call);
                if let (Some(step), Some(input)) = (step, input.filter(|input| input.get() != "{}"))
                {
                    out.whole_arguments(step, input.get());
                }
            }
            Show::Yes | Show::Content | Show::Other => {
                if show == Show::Other && self.habits.repeats == Repeats::ByPlace {
                    self.whole_round(id, model, out);
                }
                if kind == "text" {
                    out.begin_message(None);
                }
                self.reply.whole_block(raw, out);
                if kind == "text" {
                    out.end_message();
                }
            }
        }
    }

    /// A block of a message that is not streamed opens a round, unless it goes on with one.
    fn whole_round(&mut self, id: &str, model: Option<&str>, out: &mut Writer<'_>) {
        let goes_on = out.in_round()
            && match self.habits.repeats {
                Repeats::ById => self.round.id == Fingerprint::of(id),
                Repeats::ByPlace => !self.round.answered,
            };
        if !goes_on {
            self.begin_round(id, out);
            out.round(model, Some(id).filter(|id| !id.is_empty()));
        }
    }

    fn whole_usage(
        &mut self,
        id: &str,
        usage: Option<&RawValue>,
        stop_reason: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        let Some(usage) = usage.map(usage_of) else { return };
        let usage = match self.habits.repeats {
            Repeats::ById
                if self.heard.of_id("", id).is_some_and(|message| message.is_streamed()) =>
            {
                return;
            }
            // Before the reply has stopped its tokens are not counted.
            Repeats::ById if stop_reason.is_none() => Usage { output_tokens: None, ..usage },
            Repeats::ByPlace if usage.output_tokens == Some(0) => return,
            Repeats::ById | Repeats::ByPlace => usage,
        };
        if out.in_round() {
            out.round_usage(usage);
        }
    }

    pub(super) fn user(
        &mut self,
        line: &Line<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let message = line.message.ok_or(Unreadable)?;
        let content = MESSAGE.read(message.get()).ok_or(Unreadable)?.read[2];
        let Some(content) = content else { return Ok(()) };
        if let Some(text) = string(content) {
            person(line, &text, out);
            return Ok(());
        }
        if let Some(parent) = line.parent.as_deref()
            && out.step_of(parent).is_none()
        {
            out.unrecognised(UnrecognisedReason::Late, frame.data);
            return Ok(());
        }
        let refused = line.result_meta.map(refused_calls).unwrap_or_default();
        for raw in elements(content) {
            let [kind, call, content, is_error] =
                RESULT.read(raw.get()).map_or([None; 4], |result| result.read);
            let call = call.and_then(string);
            match (kind.and_then(string).as_deref(), call) {
                (Some("tool_result"), Some(call)) => {
                    self.round.answered |= line.parent.is_none();
                    let outcome = match (self.asks.take_denied(&call), is_error) {
                        (Some(denied), _) => (ToolOutcome::Denied, denied.words),
                        (None, _) if refused.contains(&call) => (ToolOutcome::Denied, None),
                        (None, Some(error)) if is_true(error) => (ToolOutcome::Failed, None),
                        (None, _) => (ToolOutcome::Succeeded, None),
                    };
                    self.end_call(&call, content, outcome, out);
                }
                (Some("text"), _) => person(line, &block_text(raw), out),
                (kind, _) if line.parent.is_none() => {
                    let kind = kind.unwrap_or("something");
                    out.notice(Level::Info, &format!("the person attached: {kind}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn end_call(
        &mut self,
        call: &str,
        content: Option<&RawValue>,
        (outcome, words): (ToolOutcome, Option<String>),
        out: &mut Writer<'_>,
    ) {
        let Some(step) = out.step_of(call) else {
            if let Some(content) = content {
                out.unrecognised(UnrecognisedReason::Late, content.get());
            }
            return;
        };
        if let Some(content) = content
            && !self.agents.report(step, content, out)
        {
            result_output(step, content, out);
        }
        self.agents.forget(step);
        out.end_tool(step, outcome, words.as_deref());
    }
}

impl Round {
    /// Why it stopped, as far as its lines tell.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.stop.or(self.answered.then_some(Stop::Tools))
    }

    /// How it ended, where nothing more is said about it.
    pub(super) fn stop_or_end(&self) -> Stop {
        self.stop.filter(|stop| *stop != Stop::Tools).unwrap_or(Stop::End)
    }
}

/// The rest of a text that has been shown up to `at`, and whose message is open.
fn go_on(text: &str, at: usize, out: &mut Writer<'_>) {
    if out.has_said(&text[..at]) {
        out.text_so_far(text);
    } else {
        out.text(&text[at..]);
    }
}

/// A text that was joined in its middle; `at` bytes of it were missed.
fn put_right(text: &str, at: usize, out: &mut Writer<'_>) {
    if out.has_said(&text[at..]) {
        out.text_so_far(text);
        out.end_message();
    } else {
        let missed = &text[..at];
        out.notice(Level::Info, &format!("the stream was joined after the words: {missed}"));
    }
}

/// Calls whose permission was not given.
fn refused_calls(meta: &RawValue) -> Vec<Cow<'_, str>> {
    const META: Shape<2> = Shape { read: ["id", "permission_decision"], skip: &[] };
    const DECISION: Shape<1> = Shape { read: ["decision"], skip: &[] };
    let refused = elements(meta).into_iter().filter_map(|raw| {
        let [id, decision] = META.read(raw.get())?.read;
        let decision = string(DECISION.read(decision?.get())?.read[0]?)?;
        if matches!(decision.as_ref(), "reject" | "deny") { string(id?) } else { None }
    });
    refused.collect()
}

pub(super) fn block_text(raw: &RawValue) -> Cow<'_, str> {
    let text = BLOCK.read(raw.get()).and_then(|block| block.read[2]);
    text.and_then(string).unwrap_or_default()
}

fn person(line: &Line<'_>, text: &str, out: &mut Writer<'_>) {
    if line.parent.is_some() {
        // What a sub-agent is told is in the arguments of its call.
    } else if text.starts_with(INTERRUPTION) {
        out.broke_off();
        out.notice(Level::Warning, text);
    } else if line.is_synthetic.is_some_and(is_true) {
        out.notice(Level::Info, text);
    } else {
        out.prompt(text);
    }
}
