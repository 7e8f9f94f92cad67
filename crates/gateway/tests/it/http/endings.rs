//! How streams and runs end that do not end by themselves.

use std::sync::Arc;

use gateway::gateway::Gateway;
use gateway::store::Store;
use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::support::{answer_to, body_in_pieces, fixture, serve, serve_with};

#[tokio::test(flavor = "multi_thread")]
async fn the_streams_of_a_deleted_session_end_with_a_word() {
    let served = serve().await;
    let (session, other) = (served.new_session().await, served.new_session().await);
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let mut events = served.follow(&session, "view=latest", "").await;
    let mut others = served.follow(&other, "view=latest", "").await;
    assert!(events.next().await.is_some());
    let path = format!("/v1/sessions/{session}");
    assert_eq!(answer_to(served.request(Method::DELETE, &path)).await.0, 200);
    let last = events.until(|got| got.event == "closed").await;
    assert_eq!(last.last().unwrap().data, "{\"reason\":\"deleted\"}");
    assert!(events.next().await.is_none(), "and nothing after it");
    served.ingest(&other, fixture("anthropic/cut-off.sse")).await;
    assert_ne!(others.next().await.unwrap().event, "closed", "those of others go on");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_streams_of_an_erased_session_end_with_a_word() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let mut events = served.follow(&session, "view=latest", "").await;
    assert!(events.next().await.is_some());
    let id = session.parse().unwrap();
    served.gateway.log.blocking(move |store: &dyn Store| store.erase(id)).await.unwrap();
    served.gateway.erased(id);
    let last = events.until(|got| got.event == "closed").await;
    assert_eq!(last.last().unwrap().data, "{\"reason\":\"deleted\"}");
    assert!(events.next().await.is_none(), "and nothing after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_too_long_fails_its_run_and_says_how_to_go_on() {
    let bytes = fixture("anthropic/cut-off.sse");
    let max = bytes.len();
    let small = move |gateway: &mut Gateway| gateway.ingest_bytes_max = max;
    let served = serve_with(Arc::new(tempfile::tempdir().unwrap()), None, small).await;
    let session = served.new_session().await;
    let taken = served.ingest(&session, bytes.clone()).await;
    assert_eq!(taken["outcome"], "truncated", "as many bytes as are allowed");
    let (pieces, body) = body_in_pieces();
    let path = format!("/v1/ingest/auto?session={session}");
    let request = served.request(Method::POST, &path).body(body);
    let answer = tokio::spawn(answer_to(request));
    pieces.send(bytes).await.unwrap();
    pieces.send(vec![b'\n']).await.unwrap();
    let (status, told) = answer.await.unwrap();
    assert_eq!((status, &told["error"]["code"]), (413, &json!("too_large")), "{told}");
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains(&session) && message.contains("another stream"), "{message}");
    let log = served.log(&session).await;
    let last = log.lines().last().unwrap();
    assert!(last.contains("\"failed\"") && last.contains("\"limit\""), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_whose_connection_breaks_ends_as_truncated() {
    let served = serve().await;
    let session = served.new_session().await;
    let address = served.base.trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let bytes = fixture("anthropic/cut-off.sse");
    let head = format!(
        "POST /v1/ingest/auto?session={session} HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        served.token,
        bytes.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut events = served.follow(&session, "view=latest&format=patch", "").await;
    assert!(events.next().await.is_some(), "it is going");
    drop(stream);
    let last = events.until(|got| got.data.starts_with("{\"ended\"")).await;
    assert!(last.last().unwrap().data.contains("truncated"), "{:?}", last.last());
    assert_eq!(served.ingest(&session, bytes).await["outcome"], "truncated", "it is free again");
}
