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

use super::agents::{Voice, agent_tool};
use super::openai_chat::error_text;
use super::{Dialect, Unreadable};

use calls::Calls;
use results::{Retry, agents_words, end_command, end_mcp, outcome_of};
use shown::{Key, News, Shown};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Codex {
    /// The message or reasoning that is being written.
    writing: Option<Writing>,
    texts: Shown,
    thoughts: Shown,
    calls: Calls,
    /// The to-do list as last seen.
    todo: String,
    /// The last error that did not say whether the run goes on.
    error: Option<String>,
    voice: Voice,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Writing {
    item: Key,
    part: Part,
}

/// How much of its item the open message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// The beginning is in an earlier message.
    Rest,
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

    /// The part of this item that is being written, if any is.
    fn writing(&self, key: Key) -> Option<Part> {
        self.writing.filter(|writing| writing.item == key).map(|writing| writing.part)
    }

    fn message(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id_of(item));
        let text = item.text.as_deref().unwrap_or("");
        if key.is_empty() && self.writing(key).is_none() {
            self.texts.forget(key);
        }
        if stage != Stage::Completed && self.texts.is_over(key) {
            return;
        }
        if !text.is_empty() {
            self.whole_text(key, text, out);
        }
        if stage == Stage::Completed {
            if self.writing(key).is_some() {
                out.end_message();
                self.writing = None;
            }
            self.texts.finish(key);
        }
    }

    /// All that a message says so far. What an earlier message has shown of it, which other items
    /// closed, is not shown again.
    fn whole_text(&mut self, key: Key, text: &str, out: &mut Writer<'_>) {
        let open = self.writing(key).filter(|_| out.is_kept_open());
        let news = self.texts.news(key, text);
        self.texts.say_whole(key, text);
        let (part, fresh) = match (open, news) {
            (Some(Part::Whole), _) => {
                self.voice = Voice::Heard;
                return out.text_so_far(text);
            }
            (_, News::Nothing) => return,
            (Some(Part::Rest), News::Rest(rest)) => {
                self.voice = Voice::Heard;
                return out.text_kept(rest);
            }
            (_, News::Rest(rest)) => (Part::Rest, rest),
            (_, News::First | News::Changed) => (Part::Whole, text),
        };
        self.voice = Voice::Heard;
        self.writing = Some(Writing { item: key, part });
        out.begin_message(None);
        out.text_so_far(fresh);
    }

    fn reasoning(&mut self, stage: Stage, item: &Item<'_>, out: &mut Writer<'_>) {
        let key = Fingerprint::of(id_of(item));
        let text = item.text.as_deref().unwrap_or("");
        let writing = self.writing(key);
        if key.is_empty() && writing.is_none() {
            self.thoughts.forget(key);
        }
        if stage != Stage::Completed && self.thoughts.is_over(key) {
            return;
        }
        let (fresh, goes_on) = match self.thoughts.news(key, text) {
            News::Nothing => ("", true),
            News::Rest(rest) => (rest, writing.is_some()),
            // Reasoning is never rewritten: what it has become is a step of its own.
            News::First | News::Changed => (text, false),
        };
        if !goes_on {
            out.end_reasoning();
            self.writing = Some(Writing { item: key, part: Part::Whole });
        }
        out.reasoning(fresh, ReasoningOrigin::Summary);
        self.thoughts.say_whole(key, text);
        if stage == Stage::Completed {
            if self.writing(key).is_some() {
                out.end_reasoning();
                self.writing = None;
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
            self.writing = None;
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
