//! Callers that take their time: each is let go when its time is up, and nobody else waits for it.

use std::sync::Arc;
use std::time::Duration;

use gateway::bounds::Bounds;
use gateway::store::sqlite::{Durability, SqliteStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::raw::read_answer;
use super::support::{PATIENCE, Served, fixture, serve_on};

/// Short enough not to wait for, and all different from `PATIENCE`.
const SOON: Duration = Duration::from_millis(300);

async fn serve_bounded(bounds: Bounds) -> Served {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let store = Arc::new(SqliteStore::open(folder.path(), Durability::Window).unwrap());
    serve_on(store, folder, None, |gateway| gateway.bounds = bounds).await
}

/// Reads until the other side closes; that it never does is a failure.
async fn closed(mut stream: TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await;
    let _reset = read.expect("the connection stays open");
    said
}

/// Writes a byte now and then for as long as somebody takes it. Says how many were taken.
async fn dribble(stream: &mut TcpStream, bytes: &[u8]) -> usize {
    for (at, byte) in bytes.iter().enumerate() {
        if stream.write_all(&[*byte]).await.is_err() {
            return at;
        }
        let mut peek = [0];
        let answered = tokio::time::timeout(SOON / 10, stream.peek(&mut peek)).await;
        if answered.is_ok() {
            return at;
        }
    }
    bytes.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_asks_nothing_is_closed() {
    let served = serve_bounded(Bounds { headers_within: SOON, ..Bounds::default() }).await;
    let host = format!("Host: {}\r\n", served.address());
    let whole = format!("GET /healthz HTTP/1.1\r\n{host}\r\n");
    for (beginning, answers) in [
        ("", 0),
        ("P", 0),
        ("PRI * HTTP/2.0\r\n", 0),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0),
        ("GET /healthz HTTP/1.1\r\n", 0),
        (&*format!("GET /healthz HTTP/1.1\r\n{host}"), 0),
        (&*whole, 1),
        (&*format!("{whole}GET /hea"), 1),
    ] {
        let mut stream = served.connect().await;
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let said = closed(stream).await;
        let good = said.windows(12).filter(|window| window == b"HTTP/1.1 200").count();
        assert_eq!(good, answers, "{beginning:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_and_bodies_that_drip_are_not_waited_for() {
    let bounds = Bounds { headers_within: SOON, body_within: SOON, ..Bounds::default() };
    let served = serve_bounded(bounds).await;
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 5000\r\n",
        served.address(),
        served.token
    );
    let drips = format!("X-Drip: {}", "x".repeat(5000));
    let mut stream = served.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    assert!(dribble(&mut stream, drips.as_bytes()).await < drips.len());
    closed(stream).await;

    let mut stream = served.connect().await;
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    let body = format!("{{\"title\":\"{}", "x".repeat(5000));
    assert!(dribble(&mut stream, body.as_bytes()).await < body.len());
    let answer = read_answer(&mut stream).await;
    assert_eq!(answer.status, 408, "{}", answer.body);
    assert!(answer.body.contains("\"too_slow\""), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_followed_outlives_the_time_for_headers() {
    let served = serve_bounded(Bounds { headers_within: SOON, ..Bounds::default() }).await;
    let session = served.new_session().await;
    let mut events = served.follow(&session, "view=latest", "").await;
    // Another connection is closed for its silence; the stream is older than that one.
    closed(served.connect().await).await;
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    assert!(events.next().await.is_some());
}

/// A connection that asks for a stream and takes nothing of it.
async fn ignore(served: &Served, target: &str, more: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(served.address()).await.unwrap();
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
        served.address(),
        served.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_takes_nothing_is_closed_and_makes_room() {
    let bounds = Bounds { connections: 3, write_stalled: SOON, ..Bounds::default() };
    let served = serve_bounded(bounds).await;
    let session = served.new_session().await;
    let long = serde_json::json!({"object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "x".repeat(4 << 20)}}]});
    served.ingest(&session, format!("data: {long}\n\n").into_bytes()).await;
    // One connection is the client's own; these are the other two.
    let stream = format!("/v1/sessions/{session}/stream?view=transcript");
    let events = ignore(&served, &stream, "").await;
    let socket = format!("/v1/ws?session={session}&view=transcript");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let messages = ignore(&served, &socket, upgrade).await;
    // There is room for these only when those two are gone.
    let mut late = [served.connect().await, served.connect().await];
    for stream in &mut late {
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", served.address());
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        let answered = tokio::time::timeout(PATIENCE, stream.read_exact(&mut first)).await;
        answered.expect("no room was made").unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
    }
    drop((events, messages));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_too_many_waits_until_another_goes() {
    let served = serve_bounded(Bounds { connections: 2, ..Bounds::default() }).await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", served.address());
    let ask = async |stream: &mut TcpStream| {
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut some = [0; 1024];
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut some)).await;
        assert!(some[..read.expect("no answer").unwrap()].starts_with(b"HTTP/1.1 200"));
    };
    let (mut first, mut second) = (served.connect().await, served.connect().await);
    ask(&mut first).await;
    ask(&mut second).await;
    let mut third = served.connect().await;
    third.write_all(head.as_bytes()).await.unwrap();
    // Those inside are served on, and the third is not.
    for _ in 0..100 {
        ask(&mut first).await;
        ask(&mut second).await;
    }
    let unanswered = third.try_read(&mut [0; 1]).map_err(|error| error.kind());
    assert_eq!(unanswered, Err(std::io::ErrorKind::WouldBlock));
    drop(first);
    let mut some = [0; 1024];
    let read = tokio::time::timeout(PATIENCE, third.read(&mut some)).await;
    assert!(some[..read.expect("no answer").unwrap()].starts_with(b"HTTP/1.1 200"));
}
