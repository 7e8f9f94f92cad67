//! The terminal chat, driven through a pseudo-terminal and read through an emulator.

mod hostile;
mod images;
mod leaving;
mod lines;
mod resize;
pub(crate) mod tee_source;

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::pty::{KEY_INTERVAL, TestTerminal};
use crate::support::send_signal;

const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const CONTROL_C: &str = "\x03";

/// Asserts that the screen was never cleared and that all terminal modes were restored.
fn assert_terminal_restored(raw: &str) {
    for clear in ["\x1b[2J", "\x1b[3J"] {
        assert!(!raw.contains(clear), "a clear");
    }
    for mode in ["?2004", "?1004"] {
        let (on, off) = (raw.rfind(&format!("\x1b[{mode}h")), raw.rfind(&format!("\x1b[{mode}l")));
        assert!(on.is_some() && on < off, "{mode} stays on");
    }
    assert!(raw.rfind("\x1b[?25l") < raw.rfind("\x1b[?25h"), "the cursor stays hidden");
}

#[test]
fn a_message_is_answered_and_the_terminal_given_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "a note\n").unwrap();
    let terminal = TestTerminal::start_chat(folder.path(), "chat");
    terminal.wait_for_text("using the built-in demo");
    terminal.send_message("list");
    let screen = terminal.wait_until(|screen| {
        screen.contains("notes.md │     7") && screen.contains("Write a message")
    });
    assert!(screen.contains("› list") && screen.contains("● List"), "{screen}");
    assert!(screen.contains("before"), "what was there stays: {screen}");
    terminal.press_keys(CONTROL_C);
    terminal.wait_for_text("Press Ctrl-C again to quit");
    terminal.press_keys(CONTROL_C);
    let (status, raw) = terminal.wait_for_exit();
    assert_eq!(status, 0, "{raw}");
    assert!(raw.contains("to resume this conversation"), "{raw}");
    assert_terminal_restored(&raw);
}

/// Starts a chat and holds two conversations, `list` and `think`.
fn chat_with_two_conversations(folder: &Path) -> TestTerminal {
    let terminal = TestTerminal::start_chat(folder, "chat");
    terminal.wait_for_text("Write a message");
    terminal.send_message("list");
    terminal.wait_until(|screen| screen.contains("no files") || screen.contains("bytes in total"));
    terminal.wait_for_text("Write a message");
    terminal.send_message("/new");
    terminal.wait_for_text("new conversation: send a message");
    terminal.send_message("think");
    terminal.wait_for_text("I thought about it twice");
    terminal
}

#[test]
fn what_is_written_after_new_goes_to_another_conversation() {
    let folder = tempfile::tempdir().unwrap();
    chat_with_two_conversations(folder.path());
}

#[test]
fn one_chooses_who_answers() {
    let folder = tempfile::tempdir().unwrap();
    let reply = r#"data: {"choices":[{"delta":{"content":"From the other."}}]}"#;
    let script = format!("echo '{reply}'; echo; echo 'data: [DONE]'; echo");
    let profiles = format!(
        "profile = \"one\"\n[profiles.one]\n[profiles.other]\nagent = \"command\"\n\
         command = [\"sh\", \"-c\", {script:?}, \"{{prompt}}\"]\n\
         [profiles.wrong]\nmodel = \"m\"\nwire = \"chat\"\nkey_variable = \"NO_SUCH\"\n"
    );
    std::fs::write(folder.path().join("millpond.toml"), profiles).unwrap();
    let terminal = TestTerminal::start_chat(folder.path(), "chat --config-file millpond.toml");
    terminal.wait_for_text("Write a message");
    terminal.send_message("think");
    terminal.wait_for_text("I thought about it twice");
    terminal.wait_for_text("Write a message");
    terminal.send_message("/model wrong");
    terminal.wait_for_text("NO_SUCH");
    for key in ["/", "model", " ", "o"] {
        terminal.press_keys(key);
    }
    terminal.wait_until(|screen| screen.contains("▸ one") && screen.contains("  other"));
    terminal.press_keys(DOWN);
    terminal.wait_for_text("▸ other");
    terminal.press_keys(ENTER);
    terminal.wait_for_text("switched to profile other");
    terminal.send_message("and now");
    terminal.wait_for_text("From the other.");
}

#[test]
fn one_chooses_where_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = chat_with_two_conversations(folder.path());
    terminal.wait_for_text("Write a message");
    terminal.press_keys("\x03\x03");
    terminal.wait_for_exit();
    let terminal = TestTerminal::start_chat(folder.path(), "-r");
    let screen = terminal.wait_for_text("▸ think");
    assert!(screen.contains("  list") && screen.contains("just now"), "{screen}");
    terminal.press_keys(DOWN);
    terminal.wait_for_text("▸ list");
    terminal.press_keys("thi");
    terminal.wait_until(|screen| screen.contains("▸ think") && !screen.contains("  list "));
    terminal.press_keys(ENTER);
    let screen = terminal.wait_for_text("I thought about it twice");
    assert!(screen.contains("— think —") && !screen.contains("› /resume"), "{screen}");
    terminal.wait_for_text("Write a message");
}

#[test]
fn r16_keys_that_were_meant_for_the_message_answer_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = TestTerminal::start_chat(folder.path(), "chat");
    terminal.wait_for_text("Write a message");
    terminal.send_message("compute 6*7");
    // The user types and erases while it appears. Each key restarts the time for which the ask
    // takes no keys, so that Enter comes within it also on a busy machine.
    terminal.press_until("m\x7f", Duration::from_millis(10), |screen| {
        screen.contains("Approval needed")
    });
    terminal.press_keys(ENTER);
    terminal.press_keys("n");
    let screen = terminal.wait_for_text("› n");
    assert!(screen.contains("Approval needed"), "{screen}");
    terminal.press_keys("\x7f");
    terminal.wait_for_text("Enter to answer");
    let is_deny_selected = |screen: &str| screen.lines().any(|line| line.trim_end() == "› Deny");
    terminal.press_until(DOWN, KEY_INTERVAL, is_deny_selected);
    terminal.press_keys(ENTER);
    let screen = terminal.wait_until(|screen| {
        screen.contains("answered: deny") && screen.contains("Write a message")
    });
    assert!(!screen.contains("6*7 = 42"), "{screen}");
}

#[test]
fn r17_a_signal_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = TestTerminal::start_chat(folder.path(), "chat");
    terminal.wait_for_text("Write a message");
    let pid = terminal.child.process_id().unwrap();
    send_signal(pid, Signal::TERM);
    let (_, raw) = terminal.wait_for_exit();
    assert_terminal_restored(&raw);
}

#[test]
fn a_second_terminal_joins_the_conversation_that_is_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let first = TestTerminal::start_chat(folder.path(), "chat");
    first.wait_for_text("Write a message");
    first.send_message("compute 1+1");
    first.wait_for_text("Approval needed");
    let second = TestTerminal::start_chat(folder.path(), "-c");
    let screen = second.wait_for_text("Approval needed");
    assert!(screen.contains("› compute 1+1") && screen.contains("connected to"), "{screen}");
    // Once it is answered, Enter in the empty input does nothing.
    second.press_until(ENTER, KEY_INTERVAL, |screen| screen.contains("1+1 = 2"));
    first.wait_for_text("1+1 = 2");
}

#[test]
fn a_terminal_that_goes_away_takes_the_chat_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = TestTerminal::start_chat(folder.path(), "chat");
    terminal.wait_for_text("Write a message");
    terminal.hang_up();
    // It does not live on without a terminal.
    terminal.wait_for_end();
}
