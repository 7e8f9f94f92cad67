//! `streamGenerateContent`: every frame is a whole response that holds only what is new.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::{
    Citation, FailureReason, Image, ReasoningOrigin, StepId, Stop, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::dialect::Unreadable;
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    Few, RawValue, Shape, Text, elements, number, object, string, string_or_json,
};
use crate::limits::CITED_MAX;
use crate::run::{ToolStart, Writer};

use super::fail_with;
use super::partial_args::{PartialArgs, Value};

#[derive(Clone, Debug, Default)]
pub(crate) struct Generate {
    response: String,
    state: State,
    /// Calls that came without an id, in the whole run.
    unnamed: u32,
    /// The call whose arguments are still coming.
    open: Option<OpenCall>,
    /// Code that runs and has no result yet.
    code: Option<StepId>,
    cited: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Replying {
        asks_for_tools: bool,
    },
    /// A `finishReason` or an error has come.
    Finished {
        asks_for_tools: bool,
    },
}

#[derive(Clone, Debug)]
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
    ; skip "thoughtSignature" | "partMetadata" | "mediaResolution" | "videoMetadata"
} }

object! { FunctionCall {
    id: Text<'a> = "id",
    name: Text<'a> = "name",
    args: &'a RawValue = "args",
    partial_args: Few<PartialArg<'a>> = "partialArgs",
    will_continue: bool = "willContinue",
    ; skip ""
} }

object! { PartialArg {
    path: Text<'a> = "jsonPath",
    text: Text<'a> = "stringValue",
    number: &'a RawValue = "numberValue",
    boolean: &'a RawValue = "boolValue",
    will_continue: bool = "willContinue",
    ; skip "nullValue"
} }

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
                self.begin(response, model, out);
                self.candidate(candidate, out);
            } else {
                out.unrecognised(UnrecognisedReason::OtherChoice, frame.data);
            }
        }
        if let Some(feedback) = chunk.prompt_feedback {
            self.prompt_feedback(feedback, out);
        }
        if let Some(error) = chunk.error {
            fail_with(error, out);
            self.state = State::Finished { asks_for_tools: false };
        }
        let usage = chunk.usage.map(usage_of).unwrap_or_default();
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

    /// Opens the round; another response after a finished one is a new round.
    fn begin(&mut self, response: &str, model: Option<&str>, out: &mut Writer<'_>) {
        let another = match self.state {
            State::Waiting => true,
            State::Replying { .. } => false,
            State::Finished { .. } => !response.is_empty() && response != self.response,
        };
        if another {
            self.state = State::Replying { asks_for_tools: false };
            response.clone_into(&mut self.response);
            self.cited.clear();
            self.code = None;
            out.round(model, Some(response).filter(|response| !response.is_empty()));
        }
    }

    fn candidate(&mut self, candidate: Candidate<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&candidate.unknown);
        let content = candidate.content.unwrap_or_default();
        out.unknown_fields(&content.unknown);
        for part in content.parts.unwrap_or_default() {
            self.part(part, out);
        }
        if let Some(grounding) = candidate.grounding {
            self.cite_grounding(grounding, out);
        }
        if let Some(citations) = candidate.citations {
            self.cite_sources(citations, out);
        }
        if let Some(reason) = candidate.finish_reason {
            self.close_call(out);
            let asks_for_tools = match self.state {
                State::Waiting => false,
                State::Replying { asks_for_tools } | State::Finished { asks_for_tools } => {
                    asks_for_tools
                }
            };
            self.state = State::Finished { asks_for_tools };
            let stop = if asks_for_tools { Stop::Tools } else { Stop::End };
            end(&reason, candidate.finish_message.as_deref(), stop, out);
        }
    }

    fn prompt_feedback(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const FEEDBACK: Shape<2> =
            Shape { read: ["blockReason", "blockReasonMessage"], skip: &["safetyRatings"] };
        let Some(feedback) = FEEDBACK.read(raw.get()) else { return };
        out.unknown_fields(&feedback.unknown);
        let [reason, message] = feedback.read.map(|member| member.and_then(string));
        if let Some(reason) = reason {
            let words = words("the prompt was blocked", &reason, message.as_deref());
            out.fail(FailureReason::Refused, &words);
            self.state = State::Finished { asks_for_tools: false };
        }
    }

    fn part(&mut self, part: Part<'_>, out: &mut Writer<'_>) {
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
            self.function_call(call, out);
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
        match id.filter(|id| !id.is_empty()) {
            Some(id) => Cow::Borrowed(id),
            None => {
                self.unnamed += 1;
                Cow::Owned(format!("call_{}", self.unnamed))
            }
        }
    }

    /// A call with a name is a new one; one without goes on with the call that is open, and ends
    /// it unless it says that more comes.
    fn function_call(&mut self, call: FunctionCall<'_>, out: &mut Writer<'_>) {
        out.unknown_fields(&call.unknown);
        if let Some(name) = call.name.as_deref().filter(|name| !name.is_empty()) {
            self.close_call(out);
            let id = self.call_id(call.id.as_deref());
            let step = out.tool(ToolStart::function(&id, name));
            self.open = Some(OpenCall { step, arguments: PartialArgs::default() });
            self.state = match self.state {
                State::Finished { .. } => State::Finished { asks_for_tools: true },
                State::Waiting | State::Replying { .. } => State::Replying { asks_for_tools: true },
            };
        }
        let Some(open) = &mut self.open else { return };
        if let Some(args) = call.args {
            out.whole_arguments(open.step, args.get());
        }
        for value in call.partial_args.unwrap_or_default() {
            out.unknown_fields(&value.unknown);
            put(&mut open.arguments, &value, out);
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
        let Some(call) = CALL.read(raw.get()) else { return };
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

    fn cite_grounding(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const GROUNDING: Shape<1> = Shape { read: ["groundingChunks"], skip: &[] };
        const CHUNK: Shape<4> =
            Shape { read: ["web", "retrievedContext", "maps", "image"], skip: &[] };
        const SOURCE: Shape<4> = Shape { read: ["uri", "title", "text", "sourceUri"], skip: &[] };
        let chunks = GROUNDING.read(raw.get()).and_then(|grounding| grounding.read[0]);
        for raw in chunks.map(elements).unwrap_or_default() {
            let source = CHUNK.read(raw.get()).and_then(|chunk| {
                let source = chunk.read.into_iter().flatten().next()?;
                SOURCE.read(source.get())
            });
            if let Some(source) = source {
                let [url, title, quote, page] = source.read.map(|member| member.and_then(string));
                self.cite(raw, Citation { url: page.or(url), title, quote }, out);
            }
        }
    }

    fn cite_sources(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const CITATIONS: Shape<2> = Shape { read: ["citationSources", "citations"], skip: &[] };
        const SOURCE: Shape<2> = Shape { read: ["uri", "title"], skip: &[] };
        let Some(citations) = CITATIONS.read(raw.get()) else { return };
        for raw in citations.read.into_iter().flatten().flat_map(elements) {
            if let Some(source) = SOURCE.read(raw.get()) {
                let [url, title] = source.read.map(|member| member.and_then(string));
                self.cite(raw, Citation { url, title, quote: None }, out);
            }
        }
    }

    /// Later frames may repeat the sources of earlier ones.
    fn cite(&mut self, raw: &RawValue, citation: Citation<'_>, out: &mut Writer<'_>) {
        let mut hasher = DefaultHasher::new();
        raw.get().hash(&mut hasher);
        let print = hasher.finish();
        if out.message().is_some() && !self.cited.contains(&print) && self.cited.len() < CITED_MAX {
            self.cited.push(print);
            out.cite(citation);
        }
    }
}

fn put(arguments: &mut PartialArgs, value: &PartialArg<'_>, out: &mut Writer<'_>) {
    let path = value.path.as_deref().unwrap_or("");
    let plain = value.number.or(value.boolean).map(RawValue::get);
    let result = match (&value.text, plain) {
        (Some(text), _) => arguments.put(path, Value::Text(text)),
        (None, Some(plain)) => arguments.put(path, Value::Plain(plain)),
        // A null is spelt as the lack of any value; so is the end of a text.
        (None, None) if value.will_continue.unwrap_or(false) || arguments.has(path) => Ok(()),
        (None, None) => arguments.put(path, Value::Plain("null")),
    };
    if result.is_err() {
        out.unrecognised(UnrecognisedReason::Frame, path);
    }
}

fn provider_response(raw: &RawValue, out: &mut Writer<'_>) {
    const RESPONSE: Shape<3> = Shape { read: ["id", "response", "toolType"], skip: &[] };
    let Some(response) = RESPONSE.read(raw.get()) else { return };
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

fn image_of(raw: &RawValue) -> Option<Image<'_>> {
    const DATA: Shape<3> = Shape { read: ["mimeType", "data", "fileUri"], skip: &[] };
    let [media_type, data, url] = DATA.read(raw.get())?.read.map(|member| member.and_then(string));
    let media_type = media_type.filter(|media_type| media_type.starts_with("image/"))?;
    match (data, url) {
        (Some(base64), _) => Some(Image::Inline { media_type, base64 }),
        (None, Some(url)) => Some(Image::Url { url }),
        (None, None) => None,
    }
}

/// What a `finishReason` means; `stop` is what it means if all went well.
fn end(reason: &str, message: Option<&str>, stop: Stop, out: &mut Writer<'_>) {
    match reason {
        "STOP" => out.complete(stop),
        "MAX_TOKENS" => out.complete(Stop::Length),
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR"
        | "LANGUAGE" => {
            out.fail(FailureReason::Refused, &words("the reply was stopped", reason, message));
        }
        _ if reason.starts_with("IMAGE_") => {
            out.fail(FailureReason::Refused, &words("the picture was stopped", reason, message));
        }
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS" | "MISSING_THOUGHT_SIGNATURE" | "NO_IMAGE" => {
            out.fail(FailureReason::Error, &words("the reply broke off", reason, message));
        }
        _ => out.complete(Stop::Other),
    }
}

fn words(what: &str, reason: &str, message: Option<&str>) -> String {
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("{what} ({reason}): {message}"),
        None => format!("{what} ({reason})"),
    }
}

/// Thoughts count as output, and what tools read counts as input, as elsewhere.
fn usage_of(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> = Shape {
        read: [
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "cachedContentTokenCount",
        ],
        skip: &[],
    };
    let Some(usage) = USAGE.read(raw.get()) else { return Usage::default() };
    let [prompt, tools, reply, thoughts, cached] =
        usage.read.map(|member| member.and_then(number::<u64>));
    Usage {
        input_tokens: sum(prompt, tools),
        output_tokens: sum(reply, thoughts),
        reasoning_tokens: thoughts,
        cache_read_tokens: cached,
        ..Usage::default()
    }
}

pub(super) fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        _ => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    }
}
