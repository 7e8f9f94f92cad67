//! opencode: the lines of `opencode run --format json`, and the events of `opencode serve`.
//!
//! `run` sends whole parts; its end is a `step_finish` for any reason but `tool-calls`. `serve`
//! sends deltas and, around them, the part so far; its end is the session going idle. A step that
//! begins with a new message is a new round. After a cut opencode begins the step again and says
//! nothing: what was said stays, and a part that comes again goes on where it was.

mod part;
mod serve;

use crate::event::{Event, FailureReason, Stop, TextMode, UnrecognisedReason, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, number, object, string, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::repeated::{Outputs, Recent, Repeated};
use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Opencode {
    /// Messages of the model that have had their round.
    rounds: Recent,
    texts: Repeated,
    thoughts: Repeated,
    calls_over: Recent,
    outputs: Outputs,
    serve: serve::Serve,
    /// The latest time the source has told.
    clock: u64,
    /// When the part at hand was told.
    told: Option<u64>,
}

/// How far the end of a step is the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Run,
    /// The session says itself when it is at rest.
    Round,
}

object! { Line {
    kind: Text<'a> = "type",
    timestamp: u64 = "timestamp",
    part: &'a RawValue = "part",
    error: &'a RawValue = "error",
    properties: &'a RawValue = "properties",
    payload: &'a RawValue = "payload",
    ; skip "sessionID" | "id" | "directory" | "project" | "workspace" | "location"
} }

object! { Part {
    id: Text<'a> = "id",
    kind: Text<'a> = "type",
    session: Text<'a> = "sessionID",
    message: Text<'a> = "messageID",
    text: Text<'a> = "text",
    tool: Text<'a> = "tool",
    call: Text<'a> = "callID",
    state: &'a RawValue = "state",
    time: &'a RawValue = "time",
    reason: Text<'a> = "reason",
    tokens: &'a RawValue = "tokens",
    cost: f64 = "cost",
    mime: Text<'a> = "mime",
    url: Text<'a> = "url",
    synthetic: bool = "synthetic",
    ; skip "snapshot" | "metadata" | "hash" | "files" | "filename" | "source" | "attempt"
        | "error" | "auto" | "overflow" | "prompt" | "description" | "agent" | "name" | "model"
        | "command" | "ignored" | "tail_start_id"
} }

impl Dialect for Opencode {
    const NAME: &'static str = "opencode";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        if probe.has("directory") && probe.inner_has("payload", "properties") {
            return Likeness::Yes;
        }
        match probe.kind() {
            "step_start" | "reasoning" | "text" | "tool_use" | "step_finish" => {
                Likeness::yes_if(probe.has("sessionID") && probe.inner_has("part", "messageID"))
            }
            "error" => Likeness::yes_if(probe.has_all(["sessionID", "error"])),
            kind if probe.has("properties") => {
                let families = ["server.", "session.", "message.", "permission.", "question."];
                let ours = families.iter().any(|family| kind.starts_with(family));
                if ours { Likeness::Yes } else { Likeness::maybe_if(kind.contains('.')) }
            }
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&line.unknown);
        if let Some(payload) = line.payload {
            line = serde_json::from_str(payload.get()).map_err(|_| Unreadable)?;
        }
        let kind = line.kind.as_deref().unwrap_or("");
        if let Some(properties) = line.properties {
            return self.event(kind, properties, frame, out);
        }
        match (kind, line.part, line.error) {
            ("error", _, Some(error)) => {
                self.at(line.timestamp, out);
                fail(error, out);
            }
            (_, Some(raw), _) => {
                let part: Part<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
                self.told = line.timestamp;
                self.part(&part, raw, Ends::Run, out);
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Opencode {
    fn begin_round(&mut self, message: &str, model: Option<&str>, out: &mut Writer<'_>) {
        if !message.is_empty() && self.rounds.add(message) {
            out.round(model, Some(message));
        }
    }

    /// Parts tell when they began and ended, some of it before what others have told already.
    fn at(&mut self, at: Option<u64>, out: &mut Writer<'_>) {
        if let Some(at) = at {
            self.clock = self.clock.max(at);
            out.at(self.clock);
        }
    }

    /// A part of what the model says.
    fn part(&mut self, part: &Part<'_>, raw: &RawValue, ends: Ends, out: &mut Writer<'_>) {
        out.unknown_fields(&part.unknown);
        let id = part.id.as_deref().unwrap_or("");
        let message = part.message.as_deref().unwrap_or("");
        let text = part.text.as_deref().unwrap_or("");
        if !matches!(part.kind.as_deref(), Some("reasoning" | "tool")) {
            self.at(self.told, out);
        }
        self.begin_round(message, None, out);
        match part.kind.as_deref().unwrap_or("") {
            "text" => self.texts.text(id, text, out),
            "reasoning" => {
                let (start, end) = part::times(part.time);
                self.at(start.or(self.told), out);
                self.thoughts.thought(id, text, out);
                if end.is_some() {
                    self.at(end, out);
                    out.end_reasoning();
                }
            }
            "tool" => self.tool(part, None, out),
            "step-finish" => {
                if let Some(tokens) = part.tokens {
                    out.round_usage(usage_of(tokens, part.cost));
                }
                self.finish_step(part.reason.as_deref().unwrap_or(""), ends, out);
            }
            "retry" => retry(raw, out),
            "file" => {
                if let Some(image) = part.image() {
                    out.image(image);
                }
            }
            "compaction" => out.note(Event::HistoryCompacted { summary: None }),
            "step-start" | "snapshot" | "patch" | "agent" | "subtask" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }

    fn finish_step(&mut self, reason: &str, ends: Ends, out: &mut Writer<'_>) {
        let stop = match reason {
            "tool-calls" => return out.end_round(Some(Stop::Tools)),
            "content-filter" => {
                return out.fail(FailureReason::Refused, "stopped by a content filter");
            }
            "error" => return out.fail(FailureReason::Error, "the step ended with an error"),
            "stop" => Stop::End,
            "length" => Stop::Length,
            _ => Stop::Other,
        };
        match ends {
            Ends::Run => out.complete(stop),
            Ends::Round => {
                self.serve.stop = Some(stop);
                out.end_round(Some(stop));
            }
        }
    }
}

/// An error by name, with its words in `data`.
fn fail(raw: &RawValue, out: &mut Writer<'_>) {
    const ERROR: Shape<3> = Shape { read: ["name", "data", "message"], skip: &[] };
    const DATA: Shape<1> = Shape { read: ["message"], skip: &[] };
    let [name, data, message] = ERROR.read(raw.get()).map(|error| error.read).unwrap_or_default();
    let inner = data.and_then(|data| DATA.read(data.get())).and_then(|data| data.read[0]);
    let name = name.and_then(string).unwrap_or_default();
    let words = inner.or(message).and_then(string).filter(|words| !words.is_empty());
    let unnamed = || {
        if name.is_empty() { string_or_json(raw) } else { name.clone() }
    };
    let words = words.unwrap_or_else(unnamed);
    match name.as_ref() {
        "MessageAbortedError" => out.cancelled(&words),
        "MessageOutputLengthError" => out.complete(Stop::Length),
        "ContentFilterError" => out.fail(FailureReason::Refused, &words),
        _ => out.fail(FailureReason::Error, &words),
    }
}

fn retry(raw: &RawValue, out: &mut Writer<'_>) {
    const RETRY: Shape<3> = Shape { read: ["attempt", "message", "error"], skip: &[] };
    let [attempt, message, error] =
        RETRY.read(raw.get()).map(|retry| retry.read).unwrap_or_default();
    out.note(Event::RetryScheduled {
        attempt: attempt.and_then(number),
        attempts_max: None,
        delay_ms: None,
        reason: message.or(error).map(string_or_json).unwrap_or_default(),
    });
}

fn usage_of(tokens: &RawValue, cost: Option<f64>) -> Usage {
    const TOKENS: Shape<4> = Shape { read: ["input", "output", "reasoning", "cache"], skip: &[] };
    const CACHE: Shape<2> = Shape { read: ["read", "write"], skip: &[] };
    let read = TOKENS.read(tokens.get()).map(|tokens| tokens.read);
    let [input, output, reasoning, cache] = read.unwrap_or_default();
    let cache = cache.and_then(|cache| CACHE.read(cache.get())).map(|cache| cache.read);
    let [cache_read, cache_write] = cache.unwrap_or_default();
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: reasoning.and_then(number),
        cache_read_tokens: cache_read.and_then(number),
        cache_write_tokens: cache_write.and_then(number),
        cost_usd: cost,
    }
}
