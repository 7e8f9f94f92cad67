//! A real browser, through Playwright's MCP server and the agent loop. `run.sh` here installs what
//! it needs and runs it.

#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../it/scripted_provider.rs"]
mod scripted_provider;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../it/test_gateway.rs"]
mod test_gateway;

use std::path::Path;
use std::sync::Arc;

use millpond_agent::mcp::{McpServer, ServerTransport};
use millpond_agent::policy::ToolPolicy;
use millpond_engine::event::{Event, Image, ImageOwner, Outcome, StepId, ToolKind, ToolOutcome};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use scripted_provider::{ScriptedReply, serve_replies};
use test_gateway::{TestGateway, demo_config, ending, sample_folder, tool_outcomes};

const PAGE_HTML: &str = "<!doctype html><title>Pond</title>\
    <button onclick=\"this.textContent = 'Ripples'\">Throw a stone</button>";

/// Serves the page on a free port; returns its URL.
async fn serve_page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _asked = stream.read(&mut [0; 4096]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n";
            let _gone = stream.write_all((head.to_owned() + PAGE_HTML).as_bytes()).await;
        }
    });
    url
}

fn playwright_transport() -> ServerTransport {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/browser/node_modules/.bin/playwright-mcp");
    let arguments = "--executable-path /usr/bin/chromium --headless --no-sandbox --isolated";
    ServerTransport::Command {
        program: program.to_string_lossy().into_owned(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        environment: [].into(),
    }
}

fn reply_with_call(tool: &'static str, arguments: String) -> ScriptedReply {
    ScriptedReply { text: "", call: Some((tool, arguments.leak())), input_tokens: 1 }
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_what_is_done_in_a_browser_is_shown_as_actions_with_their_pictures() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let url = serve_page().await;
    let (provider, requests) = serve_replies(vec![
        reply_with_call("web__browser_navigate", format!(r#"{{"url":"{url}"}}"#)),
        reply_with_call(
            "web__browser_click",
            r#"{"element":"the button","target":"e2"}"#.to_owned(),
        ),
        reply_with_call("web__browser_take_screenshot", "{}".to_owned()),
        ScriptedReply { text: "There are ripples.", call: None, input_tokens: 1 },
    ])
    .await;
    let mut config = demo_config(folder.path());
    config.provider = provider;
    config.policies.0.insert("web__*".to_owned(), ToolPolicy::Allow);
    let client = millpond_agent::http_client::same_origin_client_builder(&[]).build().unwrap();
    let server =
        McpServer::new("web".to_owned(), playwright_transport(), folder.path().to_owned(), client);
    config.toolbox.servers = vec![Arc::new(server)];
    let gateway = TestGateway::new(data.path(), config).await;
    let events = gateway.send_and_wait_for_end("throw a stone").await;
    for event in &events {
        println!("{}", serde_json::to_string(event).unwrap().chars().take(300).collect::<String>());
    }
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(
        tool_outcomes(&events),
        [ToolOutcome::Succeeded; 3],
        "{:#?}",
        requests.lock().unwrap()[0]
    );
    let kinds = events.iter().filter_map(|event| match event {
        Event::ToolStarted { name, kind, .. } => Some((&**name, *kind)),
        _ => None,
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["browser_navigate", "browser_click", "browser_take_screenshot"]
            .map(|name| (name, ToolKind::Action))
    );
    let image = events.iter().find_map(|event| match event {
        Event::ImageReceived {
            owner: ImageOwner::Step(step),
            image: Image::Kept { media_type, .. },
        } => Some((*step, media_type.to_string())),
        _ => None,
    });
    assert_eq!(image, Some((StepId(2), "image/png".to_owned())));
    // The server saves a snapshot of the page after each action.
    let pages = std::fs::read_dir(folder.path().join(".playwright-mcp")).unwrap();
    let pages = pages.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
    assert!(pages.into_iter().any(|page| page.contains("Ripples")), "the click had an effect");
}
