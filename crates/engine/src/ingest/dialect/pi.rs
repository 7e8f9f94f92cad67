//! `pi --mode json`: an agent of turns, each one assistant message and the tools it asked for.
//!
//! Text is incremental: `delta` counts, `partial` runs ahead of it and is not read. Whole messages
//! repeat what deltas have said and are shown only where there were none. A run ends at
//! `agent_end`; shortening the history after it does not open the run again. An attempt that is
//! made anew takes back what the failed one had said.

mod tools;

use crate::event::{
    Event, FailureReason, Level, ReasoningOrigin, StepId, Stop, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, elements, is_true, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, Writer};

use super::{Dialect, Unreadable};

use tools::{content_of, text_of, tool_result, tool_start};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pi {
    /// Parts of the assistant's message of which something has come.
    parts: Vec<Part>,
    ending: Ending,
    /// What the person wrote, if its end is still to come.
    prompt: Option<Fingerprint>,
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    index: u64,
    /// The tool it calls, once it is named.
    step: Option<StepId>,
    streamed: bool,
}

/// How the last assistant message ended, and so the run if it was the last.
#[derive(Clone, Debug, Default, PartialEq)]
enum Ending {
    /// There was none.
    #[default]
    None,
    /// It has not ended.
    Open,
    Stopped(Stop),
    Failed(String),
    Aborted(String),
}

object! { Line {
    kind: Text<'a> = "type",
    message: &'a RawValue = "message",
    event: Update<'a> = "assistantMessageEvent",
    call: Text<'a> = "toolCallId",
    tool: Text<'a> = "toolName",
    args: &'a RawValue = "args",
    partial_result: &'a RawValue = "partialResult",
    result: &'a RawValue = "result",
    is_error: &'a RawValue = "isError",
    aborted: &'a RawValue = "aborted",
    attempt: u32 = "attempt",
    attempts_max: u32 = "maxAttempts",
    delay_ms: u64 = "delayMs",
    error: &'a RawValue = "error",
    error_words: Text<'a> = "errorMessage",
    ; skip "version" | "id" | "timestamp" | "cwd" | "parentSession" | "messages" | "toolResults"
        | "reason" | "willRetry" | "success" | "finalError" | "steering" | "followUp" | "name"
        | "level" | "extensionPath" | "event" | "entry"
} }

object! { Update {
    kind: Text<'a> = "type",
    index: u64 = "contentIndex",
    delta: Text<'a> = "delta",
    content: Text<'a> = "content",
    call: ToolCall<'a> = "toolCall",
    partial: &'a RawValue = "partial",
    ; skip "reason" | "message" | "error" | "contentSignature"
} }

object! { Message {
    role: Text<'a> = "role",
    content: &'a RawValue = "content",
    model: Text<'a> = "model",
    usage: &'a RawValue = "usage",
    stop_reason: Text<'a> = "stopReason",
    error_words: Text<'a> = "errorMessage",
    call: Text<'a> = "toolCallId",
    is_error: &'a RawValue = "isError",
    ; skip "api" | "provider" | "timestamp" | "responseId" | "responseModel" | "toolName" | "details"
        | "attachments" | "customType" | "display" | "diagnostics"
} }

object! { ToolCall {
    kind: Text<'a> = "type",
    id: Text<'a> = "id",
    name: Text<'a> = "name",
    arguments: &'a RawValue = "arguments",
    text: Text<'a> = "text",
    thinking: Text<'a> = "thinking",
    ; skip "thinkingSignature" | "textSignature" | "thoughtSignature" | "redacted" | "partialJson"
        | "index" | "streamIndex" | "partialArgs" | "data" | "mimeType"
} }

impl Dialect for Pi {
    const NAME: &'static str = "pi";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.kind() {
            "session" => Likeness::yes_if(probe.has_all(["version", "id", "cwd"])),
            "agent_start" => Likeness::Yes,
            "agent_end" => Likeness::yes_if(probe.has("messages")),
            "message_update" => Likeness::yes_if(probe.has("assistantMessageEvent")),
            "message_start" | "message_end" => Likeness::yes_if(
                probe.inner_has("message", "role") && !probe.inner_has("message", "type"),
            ),
            "turn_start" => Likeness::Maybe,
            "tool_execution_start" => Likeness::yes_if(probe.has("toolCallId")),
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "message_update" => self.update(line.event.unwrap_or_default(), frame.data, out),
            "message_start" => self.message_start(&message_of(&line)?, frame.data, out),
            "message_end" => self.message_end(&message_of(&line)?, out),
            "tool_execution_start" => execution_start(&line, out),
            "tool_execution_update" => {
                if let Some(step) = line.call.as_deref().and_then(|call| out.step_of(call)) {
                    let content = content_of(line.partial_result);
                    out.output_so_far(step, &text_of(content));
                }
            }
            "tool_execution_end" => {
                let call = line.call.as_deref().unwrap_or("");
                if out.step_of(call).is_none() {
                    out.unrecognised(UnrecognisedReason::Late, frame.data);
                }
                tool_result(call, content_of(line.result), line.is_error, out);
            }
            "agent_end" => self.agent_end(out),
            "compaction_end" | "auto_compaction_end" => compacted(&line, out),
            "auto_retry_start" => {
                out.withdraw_round();
                out.note(Event::RetryScheduled {
                    attempt: line.attempt,
                    attempts_max: line.attempts_max,
                    delay_ms: line.delay_ms,
                    reason: line.error_words.as_deref().unwrap_or("").into(),
                });
            }
            "extension_error" => {
                out.notice(Level::Warning, &line.error.map(string_or_json).unwrap_or_default());
            }
            "session"
            | "agent_start"
            | "turn_start"
            | "turn_end"
            | "compaction_start"
            | "auto_compaction_start"
            | "auto_retry_end"
            | "queue_update"
            | "session_info_changed"
            | "thinking_level_changed"
            | "entry_appended" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Pi {
    fn message_start(&mut self, message: &Message<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&message.unknown);
        match message.role.as_deref().unwrap_or("") {
            "assistant" => {
                self.parts.clear();
                self.ending = Ending::Open;
                out.round(message.model.as_deref(), None);
            }
            "user" => {
                let text = text_of(message.content);
                self.prompt = Some(Fingerprint::of(&text));
                out.prompt(&text);
            }
            "toolResult" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    fn update(&mut self, event: Update<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&event.unknown);
        if self.ending == Ending::None {
            self.ending = Ending::Open;
        }
        let index = event.index.unwrap_or(0);
        let delta = event.delta.as_deref().unwrap_or("");
        match event.kind.as_deref().unwrap_or("") {
            "text_delta" => {
                self.part(index).streamed = true;
                out.text(delta);
            }
            "thinking_delta" => {
                self.part(index).streamed = true;
                out.reasoning(delta, ReasoningOrigin::Native);
            }
            "toolcall_start" => {
                let part = event.partial.and_then(|partial| part_of(partial, index));
                self.start_call(index, &part.unwrap_or_default(), out);
            }
            "toolcall_delta" => {
                if let Part { step: Some(step), streamed, .. } = self.part(index) {
                    *streamed |= !delta.is_empty();
                    out.arguments(*step, delta);
                }
            }
            // All ends come together, after the last delta: only what had no delta is news.
            "text_end" => self.whole_text(index, event.content.as_deref(), out),
            "thinking_end" => self.whole_thinking(index, event.content.as_deref(), out),
            "toolcall_end" => self.whole_call(index, &event.call.unwrap_or_default(), out),
            "start" | "text_start" | "thinking_start" | "done" | "error" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    fn part(&mut self, index: u64) -> &mut Part {
        let known = self.parts.iter().position(|part| part.index == index);
        let at = known.unwrap_or_else(|| {
            if PARTS_MAX <= self.parts.len() {
                self.parts.remove(0);
            }
            self.parts.push(Part { index, step: None, streamed: false });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    fn whole_text(&mut self, index: u64, text: Option<&str>, out: &mut Writer<'_>) {
        if !std::mem::replace(&mut self.part(index).streamed, true) {
            out.text(text.unwrap_or(""));
        }
    }

    fn whole_thinking(&mut self, index: u64, text: Option<&str>, out: &mut Writer<'_>) {
        if !std::mem::replace(&mut self.part(index).streamed, true) {
            out.reasoning(text.unwrap_or(""), ReasoningOrigin::Native);
            out.end_reasoning();
        }
    }

    /// A call whose name is not known yet starts when it is whole.
    fn start_call(&mut self, index: u64, call: &ToolCall<'_>, out: &mut Writer<'_>) {
        let (id, name) = (call.id.as_deref().unwrap_or(""), call.name.as_deref().unwrap_or(""));
        let part = self.part(index);
        if part.step.is_none() && !id.is_empty() && !name.is_empty() {
            part.step = Some(out.tool(tool_start(id, name)));
        }
    }

    fn whole_call(&mut self, index: u64, call: &ToolCall<'_>, out: &mut Writer<'_>) {
        self.start_call(index, call, out);
        let Part { step: Some(step), streamed, .. } = self.part(index) else {
            return;
        };
        if let Some(arguments) = call.arguments.filter(|_| !*streamed) {
            out.whole_arguments(*step, arguments.get());
        }
        *streamed = true;
        out.ready(*step);
    }

    fn message_end(&mut self, message: &Message<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&message.unknown);
        match message.role.as_deref().unwrap_or("") {
            "assistant" => self.assistant_end(message, out),
            "user" => {
                // Its beginning may have been missed.
                let text = text_of(message.content);
                let print = Fingerprint::of(&text);
                if self.prompt.take().is_none_or(|told| !told.same_text(&print)) {
                    out.prompt(&text);
                }
            }
            "toolResult" => {
                let call = message.call.as_deref().unwrap_or("");
                tool_result(call, message.content, message.is_error, out);
            }
            _ => {}
        }
    }

    fn assistant_end(&mut self, message: &Message<'_>, out: &mut Writer<'_>) {
        let content = message.content.map(elements).unwrap_or_default();
        for (index, raw) in (0..).zip(content) {
            let Ok(part) = serde_json::from_str::<ToolCall<'_>>(raw.get()) else {
                continue;
            };
            out.unknown_fields(&part.unknown);
            match part.kind.as_deref().unwrap_or("") {
                "text" => self.whole_text(index, part.text.as_deref(), out),
                "thinking" => self.whole_thinking(index, part.thinking.as_deref(), out),
                "toolCall" => self.whole_call(index, &part, out),
                _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
            }
        }
        if let Some(usage) = message.usage {
            out.round_usage(usage_of(usage));
        }
        let words = message.error_words.as_deref().unwrap_or("").to_owned();
        self.ending = match message.stop_reason.as_deref() {
            Some("stop") => Ending::Stopped(Stop::End),
            Some("toolUse") => Ending::Stopped(Stop::Tools),
            Some("length") => Ending::Stopped(Stop::Length),
            Some("error") => Ending::Failed(words),
            Some("aborted") => Ending::Aborted(words),
            _ => Ending::Stopped(Stop::Other),
        };
        // The round of a failure stays open: a new attempt takes it back.
        if let Ending::Stopped(stop) = self.ending {
            out.end_round(Some(stop));
        }
    }

    fn agent_end(&mut self, out: &mut Writer<'_>) {
        match &self.ending {
            Ending::None => out.complete(Stop::Other),
            // Its end was lost, and with it perhaps some of its text.
            Ending::Open => {}
            Ending::Stopped(stop) => out.complete(*stop),
            Ending::Failed(words) => out.fail(FailureReason::Error, words),
            Ending::Aborted(words) => out.cancelled(words),
        }
    }
}

/// Parts of one message remembered at once.
const PARTS_MAX: usize = 1 << 10;

fn message_of<'a>(line: &Line<'a>) -> Result<Message<'a>, Unreadable> {
    let raw = line.message.ok_or(Unreadable)?;
    serde_json::from_str(raw.get()).map_err(|_| Unreadable)
}

/// The part of an unfinished message that an event is about; only its names are of use.
fn part_of(partial: &RawValue, index: u64) -> Option<ToolCall<'_>> {
    let index = usize::try_from(index).ok()?;
    let part = content_of(Some(partial)).map(elements)?.get(index).copied()?;
    serde_json::from_str(part.get()).ok()
}

fn execution_start(line: &Line<'_>, out: &mut Writer<'_>) {
    let call = line.call.as_deref().unwrap_or("");
    if out.step_of(call).is_none() {
        let step = out.tool(tool_start(call, line.tool.as_deref().unwrap_or("")));
        if let Some(args) = line.args {
            out.whole_arguments(step, args.get());
        }
        out.ready(step);
    }
}

fn compacted(line: &Line<'_>, out: &mut Writer<'_>) {
    const RESULT: Shape<1> = Shape { read: ["summary"], skip: &[] };
    if line.aborted.is_some_and(is_true) {
        return;
    }
    match line.result.and_then(|raw| RESULT.read(raw.get())) {
        Some(result) => {
            let summary = result.read[0].and_then(string);
            out.note(Event::HistoryCompacted { summary });
        }
        None => out.notice(Level::Warning, line.error_words.as_deref().unwrap_or("")),
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> =
        Shape { read: ["input", "output", "cacheRead", "cacheWrite", "cost"], skip: &[] };
    const COST: Shape<1> = Shape { read: ["total"], skip: &[] };
    let usage = USAGE.read(raw.get()).map(|usage| usage.read).unwrap_or_default();
    let [input, output, cache_read, cache_write, cost] = usage;
    let cost = cost.and_then(|raw| COST.read(raw.get())?.read[0]);
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        cache_read_tokens: cache_read.and_then(number),
        cache_write_tokens: cache_write.and_then(number),
        cost_usd: cost.and_then(number),
        ..Usage::default()
    }
}
