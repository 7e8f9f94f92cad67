//! The demo provider: scripted replies instead of a model. Needs no key and no server, is
//! deterministic, and runs the real tools in the working folder.

mod script;
mod texts;
mod tour;

use std::time::Duration;

use futures_util::stream;

use crate::conversation::{ToolResult, Turn};
use crate::provider::{CallFailure, ReplyStream, Retry};
use crate::request::ModelInput;

use script::ReplyScript;

/// Speed of the scripted reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Word by word, as a model streams.
    Live,
    /// Without pauses, for tests.
    AtOnce,
}

/// Pause between two words.
const WORD_PAUSE: Duration = Duration::from_millis(25);

/// Command recognised in a prompt's first word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DemoCommand {
    Help,
    List,
    Read(String),
    Search(String),
    Compute(String),
    Write(String),
    Chart,
    Think,
    Long,
    ParallelTools,
    Ask,
    Retry,
    Fail,
    CutOff,
    Tour,
    Other,
}

impl DemoCommand {
    /// Parses the prompt's first word as the command, the rest as its argument.
    fn parse(text: &str) -> DemoCommand {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match word.trim_start_matches('/').to_lowercase().as_str() {
            "help" => DemoCommand::Help,
            "list" | "ls" => DemoCommand::List,
            "read" | "cat" => DemoCommand::Read(rest.to_owned()),
            "search" | "find" | "grep" => DemoCommand::Search(rest.to_owned()),
            "compute" | "calc" => DemoCommand::Compute(rest.to_owned()),
            "write" | "note" => DemoCommand::Write(rest.to_owned()),
            "chart" | "draw" => DemoCommand::Chart,
            "think" => DemoCommand::Think,
            "long" => DemoCommand::Long,
            "together" | "parallel" => DemoCommand::ParallelTools,
            "ask" => DemoCommand::Ask,
            "retry" => DemoCommand::Retry,
            "fail" => DemoCommand::Fail,
            "cut" => DemoCommand::CutOff,
            "tour" => DemoCommand::Tour,
            _ => DemoCommand::Other,
        }
    }
}

/// Streams the scripted reply as the bytes of a chat completion.
pub(crate) fn stream_demo_reply(
    input: ModelInput<'_>,
    attempt: u32,
    pace: Pace,
) -> Result<ReplyStream, CallFailure> {
    let last = input.turns.iter().rev().find_map(|turn| match turn {
        Turn::Person(prompt) => Some(prompt.text.as_str()),
        Turn::Agent(_) | Turn::Results(_) => None,
    });
    let command = DemoCommand::parse(last.unwrap_or(""));
    if command == DemoCommand::Retry && attempt < 3 {
        return Err(CallFailure {
            detail: "the demo's server answered 529: overloaded (on purpose)".to_owned(),
            retry: Retry::After(Duration::from_millis(if pace == Pace::Live { 1500 } else { 1 })),
        });
    }
    let script = match input.turns.last() {
        _ if command == DemoCommand::Tour => tour::script_for_next_tour_round(input.turns),
        Some(Turn::Results(results)) => script_after_tools(&command, results),
        _ => script_before_tools(&command, last.unwrap_or("")),
    };
    Ok(stream_script(script, pace))
}

/// Reply before any tool has run.
#[allow(clippy::too_many_lines, reason = "one arm per command")]
fn script_before_tools(command: &DemoCommand, text: &str) -> ReplyScript {
    let script = ReplyScript::new_empty();
    match command {
        DemoCommand::Help => script.add_text(texts::HELP).end_with_stop(),
        DemoCommand::List => script
            .add_reasoning("The user wants to know what is here. I list the folder.")
            .add_text("Let me look around.")
            .add_tool_call("list_files", "{}")
            .end_with_tool_calls(),
        DemoCommand::Read(path) => {
            let path = if path.is_empty() { "README.md" } else { path };
            script
                .add_tagged_reasoning("I read the file itself instead of guessing what it says.")
                .add_text(&format!("I open `{path}`."))
                .add_tool_call("read_file", &serde_json::json!({ "path": path }).to_string())
                .end_with_tool_calls()
        }
        DemoCommand::Search(pattern) => {
            let pattern = if pattern.is_empty() { "TODO" } else { pattern };
            script
                .add_reasoning("A search is quicker than reading everything.")
                .add_tool_call("search_files", &serde_json::json!({ "pattern": pattern }).to_string())
                .end_with_tool_calls()
        }
        DemoCommand::Compute(sum) => script_for_compute(script, sum),
        DemoCommand::Write(note) => {
            let note = if note.is_empty() { "The pond was calm today." } else { note };
            let arguments =
                serde_json::json!({ "path": "demo-note.txt", "content": format!("{note}\n") });
            script
                .add_reasoning("Writing changes the folder, so it needs approval first.")
                .add_text("I want to write that to `demo-note.txt`.")
                .add_tool_call("write_file", &arguments.to_string())
                .end_with_tool_calls()
        }
        DemoCommand::Chart => script
            .add_reasoning("A chart shows it faster.")
            .add_text("I draw how large the files are.")
            .add_tool_call("draw_chart", "{}")
            .end_with_tool_calls(),
        DemoCommand::Think => script.add_reasoning(texts::LONG_THOUGHT).add_tagged_reasoning(texts::TAGGED_THOUGHT).add_text(
            "I thought about it twice: once in the reasoning field, and once in tags in the middle of \
             the text. Neither is shown unless you turn thinking on.",
        )
        .end_with_stop(),
        DemoCommand::Long => script.add_text(texts::LONG_ANSWER).end_with_stop(),
        DemoCommand::ParallelTools => script
            .add_text("Two things at once.")
            .add_tool_call("list_files", "{}")
            .add_tool_call("search_files", r#"{"pattern":"fn main|def main|TODO"}"#)
            .end_with_tool_calls(),
        DemoCommand::Ask => script
            .add_text("Before I continue I need to know something.")
            .add_tool_call("ask_user", r#"{"question":"Which would you rather see: the list or the chart?"}"#)
            .end_with_tool_calls(),
        DemoCommand::Retry => script
            .add_text("The server was overloaded twice. The third attempt worked.")
            .end_with_stop(),
        DemoCommand::Fail => script
            .add_text("This begins well, but in the middle of it")
            .end_with_error("the demo failed on purpose, as it was asked to"),
        DemoCommand::CutOff => script.add_text("This reply stops without an end, as when the connection drops: you"),
        DemoCommand::Tour | DemoCommand::Other => script_for_other_text(script, text),
    }
}

/// Reply to a prompt that is no command.
fn script_for_other_text(script: ReplyScript, text: &str) -> ReplyScript {
    let quoted: String = text.chars().take(80).collect();
    script
        .add_reasoning("This is the demo: I cannot answer, but I can look at the folder.")
        .add_text(&format!(
            "I am the built-in demo, so no model can answer “{quoted}”. I can use the tools here. I \
             list the folder as a start."
        ))
        .add_tool_call("list_files", "{}")
        .end_with_tool_calls()
}

/// Reply that computes `sum` with the shell; only digits and operators are passed on.
fn script_for_compute(script: ReplyScript, sum: &str) -> ReplyScript {
    let sum = if sum.is_empty() { "6*7" } else { sum };
    let is_arithmetic = sum.chars().all(|c| c.is_ascii_digit() || " +-*/%()".contains(c));
    if !is_arithmetic {
        return script
            .add_text("I only compute with whole numbers and `+ - * / % ( )`.")
            .end_with_stop();
    }
    let arguments = serde_json::json!({ "command": format!("echo $(({sum}))") });
    script
        .add_reasoning("The shell can compute this. Running a command needs approval.")
        .add_text(&format!("I compute `{sum}` with the shell."))
        .add_tool_call("run_command", &arguments.to_string())
        .end_with_tool_calls()
}

/// Reply after the tools have returned.
fn script_after_tools(command: &DemoCommand, results: &[ToolResult]) -> ReplyScript {
    let script = ReplyScript::new_empty();
    let failed = results.iter().find(|result| result.failed);
    if let Some(failed) = failed {
        return script
            .add_reasoning("That failed. I report the error.")
            .add_text(&texts::describe_failure(failed))
            .end_with_stop();
    }
    let result_text = |at: usize| results.get(at).map_or("", |result| result.text.trim_end());
    match command {
        DemoCommand::Read(_) => {
            script.add_text(&texts::describe_file(result_text(0))).end_with_stop()
        }
        DemoCommand::Search(_) => {
            script.add_text(&texts::describe_matches(result_text(0))).end_with_stop()
        }
        DemoCommand::Compute(sum) => {
            let sum = if sum.is_empty() { "6*7" } else { sum };
            script.add_text(&format!("{sum} = **{}**", result_text(0).trim())).end_with_stop()
        }
        DemoCommand::Write(_) => {
            script.add_text(&format!("Done. {}", result_text(0))).end_with_stop()
        }
        DemoCommand::Chart => {
            script.add_text(&texts::describe_chart(result_text(0))).end_with_stop()
        }
        DemoCommand::ParallelTools => script
            .add_text(&format!(
                "{}\n\n{}",
                texts::describe_listing(result_text(0)),
                texts::describe_matches(result_text(1))
            ))
            .end_with_stop(),
        DemoCommand::Other => {
            let listed = texts::describe_listing(result_text(0));
            script
                .add_text(&format!("{listed}\n\nType `help` to see what I can show."))
                .end_with_stop()
        }
        _ => script.add_text(&texts::describe_listing(result_text(0))).end_with_stop(),
    }
}

/// Streams the script's frames, with pauses at `Pace::Live`.
fn stream_script(script: ReplyScript, pace: Pace) -> ReplyStream {
    let pieces = script.into_sse_frames();
    if pace == Pace::AtOnce {
        return Box::pin(stream::iter(pieces.into_iter().map(|piece| Ok(piece.into()))));
    }
    Box::pin(stream::unfold(pieces.into_iter(), |mut pieces| async {
        let piece = pieces.next()?;
        tokio::time::sleep(WORD_PAUSE).await;
        Some((Ok(piece.into()), pieces))
    }))
}
