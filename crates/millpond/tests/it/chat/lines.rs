//! The chat without a terminal that could be drawn on: pipes, plain terminals, screen readers.

use serde_json::Value;

use crate::pty::{SIZE, Terminal};
use crate::support::{Ran, fixture, run, run_with};

fn piped(folder: &std::path::Path, args: &[&str], message: &str) -> Ran {
    let data = folder.join("data");
    let all = [&["chat", "--data", data.to_str().unwrap()], args].concat();
    run_with(&all, message.as_bytes())
}

#[test]
fn r12_a_pipe_gets_the_reply_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let ran = piped(folder.path(), &[], "think\n");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("I have thought about it twice"), "{ran:?}");
    assert!(!ran.stdout.contains('\x1b') && !ran.stdout.contains('›'), "{ran:?}");
    let more = piped(folder.path(), &["-c", "--view", "transcript"], "list");
    assert!(
        !more.stdout.contains("thought about it"),
        "what was before is not asked for: {more:?}"
    );
    assert!(more.stdout.contains("● list_files"), "{more:?}");
}

#[test]
fn programs_get_frames_and_bad_input_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let ran = piped(folder.path(), &["--output", "frames"], "think");
    let frames: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(frames[0]["event"], "snapshot");
    assert!(frames[1..].iter().all(|frame| frame["event"] == "patch"), "{frames:?}");
    assert!(frames.last().unwrap()["data"]["ended"].is_object(), "{frames:?}");
    let empty = piped(folder.path(), &[], "  \n");
    assert_eq!(empty.status, 1);
    assert!(empty.stderr.contains("standard input is empty"), "{empty:?}");
}

#[test]
fn r12_a_page_that_is_not_drawn_has_no_escapes() {
    let stream = fixture("anthropic/two-messages.sse");
    let ran = run(&["show", "-q", "--output", "screen", stream.to_str().unwrap()]);
    assert_eq!(ran.stdout, "There is one file.\n");
}

#[test]
fn r12_lines_are_only_added_and_answers_are_orders() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_millpond");
    let data = folder.path().join("data");
    for (how, flag) in [("TERM=dumb", ""), ("NO_COLOR=1", "--screen-reader")] {
        let line = format!("{how} exec '{program}' chat {flag} --data '{}'", data.display());
        let terminal = Terminal::shell(folder.path(), &line, SIZE);
        terminal.shows("which is no model, answers\n> ");
        terminal.press("compute 6*7\n");
        terminal.shows("/answer 4 Deny with a reason\n> ");
        // What is written meanwhile is a message and answers nothing.
        terminal.press("1\n");
        terminal.press("/answer 9\n");
        terminal.shows("`9` is no number of an answer");
        terminal.press("/answer 4 not today\n");
        terminal.shows("answered: deny: not today");
        terminal.press("/quit\n");
        let (status, raw) = terminal.ended();
        assert_eq!(status, 0, "{raw}");
        assert!(!raw.contains('\x1b'), "{raw:?}");
        assert!(!raw.contains("6*7 = 42"), "{raw}");
    }
}
