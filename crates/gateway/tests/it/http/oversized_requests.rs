//! Oversized requests are rejected or closed, and do not affect others.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::raw_requests::{read_response, request_bytes};
use super::support::{TEST_TIMEOUT, TestGateway, start_gateway};

fn authorised_headers(gateway: &TestGateway) -> Vec<String> {
    vec![
        format!("Host: {}", gateway.address()),
        format!("Authorization: Bearer {}", gateway.token),
        "Content-Type: application/json".to_owned(),
    ]
}

async fn assert_healthy(gateway: &TestGateway) {
    let answer = gateway.get("/v1/sessions").send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn giant_request_lines_and_headers_are_refused() {
    let gateway = start_gateway().await;
    let valid_headers = authorised_headers(&gateway);
    let long_value = "x".repeat(64 << 10);
    let headers_with = |more: Vec<String>| [valid_headers.clone(), more].concat();
    let many_headers = (0..5000).map(|n| format!("X-{n}: y")).collect();
    for (name, bytes) in [
        ("a path", request_bytes("GET", &format!("/v1/sessions/{long_value}"), &valid_headers, "")),
        (
            "a query",
            request_bytes("GET", &format!("/v1/sessions?query={long_value}"), &valid_headers, ""),
        ),
        ("a method", request_bytes(&long_value, "/v1/sessions", &valid_headers, "")),
        (
            "a header",
            request_bytes(
                "GET",
                "/v1/sessions",
                &headers_with(vec![format!("X-Long: {long_value}")]),
                "",
            ),
        ),
        (
            "a name",
            request_bytes(
                "GET",
                "/v1/sessions",
                &headers_with(vec![format!("{long_value}: x")]),
                "",
            ),
        ),
        (
            "a cursor",
            request_bytes(
                "GET",
                "/",
                &headers_with(vec![format!("Last-Event-ID: {long_value}")]),
                "",
            ),
        ),
        ("many headers", request_bytes("GET", "/v1/sessions", &headers_with(many_headers), "")),
        ("no end", "x".repeat(1 << 20).into_bytes()),
    ] {
        let status = gateway.exchange_raw(&bytes).await.status;
        assert!(matches!(status, 0 | 400 | 414 | 431), "{name}: {status}");
    }
    assert_healthy(&gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_say_two_lengths_are_refused() {
    let gateway = start_gateway().await;
    let valid_headers = authorised_headers(&gateway).join("\r\n");
    for lengths in [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: -1",
        "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: nonsense",
    ] {
        let bytes =
            format!("POST /v1/sessions HTTP/1.1\r\n{valid_headers}\r\n{lengths}\r\n\r\n{{}}");
        let answer = gateway.exchange_raw(bytes.as_bytes()).await;
        assert!(matches!(answer.status, 0 | 400), "{lengths}: {answer:?}");
    }
    let chunk = "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n{}";
    let bytes = format!("POST /v1/sessions HTTP/1.1\r\n{valid_headers}\r\n{chunk}");
    let answer = gateway.exchange_raw(bytes.as_bytes()).await;
    assert!(matches!(answer.status, 0 | 400), "a giant chunk: {answer:?}");
    assert_healthy(&gateway).await;
}

/// Every route that accepts JSON.
const JSON_ROUTES: &[(&str, &str)] = &[
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
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let depth = 100_000;
    let nested = [
        "[".repeat(depth),
        format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
        format!("{}1{}", "{\"text\":".repeat(depth), "}".repeat(depth)),
        format!("{{\"messages\":{}{}}}", "[".repeat(depth), "]".repeat(depth)),
    ];
    let large = format!("{{\"text\":\"{}\"}}", "x".repeat(2 << 20));
    for (method, path) in JSON_ROUTES {
        let path = path.replace("SESSION", &session);
        for body in &nested {
            let answer = gateway
                .exchange_raw(&request_bytes(method, &path, &authorised_headers(&gateway), body))
                .await;
            assert!((400..500).contains(&answer.status), "{method} {path}: {answer:?}");
        }
        let answer = gateway
            .exchange_raw(&request_bytes(method, &path, &authorised_headers(&gateway), &large))
            .await;
        // A route that does not read its body may close before it is sent.
        assert!(matches!(answer.status, 0 | 404 | 413), "{method} {path}: {}", answer.status);
    }
    assert_healthy(&gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_deeply_nested_json_is_taken_in_and_costs_nobody_anything() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let nested_frame = format!("data: {}\n\n", "{\"choices\":[".repeat(100_000));
    let valid_frame = "data: {\"choices\":[{\"delta\":{\"content\":\"still here\"}}]}\n\n";
    let path = format!("/v1/ingest/openai-chat?session={session}");
    let request =
        gateway.request(reqwest::Method::POST, &path).body(format!("{nested_frame}{valid_frame}"));
    let ingested: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(ingested["outcome"], "truncated");
    let log = gateway.get(&format!("/v1/sessions/{session}/log")).send().await.unwrap();
    let log = log.text().await.unwrap();
    assert!(log.contains("\"unrecognised\"") && log.contains("still here"));
}

#[tokio::test(flavor = "multi_thread")]
async fn giant_messages_over_a_websocket_close_it() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
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
        let mut stream = gateway.connect().await;
        let head = format!(
            "GET /v1/ws?session={session} HTTP/1.1\r\n{}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            authorised_headers(&gateway).join("\r\n")
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut response = vec![0; 12];
        stream.read_exact(&mut response).await.unwrap();
        assert_eq!(response, b"HTTP/1.1 101", "{name}");
        stream.write_all(&frame).await.unwrap();
        // The connection may be closed before all is sent.
        let _gone = stream.write_all(&vec![0; 1 << 20]).await;
        let read_result =
            tokio::time::timeout(TEST_TIMEOUT, stream.read_to_end(&mut response)).await;
        let _reset = read_result.unwrap_or_else(|_| panic!("{name}: the connection stays open"));
    }
    assert_healthy(&gateway).await;
}

/// More than the buffers of both sockets hold, so that closing early breaks the client's write.
const LONG_BODY_BYTES: usize = 16 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_only_after_its_long_body_still_learns_why_it_was_rejected() {
    let gateway = start_gateway().await;
    let host = format!("Host: {}", gateway.address());
    let token = format!("Authorization: Bearer {}", gateway.token);
    let wrong_token = format!("Authorization: Bearer mp_{}", "0".repeat(64));
    let body = "x".repeat(LONG_BODY_BYTES);
    for (headers, path, status) in [
        ([&*host, &*wrong_token], "/v1/ingest/auto", 401),
        (["Host: evil.example", &*token], "/v1/ingest/auto", 403),
        ([&*host, &*token], "/v1/ingest/klingon", 400),
        ([&*host, &*token], "/v1/ingest/auto?unknown=1", 400),
        ([&*host, &*token], "/v1/sessions", 413),
        ([&*host, &*token], "/v1/nothing", 404),
    ] {
        let mut headers: Vec<_> = headers.iter().map(|&header| header.to_owned()).collect();
        headers.push("Content-Type: application/json".to_owned());
        let mut stream = gateway.connect().await;
        let request = request_bytes("POST", path, &headers, &body);
        let sent = stream.write_all(&request);
        tokio::time::timeout(TEST_TIMEOUT, sent).await.expect("it is not read").unwrap();
        let response = read_response(&mut stream).await;
        assert_eq!(response.status, status, "{path}: {}", response.body);
    }
    assert_healthy(&gateway).await;
}
