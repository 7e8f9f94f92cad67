//! Dialect of `pi --mode json`: turns of one assistant message and its tools.
//!
//! Text is incremental: `delta` is read; `partial` is ahead of it and is not. Whole messages repeat
//! the deltas and are written only if there were none. A run ends at `agent_end`; a later
//! compaction does not reopen it. A retry withdraws the text of the failed attempt.

mod tools;

use crate::event::{
    Event, FailureReason, NoticeLevel, ReasoningOrigin, StepId, StopReason, TextMode,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, is_true, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, Writer};

use super::{Dialect, Unreadable};

use tools::{content_member, content_text, tool_start, write_tool_result};

/// Parser state of the `pi` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pi {
    /// Started parts of the assistant message.
    parts: Vec<PartState>,
    last_ending: MessageEnding,
    /// Prompt whose `message_end` has not arrived.
    open_prompt: Option<Fingerprint>,
}

/// State of one content part.
#[derive(Clone, Debug, PartialEq)]
struct PartState {
    index: u64,
    /// Step of its tool call, once the tool is named.
    step: Option<StepId>,
    /// Its content was written.
    streamed: bool,
}

/// Ending of the last assistant message, which decides the ending of the run.
#[derive(Clone, Debug, Default, PartialEq)]
enum MessageEnding {
    /// There was no message.
    #[default]
    None,
    /// The message has not ended.
    Open,
    Stopped(StopReason),
    Failed(String),
    Aborted(String),
}

object! { EventLine {
    kind: Text<'a> = "type",
    message: &'a RawValue = "message",
    event: AssistantEvent<'a> = "assistantMessageEvent",
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

object! { AssistantEvent {
    kind: Text<'a> = "type",
    index: u64 = "contentIndex",
    delta: Text<'a> = "delta",
    content: Text<'a> = "content",
    call: ContentPart<'a> = "toolCall",
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

object! { ContentPart {
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
                probe.has_nested("message", "role") && !probe.has_nested("message", "type"),
            ),
            "turn_start" => Likeness::Maybe,
            "tool_execution_start" => Likeness::yes_if(probe.has("toolCallId")),
            _ => Likeness::No,
        }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: EventLine<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.append_unknown_fields(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "message_update" => {
                self.apply_assistant_event(line.event.unwrap_or_default(), frame.data, out);
            }
            "message_start" => self.apply_message_start(&parse_message(&line)?, frame.data, out),
            "message_end" => self.apply_message_end(&parse_message(&line)?, out),
            "tool_execution_start" => write_execution_start(&line, out),
            "tool_execution_update" => {
                if let Some(step) = line.call.as_deref().and_then(|call| out.find_open_tool(call)) {
                    let content = content_member(line.partial_result);
                    out.append_cumulative_output(step, &content_text(content));
                }
            }
            "tool_execution_end" => {
                let call = line.call.as_deref().unwrap_or("");
                if out.find_open_tool(call).is_none() {
                    out.append_unrecognised(UnrecognisedReason::Late, frame.data);
                }
                write_tool_result(call, content_member(line.result), line.is_error, out);
            }
            "agent_end" => self.end_run(out),
            "compaction_end" | "auto_compaction_end" => write_compaction(&line, out),
            "auto_retry_start" => {
                out.withdraw_round();
                out.append_event(Event::RetryScheduled {
                    attempt: line.attempt,
                    attempts_max: line.attempts_max,
                    delay_ms: line.delay_ms,
                    reason: line.error_words.as_deref().unwrap_or("").into(),
                });
            }
            "extension_error" => {
                out.append_notice(
                    NoticeLevel::Warning,
                    &line.error.map(string_or_json).unwrap_or_default(),
                );
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
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl Pi {
    /// Starts a round or writes a prompt.
    fn apply_message_start(&mut self, message: &Message<'_>, raw: &str, out: &mut Writer<'_>) {
        out.append_unknown_fields(&message.unknown);
        match message.role.as_deref().unwrap_or("") {
            "assistant" => {
                self.parts.clear();
                self.last_ending = MessageEnding::Open;
                out.start_round(message.model.as_deref(), None);
            }
            "user" => {
                let text = content_text(message.content);
                self.open_prompt = Some(Fingerprint::from_text(&text));
                out.append_prompt(&text);
            }
            "toolResult" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies a streaming event of the assistant message.
    fn apply_assistant_event(
        &mut self,
        event: AssistantEvent<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        out.append_unknown_fields(&event.unknown);
        if self.last_ending == MessageEnding::None {
            self.last_ending = MessageEnding::Open;
        }
        let index = event.index.unwrap_or(0);
        let delta = event.delta.as_deref().unwrap_or("");
        match event.kind.as_deref().unwrap_or("") {
            "text_delta" => {
                self.part_state(index).streamed = true;
                out.append_text(delta);
            }
            "thinking_delta" => {
                self.part_state(index).streamed = true;
                out.append_reasoning(delta, ReasoningOrigin::Native);
            }
            "toolcall_start" => {
                let part = event.partial.and_then(|partial| parse_part_at(partial, index));
                self.start_tool_call(index, &part.unwrap_or_default(), out);
            }
            "toolcall_delta" => {
                if let PartState { step: Some(step), streamed, .. } = self.part_state(index) {
                    *streamed |= !delta.is_empty();
                    out.append_arguments(*step, delta);
                }
            }
            // An end repeats its deltas: it is written only if there were none.
            "text_end" => self.write_whole_text(index, event.content.as_deref(), out),
            "thinking_end" => self.write_whole_thinking(index, event.content.as_deref(), out),
            "toolcall_end" => self.write_whole_call(index, &event.call.unwrap_or_default(), out),
            "start" | "text_start" | "thinking_start" | "done" | "error" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// State of a part; adds it if it is new.
    fn part_state(&mut self, index: u64) -> &mut PartState {
        let known = self.parts.iter().position(|part| part.index == index);
        let at = known.unwrap_or_else(|| {
            if PARTS_MAX <= self.parts.len() {
                self.parts.remove(0);
            }
            self.parts.push(PartState { index, step: None, streamed: false });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// Writes whole text unless deltas were written.
    fn write_whole_text(&mut self, index: u64, text: Option<&str>, out: &mut Writer<'_>) {
        if !std::mem::replace(&mut self.part_state(index).streamed, true) {
            out.append_text(text.unwrap_or(""));
        }
    }

    /// Writes whole reasoning unless deltas were written.
    fn write_whole_thinking(&mut self, index: u64, text: Option<&str>, out: &mut Writer<'_>) {
        if !std::mem::replace(&mut self.part_state(index).streamed, true) {
            out.append_reasoning(text.unwrap_or(""), ReasoningOrigin::Native);
            out.end_reasoning();
        }
    }

    /// Starts a tool call, if its id and name are known.
    fn start_tool_call(&mut self, index: u64, call: &ContentPart<'_>, out: &mut Writer<'_>) {
        let (id, name) = (call.id.as_deref().unwrap_or(""), call.name.as_deref().unwrap_or(""));
        let part = self.part_state(index);
        if part.step.is_none() && !id.is_empty() && !name.is_empty() {
            part.step = Some(out.start_tool(tool_start(id, name)));
        }
    }

    /// Starts a call and writes its arguments, unless written, and marks it ready.
    fn write_whole_call(&mut self, index: u64, call: &ContentPart<'_>, out: &mut Writer<'_>) {
        self.start_tool_call(index, call, out);
        let PartState { step: Some(step), streamed, .. } = self.part_state(index) else {
            return;
        };
        if let Some(arguments) = call.arguments.filter(|_| !*streamed) {
            out.set_arguments(*step, arguments.get());
        }
        *streamed = true;
        out.mark_tool_ready(*step);
    }

    /// Applies the end of an assistant, user or tool message.
    fn apply_message_end(&mut self, message: &Message<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields(&message.unknown);
        match message.role.as_deref().unwrap_or("") {
            "assistant" => self.apply_assistant_end(message, out),
            "user" => {
                // Its start may have been missed.
                let text = content_text(message.content);
                let print = Fingerprint::from_text(&text);
                if self.open_prompt.take().is_none_or(|written| !written.is_same_text(&print)) {
                    out.append_prompt(&text);
                }
            }
            "toolResult" => {
                let call = message.call.as_deref().unwrap_or("");
                write_tool_result(call, message.content, message.is_error, out);
            }
            _ => {}
        }
    }

    /// Writes unwritten parts, usage and the ending of an assistant message.
    fn apply_assistant_end(&mut self, message: &Message<'_>, out: &mut Writer<'_>) {
        let content = message.content.map(array_elements).unwrap_or_default();
        for (index, raw) in (0..).zip(content) {
            let Ok(part) = serde_json::from_str::<ContentPart<'_>>(raw.get()) else {
                continue;
            };
            out.append_unknown_fields(&part.unknown);
            match part.kind.as_deref().unwrap_or("") {
                "text" => self.write_whole_text(index, part.text.as_deref(), out),
                "thinking" => self.write_whole_thinking(index, part.thinking.as_deref(), out),
                "toolCall" => self.write_whole_call(index, &part, out),
                _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
            }
        }
        if let Some(usage) = message.usage {
            out.update_round_usage(parse_usage(usage));
        }
        let words = message.error_words.as_deref().unwrap_or("").to_owned();
        self.last_ending = match message.stop_reason.as_deref() {
            Some("stop") => MessageEnding::Stopped(StopReason::End),
            Some("toolUse") => MessageEnding::Stopped(StopReason::Tools),
            Some("length") => MessageEnding::Stopped(StopReason::Length),
            Some("error") => MessageEnding::Failed(words),
            Some("aborted") => MessageEnding::Aborted(words),
            _ => MessageEnding::Stopped(StopReason::Other),
        };
        // A failed round stays open: a retry withdraws it.
        if let MessageEnding::Stopped(stop) = self.last_ending {
            out.end_round(Some(stop));
        }
    }

    /// Reports the end of the run by the ending of the last message.
    fn end_run(&mut self, out: &mut Writer<'_>) {
        match &self.last_ending {
            MessageEnding::None => out.report_completed(StopReason::Other),
            // The message's end was lost, and maybe some text: not an ending.
            MessageEnding::Open => {}
            MessageEnding::Stopped(stop) => out.report_completed(*stop),
            MessageEnding::Failed(words) => out.report_failed(FailureReason::Error, words),
            MessageEnding::Aborted(words) => out.report_cancelled(words),
        }
    }
}

/// Parts of one message remembered at once.
const PARTS_MAX: usize = 1 << 10;

/// Parses the message of a line.
fn parse_message<'a>(line: &EventLine<'a>) -> Result<Message<'a>, Unreadable> {
    let raw = line.message.ok_or(Unreadable)?;
    serde_json::from_str(raw.get()).map_err(|_| Unreadable)
}

/// Parses part `index` of a partial message, for its id and name.
fn parse_part_at(partial: &RawValue, index: u64) -> Option<ContentPart<'_>> {
    let index = usize::try_from(index).ok()?;
    let part = content_member(Some(partial)).map(array_elements)?.get(index).copied()?;
    serde_json::from_str(part.get()).ok()
}

/// Starts a tool step that no message announced.
fn write_execution_start(line: &EventLine<'_>, out: &mut Writer<'_>) {
    let call = line.call.as_deref().unwrap_or("");
    if out.find_open_tool(call).is_none() {
        let step = out.start_tool(tool_start(call, line.tool.as_deref().unwrap_or("")));
        if let Some(args) = line.args {
            out.set_arguments(step, args.get());
        }
        out.mark_tool_ready(step);
    }
}

/// Writes a finished compaction, or its error.
fn write_compaction(line: &EventLine<'_>, out: &mut Writer<'_>) {
    object! { ResultFields { summary; skip _ } }
    if line.aborted.is_some_and(is_true) {
        return;
    }
    match line.result.and_then(ResultFields::from_raw) {
        Some(result) => {
            let summary = result.summary.and_then(as_string);
            out.append_event(Event::HistoryCompacted { summary });
        }
        None => out.append_notice(NoticeLevel::Warning, line.error_words.as_deref().unwrap_or("")),
    }
}

/// Parses token counts and cost.
fn parse_usage(raw: &RawValue) -> Usage {
    object! { UsageFields {
        input, output, cache_read = "cacheRead", cache_write = "cacheWrite", cost,
        ; skip _
    } }
    object! { CostFields { total; skip _ } }
    let usage = UsageFields::from_raw(raw).unwrap_or_default();
    let UsageFields { input, output, cache_read, cache_write, cost } = usage;
    let cost = cost.and_then(|raw| CostFields::from_raw(raw)?.total);
    Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        cache_read_tokens: cache_read.and_then(as_scalar),
        cache_write_tokens: cache_write.and_then(as_scalar),
        cost_usd: cost.and_then(as_scalar),
        ..Usage::default()
    }
}
