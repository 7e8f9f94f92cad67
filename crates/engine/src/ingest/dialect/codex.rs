//! `codex exec --json`: a thread of turns, each a list of items that start, change and complete.
//!
//! Items come whole, and again whole when they change: text is cumulative. A run ends at
//! `turn.completed` or `turn.failed`; another turn is another round. A line of type `error` is not
//! the end: only if no turn ends after it has the run failed. An *item* of type `error` is a warning.
//! Model calls are not marked: what the model says after a tool's result is a new round.

pub(super) mod results;

use crate::event::{
    FailureReason, Level, ReasoningOrigin, StepId, Stop, TextMode, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, number, object, object_text, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Rounds, ToolStart, Writer};

use super::agents::{Voice, agent_tool};
use super::openai_chat::error_text;
use super::{Dialect, Unreadable};

use results::{Retry, agents_words, end_command, end_mcp, outcome_of};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Codex {
    /// The message or reasoning that is being written.
    writing: Option<Writing>,
    /// The to-do list as last seen.
    todo: String,
    /// The last error that did not say whether the run goes on.
    error: Option<String>,
    voice: Voice,
}

#[derive(Clone, Debug, PartialEq)]
struct Writing {
    item: String,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Started,
    Updated,
    Completed,
}

object! { Line {
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

const USAGE: Shape<5> = Shape {
    read: [
        "input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "cached_input_tokens",
        "cache_write_input_tokens",
    ],
    skip: &[],
};

impl Dialect for Codex {
    const NAME: &'static str = "codex";
    const MODE: TextMode = TextMode::Cumulative;

    fn likeness(probe: &Probe<'_>) -> Likeness {
        match probe.kind() {
            "thread.started" => Likeness::yes_if(probe.has("thread_id")),
            "turn.started" | "turn.completed" | "turn.failed" => Likeness::Yes,
            "item.started" | "item.updated" | "item.completed" => {
                Likeness::yes_if(probe.inner_has("item", "type"))
            }
            "error" => Likeness::maybe_if(probe.text("message").is_some()),
            _ => Likeness::No,
        }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable> {
        let line: Line<'_> = serde_json::from_str(frame.data).map_err(|_| Unreadable)?;
        out.rounds(Rounds::AfterResults);
        out.unknown_fields(&line.unknown);
        let item = line.item.unwrap_or_default();
        match line.kind.as_deref().unwrap_or("") {
            "thread.started" => {}
            "turn.started" => {
                *self = Codex::default();
                out.round(None, None);
            }
            "item.started" => self.item(Stage::Started, &item, frame.data, out),
            "item.updated" => self.item(Stage::Updated, &item, frame.data, out),
            "item.completed" => self.item(Stage::Completed, &item, frame.data, out),
            "turn.completed" => {
                if let Some(usage) = line.usage {
                    out.run_usage(usage_of(usage));
                }
                self.voice.complete(Stop::End, out);
            }
            "turn.failed" => {
                let words = line.error.map(error_text);
                out.fail(FailureReason::Error, words.as_deref().unwrap_or("the turn failed"));
            }
            "error" => self.error(&line.message.map(string_or_json).unwrap_or_default(), out),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        if let Some(words) = self.error.take()
            && !out.is_settled()
        {
            out.fail(FailureReason::Error, &words);
        }
    }
}

impl Codex {
    fn error(&mut self, words: &str, out: &mut Writer<'_>) {
        if let Some(retry) = Retry::of(words) {
            retry.note(words, out);
        } else {
            out.notice(Level::Error, words);
            self.error = Some(words.to_owned());
        }
    }

    fn item(&mut self, stage: Stage, item: &Item<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&item.unknown);
        match item.kind.as_deref().unwrap_or("") {
            "agent_message" | "plan" => self.message(stage, item, out),
            "reasoning" => self.reasoning(stage, item, out),
            "command_execution" => self.command(stage, item, out),
            "file_change" => self.file_change(stage, item, out),
            "mcp_tool_call" => self.mcp(stage, item, out),
            "collab_tool_call" => self.collab(stage, item, out),
            "web_search" => self.web_search(stage, item, out),
            "todo_list" => self.todo_list(stage, item, out),
            "error" => out.notice(Level::Warning, item.message.as_deref().unwrap_or("")),
            _ => out.unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Whether this item is the one being written; if not, it is from now on.
    fn is_writing(&mut self, item: &Item<'_>) -> bool {
        let id = item.id.as_deref().unwrap_or("");
        let same = self.writing.as_ref().is_some_and(|writing| writing.item == id);
        if !same {
            self.writing = Some(Writing { item: id.to_owned(), bytes: 0 });
        }
        same
    }

    fn message(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        if !self.is_writing(item) {
            out.begin_message(None);
        }
        let text = item.text.as_deref().unwrap_or("");
        if !text.is_empty() {
            self.voice = Voice::Heard;
            out.text_so_far(text);
        }
        if stage == Stage::Completed {
            out.end_message();
            self.writing = None;
        }
    }

    fn reasoning(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        if !self.is_writing(item) {
            out.end_reasoning();
        }
        let text = item.text.as_deref().unwrap_or("");
        if let Some(writing) = &mut self.writing {
            out.reasoning(text.get(writing.bytes..).unwrap_or(""), ReasoningOrigin::Summary);
            writing.bytes = text.len();
        }
        if stage == Stage::Completed {
            out.end_reasoning();
            self.writing = None;
        }
    }

    /// The item's step, which begins when the item is first seen.
    fn step(&mut self, item: &Item<'_>, tool: ToolStart<'_>, out: &mut Writer<'_>) -> StepId {
        let call = item.id.as_deref().unwrap_or("");
        out.step_of(call).unwrap_or_else(|| {
            self.writing = None;
            self.voice = Voice::CalledTool;
            out.tool(ToolStart { call, ..tool })
        })
    }

    fn command(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let step = self.step(item, agent_tool("command_execution", ToolKind::Command), out);
        out.whole_arguments(step, &object_text(&[("command", item.command)]));
        out.ready(step);
        let output = item.aggregated_output.as_deref().unwrap_or("");
        if stage == Stage::Completed {
            out.settled_output(step, output);
            end_command(step, item.status.as_deref(), item.exit_code, out);
        } else {
            out.output_so_far(step, output);
        }
    }

    fn file_change(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let step = self.step(item, agent_tool("file_change", ToolKind::Edit), out);
        out.whole_arguments(step, &object_text(&[("changes", item.changes)]));
        out.ready(step);
        if stage == Stage::Completed {
            out.end_tool(step, outcome_of(item.status.as_deref()), None);
        }
    }

    fn mcp(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let name = item.tool.as_deref().unwrap_or("");
        let tool = ToolStart { server: item.server.as_deref(), ..agent_tool(name, ToolKind::Mcp) };
        let step = self.step(item, tool, out);
        if let Some(arguments) = item.arguments {
            out.whole_arguments(step, arguments.get());
        }
        out.ready(step);
        if stage == Stage::Completed {
            end_mcp(step, item.status.as_deref(), item.result, item.error, out);
        }
    }

    fn collab(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let name = item.tool.as_deref().unwrap_or("collab");
        let step = self.step(item, agent_tool(name, ToolKind::Agent), out);
        out.whole_arguments(step, &object_text(&[("prompt", item.prompt)]));
        out.ready(step);
        if stage == Stage::Completed {
            if let Some(states) = item.agents_states {
                agents_words(step, states, out);
            }
            out.end_tool(step, outcome_of(item.status.as_deref()), None);
        }
    }

    fn web_search(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let step = self.step(item, ToolStart::provider("", "web_search", ToolKind::WebSearch), out);
        let arguments = object_text(&[("query", item.query), ("action", item.action)]);
        out.whole_arguments(step, &arguments);
        if stage == Stage::Completed {
            out.end_tool(step, ToolOutcome::Succeeded, None);
        }
    }

    /// The list stays open until the turn ends, but each version of it is a call that is over.
    fn todo_list(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let items = object_text(&[("items", item.items)]);
        let told = stage == Stage::Completed && !self.todo.is_empty();
        if told || items == self.todo {
            return;
        }
        let step = self.step(item, agent_tool("todo_list", ToolKind::Builtin), out);
        out.whole_arguments(step, &items);
        out.end_tool(step, ToolOutcome::Succeeded, None);
        self.todo = items;
    }
}

fn usage_of(raw: &RawValue) -> Usage {
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, output, reasoning, cache_read, cache_write] = usage.read;
    Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        reasoning_tokens: reasoning.and_then(number),
        cache_read_tokens: cache_read.and_then(number),
        cache_write_tokens: cache_write.and_then(number),
        cost_usd: None,
    }
}
