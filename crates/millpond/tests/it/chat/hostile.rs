//! Terminal escape sequences in untrusted text, everywhere a chat shows such text.

use serde_json::json;

use super::tee_source::TeeSource;
use crate::gateway::process::{GatewayProcess, temp_home};
use crate::pty::TestTerminal;

/// A window title, a clear, an unterminated string, C1 controls, a cursor report request, an
/// unterminated link, a direction override.
const HOSTILE: &str = "P\x1b]0;owned\x07\x1b[2J\x1bPq\u{9b}31m\u{90}\x1b[6n\x1b]8;;file:///x\x1b\\\u{202e}Q\x08\r\x7f";

#[test]
fn s12_names_texts_results_and_titles_are_printable() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let mut source = TeeSource::start(&process, home.path(), None);
    source.send_text(&format!("{HOSTILE} said\n\n```{HOSTILE}\n{HOSTILE} code\n```\n\n"));
    let call = json!({ "name": HOSTILE, "arguments": json!({ "a": HOSTILE }).to_string() });
    let call = json!([{ "index": 0, "id": "c", "function": call }]);
    source.send_frame(&json!({ "choices": [{ "delta": { "tool_calls": call } }] }));
    source.send_frame(&json!({ "error": { "message": format!("{HOSTILE} failed") } }));
    let session = source.finish();
    set_hostile_title(&process, &session);
    for view in ["latest", "steps", "bubbles", "transcript", "sentences"] {
        let terminal =
            TestTerminal::start_chat(home.path(), &format!("-r {session} --view {view}"));
        terminal.wait_for_text("said");
        terminal.send_message("/sessions");
        terminal.wait_for_text("titled");
        terminal.send_message("/quit");
        let (_, raw) = terminal.wait_for_exit();
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
        // One cursor report request is the chat's own.
        assert_eq!(raw.matches("\x1b[6n").count(), 1, "{view}: {raw:?}");
    }
}

fn set_hostile_title(process: &GatewayProcess, session: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = format!("http://{}/v1/sessions/{session}", process.address);
    let request = reqwest::Client::new().patch(url).bearer_auth(&process.token);
    let answer =
        runtime.block_on(request.json(&json!({ "title": format!("titled {HOSTILE}") })).send());
    assert!(answer.unwrap().status().is_success());
}
