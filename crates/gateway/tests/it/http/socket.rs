//! The stream of a view over a WebSocket: the same frames, the same resuming, as over HTTP alone.

use engine::view::ViewName;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::support::{Got, PATIENCE, Served, fixture, serve};

struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    lines: Vec<String>,
}

async fn open(served: &Served, query: &str) -> Result<Socket, Error> {
    let from = if query.contains("from=") { "" } else { "&from=start" };
    let url = format!("{}/v1/ws?{query}{from}", served.base.replace("http", "ws"));
    let mut request = url.into_client_request()?;
    let bearer = format!("Bearer {}", served.token).parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let (stream, _) = connect_async(request).await?;
    Ok(Socket { stream, lines: Vec::new() })
}

impl Socket {
    async fn next(&mut self) -> Got {
        while self.lines.is_empty() {
            let heard = tokio::time::timeout(PATIENCE, self.stream.next()).await;
            let message = heard.expect("nothing came").expect("the socket is open").unwrap();
            let Message::Text(text) = message else { continue };
            assert!(text.ends_with('\n'), "whole frames: {text}");
            self.lines = text.lines().rev().map(str::to_owned).collect();
        }
        let line: Value = serde_json::from_str(&self.lines.pop().unwrap()).unwrap();
        let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        Got { id: word("id"), event: word("event"), data: line["data"].to_string() }
    }

    async fn until(&mut self, last: &str) -> Vec<Got> {
        let mut all = Vec::new();
        while all.last().is_none_or(|got: &Got| got.id != last) {
            all.push(self.next().await);
        }
        all
    }
}

/// The same frame, however its data is spelt.
fn spelt_alike(all: Vec<Got>) -> Vec<Got> {
    let respelt = |got: Got| {
        let data: Value = serde_json::from_str(&got.data).unwrap();
        Got { data: data.to_string(), ..got }
    };
    all.into_iter().map(respelt).collect()
}

async fn session_of_one_run(served: &Served) -> String {
    let session = served.new_session().await;
    served.ingest(&session, fixture("claude-code/partial-messages.jsonl")).await;
    session
}

fn kinds() -> impl Iterator<Item = String> {
    let formats = ["format=own", "format=patch", "content=delta&thinking=show"];
    let views = ViewName::ALL.iter();
    views.flat_map(move |view| formats.map(|format| format!("view={}&{format}", view.as_str())))
}

/// All frames of a session that is at rest: those over HTTP, until the log's last event.
async fn all_of(served: &Served, session: &str, kind: &str) -> Vec<Got> {
    let ended = |got: &Got| got.data.contains("\"outcome\":");
    spelt_alike(served.follow(session, kind, "").await.until(ended).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_cursor_of_every_view_the_socket_goes_on_with_exactly_the_rest() {
    let served = serve().await;
    let session = session_of_one_run(&served).await;
    for kind in kinds() {
        let whole = all_of(&served, &session, &kind).await;
        let last = whole.last().unwrap().id.clone();
        let query = format!("session={session}&{kind}");
        let got = open(&served, &query).await.unwrap().until(&last).await;
        assert_eq!(got, whole, "{kind}");
        for (at, frame) in whole.iter().enumerate().rev().skip(1) {
            let query = format!("{query}&cursor={}", frame.id);
            let mut socket = open(&served, &query).await.unwrap();
            let hello = socket.next().await;
            assert_eq!((&*hello.event, &*hello.id), ("stream", ""));
            assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
            assert_eq!(socket.until(&last).await, whole[at + 1..], "{kind} after {}", frame.id);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_the_socket_cannot_go_on_from_gets_the_whole_page() {
    let served = serve().await;
    let session = session_of_one_run(&served).await;
    let mut ids = Vec::new();
    for kind in kinds() {
        ids.push(all_of(&served, &session, &kind).await[3].id.clone());
    }
    for (kind, own) in kinds().zip(&ids) {
        let foreign = ids.iter().filter(|id| *id != own).cloned();
        let future = format!("{}zzzz", own.split_at(1).0);
        let of_another_epoch = format!("{own}~7");
        let odd = ["nonsense", "%00", "%F0%9F%A6%86"].map(str::to_owned);
        for cursor in foreign.chain([future, of_another_epoch]).chain(odd) {
            let query = format!("session={session}&{kind}&cursor={cursor}");
            let mut socket = open(&served, &query).await.unwrap();
            let hello = socket.next().await;
            assert!(hello.data.contains("\"recovered\":false"), "{cursor}: {}", hello.data);
            let page = socket.next().await;
            assert_eq!(page.event, "snapshot", "{kind} {cursor}");
            let path = format!("/v1/sessions/{session}/snapshot?{kind}");
            let asked: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
            assert_eq!(asked["data"].to_string(), page.data, "{kind} {cursor}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_nothing_is_a_page_too() {
    let served = serve().await;
    let session = served.new_session().await;
    let path = format!("/v1/sessions/{session}/snapshot");
    let asked: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!(asked["data"]["picture"]["items"], serde_json::json!({}));
    let query = format!("session={session}&cursor=lz");
    let mut socket = open(&served, &query).await.unwrap();
    assert!(socket.next().await.data.contains("\"recovered\":false"));
    let page = socket.next().await;
    assert_eq!((page.event.as_str(), page.data), ("snapshot", asked["data"].to_string()));
    // Whoever comes back with its cursor misses nothing of what has come since.
    served.ingest(&session, fixture("claude-code/partial-messages.jsonl")).await;
    let whole = all_of(&served, &session, "view=latest").await;
    let last = whole.last().unwrap().id.clone();
    let query = format!("session={session}&cursor={}", page.id);
    let mut socket = open(&served, &query).await.unwrap();
    assert!(socket.next().await.data.contains("\"recovered\":true"));
    assert_eq!(socket.until(&last).await, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_refused_before_the_socket_opens() {
    let served = serve().await;
    let session = served.new_session().await;
    let other = "ses_00000000000000000000000000";
    for (query, status) in [
        (format!("session={other}"), 404),
        (format!("session={session}&view=none"), 400),
        (format!("session={session}&unknown=1"), 400),
        ("view=latest".to_owned(), 400),
    ] {
        match open(&served, &query).await {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), status, "{query}"),
            other => panic!("{query}: {}", other.is_ok()),
        }
    }
}
