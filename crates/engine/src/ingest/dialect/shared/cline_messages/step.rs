//! Steps: tools, commands, MCP calls and browser actions. Several may be open: those that their
//! source is still writing, and those that wait for an approval.

mod open_step;
mod outputs;

use crate::event::{StepId, ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{array_elements, as_string, object, string_or_json};
use crate::limits::OPEN_TOOLS_MAX;
use crate::run::{Fingerprint, ToolStart, Writer};

use super::super::dedup::RecentIds;
use super::super::shown_items::{ShownDiff, ShownItems};
use super::ClineMessage;
use crate::ingest::dialect::openai_chat::image_from_url;
use open_step::{Approval, CallProgress, OpenStep};
use outputs::OutputProgress;

/// The open steps and the keys of ended ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ToolSteps {
    /// Oldest first.
    open: Vec<OpenStep>,
    /// Keys of messages whose step has ended.
    ended: RecentIds,
    /// Outputs that are complete.
    complete_outputs: ShownItems,
}

object! { CallFields {
    tool, action, mcp_tool = "toolName", server_name = "serverName", uri, content,
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
                self.ensure_approved_step_and_write_output(ToolKind::Command, key, message, out);
            }
            "mcp_server_response" => {
                let step =
                    self.ensure_approved_step_and_write_output(ToolKind::Mcp, key, message, out);
                if let Some(step) = step.filter(|_| !message.is_partial()) {
                    write_message_images(step, message, out);
                }
                self.end_complete_steps_unless_partial(message, out);
            }
            "browser_action_result" => self.end_open_browser_action_with_result(key, message, out),
            "codebase_search_result" | "subtask_result" => {
                self.ensure_approved_step_and_write_output(ToolKind::Function, key, message, out);
                self.end_complete_steps_unless_partial(message, out);
            }
            "tool" if self.is_result_of_open_step(key, message) => {
                self.ensure_approved_step_and_write_output(ToolKind::Function, key, message, out);
                self.end_complete_steps_unless_partial(message, out);
            }
            "tool" => {
                let step = self.try_begin_or_update_step(ToolKind::Function, key, message, out);
                if let Some(step) = step.filter(|_| !message.is_partial()) {
                    write_result_in_call(step, message.text(), out);
                }
                self.end_complete_steps_unless_partial(message, out);
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

    /// True if the step of a message has ended.
    pub(super) fn has_ended(&self, key: &str) -> bool {
        self.ended.contains(key)
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
        if let Some(open) = self.open.iter_mut().find(|open| open.step == step) {
            let answered = message.is_answered == Some(true) && !message.is_partial();
            open.approval = match open.approval {
                Approval::Answered => Approval::Answered,
                _ if answered => Approval::Answered,
                Approval::NotAsked | Approval::Pending => Approval::Pending,
            };
        }
        Some(step)
    }

    /// Resolves the approvals that were asked for: later messages imply an answer.
    pub(super) fn resolve_pending_asks(&mut self, out: &mut Writer<'_>) {
        for open in &mut self.open {
            open.resolve_pending_ask(out);
        }
    }

    /// Ends the steps whose message is complete as succeeded, unless their approval is pending.
    pub(super) fn end_complete_steps(&mut self, out: &mut Writer<'_>) {
        for open in self.open.extract_if(.., |open| open.can_end()) {
            out.end_tool_if_open(open.step, ToolOutcome::Succeeded, None);
            self.ended.insert(&open.key);
        }
    }

    /// Ends the input: writes the arguments of the calls that are still partial.
    pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
        for open in &mut self.open {
            if let CallProgress::Partial { text } = &open.progress {
                out.replace_arguments_if_changed(open.step, text);
            }
        }
    }

    /// Ends complete steps, if the message is complete.
    fn end_complete_steps_unless_partial(
        &mut self,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) {
        if !message.is_partial() {
            self.end_complete_steps(out);
        }
    }

    /// The open step of a message.
    fn position_of_message(&self, key: &str) -> Option<usize> {
        self.open.iter().position(|open| !key.is_empty() && open.key == key)
    }

    /// True if the message is the result of an open, approved step and not a new step.
    fn is_result_of_open_step(&self, key: &str, message: &ClineMessage<'_>) -> bool {
        let name = parse_tool_name(message.text());
        self.position_of_message(key).is_none()
            && !self.ended.contains(key)
            && self.open.iter().any(|open| open.takes_result_of_tool(name.as_deref()))
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
        let at = match self.position_of_message(key) {
            Some(at) => at,
            // The name may follow in a later version of the message.
            None if message.is_partial() && nameless => return None,
            None => {
                let at = self.start_step_ending_complete_ones(kind, key, text, out);
                // A message without an id has no later version.
                if !key.is_empty() {
                    self.open[at].progress = CallProgress::Partial { text: String::new() };
                }
                at
            }
        };
        let open = &mut self.open[at];
        if message.is_partial() {
            open.record_partial_call(text);
        } else {
            open.progress = CallProgress::Complete;
            out.replace_arguments_if_changed(open.step, text);
            out.emit_tool_ready_once(open.step);
        }
        Some(open.step)
    }

    /// Starts a new step and returns its position; ends the complete ones before it, unless their
    /// approval is pending.
    fn start_step_ending_complete_ones(
        &mut self,
        kind: ToolKind,
        key: &str,
        text: &str,
        out: &mut Writer<'_>,
    ) -> usize {
        self.end_complete_steps(out);
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
        if OPEN_TOOLS_MAX <= self.open.len() {
            self.open.remove(0);
        }
        self.open.push(OpenStep::new(key, name, step, kind));
        self.open.len() - 1
    }

    /// Writes what is new of an output to its step and resolves the approval of that step; starts a
    /// step if none fits. Returns the step.
    fn ensure_approved_step_and_write_output(
        &mut self,
        kind: ToolKind,
        key: &str,
        message: &ClineMessage<'_>,
        out: &mut Writer<'_>,
    ) -> Option<StepId> {
        let output = Fingerprint::from_text(key);
        let text = message.text();
        if !output.is_blank() && self.complete_outputs.is_finished(output) {
            let same = self.complete_outputs.diff_whole_text(output, text) == ShownDiff::Unchanged;
            if !message.is_partial() && !same {
                out.append_unrecognised(UnrecognisedReason::Late, text);
            }
            return None;
        }
        let name = parse_tool_name(text);
        let at = match self.find_step_for_output(kind, output, name.as_deref()) {
            Some(at) => at,
            None => self.start_step_ending_complete_ones(kind, key, "", out),
        };
        let open = &mut self.open[at];
        // Output implies that the step was approved.
        open.resolve_pending_ask(out);
        let progress = if message.is_partial() && !output.is_blank() {
            OutputProgress::Partial
        } else {
            OutputProgress::Complete
        };
        open.outputs.write_version(open.step, output, text, progress, out);
        if progress == OutputProgress::Complete && !output.is_blank() {
            self.complete_outputs.record_whole_text(output, text);
            self.complete_outputs.mark_finished_or_remove_unkeyed(output);
        }
        Some(open.step)
    }

    /// The step that an output belongs to: the one that has its beginning, else the oldest that
    /// was asked for by this name, else the newest of its kind whose call is complete, else the
    /// newest of its kind.
    fn find_step_for_output(
        &self,
        kind: ToolKind,
        output: Fingerprint,
        name: Option<&str>,
    ) -> Option<usize> {
        let fits = |open: &OpenStep| kind == ToolKind::Function || open.kind == kind;
        let has_begun = |open: &OpenStep| !output.is_blank() && open.outputs.has_partial_of(output);
        let is_named =
            |open: &OpenStep| name.is_some() && fits(open) && open.takes_result_of_tool(name);
        let is_complete = |open: &OpenStep| fits(open) && open.progress == CallProgress::Complete;
        self.open
            .iter()
            .position(has_begun)
            .or_else(|| self.open.iter().position(is_named))
            .or_else(|| self.open.iter().rposition(is_complete))
            .or_else(|| self.open.iter().rposition(fits))
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
        let action = self.find_step_for_output(ToolKind::Action, Fingerprint::default(), None);
        let Some(step) = action.map(|at| self.open[at].step) else { return };
        let ResultFields { screenshot, logs } =
            ResultFields::parse(message.text()).unwrap_or_default();
        let [screenshot, logs] = [screenshot, logs].map(|member| member.map(string_or_json));
        if let Some(url) = screenshot.filter(|url| !url.is_empty()) {
            out.append_output_image(step, image_from_url(url));
        }
        if let Some(logs) = logs {
            out.append_output_if_open(step, &logs);
        }
        write_message_images(step, message, out);
        self.end_complete_steps(out);
        self.ended.insert(key);
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

/// Writes the result that the call of a searching or listing tool has among its arguments.
fn write_result_in_call(step: StepId, text: &str, out: &mut Writer<'_>) {
    let Some(CallFields { tool: Some(tool), content: Some(content), .. }) = CallFields::parse(text)
    else {
        return;
    };
    let has_result = matches!(
        as_string(tool).as_deref(),
        Some(
            "searchFiles"
                | "listFilesTopLevel"
                | "listFilesRecursive"
                | "listCodeDefinitionNames"
                | "codebaseSearch"
        )
    );
    if let Some(result) = as_string(content).filter(|_| has_result) {
        out.append_output_if_none(step, &result);
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
