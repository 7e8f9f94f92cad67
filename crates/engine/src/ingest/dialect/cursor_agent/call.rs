//! Tool calls of Cursor and their results.

use std::borrow::Cow;

use crate::event::{Image, StepId, ToolKind, ToolOutcome};
use crate::ingest::json::{
    RawValue, array_elements, as_string, is_true, non_null_members, object, string_or_json,
};
use crate::run::{Fingerprint, ToolStart, Writer};

use super::super::anthropic::parse_image;

/// A tool call: an object whose only key names the tool.
pub(super) struct ToolCall<'a> {
    name: String,
    kind: ToolKind,
    server: Option<Cow<'a, str>>,
    arguments: Option<Cow<'a, str>>,
    pub(super) result: Option<&'a RawValue>,
}

impl<'a> ToolCall<'a> {
    /// Parses a `tool_call` member.
    pub(super) fn parse(raw: &'a RawValue) -> Option<ToolCall<'a>> {
        object! { Body { args, result, name, arguments; skip _ } }
        let members = non_null_members(raw.get())?;
        let (key, body) = members.into_iter().find(|(_, body)| body.get().starts_with('{'))?;
        let Body { args, result, name, arguments } = Body::from_raw(body)?;
        let short = key.strip_suffix("ToolCall").unwrap_or(&key);
        let mut call = ToolCall {
            name: short.to_owned(),
            kind: tool_kind(short),
            server: None,
            arguments: args.or(arguments).map(string_or_json),
            result,
        };
        if short == "function" {
            call.name = name.and_then(as_string).map_or(key, Cow::into_owned);
        } else if let Some(args) = args
            && call.kind == ToolKind::Mcp
        {
            call.set_fields_from_mcp_arguments(args);
        }
        Some(call)
    }

    /// Fingerprint of name and arguments.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut print = Fingerprint::from_text(&self.name);
        print.push(self.arguments.as_deref().unwrap_or(""));
        print
    }

    /// Starts the step of the call.
    pub(super) fn start_step_and_emit_ready(&self, id: &str, out: &mut Writer<'_>) -> StepId {
        let step = out.start_tool(ToolStart {
            kind: self.kind,
            server: self.server.as_deref(),
            ..ToolStart::client_function(id, &self.name)
        });
        if let Some(arguments) = &self.arguments {
            out.replace_arguments_if_changed(step, arguments);
        }
        out.emit_tool_ready_once(step);
        step
    }

    /// Sets server, name and arguments from the arguments of an MCP call.
    fn set_fields_from_mcp_arguments(&mut self, args: &'a RawValue) {
        object! { Mcp {
            server = "providerIdentifier", tool = "toolName", name, inner = "args",
            ; skip _
        } }
        let Some(mcp) = Mcp::from_raw(args) else { return };
        let Mcp { server, tool, name, inner } = mcp;
        self.server = server.and_then(as_string);
        if let Some(tool) = tool.or(name).and_then(as_string) {
            self.name = tool.into_owned();
        }
        self.arguments = inner.or(Some(args)).map(string_or_json);
    }
}

/// Kind of a tool by its name.
fn tool_kind(name: &str) -> ToolKind {
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

object! { ResultBody {
    content, stdout, stderr, error = "errorMessage", reason, is_error = "isError",
    ; skip _
} }

/// Writes the output of a call and ends its step; the result's only key is the outcome.
pub(super) fn write_output_and_end_step(
    step: StepId,
    result: Option<&RawValue>,
    out: &mut Writer<'_>,
) {
    let members = result.and_then(|raw| non_null_members(raw.get())).unwrap_or_default();
    let Some((key, body)) = members.first() else {
        out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
        return;
    };
    let result = ResultBody::from_raw(body).unwrap_or_default();
    out.append_output_if_none(step, &tool_output(body, &result));
    for image in result
        .content
        .map(array_elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(parse_mcp_image)
    {
        out.append_output_image(step, image);
    }
    match key.as_str() {
        // An MCP tool can fail and still be answered.
        "success" if result.is_error.is_some_and(is_true) => {
            out.end_tool_if_open(step, ToolOutcome::Failed, None);
        }
        "success" => out.end_tool_if_open(step, ToolOutcome::Succeeded, None),
        "rejected" | "permissionDenied" => {
            out.end_tool_if_open(step, ToolOutcome::Denied, Some(key));
        }
        _ => out.end_tool_if_open(step, ToolOutcome::Failed, Some(key)),
    }
}

/// Output of a tool: content, stdout and stderr, or an error text; else the JSON.
fn tool_output<'a>(body: &'a RawValue, result: &ResultBody<'a>) -> Cow<'a, str> {
    let &ResultBody { content, stdout, stderr, error, reason, .. } = result;
    if let Some(texts) = content.and_then(join_content_texts) {
        return texts.into();
    }
    let [content, stdout, stderr, error, reason] =
        [content, stdout, stderr, error, reason].map(|member| member.and_then(as_string));
    match (content.or(error).or(reason), stdout, stderr) {
        (None, Some(stdout), Some(stderr)) => stdout + stderr,
        (Some(text), ..) | (None, Some(text), None) | (None, None, Some(text)) => text,
        (None, None, None) => string_or_json(body),
    }
}

/// Image part of an MCP result, `{"image":{"data":"...","mimeType":"..."}}`.
fn parse_mcp_image(part: &RawValue) -> Option<Image<'_>> {
    object! { Part { image; skip _ } }
    parse_image(Part::from_raw(part)?.image?)
}

/// Joins the texts of an MCP result, `[{"text":{"text":"..."}}]`; `None` if a part is neither text
/// nor image.
fn join_content_texts(content: &RawValue) -> Option<String> {
    object! { Text { text; skip _ } }
    let parts = array_elements(content);
    let texts = parts.iter().filter(|raw| parse_mcp_image(raw).is_none()).map(|raw| {
        let outer = Text::from_raw(raw)?.text?;
        as_string(outer).or_else(|| as_string(Text::from_raw(outer)?.text?))
    });
    let texts = texts.collect::<Option<Vec<_>>>()?;
    (!parts.is_empty()).then(|| texts.concat())
}
