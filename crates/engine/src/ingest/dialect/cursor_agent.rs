//! Cursor: `cursor-agent -p --output-format stream-json [--stream-partial-output]`.
//!
//! Text is incremental with partial output, else whole messages. Which of the two it is, a line
//! tells that has a time and no model call: only deltas do. With partial output every other
//! `assistant` line repeats deltas. A round ends with its tools' results, unless the next call is of
//! the same model call. The run ends at its `result` line, whose text is all messages run together
//! and so not the final one; without that line it was cut.

use std::borrow::Cow;

use crate::event::{
    FailureReason, ReasoningOrigin, StepId, Stop, TextMode, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{
    RawValue, Shape, Text, Unknown, elements, is_true, number, object, string, string_or_json,
};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{ToolStart, Writer};

use super::{Dialect, Unreadable};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CursorAgent {
    output: Output,
    said: Said,
    /// The model call that the last tool was of.
    model_call: String,
    tools: Tools,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Output {
    /// Whole messages, as long as no delta has come.
    #[default]
    Whole,
    Partial,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Said {
    #[default]
    Nothing,
    Something,
}

/// The tools of the round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tools {
    #[default]
    Pending,
    /// One has been answered: what the model says next is a new round.
    Answered,
}

object! { Line {
    kind: Text<'a> = "type",
    subtype: Text<'a> = "subtype",
    message: &'a RawValue = "message",
    model_call: Text<'a> = "model_call_id",
    at: u64 = "timestamp_ms",
    text: Text<'a> = "text",
    call: Text<'a> = "call_id",
    tool_call: &'a RawValue = "tool_call",
    result: &'a RawValue = "result",
    is_error: &'a RawValue = "is_error",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    ; skip "session_id" | "apiKeySource" | "cwd" | "model" | "permissionMode" | "duration_ms"
        | "duration_api_ms" | "request_id"
} }

const MESSAGE: Shape<1> = Shape { read: ["content"], skip: &["role"] };
const PART: Shape<2> = Shape { read: ["type", "text"], skip: &[] };
const USAGE: Shape<4> = Shape {
    read: ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"],
    skip: &[],
};

impl Dialect for CursorAgent {
    const NAME: &'static str = "cursor-agent";
    const MODE: TextMode = TextMode::Incremental;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        let of_cursor = match probe.kind() {
            "system" => {
                probe.has_all(["subtype", "apiKeySource", "permissionMode"]) && !probe.has("tools")
            }
            "tool_call" => probe.has_all(["subtype", "call_id", "tool_call"]),
            "assistant" => probe.has("timestamp_ms") || probe.has("model_call_id"),
            "thinking" => probe.has_all(["subtype", "session_id"]),
            "result" => {
                probe.has_all(["subtype", "request_id", "duration_api_ms"])
                    && !probe.has("total_cost_usd")
            }
            _ => false,
        };
        Likeness::yes_if(of_cursor)
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let mut line = Line::default();
        line.read(frame.data)?;
        out.unknown_fields(&line.unknown);
        if let Some(at) = line.at {
            out.at(at);
        }
        let subtype = line.subtype.as_deref().unwrap_or("");
        match (line.kind.as_deref().unwrap_or(""), subtype) {
            ("system", "init") => {}
            ("user", _) => {
                let text = message_text(&line, out)?;
                out.prompt(&text);
            }
            ("thinking", "completed") => out.end_reasoning(),
            ("thinking", _) => {
                self.begin_round(out);
                let text = line.text.as_deref().unwrap_or("");
                out.reasoning(text, ReasoningOrigin::Native);
            }
            ("assistant", _) => self.assistant(&line, out)?,
            ("tool_call", "started" | "completed") => self.tool_call(&line, frame, out)?,
            ("result", _) => self.result(&line, out),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }
}

impl CursorAgent {
    /// The model speaks: after a tool's result that is a new round.
    fn begin_round(&mut self, out: &mut Writer<'_>) {
        if self.tools == Tools::Answered {
            self.tools = Tools::Pending;
            out.end_round(Some(Stop::Tools));
        }
    }

    fn assistant(&mut self, line: &Line<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let text = message_text(line, out)?;
        if line.at.is_some() && line.model_call.is_none() {
            self.output = Output::Partial;
            self.begin_round(out);
            out.text(&text);
        } else {
            // Either a message, or what its deltas said; both end the one that is open.
            out.end_message();
            if self.output == Output::Whole {
                self.begin_round(out);
                out.text(&text);
                out.end_message();
            }
        }
        if !text.is_empty() {
            self.said = Said::Something;
        }
        Ok(())
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Writer<'_>) {
        if let Some(usage) = line.usage {
            let usage = usage_of(usage, out);
            out.run_usage(usage);
        }
        let text = line.result.map(string_or_json).unwrap_or_default();
        let subtype = line.subtype.as_deref().unwrap_or("");
        if line.is_error.is_some_and(is_true) || subtype.starts_with("error") {
            let words = line.error.map_or(text, string_or_json);
            out.fail(FailureReason::Error, if words.is_empty() { subtype } else { &words });
        } else {
            if self.said == Said::Nothing {
                self.begin_round(out);
                // `--output-format json` prints nothing but this line.
                out.text(&text);
            }
            out.complete(Stop::End);
        }
        out.end_round(None);
        self.tools = Tools::Pending;
    }

    fn tool_call(
        &mut self,
        line: &Line<'_>,
        frame: Frame<'_>,
        out: &mut Writer<'_>,
    ) -> Result<(), Unreadable> {
        let id = line.call.as_deref().unwrap_or("");
        let Some(call) = Call::read(line.tool_call.ok_or(Unreadable)?) else {
            out.unrecognised(UnrecognisedReason::Frame, frame.data);
            return Ok(());
        };
        let step = if let Some(step) = out.step_of(id) {
            step
        } else {
            let model_call = line.model_call.as_deref().unwrap_or("");
            if model_call.is_empty() || model_call != self.model_call {
                self.begin_round(out);
            }
            model_call.clone_into(&mut self.model_call);
            call.start(id, out)
        };
        if line.subtype.as_deref() == Some("completed") {
            self.tools = Tools::Answered;
            end_call(step, call.result, out);
        }
        Ok(())
    }
}

/// The text of a message, its parts joined.
fn message_text<'a>(line: &Line<'a>, out: &mut Writer<'_>) -> Result<Cow<'a, str>, Unreadable> {
    let message = MESSAGE.read(line.message.ok_or(Unreadable)?.get()).ok_or(Unreadable)?;
    out.unknown_fields(&message.unknown);
    let Some(content) = message.read[0] else { return Ok(Cow::Borrowed("")) };
    if let Some(text) = string(content) {
        return Ok(text);
    }
    let mut joined = Cow::Borrowed("");
    for raw in elements(content) {
        let [kind, text] = PART.read(raw.get()).map_or([None; 2], |part| part.read);
        match (kind.and_then(string).as_deref(), text.and_then(string)) {
            (Some("text"), Some(text)) => joined += text,
            _ => out.unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }
    Ok(joined)
}

/// A tool as it is called: under the one key that names it.
struct Call<'a> {
    name: String,
    kind: ToolKind,
    server: Option<Cow<'a, str>>,
    arguments: Option<Cow<'a, str>>,
    result: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    fn read(raw: &'a RawValue) -> Option<Call<'a>> {
        const ANY: Shape<0> = Shape { read: [], skip: &[] };
        const BODY: Shape<4> = Shape { read: ["args", "result", "name", "arguments"], skip: &[] };
        let members = ANY.read(raw.get())?.unknown;
        let (key, body) = members.into_iter().find(|(_, body)| body.get().starts_with('{'))?;
        let [args, result, name, arguments] = BODY.read(body.get())?.read;
        let short = key.strip_suffix("ToolCall").unwrap_or(&key);
        let mut call = Call {
            name: short.to_owned(),
            kind: kind_of(short),
            server: None,
            arguments: args.or(arguments).map(string_or_json),
            result,
        };
        if short == "function" {
            call.name = name.and_then(string).map_or(key, Cow::into_owned);
        } else if let Some(args) = args
            && call.kind == ToolKind::Mcp
        {
            call.read_mcp(args);
        }
        Some(call)
    }

    fn start(&self, id: &str, out: &mut Writer<'_>) -> StepId {
        let step = out.tool(ToolStart {
            kind: self.kind,
            server: self.server.as_deref(),
            ..ToolStart::function(id, &self.name)
        });
        if let Some(arguments) = &self.arguments {
            out.whole_arguments(step, arguments);
        }
        out.ready(step);
        step
    }

    fn read_mcp(&mut self, args: &'a RawValue) {
        const MCP: Shape<4> =
            Shape { read: ["providerIdentifier", "toolName", "name", "args"], skip: &[] };
        let Some(mcp) = MCP.read(args.get()) else { return };
        let [server, tool, name, inner] = mcp.read;
        self.server = server.and_then(string);
        if let Some(tool) = tool.or(name).and_then(string) {
            self.name = tool.into_owned();
        }
        self.arguments = inner.or(Some(args)).map(string_or_json);
    }
}

fn kind_of(name: &str) -> ToolKind {
    match name {
        "shell" => ToolKind::Command,
        "write" | "edit" | "delete" => ToolKind::Edit,
        "mcp" => ToolKind::Mcp,
        "webSearch" => ToolKind::WebSearch,
        "webFetch" => ToolKind::WebFetch,
        "task" => ToolKind::Agent,
        "function" => ToolKind::Function,
        _ => ToolKind::Builtin,
    }
}

/// The one key of a result is how the call ended.
fn end_call(step: StepId, result: Option<&RawValue>, out: &mut Writer<'_>) {
    const ANY: Shape<0> = Shape { read: [], skip: &[] };
    const BODY: Shape<6> = Shape {
        read: ["content", "stdout", "stderr", "errorMessage", "reason", "isError"],
        skip: &[],
    };
    let members: Unknown<'_> =
        result.and_then(|raw| ANY.read(raw.get())).map(|any| any.unknown).unwrap_or_default();
    let Some((key, body)) = members.first() else {
        out.end_tool(step, ToolOutcome::Succeeded, None);
        return;
    };
    let body_members = BODY.read(body.get()).map_or([None; 6], |members| members.read);
    out.whole_output(step, &output_of(body, body_members));
    match key.as_str() {
        // An MCP tool can fail and still be answered.
        "success" if body_members[5].is_some_and(is_true) => {
            out.end_tool(step, ToolOutcome::Failed, None);
        }
        "success" => out.end_tool(step, ToolOutcome::Succeeded, None),
        "rejected" | "permissionDenied" => out.end_tool(step, ToolOutcome::Denied, Some(key)),
        _ => out.end_tool(step, ToolOutcome::Failed, Some(key)),
    }
}

/// What a tool put out: a file's text, a command's two outputs, an error's words; else the JSON.
fn output_of<'a>(body: &'a RawValue, members: [Option<&'a RawValue>; 6]) -> Cow<'a, str> {
    let [content, stdout, stderr, error, reason, _] = members;
    if let Some(texts) = content.and_then(content_texts) {
        return texts.into();
    }
    let [content, stdout, stderr, error, reason] =
        [content, stdout, stderr, error, reason].map(|member| member.and_then(string));
    match (content.or(error).or(reason), stdout, stderr) {
        (None, Some(stdout), Some(stderr)) => stdout + stderr,
        (Some(text), ..) | (None, Some(text), None) | (None, None, Some(text)) => text,
        (None, None, None) => string_or_json(body),
    }
}

/// The texts of an MCP result, `[{"text":{"text":"..."}}]`, if it has nothing else.
fn content_texts(content: &RawValue) -> Option<String> {
    const TEXT: Shape<1> = Shape { read: ["text"], skip: &["type"] };
    let parts = elements(content);
    let texts = parts.iter().map(|raw| {
        let outer = TEXT.read(raw.get())?.read[0]?;
        string(outer).or_else(|| string(TEXT.read(outer.get())?.read[0]?))
    });
    texts.collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty()).map(|texts| texts.concat())
}

fn usage_of(raw: &RawValue, out: &mut Writer<'_>) -> Usage {
    let Some(usage) = USAGE.read(raw.get()) else { return Usage::default() };
    out.unknown_fields(&usage.unknown);
    let [input, output, cache_read, cache_write] = usage.read.map(|member| member.and_then(number));
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..Usage::default()
    }
}
