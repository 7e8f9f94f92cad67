//! `STREAM_DEBUG` in every command that handles streams.

use reqwest::Method;
use serde_json::Value;

use crate::gateway::process::{GatewayProcess, data_folder, isolated_command, temp_home};
use crate::pty::TestTerminal;
use crate::support::{chat_stream, run_command_with_input, run_millpond};

/// A reply with a thought and blank text before its first visible text.
fn stream_with_thought() -> Vec<u8> {
    chat_stream(&["\n", "<think>cold</think>", "\n", "Swim."])
}

/// Debug lines among other lines.
fn debug_lines(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| line.starts_with("{\"debug\":"));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count_kind(lines: &[Value], kind: &str) -> usize {
    lines.iter().filter(|line| line["debug"] == kind).count()
}

#[test]
fn x22_every_command_that_handles_streams_has_stream_debug() {
    for command in ["show", "compare", "tee", "serve", "chat", "demo"] {
        let help = run_millpond(&[command, "--help"]).stdout;
        assert!(help.contains("--stream-debug") && help.contains("STREAM_DEBUG"), "{command}");
    }
    assert!(run_millpond(&["--help"]).stdout.contains("--stream-debug"));
}

#[tokio::test(flavor = "multi_thread")]
async fn x22_stream_debug_of_a_gateway_names_session_run_and_view() {
    let home = temp_home();
    let process = GatewayProcess::start_with_flags(home.path(), &["--stream-debug".to_owned()]);
    let base = format!("http://{}", process.address);
    let (http, token) = (reqwest::Client::new(), process.token.clone());
    let send = |method: Method, path: &str| {
        http.request(method, format!("{base}{path}")).bearer_auth(&token)
    };
    let request = send(Method::POST, "/v1/ingest/auto").body(stream_with_thought());
    let run: Value = request.send().await.unwrap().json().await.unwrap();
    let session = run["session"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}/stream?view=latest&from=start");
    let mut frames = send(Method::GET, &path).send().await.unwrap();
    let mut text = String::new();
    while !text.contains("event:completed") {
        let chunk = frames.chunk().await.unwrap().expect("the stream ended before the run");
        text += std::str::from_utf8(&chunk).unwrap();
    }
    drop(frames);
    let (status, stderr) = process.terminate();
    assert!(status.success());
    let lines = debug_lines(&stderr);
    let first: Vec<&Value> = lines.iter().filter(|line| line["debug"] == "first_token").collect();
    assert_eq!(first.len(), 1, "{stderr}");
    assert_eq!((&first[0]["session"], &first[0]["run"]), (&run["session"], &run["run"]));
    assert!(1 <= count_kind(&lines, "hidden") && 1 <= count_kind(&lines, "view"), "{stderr}");
    let after_hidden = lines.iter().skip_while(|line| line["debug"] != "hidden");
    assert!(after_hidden.clone().any(|line| line["debug"] == "first_token"), "{stderr}");
}

#[test]
fn x22_stream_debug_is_off_unless_asked_for() {
    let home = temp_home();
    let data = data_folder(home.path());
    let args = ["chat", "--data", data.to_str().unwrap()];
    let ran = run_command_with_input(&mut isolated_command(&args, home.path()), b"think");
    assert_eq!((ran.status, debug_lines(&ran.stderr).len()), (0, 0), "{}", ran.stderr);
    assert!(!data.join("stream-debug.jsonl").exists());
}

#[test]
fn x22_stream_debug_of_one_message_is_on_standard_error() {
    let home = temp_home();
    let data = data_folder(home.path());
    let args = ["chat", "--data", data.to_str().unwrap()];
    let mut command = isolated_command(&args, home.path());
    let ran = run_command_with_input(command.env("STREAM_DEBUG", "1"), b"think");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(1 <= count_kind(&debug_lines(&ran.stderr), "first_token"), "{}", ran.stderr);
    assert!(1 <= count_kind(&debug_lines(&ran.stderr), "view"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("\"debug\""), "{}", ran.stdout);
}

#[test]
fn x22_stream_debug_of_the_full_screen_chat_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = TestTerminal::start_chat(folder.path(), "chat --stream-debug");
    terminal.wait_for_text("stream debug: ");
    terminal.send_message("think");
    terminal.wait_for_text("I thought about it twice");
    terminal.press_keys("\x03\x03\x03");
    let (status, raw) = terminal.wait_for_exit();
    assert_eq!(status, 0, "{raw}");
    assert!(!raw.contains("\"debug\""), "{raw}");
    let file = walk(folder.path()).into_iter().find(|path| path.ends_with("stream-debug.jsonl"));
    let text = std::fs::read_to_string(file.unwrap()).unwrap();
    let lines = debug_lines(&text);
    assert_eq!(lines.len(), text.lines().count());
    assert!(1 <= count_kind(&lines, "first_token") && 1 <= count_kind(&lines, "view"), "{text}");
}

/// All files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn x22_stream_debug_of_tee_compare_and_demo_is_on_standard_error() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let (url, data) = (format!("http://{}", process.address), data_folder(home.path()));
    for args in [
        vec!["tee", &url, "--data", data.to_str().unwrap(), "--stream-debug"],
        vec!["compare", "-q", "--stream-debug", "-"],
        vec!["demo", "--stream-debug"],
    ] {
        let mut command = isolated_command(&args, home.path());
        let ran = run_command_with_input(&mut command, &stream_with_thought());
        assert_eq!(ran.status, 0, "{args:?}: {}", ran.stderr);
        let lines = debug_lines(&ran.stderr);
        assert!(1 <= count_kind(&lines, "first_token"), "{args:?}: {}", ran.stderr);
    }
}
