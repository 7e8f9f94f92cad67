//! `millpond demo`: a run of the demo agent, live, without settings, keys or traces.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::{millpond_command, send_signal};

/// A command in an empty home, with temporary folders below `folder`.
fn demo_command(arguments: &[&str], folder: &std::path::Path) -> std::process::Command {
    let mut command = millpond_command(arguments);
    command.env("HOME", folder.join("home")).env("TMPDIR", folder.join("tmp"));
    std::fs::create_dir_all(folder.join("tmp")).unwrap();
    command.current_dir(folder);
    command
}

#[test]
fn every_view_shows_the_answer_and_nothing_is_kept() {
    for view in ["latest", "steps", "bubbles", "transcript", "sentences"] {
        let folder = tempfile::tempdir().unwrap();
        // Settings of the folder are not read.
        std::fs::write(folder.path().join("millpond.toml"), "agent = \"nobody\"").unwrap();
        let output = demo_command(&["demo", "--view", view], folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{view}: {text}");
        assert!(text.contains("2 matching lines."), "{view}: {text}");
        assert!(!text.contains("I do not know this folder yet"), "{view} shows thinking: {text}");
        assert!(!folder.path().join("home").exists(), "{view}");
        assert_eq!(std::fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0, "{view}");
    }
}

#[test]
fn an_interrupt_and_a_closed_terminal_cancel_the_run_and_remove_the_folder() {
    for signal in [Signal::INT, Signal::HUP] {
        check_that_signal_cancels(signal);
    }
}

fn check_that_signal_cancels(signal: Signal) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = demo_command(&["demo", "--view", "transcript"], folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    send_signal(child.id(), signal);
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(!rest.iter().any(|line| line.contains("2 matching lines.")), "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(std::fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
}
