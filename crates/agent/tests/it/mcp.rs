//! Real MCP servers from npm and PyPI, called through the loop. `tests/servers/install.sh` installs
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::mcp::{How, Server};
use agent::policy::Policy;
use engine::event::{Event, Outcome, ToolKind, ToolOutcome};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::faults::scripted_call;
use crate::house::{House, demo, ending, folder, outcomes};
use crate::scripted::{Reply, saying};

fn servers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers")
}

/// A program among the servers; nothing where they are not installed.
fn program(path: &str) -> Option<String> {
    let program = servers().join(path);
    if program.exists() {
        return Some(program.to_string_lossy().into_owned());
    }
    println!("skipped: crates/agent/tests/servers/install.sh has not been run");
    None
}

fn command(program: String, arguments: &[&str]) -> How {
    let arguments = arguments.iter().map(|&text| text.to_owned()).collect();
    How::Command { program, arguments, variables: BTreeMap::new() }
}

struct Called {
    events: Vec<Event<'static>>,
    _folder: tempfile::TempDir,
}

impl Called {
    fn output(&self) -> String {
        let output = self.events.iter().filter_map(|event| match event {
            Event::OutputAppended { text, .. } => Some(&**text),
            _ => None,
        });
        output.collect()
    }
}

/// One call of a tool of a server.
async fn call(name: &str, how: How, tool: &'static str, arguments: &'static str) -> Called {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let mut setup = demo(folder.path());
    setup.provider = scripted_call(tool, arguments);
    let server = Server::new(
        name.to_owned(),
        how,
        folder.path().to_owned(),
        agent::net::client(&[]).build().unwrap(),
    );
    setup.toolbox.servers = vec![Arc::new(server)];
    setup.policies.0.insert("*".to_owned(), Policy::Allow);
    let house = House::new(data.path(), setup).await;
    let events = house.ask("go").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:#?}");
    Called { events, _folder: folder }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_stdio_tells_how_far_it_has_come() {
    let Some(everything) = program("node_modules/.bin/mcp-server-everything") else { return };
    let called = call(
        "every",
        command(everything, &["stdio"]),
        "every__trigger-long-running-operation",
        r#"{"duration":1,"steps":4}"#,
    )
    .await;
    assert_eq!(outcomes(&called.events), [ToolOutcome::Succeeded]);
    let progress = called.events.iter().filter_map(|event| match event {
        Event::ToolProgressed { text, .. } => Some(&**text),
        _ => None,
    });
    // Words that come with the result may be passed over, but none comes twice or too late.
    let progress: Vec<_> = progress.collect();
    let all = ["1 of 4", "2 of 4", "3 of 4", "4 of 4"];
    assert!(!progress.is_empty() && progress.is_sorted_by(|a, b| a < b), "{progress:?}");
    assert!(progress.iter().all(|words| all.contains(words)), "{progress:?}");
    let started = called.events.iter().find_map(|event| match event {
        Event::ToolStarted { name, server, kind, .. } => Some((&**name, server.as_deref(), *kind)),
        _ => None,
    });
    assert_eq!(started, Some(("trigger-long-running-operation", Some("every"), ToolKind::Mcp)));
}

/// A server on a port of its own, ended with its group.
async fn http_server(program: &str) -> (agent::process::Group, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = agent::process::piped(program);
    command.arg("streamableHttp").env("PORT", port.to_string());
    let mut group = agent::process::Group::start(command).unwrap();
    let (output, errors) = (group.take_output().unwrap(), group.take_errors().unwrap());
    tokio::spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(_)) = lines.next_line().await {}
    });
    let mut lines = BufReader::new(errors).lines();
    let listening = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if line.contains("listening") {
                return;
            }
        }
        panic!("the server ended");
    };
    tokio::time::timeout(Duration::from_secs(30), listening).await.unwrap();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (group, format!("http://127.0.0.1:{port}/mcp"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_http_tells_how_far_it_has_come_and_gives_pictures() {
    let Some(everything) = program("node_modules/.bin/mcp-server-everything") else { return };
    let (_group, url) = http_server(&everything).await;
    let how = How::Http { url, headers: BTreeMap::new() };
    let arguments = r#"{"duration":1,"steps":2}"#;
    let called = call("far", how.clone(), "far__trigger-long-running-operation", arguments).await;
    let progress = called.events.iter().find_map(|event| match event {
        Event::ToolProgressed { text, .. } => Some(&**text),
        _ => None,
    });
    // The last word may come with the result, and is then of no interest.
    assert_eq!(progress, Some("1 of 2"));
    assert!(called.output().contains("Long running operation completed"), "{}", called.output());

    let called = call("far", how, "far__get-tiny-image", "{}").await;
    let pictures =
        called.events.iter().filter(|event| matches!(event, Event::ImageReceived { .. }));
    assert_eq!(pictures.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_files_and_one_of_the_time_answer() {
    let Some(files) = program("node_modules/.bin/mcp-server-filesystem") else { return };
    let pond = tempfile::tempdir().unwrap();
    std::fs::write(pond.path().join("carp.txt"), "7").unwrap();
    let how = command(files, &[pond.path().to_str().unwrap()]);
    let path: &'static str =
        Box::leak(serde_json::json!({ "path": pond.path() }).to_string().into_boxed_str());
    let called = call("files", how, "files__list_directory", path).await;
    assert_eq!(called.output(), "[FILE] carp.txt");

    let Some(time) = program(".venv/bin/mcp-server-time") else { return };
    let arguments = r#"{"timezone":"Europe/Warsaw"}"#;
    let called = call("clock", command(time, &[]), "clock__get_current_time", arguments).await;
    assert!(called.output().contains("Europe/Warsaw"), "{}", called.output());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_a_call_fails_the_call_and_is_started_again() {
    let Some(everything) = program("node_modules/.bin/mcp-server-everything") else { return };
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let mark = folder.path().join("pid");
    let script = format!("echo $$ > {}; exec {everything} stdio", mark.display());
    let how = command("/bin/sh".to_owned(), &["-c", &script]);
    let server = Arc::new(Server::new(
        "every".to_owned(),
        how,
        folder.path().to_owned(),
        agent::net::client(&[]).build().unwrap(),
    ));
    let setup = |provider| {
        let mut setup = demo(folder.path());
        setup.provider = provider;
        setup.toolbox.servers = vec![Arc::clone(&server)];
        setup.policies.0.insert("*".to_owned(), Policy::Allow);
        setup
    };
    let slow =
        scripted_call("every__trigger-long-running-operation", r#"{"duration":60,"steps":600}"#);
    let house = House::new(data.path(), setup(slow)).await;
    let run = house.send("go").await;
    house.until(run, |event| matches!(event, Event::ToolProgressed { .. })).await;
    let pid = std::fs::read_to_string(&mark).unwrap();
    std::process::Command::new("kill").args(["-9", pid.trim()]).status().unwrap();
    let events = house.whole(run).await;
    assert_eq!(outcomes(&events), [ToolOutcome::Failed]);
    assert_eq!(ending(&events).outcome, Outcome::Completed, "the model goes on");

    let again = scripted_call("every__echo", r#"{"message":"back"}"#);
    let house = house.restart(setup(again)).await;
    let events = house.ask("and now?").await;
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded]);
    assert_ne!(std::fs::read_to_string(&mark).unwrap(), pid, "another process");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_started_costs_only_its_own_tools() {
    let called = call("gone", command("/no/such/server".to_owned(), &[]), "list_files", "{}").await;
    assert_eq!(outcomes(&called.events), [ToolOutcome::Succeeded]);
    let told: Vec<_> = called
        .events
        .iter()
        .filter_map(|event| match event {
            Event::NoticeGiven { text, .. } => Some(&**text),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("the MCP server `gone` cannot be started"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_a_server_has_later_is_there_in_the_next_round() {
    let Some(python) = program(".venv/bin/python") else { return };
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let does = |tool| Reply { text: "", call: Some((tool, "{}")), input_tokens: 1 };
    let done = Reply { text: "It is green.", call: None, input_tokens: 1 };
    let (provider, asked) = saying(vec![does("tree__grow"), does("tree__leaf"), done]).await;
    let mut setup = demo(folder.path());
    setup.provider = provider;
    setup.policies.0.insert("tree__*".to_owned(), Policy::Allow);
    let script = servers().join("growing.py");
    let how = command(python, &[script.to_str().unwrap()]);
    let client = agent::net::client(&[]).build().unwrap();
    let server = Server::new("tree".to_owned(), how, folder.path().to_owned(), client);
    setup.toolbox.servers = vec![Arc::new(server)];
    let house = House::new(data.path(), setup).await;
    let events = house.ask("grow").await;
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded; 2], "{events:#?}");
    let asked = asked.lock().unwrap();
    let told = |n: usize| asked[n]["tools"].to_string().contains("tree__leaf");
    assert!(!told(0) && told(1));
}
