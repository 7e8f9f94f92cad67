//! Messages that wait: whatever they waited for, their turn comes.

use std::sync::Arc;
use std::time::Duration;

use gateway::agent::script::Script;
use reqwest::Method;
use serde_json::json;

use super::support::{PATIENCE, Served, answer_to, body_in_pieces, fixture, script, serve_in};

fn folder() -> Arc<tempfile::TempDir> {
    Arc::new(tempfile::tempdir().unwrap())
}

async fn send(served: &Served, session: &str, text: &str) -> String {
    let path = format!("/v1/sessions/{session}/messages");
    let (status, accepted) = answer_to(served.post(&path, &json!({ "text": text }))).await;
    assert_eq!(status, 202, "{accepted}");
    accepted["run"].as_str().unwrap().to_owned()
}

/// A run that is being taken in, up to the first bytes of a stream.
async fn begin_taking(
    served: &Served,
    session: &str,
) -> (tokio::sync::mpsc::Sender<Vec<u8>>, tokio::task::JoinHandle<u16>) {
    let (pieces, body) = body_in_pieces();
    let path = format!("/v1/ingest/auto?session={session}");
    let request = served.request(Method::POST, &path).body(body);
    let taking = tokio::spawn(async { request.send().await.unwrap().status().as_u16() });
    let mut events = served.follow(session, "view=latest&format=patch", "").await;
    pieces.send(fixture("anthropic/cut-off.sse")).await.unwrap();
    assert!(events.next().await.is_some(), "it is going");
    (pieces, taking)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_for_a_stream_begins_when_the_stream_ends() {
    let served = serve_in(folder(), Some(script())).await;
    let session = served.new_session().await;
    let (pieces, taking) = begin_taking(&served, &session).await;
    let run = send(&served, &session, "and now?").await;
    let (_, waiting) = answer_to(served.get(&format!("/v1/sessions/{session}/queue"))).await;
    assert_eq!(waiting["queue"][0]["text"], "and now?");
    let (status, _) = answer_to(served.get(&format!("/v1/runs/{run}"))).await;
    assert_eq!(status, 404, "it has not begun");
    drop(pieces);
    assert_eq!(taking.await.unwrap(), 200);
    assert_eq!(served.ended(&session, &run).await["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_a_stopped_gateway_left_is_worked_off_by_the_next() {
    let served = serve_in(folder(), Some(script())).await;
    let token = served.token.clone();
    let session = served.new_session().await;
    let (_pieces, taking) = begin_taking(&served, &session).await;
    let (first, second) =
        (send(&served, &session, "one").await, send(&served, &session, "two").await);
    let folder = served.stop().await;
    // Its run is interrupted; what waits does not begin while it stops.
    assert_eq!(taking.await.unwrap(), 200);
    let again = Served { token, ..serve_in(folder, Some(script())).await };
    assert_eq!(again.ended(&session, &second).await["outcome"], "completed");
    assert_eq!(again.ended(&session, &first).await["outcome"], "completed");
    let prompts = again.log(&session).await;
    let prompts: Vec<&str> = prompts.lines().filter(|line| line.contains("prompt_rec")).collect();
    assert_eq!(prompts.len(), 2, "{prompts:?}");
    assert!(prompts[0].contains("one") && prompts[1].contains("two"), "{prompts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_in_a_deleted_session_begins_only_when_it_is_brought_back() {
    let served = serve_in(folder(), Some(script())).await;
    let session = served.new_session().await;
    let (_pieces, taking) = begin_taking(&served, &session).await;
    let run = send(&served, &session, "later").await;
    let path = format!("/v1/sessions/{session}");
    assert_eq!(answer_to(served.request(Method::DELETE, &path)).await.0, 200);
    assert_eq!(taking.await.unwrap(), 200, "its run is cancelled");
    let (_, waiting) = answer_to(served.get(&format!("{path}/queue"))).await;
    assert_eq!(waiting["queue"][0]["text"], "later");
    let (status, _) =
        answer_to(served.post(&format!("{path}/messages"), &json!({ "text": "x" }))).await;
    assert_eq!(status, 404, "nothing can be sent to it");
    assert_eq!(answer_to(served.post(&format!("{path}/restore"), &json!({}))).await.0, 200);
    assert_eq!(served.ended(&session, &run).await["outcome"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_message_is_removed_before_its_turn_is_told() {
    let bytes = fixture("anthropic/payload-per-line.jsonl");
    let forever = Script { bytes, piece: 4096, pause: Duration::from_hours(1) };
    let served = serve_in(folder(), Some(Arc::new(forever))).await;
    let ask = |text: &str| {
        let parts = json!([{ "type": "text", "text": text }]);
        let message = json!({ "id": text, "role": "user", "parts": parts });
        served.post("/api/chat", &json!({ "id": "pond", "messages": [message] })).send()
    };
    let _first = ask("and now?").await.unwrap();
    let second = ask("and then?").await.unwrap();
    let (_, sessions) = answer_to(served.get("/v1/sessions")).await;
    let path = format!("/v1/sessions/{}/queue", sessions["sessions"][0]["id"].as_str().unwrap());
    let (_, waiting) = answer_to(served.get(&path)).await;
    assert_eq!(waiting["queue"][0]["text"], "and then?");
    let change = json!({ "order": [], "removed": [waiting["queue"][0]["id"]] });
    let (status, _) = answer_to(served.request(Method::PUT, &path).json(&change)).await;
    assert_eq!(status, 200);
    let told = tokio::time::timeout(PATIENCE, second.text()).await.expect("it waits").unwrap();
    assert!(told.contains("\"type\":\"error\""), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_can_be_written_anew() {
    let served = serve_in(folder(), Some(script())).await;
    let session = served.new_session().await;
    let (pieces, taking) = begin_taking(&served, &session).await;
    let (one, two) = (send(&served, &session, "one").await, send(&served, &session, "two").await);
    let queue = format!("/v1/sessions/{session}/queue");
    let arrange = |wanted| answer_to(served.request(Method::PUT, &queue).json(&wanted));
    let blank = json!({ "order": [two, one], "texts": { (one.clone()): " " } });
    assert_eq!(arrange(blank).await.0, 400);
    let (status, waiting) =
        arrange(json!({ "order": [two, one], "texts": { (one.clone()): "uno" } })).await;
    assert_eq!(status, 200, "{waiting}");
    let texts: Vec<_> = waiting["queue"].as_array().unwrap().iter().map(|of| &of["text"]).collect();
    assert_eq!(texts, ["two", "uno"]);
    drop(pieces);
    taking.await.unwrap();
    served.ended(&session, &one).await;
    assert!(served.log(&session).await.contains("uno"));
}
