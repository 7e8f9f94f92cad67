//! Sessions, runs, messages: what callers do, and what is kept of it.

use std::sync::Arc;
use std::time::Duration;

use gateway::agent::script::Script;
use reqwest::Method;
use serde_json::{Value, json};

use super::support::{Served, fixture, serve, serve_in};

async fn json_of(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or(Value::Null))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_named_pinned_found_deleted_and_brought_back() {
    let served = serve().await;
    let session = served.new_session().await;
    let path = format!("/v1/sessions/{session}");
    let change = json!({ "title": "Ponds and mills", "pinned": true });
    let (status, changed) = json_of(served.request(Method::PATCH, &path).json(&change)).await;
    assert_eq!((status, &changed["title"]), (200, &json!("Ponds and mills")));
    let (_, found) = json_of(served.get("/v1/sessions?query=mills")).await;
    assert_eq!(found["sessions"][0]["id"], json!(session));
    let (_, found) = json_of(served.get("/v1/sessions?query=%22%20OR%20*")).await;
    assert_eq!(found["sessions"], json!([]));
    let (status, _) = json_of(served.request(Method::DELETE, &path)).await;
    assert_eq!(status, 200);
    let (_, found) = json_of(served.get("/v1/sessions")).await;
    assert_eq!(found["sessions"], json!([]));
    let (status, _) = json_of(served.post(&format!("{path}/restore"), &json!({}))).await;
    assert_eq!(status, 200);
    let (_, found) = json_of(served.get("/v1/sessions")).await;
    assert_eq!(found["sessions"][0]["pinned"], json!(true));
    let (status, told) =
        json_of(served.request(Method::PATCH, &path).json(&json!({"titel": 1}))).await;
    assert!((400..500).contains(&status), "{status} {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_begins_as_its_parent_was_and_ends_what_was_open() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let path = format!("/v1/sessions/{session}");
    let log = async |path: String| {
        served.get(&format!("{path}/log")).send().await.unwrap().text().await.unwrap()
    };
    let parent = log(path.clone()).await;
    let (status, branch) =
        json_of(served.post(&format!("{path}/branch"), &json!({"head": 4}))).await;
    assert_eq!(status, 201, "{branch}");
    let branch = branch["id"].as_str().unwrap();
    let lines = log(format!("/v1/sessions/{branch}")).await;
    let (lines, parent): (Vec<&str>, Vec<&str>) =
        (lines.lines().collect(), parent.lines().collect());
    assert_eq!(lines[..4], parent[..4]);
    assert!(lines.last().unwrap().contains("\"interrupted\""), "{lines:?}");
    let (status, _) = json_of(served.post(&format!("{path}/branch"), &json!({"head": 4000}))).await;
    assert_eq!(status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_ends_so_and_says_when() {
    let served = serve().await;
    let session = served.new_session().await;
    let bytes = fixture("anthropic/cut-off.sse");
    let body = futures_util::stream::unfold(Some(bytes), |bytes| async {
        match bytes {
            Some(bytes) => Some((Ok::<_, std::io::Error>(bytes), None)),
            None => std::future::pending().await,
        }
    });
    let path = format!("/v1/ingest/auto?session={session}");
    let request = served.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
    let taking = tokio::spawn(request.send());
    let mut events = served.follow(&session, "view=latest&format=patch", "").await;
    assert!(events.next().await.is_some());
    let (_, shown) = json_of(served.get(&format!("/v1/sessions/{session}"))).await;
    let run = shown["run"].as_str().unwrap().to_owned();
    let busy = served.request(Method::POST, &path).body("x").send().await.unwrap();
    assert_eq!(busy.status(), 409, "one run at a time");
    let (status, ended) = json_of(served.post(&format!("/v1/runs/{run}/cancel"), &json!({}))).await;
    assert_eq!((status, &ended["outcome"]), (200, &json!("cancelled")));
    let taken: Value = taking.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(taken["outcome"], "cancelled");
    let (status, again) = json_of(served.post(&format!("/v1/runs/{run}/cancel"), &json!({}))).await;
    assert_eq!((status, again), (200, ended), "one that has ended is told as it is");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_stops_ends_runs_and_says_so_and_goes_on_after_a_start() {
    let served = serve().await;
    let token = served.token.clone();
    let session = served.new_session().await;
    let body = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let path = format!("/v1/ingest/openai-chat?session={session}");
    let request = served.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
    let taking = tokio::spawn(request.send());
    while served.gateway.runs.is_empty() {
        tokio::task::yield_now().await;
    }
    let mut events = served.follow(&session, "view=latest", "").await;
    let folder = served.stop().await;
    let last = events.until(|got| got.event == "closed").await;
    assert!(last.last().unwrap().data.contains("stopping"));
    let _answer = taking.await.unwrap();
    let again = Served { token, ..serve_in(folder, None).await };
    let (status, shown) = json_of(again.get(&format!("/v1/sessions/{session}"))).await;
    assert_eq!((status, &shown["run"]), (200, &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_worked_off_in_order_each_once() {
    let script = Script {
        bytes: fixture("anthropic/payload-per-line.jsonl"),
        piece: 64,
        pause: Duration::from_millis(1),
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let served = serve_in(folder, Some(Arc::new(script))).await;
    let session = served.new_session().await;
    let path = format!("/v1/sessions/{session}");
    let mut runs = Vec::new();
    for text in ["first", "second", "third"] {
        let request = served.post(&format!("{path}/messages"), &json!({ "text": text }));
        let (status, accepted) = json_of(request.header("idempotency-key", text)).await;
        assert_eq!(status, 202);
        runs.push(accepted["run"].as_str().unwrap().to_owned());
    }
    let request = served.post(&format!("{path}/messages"), &json!({ "text": "second" }));
    let (_, again) = json_of(request.header("idempotency-key", "second")).await;
    assert_eq!(again["run"], json!(runs[1]), "the same key is the same message");
    let mut end = served.gateway.log.follow(session.parse().unwrap()).await.unwrap();
    loop {
        let (status, run) = json_of(served.get(&format!("/v1/runs/{}", runs[2]))).await;
        if status == 200 && run["outcome"] == "completed" {
            break;
        }
        let changed = tokio::time::timeout(Duration::from_secs(20), end.changed()).await;
        changed.expect("the runs go on").unwrap();
    }
    let log = served.get(&format!("{path}/log")).send().await.unwrap().text().await.unwrap();
    let prompts: Vec<&str> = log.lines().filter(|line| line.contains("prompt_received")).collect();
    assert_eq!(prompts.len(), 3, "{prompts:?}");
    for (prompt, text) in prompts.iter().zip(["first", "second", "third"]) {
        assert!(prompt.contains(text), "{prompt}");
    }
}
