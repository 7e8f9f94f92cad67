//! Tools: those that whoever called the model runs, and those that the provider runs inside the
//! response.

use std::borrow::Cow;

use crate::event::{AskKind, AskOption, Executor, StepId, ToolKind};
use crate::ingest::json::{RawValue, Shape, elements, string, string_or_json};
use crate::run::{ToolStart, Writer};

use super::item::{Key, Kind};
use super::output::result_in_item;
use super::{Body, LeftOpen, OpenAiResponses, ShellDelta};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tool {
    step: StepId,
    input: Input,
}

/// What the deltas of a tool's arguments are.
#[derive(Clone, Debug, PartialEq)]
enum Input {
    /// The arguments themselves.
    Plain,
    /// The text of a string in them, or of several in an array.
    Quoted(Quoted),
}

#[derive(Clone, Debug, PartialEq)]
struct Quoted {
    before: String,
    after: &'static str,
    state: QuotedState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuotedState {
    Waiting,
    Open { element: u64 },
    Closed,
}

/// Tools that xAI runs itself, although it calls them as if the client should.
pub(super) const XAI_SEARCHES: [&str; 6] = [
    "x_keyword_search",
    "x_semantic_search",
    "x_user_search",
    "x_thread_fetch",
    "view_x_video",
    "view_image",
];

impl Quoted {
    fn push(&mut self, step: StepId, element: u64, text: &str, out: &mut Writer<'_>) {
        match &mut self.state {
            QuotedState::Waiting => {
                out.arguments(step, &self.before);
                self.state = QuotedState::Open { element };
            }
            QuotedState::Open { element: last } if *last < element => {
                out.arguments(step, r#"",""#);
                *last = element;
            }
            QuotedState::Open { .. } => {}
            QuotedState::Closed => return,
        }
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        out.arguments(step, inner.unwrap_or(""));
    }

    fn close(&mut self, step: StepId, out: &mut Writer<'_>) {
        if let QuotedState::Open { .. } = self.state {
            out.arguments(step, self.after);
            out.ready(step);
            self.state = QuotedState::Closed;
        }
    }
}

impl Input {
    fn quoted(before: impl Into<String>, after: &'static str) -> Input {
        Input::Quoted(Quoted { before: before.into(), after, state: QuotedState::Waiting })
    }

    fn of(body: &Body<'_>) -> Input {
        match body.kind.as_deref() {
            Some("code_interpreter_call" | "program") => Input::quoted(r#"{"code":""#, r#""}"#),
            Some("shell_call") => Input::quoted(r#"{"commands":[""#, r#""]}"#),
            Some("apply_patch_call") => {
                const OPERATION: Shape<2> = Shape { read: ["type", "path"], skip: &[] };
                let operation = body.operation.and_then(|raw| OPERATION.read(raw.get()));
                let [kind, path] = operation.map_or([None; 2], |operation| operation.read);
                let json = |raw: Option<&RawValue>| raw.map_or("null", RawValue::get).to_owned();
                let (kind, path) = (json(kind), json(path));
                Input::quoted(format!(r#"{{"type":{kind},"path":{path},"diff":""#), r#""}"#)
            }
            _ => Input::Plain,
        }
    }
}

impl Tool {
    /// Its item is complete; so is the tool, if its result came with it.
    pub(super) fn done(self, body: &Body<'_>, out: &mut Writer<'_>) {
        let Tool { step, mut input } = self;
        match &mut input {
            Input::Quoted(quoted) if quoted.state != QuotedState::Waiting => {
                quoted.close(step, out);
            }
            Input::Quoted(_) | Input::Plain => {
                if let Some(arguments) = arguments_of(body) {
                    out.whole_arguments(step, &arguments);
                }
            }
        }
        out.ready(step);
        ask_acknowledgement(step, body, out);
        result_in_item(step, body, out);
    }
}

/// The provider holds an action for unsafe until a person has looked at it.
fn ask_acknowledgement(step: StepId, body: &Body<'_>, out: &mut Writer<'_>) {
    const CHECK: Shape<2> = Shape { read: ["message", "code"], skip: &[] };
    let checks = body.safety_checks.map(elements).unwrap_or_default();
    if checks.is_empty() {
        return;
    }
    let words = checks.into_iter().map(|raw| {
        let [message, code] = CHECK.read(raw.get()).map_or([None; 2], |check| check.read);
        match (message.and_then(string), code.and_then(string)) {
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
    out.ask(call, AskKind::Tool, &words.join("\n"), options, Some(step));
}

/// What happens while a tool's item is open.
impl OpenAiResponses {
    /// The item's kind if it is a tool or a tool's output, of which the step has begun.
    pub(super) fn begin_tool(
        &mut self,
        kind: &str,
        body: &Body<'_>,
        out: &mut Writer<'_>,
    ) -> Option<Kind> {
        if let Some(tool) = kind.strip_suffix("_output") {
            return self.begin_output(tool, body, out).map(Kind::Output);
        }
        let start = tool_start(kind, body)?;
        if start.executor == Executor::Client {
            self.left_open = self.left_open.max(LeftOpen::Tools);
        }
        let parent = caller_of(body).and_then(|call| out.step_of(&call));
        let step = out.tool(ToolStart { parent, ..start });
        if kind == "tool_search_call" {
            self.tool_search = Some(step);
        }
        Some(Kind::Tool(Tool { step, input: Input::of(body) }))
    }

    /// The step that put this out: of this response, or of one before, which may not be known.
    fn begin_output(
        &mut self,
        tool: &str,
        body: &Body<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        let call = body.call_id.as_deref().unwrap_or("");
        let asked = if tool == "tool_search" { self.tool_search.take() } else { None };
        let known = asked.or_else(|| out.step_of(call));
        known.or_else(|| {
            let kind = match tool {
                "tool_search" => ToolKind::Builtin,
                "shell_call" => ToolKind::Command,
                "program" => ToolKind::CodeInterpreter,
                _ => return None,
            };
            let name = tool.strip_suffix("_call").unwrap_or(tool);
            Some(out.tool(ToolStart::provider(call, name, kind)))
        })
    }

    fn open_tool(&mut self, key: Key<'_>) -> Option<&mut Tool> {
        match &mut self.open_item(key)?.kind {
            Kind::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether there is a call that is open to take them. Those of a call whose beginning was
    /// missed come with its end.
    pub(super) fn arguments_delta(
        &mut self,
        key: Key<'_>,
        element: u64,
        text: &str,
        out: &mut Writer<'_>,
    ) -> bool {
        let Some(Tool { step, input }) = self.open_tool(key) else {
            return false;
        };
        match input {
            Input::Plain => out.arguments(*step, text),
            Input::Quoted(quoted) => quoted.push(*step, element, text, out),
        }
        true
    }

    pub(super) fn whole_arguments(
        &mut self,
        key: Key<'_>,
        whole: Option<&RawValue>,
        out: &mut Writer<'_>,
    ) -> bool {
        let Some(Tool { step, input }) = self.open_tool(key) else {
            return false;
        };
        match (input, whole) {
            (Input::Quoted(quoted), _) => quoted.close(*step, out),
            (Input::Plain, Some(whole)) => {
                out.whole_arguments(*step, &string_or_json(whole));
                out.ready(*step);
            }
            (Input::Plain, None) => {}
        }
        true
    }

    pub(super) fn output_delta(
        &mut self,
        key: Key<'_>,
        piece: &ShellDelta<'_>,
        out: &mut Writer<'_>,
    ) {
        let Some(item) = self.open_item(key) else {
            return;
        };
        let Kind::Output(step) = item.kind else {
            return;
        };
        for text in [&piece.stdout, &piece.stderr].into_iter().flatten() {
            out.output(step, text);
        }
    }

    pub(super) fn progress(&mut self, key: Key<'_>, text: &str, out: &mut Writer<'_>) {
        if let Some(item) = self.open_item(key)
            && let Kind::Tool(tool) = &item.kind
        {
            out.progress(tool.step, text);
        }
    }
}

fn tool_start<'b>(kind: &str, body: &'b Body<'_>) -> Option<ToolStart<'b>> {
    let text = |field: &'b Option<crate::ingest::json::Text<'_>>| field.as_deref().unwrap_or("");
    let call = Some(text(&body.call_id)).filter(|id| !id.is_empty());
    let call = call.unwrap_or_else(|| text(&body.id));
    let name = text(&body.name);
    let client = |name, kind| ToolStart { kind, ..ToolStart::function(call, name) };
    let provider = |name, kind| ToolStart::provider(call, name, kind);
    let server = body.server_label.as_deref();
    let container = body.container_id.as_deref();
    Some(match kind {
        "custom_tool_call" if XAI_SEARCHES.contains(&name) => provider(name, ToolKind::WebSearch),
        "function_call" | "custom_tool_call" => ToolStart::function(call, name),
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
        "shell_call" if is_in_container(body) => provider("shell", ToolKind::Command),
        "shell_call" => client("shell", ToolKind::Command),
        "apply_patch_call" => client("apply_patch", ToolKind::Edit),
        "tool_search_call" if body.execution.as_deref() == Some("client") => {
            client("tool_search", ToolKind::Builtin)
        }
        "tool_search_call" => provider("tool_search", ToolKind::Builtin),
        _ => return None,
    })
}

fn is_in_container(body: &Body<'_>) -> bool {
    const ENVIRONMENT: Shape<1> = Shape { read: ["type"], skip: &[] };
    let kind = body.environment.and_then(|raw| ENVIRONMENT.read(raw.get())?.read[0]);
    kind.and_then(string).is_some_and(|kind| kind.starts_with("container"))
}

/// The program that calls this function, where it is not the model itself.
fn caller_of<'a>(body: &Body<'a>) -> Option<Cow<'a, str>> {
    const CALLER: Shape<1> = Shape { read: ["caller_id"], skip: &[] };
    CALLER.read(body.caller?.get())?.read[0].and_then(string)
}

/// Whole arguments, as the JSON that deltas would have added up to.
fn arguments_of<'a>(body: &Body<'a>) -> Option<Cow<'a, str>> {
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
            const ACTION: Shape<1> = Shape { read: ["commands"], skip: &[] };
            member("commands", ACTION.read(body.action?.get())?.read[0])
        }
        "apply_patch_call" => body.operation.map(json),
        _ => body.arguments.map(string_or_json),
    }
}
