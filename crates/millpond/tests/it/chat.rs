//! The chat in a terminal: talked to through a pseudo-terminal, looked at through an emulator.

mod hostile;
mod leaving;
mod lines;
mod pictures;
mod resize;
pub(crate) mod source;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::pty::{PATIENCE, Terminal};

const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const CONTROL_C: &str = "\x03";

/// No clears, and the terminal is as it was found.
fn check_given_back(raw: &str) {
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
    let terminal = Terminal::chat(folder.path(), "chat");
    terminal.shows("the demo agent, which is no model, answers");
    terminal.say("list");
    let screen = terminal
        .until(|screen| screen.contains("notes.md │     7") && screen.contains("Write a message"));
    assert!(screen.contains("› list") && screen.contains("● list_files"), "{screen}");
    assert!(screen.contains("before"), "what was there stays: {screen}");
    terminal.press(CONTROL_C);
    terminal.shows("once more leaves");
    terminal.press(CONTROL_C);
    let (status, raw) = terminal.ended();
    assert_eq!(status, 0, "{raw}");
    assert!(raw.contains("goes on with this conversation"), "{raw}");
    check_given_back(&raw);
}

/// A chat that has had two conversations.
fn list_then_think(folder: &Path) -> Terminal {
    let terminal = Terminal::chat(folder, "chat");
    terminal.shows("Write a message");
    terminal.say("list");
    terminal.until(|screen| screen.contains("no files") || screen.contains("bytes in all"));
    terminal.shows("Write a message");
    terminal.say("/new");
    terminal.shows("a new conversation begins");
    terminal.say("think");
    terminal.shows("I have thought about it twice");
    terminal
}

#[test]
fn what_is_written_after_new_goes_to_another_conversation() {
    let folder = tempfile::tempdir().unwrap();
    list_then_think(folder.path());
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
    let terminal = Terminal::chat(folder.path(), "chat --config-file millpond.toml");
    terminal.shows("Write a message");
    terminal.say("think");
    terminal.shows("I have thought about it twice");
    terminal.shows("Write a message");
    terminal.say("/model wrong");
    terminal.shows("NO_SUCH");
    for key in ["/", "model", " ", "o"] {
        terminal.press(key);
    }
    terminal.until(|screen| screen.contains("▸ one") && screen.contains("  other"));
    terminal.press(DOWN);
    terminal.shows("▸ other");
    terminal.press(ENTER);
    terminal.shows("other answers from now on");
    terminal.say("and now");
    terminal.shows("From the other.");
}

#[test]
fn one_chooses_where_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = list_then_think(folder.path());
    terminal.shows("Write a message");
    terminal.press("\x03\x03");
    terminal.ended();
    let terminal = Terminal::chat(folder.path(), "-r");
    let screen = terminal.shows("▸ think");
    assert!(screen.contains("  list") && screen.contains("just now"), "{screen}");
    terminal.press(DOWN);
    terminal.shows("▸ list");
    terminal.press("thi");
    terminal.until(|screen| screen.contains("▸ think") && !screen.contains("  list "));
    terminal.press(ENTER);
    let screen = terminal.shows("I have thought about it twice");
    assert!(screen.contains("— think —") && !screen.contains("› /resume"), "{screen}");
    terminal.shows("Write a message");
}

#[test]
fn r16_keys_that_were_meant_for_the_message_answer_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::chat(folder.path(), "chat");
    terminal.shows("Write a message");
    terminal.say("compute 6*7");
    terminal.shows("This needs you");
    // In the moment it appears, as by somebody who was typing.
    terminal.press(ENTER);
    terminal.press("n");
    let screen = terminal.shows("› n");
    assert!(screen.contains("This needs you"), "{screen}");
    terminal.press("\x7f");
    terminal.shows("Enter answer");
    std::thread::sleep(Duration::from_millis(400));
    terminal.press(DOWN);
    terminal.press(DOWN);
    terminal.until(|screen| screen.contains("› Deny"));
    terminal.press(ENTER);
    let screen = terminal
        .until(|screen| screen.contains("answered: deny") && screen.contains("Write a message"));
    assert!(!screen.contains("6*7 = 42"), "{screen}");
}

#[test]
fn r17_a_signal_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::chat(folder.path(), "chat");
    terminal.shows("Write a message");
    let pid = terminal.child.process_id().unwrap();
    let killed = std::process::Command::new("kill").args(["-TERM", &pid.to_string()]).status();
    assert!(killed.unwrap().success());
    let (_, raw) = terminal.ended();
    check_given_back(&raw);
}

#[test]
fn a_second_terminal_joins_the_conversation_that_is_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let first = Terminal::chat(folder.path(), "chat");
    first.shows("Write a message");
    first.say("compute 1+1");
    first.shows("This needs you");
    let second = Terminal::chat(folder.path(), "-c");
    let screen = second.shows("This needs you");
    assert!(screen.contains("› compute 1+1") && screen.contains("connected to"), "{screen}");
    std::thread::sleep(Duration::from_millis(400));
    second.press(ENTER);
    second.shows("1+1 = 2");
    first.shows("1+1 = 2");
}

#[test]
fn a_terminal_that_goes_away_takes_the_chat_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::chat(folder.path(), "chat");
    terminal.shows("Write a message");
    terminal.hang_up();
    let end = Instant::now() + PATIENCE;
    while terminal.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it lives on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}
