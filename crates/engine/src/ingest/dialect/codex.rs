//! Dialect of `codex exec --json`: a thread of turns, each a list of items that start, change and
//! complete.
//!
//! Text is cumulative: items are sent whole, and again when they change. A run ends at
//! `turn.completed` or `turn.failed`; another turn is another round. A line of type `error` fails
//! the run only if no turn ends after it. An *item* of type `error` is a warning. Model calls are
//! not marked: model output after a tool result is a new round.

use crate::event::{
    FailureReason, NoticeLevel, ReasoningOrigin, StepId, StopReason, TextMode, ToolKind,
    ToolOutcome, UnrecognisedReason,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Text, json_object_of_members, object, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, RoundBoundaries, ToolStart, Writer};

use super::openai_chat::parse_error_message;
use super::shared::calls_without_id::CallMatcher;
use super::shared::cli_agent::{LastModelOutput, PendingError, build_tool_start_without_call_id};
use super::shared::codex_results::{
    RetryNotice, end_command_step, tool_outcome, write_mcp_result_and_end, write_sub_agent_messages,
};
use super::shared::message_drafts::{MessageDrafts, WholeTextEffect};
use super::shared::shown_items::{ShownDiff, ShownItemKey, ShownItems};
use super::shared::usage::UsageNames;
use super::{Dialect, Unreadable};

/// Parser state of the `codex` dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Codex {
    /// Key of the open reasoning item.
    open_reasoning: Option<ShownItemKey>,
    drafts: MessageDrafts<ShownItemKey>,
    texts: ShownItems,
    thoughts: ShownItems,
    calls: CallMatcher,
    /// Last version of the to-do list.
    last_todo_list: String,
    /// Last error; the run may continue after it.
    pending_error: PendingError,
    last_output: LastModelOutput,
}

/// Life-cycle stage that an item line reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemStage {
    Started,
    Updated,
    Completed,
}

object! { EventLine {
    kind: Text<'a> = "type",
    item: Item<'a> = "item",
    usage: &'a RawValue = "usage",
    error: &'a RawValue = "error",
    message: &'a RawValue = "message",
    ; skip "thread_id"
} }

object! { Item {
    id: Text<'a> = "id",
    kind: Text<'a> = "type",
    text: Text<'a> = "text",
    command: &'a RawValue = "command",
    aggregated_output: Text<'a> = "aggregated_output",
    exit_code: i64 = "exit_code",
    status: Text<'a> = "status",
    changes: &'a RawValue = "changes",
    server: Text<'a> = "server",
    tool: Text<'a> = "tool",
    arguments: &'a RawValue = "arguments",
    result: &'a RawValue = "result",
    error: &'a RawValue = "error",
    prompt: &'a RawValue = "prompt",
    agents_states: &'a RawValue = "agents_states",
    query: &'a RawValue = "query",
    action: &'a RawValue = "action",
    items: &'a RawValue = "items",
    message: Text<'a> = "message",
    ; skip "sender_thread_id" | "receiver_thread_ids"
} }

const USAGE: UsageNames = UsageNames {
    input: "input_tokens",
    output: "output_tokens",
    reasoning: "reasoning_output_tokens",
    cache_read: "cached_input_tokens",
    cache_write: "cache_write_input_tokens",
};

impl Dialect for Codex {
    const NAME: &'static str = "codex";
    const MODE: TextMode = TextMode::Cumulative;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.type_text() {
            "thread.started" => Likeness::yes_if(probe.has("thread_id")),
            "turn.started" | "turn.completed" | "turn.failed" => Likeness::Yes,
            "item.started" | "item.updated" | "item.completed" => {
                Likeness::yes_if(probe.has_nested("item", "type"))
            }
            "error" => Likeness::maybe_if(probe.text_member("message").is_some()),
            _ => Likeness::No,
        }
    }

    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: EventLine<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.set_round_boundaries(RoundBoundaries::AfterToolResults);
        out.append_unknown_fields_once(&line.unknown);
        let item = line.item.unwrap_or_default();
        if !matches!(line.kind.as_deref(), Some("error" | "turn.failed")) {
            self.pending_error.write_held_error_or_forget_reported(out);
        }
        match line.kind.as_deref().unwrap_or("") {
            "thread.started" => {}
            "turn.started" => {
                *self = Codex::default();
                out.start_round_or_end_run(None, None);
            }
            "item.started" => self.apply_item(ItemStage::Started, &item, frame.data, out),
            "item.updated" => self.apply_item(ItemStage::Updated, &item, frame.data, out),
            "item.completed" => self.apply_item(ItemStage::Completed, &item, frame.data, out),
            "turn.completed" => {
                if let Some(usage) = line.usage {
                    out.emit_run_usage(USAGE.parse_usage_by_names(usage));
                }
                self.drafts.merge_pieces_and_drop_paused(out);
                self.last_output.ensure_reply_round_and_report_completed(StopReason::End, out);
            }
            "turn.failed" => {
                let words = line.error.map(parse_error_message);
                let words = words.as_deref().unwrap_or("the turn failed");
                self.pending_error.clear_and_write_held_unless_repeated(words, out);
                out.report_failed_and_end_text(FailureReason::Error, words);
            }
            "error" => self.write_retry_or_hold_error(
                &line.message.map(string_or_json).unwrap_or_default(),
                out,
            ),
            _ => out.append_unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.drafts.merge_pieces_and_drop_paused(out);
        self.pending_error.fail_run_or_write_held_error(out);
    }
}

impl Codex {
    /// Writes a retry notice, or holds the error.
    fn write_retry_or_hold_error(&mut self, words: &str, out: &mut Writer<'_>) {
        if let Some(retry) = RetryNotice::parse(words) {
            retry.write_retry(words, out);
        } else {
            self.pending_error.hold_error_and_write_previous(words, out);
        }
    }

    /// Applies one item by its type.
    fn apply_item(&mut self, stage: ItemStage, item: &Item<'_>, raw: &str, out: &mut Writer<'_>) {
        out.append_unknown_fields_once(&item.unknown);
        match item.kind.as_deref().unwrap_or("") {
            "agent_message" | "plan" => self.apply_message(stage, item, out),
            "reasoning" => self.apply_reasoning(stage, item, out),
            // Tools: a repeated line is one end.
            _ if stage == ItemStage::Completed
                && self.calls.record_end_and_detect_repeat(item_id(item), raw) => {}
            "command_execution" => self.apply_command(stage, item, out),
            "file_change" => self.apply_file_change(stage, item, out),
            "mcp_tool_call" => self.apply_mcp_call(stage, item, out),
            "collab_tool_call" => self.apply_collab_call(stage, item, out),
            "web_search" => self.apply_web_search(stage, item, out),
            "todo_list" => self.write_changed_todo_list_as_call(stage, item, out),
            "error" => {
                out.append_notice(NoticeLevel::Warning, item.message.as_deref().unwrap_or(""));
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies a message item.
    fn apply_message(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let key = Fingerprint::from_text(item_id(item));
        let text = item.text.as_deref().unwrap_or("");
        if key.is_blank() && !self.drafts.is_current(key) {
            self.texts.remove(key);
        }
        if stage != ItemStage::Completed && self.texts.is_finished(key) {
            return;
        }
        if !text.is_empty() {
            self.apply_whole_text(key, text, out);
        }
        if stage == ItemStage::Completed {
            self.drafts.finish_and_merge_message(key, out);
            self.texts.mark_finished_or_remove_unkeyed(key);
        }
    }

    /// Writes the new part of a message's text so far.
    fn apply_whole_text(&mut self, key: ShownItemKey, text: &str, out: &mut Writer<'_>) {
        let forgotten = self.texts.has_text(key) && self.drafts.text(key).is_none();
        if forgotten && self.texts.diff_whole_text(key, text) == ShownDiff::Unchanged {
            return;
        }
        self.texts.record_whole_text(key, text);
        if self.drafts.apply_whole_text(key, None, text, out) != WholeTextEffect::Unchanged {
            self.last_output = LastModelOutput::Text;
        }
    }

    /// Writes the new part of a reasoning item.
    fn apply_reasoning(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let key = Fingerprint::from_text(item_id(item));
        let text = item.text.as_deref().unwrap_or("");
        let thinking = self.open_reasoning == Some(key);
        if key.is_blank() && !thinking {
            self.thoughts.remove(key);
        }
        if stage != ItemStage::Completed && self.thoughts.is_finished(key) {
            return;
        }
        let (fresh, goes_on) = match self.thoughts.diff_whole_text(key, text) {
            ShownDiff::Unchanged => ("", true),
            ShownDiff::Appended(rest) => (rest, thinking),
            // Reasoning is never rewritten: the new text is a new reasoning step.
            ShownDiff::New | ShownDiff::Changed => (text, false),
        };
        if !goes_on {
            out.close_reasoning_and_defer_end();
            self.open_reasoning = Some(key);
        }
        out.append_reasoning(fresh, ReasoningOrigin::Summary);
        self.thoughts.record_whole_text(key, text);
        if stage == ItemStage::Completed {
            if self.open_reasoning == Some(key) {
                out.close_reasoning_and_defer_end();
                self.open_reasoning = None;
            }
            self.thoughts.mark_finished_or_remove_unkeyed(key);
        }
    }

    /// Finds the item's step, or starts it, and sets its arguments.
    fn find_or_start_step_with_arguments(
        &mut self,
        stage: ItemStage,
        item: &Item<'_>,
        tool: ToolStart<'_>,
        arguments: &str,
        out: &mut Writer<'_>,
    ) -> StepId {
        let tool = ToolStart { call: item_id(item), ..tool };
        let known = match stage {
            ItemStage::Started => CallMatcher::find_open_step_by_id(tool, out),
            ItemStage::Updated | ItemStage::Completed => {
                self.calls.find_open_step_of_call(tool, arguments, out)
            }
        };
        let step = known.unwrap_or_else(|| {
            self.open_reasoning = None;
            self.last_output = LastModelOutput::ToolCall;
            let step = out.start_tool(tool);
            self.calls.record_call_if_without_id(tool, arguments, step);
            step
        });
        out.replace_arguments_if_changed(step, arguments);
        step
    }

    /// Applies a command item.
    fn apply_command(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let tool = build_tool_start_without_call_id("command_execution", ToolKind::Command);
        let arguments = json_object_of_members(&[("command", item.command)]);
        let step = self.find_or_start_step_with_arguments(stage, item, tool, &arguments, out);
        out.emit_tool_ready_once(step);
        let output = item.aggregated_output.as_deref().unwrap_or("");
        if stage == ItemStage::Completed {
            out.append_rest_or_replace_output(step, output);
            end_command_step(step, item.status.as_deref(), item.exit_code, out);
        } else {
            out.append_rest_or_replace_output(step, output);
        }
    }

    /// Applies a file change item.
    fn apply_file_change(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let tool = build_tool_start_without_call_id("file_change", ToolKind::Edit);
        let arguments = json_object_of_members(&[("changes", item.changes)]);
        let step = self.find_or_start_step_with_arguments(stage, item, tool, &arguments, out);
        out.emit_tool_ready_once(step);
        if stage == ItemStage::Completed {
            out.end_tool_if_open(step, tool_outcome(item.status.as_deref()), None);
        }
    }

    /// Applies an MCP call item.
    fn apply_mcp_call(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let name = item.tool.as_deref().unwrap_or("");
        let tool = ToolStart {
            server: item.server.as_deref(),
            ..build_tool_start_without_call_id(name, ToolKind::Mcp)
        };
        let arguments = item.arguments.map_or("", RawValue::get);
        let step = self.find_or_start_step_with_arguments(stage, item, tool, arguments, out);
        out.emit_tool_ready_once(step);
        if stage == ItemStage::Completed {
            write_mcp_result_and_end(step, item.status.as_deref(), item.result, item.error, out);
        }
    }

    /// Applies a sub-agent call item.
    fn apply_collab_call(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let name = item.tool.as_deref().unwrap_or("collab");
        let arguments = json_object_of_members(&[("prompt", item.prompt)]);
        let step = self.find_or_start_step_with_arguments(
            stage,
            item,
            build_tool_start_without_call_id(name, ToolKind::Agent),
            &arguments,
            out,
        );
        out.emit_tool_ready_once(step);
        if stage == ItemStage::Completed {
            if let Some(states) = item.agents_states {
                write_sub_agent_messages(step, states, out);
            }
            out.end_tool_if_open(step, tool_outcome(item.status.as_deref()), None);
        }
    }

    /// Applies a web search item.
    fn apply_web_search(&mut self, stage: ItemStage, item: &Item<'_>, out: &mut Writer<'_>) {
        let tool = ToolStart::provider_tool("", "web_search", ToolKind::WebSearch);
        let arguments = json_object_of_members(&[("query", item.query), ("action", item.action)]);
        let step = self.find_or_start_step_with_arguments(stage, item, tool, &arguments, out);
        if stage == ItemStage::Completed {
            out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
        }
    }

    /// Writes each new version of the to-do list as one finished call.
    fn write_changed_todo_list_as_call(
        &mut self,
        stage: ItemStage,
        item: &Item<'_>,
        out: &mut Writer<'_>,
    ) {
        let items = json_object_of_members(&[("items", item.items)]);
        let is_repeat = stage == ItemStage::Completed && !self.last_todo_list.is_empty();
        if is_repeat || items == self.last_todo_list {
            return;
        }
        // A list has no result for the model to answer, so the last output stays.
        let voice = self.last_output;
        let tool = build_tool_start_without_call_id("todo_list", ToolKind::Builtin);
        let step = self.find_or_start_step_with_arguments(stage, item, tool, &items, out);
        self.last_output = voice;
        out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
        self.last_todo_list = items;
    }
}

/// Id of an item, or empty.
fn item_id<'a>(item: &'a Item<'_>) -> &'a str {
    item.id.as_deref().unwrap_or("")
}
