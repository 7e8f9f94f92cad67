//! `streamGenerateContent`: every frame is a whole response that holds only what is new.

use std::borrow::Cow;

use crate::event::{
    FailureReason, ReasoningOrigin, StepId, Stop, ToolKind, ToolOutcome, UnrecognisedReason, Usage,
};
use crate::ingest::dialect::Unreadable;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    Few, RawValue, Shape, Text, elements, object, sealed, string, string_or_json,
};
use crate::run::{ToolStart, Writer};

use super::fail_with;
use super::partial_args::PartialArgs;
use super::reasons::{Ended, end, words};
use super::sources::{Cited, image_of};
use super::usage::reply_usage;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Generate {
    response: String,
    state: State,
    /// Calls that came without an id, in the whole run.
    unnamed: u32,
    /// The call whose arguments are still coming.
    open: Option<OpenCall>,
    /// Code that runs and has no result yet.
    code: Option<StepId>,
    cited: Cited,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Replying {
        asks_for_tools: bool,
    },
    /// A `finishReason` has come.
    Finished {
        asks_for_tools: bool,
    },
    /// An error, or a reason that is one.
    Failed,
}

impl State {
    fn asks_for_tools(self) -> bool {
        match self {
            State::Waiting | State::Failed => false,
            State::Replying { asks_for_tools } | State::Finished { asks_for_tools } => {
                asks_for_tools
            }
        }
    }
}

/// What a frame holds of a reply that may have ended before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Nothing,
    Content,
    /// Some servers say how it ends in every frame.
    ContentAndEnd,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenCall {
    step: StepId,
    arguments: PartialArgs,
}

object! { Chunk {
    candidates: Few<Candidate<'a>> = "candidates",
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
    parts: Few<Part<'a>> = "parts",
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
    fn holds(&self) -> Holds {
        let content = self.content.as_ref().and_then(|content| content.parts.as_ref());
        match content.is_some_and(|parts| parts.iter().any(Part::says)) {
            false => Holds::Nothing,
            true if self.finish_reason.is_some() => Holds::ContentAndEnd,
            true => Holds::Content,
        }
    }
}

impl Part<'_> {
    /// Parts may be empty, or carry only a signature.
    fn says(&self) -> bool {
        let call = self.function_call.as_ref().and_then(|call| call.name.as_deref());
        let words = [self.text.as_deref(), call];
        let code = [self.code, self.code_result, self.tool_call, self.tool_response];
        words.into_iter().flatten().any(|words| !words.is_empty())
            || code.into_iter().chain([self.inline_data, self.file_data]).any(|it| it.is_some())
    }
}

impl Generate {
    pub(super) fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let chunk: Chunk<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.unknown_fields(&chunk.unknown);
        let (response, model) = (chunk.response.as_deref().unwrap_or(""), chunk.model.as_deref());
        for candidate in chunk.candidates.unwrap_or_default() {
            if candidate.index.unwrap_or(0) == 0 {
                self.begin(response, model, candidate.holds(), out);
                self.candidate(candidate, frame.data, out);
            } else {
                out.unrecognised(UnrecognisedReason::OtherChoice, frame.data);
            }
        }
        if let Some(feedback) = chunk.prompt_feedback {
            self.prompt_feedback(feedback, response, model, out);
        }
        if let Some(error) = chunk.error {
            fail_with(error, out);
            self.state = State::Failed;
        }
        let usage = chunk.usage.map(reply_usage).unwrap_or_default();
        if usage != Usage::default() {
            out.round_usage(usage);
        }
        Ok(())
    }

    /// No end came for the call that is open: what there is of its arguments is kept.
    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        if let Some(call) = self.open.take()
            && !call.arguments.is_empty()
        {
            out.whole_arguments(call.step, &call.arguments.to_json());
        }
    }

    /// Opens the round; another response after a finished one is a new round. One without an id
    /// is another if it has something to say.
    fn begin(&mut self, response: &str, model: Option<&str>, holds: Holds, out: &mut Writer<'_>) {
        let another = match self.state {
            State::Waiting => true,
            State::Replying { .. } => false,
            State::Finished { .. } if response.is_empty() => holds == Holds::Content,
            State::Failed if response.is_empty() => holds != Holds::Nothing,
            State::Finished { .. } | State::Failed => response != self.response,
        };
        if another {
            self.finish(out);
            self.state = State::Replying { asks_for_tools: false };
            response.clone_into(&mut self.response);
            self.cited = Cited::default();
            self.code = None;
            out.round(model, Some(response).filter(|response| !response.is_empty()));
        }
    }

    fn candidate(&mut self, candidate: Candidate<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&candidate.unknown);
        let content = candidate.content.unwrap_or_default();
        out.unknown_fields(&content.unknown);
        for part in content.parts.unwrap_or_default() {
            self.part(part, raw, out);
        }
        if let Some(grounding) = candidate.grounding {
            self.cited.grounding(grounding, out);
        }
        if let Some(citations) = candidate.citations {
            self.cited.citations(citations, out);
        }
        if let Some(reason) = candidate.finish_reason {
            self.close_call(out);
            let asks_for_tools = self.state.asks_for_tools();
            let stop = if asks_for_tools { Stop::Tools } else { Stop::End };
            self.state = match end(&reason, candidate.finish_message.as_deref(), stop, out) {
                Ended::Well => State::Finished { asks_for_tools },
                Ended::Badly => State::Failed,
            };
        }
    }

    fn prompt_feedback(
        &mut self,
        raw: &RawValue,
        response: &str,
        model: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        const FEEDBACK: Shape<2> =
            Shape { read: ["blockReason", "blockReasonMessage"], skip: &["safetyRatings"] };
        let Some(feedback) = FEEDBACK.read(raw.get()) else {
            return;
        };
        out.unknown_fields(&feedback.unknown);
        let [reason, message] = feedback.read.map(|member| member.and_then(string));
        if let Some(reason) = reason {
            self.begin(response, model, Holds::Nothing, out);
            let words = words("the prompt was blocked", &reason, message.as_deref());
            out.fail(FailureReason::Refused, &words);
            self.state = State::Failed;
        }
    }

    fn part(&mut self, part: Part<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&part.unknown);
        let thought = part.thought.unwrap_or(false);
        if let Some(text) = part.text {
            if thought {
                out.reasoning(&text, ReasoningOrigin::Summary);
            } else {
                out.text(&text);
            }
        }
        if let Some(call) = part.function_call {
            self.function_call(&call, raw, out);
            if let (Some(signature), Some(step)) = (part.signature, out.last_step()) {
                out.seal(step, || sealed(&[("thoughtSignature", &signature)]));
            }
        }
        if let Some(code) = part.code {
            self.run_code(code, out);
        }
        if let Some(result) = part.code_result {
            self.code_result(result, out);
        }
        if let Some(call) = part.tool_call {
            self.provider_call(call, out);
        }
        if let Some(response) = part.tool_response {
            provider_response(response, out);
        }
        for data in [part.inline_data, part.file_data].into_iter().flatten() {
            match image_of(data).filter(|_| !thought) {
                Some(image) => out.image(image),
                // Sound, documents, and drafts of pictures have no place in a reply yet.
                None => out.unrecognised(UnrecognisedReason::Frame, data.get()),
            }
        }
    }

    fn call_id<'a>(&mut self, id: Option<&'a str>) -> Cow<'a, str> {
        let id = id.filter(|id| !id.is_empty()).map(Cow::Borrowed);
        id.unwrap_or_else(|| {
            self.unnamed += 1;
            Cow::Owned(format!("call_{}", self.unnamed))
        })
    }

    /// A call with a name is a new one; one without goes on with the call that is open, and ends
    /// it unless it says that more comes.
    fn function_call(&mut self, call: &FunctionCall<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&call.unknown);
        if let Some(name) = call.name.as_deref().filter(|name| !name.is_empty()) {
            self.close_call(out);
            let id = self.call_id(call.id.as_deref());
            let step = out.tool(ToolStart::function(&id, name));
            self.open = Some(OpenCall { step, arguments: PartialArgs::default() });
            self.state = match self.state {
                State::Finished { .. } => State::Finished { asks_for_tools: true },
                State::Failed => State::Failed,
                State::Waiting | State::Replying { .. } => State::Replying { asks_for_tools: true },
            };
        }
        let Some(open) = &mut self.open else {
            return out.unrecognised(UnrecognisedReason::Late, raw);
        };
        if let Some(args) = call.args {
            out.whole_arguments(open.step, args.get());
        }
        for value in call.partial_args.map(elements).unwrap_or_default() {
            open.arguments.take(value, out);
        }
        if !call.will_continue.unwrap_or(false) {
            self.close_call(out);
        }
    }

    fn close_call(&mut self, out: &mut Writer<'_>) {
        let Some(call) = self.open.take() else { return };
        if !call.arguments.is_empty() {
            out.whole_arguments(call.step, &call.arguments.to_json());
        }
        out.ready(call.step);
    }

    fn run_code(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const CODE: Shape<1> = Shape { read: ["id"], skip: &[] };
        let id = CODE.read(raw.get()).and_then(|code| code.read[0]).and_then(string);
        let id = self.call_id(id.as_deref());
        let tool = ToolStart::provider(&id, "code_execution", ToolKind::CodeInterpreter);
        let step = out.tool(tool);
        out.whole_arguments(step, raw.get());
        out.ready(step);
        self.code = Some(step);
    }

    fn code_result(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const RESULT: Shape<3> = Shape { read: ["id", "outcome", "output"], skip: &[] };
        let result = RESULT.read(raw.get());
        let [id, outcome, output] = result
            .map(|result| result.read.map(|member| member.and_then(string)))
            .unwrap_or_default();
        let named = id.and_then(|id| out.step_of(&id));
        let Some(step) = named.or_else(|| self.code.take()).filter(|step| out.is_open(*step))
        else {
            out.unrecognised(UnrecognisedReason::Late, raw.get());
            return;
        };
        out.output(step, &output.unwrap_or_default());
        match outcome.as_deref() {
            Some("OUTCOME_OK") | None => out.end_tool(step, ToolOutcome::Succeeded, None),
            Some(outcome) => out.end_tool(step, ToolOutcome::Failed, Some(outcome)),
        }
    }

    /// A tool of Google's own, where the caller asked to see them.
    fn provider_call(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const CALL: Shape<3> = Shape { read: ["id", "toolType", "args"], skip: &[] };
        let Some(call) = CALL.read(raw.get()) else {
            return;
        };
        out.unknown_fields(&call.unknown);
        let [id, kind, args] = call.read;
        let id = id.and_then(string);
        let id = self.call_id(id.as_deref());
        let kind = kind.map(string_or_json).unwrap_or_default();
        let step = out.tool(ToolStart::provider(&id, &kind, tool_kind(&kind)));
        if let Some(args) = args {
            out.whole_arguments(step, args.get());
        }
        out.ready(step);
    }
}

fn provider_response(raw: &RawValue, out: &mut Writer<'_>) {
    const RESPONSE: Shape<3> = Shape { read: ["id", "response", "toolType"], skip: &[] };
    let Some(response) = RESPONSE.read(raw.get()) else {
        return;
    };
    out.unknown_fields(&response.unknown);
    let [id, output, _] = response.read;
    let Some(step) = id.and_then(string).and_then(|id| out.step_of(&id)) else {
        out.unrecognised(UnrecognisedReason::Late, raw.get());
        return;
    };
    out.whole_output(step, output.map_or("", RawValue::get));
    out.end_tool(step, ToolOutcome::Succeeded, None);
}

fn tool_kind(kind: &str) -> ToolKind {
    match kind {
        "GOOGLE_SEARCH_WEB" | "GOOGLE_SEARCH_IMAGE" => ToolKind::WebSearch,
        "URL_CONTEXT" => ToolKind::WebFetch,
        "FILE_SEARCH" => ToolKind::FileSearch,
        _ => ToolKind::Builtin,
    }
}
