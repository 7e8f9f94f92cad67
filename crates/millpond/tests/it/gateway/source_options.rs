//! Options of a source: the same for `show`, `tee`, ingest over HTTP and a profile.

use std::path::Path;

use millpond_engine::run::{OptionValues, SourceOption};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::GatewayClient;
use super::process::{GatewayProcess, data_folder, isolated_command, temp_home};
use crate::documents::project_folder;
use crate::support::{chat_stream, run_command_with_input, run_millpond};

/// A stream that an option changes, and the option's value.
fn sample(option: SourceOption) -> (Vec<u8>, &'static str) {
    match option {
        SourceOption::StartsInThinking => {
            (chat_stream(&["Deep and ", "cold.</think>", "Swim."]), "true")
        }
        SourceOption::Tags => {
            (chat_stream(&["<musing>cold</mus", "ing>Swim."]), "reasoning: musing")
        }
        SourceOption::Quirk => (chat_stream(&["A", "AB", "ABC"]), "cumulative-text"),
        SourceOption::FinishWord => (chat_stream(&["Done. ", "!isfin", "ish"]), "!isfinish"),
        SourceOption::Action => {
            let call = json!({ "index": 0, "id": "k", "type": "function",
                "function": { "name": "open_sluice", "arguments": "{\"by\":2}" } });
            let chunk = |delta: Value, finish: Value| {
                let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
                format!(
                    "data: {}\n\n",
                    json!({ "id": "c", "object": "chat.completion.chunk",
                    "choices": [choice] })
                )
            };
            let start = chunk(json!({ "tool_calls": [call] }), Value::Null);
            let stream = start + &chunk(json!({}), "tool_calls".into()) + "data: [DONE]\n\n";
            (stream.into_bytes(), "open_sluice")
        }
    }
}

/// Flags that set an option; a file with its value is written if the flag names one.
fn flags(option: SourceOption, value: &str, home: &Path) -> Vec<String> {
    let flag = format!("--{}", option.flag());
    match option {
        SourceOption::Tags => {
            let file = home.join("tags.txt");
            std::fs::write(&file, value).unwrap();
            vec![flag, file.to_str().unwrap().to_owned()]
        }
        _ if option.values() == OptionValues::Switch => vec![flag],
        _ => vec![flag, value.to_owned()],
    }
}

/// The events of a log without what differs between runs: numbers, times and the run's id.
fn comparable(records: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let strip = |mut record: Value| {
        for name in ["seq", "at_ms", "run"] {
            record.as_object_mut().unwrap().remove(name);
        }
        record
    };
    records.into_iter().map(strip).collect()
}

fn parse_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Events of `millpond show` with these flags.
fn show_events(home: &Path, stream: &[u8], flags: &[String]) -> Vec<Value> {
    let mut command = isolated_command(&["show", "-q", "--output", "events"], home);
    let ran = run_command_with_input(command.args(flags), stream);
    comparable(parse_lines(&ran.stdout))
}

/// Events of the run that `millpond tee` with these flags sends.
async fn tee_events(
    home: &Path,
    gateway: &GatewayClient,
    stream: &[u8],
    flags: &[String],
) -> Vec<Value> {
    let session = gateway.create_session().await;
    let data = data_folder(home);
    let args = ["tee", &gateway.base, "--data", data.to_str().unwrap(), "--session", &session];
    let ran = run_command_with_input(isolated_command(&args, home).args(flags), stream);
    assert_eq!((ran.stdout.as_bytes(), ran.status), (stream, 0), "{}", ran.stderr);
    comparable(gateway.read_log(&session).await)
}

/// Events of the run that an ingest request with this query becomes.
async fn ingest_events(
    gateway: &GatewayClient,
    stream: &[u8],
    query: &[(&str, &str)],
) -> Vec<Value> {
    let session = gateway.create_session().await;
    let request = gateway.request(Method::POST, "/v1/ingest/auto");
    let request = request.query(&[("session", &session)]).query(query).body(stream.to_vec());
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    comparable(gateway.read_log(&session).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn x22_show_ingest_and_tee_give_the_same_events_with_the_same_options() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let gateway = GatewayClient::for_process(&process, &reqwest::Client::new());
    for option in SourceOption::ALL {
        let (stream, value) = sample(option);
        let flags = flags(option, value, home.path());
        let shown = show_events(home.path(), &stream, &flags);
        assert_ne!(shown, show_events(home.path(), &stream, &[]), "{option:?} changes nothing");
        let query = [(option.as_str(), value)];
        assert_eq!(ingest_events(&gateway, &stream, &query).await, shown, "{option:?}");
        assert_eq!(tee_events(home.path(), &gateway, &stream, &flags).await, shown, "{option:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x22_a_profile_takes_the_same_options() {
    for option in SourceOption::ALL {
        let home = temp_home();
        let (stream, value) = sample(option);
        std::fs::write(home.path().join("stream.sse"), &stream).unwrap();
        let setting = match option.values() {
            OptionValues::Switch => value.to_owned(),
            OptionValues::One => format!("{value:?}"),
            OptionValues::Many => format!("[{value:?}]"),
        };
        let settings = format!(
            "[profiles.played]\nagent = \"command\"\ncommand = [\"sh\", \"-c\", \
             \"cat stream.sse # {{prompt}}\"]\n{} = {setting}\n",
            option.as_str()
        );
        std::fs::write(home.path().join("millpond.toml"), settings).unwrap();
        let process = GatewayProcess::start(home.path());
        let gateway = GatewayClient::for_process(&process, &reqwest::Client::new());
        let session = gateway.create_session().await;
        let path = format!("/v1/sessions/{session}/messages");
        let sent = gateway.request(Method::POST, &path).json(&json!({ "text": "Go" })).send();
        assert_eq!(sent.await.unwrap().status(), 202);
        let played = wait_for_end(&gateway, &session).await;
        let is_content = |event: &Value| {
            let of = event["type"].as_str().unwrap();
            ["text_", "message_", "reasoning_", "markup_", "tool_started", "arguments_"]
                .iter()
                .any(|start| of.starts_with(start))
        };
        let only_content =
            |events: Vec<Value>| -> Vec<Value> { events.into_iter().filter(is_content).collect() };
        let shown = show_events(home.path(), &stream, &flags(option, value, home.path()));
        assert_eq!(only_content(played), only_content(shown), "{option:?}");
    }
}

/// Events of a session once its run has ended.
async fn wait_for_end(gateway: &GatewayClient, session: &str) -> Vec<Value> {
    let mut stream = gateway.open_stream(session, "view=latest&from=start", "").await;
    while let Some(event) = stream.next_event().await {
        if ["completed", "failed", "cancelled", "truncated"].contains(&event.event.as_str()) {
            return comparable(gateway.read_log(session).await);
        }
    }
    panic!("the stream ended before the run");
}

#[tokio::test(flavor = "multi_thread")]
async fn x22_every_option_is_in_every_place() {
    let read = |path: &str| std::fs::read_to_string(project_folder().join(path)).unwrap();
    let (gateway_doc, agents_doc) = (read("docs/GATEWAY.md"), read("docs/AGENTS.md"));
    let document: Value =
        serde_json::from_str(&read("crates/gateway/src/http/openapi.json")).unwrap();
    let parameters = &document["paths"]["/v1/ingest/{dialect}"]["post"]["parameters"];
    let documented: Vec<&str> = parameters
        .as_array()
        .unwrap()
        .iter()
        .filter(|parameter| parameter["in"] == "query" && parameter["name"] != "session")
        .map(|parameter| parameter["name"].as_str().unwrap())
        .collect();
    assert_eq!(documented, SourceOption::ALL.map(SourceOption::as_str));
    for option in SourceOption::ALL {
        for command in ["show", "compare", "tee"] {
            let help = run_millpond(&[command, "--help"]).stdout;
            assert!(help.contains(&format!("--{}", option.flag())), "{command}: {option:?}");
        }
        let row = format!("| `{}` |", option.as_str());
        assert!(gateway_doc.contains(&row), "docs/GATEWAY.md: {option:?}");
        assert!(agents_doc.contains(&row), "docs/AGENTS.md: {option:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x22_wrong_options_get_the_same_error_everywhere() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let gateway = GatewayClient::for_process(&process, &reqwest::Client::new());
    let near = "unknown quirk `cumulative-txt`; did you mean `cumulative-text`?";
    for (query, problem) in [
        ("quirk=cumulative-txt", near),
        (
            "starts_in_thinking=yes",
            "invalid value `yes` for `starts_in_thinking`: use true or false",
        ),
        ("starts_in_thinkng=true", "did you mean `starts_in_thinking`?"),
        ("finish-word=x", "did you mean `finish_word`?"),
        ("finish_word=", "control word is empty"),
        ("finish_word=a&finish_word=b", "given more than once"),
        ("tags=musing", "line 1: "),
        ("action=", "the name of a tool is missing"),
        ("colour=red", "unknown query parameter `colour` (known: session, starts_in_thinking, "),
    ] {
        let path = format!("/v1/ingest/auto?{query}");
        let response = gateway.request(Method::POST, &path).body("x").send().await.unwrap();
        assert_eq!(response.status(), 400, "{query}");
        let text = response.text().await.unwrap();
        assert!(text.contains(problem), "{query}: {text}");
    }
    for command in ["show", "tee"] {
        let args = [command, "--quirk", "cumulative-txt"];
        let ran = run_command_with_input(&mut isolated_command(&args, home.path()), b"x");
        assert_eq!((&*ran.stdout, ran.status), ("", 2));
        assert!(ran.stderr.contains(near), "{command}: {}", ran.stderr);
    }
    for (setting, problem) in [
        ("quirk = \"cumulative-txt\"", near),
        ("starts_in_thinkng = true", "did you mean `starts_in_thinking`?"),
        ("starts_in_thinking = \"yes\"", "`starts_in_thinking` must be true or false"),
    ] {
        let text = format!("[profiles.wrong]\n{setting}\n");
        std::fs::write(home.path().join("millpond.toml"), text).unwrap();
        let data = home.path().join("other");
        let args = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let ran = run_command_with_input(&mut isolated_command(&args, home.path()), b"");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(problem), "{setting}: {}", ran.stderr);
    }
}
