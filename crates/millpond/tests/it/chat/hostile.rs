//! Text from outside that would command the terminal, in every place in which a chat shows some.

use serde_json::json;

use super::source::Source;
use crate::gateway::process::{Process, home};
use crate::pty::Terminal;

/// A title, a clear, a string that never ends, C1 controls, an answer that would be typed, a link
/// that does not end, an override of the direction.
const HOSTILE: &str = "P\x1b]0;owned\x07\x1b[2J\x1bPq\u{9b}31m\u{90}\x1b[6n\x1b]8;;file:///x\x1b\\\u{202e}Q\x08\r\x7f";

#[test]
fn s12_names_texts_results_and_titles_are_printable() {
    let home = home();
    let process = Process::start(home.path());
    let mut source = Source::start(&process, home.path(), None);
    source.say(&format!("{HOSTILE} said\n\n```{HOSTILE}\n{HOSTILE} code\n```\n\n"));
    let call = json!({ "name": HOSTILE, "arguments": json!({ "a": HOSTILE }).to_string() });
    let call = json!([{ "index": 0, "id": "c", "function": call }]);
    source.frame(&json!({ "choices": [{ "delta": { "tool_calls": call } }] }));
    source.frame(&json!({ "error": { "message": format!("{HOSTILE} failed") } }));
    let session = source.end();
    rename(&process, &session);
    for view in ["latest", "steps", "bubbles", "transcript", "sentences"] {
        let terminal = Terminal::chat(home.path(), &format!("-r {session} --view {view}"));
        terminal.shows("said");
        terminal.say("/sessions");
        terminal.shows("titled");
        terminal.say("/quit");
        let (_, raw) = terminal.ended();
        for harm in [
            "\x1b]0",
            "\x1b[2J",
            "\x1bP",
            "\u{9b}",
            "\u{90}",
            "\u{202e}",
            "\x07",
            "\x08",
            "\x7f",
            "\x1b]8;;file",
        ] {
            assert!(!raw.contains(harm), "{view}: {harm:?} in {raw:?}");
        }
        // Asked once by us, whoever else would like to know.
        assert_eq!(raw.matches("\x1b[6n").count(), 1, "{view}: {raw:?}");
    }
}

fn rename(process: &Process, session: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = format!("http://{}/v1/sessions/{session}", process.address);
    let request = reqwest::Client::new().patch(url).bearer_auth(&process.token);
    let answer =
        runtime.block_on(request.json(&json!({ "title": format!("titled {HOSTILE}") })).send());
    assert!(answer.unwrap().status().is_success());
}
