//! `OpenAI` Responses and compatible servers: Azure, xAI, LM Studio, `DeepSeek`, `OpenRouter`,
//! llama.cpp, GitHub Copilot.
//!
//! Text is incremental. A reply ends at `response.completed`, `response.incomplete` or
//! `response.failed`. Streamed content is repeated in up to four `done` events, which count only
//! where no delta came. Whole replies are one object named `response`.
//!
//! Items are identified by their `output_index`: some servers give them a new id in every event,
//! others have no index and keep the id.

mod delta;
mod item;
mod output;
mod reasoning;
mod response;
mod seen_items;
mod sequence;
mod text;
mod tool;

use crate::event::{ReasoningOrigin, StepId, TextMode, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, object};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::shared::message_drafts::MessageDrafts;
use super::{Dialect, Unreadable};
use delta::DeltaValue;
use item::{ItemKey, MESSAGE_TYPE, REASONING_TYPE, ResponseItem};
use response::write_failure;
use sequence::Sequence;
use text::ItemRef;

/// State of one Responses stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenAiResponses {
    stage: ResponseStage,
    /// Id of the open response, or of the last one.
    response_id: String,
    items: Vec<ResponseItem>,
    items_started: u32,
    /// Open messages, by item number.
    drafts: MessageDrafts<u32>,
    sequence: Sequence,
    /// A tool search without output; its output item does not name it.
    open_tool_search: Option<StepId>,
    pending_action: PendingAction,
}

/// Progress of the current response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResponseStage {
    #[default]
    Waiting,
    /// All items were seen from the first one on.
    Replying,
    /// The stream was joined midway: missing items are not read from the final list.
    JoinedMidway,
    Finished,
}

/// Follow-up that a response requires; the greatest value decides its stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum PendingAction {
    #[default]
    Nothing,
    Approval,
    Tools,
    Refusal,
}

object! { FramePayload {
    kind: Text<'a> = "type",
    output_index: u64 = "output_index",
    item_id: Text<'a> = "item_id",
    content_index: u64 = "content_index",
    summary_index: u64 = "summary_index",
    command_index: u64 = "command_index",
    delta: DeltaValue<'a> = "delta",
    text: &'a RawValue = "text",
    refusal: &'a RawValue = "refusal",
    arguments: &'a RawValue = "arguments",
    input: &'a RawValue = "input",
    item: &'a RawValue = "item",
    part: &'a RawValue = "part",
    annotation: &'a RawValue = "annotation",
    response: &'a RawValue = "response",
    error: &'a RawValue = "error",
    message: &'a RawValue = "message",
    code: &'a RawValue = "code",
    object: Text<'a> = "object",
    sequence: u64 = "sequence_number",
    ; skip "obfuscation" | "logprobs" | "annotation_index" | "param" | "command"
        | "output" | "diff" | "name" | "partial_image_index" | "partial_image_b64" | "size"
        | "quality" | "background" | "output_format" | "response_id" | "copilot_usage" | "timings"
} }

object! { ResponseBody {
    id: Text<'a> = "id",
    model: Text<'a> = "model",
    status: Text<'a> = "status",
    output: &'a RawValue = "output",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    incomplete_details: &'a RawValue = "incomplete_details",
    ; skip "object" | "created_at" | "completed_at" | "background" | "instructions"
        | "max_output_tokens" | "max_tool_calls" | "parallel_tool_calls" | "previous_response_id"
        | "prompt" | "prompt_cache_key" | "prompt_cache_retention" | "reasoning"
        | "safety_identifier" | "service_tier" | "store" | "temperature" | "text" | "tool_choice"
        | "tools" | "top_logprobs" | "top_p" | "truncation" | "user" | "metadata"
        | "frequency_penalty" | "presence_penalty" | "moderation" | "conversation" | "tool_usage"
        | "content_filters" | "output_text" | "context_management" | "billing" | "timings"
        | "copilot_usage"
} }

object! { ItemBody {
    kind: Text<'a> = "type",
    id: Text<'a> = "id",
    call_id: Text<'a> = "call_id",
    name: Text<'a> = "name",
    status: Text<'a> = "status",
    phase: Text<'a> = "phase",
    content: &'a RawValue = "content",
    summary: &'a RawValue = "summary",
    arguments: &'a RawValue = "arguments",
    input: &'a RawValue = "input",
    action: &'a RawValue = "action",
    actions: &'a RawValue = "actions",
    operation: &'a RawValue = "operation",
    code: &'a RawValue = "code",
    container_id: Text<'a> = "container_id",
    outputs: &'a RawValue = "outputs",
    output: &'a RawValue = "output",
    result: &'a RawValue = "result",
    queries: &'a RawValue = "queries",
    results: &'a RawValue = "results",
    server_label: Text<'a> = "server_label",
    tools: &'a RawValue = "tools",
    error: &'a RawValue = "error",
    environment: &'a RawValue = "environment",
    execution: Text<'a> = "execution",
    caller: &'a RawValue = "caller",
    prompt: &'a RawValue = "prompt",
    revised_prompt: &'a RawValue = "revised_prompt",
    output_format: Text<'a> = "output_format",
    safety_checks: &'a RawValue = "pending_safety_checks",
    approval: Text<'a> = "approval_request_id",
    approve: &'a RawValue = "approve",
    encrypted: Text<'a> = "encrypted_content",
    ; skip "role" | "max_output_length" | "fingerprint" | "quality" | "size"
        | "background" | "namespace" | "created_by" | "acknowledged_safety_checks" | "reason"
} }

object! { ShellDelta {
    stdout: Text<'a> = "stdout",
    stderr: Text<'a> = "stderr",
    ; skip "outcome"
} }

impl FramePayload<'_> {
    /// Index of the event's item in the response.
    fn item_index(&self) -> Option<u64> {
        self.output_index
    }

    /// Key of the event's item: its index and id.
    fn item_key(&self) -> ItemKey<'_> {
        ItemKey::new(self.item_index(), self.item_id.as_deref())
    }

    /// Text of the delta; empty for shell output.
    fn delta_text(&self) -> &str {
        match &self.delta {
            Some(DeltaValue::Text(text)) => text,
            Some(DeltaValue::Shell(_)) | None => "",
        }
    }
}

impl Dialect for OpenAiResponses {
    const NAME: &'static str = "openai-responses";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.kind() {
            kind if kind.starts_with("response.") => Likeness::Yes,
            "error" if probe.has("sequence_number") => Likeness::Yes,
            "error" => Likeness::maybe_if(probe.has("message")),
            "keepalive" => Likeness::Maybe,
            _ => Likeness::yes_if(probe.text_member("object").as_deref() == Some("response")),
        }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = FramePayload::default();
        line.read(frame.data)?;
        if line.object.as_deref() == Some("response") {
            let whole: ResponseBody<'_> =
                serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
            self.end_response(&whole, "", out);
            return Ok(());
        }
        out.append_unknown_fields(&line.unknown);
        let kind = line.kind.as_deref().unwrap_or(frame.name);
        let event = kind.strip_prefix("response.").unwrap_or("");
        // Fast path: nearly all events are deltas.
        let delta = event.strip_suffix(".delta").map(|subject| (subject, "delta"));
        match delta.or_else(|| event.rsplit_once('.')) {
            Some((subject, verb)) => self.apply_item_event(subject, verb, &line, frame.data, out),
            None if !event.is_empty() => {
                self.apply_response_event(event, &line, frame.data, out)?;
                self.sequence.record_is_repeat(line.sequence);
            }
            None => match kind {
                "error" => write_failure(line.error.or(line.message).or(line.code), out),
                "keepalive" | "ping" => {}
                _ if line.error.is_some() => write_failure(line.error, out),
                _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
            },
        }
        Ok(())
    }
}

impl OpenAiResponses {
    /// Applies an event about an item; writes a late or repeated one as unrecognised. Starts a
    /// round if the stream was joined midway.
    fn apply_item_event(
        &mut self,
        subject: &str,
        verb: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match self.stage {
            ResponseStage::Replying | ResponseStage::JoinedMidway => {}
            ResponseStage::Waiting => {
                self.stage = ResponseStage::JoinedMidway;
                out.start_round(None, None);
            }
            ResponseStage::Finished => {
                return out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
        }
        if self.sequence.record_is_repeat(line.sequence) {
            let begins = (subject, verb) == ("output_item", "added");
            if !begins || self.item_position(line.item_key()).is_some() {
                return out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
            self.sequence = Sequence::Meaningless;
        }
        match verb {
            "delta" => self.apply_delta(subject, line, raw, out),
            "done" => self.apply_done(subject, line, raw, out),
            _ => self.apply_other_event(subject, verb, line, raw, out),
        }
    }

    /// Applies a `.delta` event; `subject` is its name without that suffix.
    fn apply_delta(
        &mut self,
        subject: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let part = line.content_index.unwrap_or_default();
        if subject == "output_text"
            && self.try_append_to_current(line.item_index(), part, line.delta_text(), out)
        {
            return;
        }
        let late = |of_type| self.is_late_for_item(line.item_key(), of_type);
        match subject {
            "output_text" | "audio.transcript" | "refusal" if late(MESSAGE_TYPE) => {
                out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
            "reasoning_text" | "reasoning_summary_text" if late(REASONING_TYPE) => {
                out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
            "output_text" | "audio.transcript" => {
                self.apply_text_delta(line.item_key(), part, line.delta_text(), out);
            }
            "refusal" => {
                self.pending_action = PendingAction::Refusal;
                self.apply_text_delta(line.item_key(), part, line.delta_text(), out);
            }
            "reasoning_text" => {
                let origin = ReasoningOrigin::Native;
                self.apply_reasoning_delta(line.item_key(), origin, part, line.delta_text(), out);
            }
            "reasoning_summary_text" => {
                let (origin, part) =
                    (ReasoningOrigin::Summary, line.summary_index.unwrap_or_default());
                self.apply_reasoning_delta(line.item_key(), origin, part, line.delta_text(), out);
            }
            "function_call_arguments"
            | "custom_tool_call_input"
            | "mcp_call_arguments"
            | "mcp_call.arguments"
            | "code_interpreter_call_code"
            | "code_interpreter_call.code"
            | "apply_patch_call_operation_diff"
            | "shell_call_command" => {
                let element = line.command_index.unwrap_or_default();
                if !self.append_arguments(line.item_key(), element, line.delta_text(), out) {
                    out.append_unrecognised(UnrecognisedReason::Late, raw);
                }
            }
            "shell_call_output_content" => {
                if let Some(DeltaValue::Shell(piece)) = &line.delta {
                    out.append_unknown_fields(&piece.unknown);
                    self.append_output(line.item_key(), piece, out);
                }
            }
            "audio" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies a `.done` event: a part of an item is complete and is repeated as a whole.
    fn apply_done(
        &mut self,
        subject: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let content = line.content_index.unwrap_or_default();
        let summary = line.summary_index.unwrap_or_default();
        let (key, item_ref) = (line.item_key(), ItemRef::ByKey(line.item_key()));
        match subject {
            "output_item" => {
                if let Some(item) = line.item {
                    self.complete_item(line.item_index(), item, out);
                }
            }
            "output_text" => self.apply_whole_text(item_ref, content, line.text, out),
            "refusal" => {
                self.pending_action = PendingAction::Refusal;
                self.apply_whole_text(item_ref, content, line.refusal, out);
            }
            "reasoning_text" => {
                self.apply_whole_reasoning(
                    item_ref,
                    ReasoningOrigin::Native,
                    content,
                    line.text,
                    out,
                );
            }
            "reasoning_summary_text" => {
                self.apply_whole_reasoning(
                    item_ref,
                    ReasoningOrigin::Summary,
                    summary,
                    line.text,
                    out,
                );
            }
            "content_part" => self.apply_whole_part(item_ref, content, line.part, out),
            "reasoning_summary_part" => self.apply_whole_part(item_ref, summary, line.part, out),
            "function_call_arguments"
            | "custom_tool_call_input"
            | "mcp_call_arguments"
            | "mcp_call.arguments" => {
                if !self.complete_arguments(key, line.arguments.or(line.input), out) {
                    out.append_unrecognised(UnrecognisedReason::Late, raw);
                }
            }
            "code_interpreter_call_code"
            | "code_interpreter_call.code"
            | "apply_patch_call_operation_diff" => {
                self.complete_arguments(key, None, out);
            }
            // The item's `done` event repeats these.
            "shell_call_command" | "shell_call_output_content" | "audio" | "audio.transcript" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies the other item events: `added`, annotations and progress.
    fn apply_other_event(
        &mut self,
        subject: &str,
        verb: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match (subject, verb) {
            ("output_item", "added") => {
                if let Some(item) = line.item {
                    self.add_item(line.item_index(), item, out);
                }
            }
            ("output_text.annotation", "added") => {
                if let Some(annotation) = line.annotation {
                    self.apply_annotation(
                        line.item_key(),
                        line.content_index.unwrap_or_default(),
                        annotation,
                        out,
                    );
                }
            }
            ("content_part" | "reasoning_summary_part" | "shell_call_command", "added")
            | ("compaction", "compacting")
            | (_, "in_progress" | "completed" | "failed") => {}
            (_, "searching" | "interpreting" | "generating" | "partial_image") => {
                self.write_progress(line.item_key(), &verb.replace('_', " "), out);
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}
