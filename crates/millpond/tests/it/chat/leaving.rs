//! The chat makes room for others: suspended and continued, or broken.

use std::path::PathBuf;
use std::time::Duration;

use engine::view::ViewName;
use terminal::app::{Manner, Setup};
use terminal::link::Link;
use terminal::links::Links;
use terminal::screen::Features;

use super::check_given_back;
use crate::pty::{SIZE, Terminal};
use crate::tmux::Tmux;

/// Says to this program that it is the chat that is to break, and where.
const BREAKS: &str = "MILLPOND_TEST_BREAKS";

/// A chat without a gateway, which breaks when a file says so: in its own thread, or in another one.
#[test]
fn r17_a_panic_gives_the_terminal_back() {
    if let Ok(place) = std::env::var(BREAKS) {
        return breaking_chat(&place);
    }
    let folder = tempfile::tempdir().unwrap();
    let chat = |place: &str| {
        let program = std::env::current_exe().unwrap();
        let test = "chat::leaving::r17_a_panic_gives_the_terminal_back";
        let line = format!(
            "{BREAKS}={place} '{}' --exact {test} --nocapture; echo status $?; stty -a",
            program.display()
        );
        Terminal::shell(folder.path(), &line, SIZE)
    };
    let broken = |place: &str| {
        let terminal = chat(place);
        terminal.shows("Write a message");
        std::fs::write(folder.path().join(place), "now").unwrap();
        terminal
    };
    let (_, raw) = broken("here").ended();
    check_given_back(&raw);
    let (drawn, after) = raw.split_once("the mill broke").unwrap_or_else(|| panic!("{raw}"));
    assert!(drawn.contains("Write a message") && drawn.contains("\x1b[?2004l"), "{raw}");
    assert!(after.contains("status 101"), "{raw}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "the terminal is raw: {after}");

    let terminal = broken("elsewhere");
    terminal.shows("a part of the program broke");
    terminal.press("still here");
    terminal.shows("› still here");
    terminal.press("\x03\x03\x03");
    let (_, raw) = terminal.ended();
    check_given_back(&raw);
    assert!(raw.contains("status 0"), "{raw}");
}

fn breaking_chat(place: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let setup = Setup {
        link: Link::new("http://127.0.0.1:9", "token").unwrap(),
        session: None,
        chooses: false,
        view: ViewName::Transcript,
        manner: Manner::Drawn(Features::default()),
        links: Links::Spelled,
        folder: std::env::temp_dir(),
        history: Vec::new(),
        history_file: None,
        greeting: "a chat that breaks".to_owned(),
        profiles: None,
    };
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
            left = terminal::app::run(setup) => drop(left.unwrap()),
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
    tmux.shows("shell>");
    let data = folder.path().join("data");
    let line = format!("'{}' chat --data '{}'", env!("CARGO_BIN_EXE_millpond"), data.display());
    tmux.keys(&["-l", &line]);
    tmux.keys(&["Enter"]);
    tmux.shows("Write a message");
    tmux.keys(&["C-z"]);
    tmux.shows("Stopped");
    tmux.keys(&["-l", "echo $((40+2)) here"]);
    tmux.keys(&["Enter"]);
    tmux.shows("42 here");
    assert!(!tmux.screen().contains("Write a message"), "{}", tmux.screen());
    tmux.keys(&["-l", "fg"]);
    tmux.keys(&["Enter"]);
    tmux.shows("Write a message");
    tmux.keys(&["-l", "think"]);
    tmux.shows("› think");
    tmux.keys(&["C-c"]);
    tmux.shows("Write a message");
    let all = tmux.all();
    assert_eq!(all.matches("Write a message").count(), 1, "{all}");
    assert_eq!(all.matches("42 here").count(), 1, "{all}");
}
