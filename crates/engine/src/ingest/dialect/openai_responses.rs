//! `OpenAI` Responses, and everybody who speaks like them: Azure, xAI, LM Studio, `DeepSeek`,
//! `OpenRouter`, llama.cpp, GitHub Copilot.
//!
//! Text is incremental. A reply ends at `response.completed`, `response.incomplete` or
//! `response.failed`. What deltas have said comes again in up to four `done` events and counts only
//! where no delta came. Whole replies are one object named `response`.
//!
//! Items are known by their `output_index`: some servers give them a new id in every event, others
//! have no index and keep the id.

mod delta;
mod item;
mod output;
mod reasoning;
mod response;
mod seen;
mod sequence;
mod text;
mod tool;

use crate::event::{ReasoningOrigin, StepId, TextMode, UnrecognisedReason};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, object};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::Writer;

use super::draft::Drafts;
use super::{Dialect, Unreadable};
use delta::DeltaOf;
use item::{Item, Key, MESSAGE, REASONING};
use response::fail;
use sequence::Sequence;
use text::Of;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenAiResponses {
    stage: Stage,
    /// The id of the response that is open, or was last.
    response: String,
    items: Vec<Item>,
    items_begun: u32,
    /// Messages that are not over, by the numbers of their items.
    drafts: Drafts<u32>,
    sequence: Sequence,
    /// A tool search that waits for its output, which does not name it.
    tool_search: Option<StepId>,
    left_open: LeftOpen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waiting,
    /// All items have been seen from the first on.
    Replying,
    /// The stream was joined in its middle: items may be missing, and are to stay so.
    Joined,
    Finished,
}

/// What a response leaves to others; the strongest decides how it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOpen {
    #[default]
    Nothing,
    Approval,
    Tools,
    Refusal,
}

object! { Line {
    kind: Text<'a> = "type",
    output_index: u64 = "output_index",
    item_id: Text<'a> = "item_id",
    content_index: u64 = "content_index",
    summary_index: u64 = "summary_index",
    command_index: u64 = "command_index",
    delta: DeltaOf<'a> = "delta",
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

object! { Response {
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

object! { Body {
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

impl Line<'_> {
    /// Where the item stands in the response.
    fn place(&self) -> Option<u64> {
        self.output_index
    }

    fn key(&self) -> Key<'_> {
        Key::new(self.place(), self.item_id.as_deref())
    }

    fn delta(&self) -> &str {
        match &self.delta {
            Some(DeltaOf::Text(text)) => text,
            Some(DeltaOf::Shell(_)) | None => "",
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
            _ => Likeness::yes_if(probe.text("object").as_deref() == Some("response")),
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = Line::default();
        line.read(frame.data)?;
        if line.object.as_deref() == Some("response") {
            let whole: Response<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
            self.end_response(&whole, "", out);
            return Ok(());
        }
        out.unknown_fields(&line.unknown);
        let kind = line.kind.as_deref().unwrap_or(frame.name);
        let event = kind.strip_prefix("response.").unwrap_or("");
        // Nearly all are deltas.
        let delta = event.strip_suffix(".delta").map(|subject| (subject, "delta"));
        match delta.or_else(|| event.rsplit_once('.')) {
            Some((subject, verb)) => self.item_event(subject, verb, &line, frame.data, out),
            None if !event.is_empty() => {
                self.response_event(event, &line, frame.data, out)?;
                self.sequence.is_repeat(line.sequence);
            }
            None => match kind {
                "error" => fail(line.error.or(line.message).or(line.code), out),
                "keepalive" | "ping" => {}
                _ if line.error.is_some() => fail(line.error, out),
                _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
            },
        }
        Ok(())
    }
}

impl OpenAiResponses {
    fn item_event(
        &mut self,
        subject: &str,
        verb: &str,
        line: &Line<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match self.stage {
            Stage::Replying | Stage::Joined => {}
            Stage::Waiting => {
                self.stage = Stage::Joined;
                out.round(None, None);
            }
            Stage::Finished => return out.unrecognised(UnrecognisedReason::Late, raw),
        }
        if self.sequence.is_repeat(line.sequence) {
            let begins = (subject, verb) == ("output_item", "added");
            if !begins || self.position(line.key()).is_some() {
                return out.unrecognised(UnrecognisedReason::Late, raw);
            }
            self.sequence = Sequence::Meaningless;
        }
        match verb {
            "delta" => self.delta(subject, line, raw, out),
            "done" => self.done_event(subject, line, raw, out),
            _ => self.other_event(subject, verb, line, raw, out),
        }
    }

    fn delta(&mut self, subject: &str, line: &Line<'_>, raw: &str, out: &mut Writer<'_>) {
        let part = line.content_index.unwrap_or_default();
        if subject == "output_text" && self.goes_on(line.place(), part, line.delta(), out) {
            return;
        }
        let late = |of_type| self.is_late(line.key(), of_type);
        match subject {
            "output_text" | "audio.transcript" | "refusal" if late(MESSAGE) => {
                out.unrecognised(UnrecognisedReason::Late, raw);
            }
            "reasoning_text" | "reasoning_summary_text" if late(REASONING) => {
                out.unrecognised(UnrecognisedReason::Late, raw);
            }
            "output_text" | "audio.transcript" => {
                self.text_delta(line.key(), part, line.delta(), out);
            }
            "refusal" => {
                self.left_open = LeftOpen::Refusal;
                self.text_delta(line.key(), part, line.delta(), out);
            }
            "reasoning_text" => {
                let origin = ReasoningOrigin::Native;
                self.reasoning_delta(line.key(), origin, part, line.delta(), out);
            }
            "reasoning_summary_text" => {
                let (origin, part) =
                    (ReasoningOrigin::Summary, line.summary_index.unwrap_or_default());
                self.reasoning_delta(line.key(), origin, part, line.delta(), out);
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
                if !self.arguments_delta(line.key(), element, line.delta(), out) {
                    out.unrecognised(UnrecognisedReason::Late, raw);
                }
            }
            "shell_call_output_content" => {
                if let Some(DeltaOf::Shell(piece)) = &line.delta {
                    out.unknown_fields(&piece.unknown);
                    self.output_delta(line.key(), piece, out);
                }
            }
            "audio" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// A part of an item is complete, and comes again as a whole.
    fn done_event(&mut self, subject: &str, line: &Line<'_>, raw: &str, out: &mut Writer<'_>) {
        let content = line.content_index.unwrap_or_default();
        let summary = line.summary_index.unwrap_or_default();
        let (key, of) = (line.key(), Of::Named(line.key()));
        match subject {
            "output_item" => {
                if let Some(item) = line.item {
                    self.item_done(line.place(), item, out);
                }
            }
            "output_text" => self.whole_text(of, content, line.text, out),
            "refusal" => {
                self.left_open = LeftOpen::Refusal;
                self.whole_text(of, content, line.refusal, out);
            }
            "reasoning_text" => {
                self.whole_reasoning(of, ReasoningOrigin::Native, content, line.text, out);
            }
            "reasoning_summary_text" => {
                self.whole_reasoning(of, ReasoningOrigin::Summary, summary, line.text, out);
            }
            "content_part" => self.whole_part(of, content, line.part, out),
            "reasoning_summary_part" => self.whole_part(of, summary, line.part, out),
            "function_call_arguments"
            | "custom_tool_call_input"
            | "mcp_call_arguments"
            | "mcp_call.arguments" => {
                if !self.whole_arguments(key, line.arguments.or(line.input), out) {
                    out.unrecognised(UnrecognisedReason::Late, raw);
                }
            }
            "code_interpreter_call_code"
            | "code_interpreter_call.code"
            | "apply_patch_call_operation_diff" => {
                self.whole_arguments(key, None, out);
            }
            // The item's own `done` says the same.
            "shell_call_command" | "shell_call_output_content" | "audio" | "audio.transcript" => {}
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    fn other_event(
        &mut self,
        subject: &str,
        verb: &str,
        line: &Line<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match (subject, verb) {
            ("output_item", "added") => {
                if let Some(item) = line.item {
                    self.item_added(line.place(), item, out);
                }
            }
            ("output_text.annotation", "added") => {
                if let Some(annotation) = line.annotation {
                    self.annotation(
                        line.key(),
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
                self.progress(line.key(), &verb.replace('_', " "), out);
            }
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}
