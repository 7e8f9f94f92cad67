//! Streams over a WebSocket: the same frames and the same resuming as over HTTP.

use futures_util::StreamExt;
use millpond_engine::view::ViewName;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::support::{SseEvent, TEST_TIMEOUT, TestGateway, read_fixture, start_gateway};

struct TestSocket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    lines: Vec<String>,
}

async fn open_socket(gateway: &TestGateway, query: &str) -> Result<TestSocket, Error> {
    let from = if query.contains("from=") { "" } else { "&from=start" };
    let url = format!("{}/v1/ws?{query}{from}", gateway.base.replace("http", "ws"));
    let mut request = url.into_client_request()?;
    let bearer = format!("Bearer {}", gateway.token).parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let (stream, _) = connect_async(request).await?;
    Ok(TestSocket { stream, lines: Vec::new() })
}

impl TestSocket {
    async fn next_frame(&mut self) -> SseEvent {
        while self.lines.is_empty() {
            let received = tokio::time::timeout(TEST_TIMEOUT, self.stream.next()).await;
            let message = received
                .expect("no message before the timeout")
                .expect("the socket is open")
                .unwrap();
            let Message::Text(text) = message else { continue };
            assert!(text.ends_with('\n'), "whole frames: {text}");
            self.lines = text.lines().rev().map(str::to_owned).collect();
        }
        let line: Value = serde_json::from_str(&self.lines.pop().unwrap()).unwrap();
        let string_field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        SseEvent {
            id: string_field("id"),
            event: string_field("event"),
            data: line["data"].to_string(),
        }
    }

    async fn frames_until(&mut self, last: &str) -> Vec<SseEvent> {
        let mut frames = Vec::new();
        while frames.last().is_none_or(|event: &SseEvent| event.id != last) {
            frames.push(self.next_frame().await);
        }
        frames
    }
}

/// Normalises frames, whatever their framing.
fn normalise_frames(frames: Vec<SseEvent>) -> Vec<SseEvent> {
    let normalise = |event: SseEvent| {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        SseEvent { data: data.to_string(), ..event }
    };
    frames.into_iter().map(normalise).collect()
}

async fn create_session_with_run(gateway: &TestGateway) -> String {
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("claude-code/partial-messages.jsonl")).await;
    session
}

fn stream_kinds() -> impl Iterator<Item = String> {
    let formats = ["format=own", "format=patch", "content=delta&thinking=show"];
    let views = ViewName::ALL.iter();
    views.flat_map(move |view| formats.map(|format| format!("view={}&{format}", view.as_str())))
}

/// All frames of a session without an active run.
async fn read_all_frames(gateway: &TestGateway, session: &str, kind: &str) -> Vec<SseEvent> {
    let ended = |event: &SseEvent| event.data.contains("\"outcome\":");
    normalise_frames(gateway.follow_stream(session, kind, "").await.events_until(ended).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_cursor_of_every_view_the_socket_goes_on_with_exactly_the_rest() {
    let gateway = start_gateway().await;
    let session = create_session_with_run(&gateway).await;
    for kind in stream_kinds() {
        let expected = read_all_frames(&gateway, &session, &kind).await;
        let last = expected.last().unwrap().id.clone();
        let query = format!("session={session}&{kind}");
        let received = open_socket(&gateway, &query).await.unwrap().frames_until(&last).await;
        assert_eq!(received, expected, "{kind}");
        for (index, frame) in expected.iter().enumerate().rev().skip(1) {
            let query = format!("{query}&cursor={}", frame.id);
            let mut socket = open_socket(&gateway, &query).await.unwrap();
            let resume_frame = socket.next_frame().await;
            assert_eq!((&*resume_frame.event, &*resume_frame.id), ("stream", ""));
            assert!(resume_frame.data.contains("\"recovered\":true"), "{}", resume_frame.data);
            assert_eq!(
                socket.frames_until(&last).await,
                expected[index + 1..],
                "{kind} after {}",
                frame.id
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_the_socket_cannot_go_on_from_gets_the_whole_page() {
    let gateway = start_gateway().await;
    let session = create_session_with_run(&gateway).await;
    let mut ids = Vec::new();
    for kind in stream_kinds() {
        ids.push(read_all_frames(&gateway, &session, &kind).await[3].id.clone());
    }
    for (kind, own_cursor) in stream_kinds().zip(&ids) {
        let foreign_cursors = ids.iter().filter(|id| *id != own_cursor).cloned();
        let future = format!("{}zzzz", own_cursor.split_at(1).0);
        let of_another_epoch = format!("{own_cursor}~7");
        let invalid_cursors = ["nonsense", "%00", "%F0%9F%A6%86"].map(str::to_owned);
        for cursor in foreign_cursors.chain([future, of_another_epoch]).chain(invalid_cursors) {
            let query = format!("session={session}&{kind}&cursor={cursor}");
            let mut socket = open_socket(&gateway, &query).await.unwrap();
            let resume_frame = socket.next_frame().await;
            assert!(
                resume_frame.data.contains("\"recovered\":false"),
                "{cursor}: {}",
                resume_frame.data
            );
            let page = socket.next_frame().await;
            assert_eq!(page.event, "snapshot", "{kind} {cursor}");
            let path = format!("/v1/sessions/{session}/snapshot?{kind}");
            let snapshot: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
            assert_eq!(snapshot["data"].to_string(), page.data, "{kind} {cursor}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_nothing_is_a_page_too() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let path = format!("/v1/sessions/{session}/snapshot");
    let snapshot: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!(snapshot["data"]["picture"]["items"], serde_json::json!({}));
    let query = format!("session={session}&cursor=lz");
    let mut socket = open_socket(&gateway, &query).await.unwrap();
    assert!(socket.next_frame().await.data.contains("\"recovered\":false"));
    let page = socket.next_frame().await;
    assert_eq!((page.event.as_str(), page.data), ("snapshot", snapshot["data"].to_string()));
    // A reader that resumes at its cursor gets all that came since.
    gateway.ingest(&session, read_fixture("claude-code/partial-messages.jsonl")).await;
    let expected = read_all_frames(&gateway, &session, "view=latest").await;
    let last = expected.last().unwrap().id.clone();
    let query = format!("session={session}&cursor={}", page.id);
    let mut socket = open_socket(&gateway, &query).await.unwrap();
    assert!(socket.next_frame().await.data.contains("\"recovered\":true"));
    assert_eq!(socket.frames_until(&last).await, expected);
}

/// Fields of a snapshot, in the order of their names.
fn fields(data: &str) -> Vec<String> {
    serde_json::from_str::<serde_json::Map<String, Value>>(data).unwrap().keys().cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn x9_a_snapshot_has_the_fields_of_the_version_that_was_asked_for() {
    let gateway = start_gateway().await;
    let session = create_session_with_run(&gateway).await;
    let mut frames = Vec::new();
    for (version, names) in [("", "picture run"), ("&protocol=2", "page protocol run")] {
        let kind = format!("view=bubbles&format=patch&from=snapshot{version}");
        let streamed = gateway.follow_stream(&session, &kind, "").await.next_event().await.unwrap();
        let path = format!("/v1/sessions/{session}/snapshot?view=bubbles&format=patch{version}");
        let asked: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
        let query = format!("session={session}&{kind}");
        let socket = open_socket(&gateway, &query).await.unwrap().next_frame().await;
        for data in [streamed.data, asked["data"].to_string(), socket.data] {
            assert_eq!(fields(&data).join(" "), names);
            let mut data: Value = serde_json::from_str(&data).unwrap();
            let (page, name) = (names.split(' ').next().unwrap(), "protocol");
            assert_eq!(data[name], if version.is_empty() { Value::Null } else { 2.into() });
            frames.push((socket.id.clone(), data[page].take()));
        }
        // The cursors are those of one kind of stream: either version goes on from either.
        for (id, _) in &frames {
            let query = format!("session={session}&{kind}&cursor={id}");
            let hello = open_socket(&gateway, &query).await.unwrap().next_frame().await;
            assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
        }
    }
    assert!(frames.iter().all(|frame| *frame == frames[0]), "the same page and cursor");
    for path in ["stream", "snapshot"] {
        let path = format!("/v1/sessions/{session}/{path}?protocol=3");
        assert_eq!(gateway.get(&path).send().await.unwrap().status(), 400);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_refused_before_the_socket_opens() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let missing_session = "ses_00000000000000000000000000";
    for (query, status) in [
        (format!("session={missing_session}"), 404),
        (format!("session={session}&view=none"), 400),
        (format!("session={session}&unknown=1"), 400),
        ("view=latest".to_owned(), 400),
    ] {
        match open_socket(&gateway, &query).await {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), status, "{query}"),
            other => panic!("{query}: {}", other.is_ok()),
        }
    }
}
