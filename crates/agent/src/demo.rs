//! The demo agent's model: no model at all. It needs no key and no server, always says the same to
//! the same, and says so; what it tells of the folder comes from the tools, which are real.

mod script;
mod words;

use std::time::Duration;

use futures_util::stream;

use crate::conversation::{ToolResult, Turn};
use crate::provider::{Again, NoReply, Reply};
use crate::request::Asked;

use script::Script;

/// How fast it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As a model does, for people.
    Live,
    /// All at once.
    AtOnce,
}

/// Between two words.
const WORD_PAUSE: Duration = Duration::from_millis(25);

/// What the demo understands, besides anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    Help,
    List,
    Read(String),
    Search(String),
    Compute(String),
    Write(String),
    Chart,
    Think,
    Long,
    Together,
    Ask,
    Retry,
    Fail,
    Cut,
    Anything,
}

impl Wish {
    fn of(text: &str) -> Wish {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match word.trim_start_matches('/').to_lowercase().as_str() {
            "help" => Wish::Help,
            "list" | "ls" => Wish::List,
            "read" | "cat" => Wish::Read(rest.to_owned()),
            "search" | "find" | "grep" => Wish::Search(rest.to_owned()),
            "compute" | "calc" => Wish::Compute(rest.to_owned()),
            "write" | "note" => Wish::Write(rest.to_owned()),
            "chart" | "draw" => Wish::Chart,
            "think" => Wish::Think,
            "long" => Wish::Long,
            "together" | "parallel" => Wish::Together,
            "ask" => Wish::Ask,
            "retry" => Wish::Retry,
            "fail" => Wish::Fail,
            "cut" => Wish::Cut,
            _ => Wish::Anything,
        }
    }
}

/// The reply to a conversation, as the bytes of a chat completion.
pub(crate) fn reply(asked: Asked<'_>, attempt: u32, pace: Pace) -> Result<Reply, NoReply> {
    let last = asked.turns.iter().rev().find_map(|turn| match turn {
        Turn::Person(prompt) => Some(prompt.text.as_str()),
        Turn::Agent(_) | Turn::Results(_) => None,
    });
    let wish = Wish::of(last.unwrap_or(""));
    if wish == Wish::Retry && attempt < 3 {
        return Err(NoReply {
            detail: "the demo's server answered 529: overloaded (on purpose)".to_owned(),
            again: Again::After(Duration::from_millis(if pace == Pace::Live { 1500 } else { 1 })),
        });
    }
    let script = match asked.turns.last() {
        Some(Turn::Results(results)) => after(&wish, results),
        _ => first(&wish, last.unwrap_or("")),
    };
    Ok(speak(script, pace))
}

/// What it says before any tool has run.
fn first(wish: &Wish, text: &str) -> Script {
    let script = Script::new();
    match wish {
        Wish::Help => script.say(words::HELP).stop(),
        Wish::List => script
            .think("The person wants to know what is here. I list the folder.")
            .say("Let me look around.")
            .call("list_files", "{}")
            .calls(),
        Wish::Read(path) => {
            let path = if path.is_empty() { "README.md" } else { path };
            script
                .tagged("I read the file itself instead of guessing what it says.")
                .say(&format!("I open `{path}`."))
                .call("read_file", &serde_json::json!({ "path": path }).to_string())
                .calls()
        }
        Wish::Search(pattern) => {
            let pattern = if pattern.is_empty() { "TODO" } else { pattern };
            script
                .think("A search is quicker than reading everything.")
                .call("search_files", &serde_json::json!({ "pattern": pattern }).to_string())
                .calls()
        }
        Wish::Compute(sum) => compute(script, sum),
        Wish::Write(note) => {
            let note = if note.is_empty() { "The pond was calm today." } else { note };
            let arguments =
                serde_json::json!({ "path": "demo-note.txt", "content": format!("{note}\n") });
            script
                .think("Writing changes the folder, so the person is asked first.")
                .say("I would like to write that into `demo-note.txt`.")
                .call("write_file", &arguments.to_string())
                .calls()
        }
        Wish::Chart => script
            .think("A picture says it faster.")
            .say("I draw how large the files are.")
            .call("draw_chart", "{}")
            .calls(),
        Wish::Think => script.think(words::LONG_THOUGHT).tagged(words::TAGGED_THOUGHT).say(
            "I have thought about it twice: once where models think, and once in tags in the middle \
             of the text. You see neither here unless you ask for thinking.",
        )
        .stop(),
        Wish::Long => script.say(words::LONG).stop(),
        Wish::Together => script
            .say("Two things at once.")
            .call("list_files", "{}")
            .call("search_files", r#"{"pattern":"fn main|def main|TODO"}"#)
            .calls(),
        Wish::Ask => script
            .say("Before I go on I need to know something.")
            .call("ask_user", r#"{"question":"Which would you rather see: the list or the chart?"}"#)
            .calls(),
        Wish::Retry => script
            .say("Twice the server was overloaded, and the third time it was not: here I am.")
            .stop(),
        Wish::Fail => script
            .say("This begins well, but in the middle of it")
            .fail("the demo failed on purpose, as it was asked to"),
        Wish::Cut => script.say("This reply breaks off without an end, as when a line is cut: you"),
        Wish::Anything => anything(script, text),
    }
}

fn anything(script: Script, text: &str) -> Script {
    let quoted: String = text.chars().take(80).collect();
    script
        .think("This is the demo: I cannot really answer, but I can look at the folder.")
        .say(&format!(
            "I am the demo agent, so I have no model to think about “{quoted}” with. What I can do \
             is use the tools here. I list the folder as a start."
        ))
        .call("list_files", "{}")
        .calls()
}

/// A sum for the shell; nothing but digits and signs gets there.
fn compute(script: Script, sum: &str) -> Script {
    let sum = if sum.is_empty() { "6*7" } else { sum };
    let is_sum = sum.chars().all(|c| c.is_ascii_digit() || " +-*/%()".contains(c));
    if !is_sum {
        return script.say("I only compute with whole numbers and `+ - * / % ( )`.").stop();
    }
    let arguments = serde_json::json!({ "command": format!("echo $(({sum}))") });
    script
        .think("The shell can do sums. Running a command needs a yes.")
        .say(&format!("I let the shell work out `{sum}`."))
        .call("run_command", &arguments.to_string())
        .calls()
}

/// What it says when its tools have answered.
fn after(wish: &Wish, results: &[ToolResult]) -> Script {
    let script = Script::new();
    let failed = results.iter().find(|result| result.failed);
    if let Some(failed) = failed {
        return script
            .think("That did not work. I say so instead of pretending.")
            .say(&format!("`{}` did not work: {}", failed.name, failed.text.trim()))
            .stop();
    }
    let given = |at: usize| results.get(at).map_or("", |result| result.text.trim_end());
    match wish {
        Wish::Read(_) => script.say(&words::read(given(0))).stop(),
        Wish::Search(_) => script.say(&words::found(given(0))).stop(),
        Wish::Compute(sum) => {
            let sum = if sum.is_empty() { "6*7" } else { sum };
            script.say(&format!("{sum} = **{}**", given(0).trim())).stop()
        }
        Wish::Write(_) => script.say(&format!("Done. {}", given(0))).stop(),
        Wish::Chart => script.say(&words::chart(given(0))).stop(),
        Wish::Together => {
            script.say(&format!("{}\n\n{}", words::listed(given(0)), words::found(given(1)))).stop()
        }
        Wish::Anything => {
            let listed = words::listed(given(0));
            script.say(&format!("{listed}\n\nType `/help` to see what I can show.")).stop()
        }
        _ => script.say(&words::listed(given(0))).stop(),
    }
}

/// The script's pieces, one by one.
fn speak(script: Script, pace: Pace) -> Reply {
    let pieces = script.pieces();
    if pace == Pace::AtOnce {
        return Box::pin(stream::iter(pieces.into_iter().map(|piece| Ok(piece.into()))));
    }
    Box::pin(stream::unfold(pieces.into_iter(), |mut pieces| async {
        let piece = pieces.next()?;
        tokio::time::sleep(WORD_PAUSE).await;
        Some((Ok(piece.into()), pieces))
    }))
}
