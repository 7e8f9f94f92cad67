//! Tools, commands, MCP calls and browser actions: one at a time.

use crate::event::{StepId, ToolKind, ToolOutcome};
use crate::ingest::json::{Shape, elements, string, string_or_json};
use crate::run::{ToolStart, Writer};

use super::super::openai_chat::image_of_url;
use super::super::repeated::{Recent, Repeated};
use super::{Message, ask};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Steps {
    open: Option<OpenStep>,
    /// Messages whose step is over.
    past: Recent,
    outputs: Repeated,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenStep {
    key: String,
    name: String,
    step: StepId,
    kind: ToolKind,
    asked: Asked,
    ends_with_newline: bool,
}

/// Whether a person has a say in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    No,
    Waiting,
    Answered,
}

const CALL: Shape<5> =
    Shape { read: ["tool", "action", "toolName", "serverName", "uri"], skip: &[] };

impl Steps {
    /// A message that belongs to a step; says whether it does.
    pub(super) fn say(
        &mut self,
        say: &str,
        key: &str,
        message: &Message<'_>,
        out: &mut Writer<'_>,
    ) -> bool {
        match say {
            "command_output" => self.output(ToolKind::Command, key, message, out),
            "mcp_server_response" => {
                self.output(ToolKind::Mcp, key, message, out);
                self.end_whole(message, out);
            }
            "browser_action_result" => self.browser_result(key, message, out),
            "codebase_search_result" | "subtask_result" => {
                self.output(ToolKind::Function, key, message, out);
                self.end_whole(message, out);
            }
            "tool" if self.answers(key, message) => {
                self.output(ToolKind::Function, key, message, out);
                self.end_whole(message, out);
            }
            "tool" => {
                self.begin(ToolKind::Function, key, message, out);
                self.end_whole(message, out);
            }
            "command" => {
                self.begin(ToolKind::Command, key, message, out);
            }
            "use_mcp_server" => {
                self.begin(ToolKind::Mcp, key, message, out);
            }
            "browser_action" | "browser_action_launch" => {
                self.begin(ToolKind::Action, key, message, out);
            }
            _ => return false,
        }
        true
    }

    /// The step that a person is asked about.
    pub(super) fn asked(
        &mut self,
        kind: ToolKind,
        key: &str,
        message: &Message<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        let step = self.begin(kind, key, message, out)?;
        if let Some(open) = &mut self.open {
            let answered = message.is_answered == Some(true);
            open.asked = if answered { Asked::Answered } else { Asked::Waiting };
        }
        Some(step)
    }

    /// What follows shows that the person who was asked has answered.
    pub(super) fn answered(&mut self, out: &mut Writer<'_>) {
        if let Some(open) = self.open.as_mut().filter(|open| open.asked == Asked::Waiting) {
            open.asked = Asked::Answered;
            ask::resolve(&open.key, out);
        }
    }

    /// What follows shows that the step is over; one that waits for a person is not.
    pub(super) fn end(&mut self, out: &mut Writer<'_>) {
        let Some(open) = self.open.take_if(|open| open.asked != Asked::Waiting) else {
            return;
        };
        out.end_tool(open.step, ToolOutcome::Succeeded, None);
        self.past.add(&open.key);
    }

    fn end_whole(&mut self, message: &Message<'_>, out: &mut Writer<'_>) {
        if !message.is_partial() {
            self.end(out);
        }
    }

    /// Whether a message is the result of the step that was asked about, and not a step.
    fn answers(&self, key: &str, message: &Message<'_>) -> bool {
        self.open.as_ref().is_some_and(|open| {
            (key.is_empty() || open.key != key)
                && open.asked != Asked::No
                && name_of(message.text()).is_none_or(|name| name == open.name)
        })
    }

    fn begin(
        &mut self,
        kind: ToolKind,
        key: &str,
        message: &Message<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        if self.past.has(key) {
            return None;
        }
        let text = message.text();
        let nameless = kind != ToolKind::Command && name_of(text).is_none();
        let open = self.open.as_ref().filter(|open| !key.is_empty() && open.key == key);
        let step = match open {
            Some(open) => open.step,
            // Its name may be among what is still to come.
            None if message.is_partial() && nameless => return None,
            None => self.start(kind, key, text, out),
        };
        if !message.is_partial() {
            out.whole_arguments(step, text);
            out.ready(step);
        }
        Some(step)
    }

    fn start(&mut self, kind: ToolKind, key: &str, text: &str, out: &mut Writer<'_>) -> StepId {
        self.end(out);
        let fallback = match kind {
            ToolKind::Command => "execute_command",
            ToolKind::Mcp => "use_mcp_server",
            ToolKind::Action => "browser_action",
            _ => "tool",
        };
        let name = match kind {
            ToolKind::Command => None,
            _ => name_of(text),
        };
        let name = name.unwrap_or_else(|| fallback.to_owned());
        let kind = if kind == ToolKind::Function { kind_of(&name) } else { kind };
        let server = CALL.read(text).and_then(|call| call.read[3]).and_then(string);
        let call = ToolStart { kind, server: server.as_deref(), ..ToolStart::function(key, &name) };
        let step = out.tool(call);
        self.open = Some(OpenStep {
            key: key.to_owned(),
            name,
            step,
            kind,
            asked: Asked::No,
            ends_with_newline: true,
        });
        step
    }

    /// Output of the step that is open; where none is, of one that was not told about.
    fn output(&mut self, kind: ToolKind, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        if self.past.has(key) {
            return;
        }
        let fits =
            self.open.as_ref().is_some_and(|open| kind == ToolKind::Function || open.kind == kind);
        if !fits {
            self.start(kind, key, "", out);
        }
        let another = !self.outputs.knows(key);
        let rest = self.outputs.rest(key, message.text());
        // There is output: it was allowed, although nobody said so.
        self.answered(out);
        let Some(open) = &mut self.open else { return };
        if another && !open.ends_with_newline {
            out.output(open.step, "\n");
        }
        if !rest.is_empty() {
            open.ends_with_newline = rest.ends_with('\n');
            out.output(open.step, rest);
        }
    }

    fn browser_result(&mut self, key: &str, message: &Message<'_>, out: &mut Writer<'_>) {
        const RESULT: Shape<2> = Shape { read: ["screenshot", "logs"], skip: &[] };
        if message.is_partial() || self.past.has(key) {
            return;
        }
        let Some(open) = self.open.as_ref().filter(|open| open.kind == ToolKind::Action) else {
            return;
        };
        let read = RESULT.read(message.text()).map(|result| result.read).unwrap_or_default();
        let [screenshot, logs] = read.map(|member| member.map(string_or_json));
        if let Some(url) = screenshot.filter(|url| !url.is_empty()) {
            out.output_image(open.step, image_of_url(url));
        }
        if let Some(logs) = logs {
            out.output(open.step, &logs);
        }
        for url in message.images.map(elements).unwrap_or_default() {
            if let Some(url) = string(url) {
                out.output_image(open.step, image_of_url(url));
            }
        }
        self.end(out);
        self.past.add(key);
    }
}

fn name_of(text: &str) -> Option<String> {
    let [tool, action, mcp_tool, _, uri] = CALL.read(text)?.read;
    let name = tool.or(mcp_tool).or(action).or(uri).and_then(string)?;
    Some(name.into_owned())
}

fn kind_of(name: &str) -> ToolKind {
    match name {
        "editedExistingFile" | "newFileCreated" | "appliedDiff" | "insertContent"
        | "searchAndReplace" | "fileDeleted" | "applyPatch" => ToolKind::Edit,
        "webFetch" => ToolKind::WebFetch,
        "webSearch" => ToolKind::WebSearch,
        "newTask" | "subagent" => ToolKind::Agent,
        _ => ToolKind::Function,
    }
}
