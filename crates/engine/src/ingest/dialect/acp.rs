//! Dialect of the Agent Client Protocol, versions 1 and 2: JSON-RPC lines of the agent or of both
//! sides.
//!
//! Text is incremental; version 2 may also send whole messages. A turn ends with the response to
//! `session/prompt`, which has a `stopReason`, or with a `state_update` that has one. Rounds are
//! not marked. A `session/request_permission` may be the only mention of a call.

mod content;
mod messages;
mod request;
mod tool_calls;

use std::collections::VecDeque;

use crate::event::{Event, NoticeLevel, TextMode, UnrecognisedReason, Usage};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, object};
use crate::ingest::probe::{Likeness, Probe};
use crate::limits::ASSEMBLED_TEXT_BYTES_MAX;
use crate::run::{Fingerprint, RoundBoundaries, Writer};

use super::shared::cli_agent::LastModelOutput;
use super::shared::thought_drafts::ThoughtDrafts;
use super::shared::usage::UsageNames;
use super::{Dialect, Unreadable};

use content::AgentMeta;
use messages::AgentMessages;
use request::PendingRequest;
use tool_calls::ToolCalls;

/// Parser state of the `acp` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Acp {
    /// User message that is being received.
    pending_prompt: Option<PendingPrompt>,
    /// Prompt that the client sent, until the agent echoes it.
    sent_prompt: Option<Fingerprint>,
    /// Id and text of the last user message from the agent.
    last_prompt: (String, Fingerprint),
    messages: AgentMessages,
    thoughts: ThoughtDrafts,
    tools: ToolCalls,
    pending_requests: VecDeque<PendingRequest>,
    compaction_summary: String,
}

/// A user message received in chunks.
#[derive(Clone, Debug, Default, PartialEq)]
struct PendingPrompt {
    id: String,
    text: String,
}

object! { RpcMessage {
    id: &'a RawValue = "id",
    method: Text<'a> = "method",
    params: &'a RawValue = "params",
    result: &'a RawValue = "result",
    error: &'a RawValue = "error",
    ; skip "jsonrpc" | "_meta"
} }

object! { Params {
    update: &'a RawValue = "update",
    prompt: &'a RawValue = "prompt",
    options: &'a RawValue = "options",
    tool_call: &'a RawValue = "toolCall",
    model: Text<'a> = "modelId",
    ; skip "sessionId" | "_meta" | "messageId"
} }

object! { SessionUpdate {
    kind: Text<'a> = "sessionUpdate",
    message: Text<'a> = "messageId",
    content: &'a RawValue = "content",
    entries: &'a RawValue = "entries",
    mode: Text<'a> = "currentModeId",
    cost: &'a RawValue = "cost",
    severity: Text<'a> = "severity",
    title: Text<'a> = "title",
    description: Text<'a> = "description",
    status: Text<'a> = "status",
    stop_reason: Text<'a> = "stopReason",
    meta: &'a RawValue = "_meta",
    ; skip "state" | "used" | "size" | "compactionId" | "availableCommands" | "configOptions"
        | "updatedAt" | "toolCallId" | "name" | "kind" | "rawInput" | "rawOutput" | "locations"
        | "_note"
} }

const USAGE: UsageNames = UsageNames {
    input: "inputTokens",
    output: "outputTokens",
    reasoning: "thoughtTokens",
    cache_read: "cachedReadTokens",
    cache_write: "cachedWriteTokens",
};

impl Dialect for Acp {
    const NAME: &'static str = "acp";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_session = || ["sessionId", "cwd"].iter().any(|key| probe.has_nested("params", key));
        let ours = match probe.text_member("method").as_deref() {
            Some("session/update") => probe.has_nested("params", "update"),
            Some("session/prompt" | "session/request_permission" | "session/new") => of_session(),
            Some("initialize") => probe.has_nested("params", "clientCapabilities"),
            Some(_) => false,
            None => ["agentCapabilities", "stopReason"]
                .iter()
                .any(|key| probe.has("jsonrpc") && probe.has_nested("result", key)),
        };
        if ours { Likeness::Yes } else { Likeness::maybe_if(probe.has("jsonrpc")) }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: RpcMessage<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.set_round_boundaries(RoundBoundaries::AfterToolResults);
        out.append_unknown_fields_once(&line.unknown);
        let Some(method) = &line.method else {
            self.flush_prompt_unless_repeated(out);
            self.apply_response(&line, frame, out);
            return Ok(());
        };
        let params: Params<'_> = match line.params {
            // Other methods may have params of any shape.
            Some(raw) if method.starts_with("session/") => {
                serde_json::from_str(raw.get()).map_err(|_| Unreadable)?
            }
            _ => Params::default(),
        };
        if &**method != "session/update" {
            self.flush_prompt_unless_repeated(out);
            self.apply_request(method, line.id, &params, frame, out);
            return Ok(());
        }
        out.append_unknown_fields_once(&params.unknown);
        let Some(raw) = params.update else {
            return Err(Unreadable);
        };
        let update: SessionUpdate<'_> = serde_json::from_str(raw.get()).map_err(|_| Unreadable)?;
        self.apply_update(&update, raw, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.flush_prompt_unless_repeated(out);
    }
}

/// Session updates.
impl Acp {
    /// Applies one session update.
    fn apply_update(&mut self, update: &SessionUpdate<'_>, raw: &RawValue, out: &mut Writer<'_>) {
        let kind = update.kind.as_deref().unwrap_or("");
        if !matches!(kind, "user_message_chunk" | "user_message") {
            self.flush_prompt_unless_repeated(out);
        }
        if !matches!(kind, "tool_call" | "tool_call_update" | "tool_call_content_chunk") {
            out.append_unknown_fields_once(&update.unknown);
        }
        match kind {
            "agent_message_chunk" | "agent_thought_chunk" | "agent_message" | "agent_thought" => {
                self.apply_agent_content(kind, update, raw, out);
            }
            "user_message_chunk" | "user_message" => {
                self.hold_prompt_and_flush_other(kind, update, out);
            }
            "tool_call" | "tool_call_update" => self.tools.apply_update(kind, raw, out),
            "tool_call_content_chunk" => ToolCalls::write_content_chunk(raw, out),
            "plan" | "plan_update" if let Some(entries) = update.entries => {
                out.append_notice(NoticeLevel::Info, &content::format_plan(entries));
            }
            "current_mode_update" => {
                let mode = update.mode.as_deref().unwrap_or("?");
                out.append_notice(NoticeLevel::Info, &format!("mode: {mode}"));
            }
            "usage_update" => {
                if let Some(cost_usd) = update.cost.and_then(content::parse_cost_usd) {
                    out.emit_run_usage(Usage { cost_usd: Some(cost_usd), ..Usage::default() });
                }
            }
            "notice" => write_notice(update, out),
            "compaction_summary_chunk" => {
                let text = update.content.map(content::block_text).unwrap_or_default();
                hold_text_up_to_limit_or_write_unrecognised(
                    &mut self.compaction_summary,
                    &text,
                    out,
                );
            }
            "compaction_update" => self.apply_compaction_status(update.status.as_deref(), out),
            "state_update" => {
                if let Some(reason) = &update.stop_reason {
                    self.report_turn_end_and_end_round(reason, out);
                }
            }
            "available_commands_update" | "config_option_update" | "session_info_update" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }

    /// Applies text, images or reasoning of the agent or of a sub-agent.
    fn apply_agent_content(
        &mut self,
        kind: &str,
        update: &SessionUpdate<'_>,
        raw: &RawValue,
        out: &mut Writer<'_>,
    ) {
        let meta = update.meta.map(AgentMeta::parse).unwrap_or_default();
        let id = update.message.as_deref().unwrap_or("");
        let is_message = matches!(kind, "agent_message" | "agent_message_chunk");
        let text = update.content.map(content::block_text).unwrap_or_default();
        let images = update.content.filter(|_| is_message).map(content::parse_images);
        let images = images.unwrap_or_default();
        if update.content.is_some_and(content::has_unknown_blocks) {
            out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
        }
        if let Some(call) = meta.parent.as_deref() {
            match out.find_open_tool(call) {
                Some(step) if is_message => {
                    out.append_output_if_open(step, &text);
                    for image in images {
                        out.append_output_image(step, image);
                    }
                }
                // Reasoning of a sub-agent is not tool output.
                Some(_) => {}
                None => out.append_unrecognised(UnrecognisedReason::Late, raw.get()),
            }
            return;
        }
        let shown_before = kind == "agent_message" && self.messages.has_text_of_message(id);
        match kind {
            // An update without content changes other fields.
            "agent_message" if update.content.is_none() && !content::is_content_null(raw) => {}
            "agent_message" => {
                self.thoughts.end_open_steps(out);
                self.messages.write_or_replace_whole_message(id, &text, out);
            }
            "agent_thought" => self.thoughts.push_text_so_far(id, &text, out),
            "agent_thought_chunk" => self.thoughts.append_text(id, &text, out),
            _ => {
                // Thoughts have no end of their own.
                self.thoughts.end_open_steps(out);
                self.messages.append_chunk(id, &text, out);
            }
        }
        if !shown_before {
            if is_message && !(text.trim_ascii().is_empty() && images.is_empty()) {
                self.tools.last_output = LastModelOutput::Text;
            }
            for image in images {
                out.append_message_image(image);
                self.messages.disable_restating_for_images();
            }
        }
        if let Some(usage) = meta.usage {
            out.update_or_emit_round_usage(USAGE.parse_usage_by_names(usage));
        }
    }

    /// Buffers a user message until something else arrives.
    fn hold_prompt_and_flush_other(
        &mut self,
        kind: &str,
        update: &SessionUpdate<'_>,
        out: &mut Writer<'_>,
    ) {
        let id = update.message.as_deref().unwrap_or("");
        let text = update.content.map(content::block_text).unwrap_or_default();
        if self.pending_prompt.as_ref().is_some_and(|prompt| prompt.id != id) {
            self.flush_prompt_unless_repeated(out);
        }
        let prompt = self.pending_prompt.get_or_insert_default();
        id.clone_into(&mut prompt.id);
        if kind == "user_message" {
            prompt.text.clear();
        }
        hold_text_up_to_limit_or_write_unrecognised(&mut prompt.text, &text, out);
    }

    /// Writes the buffered user message, unless it is an echo or a repeat.
    fn flush_prompt_unless_repeated(&mut self, out: &mut Writer<'_>) {
        let Some(prompt) = self.pending_prompt.take() else { return };
        let print = Fingerprint::from_text(&prompt.text);
        let echo = self.sent_prompt.take().is_some_and(|sent| sent.is_same_trimmed_text(&print));
        let (id, last) = &self.last_prompt;
        let again = !prompt.id.is_empty() && *id == prompt.id && last.is_same_trimmed_text(&print);
        if !echo && !again {
            self.write_prompt_between_rounds(&prompt.text, out);
        }
        self.last_prompt = (prompt.id, print);
    }

    /// Ends the round, writes a prompt and starts the next round.
    fn write_prompt_between_rounds(&mut self, text: &str, out: &mut Writer<'_>) {
        out.end_round(None);
        out.append_prompt_unless_finish_requested(text);
        out.ensure_round_or_end_run();
        self.tools.last_output = LastModelOutput::Text;
    }

    /// Applies a compaction status.
    fn apply_compaction_status(&mut self, status: Option<&str>, out: &mut Writer<'_>) {
        match status {
            Some("completed") => {
                let summary = std::mem::take(&mut self.compaction_summary);
                let summary = (!summary.is_empty()).then(|| summary.into());
                out.append_stateless_event(Event::HistoryCompacted { summary });
            }
            Some("failed") => out.append_notice(NoticeLevel::Warning, "history compaction failed"),
            _ => self.compaction_summary.clear(),
        }
    }
}

/// Appends a piece to a buffer; writes it as unrecognised past the limit.
fn hold_text_up_to_limit_or_write_unrecognised(
    held: &mut String,
    piece: &str,
    out: &mut Writer<'_>,
) {
    if held.len() + piece.len() <= ASSEMBLED_TEXT_BYTES_MAX {
        held.push_str(piece);
    } else {
        out.append_unrecognised(UnrecognisedReason::TooLong, piece);
    }
}

/// Writes a notice with title and description.
fn write_notice(update: &SessionUpdate<'_>, out: &mut Writer<'_>) {
    let level = match update.severity.as_deref() {
        Some("error") => NoticeLevel::Error,
        Some("warning") => NoticeLevel::Warning,
        _ => NoticeLevel::Info,
    };
    let words = [update.title.as_deref(), update.description.as_deref()];
    let words: Vec<&str> = words.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    out.append_notice(level, &words.join(": "));
}
