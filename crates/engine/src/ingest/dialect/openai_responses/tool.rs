//! Tool items: tools that the caller runs, and tools that the provider runs inside the response.

use std::borrow::Cow;

use crate::event::{AskKind, AskOption, Executor, StepId, ToolKind};
use crate::ingest::json::{RawValue, array_elements, as_string, object, string_or_json};
use crate::run::{ToolStart, Writer};

use super::item::{ItemKey, ItemKind};
use super::output::end_tool_if_item_has_result;
use super::{ItemBody, OpenAiResponses, PendingAction, ShellDelta};

/// A tool call and the encoding of its argument deltas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolItem {
    step: StepId,
    arguments_encoding: ArgumentsEncoding,
}

/// Encoding of the deltas of a tool's arguments.
#[derive(Clone, Debug, PartialEq)]
enum ArgumentsEncoding {
    /// The arguments themselves.
    Plain,
    /// The text of one string in them, or of several in an array.
    Quoted(QuotedArguments),
}

/// Writer of text deltas as a JSON string, or several in an array, between fixed JSON.
#[derive(Clone, Debug, PartialEq)]
struct QuotedArguments {
    prefix: String,
    suffix: &'static str,
    state: QuotedState,
}

/// Progress of quoted arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuotedState {
    Waiting,
    Open { element: u64 },
    Closed,
}

/// Tools that xAI runs itself although it announces them as client tools.
pub(super) const XAI_SEARCHES: [&str; 6] = [
    "x_keyword_search",
    "x_semantic_search",
    "x_user_search",
    "x_thread_fetch",
    "view_x_video",
    "view_image",
];

impl QuotedArguments {
    /// Appends text to the string `element`, opening it if needed.
    fn write_escaped_text(&mut self, step: StepId, element: u64, text: &str, out: &mut Writer<'_>) {
        match &mut self.state {
            QuotedState::Waiting => {
                out.append_arguments(step, &self.prefix);
                self.state = QuotedState::Open { element };
            }
            QuotedState::Open { element: last } if *last < element => {
                out.append_arguments(step, r#"",""#);
                *last = element;
            }
            QuotedState::Open { .. } => {}
            QuotedState::Closed => return,
        }
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        out.append_arguments(step, inner.unwrap_or(""));
    }

    /// Closes the JSON and marks the tool ready.
    fn close_and_emit_ready_if_open(&mut self, step: StepId, out: &mut Writer<'_>) {
        if let QuotedState::Open { .. } = self.state {
            out.append_arguments(step, self.suffix);
            out.emit_tool_ready_once(step);
            self.state = QuotedState::Closed;
        }
    }
}

impl ArgumentsEncoding {
    /// Creates quoted arguments between `before` and `after`.
    fn new_quoted(before: impl Into<String>, after: &'static str) -> ArgumentsEncoding {
        ArgumentsEncoding::Quoted(QuotedArguments {
            prefix: before.into(),
            suffix: after,
            state: QuotedState::Waiting,
        })
    }

    /// Chooses the encoding for an item's type.
    fn for_item(body: &ItemBody<'_>) -> ArgumentsEncoding {
        match body.kind.as_deref() {
            Some("code_interpreter_call" | "program") => {
                ArgumentsEncoding::new_quoted(r#"{"code":""#, r#""}"#)
            }
            Some("shell_call") => ArgumentsEncoding::new_quoted(r#"{"commands":[""#, r#""]}"#),
            Some("apply_patch_call") => {
                object! { Operation { kind = "type", path; skip _ } }
                let operation = body.operation.and_then(Operation::from_raw);
                let Operation { kind, path } = operation.unwrap_or_default();
                let json = |raw: Option<&RawValue>| raw.map_or("null", RawValue::get).to_owned();
                let (kind, path) = (json(kind), json(path));
                ArgumentsEncoding::new_quoted(
                    format!(r#"{{"type":{kind},"path":{path},"diff":""#),
                    r#""}"#,
                )
            }
            _ => ArgumentsEncoding::Plain,
        }
    }
}

impl ToolItem {
    /// Completes the arguments, and the tool if its item holds the result.
    pub(super) fn complete_arguments_and_end_if_result(
        self,
        body: &ItemBody<'_>,
        out: &mut Writer<'_>,
    ) {
        let ToolItem { step, arguments_encoding: mut input } = self;
        match &mut input {
            ArgumentsEncoding::Quoted(quoted) if quoted.state != QuotedState::Waiting => {
                quoted.close_and_emit_ready_if_open(step, out);
            }
            ArgumentsEncoding::Quoted(_) | ArgumentsEncoding::Plain => {
                if let Some(arguments) = build_arguments(body) {
                    out.replace_arguments_if_changed(step, &arguments);
                }
            }
        }
        out.emit_tool_ready_once(step);
        open_safety_ask_if_pending(step, body, out);
        end_tool_if_item_has_result(step, body, out);
    }
}

/// Opens an ask for the provider's pending safety checks of an action.
fn open_safety_ask_if_pending(step: StepId, body: &ItemBody<'_>, out: &mut Writer<'_>) {
    object! { Check { message, code; skip _ } }
    let checks = body.safety_checks.map(array_elements).unwrap_or_default();
    if checks.is_empty() {
        return;
    }
    let words = checks.into_iter().map(|raw| {
        let Check { message, code } = Check::from_raw(raw).unwrap_or_default();
        match (message.and_then(as_string), code.and_then(as_string)) {
            (Some(message), Some(code)) => format!("{message} ({code})"),
            (Some(words), None) | (None, Some(words)) => words.into_owned(),
            (None, None) => raw.get().to_owned(),
        }
    });
    let words: Vec<String> = words.collect();
    let option =
        |id: &'static str, label: &'static str| AskOption { id: id.into(), label: label.into() };
    let options = vec![option("acknowledge", "Acknowledge"), option("deny", "Deny")];
    let call = body.call_id.as_deref().or(body.id.as_deref()).unwrap_or("");
    out.open_simple_ask_unless_open(call, AskKind::Tool, &words.join("\n"), options, Some(step));
}

/// Tool items.
impl OpenAiResponses {
    /// Starts the step of a tool or tool output item; `None` for other types.
    pub(super) fn try_start_or_find_tool_step(
        &mut self,
        kind: &str,
        body: &ItemBody<'_>,
        out: &mut Writer<'_>,
    ) -> Option<ItemKind> {
        if let Some(tool) = kind.strip_suffix("_output") {
            return self.find_or_start_output_step(tool, body, out).map(ItemKind::Output);
        }
        let start = try_build_tool_start(kind, body)?;
        if start.executor == Executor::Client {
            self.pending_action = self.pending_action.max(PendingAction::Tools);
        }
        let parent = parse_caller_id(body).and_then(|call| out.find_open_tool(&call));
        let step = out.start_tool(ToolStart { parent, ..start });
        if kind == "tool_search_call" {
            self.open_tool_search = Some(step);
        }
        Some(ItemKind::Tool(ToolItem {
            step,
            arguments_encoding: ArgumentsEncoding::for_item(body),
        }))
    }

    /// Returns the step of the tool whose output this is; starts one if the call was in an earlier
    /// response.
    fn find_or_start_output_step(
        &mut self,
        tool: &str,
        body: &ItemBody<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        let call = body.call_id.as_deref().unwrap_or("");
        let asked = if tool == "tool_search" { self.open_tool_search.take() } else { None };
        let known = asked.or_else(|| out.find_open_tool(call));
        known.or_else(|| {
            let kind = match tool {
                "tool_search" => ToolKind::Builtin,
                "shell_call" => ToolKind::Command,
                "program" => ToolKind::CodeInterpreter,
                _ => return None,
            };
            let name = tool.strip_suffix("_call").unwrap_or(tool);
            Some(out.start_tool(ToolStart::provider_tool(call, name, kind)))
        })
    }

    /// Returns the open tool item with this key.
    fn find_tool_item_mut(&mut self, key: ItemKey<'_>) -> Option<&mut ToolItem> {
        match &mut self.find_newest_item_mut(key)?.kind {
            ItemKind::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Appends to the arguments of an open call; returns false if there is none. Arguments of a
    /// call whose start was missed arrive with its end.
    pub(super) fn try_append_arguments(
        &mut self,
        key: ItemKey<'_>,
        element: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let Some(ToolItem { step, arguments_encoding: input }) = self.find_tool_item_mut(key)
        else {
            return false;
        };
        match input {
            ArgumentsEncoding::Plain => out.append_arguments(*step, text),
            ArgumentsEncoding::Quoted(quoted) => {
                quoted.write_escaped_text(*step, element, text, out);
            }
        }
        true
    }

    /// Completes the arguments of an open call; returns false if there is none.
    pub(super) fn try_complete_arguments(
        &mut self,
        key: ItemKey<'_>,
        whole: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> bool {
        let Some(ToolItem { step, arguments_encoding: input }) = self.find_tool_item_mut(key)
        else {
            return false;
        };
        match (input, whole) {
            (ArgumentsEncoding::Quoted(quoted), _) => {
                quoted.close_and_emit_ready_if_open(*step, out);
            }
            (ArgumentsEncoding::Plain, Some(whole)) => {
                out.replace_arguments_if_changed(*step, &string_or_json(whole));
                out.emit_tool_ready_once(*step);
            }
            (ArgumentsEncoding::Plain, None) => {}
        }
        true
    }

    /// Appends shell output to its step.
    pub(super) fn append_shell_output_if_open(
        &mut self,
        key: ItemKey<'_>,
        piece: &ShellDelta<'_>,
        out: &mut Writer<'_>,
    ) {
        let Some(item) = self.find_newest_item_mut(key) else {
            return;
        };
        let ItemKind::Output(step) = item.kind else {
            return;
        };
        for text in [&piece.stdout, &piece.stderr].into_iter().flatten() {
            out.append_output_if_open(step, text);
        }
    }

    /// Reports progress of an open tool.
    pub(super) fn append_tool_progress_if_open(
        &mut self,
        key: ItemKey<'_>,
        text: &str,
        out: &mut Writer<'_>,
    ) {
        if let Some(item) = self.find_newest_item_mut(key)
            && let ItemKind::Tool(tool) = &item.kind
        {
            out.append_tool_progress_if_open(tool.step, text);
        }
    }
}

/// Builds the start of a tool call from its item type; `None` if it is no tool.
fn try_build_tool_start<'b>(kind: &str, body: &'b ItemBody<'_>) -> Option<ToolStart<'b>> {
    let text = |field: &'b Option<crate::ingest::json::Text<'_>>| field.as_deref().unwrap_or("");
    let call = Some(text(&body.call_id)).filter(|id| !id.is_empty());
    let call = call.unwrap_or_else(|| text(&body.id));
    let name = text(&body.name);
    let client = |name, kind| ToolStart { kind, ..ToolStart::client_function(call, name) };
    let provider = |name, kind| ToolStart::provider_tool(call, name, kind);
    let server = body.server_label.as_deref();
    let container = body.container_id.as_deref();
    Some(match kind {
        "custom_tool_call" if XAI_SEARCHES.contains(&name) => provider(name, ToolKind::WebSearch),
        "function_call" | "custom_tool_call" => ToolStart::client_function(call, name),
        "mcp_call" => ToolStart { server, ..provider(name, ToolKind::Mcp) },
        "mcp_list_tools" => ToolStart { server, ..provider("list_tools", ToolKind::Mcp) },
        "web_search_call" => provider("web_search", ToolKind::WebSearch),
        "file_search_call" => provider("file_search", ToolKind::FileSearch),
        "code_interpreter_call" => {
            let tool = provider("code_interpreter", ToolKind::CodeInterpreter);
            ToolStart { server: container, ..tool }
        }
        "program" => provider("program", ToolKind::CodeInterpreter),
        "image_generation_call" => provider("image_generation", ToolKind::ImageGeneration),
        "computer_call" => client("computer", ToolKind::Action),
        "local_shell_call" => client("local_shell", ToolKind::Command),
        "shell_call" if is_container_shell_call(body) => provider("shell", ToolKind::Command),
        "shell_call" => client("shell", ToolKind::Command),
        "apply_patch_call" => client("apply_patch", ToolKind::Edit),
        "tool_search_call" if body.execution.as_deref() == Some("client") => {
            client("tool_search", ToolKind::Builtin)
        }
        "tool_search_call" => provider("tool_search", ToolKind::Builtin),
        _ => return None,
    })
}

/// Returns true if a shell call runs in the provider's container.
fn is_container_shell_call(body: &ItemBody<'_>) -> bool {
    object! { Environment { kind = "type"; skip _ } }
    let kind = body.environment.and_then(|raw| Environment::from_raw(raw)?.kind);
    kind.and_then(as_string).is_some_and(|kind| kind.starts_with("container"))
}

/// Returns the id of the program that calls this function, if it is not the model itself.
fn parse_caller_id<'a>(body: &ItemBody<'a>) -> Option<Cow<'a, str>> {
    object! { Caller { caller_id; skip _ } }
    Caller::from_raw(body.caller?)?.caller_id.and_then(as_string)
}

/// Builds the whole arguments as the JSON that deltas would have produced.
fn build_arguments<'a>(body: &ItemBody<'a>) -> Option<Cow<'a, str>> {
    let member = |name: &str, value: Option<&RawValue>| {
        value.map(|value| Cow::Owned(format!(r#"{{"{name}":{value}}}"#)))
    };
    let json = |raw: &'a RawValue| Cow::Borrowed(raw.get());
    match body.kind.as_deref()? {
        "custom_tool_call" => body.input.map(string_or_json),
        "web_search_call" => body.arguments.map(string_or_json).or(body.action.map(json)),
        "file_search_call" => member("queries", body.queries),
        "code_interpreter_call" | "program" => member("code", body.code),
        "image_generation_call" => member("prompt", body.prompt.or(body.revised_prompt)),
        "computer_call" => body.action.or(body.actions).map(json),
        "local_shell_call" => body.action.map(json),
        "shell_call" => {
            object! { Action { commands; skip _ } }
            member("commands", Action::from_raw(body.action?)?.commands)
        }
        "apply_patch_call" => body.operation.map(json),
        _ => body.arguments.map(string_or_json),
    }
}
