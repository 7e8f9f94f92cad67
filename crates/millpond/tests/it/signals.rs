//! Stopped by a signal, `show` prints what it has read and an interrupted ending.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::{millpond_command, send_signal, spawn_piped, unfinished_chat_stream};

#[test]
fn x7_a_signal_ends_the_log_as_interrupted_with_its_text() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut child = spawn_piped(&mut millpond_command(&["show", "-q", "-o", "events"]));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&unfinished_chat_stream(&["half a "])).unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.by_ref().find(|line| line.as_ref().unwrap().contains("half a ")).unwrap().unwrap();
        send_signal(child.id(), signal);
        let last = lines.last().unwrap().unwrap();
        assert!(last.contains("\"outcome\":\"interrupted\""), "{signal:?}: {last}");
        assert_eq!(child.wait().unwrap().code(), Some(3), "{signal:?}");
        drop(stdin);
    }
}

#[test]
fn a_signal_is_heard_in_the_pauses_of_a_playback() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("slow.rec");
    let stretch = |at: u64, text: &str| {
        let frame = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        format!("{}\n", serde_json::json!({ "at_ms": at, "text": frame }))
    };
    let lines =
        ["{\"millpond_recording\":1}\n", &stretch(0, "first\\n"), &stretch(29_000, "never")];
    std::fs::write(&recording, lines.concat()).unwrap();
    let mut child =
        millpond_command(&["show", "-q", "--pace", "real", recording.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    send_signal(child.id(), Signal::TERM);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}
