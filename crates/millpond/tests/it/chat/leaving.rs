//! The chat restores the terminal when it panics or is suspended.

use std::path::PathBuf;
use std::time::Duration;

use millpond_client::GatewayClient;
use millpond_engine::view::ViewName;
use millpond_terminal::app::{ChatStart, DisplayMode, Setup};
use millpond_terminal::hyperlinks::HyperlinkMode;
use millpond_terminal::screen::TerminalFeatures;

use super::assert_terminal_restored;
use crate::pty::{SIZE, TestTerminal};
use crate::tmux::Tmux;

/// Environment variable that makes this test binary run the panicking chat; its value says where.
const PANIC_VARIABLE: &str = "MILLPOND_TEST_BREAKS";

/// A chat without a gateway that panics when a file appears: in its own task, or in another one.
#[test]
fn r17_a_panic_gives_the_terminal_back() {
    if let Ok(place) = std::env::var(PANIC_VARIABLE) {
        return run_panicking_chat(&place);
    }
    let folder = tempfile::tempdir().unwrap();
    let chat = |place: &str| {
        let program = std::env::current_exe().unwrap();
        let test = "chat::leaving::r17_a_panic_gives_the_terminal_back";
        let line = format!(
            "{PANIC_VARIABLE}={place} '{}' --exact {test} --nocapture; echo status $?; stty -a",
            program.display()
        );
        TestTerminal::start_shell(folder.path(), &line, SIZE)
    };
    let broken = |place: &str| {
        let terminal = chat(place);
        terminal.wait_for_text("Write a message");
        std::fs::write(folder.path().join(place), "now").unwrap();
        terminal
    };
    let (_, raw) = broken("here").wait_for_exit();
    assert_terminal_restored(&raw);
    let (drawn, after) = raw.split_once("the mill broke").unwrap_or_else(|| panic!("{raw}"));
    assert!(drawn.contains("Write a message") && drawn.contains("\x1b[?2004l"), "{raw}");
    assert!(after.contains("status 101"), "{raw}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "the terminal is raw: {after}");

    let terminal = broken("elsewhere");
    terminal.wait_for_text("internal error");
    terminal.press_keys("still here");
    terminal.wait_for_text("› still here");
    terminal.press_keys("\x03\x03\x03");
    let (_, raw) = terminal.wait_for_exit();
    assert_terminal_restored(&raw);
    assert!(raw.contains("status 0"), "{raw}");
}

fn run_panicking_chat(place: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let setup = Setup {
        client: GatewayClient::new("http://127.0.0.1:9", "token").unwrap(),
        session: None,
        start: ChatStart::Conversation,
        view: ViewName::Transcript,
        display: DisplayMode::Screen(TerminalFeatures::default()),
        hyperlinks: HyperlinkMode::SpelledOut,
        folder: std::env::temp_dir(),
        history: Vec::new(),
        history_file: None,
        greeting: "a chat that breaks".to_owned(),
        profiles: None,
    };
    // Polls without a deadline: the test that creates the file has one.
    let breaks = async |file: PathBuf| {
        while !file.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the mill broke");
    };
    let here = place == "here";
    let file = PathBuf::from(place);
    let chat = async {
        if !here {
            tokio::spawn(breaks(file.clone()));
        }
        tokio::select! {
            left = millpond_terminal::app::run_chat(setup) => drop(left.unwrap()),
            () = breaks(file), if here => {}
        }
    };
    runtime.block_on(chat);
    runtime.shutdown_background();
}

#[test]
fn r17_whoever_suspends_it_gets_the_terminal_and_whoever_continues_it_the_chat() {
    let folder = tempfile::tempdir().unwrap();
    let shell = "env PS1='shell> ' bash --norc --noprofile -i";
    let Some(tmux) = Tmux::start(folder.path(), shell, (80, 24)) else { return };
    tmux.wait_for_text("shell>");
    let data = folder.path().join("data");
    let line = format!("'{}' chat --data '{}'", env!("CARGO_BIN_EXE_millpond"), data.display());
    tmux.send_keys(&["-l", &line]);
    tmux.send_keys(&["Enter"]);
    tmux.wait_for_text("Write a message");
    tmux.send_keys(&["C-z"]);
    tmux.wait_for_text("Stopped");
    tmux.send_keys(&["-l", "echo $((40+2)) here"]);
    tmux.send_keys(&["Enter"]);
    tmux.wait_for_text("42 here");
    assert!(!tmux.screen_text().contains("Write a message"), "{}", tmux.screen_text());
    tmux.send_keys(&["-l", "fg"]);
    tmux.send_keys(&["Enter"]);
    tmux.wait_for_text("Write a message");
    tmux.send_keys(&["-l", "think"]);
    tmux.wait_for_text("› think");
    tmux.send_keys(&["C-c"]);
    tmux.wait_for_text("Write a message");
    let all = tmux.scrollback_text();
    assert_eq!(all.matches("Write a message").count(), 1, "{all}");
    assert_eq!(all.matches("42 here").count(), 1, "{all}");
}
