//! `streamGenerateContent`: every frame is a complete response object that holds only new content.

mod provider_tools;

use std::borrow::Cow;

use crate::event::{FailureReason, ReasoningOrigin, StepId, StopReason, UnrecognisedReason, Usage};
use crate::ingest::dialect::Unreadable;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    InlineFirstVec, RawValue, Text, array_elements, as_string, json_object_of_strings, object,
};
use crate::run::{ToolStart, Writer};

use super::super::shared::call_ids::CallIds;
use super::finish_reason::{FinishKind, apply_finish_reason, failure_text, is_unspecified};
use super::partial_args::PartialArgs;
use super::report_error_and_end_text;
use super::sources::{CitedSources, parse_image};
use super::usage::parse_reply_usage;

use provider_tools::end_provider_tool;

/// State of one `streamGenerateContent` stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GenerateContent {
    response_id: String,
    reply_state: ReplyState,
    /// Calls without an id so far, in the whole run.
    call_ids: CallIds,
    /// The call whose arguments are still streaming.
    open_call: Option<OpenCall>,
    /// The code interpreter step without a result.
    running_code: Option<StepId>,
    cited_sources: CitedSources,
}

/// Progress of the current response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyState {
    #[default]
    Waiting,
    Replying {
        has_tool_calls: bool,
    },
    /// The `finishReason` was received.
    Finished {
        has_tool_calls: bool,
    },
    /// An error or a failing `finishReason` was received.
    Failed,
}

impl ReplyState {
    /// Returns true if the response has called a client tool.
    fn has_tool_calls(self) -> bool {
        match self {
            ReplyState::Waiting | ReplyState::Failed => false,
            ReplyState::Replying { has_tool_calls: asks_for_tools }
            | ReplyState::Finished { has_tool_calls: asks_for_tools } => asks_for_tools,
        }
    }
}

/// Content of a candidate, as far as it decides whether a new response starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CandidateContent {
    Empty,
    Content,
    /// Content with a `finishReason`; some servers repeat the reason in every frame.
    ContentAndFinish,
}

/// A function call whose arguments are still streaming.
#[derive(Clone, Debug, PartialEq)]
struct OpenCall {
    step: StepId,
    arguments: PartialArgs,
}

object! { Chunk {
    candidates: InlineFirstVec<Candidate<'a>> = "candidates",
    prompt_feedback: &'a RawValue = "promptFeedback",
    usage: &'a RawValue = "usageMetadata",
    model: Text<'a> = "modelVersion",
    response: Text<'a> = "responseId",
    error: &'a RawValue = "error",
    ; skip "createTime" | "modelStatus"
} }

object! { Candidate {
    index: u64 = "index",
    content: Content<'a> = "content",
    finish_reason: Text<'a> = "finishReason",
    finish_message: Text<'a> = "finishMessage",
    grounding: &'a RawValue = "groundingMetadata",
    citations: &'a RawValue = "citationMetadata",
    ; skip "safetyRatings" | "tokenCount" | "avgLogprobs" | "logprobsResult"
        | "urlContextMetadata" | "groundingAttributions"
} }

object! { Content {
    parts: InlineFirstVec<Part<'a>> = "parts",
    ; skip "role"
} }

object! { Part {
    text: Text<'a> = "text",
    thought: bool = "thought",
    function_call: FunctionCall<'a> = "functionCall",
    code: &'a RawValue = "executableCode",
    code_result: &'a RawValue = "codeExecutionResult",
    inline_data: &'a RawValue = "inlineData",
    file_data: &'a RawValue = "fileData",
    tool_call: &'a RawValue = "toolCall",
    tool_response: &'a RawValue = "toolResponse",
    signature: Text<'a> = "thoughtSignature",
    ; skip "partMetadata" | "mediaResolution" | "videoMetadata"
} }

object! { FunctionCall {
    id: Text<'a> = "id",
    name: Text<'a> = "name",
    args: &'a RawValue = "args",
    partial_args: &'a RawValue = "partialArgs",
    will_continue: bool = "willContinue",
    ; skip ""
} }

impl Candidate<'_> {
    /// Classifies the content of this candidate.
    fn classify_content(&self) -> CandidateContent {
        let content = self.content.as_ref().and_then(|content| content.parts.as_ref());
        match content.is_some_and(|parts| parts.iter().any(Part::has_content)) {
            false => CandidateContent::Empty,
            true if self.finish_reason.as_deref().is_none_or(is_unspecified) => {
                CandidateContent::Content
            }
            true => CandidateContent::ContentAndFinish,
        }
    }
}

impl Part<'_> {
    /// Returns true if the part has content; parts may be empty or carry only a signature.
    fn has_content(&self) -> bool {
        let call = self.function_call.as_ref().and_then(|call| call.name.as_deref());
        let words = [self.text.as_deref(), call];
        let code = [self.code, self.code_result, self.tool_call, self.tool_response];
        words.into_iter().flatten().any(|words| !words.is_empty())
            || code.into_iter().chain([self.inline_data, self.file_data]).any(|it| it.is_some())
    }
}

impl GenerateContent {
    /// Applies one frame: its candidates, prompt feedback, error and usage.
    pub(super) fn push_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let chunk: Chunk<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.append_unknown_fields_once(&chunk.unknown);
        let (response, model) = (chunk.response.as_deref().unwrap_or(""), chunk.model.as_deref());
        for candidate in chunk.candidates.unwrap_or_default() {
            if candidate.index.unwrap_or(0) == 0 {
                if self.is_late(response, candidate.classify_content()) {
                    out.append_unrecognised(UnrecognisedReason::Late, frame.data);
                    continue;
                }
                self.start_round_if_new_response(
                    response,
                    model,
                    candidate.classify_content(),
                    out,
                );
                self.apply_candidate(candidate, frame.data, out);
            } else {
                out.append_unrecognised(UnrecognisedReason::OtherChoice, frame.data);
            }
        }
        if let Some(feedback) = chunk.prompt_feedback {
            self.report_refused_if_prompt_blocked(feedback, response, model, out);
        }
        if let Some(error) = chunk.error {
            report_error_and_end_text(error, out);
            self.reply_state = ReplyState::Failed;
        }
        let usage = chunk.usage.map(parse_reply_usage).unwrap_or_default();
        if usage != Usage::default() {
            out.update_or_emit_round_usage(usage);
        }
        Ok(())
    }

    /// Writes the partial arguments of a call that was still open at the end of the stream.
    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        if let Some(call) = self.open_call.take()
            && !call.arguments.is_empty()
        {
            out.replace_arguments_if_changed(call.step, &call.arguments.to_json());
        }
    }

    /// True if the content comes after the `finishReason` of its own response.
    fn is_late(&self, response: &str, holds: CandidateContent) -> bool {
        let is_over = matches!(self.reply_state, ReplyState::Finished { .. } | ReplyState::Failed);
        let is_own = !response.is_empty() && response == self.response_id;
        is_over && is_own && holds == CandidateContent::Content
    }

    /// Starts a round for a new response. After a finished one, a different response id starts
    /// another; without an id, new content does.
    fn start_round_if_new_response(
        &mut self,
        response: &str,
        model: Option<&str>,
        holds: CandidateContent,
        out: &mut Writer<'_>,
    ) {
        let another = match self.reply_state {
            ReplyState::Waiting => true,
            ReplyState::Replying { .. } => false,
            ReplyState::Finished { .. } if response.is_empty() => {
                holds == CandidateContent::Content
            }
            ReplyState::Failed if response.is_empty() => holds != CandidateContent::Empty,
            ReplyState::Finished { .. } | ReplyState::Failed => response != self.response_id,
        };
        if another {
            self.finish(out);
            self.reply_state = ReplyState::Replying { has_tool_calls: false };
            response.clone_into(&mut self.response_id);
            self.cited_sources = CitedSources::default();
            self.running_code = None;
            out.start_round_or_end_run(
                model,
                Some(response).filter(|response| !response.is_empty()),
            );
        }
    }

    /// Writes a candidate's parts and sources, and ends the reply at its `finishReason`.
    fn apply_candidate(&mut self, candidate: Candidate<'_>, raw: &str, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&candidate.unknown);
        let content = candidate.content.unwrap_or_default();
        out.append_unknown_fields_once(&content.unknown);
        for part in content.parts.unwrap_or_default() {
            self.apply_part(part, raw, out);
        }
        if let Some(grounding) = candidate.grounding {
            self.cited_sources.write_new_grounding_citations(grounding, out);
        }
        if let Some(citations) = candidate.citations {
            self.cited_sources.write_new_citations(citations, out);
        }
        if let Some(reason) = candidate.finish_reason.filter(|reason| !is_unspecified(reason)) {
            self.complete_arguments_and_emit_ready(out);
            let asks_for_tools = self.reply_state.has_tool_calls();
            let stop = if asks_for_tools { StopReason::Tools } else { StopReason::End };
            self.reply_state = match apply_finish_reason(
                &reason,
                candidate.finish_message.as_deref(),
                stop,
                out,
            ) {
                FinishKind::Completed => ReplyState::Finished { has_tool_calls: asks_for_tools },
                FinishKind::Failed => ReplyState::Failed,
            };
        }
    }

    /// Fails the run as refused if the prompt was blocked.
    fn report_refused_if_prompt_blocked(
        &mut self,
        raw: &RawValue,
        response: &str,
        model: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        object! { Feedback {
            reason = "blockReason", message = "blockReasonMessage",
            ; skip "safetyRatings"
        } }
        let Some(feedback) = Feedback::from_raw(raw) else {
            return;
        };
        out.append_unknown_fields_once(&feedback.unknown);
        let [reason, message] =
            [feedback.reason, feedback.message].map(|member| member.and_then(as_string));
        if let Some(reason) = reason {
            self.start_round_if_new_response(response, model, CandidateContent::Empty, out);
            let words = failure_text("prompt blocked", &reason, message.as_deref());
            out.report_failed_and_end_text(FailureReason::Refused, &words);
            self.reply_state = ReplyState::Failed;
        }
    }

    /// Writes one part: text, reasoning, calls, code, results and images.
    fn apply_part(&mut self, part: Part<'_>, raw: &str, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&part.unknown);
        let thought = part.thought.unwrap_or(false);
        if let Some(text) = part.text {
            if thought {
                out.append_reasoning(&text, ReasoningOrigin::Summary);
            } else {
                out.append_text(&text);
            }
        }
        if let Some(call) = part.function_call {
            self.apply_function_call(&call, raw, out);
            if let (Some(signature), Some(step)) = (part.signature, out.last_started_step_id()) {
                out.append_step_seal_if_kept(step, || {
                    json_object_of_strings(&[("thoughtSignature", &signature)])
                });
            }
        }
        if let Some(code) = part.code {
            self.start_code_execution(code, out);
        }
        if let Some(result) = part.code_result {
            self.end_code_execution(result, out);
        }
        if let Some(call) = part.tool_call {
            self.start_provider_tool(call, out);
        }
        if let Some(response) = part.tool_response {
            end_provider_tool(response, out);
        }
        for data in [part.inline_data, part.file_data].into_iter().flatten() {
            match parse_image(data).filter(|_| !thought) {
                Some(image) => out.append_message_image(image),
                // Audio, documents and draft images are not supported in replies.
                None => out.append_unrecognised(UnrecognisedReason::Frame, data.get()),
            }
        }
    }

    /// Starts a call if it has a name, else continues the open one; closes it unless
    /// `willContinue`.
    fn apply_function_call(&mut self, call: &FunctionCall<'_>, raw: &str, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&call.unknown);
        if let Some(name) = call.name.as_deref().filter(|name| !name.is_empty()) {
            self.complete_arguments_and_emit_ready(out);
            let id = self.call_ids.id_or_generated(call.id.as_deref().map(Cow::Borrowed));
            let step = out.start_tool(ToolStart::client_function(&id, name));
            self.open_call = Some(OpenCall { step, arguments: PartialArgs::default() });
            self.reply_state = match self.reply_state {
                ReplyState::Finished { .. } => ReplyState::Finished { has_tool_calls: true },
                ReplyState::Failed => ReplyState::Failed,
                ReplyState::Waiting | ReplyState::Replying { .. } => {
                    ReplyState::Replying { has_tool_calls: true }
                }
            };
        }
        let Some(open) = &mut self.open_call else {
            return out.append_unrecognised(UnrecognisedReason::Late, raw);
        };
        if let Some(args) = call.args {
            out.replace_arguments_if_changed(open.step, args.get());
        }
        for value in call.partial_args.map(array_elements).unwrap_or_default() {
            open.arguments.push_value(value, out);
        }
        if !call.will_continue.unwrap_or(false) {
            self.complete_arguments_and_emit_ready(out);
        }
    }

    /// Writes the collected arguments of the open call and marks it ready.
    fn complete_arguments_and_emit_ready(&mut self, out: &mut Writer<'_>) {
        let Some(call) = self.open_call.take() else { return };
        if !call.arguments.is_empty() {
            out.replace_arguments_if_changed(call.step, &call.arguments.to_json());
        }
        out.emit_tool_ready_once(call.step);
    }
}
