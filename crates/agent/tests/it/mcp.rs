//! Real MCP servers from npm and PyPI, called through the agent loop. `tests/servers/install.sh`
//! installs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use millpond_agent::mcp::{McpServer, ServerTransport};
use millpond_agent::policy::ToolPolicy;
use millpond_engine::event::{Event, Outcome, ToolKind, ToolOutcome};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::faults::provider_with_tool_call;
use crate::scripted_provider::{ScriptedReply, serve_replies};
use crate::test_gateway::{TestGateway, demo_config, ending, sample_folder, tool_outcomes};

fn servers_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers")
}

/// Path of an installed server; `None` if it is not installed.
fn installed_program(path: &str) -> Option<String> {
    let program = servers_folder().join(path);
    if program.exists() {
        return Some(program.to_string_lossy().into_owned());
    }
    println!("skipped: crates/agent/tests/servers/install.sh has not been run");
    None
}

fn stdio_transport(program: String, arguments: &[&str]) -> ServerTransport {
    let arguments = arguments.iter().map(|&text| text.to_owned()).collect();
    ServerTransport::Command { program, arguments, environment: BTreeMap::new() }
}

struct ToolCallRun {
    events: Vec<Event<'static>>,
    _folder: tempfile::TempDir,
}

impl ToolCallRun {
    fn output_text(&self) -> String {
        let output = self.events.iter().filter_map(|event| match event {
            Event::OutputAppended { text, .. } => Some(&**text),
            _ => None,
        });
        output.collect()
    }
}

/// Runs one call of a server's tool through the agent loop.
async fn call_server_tool(
    name: &str,
    transport: ServerTransport,
    tool: &'static str,
    arguments: &'static str,
) -> ToolCallRun {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let mut config = demo_config(folder.path());
    config.provider = provider_with_tool_call(tool, arguments);
    let server = McpServer::new(
        name.to_owned(),
        transport,
        folder.path().to_owned(),
        millpond_agent::http_client::same_origin_client_builder(&[]).build().unwrap(),
    );
    config.toolbox.servers = vec![Arc::new(server)];
    config.policies.0.insert("*".to_owned(), ToolPolicy::Allow);
    let gateway = TestGateway::new(data.path(), config).await;
    let events = gateway.send_and_wait_for_end("go").await;
    assert_eq!(ending(&events).outcome, Outcome::Completed, "{events:#?}");
    ToolCallRun { events, _folder: folder }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_stdio_tells_how_far_it_has_come() {
    let Some(server_program) = installed_program("node_modules/.bin/mcp-server-everything") else {
        return;
    };
    let call_run = call_server_tool(
        "every",
        stdio_transport(server_program, &["stdio"]),
        "every__trigger-long-running-operation",
        r#"{"duration":1,"steps":4}"#,
    )
    .await;
    assert_eq!(tool_outcomes(&call_run.events), [ToolOutcome::Succeeded]);
    let progress = call_run.events.iter().filter_map(|event| match event {
        Event::ToolProgressed { text, .. } => Some(&**text),
        _ => None,
    });
    // Progress sent together with the result may be dropped; none is duplicated or late.
    let progress: Vec<_> = progress.collect();
    let expected = ["1 of 4", "2 of 4", "3 of 4", "4 of 4"];
    assert!(!progress.is_empty() && progress.is_sorted_by(|a, b| a < b), "{progress:?}");
    assert!(progress.iter().all(|text| expected.contains(text)), "{progress:?}");
    let started = call_run.events.iter().find_map(|event| match event {
        Event::ToolStarted { name, server, kind, .. } => Some((&**name, server.as_deref(), *kind)),
        _ => None,
    });
    assert_eq!(started, Some(("trigger-long-running-operation", Some("every"), ToolKind::Mcp)));
}

/// A server on a port of its own, ended with its group.
async fn start_http_server(program: &str) -> (millpond_agent::process::ProcessGroup, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = millpond_agent::process::command_with_piped_output(program);
    command.arg("streamableHttp").env("PORT", port.to_string());
    let mut group = millpond_agent::process::ProcessGroup::spawn(command).unwrap();
    let (output, errors) = (group.take_stdout().unwrap(), group.take_stderr().unwrap());
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
    tokio::time::timeout(Duration::from_mins(2), listening).await.unwrap();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (group, format!("http://127.0.0.1:{port}/mcp"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_http_tells_how_far_it_has_come_and_gives_pictures() {
    let Some(server_program) = installed_program("node_modules/.bin/mcp-server-everything") else {
        return;
    };
    let (_group, url) = start_http_server(&server_program).await;
    let transport = ServerTransport::Http { url, headers: BTreeMap::new() };
    let arguments = r#"{"duration":1,"steps":2}"#;
    let call_run = call_server_tool(
        "far",
        transport.clone(),
        "far__trigger-long-running-operation",
        arguments,
    )
    .await;
    let progress = call_run.events.iter().find_map(|event| match event {
        Event::ToolProgressed { text, .. } => Some(&**text),
        _ => None,
    });
    // The last notification may arrive with the result, and is then dropped.
    assert_eq!(progress, Some("1 of 2"));
    assert!(
        call_run.output_text().contains("Long running operation completed"),
        "{}",
        call_run.output_text()
    );

    let call_run = call_server_tool("far", transport, "far__get-tiny-image", "{}").await;
    let images =
        call_run.events.iter().filter(|event| matches!(event, Event::ImageReceived { .. }));
    assert_eq!(images.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_files_and_one_of_the_time_answer() {
    let Some(files) = installed_program("node_modules/.bin/mcp-server-filesystem") else { return };
    let shared_folder = tempfile::tempdir().unwrap();
    std::fs::write(shared_folder.path().join("carp.txt"), "7").unwrap();
    let transport = stdio_transport(files, &[shared_folder.path().to_str().unwrap()]);
    let path: &'static str =
        Box::leak(serde_json::json!({ "path": shared_folder.path() }).to_string().into_boxed_str());
    let call_run = call_server_tool("files", transport, "files__list_directory", path).await;
    assert_eq!(call_run.output_text(), "[FILE] carp.txt");

    let Some(time) = installed_program(".venv/bin/mcp-server-time") else { return };
    let arguments = r#"{"timezone":"Europe/Warsaw"}"#;
    let call_run =
        call_server_tool("clock", stdio_transport(time, &[]), "clock__get_current_time", arguments)
            .await;
    assert!(call_run.output_text().contains("Europe/Warsaw"), "{}", call_run.output_text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_a_call_fails_the_call_and_is_started_again() {
    let Some(server_program) = installed_program("node_modules/.bin/mcp-server-everything") else {
        return;
    };
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let pid_file = folder.path().join("pid");
    let script = format!("echo $$ > {}; exec {server_program} stdio", pid_file.display());
    let transport = stdio_transport("/bin/sh".to_owned(), &["-c", &script]);
    let server = Arc::new(McpServer::new(
        "every".to_owned(),
        transport,
        folder.path().to_owned(),
        millpond_agent::http_client::same_origin_client_builder(&[]).build().unwrap(),
    ));
    let config_for = |provider| {
        let mut config = demo_config(folder.path());
        config.provider = provider;
        config.toolbox.servers = vec![Arc::clone(&server)];
        config.policies.0.insert("*".to_owned(), ToolPolicy::Allow);
        config
    };
    let slow_provider = provider_with_tool_call(
        "every__trigger-long-running-operation",
        r#"{"duration":60,"steps":600}"#,
    );
    let gateway = TestGateway::new(data.path(), config_for(slow_provider)).await;
    let run = gateway.send("go").await;
    gateway.events_until(run, |event| matches!(event, Event::ToolProgressed { .. })).await;
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let server = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
    let events = gateway.events_to_end(run).await;
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Failed]);
    assert_eq!(ending(&events).outcome, Outcome::Completed, "the model goes on");

    let echo_provider = provider_with_tool_call("every__echo", r#"{"message":"back"}"#);
    let gateway = gateway.restart(config_for(echo_provider)).await;
    let events = gateway.send_and_wait_for_end("and now?").await;
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Succeeded]);
    assert_ne!(std::fs::read_to_string(&pid_file).unwrap(), pid, "another process");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_started_costs_only_its_own_tools() {
    let call_run = call_server_tool(
        "gone",
        stdio_transport("/no/such/server".to_owned(), &[]),
        "list_files",
        "{}",
    )
    .await;
    assert_eq!(tool_outcomes(&call_run.events), [ToolOutcome::Succeeded]);
    let notices: Vec<_> = call_run
        .events
        .iter()
        .filter_map(|event| match event {
            Event::NoticeGiven { text, .. } => Some(&**text),
            _ => None,
        })
        .collect();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].starts_with("MCP server `gone` failed to start"), "{notices:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_a_server_has_later_is_there_in_the_next_round() {
    let Some(python) = installed_program(".venv/bin/python") else { return };
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let call_reply = |tool| ScriptedReply { text: "", call: Some((tool, "{}")), input_tokens: 1 };
    let last_reply = ScriptedReply { text: "It is green.", call: None, input_tokens: 1 };
    let (provider, requests) =
        serve_replies(vec![call_reply("tree__grow"), call_reply("tree__leaf"), last_reply]).await;
    let mut config = demo_config(folder.path());
    config.provider = provider;
    config.policies.0.insert("tree__*".to_owned(), ToolPolicy::Allow);
    let script = servers_folder().join("growing.py");
    let transport = stdio_transport(python, &[script.to_str().unwrap()]);
    let client = millpond_agent::http_client::same_origin_client_builder(&[]).build().unwrap();
    let server = McpServer::new("tree".to_owned(), transport, folder.path().to_owned(), client);
    config.toolbox.servers = vec![Arc::new(server)];
    let gateway = TestGateway::new(data.path(), config).await;
    let events = gateway.send_and_wait_for_end("grow").await;
    assert_eq!(tool_outcomes(&events), [ToolOutcome::Succeeded; 2], "{events:#?}");
    let requests = requests.lock().unwrap();
    let lists_leaf = |n: usize| requests[n]["tools"].to_string().contains("tree__leaf");
    assert!(!lists_leaf(0) && lists_leaf(1));
}
