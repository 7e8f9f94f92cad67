//! Recordings: what is kept, what is blacked out, and that playing one is like being there.

use crate::support::{chat, run, run_with};

#[test]
fn a_recording_plays_back_as_the_stream_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.rec");
    let path = path.to_str().unwrap();
    let stream = chat(&["Hello ", "<think>x</think>", "world ół"]);
    let live = run_with(&["show", "-o", "events", "-q", "--record", path], &stream);
    let played = run(&["show", "-o", "events", "-q", path]);
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
    let real = run(&["show", "-q", "--pace", "real", path]);
    assert_eq!(real.stdout, "Hello world ół\n");
}

#[test]
fn secrets_are_blacked_out_in_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.rec");
    let stream = chat(&["my key is sk-abcdefghijklmnop123456 ", "ok"]);
    let ran = run_with(&["show", "-q", "--record", path.to_str().unwrap()], &stream);
    assert!(ran.stdout.contains("sk-abcdefghijklmnop123456"), "the screen shows what was said");
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(!kept.contains("abcdefghijklmnop") && kept.contains("[redacted]"), "{kept}");
}

#[test]
fn a_damaged_recording_is_named_with_its_line() {
    let ran = run_with(&["show"], b"{\"millpond_recording\":1}\nnonsense\n");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("damaged at line 2"), "{}", ran.stderr);
}
