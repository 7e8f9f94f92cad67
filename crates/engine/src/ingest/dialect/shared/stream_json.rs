//! Parser of the `stream-json` output of Claude Code and Qwen Code: one object per line.
//! `stream_event` wraps the events of an Anthropic reply, `assistant` lines repeat its blocks
//! whole, `user` lines carry tool results, `result` ends the run.
//!
//! Does: write each block once, streamed or whole; write sub-agents below their tool.
//! Does not: end the run when a reply ends. The agents' differences are in [`StreamJsonVariant`].

mod asks;
mod seen_blocks;
mod seen_lines;
mod streamed_blocks;
mod sub_agents;
mod system;
mod whole_blocks;

use crate::event::{StopReason, UnrecognisedReason};
use crate::ingest::frame::{Frame, FrameOrigin};
use crate::ingest::json::{RawValue, Text, as_string, object};
use crate::ingest::time::parse_iso_millis;
use crate::run::{Fingerprint, Writer};

use super::cli_agent::PendingError;
use crate::ingest::dialect::anthropic::{
    Anthropic, ClientToolMapper, parse_stop_reason, parse_usage, report_refusal_and_end_text,
};
use crate::ingest::dialect::{Dialect, Unreadable};

use asks::PermissionAsks;
use seen_blocks::{SeenBlocks, ShowDecision};
use seen_lines::SeenLines;
use sub_agents::SubAgents;

/// Differences of one agent's `stream-json` output.
#[derive(Debug, PartialEq)]
pub(crate) struct StreamJsonVariant {
    /// Matching of whole blocks to streamed messages.
    pub(crate) repeat_matching: RepeatMatching,
    /// Builds the tool start of a call.
    pub(crate) tool_start: ClientToolMapper,
    /// Ignored fields that only this agent has.
    pub(crate) ignored_fields: &'static [&'static str],
    /// Ignored events inside `stream_event`.
    pub(crate) ignored_events: &'static [&'static str],
}

/// Matching of a whole block to the streamed message that it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepeatMatching {
    /// Both have the same message id.
    ById,
    /// Ids differ; the block arrives while the message streams.
    ByPosition,
}

/// Incremental parser of `stream-json` lines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StreamJson {
    variant: &'static StreamJsonVariant,
    reply: Anthropic,
    seen_blocks: SeenBlocks,
    seen_lines: SeenLines,
    round: CurrentRound,
    sub_agents: SubAgents,
    asks: PermissionAsks,
    pending_error: PendingError,
    /// The person has interrupted the last reply.
    is_interrupted: bool,
}

/// The open or last model call.
#[derive(Clone, Debug, Default, PartialEq)]
struct CurrentRound {
    id: Fingerprint,
    stop: Option<StopReason>,
    /// A tool result arrived since it began.
    has_tool_result: bool,
    /// Its whole lines, by which the source may retract them.
    line_fingerprints: Vec<Fingerprint>,
}

/// Lines of one round that can be retracted by id.
const ROUND_LINES_MAX: usize = 64;

object! { StreamLine {
    kind: Text<'a> = "type",
    subtype: Text<'a> = "subtype",
    parent: Text<'a> = "parent_tool_use_id",
    event: &'a RawValue = "event",
    message: &'a RawValue = "message",
    timestamp: Text<'a> = "timestamp",
    uuid: Text<'a> = "uuid",
    abandoned: &'a RawValue = "abandoned_blocks",
    supersedes: &'a RawValue = "supersedes",
    retracted: &'a RawValue = "retracted_message_uuids",
    error: &'a RawValue = "error",
    error_status: &'a RawValue = "error_status",
    is_api_error: &'a RawValue = "is_api_error_message",
    is_synthetic: &'a RawValue = "isSynthetic",
    result_meta: &'a RawValue = "tool_result_meta",
    result: &'a RawValue = "result",
    is_error: &'a RawValue = "is_error",
    errors: &'a RawValue = "errors",
    stop_reason: Text<'a> = "stop_reason",
    terminal_reason: Text<'a> = "terminal_reason",
    cost: &'a RawValue = "total_cost_usd",
    usage: &'a RawValue = "usage",
    attempt: &'a RawValue = "attempt",
    attempts_max: &'a RawValue = "max_retries",
    retry_delay: &'a RawValue = "retry_delay_ms",
    call: Text<'a> = "tool_use_id",
    elapsed: &'a RawValue = "elapsed_time_seconds",
    text: &'a RawValue = "text",
    content: &'a RawValue = "content",
    summary: &'a RawValue = "summary",
    description: &'a RawValue = "description",
    level: Text<'a> = "level",
    request_id: Text<'a> = "request_id",
    request: &'a RawValue = "request",
    response: &'a RawValue = "response",
    ; skip "session_id" | "cwd" | "tools" | "mcp_servers" | "model" | "slash_commands" | "agents"
        | "tool_use_result" | "isReplay" | "duration_ms" | "duration_api_ms" | "num_turns"
        | "permission_denials" | "tool_name" | "status" | "subagent_type"
} }

object! { StreamEvent {
    kind: Text<'a> = "type",
    index: u64 = "index",
    delta: StreamDelta<'a> = "delta",
    block: &'a RawValue = "content_block",
    message: &'a RawValue = "message",
    usage: &'a RawValue = "usage",
    ; skip "context_management" | "request_id" | "service_tier" | "api_message_id"
} }

object! { StreamDelta {
    kind: Text<'a> = "type",
    text: Text<'a> = "text",
    thinking: Text<'a> = "thinking",
    partial_json: Text<'a> = "partial_json",
    stop_reason: Text<'a> = "stop_reason",
    stop_details: &'a RawValue = "stop_details",
    ; skip "stop_sequence" | "container"
} }

object! { MessageFields {
    id, model, content, usage, stop_reason, stop_details,
    ; skip "type" | "role" | "stop_sequence" | "context_management" | "container" | "diagnostics"
} }

object! { BlockFields { kind = "type", call = "id", text, name, input, thinking; skip _ } }

impl StreamJson {
    /// Creates a parser that has seen no line.
    pub(crate) fn new(variant: &'static StreamJsonVariant) -> StreamJson {
        StreamJson {
            variant,
            reply: Anthropic::with_client_tools(variant.tool_start),
            seen_blocks: SeenBlocks::default(),
            seen_lines: SeenLines::default(),
            round: CurrentRound::default(),
            sub_agents: SubAgents::default(),
            asks: PermissionAsks::default(),
            pending_error: PendingError::default(),
            is_interrupted: false,
        }
    }

    /// Parses one line and writes its events.
    pub(crate) fn push_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let mut line = StreamLine::default();
        line.read(frame.data)?;
        line.unknown.retain(|(name, _)| !self.variant.ignored_fields.contains(&name.as_str()));
        out.append_unknown_fields_once(&line.unknown);
        if let Some(at) = line.timestamp.as_deref().and_then(parse_iso_millis) {
            out.set_timestamp(at);
        }
        if matches!(line.kind.as_deref(), Some("stream_event" | "assistant" | "user")) {
            self.pending_error.write_held_error_or_forget_reported(out);
        }
        match line.kind.as_deref().unwrap_or("") {
            "stream_event" => self.apply_stream_event(&line, frame, out)?,
            "assistant" => self.apply_assistant_line(&line, frame, out)?,
            "user" => self.apply_user_line(&line, frame, out)?,
            "result" => self.apply_result_line(&line, out),
            "system" => self.apply_system_line(&line, frame, out),
            "control_request" | "control_response" | "control_cancel_request" => {
                self.apply_control_line(&line, frame, out);
            }
            "tool_progress" => system::write_tool_elapsed_seconds(&line, out),
            "tool_use_summary" => system::write_info_notice(line.summary, out),
            "rate_limit_event" | "auth_status" | "prompt_suggestion" | "keep_alive"
            | "conversation_reset" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    /// Ends the input: ends denied calls without a result and writes a held error.
    pub(crate) fn finish(&mut self, out: &mut Writer<'_>) {
        self.asks.end_denied_calls_without_result(out);
        self.pending_error.write_held_error_or_forget_reported(out);
    }

    /// Applies a `stream_event` line: records its block and passes it to the Anthropic parser if it
    /// is new.
    fn apply_stream_event(
        &mut self,
        line: &StreamLine<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let raw = line.event.ok_or(Unreadable)?;
        let mut event = StreamEvent::default();
        event.read(raw.get())?;
        let kind = event.kind.as_deref().unwrap_or("");
        if self.variant.ignored_events.contains(&kind) {
            return Ok(());
        }
        if let Some(parent) = line.parent.as_deref() {
            self.apply_sub_agent_event(parent, &event, frame, out);
            return Ok(());
        }
        let show = match kind {
            "message_start" => self.apply_message_start(&event, out),
            "message_delta" => {
                self.apply_message_delta(&event, out);
                ShowDecision::Nothing
            }
            "message_stop" => {
                out.append_unknown_fields_once(&event.unknown);
                self.apply_message_stop(line, out);
                ShowDecision::Nothing
            }
            "content_block_start" => {
                self.record_block_start_ending_previous_message("", &event, out)
            }
            "content_block_delta" => match self.record_delta_and_decide_if_new("", &event) {
                ShowDecision::All => self.write_delta_if_start_missed(&event, out),
                show => show,
            },
            "content_block_stop" => {
                if self
                    .seen_blocks
                    .ensure_streaming_message("")
                    .record_stop_and_detect_text_end(event.index.unwrap_or(0))
                {
                    out.close_message_and_defer_end();
                }
                ShowDecision::All
            }
            _ => ShowDecision::All,
        };
        if show == ShowDecision::All {
            let inner = Frame { name: "", id: "", data: raw.get(), origin: FrameOrigin::Agent };
            self.reply.push_frame(inner, out)?;
        }
        Ok(())
    }

    /// Records a streamed message and ends the round before it, unless the round is its own.
    fn apply_message_start(
        &mut self,
        event: &StreamEvent<'_>,
        out: &mut Writer<'_>,
    ) -> ShowDecision {
        let id = event.message.and_then(|raw| MessageFields::from_raw(raw)?.id).and_then(as_string);
        let id = id.unwrap_or_default();
        self.seen_blocks.record_streamed_message_start("", &id);
        if out.has_open_round() && !id.is_empty() && self.round.id == Fingerprint::from_text(&id) {
            return ShowDecision::Nothing;
        }
        self.end_round_and_set_next_id(&id, out);
        ShowDecision::All
    }

    /// Ends the previous round and resets the state; the caller opens the next round.
    fn end_round_and_set_next_id(&mut self, id: &str, out: &mut Writer<'_>) {
        let before = std::mem::take(&mut self.round);
        out.end_round(before.reported_or_inferred_stop());
        self.round.id = Fingerprint::from_text(id);
    }

    /// Applies the usage and stop reason of a message.
    fn apply_message_delta(&mut self, event: &StreamEvent<'_>, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&event.unknown);
        if let Some(usage) = event.usage {
            out.update_or_emit_round_usage(parse_usage(usage));
        }
        let Some(delta) = &event.delta else { return };
        out.append_unknown_fields_once(&delta.unknown);
        if let Some(reason) = &delta.stop_reason {
            self.record_stop_or_fail_run(reason, delta.stop_details, out);
        }
    }

    /// Records a stop reason; a refusal fails the run.
    fn record_stop_or_fail_run(
        &mut self,
        reason: &str,
        details: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) {
        match parse_stop_reason(reason) {
            Some(stop) => self.round.stop = Some(stop),
            None => report_refusal_and_end_text(details, out),
        }
    }

    /// Ends the streamed message; ends its round if it stopped for tools.
    fn apply_message_stop(&mut self, line: &StreamLine<'_>, out: &mut Writer<'_>) {
        if line.abandoned.is_some() {
            self.withdraw_open_round(out);
            return;
        }
        self.seen_blocks.mark_stream_stopped("");
        // Any other stop may be the last: `result` must find the round open.
        if self.round.stop == Some(StopReason::Tools) {
            out.end_round(Some(StopReason::Tools));
        }
    }

    /// Withdraws the open round, which the source will send again.
    fn withdraw_open_round(&mut self, out: &mut Writer<'_>) {
        self.seen_blocks.forget_newest_of_parent("");
        self.round = CurrentRound::default();
        out.withdraw_whole_round_and_end_it();
    }
}
