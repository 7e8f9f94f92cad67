//! `codex exec --json`: a thread of turns, each a list of items that start, change and complete.
//!
//! Items come whole, and again whole when they change: text is cumulative. A run ends at
//! `turn.completed` or `turn.failed`; another turn is another round. A line of type `error` is not
//! the end: only if no turn ends after it has the run failed. An *item* of type `error` is a warning.
//! Model calls are not marked: what the model says after a tool's result is a new round.

pub(super) mod calls;
pub(super) mod results;
pub(super) mod shown;

use crate::event::{
    FailureReason, Level, ReasoningOrigin, StepId, Stop, TextMode, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage,
};
use crate::ingest::frame::Frame;
use crate::ingest::json::{RawValue, Shape, Text, number, object, object_text, string_or_json};
use crate::ingest::probe::{Likeness, Probe};
use crate::run::{Fingerprint, Rounds, ToolStart, Writer};

use super::agents::{LastError, Voice, agent_tool};
use super::draft::{Drafts, Whole};
use super::openai_chat::error_text;
use super::{Dialect, Unreadable};

use calls::Calls;
use results::{Retry, agents_words, end_command, end_mcp, outcome_of};
use shown::{Key, News, Shown};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Codex {
    /// The reasoning that is being written.
    thinking: Option<Key>,
    drafts: Drafts<Key>,
    texts: Shown,
    thoughts: Shown,
    calls: Calls,
    /// The to-do list as last seen.
    todo: String,
    /// The last error that did not say whether the run goes on.
    error: LastError,
    voice: Voice,
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
        if !matches!(line.kind.as_deref(), Some("error" | "turn.failed")) {
            self.error.tell(out);
        }
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
                self.drafts.finish_all(out);
                self.voice.complete(Stop::End, out);
            }
            "turn.failed" => {
                let words = line.error.map(error_text);
                let words = words.as_deref().unwrap_or("the turn failed");
                self.error.ends(words, out);
                out.fail(FailureReason::Error, words);
            }
            "error" => self.error(&line.message.map(string_or_json).unwrap_or_default(), out),
            _ => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Writer<'_>) {
        self.drafts.finish_all(out);
        self.error.finish(out);
    }
}

impl Codex {
    fn error(&mut self, words: &str, out: &mut Writer<'_>) {
        if let Some(retry) = Retry::of(words) {
            retry.note(words, out);
        } else {
            self.error.hold(words, out);
        }
    }

    fn item(&mut self, stage: Stage, item: &Item<'_>, raw: &str, out: &mut Writer<'_>) {
        out.unknown_fields(&item.unknown);
        match item.kind.as_deref().unwrap_or("") {
            "agent_message" | "plan" => self.message(stage, item, out),
            "reasoning" => self.reasoning(stage, item, out),
            // Tools: a line that comes twice is one end.
            _ if stage == Stage::Completed && self.calls.is_repeat(id_of(item), raw) => {}
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

    fn message(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id_of(item));
        let text = item.text.as_deref().unwrap_or("");
        if key.is_empty() && !self.drafts.is_current(key) {
            self.texts.forget(key);
        }
        if stage != Stage::Completed && self.texts.is_over(key) {
            return;
        }
        if !text.is_empty() {
            self.whole_text(key, text, out);
        }
        if stage == Stage::Completed {
            self.drafts.finish(key, out);
            self.texts.finish(key);
        }
    }

    /// All that a message says so far.
    fn whole_text(&mut self, key: Key, text: &str, out: &mut Writer<'_>) {
        let forgotten = self.texts.has_shown(key) && self.drafts.said(key).is_none();
        if forgotten && self.texts.news(key, text) == News::Nothing {
            return;
        }
        self.texts.say_whole(key, text);
        if self.drafts.whole(key, None, text, out) != Whole::Repeat {
            self.voice = Voice::Heard;
        }
    }

    fn reasoning(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id_of(item));
        let text = item.text.as_deref().unwrap_or("");
        let thinking = self.thinking == Some(key);
        if key.is_empty() && !thinking {
            self.thoughts.forget(key);
        }
        if stage != Stage::Completed && self.thoughts.is_over(key) {
            return;
        }
        let (fresh, goes_on) = match self.thoughts.news(key, text) {
            News::Nothing => ("", true),
            News::Rest(rest) => (rest, thinking),
            // Reasoning is never rewritten: what it has become is a step of its own.
            News::First | News::Changed => (text, false),
        };
        if !goes_on {
            out.end_reasoning();
            self.thinking = Some(key);
        }
        out.reasoning(fresh, ReasoningOrigin::Summary);
        self.thoughts.say_whole(key, text);
        if stage == Stage::Completed {
            if self.thinking == Some(key) {
                out.end_reasoning();
                self.thinking = None;
            }
            self.thoughts.finish(key);
        }
    }

    /// The item's step, which begins when the item is first seen.
    fn step(
        &mut self,
        stage: Stage,
        item: &Item<'_>,
        tool: ToolStart<'_>,
        arguments: &str,
        out: &mut Writer<'_>,
    ) -> StepId {
        let tool = ToolStart { call: id_of(item), ..tool };
        let known = match stage {
            Stage::Started => Calls::started(tool, out),
            Stage::Updated | Stage::Completed => self.calls.step_of(tool, arguments, out),
        };
        let step = known.unwrap_or_else(|| {
            self.thinking = None;
            self.voice = Voice::CalledTool;
            let step = out.tool(tool);
            self.calls.add(tool, arguments, step);
            step
        });
        out.whole_arguments(step, arguments);
        step
    }

    fn command(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let tool = agent_tool("command_execution", ToolKind::Command);
        let arguments = object_text(&[("command", item.command)]);
        let step = self.step(stage, item, tool, &arguments, out);
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
        let tool = agent_tool("file_change", ToolKind::Edit);
        let arguments = object_text(&[("changes", item.changes)]);
        let step = self.step(stage, item, tool, &arguments, out);
        out.ready(step);
        if stage == Stage::Completed {
            out.end_tool(step, outcome_of(item.status.as_deref()), None);
        }
    }

    fn mcp(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let name = item.tool.as_deref().unwrap_or("");
        let tool = ToolStart { server: item.server.as_deref(), ..agent_tool(name, ToolKind::Mcp) };
        let arguments = item.arguments.map_or("", RawValue::get);
        let step = self.step(stage, item, tool, arguments, out);
        out.ready(step);
        if stage == Stage::Completed {
            end_mcp(step, item.status.as_deref(), item.result, item.error, out);
        }
    }

    fn collab(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let name = item.tool.as_deref().unwrap_or("collab");
        let arguments = object_text(&[("prompt", item.prompt)]);
        let step = self.step(stage, item, agent_tool(name, ToolKind::Agent), &arguments, out);
        out.ready(step);
        if stage == Stage::Completed {
            if let Some(states) = item.agents_states {
                agents_words(step, states, out);
            }
            out.end_tool(step, outcome_of(item.status.as_deref()), None);
        }
    }

    fn web_search(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let tool = ToolStart::provider("", "web_search", ToolKind::WebSearch);
        let arguments = object_text(&[("query", item.query), ("action", item.action)]);
        let step = self.step(stage, item, tool, &arguments, out);
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
        // A list has no result that the model would have to answer.
        let voice = self.voice;
        let tool = agent_tool("todo_list", ToolKind::Builtin);
        let step = self.step(stage, item, tool, &items, out);
        self.voice = voice;
        out.end_tool(step, ToolOutcome::Succeeded, None);
        self.todo = items;
    }
}

fn id_of<'a>(item: &'a Item<'_>) -> &'a str {
    item.id.as_deref().unwrap_or("")
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
