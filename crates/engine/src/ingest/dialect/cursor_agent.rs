//! Cursor: `cursor-agent -p --output-format stream-json [--stream-partial-output]`.
//!
//! Text is incremental with partial output, else whole messages. Which of the two it is, a line
//! tells that has a time and no model call: only deltas do. With partial output every other
//! `assistant` line repeats deltas. A round ends with its tools' results, unless the next call is of
//! the same model call. The run ends at its `result` line, whose text is all messages run together
//! and so not the final one; without that line it was cut.

mod call;

use std::borrow::Cow;

use crate::event::{
    FailureReason, ReasoningOrigin, StepId, Stop, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, Writer};

use super::draft::Drafts;
use super::{Dialect, Unreadable};

use call::{Call, end_call};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CursorAgent {
    output: Output,
    said: Said,
    /// What deltas have said since the last line that repeats them.
    draft: Drafts<()>,
    /// How many stretches of text those were, with something else between them.
    stretches: usize,
    /// The model call that the last tool was of.
    model_call: Fingerprint,
    tools: Tools,
    /// Open calls that have no id: known by what they call.
    nameless: Vec<(StepId, Fingerprint)>,
    /// The last `result` line: one that is sent again is no run of its own.
    result: Fingerprint,
}

/// Open calls without an id remembered at once.
const NAMELESS_MAX: usize = 256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Output {
    /// Whole messages, as long as no delta has come.
    #[default]
    Whole,
    Partial,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Said {
    #[default]
    Nothing,
    Something,
}

/// The tools of the round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tools {
    #[default]
    Pending,
    /// One has been answered: what the model says next is a new round.
    Answered,
}

object! { Line {
    kind: Text<'a> = "type",
    subtype: Text<'a> = "subtype",
    message: &'a RawValue = "message",
    model_call: Text<'a> = "model_call_id",
    at: u64 = "timestamp_ms",
    text: Text<'a> = "text",
    call: Text<'a> = "call_id",
    tool_call: &'a RawValue = "tool_call",
    result: &'a RawValue = "result",
    is_error: &'a RawValue = "is_error",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    ; skip "session_id" | "apiKeySource" | "cwd" | "model" | "permissionMode" | "duration_ms"
        | "duration_api_ms" | "request_id"
} }

const MESSAGE: Shape<1> = Shape { read: ["content"], skip: &["role"] };
const PART: Shape<2> = Shape { read: ["type", "text"], skip: &[] };
const USAGE: Shape<4> = Shape {
    read: ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"],
    skip: &[],
};

impl Dialect for CursorAgent {
    const NAME: &'static str = "cursor-agent";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_cursor = match probe.kind() {
            "system" => {
                probe.has_all(["subtype", "apiKeySource", "permissionMode"]) && !probe.has("tools")
            }
            "tool_call" => probe.has_all(["subtype", "call_id", "tool_call"]),
            "assistant" => probe.has("timestamp_ms") || probe.has("model_call_id"),
            "thinking" => probe.has_all(["subtype", "session_id"]),
            "result" => {
                probe.has_all(["subtype", "request_id", "duration_api_ms"])
                    && !probe.has("total_cost_usd")
            }
            _ => false,
        };
        Likeness::yes_if(of_cursor)
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = Line::default();
        line.read(frame.data)?;
        out.unknown_fields(&line.unknown);
        if let Some(at) = line.at {
            out.at(at);
        }
        let subtype = line.subtype.as_deref().unwrap_or("");
        match (line.kind.as_deref().unwrap_or(""), subtype) {
            ("system", "init") => {}
            ("user", _) => {
                let text = message_text(&line, out)?;
                out.prompt(&text);
            }
            ("thinking", "completed") => out.end_reasoning(),
            ("thinking", _) => {
                self.begin_round(out);
                let text = line.text.as_deref().unwrap_or("");
                out.reasoning(text, ReasoningOrigin::Native);
            }
            ("assistant", _) => self.assistant(&line, out)?,
            ("tool_call", "started" | "completed") => self.tool_call(&line, frame, out)?,
            ("result", _) => self.result(&line, frame, out),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl CursorAgent {
    /// The open call without an id that this is the end of.
    fn take_nameless(&mut self, call: &Call<'_>) -> Option<StepId> {
        let print = call.print();
        let same = self.nameless.iter().position(|(_, open)| *open == print);
        let at = same.or((!self.nameless.is_empty()).then_some(0))?;
        Some(self.nameless.remove(at).0)
    }

    /// The model speaks: after a tool's result that is a new round.
    fn begin_round(&mut self, out: &mut Writer<'_>) {
        if self.tools == Tools::Answered {
            self.tools = Tools::Pending;
            out.end_round(Some(Stop::Tools));
        }
    }

    fn assistant(&mut self, line: &Line<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let text = message_text(line, out)?;
        if line.at.is_some() && line.model_call.is_none() {
            self.output = Output::Partial;
            self.begin_round(out);
            if !self.draft.is_open((), out) && !text.is_empty() {
                self.draft = Drafts::default();
                self.stretches += 1;
            }
            self.draft.say((), None, &text, out);
        } else {
            // Either a message, or what its deltas said; both end the one that is open.
            self.put_right(&text, out);
            out.end_message();
            if self.output == Output::Whole {
                self.begin_round(out);
                out.text(&text);
                out.end_message();
            }
        }
        if !text.is_empty() {
            self.said = Said::Something;
        }
        Ok(())
    }

    /// What the deltas since the last such line said, as a whole.
    fn put_right(&mut self, whole: &str, out: &mut Writer<'_>) {
        // Of several stretches of text it cannot be told which one is to be put right.
        if self.stretches == 1 && self.draft.is_open((), out) && !whole.is_empty() {
            self.draft.whole((), None, whole, out).warn(whole, out);
        }
        self.draft = Drafts::default();
        self.stretches = 0;
    }

    fn result(&mut self, line: &Line<'_>, frame: Frame<'_>, out: &mut Writer<'_>) {
        let print = Fingerprint::of(frame.data);
        if self.said == Said::Nothing && self.result.same_text(&print) {
            return;
        }
        self.result = print;
        if let Some(usage) = line.usage {
            let usage = usage_of(usage, out);
            out.run_usage(usage);
        }
        let text = line.result.map(string_or_json).unwrap_or_default();
        let subtype = line.subtype.as_deref().unwrap_or("");
        if line.is_error.is_some_and(is_true) || subtype.starts_with("error") {
            let words = line.error.map_or(text, string_or_json);
            out.fail(FailureReason::Error, if words.is_empty() { subtype } else { &words });
        } else {
            if self.tools == Tools::Answered {
                // The last model call had nothing to say: what was said before is not its reply.
                self.begin_round(out);
                out.ensure_round();
            }
            if self.said == Said::Nothing {
                // `--output-format json` prints nothing but this line.
                out.text(&text);
            }
            out.complete(Stop::End);
        }
        out.end_round(None);
        self.tools = Tools::Pending;
        self.said = Said::Nothing;
        self.nameless.clear();
    }

    fn tool_call(
        &mut self,
        line: &Line<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let id = line.call.as_deref().unwrap_or("");
        let Some(call) = Call::read(line.tool_call.ok_or(Unreadable)?) else {
            out.unrecognised(UnrecognisedReason::Frame, frame.data);
            return Ok(());
        };
        let completed = line.subtype.as_deref() == Some("completed");
        let known = match (id, completed) {
            ("", true) => self.take_nameless(&call),
            ("", false) => None,
            _ => out.step_of(id),
        };
        let step = known.unwrap_or_else(|| {
            let model_call = Fingerprint::of(line.model_call.as_deref().unwrap_or(""));
            if model_call.is_empty() || model_call != self.model_call {
                self.begin_round(out);
            }
            self.model_call = model_call;
            call.start(id, out)
        });
        if id.is_empty() && !completed && self.nameless.len() < NAMELESS_MAX {
            self.nameless.push((step, call.print()));
        }
        if completed {
            self.tools = Tools::Answered;
            end_call(step, call.result, out);
        }
        Ok(())
    }
}

/// The text of a message, its parts joined.
fn message_text<'a>(line: &Line<'a>, out: &mut Writer<'_>) -> Result<Cow<'a, str>, Unreadable> {
    let message = MESSAGE.read(line.message.ok_or(Unreadable)?.get()).ok_or(Unreadable)?;
    out.unknown_fields(&message.unknown);
    let Some(content) = message.read[0] else { return Ok(Cow::Borrowed("")) };
    if let Some(text) = string(content) {
        return Ok(text);
    }
    let mut joined = Cow::Borrowed("");
    for raw in elements(content) {
        let [kind, text] = PART.read(raw.get()).map_or([None; 2], |part| part.read);
        match (kind.and_then(string).as_deref(), text.and_then(string)) {
            (Some("text"), Some(text)) => joined += text,
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }
    Ok(joined)
}

fn usage_of(raw: &RawValue, out: &mut Writer<'_>) -> Usage {
    let Some(usage) = USAGE.read(raw.get()) else { return Usage::default() };
    out.unknown_fields(&usage.unknown);
    let [input, output, cache_read, cache_write] = usage.read.map(|member| member.and_then(number));
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..Usage::default()
    }
}
