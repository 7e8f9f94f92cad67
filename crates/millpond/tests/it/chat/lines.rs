//! The chat without drawing: pipes, dumb terminals, screen readers.

use serde_json::Value;

use crate::pty::{SIZE, TestTerminal};
use crate::support::{ProgramOutput, fixture_path, run_millpond, run_with_input};

fn run_piped_chat(folder: &std::path::Path, args: &[&str], message: &str) -> ProgramOutput {
    let data = folder.join("data");
    let all = [&["chat", "--data", data.to_str().unwrap()], args].concat();
    run_with_input(&all, message.as_bytes())
}

#[test]
fn r12_a_pipe_gets_the_reply_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run_piped_chat(folder.path(), &[], "think\n");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("I thought about it twice"), "{ran:?}");
    assert!(!ran.stdout.contains('\x1b') && !ran.stdout.contains('›'), "{ran:?}");
    let more = run_piped_chat(folder.path(), &["-c", "--view", "transcript"], "list");
    assert!(
        !more.stdout.contains("thought about it"),
        "what was before is not asked for: {more:?}"
    );
    assert!(more.stdout.contains("● List"), "{more:?}");
}

#[test]
fn programs_get_frames_and_bad_input_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run_piped_chat(folder.path(), &["--output", "frames"], "think");
    let frames: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(frames[0]["event"], "snapshot");
    assert!(frames[1..].iter().all(|frame| frame["event"] == "patch"), "{frames:?}");
    assert!(frames.last().unwrap()["data"]["ended"].is_object(), "{frames:?}");
    let empty = run_piped_chat(folder.path(), &[], "  \n");
    assert_eq!(empty.status, 1);
    assert!(empty.stderr.contains("no message: standard input is empty"), "{empty:?}");
}

#[test]
fn r12_a_page_that_is_not_drawn_has_no_escapes() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let ran = run_millpond(&["show", "-q", "--output", "screen", stream.to_str().unwrap()]);
    assert_eq!(ran.stdout, "There is one file.\n");
}

#[test]
fn r12_lines_are_only_added_and_answers_are_orders() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_millpond");
    let data = folder.path().join("data");
    for (how, flag) in [("TERM=dumb", ""), ("NO_COLOR=1", "--screen-reader")] {
        let line = format!("{how} exec '{program}' chat {flag} --data '{}'", data.display());
        let terminal = TestTerminal::start_shell(folder.path(), &line, SIZE);
        terminal.wait_for_text("up\n> ");
        terminal.press_keys("compute 6*7\n");
        terminal.wait_for_text("/answer 4 Deny with a reason\n> ");
        // A plain line is a message, not an answer.
        terminal.press_keys("1\n");
        terminal.press_keys("/answer 9\n");
        terminal.wait_for_text("no answer number `9`");
        terminal.press_keys("/answer 4 not today\n");
        terminal.wait_for_text("answered: deny: not today");
        terminal.press_keys("/quit\n");
        let (status, raw) = terminal.wait_for_exit();
        assert_eq!(status, 0, "{raw}");
        assert!(!raw.contains('\x1b'), "{raw:?}");
        assert!(!raw.contains("6*7 = 42"), "{raw}");
    }
}
