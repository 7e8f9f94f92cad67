//! `millpond show` on a terminal: no clears, no leftovers, the right final screen.

use std::path::Path;

use portable_pty::PtySize;

use crate::pty::TestTerminal;
use crate::support::fixture_path;

const SIZE: PtySize = PtySize { rows: 12, cols: 60, pixel_width: 0, pixel_height: 0 };

/// Runs `millpond` on a pseudo-terminal and returns its raw output.
fn run_on_terminal(args: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let args: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!("exec '{}' {}", env!("CARGO_BIN_EXE_millpond"), args.join(" "));
    let (_, written) = TestTerminal::start_shell(folder.path(), &line, SIZE).wait_for_exit();
    written.into_bytes()
}

/// All lines of the screen and its scrollback, with wrapped rows joined.
fn screen_lines(written: &[u8]) -> Vec<String> {
    let mut parser = vt100::Parser::new(SIZE.rows, SIZE.cols, 10_000);
    parser.process(written);
    let screen = parser.screen_mut();
    screen.set_scrollback(usize::MAX);
    let back = screen.scrollback();
    let mut rows: Vec<(String, bool)> = Vec::new();
    for offset in (0..=back).rev() {
        screen.set_scrollback(offset);
        let shown = if offset == 0 { SIZE.rows } else { 1 };
        let texts = screen.rows(0, SIZE.cols).zip(0..shown);
        rows.extend(texts.map(|(text, row)| (text, screen.row_wrapped(row))));
    }
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for (text, wrapped) in rows {
        match lines.last_mut() {
            Some(line) if goes_on => line.push_str(&text),
            _ => lines.push(text),
        }
        goes_on = wrapped;
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Asserts that the output never clears the screen or switches to the alternate one.
fn assert_never_clears(written: &[u8]) {
    let text = String::from_utf8_lossy(written);
    for forbidden in ["\x1b[2J", "\x1b[3J", "\x1b[H", "\x1b[?1049h", "\x1bc"] {
        assert!(!text.contains(forbidden), "{forbidden:?} was written: {text:?}");
    }
}

/// Writes a recording of a reply, word by word; returns its path.
fn write_recording(folder: &Path, text: &str) -> String {
    let mut lines = String::from("{\"millpond_recording\":1}\n");
    let words = text.split_inclusive(' ').map(|word| {
        let delta = serde_json::json!({ "choices": [{ "delta": { "content": word } }] });
        format!("data: {delta}\n\n")
    });
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for (at, frame) in words.chain([end.to_owned()]).enumerate() {
        lines.push_str(&serde_json::json!({ "at_ms": at, "text": frame }).to_string());
        lines.push('\n');
    }
    let path = folder.join("reply.rec");
    std::fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_reply_longer_than_the_screen_is_whole_at_the_end_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<String> = (0..300).map(|number| format!("w{number}")).collect();
    let paragraphs: Vec<String> = words.chunks(30).map(|words| words.join(" ")).collect();
    let file = write_recording(folder.path(), &paragraphs.join("\n\n"));
    for view in ["latest", "bubbles", "sentences", "transcript", "steps"] {
        let written = run_on_terminal(&["show", "-q", "--pace", "real", "--view", view, &file]);
        assert_never_clears(&written);
        let shown = screen_lines(&written);
        let seen: Vec<&str> = shown
            .iter()
            .flat_map(|line| line.split_whitespace())
            .filter(|word| {
                word.strip_prefix('w').is_some_and(|number| number.parse::<u32>().is_ok())
            })
            .collect();
        assert_eq!(seen, words, "{view}: {shown:#?}");
    }
}

#[test]
fn no_status_is_left_over_when_it_is_done() {
    let stream = fixture_path("anthropic/two-messages.sse");
    for view in ["latest", "bubbles", "sentences", "transcript", "steps"] {
        let written = run_on_terminal(&["show", "-q", "--view", view, stream.to_str().unwrap()]);
        assert_never_clears(&written);
        let shown = screen_lines(&written).join("\n");
        assert!(shown.contains("There is one file."), "{view}: {shown}");
        for word in ["...]", "Thinking", "Writing", "Working"] {
            assert!(!shown.contains(word), "{view} left {word}: {shown}");
        }
    }
}

#[test]
fn with_no_view_a_terminal_gets_the_latest() {
    let stream = fixture_path("anthropic/two-messages.sse");
    let written = run_on_terminal(&["show", "-q", stream.to_str().unwrap()]);
    assert_eq!(screen_lines(&written), ["There is one file."]);
}

#[test]
fn control_characters_of_a_model_do_nothing_to_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let file = write_recording(folder.path(), "before \u{1b}[2J\u{1b}]0;title\u{7} after");
    for view in ["latest", "transcript"] {
        let written = run_on_terminal(&["show", "-q", "--view", view, &file]);
        assert_never_clears(&written);
        assert!(
            screen_lines(&written).join("\n").contains("before ␛[2J␛]0;title␇ after"),
            "{view}"
        );
    }
}
