//! Dialect of opencode: the lines of `opencode run --format json` and the events of
//! `opencode serve`.
//!
//! `run` sends whole parts and ends with a `step_finish` for any reason except `tool-calls`.
//! `serve` sends deltas and the part so far, and ends when the session is idle. A step with a new
//! message is a new round. After a connection loss opencode restarts the step without a marker:
//! written text stays, and a repeated part continues it.

mod part;
mod part_texts;
mod serve;

use crate::event::{Event, FailureReason, StopReason, TextMode, UnrecognisedReason, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, as_scalar, as_string, object, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::shared::dedup::{OutputDedup, RecentIds};
use super::shared::thought_drafts::ThoughtDrafts;
use super::{Dialect, Unreadable};

/// Parser state of the `opencode` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Opencode {
    /// Messages whose round was started.
    started_rounds: RecentIds,
    texts: part_texts::PartTexts,
    thoughts: ThoughtDrafts,
    ended_calls: RecentIds,
    outputs: OutputDedup,
    sessions: serve::ServerSessions,
    /// Latest time of the source.
    latest_time: u64,
    /// Time of the current part.
    part_time: Option<u64>,
}

/// Scope that the end of a step ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepEndScope {
    Run,
    /// The run ends when the session is idle.
    Round,
}

object! { EventLine {
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
        if probe.has("directory") && probe.has_nested("payload", "properties") {
            return Likeness::Yes;
        }
        match probe.type_text() {
            "step_start" | "reasoning" | "text" | "tool_use" | "step_finish" => {
                Likeness::yes_if(probe.has("sessionID") && probe.has_nested("part", "messageID"))
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

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line: EventLine<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.append_unknown_fields_once(&line.unknown);
        if let Some(payload) = line.payload {
            line = serde_json::from_str(payload.get()).map_err(|_| Unreadable)?;
        }
        let kind = line.kind.as_deref().unwrap_or("");
        if let Some(properties) = line.properties {
            return self.apply_server_event(kind, properties, frame, out);
        }
        match (kind, line.part, line.error) {
            ("error", _, Some(error)) => {
                self.advance_writer_timestamp(line.timestamp, out);
                report_end_by_error(error, out);
            }
            (_, Some(raw), _) => {
                let part: Part<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
                self.part_time = line.timestamp;
                self.apply_part(&part, raw, StepEndScope::Run, out);
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Opencode {
    /// Starts the round of a message, once.
    fn start_round_once_per_message(
        &mut self,
        message: &str,
        model: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        if !message.is_empty() && self.started_rounds.insert(message) {
            out.start_round_or_end_run(model, Some(message));
        }
    }

    /// Sets the time of the next events; a time before the latest one is ignored.
    fn advance_writer_timestamp(&mut self, at: Option<u64>, out: &mut Writer<'_>) {
        if let Some(at) = at {
            self.latest_time = self.latest_time.max(at);
            out.set_timestamp(self.latest_time);
        }
    }

    /// Applies a part of a model message.
    fn apply_part(
        &mut self,
        part: &Part<'_>,
        raw: &RawValue,
        ends: StepEndScope,
        out: &mut Writer<'_>,
    ) {
        out.append_unknown_fields_once(&part.unknown);
        let id = part.id.as_deref().unwrap_or("");
        let message = part.message.as_deref().unwrap_or("");
        let text = part.text.as_deref().unwrap_or("");
        if !matches!(part.kind.as_deref(), Some("reasoning" | "tool")) {
            self.advance_writer_timestamp(self.part_time, out);
        }
        self.start_round_once_per_message(message, None, out);
        match part.kind.as_deref().unwrap_or("") {
            "text" => self.texts.push_text_so_far(id, text, out),
            "reasoning" => {
                let (start, end) = part::parse_start_and_end_times(part.time);
                self.advance_writer_timestamp(start.or(self.part_time), out);
                self.thoughts.push_text_so_far(id, text, out);
                if end.is_some() {
                    self.advance_writer_timestamp(end, out);
                    self.thoughts.end_step_of_item(id, out);
                }
            }
            "tool" => self.apply_tool_part(part, raw, None, out),
            "step-finish" => {
                if let Some(tokens) = part.tokens {
                    out.update_or_emit_round_usage(parse_usage(tokens, part.cost));
                }
                self.apply_step_finish(part.reason.as_deref().unwrap_or(""), ends, out);
            }
            "retry" => write_retry(raw, out),
            "file" => {
                if let Some(image) = part.image() {
                    out.append_message_image(image);
                }
            }
            "compaction" => out.append_stateless_event(Event::HistoryCompacted { summary: None }),
            "step-start" | "snapshot" | "patch" | "agent" | "subtask" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }

    /// Ends the round, or the run, by the reason of a step's end.
    fn apply_step_finish(&mut self, reason: &str, ends: StepEndScope, out: &mut Writer<'_>) {
        let stop = match reason {
            "tool-calls" => return out.end_round(Some(StopReason::Tools)),
            "content-filter" => {
                return out.report_failed_and_end_text(
                    FailureReason::Refused,
                    "stopped by a content filter",
                );
            }
            "error" => {
                return out.report_failed_and_end_text(
                    FailureReason::Error,
                    "the step ended with an error",
                );
            }
            "stop" => StopReason::End,
            "length" => StopReason::Length,
            _ => StopReason::Other,
        };
        match ends {
            StepEndScope::Run => out.report_completed_unless_failed(stop),
            StepEndScope::Round => {
                self.sessions.last_stop = Some(stop);
                out.end_round(Some(stop));
            }
        }
    }
}

/// Ends the run by the name of an error; its text is in `data`.
fn report_end_by_error(raw: &RawValue, out: &mut Writer<'_>) {
    object! { ErrorFields { name, data, message; skip _ } }
    object! { Data { message; skip _ } }
    let ErrorFields { name, data, message } = ErrorFields::from_raw(raw).unwrap_or_default();
    let inner = data.and_then(Data::from_raw).and_then(|data| data.message);
    let name = name.and_then(as_string).unwrap_or_default();
    let words = inner.or(message).and_then(as_string).filter(|words| !words.is_empty());
    let unnamed = || {
        if name.is_empty() { string_or_json(raw) } else { name.clone() }
    };
    let words = words.unwrap_or_else(unnamed);
    match name.as_ref() {
        "MessageAbortedError" => out.report_cancelled_and_end_text(&words),
        "MessageOutputLengthError" => out.report_completed_unless_failed(StopReason::Length),
        "ContentFilterError" => out.report_failed_and_end_text(FailureReason::Refused, &words),
        _ => out.report_failed_and_end_text(FailureReason::Error, &words),
    }
}

/// Writes a scheduled retry.
fn write_retry(raw: &RawValue, out: &mut Writer<'_>) {
    object! { Retry { attempt, message, error; skip _ } }
    let Retry { attempt, message, error } = Retry::from_raw(raw).unwrap_or_default();
    out.append_stateless_event(Event::RetryScheduled {
        attempt: attempt.and_then(as_scalar),
        attempts_max: None,
        delay_ms: None,
        reason: message.or(error).map(string_or_json).unwrap_or_default(),
    });
}

/// Parses token counts.
fn parse_usage(tokens: &RawValue, cost: Option<f64>) -> Usage {
    object! { Tokens { input, output, reasoning, cache; skip _ } }
    object! { Cache { cache_read = "read", cache_write = "write"; skip _ } }
    let read = Tokens::from_raw(tokens);
    let Tokens { input, output, reasoning, cache } = read.unwrap_or_default();
    let cache = cache.and_then(Cache::from_raw);
    let Cache { cache_read, cache_write } = cache.unwrap_or_default();
    Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        reasoning_tokens: reasoning.and_then(as_scalar),
        cache_read_tokens: cache_read.and_then(as_scalar),
        cache_write_tokens: cache_write.and_then(as_scalar),
        cost_usd: cost,
    }
}
