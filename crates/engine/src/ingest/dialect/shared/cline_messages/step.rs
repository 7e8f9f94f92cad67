//! Steps: tools, commands, MCP calls and browser actions. At most one is open.

use crate::event::{StepId, ToolKind, ToolOutcome};
use crate::ingest::json::{array_elements, as_string, object, string_or_json};
use crate::run::{ToolStart, Writer};

use super::super::dedup::{RecentIds, TextDedup};
use super::{ClineMessage, ask};
use crate::ingest::dialect::openai_chat::image_from_url;

/// The open step and the keys of ended ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ToolSteps {
    open: Option<OpenStep>,
    /// Keys of messages whose step has ended.
    ended: RecentIds,
    outputs: TextDedup,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenStep {
    key: String,
    name: String,
    step: StepId,
    kind: ToolKind,
    approval: Approval,
    ends_with_newline: bool,
}

/// Approval state of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approval {
    NotAsked,
    Pending,
    Answered,
}

object! { CallFields {
    tool, action, mcp_tool = "toolName", server_name = "serverName", uri,
    ; skip _
} }

impl ToolSteps {
    /// Applies a `say` message that belongs to a step; returns false for any other.
    pub(super) fn try_apply_say(
        &mut self,
        say: &str,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) -> bool {
        match say {
            "command_output" => {
                self.ensure_approved_step_and_append_output(ToolKind::Command, key, message, out);
            }
            "mcp_server_response" => {
                self.ensure_approved_step_and_append_output(ToolKind::Mcp, key, message, out);
                self.write_images_unless_partial_or_ended(key, message, out);
                self.end_step_unless_partial_or_asked(message, out);
            }
            "browser_action_result" => self.end_open_browser_action_with_result(key, message, out),
            "codebase_search_result" | "subtask_result" => {
                self.ensure_approved_step_and_append_output(ToolKind::Function, key, message, out);
                self.end_step_unless_partial_or_asked(message, out);
            }
            "tool" if self.is_result_of_open_step(key, message) => {
                self.ensure_approved_step_and_append_output(ToolKind::Function, key, message, out);
                self.end_step_unless_partial_or_asked(message, out);
            }
            "tool" => {
                self.try_begin_or_update_step(ToolKind::Function, key, message, out);
                self.end_step_unless_partial_or_asked(message, out);
            }
            "command" => {
                self.try_begin_or_update_step(ToolKind::Command, key, message, out);
            }
            "use_mcp_server" => {
                self.try_begin_or_update_step(ToolKind::Mcp, key, message, out);
            }
            "browser_action" | "browser_action_launch" => {
                self.try_begin_or_update_step(ToolKind::Action, key, message, out);
            }
            _ => return false,
        }
        true
    }

    /// Begins the step that an approval is about.
    pub(super) fn try_begin_or_update_asked_step(
        &mut self,
        kind: ToolKind,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        let step = self.try_begin_or_update_step(kind, key, message, out)?;
        if let Some(open) = &mut self.open {
            let answered = message.is_answered == Some(true);
            open.approval = if answered { Approval::Answered } else { Approval::Pending };
        }
        Some(step)
    }

    /// Resolves the open step's approval: later messages imply an answer.
    pub(super) fn resolve_pending_ask(&mut self, out: &mut Writer<'_>) {
        if let Some(open) = self.open.as_mut().filter(|open| open.approval == Approval::Pending) {
            open.approval = Approval::Answered;
            ask::resolve_as_answered(&open.key, out);
        }
    }

    /// Ends the open step as succeeded, unless its approval is pending.
    pub(super) fn end_step_unless_ask_pending(&mut self, out: &mut Writer<'_>) {
        let Some(open) = self.open.take_if(|open| open.approval != Approval::Pending) else {
            return;
        };
        out.end_tool_if_open(open.step, ToolOutcome::Succeeded, None);
        self.ended.insert(&open.key);
    }

    /// Ends the open step if the message is complete.
    fn end_step_unless_partial_or_asked(
        &mut self,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if !message.is_partial() {
            self.end_step_unless_ask_pending(out);
        }
    }

    /// True if the message is the result of the open, approved step and not a new step.
    fn is_result_of_open_step(&self, key: &str, message: &ClineMessage<'_>) -> bool {
        self.open.as_ref().is_some_and(|open| {
            (key.is_empty() || open.key != key)
                && open.approval != Approval::NotAsked
                && parse_tool_name(message.text()).is_none_or(|name| name == open.name)
        })
    }

    /// Starts the message's step or updates it; `None` if it has ended or has no name yet.
    fn try_begin_or_update_step(
        &mut self,
        kind: ToolKind,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        if self.ended.contains(key) {
            return None;
        }
        let text = message.text();
        let nameless = kind != ToolKind::Command && parse_tool_name(text).is_none();
        let open = self.open.as_ref().filter(|open| !key.is_empty() && open.key == key);
        let step = match open {
            Some(open) => open.step,
            // The name may follow in a later version of the message.
            None if message.is_partial() && nameless => return None,
            None => self.start_step_ending_or_forgetting_open(kind, key, text, out),
        };
        if !message.is_partial() {
            out.replace_arguments_if_changed(step, text);
            out.emit_tool_ready_once(step);
        }
        Some(step)
    }

    /// Starts a new step; ends the open one before it, unless its approval is pending.
    fn start_step_ending_or_forgetting_open(
        &mut self,
        kind: ToolKind,
        key: &str,
        text: &str,
        out: &mut Writer<'_>,
    ) -> StepId {
        self.end_step_unless_ask_pending(out);
        let fallback = match kind {
            ToolKind::Command => "execute_command",
            ToolKind::Mcp => "use_mcp_server",
            ToolKind::Action => "browser_action",
            _ => "tool",
        };
        let name = match kind {
            ToolKind::Command => None,
            _ => parse_tool_name(text),
        };
        let name = name.unwrap_or_else(|| fallback.to_owned());
        let kind = if kind == ToolKind::Function { tool_kind(&name) } else { kind };
        let server = CallFields::parse(text).and_then(|call| call.server_name).and_then(as_string);
        let call =
            ToolStart { kind, server: server.as_deref(), ..ToolStart::client_function(key, &name) };
        let step = out.start_tool(call);
        self.open = Some(OpenStep {
            key: key.to_owned(),
            name,
            step,
            kind,
            approval: Approval::NotAsked,
            ends_with_newline: true,
        });
        step
    }

    /// Appends the new part of an output to the open step and resolves its approval; starts a step
    /// if none fits.
    fn ensure_approved_step_and_append_output(
        &mut self,
        kind: ToolKind,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if self.ended.contains(key) {
            return;
        }
        let fits =
            self.open.as_ref().is_some_and(|open| kind == ToolKind::Function || open.kind == kind);
        if !fits {
            self.start_step_ending_or_forgetting_open(kind, key, "", out);
        }
        let another = !self.outputs.has_item(key);
        let rest = self.outputs.record_whole_returning_new(key, message.text());
        // Output implies that the step was approved.
        self.resolve_pending_ask(out);
        let Some(open) = &mut self.open else { return };
        if another && !open.ends_with_newline {
            out.append_output_if_open(open.step, "\n");
        }
        if !rest.is_empty() {
            open.ends_with_newline = rest.ends_with('\n');
            out.append_output_if_open(open.step, rest);
        }
    }

    /// Writes the screenshot and logs of a browser action and ends it.
    fn end_open_browser_action_with_result(
        &mut self,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        object! { ResultFields { screenshot, logs; skip _ } }
        if message.is_partial() || self.ended.contains(key) {
            return;
        }
        let Some(open) = self.open.as_ref().filter(|open| open.kind == ToolKind::Action) else {
            return;
        };
        let ResultFields { screenshot, logs } =
            ResultFields::parse(message.text()).unwrap_or_default();
        let [screenshot, logs] = [screenshot, logs].map(|member| member.map(string_or_json));
        if let Some(url) = screenshot.filter(|url| !url.is_empty()) {
            out.append_output_image(open.step, image_from_url(url));
        }
        if let Some(logs) = logs {
            out.append_output_if_open(open.step, &logs);
        }
        write_message_images(open.step, message, out);
        self.end_step_unless_ask_pending(out);
        self.ended.insert(key);
    }

    /// Writes the images of a complete result to the open step.
    fn write_images_unless_partial_or_ended(
        &self,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if let Some(open) = self.open.as_ref()
            && !message.is_partial()
            && !self.ended.contains(key)
        {
            write_message_images(open.step, message, out);
        }
    }
}

/// Writes the images of a message as output of a step.
fn write_message_images(step: StepId, message: &ClineMessage<'_>, out: &mut Writer<'_>) {
    for url in message.images.map(array_elements).unwrap_or_default() {
        if let Some(url) = as_string(url) {
            out.append_output_image(step, image_from_url(url));
        }
    }
}

/// Tool name in the JSON text of a message.
fn parse_tool_name(text: &str) -> Option<String> {
    let CallFields { tool, action, mcp_tool, uri, .. } = CallFields::parse(text)?;
    let name = tool.or(mcp_tool).or(action).or(uri).and_then(as_string)?;
    Some(name.into_owned())
}

/// Kind of a tool by its name.
fn tool_kind(name: &str) -> ToolKind {
    match name {
        "editedExistingFile" | "newFileCreated" | "appliedDiff" | "insertContent"
        | "searchAndReplace" | "fileDeleted" | "applyPatch" => ToolKind::Edit,
        "webFetch" => ToolKind::WebFetch,
        "webSearch" => ToolKind::WebSearch,
        "newTask" | "subagent" => ToolKind::Agent,
        _ => ToolKind::Function,
    }
}
