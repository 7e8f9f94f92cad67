//! Streams and runs that are ended from outside.

use std::sync::Arc;

use millpond_engine::event::{Ending, Event, Outcome, Reply, TextMode};
use millpond_gateway::gateway::Gateway;
use millpond_log::store::Store;
use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::support::{
    read_fixture, start_gateway, start_tuned_gateway, status_and_json, streaming_body,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_streams_of_a_deleted_session_end_with_a_word() {
    let gateway = start_gateway().await;
    let (session, other) = (gateway.new_session().await, gateway.new_session().await);
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let mut events = gateway.follow_stream(&session, "view=latest", "").await;
    let mut others = gateway.follow_stream(&other, "view=latest", "").await;
    assert!(events.next_event().await.is_some());
    let path = format!("/v1/sessions/{session}");
    assert_eq!(status_and_json(gateway.request(Method::DELETE, &path)).await.0, 200);
    let last = events.events_until(|event| event.event == "closed").await;
    assert_eq!(last.last().unwrap().data, "{\"reason\":\"deleted\"}");
    assert!(events.next_event().await.is_none(), "and nothing after it");
    gateway.ingest(&other, read_fixture("anthropic/cut-off.sse")).await;
    assert_ne!(
        others.next_event().await.unwrap().event,
        "closed",
        "other sessions' streams stay open"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_streams_of_an_erased_session_end_with_a_word() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let mut events = gateway.follow_stream(&session, "view=latest", "").await;
    assert!(events.next_event().await.is_some());
    let id = session.parse().unwrap();
    gateway.gateway.log.call_store(move |store: &dyn Store| store.erase_session(id)).await.unwrap();
    gateway.gateway.end_streams_and_announce_erased_session(id);
    let last = events.events_until(|event| event.event == "closed").await;
    assert_eq!(last.last().unwrap().data, "{\"reason\":\"deleted\"}");
    assert!(events.next_event().await.is_none(), "and nothing after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_too_long_fails_its_run_and_says_how_to_go_on() {
    let bytes = read_fixture("anthropic/cut-off.sse");
    let max = bytes.len();
    let set_limit = move |gateway: &mut Gateway| gateway.ingest_bytes_max = max;
    let gateway =
        start_tuned_gateway(Arc::new(tempfile::tempdir().unwrap()), None, set_limit).await;
    let session = gateway.new_session().await;
    let ingested = gateway.ingest(&session, bytes.clone()).await;
    assert_eq!(ingested["outcome"], "truncated", "as many bytes as are allowed");
    let (chunk_sender, body) = streaming_body();
    let path = format!("/v1/ingest/auto?session={session}");
    let request = gateway.request(Method::POST, &path).body(body);
    let answer = tokio::spawn(status_and_json(request));
    chunk_sender.send(bytes).await.unwrap();
    chunk_sender.send(vec![b'\n']).await.unwrap();
    let (status, error_body) = answer.await.unwrap();
    assert_eq!((status, &error_body["error"]["code"]), (413, &json!("too_large")), "{error_body}");
    let message = error_body["error"]["message"].as_str().unwrap();
    assert!(message.contains(&session) && message.contains("another stream"), "{message}");
    let log = gateway.read_log(&session).await;
    let last = log.lines().last().unwrap();
    assert!(last.contains("\"failed\"") && last.contains("\"limit\""), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_whose_connection_breaks_ends_as_truncated() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let address = gateway.base.trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let bytes = read_fixture("anthropic/cut-off.sse");
    let head = format!(
        "POST /v1/ingest/auto?session={session} HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        gateway.token,
        bytes.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut events = gateway.follow_stream(&session, "view=latest&format=patch", "").await;
    assert!(events.next_event().await.is_some(), "it is going");
    drop(stream);
    let last = events.events_until(|event| event.data.starts_with("{\"ended\"")).await;
    assert!(last.last().unwrap().data.contains("truncated"), "{:?}", last.last());
    assert_eq!(gateway.ingest(&session, bytes).await["outcome"], "truncated", "it is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_follows_the_ending_of_a_run_waits_until_its_session_is_free() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let (id, run) = (session.parse().unwrap(), gateway.gateway.generate_run_id().unwrap());
    let ticket = gateway.gateway.scheduler.runs.try_register_run(id, run).unwrap();
    let mut appender = gateway.gateway.log.build_run_appender(id, run);
    let start =
        Event::RunStarted { version: 1, dialect: "auto".into(), mode: TextMode::Incremental };
    appender.append(vec![(None, start), (None, interrupted_ending())]).await.unwrap();
    let ingest = gateway.ingest(&session, read_fixture("anthropic/cut-off.sse"));
    let release = async {
        // Time for the stream to be refused.
        for _ in 0..20 {
            assert_eq!(gateway.get("/v1/sessions").send().await.unwrap().status(), 200);
        }
        drop(ticket);
    };
    assert_eq!(tokio::join!(ingest, release).0["outcome"], "truncated");
}

fn interrupted_ending() -> Event<'static> {
    let ending = Ending {
        outcome: Outcome::Interrupted,
        stop: None,
        reason: None,
        detail: None,
        reply: Reply::None,
        message: None,
        incomplete: true,
    };
    Event::RunEnded { ending }
}
