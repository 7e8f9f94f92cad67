//! A real browser, through Playwright's MCP server and the loop. `run.sh` beside this installs what it
//! needs and runs it.

#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../it/house.rs"]
mod house;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../it/scripted.rs"]
mod scripted;

use std::path::Path;
use std::sync::Arc;

use agent::mcp::{How, Server};
use agent::policy::Policy;
use engine::event::{Event, Image, Outcome, Owner, StepId, ToolKind, ToolOutcome};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use house::{House, demo, ending, folder, outcomes};
use scripted::{Reply, saying};

const PAGE: &str = "<!doctype html><title>Pond</title>\
    <button onclick=\"this.textContent = 'Ripples'\">Throw a stone</button>";

/// Serves the page on a port of its own.
async fn page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _asked = stream.read(&mut [0; 4096]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n";
            let _gone = stream.write_all((head.to_owned() + PAGE).as_bytes()).await;
        }
    });
    url
}

fn playwright() -> How {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/browser/node_modules/.bin/playwright-mcp");
    let arguments = "--executable-path /usr/bin/chromium --headless --no-sandbox --isolated";
    How::Command {
        program: program.to_string_lossy().into_owned(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        variables: [].into(),
    }
}

fn does(tool: &'static str, arguments: String) -> Reply {
    Reply { text: "", call: Some((tool, arguments.leak())), input_tokens: 1 }
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_what_is_done_in_a_browser_is_shown_as_actions_with_their_pictures() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let url = page().await;
    let (provider, asked) = saying(vec![
        does("web__browser_navigate", format!(r#"{{"url":"{url}"}}"#)),
        does("web__browser_click", r#"{"element":"the button","target":"e2"}"#.to_owned()),
        does("web__browser_take_screenshot", "{}".to_owned()),
        Reply { text: "There are ripples.", call: None, input_tokens: 1 },
    ])
    .await;
    let mut setup = demo(folder.path());
    setup.provider = provider;
    setup.policies.0.insert("web__*".to_owned(), Policy::Allow);
    let client = agent::net::client(&[]).build().unwrap();
    let server = Server::new("web".to_owned(), playwright(), folder.path().to_owned(), client);
    setup.toolbox.servers = vec![Arc::new(server)];
    let house = House::new(data.path(), setup).await;
    let events = house.ask("throw a stone").await;
    for event in &events {
        println!("{}", serde_json::to_string(event).unwrap().chars().take(300).collect::<String>());
    }
    assert_eq!(ending(&events).outcome, Outcome::Completed);
    assert_eq!(outcomes(&events), [ToolOutcome::Succeeded; 3], "{:#?}", asked.lock().unwrap()[0]);
    let kinds = events.iter().filter_map(|event| match event {
        Event::ToolStarted { name, kind, .. } => Some((&**name, *kind)),
        _ => None,
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["browser_navigate", "browser_click", "browser_take_screenshot"]
            .map(|name| (name, ToolKind::Action))
    );
    let shown = events.iter().find_map(|event| match event {
        Event::ImageReceived {
            owner: Owner::Step(step),
            image: Image::Kept { media_type, .. },
        } => Some((*step, media_type.to_string())),
        _ => None,
    });
    assert_eq!(shown, Some((StepId(2), "image/png".to_owned())));
    // The server keeps what the page looked like after each action.
    let pages = std::fs::read_dir(folder.path().join(".playwright-mcp")).unwrap();
    let pages = pages.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
    assert!(pages.into_iter().any(|page| page.contains("Ripples")), "the click had an effect");
}
