//! Commands: sessions, runs, messages.

use std::sync::Arc;
use std::time::Duration;

use millpond_log::agent::script::ScriptAgent;
use reqwest::Method;
use serde_json::{Value, json};

use super::support::{TEST_TIMEOUT, TestGateway, read_fixture, start_gateway, start_gateway_in};

async fn status_and_json_body(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or(Value::Null))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_named_pinned_found_deleted_and_brought_back() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let path = format!("/v1/sessions/{session}");
    let change = json!({ "title": "Ponds and mills", "pinned": true });
    let (status, changed) =
        status_and_json_body(gateway.request(Method::PATCH, &path).json(&change)).await;
    assert_eq!((status, &changed["title"]), (200, &json!("Ponds and mills")));
    let (_, listed) = status_and_json_body(gateway.get("/v1/sessions?query=mills")).await;
    assert_eq!(listed["sessions"][0]["id"], json!(session));
    let (_, listed) = status_and_json_body(gateway.get("/v1/sessions?query=%22%20OR%20*")).await;
    assert_eq!(listed["sessions"], json!([]));
    let (status, _) = status_and_json_body(gateway.request(Method::DELETE, &path)).await;
    assert_eq!(status, 200);
    let (_, listed) = status_and_json_body(gateway.get("/v1/sessions")).await;
    assert_eq!(listed["sessions"], json!([]));
    let (status, _) =
        status_and_json_body(gateway.post(&format!("{path}/restore"), &json!({}))).await;
    assert_eq!(status, 200);
    let (_, listed) = status_and_json_body(gateway.get("/v1/sessions")).await;
    assert_eq!(listed["sessions"][0]["pinned"], json!(true));
    let (status, error_body) =
        status_and_json_body(gateway.request(Method::PATCH, &path).json(&json!({"titel": 1})))
            .await;
    assert!((400..500).contains(&status), "{status} {error_body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_begins_as_its_parent_was_and_ends_what_was_open() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let path = format!("/v1/sessions/{session}");
    let log = async |path: String| {
        gateway.get(&format!("{path}/log")).send().await.unwrap().text().await.unwrap()
    };
    let parent = log(path.clone()).await;
    let (status, branch) =
        status_and_json_body(gateway.post(&format!("{path}/branch"), &json!({"head": 4}))).await;
    assert_eq!(status, 201, "{branch}");
    let branch = branch["id"].as_str().unwrap();
    let lines = log(format!("/v1/sessions/{branch}")).await;
    let (lines, parent): (Vec<&str>, Vec<&str>) =
        (lines.lines().collect(), parent.lines().collect());
    assert_eq!(lines[..4], parent[..4]);
    assert!(lines.last().unwrap().contains("\"interrupted\""), "{lines:?}");
    let (status, _) =
        status_and_json_body(gateway.post(&format!("{path}/branch"), &json!({"head": 4000}))).await;
    assert_eq!(status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_ends_so_and_says_when() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let bytes = read_fixture("anthropic/cut-off.sse");
    let body = futures_util::stream::unfold(Some(bytes), |bytes| async {
        match bytes {
            Some(bytes) => Some((Ok::<_, std::io::Error>(bytes), None)),
            None => std::future::pending().await,
        }
    });
    let path = format!("/v1/ingest/auto?session={session}");
    let request = gateway.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
    let ingest_task = tokio::spawn(request.send());
    let mut events = gateway.follow_stream(&session, "view=latest&format=patch", "").await;
    assert!(events.next_event().await.is_some());
    let (_, session_body) =
        status_and_json_body(gateway.get(&format!("/v1/sessions/{session}"))).await;
    let run = session_body["run"].as_str().unwrap().to_owned();
    let busy = gateway.request(Method::POST, &path).body("x").send().await.unwrap();
    assert_eq!(busy.status(), 409, "one run at a time");
    let (status, ended) =
        status_and_json_body(gateway.post(&format!("/v1/runs/{run}/cancel"), &json!({}))).await;
    assert_eq!((status, &ended["outcome"]), (200, &json!("cancelled")));
    let ingested: Value = ingest_task.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(ingested["outcome"], "cancelled");
    let (status, retried) =
        status_and_json_body(gateway.post(&format!("/v1/runs/{run}/cancel"), &json!({}))).await;
    assert_eq!((status, retried), (200, ended), "cancelling an ended run returns it unchanged");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_stops_ends_runs_and_says_so_and_goes_on_after_a_start() {
    let gateway = start_gateway().await;
    let token = gateway.token.clone();
    let session = gateway.new_session().await;
    let body = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let path = format!("/v1/ingest/openai-chat?session={session}");
    let request = gateway.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
    let ingest_task = tokio::spawn(request.send());
    while gateway.gateway.scheduler.runs.is_empty() {
        tokio::task::yield_now().await;
    }
    let mut events = gateway.follow_stream(&session, "view=latest", "").await;
    let folder = gateway.stop_and_wait().await;
    let last = events.events_until(|event| event.event == "closed").await;
    assert!(last.last().unwrap().data.contains("stopping"));
    let _answer = ingest_task.await.unwrap();
    let restarted = TestGateway { token, ..start_gateway_in(folder, None).await };
    let (status, session_body) =
        status_and_json_body(restarted.get(&format!("/v1/sessions/{session}"))).await;
    assert_eq!((status, &session_body["run"]), (200, &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_worked_off_in_order_each_once() {
    let script = ScriptAgent {
        bytes: read_fixture("anthropic/payload-per-line.jsonl"),
        chunk_bytes: 64,
        pause_per_chunk: Duration::from_millis(1),
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let gateway = start_gateway_in(folder, Some(Arc::new(script))).await;
    let session = gateway.new_session().await;
    let path = format!("/v1/sessions/{session}");
    let mut runs = Vec::new();
    for text in ["first", "second", "third"] {
        let request = gateway.post(&format!("{path}/messages"), &json!({ "text": text }));
        let (status, accepted) =
            status_and_json_body(request.header("idempotency-key", text)).await;
        assert_eq!(status, 202);
        runs.push(accepted["run"].as_str().unwrap().to_owned());
    }
    let request = gateway.post(&format!("{path}/messages"), &json!({ "text": "second" }));
    let (_, second_response) =
        status_and_json_body(request.header("idempotency-key", "second")).await;
    assert_eq!(second_response["run"], json!(runs[1]), "the same key is the same message");
    let mut log_end = gateway.gateway.log.watch_log_end(session.parse().unwrap()).await.unwrap();
    loop {
        let (status, run) =
            status_and_json_body(gateway.get(&format!("/v1/runs/{}", runs[2]))).await;
        if status == 200 && run["outcome"] == "completed" {
            break;
        }
        let changed = tokio::time::timeout(TEST_TIMEOUT, log_end.changed()).await;
        changed.expect("the runs go on").unwrap();
    }
    let log = gateway.get(&format!("{path}/log")).send().await.unwrap().text().await.unwrap();
    let prompts: Vec<&str> = log.lines().filter(|line| line.contains("prompt_received")).collect();
    assert_eq!(prompts.len(), 3, "{prompts:?}");
    for (prompt, text) in prompts.iter().zip(["first", "second", "third"]) {
        assert!(prompt.contains(text), "{prompt}");
    }
}
