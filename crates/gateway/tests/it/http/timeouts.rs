//! Slow clients are closed when their time is up, and do not affect others.

use std::sync::Arc;
use std::time::Duration;

use millpond_gateway::connection_limits::ConnectionLimits;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::raw_requests::read_response;
use super::support::{TEST_TIMEOUT, TestGateway, read_fixture, start_gateway_on_store};

/// Far shorter than `TEST_TIMEOUT`, and long enough for a request of one packet on a busy machine.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

async fn start_limited_gateway(bounds: ConnectionLimits) -> TestGateway {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let store = Arc::new(SqliteStore::open(folder.path(), Durability::Window).unwrap());
    start_gateway_on_store(store, folder, None, |gateway| gateway.connection_limits = bounds).await
}

/// Reads until the server closes; fails if it never does.
async fn read_until_closed(mut stream: TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    let read_result = tokio::time::timeout(TEST_TIMEOUT, stream.read_to_end(&mut received)).await;
    let _reset = read_result.expect("the connection stays open");
    received
}

/// Writes bytes slowly until the server stops reading. Returns how many were written.
async fn write_slowly(stream: &mut TcpStream, bytes: &[u8]) -> usize {
    for (index, byte) in bytes.iter().enumerate() {
        if stream.write_all(&[*byte]).await.is_err() {
            return index;
        }
        let mut peek = [0];
        let answered = tokio::time::timeout(SHORT_TIMEOUT / 10, stream.peek(&mut peek)).await;
        if answered.is_ok() {
            return index;
        }
    }
    bytes.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_asks_nothing_is_closed() {
    let gateway = start_limited_gateway(ConnectionLimits {
        headers_timeout: SHORT_TIMEOUT,
        ..ConnectionLimits::default()
    })
    .await;
    let host = format!("Host: {}\r\n", gateway.address());
    let full_request = format!("GET /healthz HTTP/1.1\r\n{host}\r\n");
    let mut open_streams = Vec::new();
    for (request_prefix, expected_count) in [
        ("", 0),
        ("P", 0),
        ("PRI * HTTP/2.0\r\n", 0),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0),
        ("GET /healthz HTTP/1.1\r\n", 0),
        (&*format!("GET /healthz HTTP/1.1\r\n{host}"), 0),
        (&*full_request, 1),
        (&*format!("{full_request}GET /hea"), 1),
    ] {
        let mut stream = gateway.connect().await;
        stream.write_all(request_prefix.as_bytes()).await.unwrap();
        open_streams.push((request_prefix.to_owned(), expected_count, stream));
    }
    for (request_prefix, expected_count, stream) in open_streams {
        let received = read_until_closed(stream).await;
        let ok_count = received.windows(12).filter(|window| window == b"HTTP/1.1 200").count();
        assert_eq!(ok_count, expected_count, "{request_prefix:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_and_bodies_that_drip_are_not_waited_for() {
    let bounds = ConnectionLimits {
        headers_timeout: SHORT_TIMEOUT,
        body_timeout: SHORT_TIMEOUT,
        ..ConnectionLimits::default()
    };
    let gateway = start_limited_gateway(bounds).await;
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 5000\r\n",
        gateway.address(),
        gateway.token
    );
    let slow_header = format!("X-Drip: {}", "x".repeat(5000));
    let mut stream = gateway.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    assert!(write_slowly(&mut stream, slow_header.as_bytes()).await < slow_header.len());
    read_until_closed(stream).await;

    let mut stream = gateway.connect().await;
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    let body = format!("{{\"title\":\"{}", "x".repeat(5000));
    assert!(write_slowly(&mut stream, body.as_bytes()).await < body.len());
    let answer = read_response(&mut stream).await;
    assert_eq!(answer.status, 408, "{}", answer.body);
    assert!(answer.body.contains("\"too_slow\""), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_followed_outlives_the_time_for_headers() {
    let gateway = start_limited_gateway(ConnectionLimits {
        headers_timeout: SHORT_TIMEOUT,
        ..ConnectionLimits::default()
    })
    .await;
    let session = gateway.new_session().await;
    let mut events = gateway.follow_stream(&session, "view=latest", "").await;
    // The idle connection is closed; the older stream stays open.
    read_until_closed(gateway.connect().await).await;
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    assert!(events.next_event().await.is_some());
}

/// Opens a stream and reads nothing of it.
async fn open_unread_stream(gateway: &TestGateway, target: &str, more: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(gateway.address()).await.unwrap();
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
        gateway.address(),
        gateway.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_takes_nothing_is_closed_and_makes_room() {
    let bounds = ConnectionLimits {
        connections_max: 3,
        write_timeout: SHORT_TIMEOUT,
        ..ConnectionLimits::default()
    };
    let gateway = start_limited_gateway(bounds).await;
    let session = gateway.new_session().await;
    let long_chunk = serde_json::json!({"object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "x".repeat(4 << 20)}}]});
    gateway.ingest(&session, format!("data: {long_chunk}\n\n").into_bytes()).await;
    // One connection belongs to the client; these are the other two.
    let stream = format!("/v1/sessions/{session}/stream?view=transcript");
    let events = open_unread_stream(&gateway, &stream, "").await;
    let socket = format!("/v1/ws?session={session}&view=transcript");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let messages = open_unread_stream(&gateway, &socket, upgrade).await;
    // These are accepted only after those two are closed.
    let mut late_streams = [gateway.connect().await, gateway.connect().await];
    for stream in &mut late_streams {
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", gateway.address());
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        let answered = tokio::time::timeout(TEST_TIMEOUT, stream.read_exact(&mut first)).await;
        answered.expect("no room was made").unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
    }
    drop((events, messages));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_too_many_waits_until_another_goes() {
    let gateway = start_limited_gateway(ConnectionLimits {
        connections_max: 2,
        ..ConnectionLimits::default()
    })
    .await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", gateway.address());
    let exchange = async |stream: &mut TcpStream| {
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut buffer = [0; 1024];
        let read_result = tokio::time::timeout(TEST_TIMEOUT, stream.read(&mut buffer)).await;
        assert!(buffer[..read_result.expect("no answer").unwrap()].starts_with(b"HTTP/1.1 200"));
    };
    let (mut first, mut second) = (gateway.connect().await, gateway.connect().await);
    exchange(&mut first).await;
    exchange(&mut second).await;
    let mut third = gateway.connect().await;
    third.write_all(head.as_bytes()).await.unwrap();
    // Open connections are served; the third is not.
    for _ in 0..100 {
        exchange(&mut first).await;
        exchange(&mut second).await;
    }
    let read_result = third.try_read(&mut [0; 1]).map_err(|error| error.kind());
    assert_eq!(read_result, Err(std::io::ErrorKind::WouldBlock));
    drop(first);
    let mut buffer = [0; 1024];
    let read_result = tokio::time::timeout(TEST_TIMEOUT, third.read(&mut buffer)).await;
    assert!(buffer[..read_result.expect("no answer").unwrap()].starts_with(b"HTTP/1.1 200"));
}
