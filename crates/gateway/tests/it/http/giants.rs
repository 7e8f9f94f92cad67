//! Too much of everything: refused with a word or closed, and nobody else notices.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::raw::request;
use super::support::{PATIENCE, Served, serve};

fn headers(served: &Served) -> Vec<String> {
    vec![
        format!("Host: {}", served.address()),
        format!("Authorization: Bearer {}", served.token),
        "Content-Type: application/json".to_owned(),
    ]
}

async fn is_well(served: &Served) {
    let answer = served.get("/v1/sessions").send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn giant_request_lines_and_headers_are_refused() {
    let served = serve().await;
    let good = headers(&served);
    let long = "x".repeat(64 << 10);
    let with = |more: Vec<String>| [good.clone(), more].concat();
    let many = (0..5000).map(|n| format!("X-{n}: y")).collect();
    for (name, bytes) in [
        ("a path", request("GET", &format!("/v1/sessions/{long}"), &good, "")),
        ("a query", request("GET", &format!("/v1/sessions?query={long}"), &good, "")),
        ("a method", request(&long, "/v1/sessions", &good, "")),
        ("a header", request("GET", "/v1/sessions", &with(vec![format!("X-Long: {long}")]), "")),
        ("a name", request("GET", "/v1/sessions", &with(vec![format!("{long}: x")]), "")),
        ("a cursor", request("GET", "/", &with(vec![format!("Last-Event-ID: {long}")]), "")),
        ("many headers", request("GET", "/v1/sessions", &with(many), "")),
        ("no end", "x".repeat(1 << 20).into_bytes()),
    ] {
        let status = served.raw(&bytes).await.status;
        assert!(matches!(status, 0 | 400 | 414 | 431), "{name}: {status}");
    }
    is_well(&served).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_say_two_lengths_are_refused() {
    let served = serve().await;
    let good = headers(&served).join("\r\n");
    for lengths in [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: -1",
        "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: nonsense",
    ] {
        let bytes = format!("POST /v1/sessions HTTP/1.1\r\n{good}\r\n{lengths}\r\n\r\n{{}}");
        let answer = served.raw(bytes.as_bytes()).await;
        assert!(matches!(answer.status, 0 | 400), "{lengths}: {answer:?}");
    }
    let chunk = "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n{}";
    let bytes = format!("POST /v1/sessions HTTP/1.1\r\n{good}\r\n{chunk}");
    let answer = served.raw(bytes.as_bytes()).await;
    assert!(matches!(answer.status, 0 | 400), "a giant chunk: {answer:?}");
    is_well(&served).await;
}

/// Everything that takes JSON.
const TAKES_JSON: &[(&str, &str)] = &[
    ("POST", "/v1/sessions"),
    ("PATCH", "/v1/sessions/SESSION"),
    ("POST", "/v1/sessions/SESSION/branch"),
    ("POST", "/v1/sessions/SESSION/messages"),
    ("PUT", "/v1/sessions/SESSION/queue"),
    ("POST", "/v1/tokens"),
    ("POST", "/v1/runs/SESSION/asks/x/answer"),
    ("POST", "/api/chat"),
    ("POST", "/agui"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
];

#[tokio::test(flavor = "multi_thread")]
async fn giant_and_deeply_nested_bodies_are_refused_everywhere() {
    let served = serve().await;
    let session = served.new_session().await;
    let deep = 100_000;
    let nested = [
        "[".repeat(deep),
        format!("{}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("{}1{}", "{\"text\":".repeat(deep), "}".repeat(deep)),
        format!("{{\"messages\":{}{}}}", "[".repeat(deep), "]".repeat(deep)),
    ];
    let large = format!("{{\"text\":\"{}\"}}", "x".repeat(2 << 20));
    for (method, path) in TAKES_JSON {
        let path = path.replace("SESSION", &session);
        for body in &nested {
            let answer = served.raw(&request(method, &path, &headers(&served), body)).await;
            assert!((400..500).contains(&answer.status), "{method} {path}: {answer:?}");
        }
        let answer = served.raw(&request(method, &path, &headers(&served), &large)).await;
        // What does not read its body to the end may close before it is sent.
        assert!(matches!(answer.status, 0 | 404 | 413), "{method} {path}: {}", answer.status);
    }
    is_well(&served).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_deeply_nested_json_is_taken_in_and_costs_nobody_anything() {
    let served = serve().await;
    let session = served.new_session().await;
    let deep = format!("data: {}\n\n", "{\"choices\":[".repeat(100_000));
    let good = "data: {\"choices\":[{\"delta\":{\"content\":\"still here\"}}]}\n\n";
    let path = format!("/v1/ingest/openai-chat?session={session}");
    let request = served.request(reqwest::Method::POST, &path).body(format!("{deep}{good}"));
    let taken: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(taken["outcome"], "truncated");
    let log = served.get(&format!("/v1/sessions/{session}/log")).send().await.unwrap();
    let log = log.text().await.unwrap();
    assert!(log.contains("\"unrecognised\"") && log.contains("still here"));
}

#[tokio::test(flavor = "multi_thread")]
async fn giant_messages_over_a_websocket_close_it() {
    let served = serve().await;
    let session = served.new_session().await;
    let text = |fin: u8, len: u64| {
        let mut frame = vec![fin | 1, 0x80 | 127];
        frame.extend(len.to_be_bytes());
        frame.extend([0; 4]);
        frame
    };
    let small_first = [&[0x01, 0x80 | 1, 0, 0, 0, 0, b'x'][..], &text(0, 1 << 14)].concat();
    for (name, frame) in [
        ("one frame", text(0x80, 1 << 20)),
        ("a frame that claims all there is", text(0x80, u64::MAX >> 1)),
        ("a length that is none", text(0x80, u64::MAX)),
        ("a message in pieces", small_first),
        ("a frame that is not masked", vec![0x81, 1, b'x']),
        ("nonsense", vec![0xff; 64]),
    ] {
        let mut stream = served.connect().await;
        let head = format!(
            "GET /v1/ws?session={session} HTTP/1.1\r\n{}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            headers(&served).join("\r\n")
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = vec![0; 12];
        stream.read_exact(&mut said).await.unwrap();
        assert_eq!(said, b"HTTP/1.1 101", "{name}");
        stream.write_all(&frame).await.unwrap();
        // It may be gone before all of that is sent.
        let _gone = stream.write_all(&vec![0; 1 << 20]).await;
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await;
        let _reset = read.unwrap_or_else(|_| panic!("{name}: the connection stays open"));
    }
    is_well(&served).await;
}
