//! Tool calls: what is called, and what came of it.

use std::borrow::Cow;

use crate::event::{StepId, ToolKind, ToolOutcome};
use crate::ingest::json::{RawValue, Shape, Unknown, elements, is_true, string, string_or_json};
use crate::run::{Fingerprint, ToolStart, Writer};

/// A tool as it is called: under the one key that names it.
pub(super) struct Call<'a> {
    name: String,
    kind: ToolKind,
    server: Option<Cow<'a, str>>,
    arguments: Option<Cow<'a, str>>,
    pub(super) result: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    pub(super) fn read(raw: &'a RawValue) -> Option<Call<'a>> {
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

    pub(super) fn print(&self) -> Fingerprint {
        let mut print = Fingerprint::of(&self.name);
        print.push(self.arguments.as_deref().unwrap_or(""));
        print
    }

    pub(super) fn start(&self, id: &str, out: &mut Writer<'_>) -> StepId {
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
pub(super) fn end_call(step: StepId, result: Option<&RawValue>, out: &mut Writer<'_>) {
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
