//! Queued messages run in the end, whatever they waited for.

use std::sync::Arc;
use std::time::Duration;

use millpond_log::agent::script::ScriptAgent;
use reqwest::Method;
use serde_json::json;

use super::support::{
    TEST_TIMEOUT, TestGateway, read_fixture, script_agent, start_gateway_in, status_and_json,
    streaming_body,
};

fn temp_folder() -> Arc<tempfile::TempDir> {
    Arc::new(tempfile::tempdir().unwrap())
}

async fn send_message(gateway: &TestGateway, session: &str, text: &str) -> String {
    let path = format!("/v1/sessions/{session}/messages");
    let (status, accepted) = status_and_json(gateway.post(&path, &json!({ "text": text }))).await;
    assert_eq!(status, 202, "{accepted}");
    accepted["run"].as_str().unwrap().to_owned()
}

/// Begins to ingest a run with the first bytes of a stream.
async fn begin_ingest(
    gateway: &TestGateway,
    session: &str,
) -> (tokio::sync::mpsc::Sender<Vec<u8>>, tokio::task::JoinHandle<u16>) {
    let (chunk_sender, body) = streaming_body();
    let path = format!("/v1/ingest/auto?session={session}");
    let request = gateway.request(Method::POST, &path).body(body);
    let ingest_task = tokio::spawn(async { request.send().await.unwrap().status().as_u16() });
    let mut events = gateway.follow_stream(session, "view=latest&format=patch", "").await;
    chunk_sender.send(read_fixture("anthropic/cut-off.sse")).await.unwrap();
    assert!(events.next_event().await.is_some(), "it is going");
    (chunk_sender, ingest_task)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_for_a_stream_begins_when_the_stream_ends() {
    let gateway = start_gateway_in(temp_folder(), Some(script_agent())).await;
    let session = gateway.new_session().await;
    let (chunk_sender, ingest_task) = begin_ingest(&gateway, &session).await;
    let run = send_message(&gateway, &session, "and now?").await;
    let (_, queue) = status_and_json(gateway.get(&format!("/v1/sessions/{session}/queue"))).await;
    assert_eq!(queue["queue"][0]["text"], "and now?");
    let (status, _) = status_and_json(gateway.get(&format!("/v1/runs/{run}"))).await;
    assert_eq!(status, 404, "it has not begun");
    drop(chunk_sender);
    assert_eq!(ingest_task.await.unwrap(), 200);
    assert_eq!(gateway.wait_until_ended(&session, &run).await["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_a_stopped_gateway_left_is_worked_off_by_the_next() {
    let gateway = start_gateway_in(temp_folder(), Some(script_agent())).await;
    let token = gateway.token.clone();
    let session = gateway.new_session().await;
    let (_pieces, ingest_task) = begin_ingest(&gateway, &session).await;
    let (first, second) = (
        send_message(&gateway, &session, "one").await,
        send_message(&gateway, &session, "two").await,
    );
    let folder = gateway.stop_and_wait().await;
    // Its run is interrupted; queued messages do not start while the gateway stops.
    assert_eq!(ingest_task.await.unwrap(), 200);
    let restarted = TestGateway { token, ..start_gateway_in(folder, Some(script_agent())).await };
    assert_eq!(restarted.wait_until_ended(&session, &second).await["outcome"], "completed");
    assert_eq!(restarted.wait_until_ended(&session, &first).await["outcome"], "completed");
    let prompts = restarted.read_log(&session).await;
    let prompts: Vec<&str> = prompts.lines().filter(|line| line.contains("prompt_rec")).collect();
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(prompts[0].contains("one") && prompts[1].contains("two"), "{prompts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_in_a_deleted_session_begins_only_when_it_is_brought_back() {
    let gateway = start_gateway_in(temp_folder(), Some(script_agent())).await;
    let session = gateway.new_session().await;
    let (_pieces, ingest_task) = begin_ingest(&gateway, &session).await;
    let run = send_message(&gateway, &session, "later").await;
    let path = format!("/v1/sessions/{session}");
    assert_eq!(status_and_json(gateway.request(Method::DELETE, &path)).await.0, 200);
    assert_eq!(ingest_task.await.unwrap(), 200, "its run is cancelled");
    let (_, queue) = status_and_json(gateway.get(&format!("{path}/queue"))).await;
    assert_eq!(queue["queue"][0]["text"], "later");
    let (status, _) =
        status_and_json(gateway.post(&format!("{path}/messages"), &json!({ "text": "x" }))).await;
    assert_eq!(status, 404, "nothing can be sent to it");
    assert_eq!(status_and_json(gateway.post(&format!("{path}/restore"), &json!({}))).await.0, 200);
    assert_eq!(gateway.wait_until_ended(&session, &run).await["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_message_is_removed_before_its_turn_is_told() {
    let bytes = read_fixture("anthropic/payload-per-line.jsonl");
    let endless_agent =
        ScriptAgent { bytes, chunk_bytes: 4096, pause_per_chunk: Duration::from_hours(1) };
    let gateway = start_gateway_in(temp_folder(), Some(Arc::new(endless_agent))).await;
    let send_chat = |text: &str| {
        let parts = json!([{ "type": "text", "text": text }]);
        let message = json!({ "id": text, "role": "user", "parts": parts });
        gateway.post("/api/chat", &json!({ "id": "pond", "messages": [message] })).send()
    };
    let _first = send_chat("and now?").await.unwrap();
    let second = send_chat("and then?").await.unwrap();
    let (_, sessions) = status_and_json(gateway.get("/v1/sessions")).await;
    let path = format!("/v1/sessions/{}/queue", sessions["sessions"][0]["id"].as_str().unwrap());
    let (_, queue) = status_and_json(gateway.get(&path)).await;
    assert_eq!(queue["queue"][0]["text"], "and then?");
    let change = json!({ "order": [], "removed": [queue["queue"][0]["id"]] });
    let (status, _) = status_and_json(gateway.request(Method::PUT, &path).json(&change)).await;
    assert_eq!(status, 200);
    let stream_text =
        tokio::time::timeout(TEST_TIMEOUT, second.text()).await.expect("it waits").unwrap();
    assert!(stream_text.contains("\"type\":\"error\""), "{stream_text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_can_be_written_anew() {
    let gateway = start_gateway_in(temp_folder(), Some(script_agent())).await;
    let session = gateway.new_session().await;
    let (chunk_sender, ingest_task) = begin_ingest(&gateway, &session).await;
    let (first, second) = (
        send_message(&gateway, &session, "one").await,
        send_message(&gateway, &session, "two").await,
    );
    let queue = format!("/v1/sessions/{session}/queue");
    let edit_queue = |edit| status_and_json(gateway.request(Method::PUT, &queue).json(&edit));
    let blank = json!({ "order": [second, first], "texts": { (first.clone()): " " } });
    assert_eq!(edit_queue(blank).await.0, 400);
    let (status, queue_body) =
        edit_queue(json!({ "order": [second, first], "texts": { (first.clone()): "uno" } })).await;
    assert_eq!(status, 200, "{queue_body}");
    let texts: Vec<_> =
        queue_body["queue"].as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert_eq!(texts, ["two", "uno"]);
    drop(chunk_sender);
    ingest_task.await.unwrap();
    gateway.wait_until_ended(&session, &first).await;
    assert!(gateway.read_log(&session).await.contains("uno"));
}
