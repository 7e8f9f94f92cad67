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
mod item_events;
mod output;
mod reasoning;
mod response;
mod seen_items;
mod sequence;
mod text;
mod tool;

use crate::event::{StepId, TextMode, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, object};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::shared::message_drafts::MessageDrafts;
use super::{Dialect, Unreadable};
use delta::DeltaValue;
use item::{ItemKey, ResponseItem};
use response::report_provider_failure;
use sequence::Sequence;

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
        match probe.type_text() {
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
            self.apply_final_response_unless_repeated(&whole, "", out);
            return Ok(());
        }
        out.append_unknown_fields_once(&line.unknown);
        let kind = line.kind.as_deref().unwrap_or(frame.name);
        let event = kind.strip_prefix("response.").unwrap_or("");
        // Fast path: nearly all events are deltas.
        let delta = event.strip_suffix(".delta").map(|subject| (subject, "delta"));
        match delta.or_else(|| event.rsplit_once('.')) {
            Some((subject, verb)) => self.apply_item_event(subject, verb, &line, frame.data, out),
            None if !event.is_empty() => {
                self.apply_response_event(event, &line, frame.data, out)?;
                self.sequence.record_number_and_detect_repeat(line.sequence);
            }
            None => match kind {
                "error" => report_provider_failure(line.error.or(line.message).or(line.code), out),
                "keepalive" | "ping" => {}
                _ if line.error.is_some() => report_provider_failure(line.error, out),
                _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
            },
        }
        Ok(())
    }
}
