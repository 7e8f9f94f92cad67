//! Dialect of `pi --mode json`: turns of one assistant message and its tools.
//!
//! Text is incremental: `delta` is read; `partial` is ahead of it and is not. Whole messages repeat
//! the deltas and are written only if there were none. A run ends at `agent_end`; a later
//! compaction does not reopen it. A retry withdraws the text of the failed attempt.

mod message_parts;
mod tools;

use crate::event::{
    Event, FailureReason, NoticeLevel, StopReason, TextMode, UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Text, array_elements, as_scalar, as_string, is_true, object, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, Writer};

use super::{Dialect, Unreadable};

use message_parts::{MessageParts, parse_part_at};
use tools::{build_tool_start, content_member, content_text, end_tool_with_result_if_open};

/// Parser state of the `pi` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pi {
    parts: MessageParts,
    last_ending: MessageEnding,
    /// Prompt whose `message_end` has not arrived.
    open_prompt: Option<Fingerprint>,
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
        match probe.type_text() {
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
        out.append_unknown_fields_once(&line.unknown);
        match line.kind.as_deref().unwrap_or("") {
            "message_update" => {
                self.apply_assistant_event(line.event.unwrap_or_default(), frame.data, out);
            }
            "message_start" => self.apply_message_start(&parse_message(&line)?, frame.data, out),
            "message_end" => self.apply_message_end(&parse_message(&line)?, out),
            "tool_execution_start" => start_ready_tool_unless_open(&line, out),
            "tool_execution_update" => {
                if let Some(step) = line.call.as_deref().and_then(|call| out.find_open_tool(call)) {
                    let content = content_member(line.partial_result);
                    out.append_rest_or_replace_output(step, &content_text(content));
                }
            }
            "tool_execution_end" => {
                let call = line.call.as_deref().unwrap_or("");
                if out.find_open_tool(call).is_none() {
                    out.append_unrecognised(UnrecognisedReason::Late, frame.data);
                }
                end_tool_with_result_if_open(call, content_member(line.result), line.is_error, out);
            }
            "agent_end" => self.report_end_unless_message_open(out),
            "compaction_end" | "auto_compaction_end" => {
                write_compaction_or_warning_unless_aborted(&line, out);
            }
            "auto_retry_start" => {
                out.withdraw_whole_round_and_end_it();
                out.append_stateless_event(Event::RetryScheduled {
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
        out.append_unknown_fields_once(&message.unknown);
        match message.role.as_deref().unwrap_or("") {
            "assistant" => {
                self.parts.clear();
                self.last_ending = MessageEnding::Open;
                out.start_round_or_end_run(message.model.as_deref(), None);
            }
            "user" => {
                let text = content_text(message.content);
                self.open_prompt = Some(Fingerprint::from_text(&text));
                out.append_prompt_unless_finish_requested(&text);
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
        out.append_unknown_fields_once(&event.unknown);
        if self.last_ending == MessageEnding::None {
            self.last_ending = MessageEnding::Open;
        }
        let index = event.index.unwrap_or(0);
        let delta = event.delta.as_deref().unwrap_or("");
        match event.kind.as_deref().unwrap_or("") {
            "text_delta" => self.parts.append_text(index, delta, out),
            "thinking_delta" => self.parts.append_reasoning(index, delta, out),
            "toolcall_start" => {
                let part = event.partial.and_then(|partial| parse_part_at(partial, index));
                self.parts.start_named_tool_call_once(index, &part.unwrap_or_default(), out);
            }
            "toolcall_delta" => self.parts.append_arguments_if_started(index, delta, out),
            // An end repeats its deltas: what it has beyond them is written.
            "text_end" => {
                self.parts.write_rest_of_text(index, event.content.as_deref(), out);
            }
            "thinking_end" => {
                self.parts.write_and_end_thinking_unless_streamed(
                    index,
                    event.content.as_deref(),
                    out,
                );
            }
            "toolcall_end" => {
                self.parts.ensure_tool_call_and_emit_ready(
                    index,
                    &event.call.unwrap_or_default(),
                    out,
                );
            }
            "start" | "text_start" | "thinking_start" | "done" | "error" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies the end of an assistant, user or tool message.
    fn apply_message_end(&mut self, message: &Message<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&message.unknown);
        match message.role.as_deref().unwrap_or("") {
            "assistant" => self.apply_assistant_end(message, out),
            "user" => {
                // Its start may have been missed.
                let text = content_text(message.content);
                let print = Fingerprint::from_text(&text);
                if self
                    .open_prompt
                    .take()
                    .is_none_or(|written| !written.is_same_trimmed_text(&print))
                {
                    out.append_prompt_unless_finish_requested(&text);
                }
            }
            "toolResult" => {
                let call = message.call.as_deref().unwrap_or("");
                end_tool_with_result_if_open(call, message.content, message.is_error, out);
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
            out.append_unknown_fields_once(&part.unknown);
            match part.kind.as_deref().unwrap_or("") {
                "text" => self.parts.write_rest_of_text(index, part.text.as_deref(), out),
                "thinking" => {
                    self.parts.write_and_end_thinking_unless_streamed(
                        index,
                        part.thinking.as_deref(),
                        out,
                    );
                }
                "toolCall" => self.parts.ensure_tool_call_and_emit_ready(index, &part, out),
                _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
            }
        }
        if let Some(usage) = message.usage {
            out.update_or_emit_round_usage(parse_usage(usage));
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
    fn report_end_unless_message_open(&mut self, out: &mut Writer<'_>) {
        match &self.last_ending {
            MessageEnding::None => out.report_completed_unless_failed(StopReason::Other),
            // The message's end was lost, and maybe some text: not an ending.
            MessageEnding::Open => {}
            MessageEnding::Stopped(stop) => out.report_completed_unless_failed(*stop),
            MessageEnding::Failed(words) => {
                out.report_failed_and_end_text(FailureReason::Error, words);
            }
            MessageEnding::Aborted(words) => out.report_cancelled_and_end_text(words),
        }
    }
}

/// Parses the message of a line.
fn parse_message<'a>(line: &EventLine<'a>) -> Result<Message<'a>, Unreadable> {
    let raw = line.message.ok_or(Unreadable)?;
    serde_json::from_str(raw.get()).map_err(|_| Unreadable)
}

/// Starts a tool step that no message announced.
fn start_ready_tool_unless_open(line: &EventLine<'_>, out: &mut Writer<'_>) {
    let call = line.call.as_deref().unwrap_or("");
    if out.find_open_tool(call).is_none() {
        let step = out.start_tool(build_tool_start(call, line.tool.as_deref().unwrap_or("")));
        if let Some(args) = line.args {
            out.replace_arguments_if_changed(step, args.get());
        }
        out.emit_tool_ready_once(step);
    }
}

/// Writes a finished compaction, or its error.
fn write_compaction_or_warning_unless_aborted(line: &EventLine<'_>, out: &mut Writer<'_>) {
    object! { ResultFields { summary; skip _ } }
    if line.aborted.is_some_and(is_true) {
        return;
    }
    match line.result.and_then(ResultFields::from_raw) {
        Some(result) => {
            let summary = result.summary.and_then(as_string);
            out.append_stateless_event(Event::HistoryCompacted { summary });
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
