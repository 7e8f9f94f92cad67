//! Recordings: what is kept, what is redacted, and that playback equals the live stream.

use std::io::Write;
use std::process::Stdio;

use crate::support::{
    chat_stream, millpond_command, run_millpond, run_with_input, unfinished_chat_stream,
};

#[test]
fn a_recording_plays_back_as_the_stream_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.rec");
    let path = path.to_str().unwrap();
    let stream = chat_stream(&["Hello ", "<think>x</think>", "world ół"]);
    let live = run_with_input(&["show", "-o", "events", "-q", "--record", path], &stream);
    let played = run_millpond(&["show", "-o", "events", "-q", path]);
    let strip = |text: &str| -> Vec<serde_json::Value> {
        text.lines()
            .map(|line| {
                let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
                record["at_ms"].take();
                record
            })
            .collect()
    };
    assert_eq!(strip(&played.stdout), strip(&live.stdout));
    let first: serde_json::Value =
        serde_json::from_str(played.stdout.lines().next().unwrap()).unwrap();
    assert!(first["at_ms"].is_u64(), "a recording knows its times");
    let real = run_millpond(&["show", "-q", "--pace", "real", path]);
    assert_eq!(real.stdout, "Hello world ół\n");
}

#[test]
fn secrets_are_blacked_out_in_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.rec");
    let stream = chat_stream(&["my key is sk-abcdefghijklmnop123456 ", "ok"]);
    let ran = run_with_input(&["show", "-q", "--record", path.to_str().unwrap()], &stream);
    assert!(ran.stdout.contains("sk-abcdefghijklmnop123456"), "the screen shows what was said");
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(!kept.contains("abcdefghijklmnop") && kept.contains("[redacted]"), "{kept}");
}

#[test]
fn a_secret_with_an_escape_in_it_and_a_long_line_are_kept_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.rec");
    let long = "é".repeat(3 << 20);
    let stream = chat_stream(&["{\"password\": \"hun\\\"ter2secret\"} ", &long]);
    let live = run_with_input(&["show", "-q", "--record", path.to_str().unwrap()], &stream);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("ter2secret"));
    let played = run_millpond(&["show", "-q", path.to_str().unwrap()]);
    assert!(played.stdout.ends_with(&format!("{long}\n")), "no character is cut in two");
    assert_eq!(live.status, 0);
}

#[test]
fn a_recording_never_overwrites_and_a_wrong_input_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.sse");
    std::fs::write(&path, chat_stream(&["Keep me."])).unwrap();
    let path = path.to_str().unwrap();
    let ran = run_millpond(&["show", "--record", path, path]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains(path), "{}", ran.stderr);
    assert_eq!(std::fs::read(path).unwrap(), chat_stream(&["Keep me."]));
    let other = folder.path().join("other.rec");
    run_millpond(&["show", "--record", other.to_str().unwrap(), "no-such-file"]);
    assert!(!other.exists());
}

#[test]
fn a_recording_of_a_recording_plays_too() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["one.rec", "two.rec"].map(|name| folder.path().join(name));
    let [one, two] = names.each_ref().map(|name| name.to_str().unwrap());
    run_with_input(&["show", "-q", "--record", one], &chat_stream(&["Twice."]));
    run_millpond(&["show", "-q", "--record", two, one]);
    assert_eq!(run_millpond(&["show", "-q", two]).stdout, "Twice.\n");
}

#[test]
fn a_recording_goes_on_to_its_end_when_nobody_reads_the_output_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.rec");
    let mut child = millpond_command(&["show", "-q", "--record", path.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let stream = chat_stream(&vec!["more text\n"; 10_000]);
    child.stdin.take().unwrap().write_all(&stream).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(std::fs::read_to_string(&path).unwrap().contains("[DONE]"));
}

#[test]
fn a_damaged_recording_is_named_with_its_line_and_the_run_still_ends() {
    let stretch = serde_json::json!({"at_ms": 1, "text": String::from_utf8(unfinished_chat_stream(&["Hi"])).unwrap()});
    let recording = format!("{{\"millpond_recording\":1}}\n{stretch}\n{{\"at_ms\":2,\"te");
    let ran = run_with_input(&["show", "-q", "-o", "events"], recording.as_bytes());
    assert_eq!(ran.status, 3);
    assert!(ran.stderr.contains("damaged at line 3"), "{}", ran.stderr);
    assert!(ran.stdout.lines().last().unwrap().contains("truncated"), "{}", ran.stdout);
}
