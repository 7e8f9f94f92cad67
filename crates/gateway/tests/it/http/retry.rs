//! Retrying a message, and usage totals.

use std::sync::Arc;

use millpond_gateway::access::{OriginPolicy, Scheme};
use millpond_gateway::gateway::Gateway;
use millpond_log::store::TokenUsage;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use reqwest::Method;
use serde_json::{Value, json};

use super::support::{
    TestGateway, read_fixture, script_agent, start_gateway, start_gateway_in, status_and_json,
    streaming_body,
};

async fn retry_run(gateway: &TestGateway, run: &str, key: &str) -> (u16, Value) {
    let request = gateway.post(&format!("/v1/runs/{run}/retry"), &json!({}));
    status_and_json(request.header("idempotency-key", key)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_tried_again_with_the_same_message_as_a_run_of_its_own() {
    let gateway =
        start_gateway_in(Arc::new(tempfile::tempdir().unwrap()), Some(script_agent())).await;
    let session = gateway.new_session().await;
    let path = format!("/v1/sessions/{session}/messages");
    let (_, first_response) =
        status_and_json(gateway.post(&path, &json!({ "text": "what is it?" }))).await;
    let first_run = first_response["run"].as_str().unwrap().to_owned();
    gateway.wait_until_ended(&session, &first_run).await;
    let (status, second) = retry_run(&gateway, &first_run, "a").await;
    assert_eq!(status, 202, "{second}");
    let second = second["run"].as_str().unwrap().to_owned();
    assert_ne!(first_run, second);
    assert_eq!(retry_run(&gateway, &first_run, "a").await.1["run"], json!(second), "the same key");
    assert_eq!(gateway.wait_until_ended(&session, &second).await["outcome"], "completed");
    let log = gateway.read_log(&session).await;
    let prompts: Vec<&str> = log.lines().filter(|line| line.contains("what is it?")).collect();
    assert!(prompts.len() == 2 && prompts[1].contains(&second), "{prompts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_taken_in_or_is_going_is_not_tried_again() {
    let gateway =
        start_gateway_in(Arc::new(tempfile::tempdir().unwrap()), Some(script_agent())).await;
    let session = gateway.new_session().await;
    let ingested =
        gateway.ingest(&session, read_fixture("claude-code/partial-messages.jsonl")).await;
    let (status, error_body) = retry_run(&gateway, ingested["run"].as_str().unwrap(), "a").await;
    assert_eq!((status, &error_body["error"]["code"]), (409, &json!("not_a_message")));
    let (chunk_sender, body) = streaming_body();
    let path = format!("/v1/ingest/auto?session={session}");
    let ingest_task =
        tokio::spawn(status_and_json(gateway.request(Method::POST, &path).body(body)));
    let mut events = gateway.follow_stream(&session, "view=latest&format=patch", "").await;
    chunk_sender.send(read_fixture("anthropic/cut-off.sse")).await.unwrap();
    events.events_until(|event| event.data.contains("\"writing\"")).await;
    let (_, session_body) = status_and_json(gateway.get(&format!("/v1/sessions/{session}"))).await;
    let (status, error_body) =
        retry_run(&gateway, session_body["run"].as_str().unwrap(), "b").await;
    assert_eq!((status, &error_body["error"]["code"]), (409, &json!("run_going")));
    drop(chunk_sender);
    ingest_task.await.unwrap();
    let (status, _) = retry_run(&gateway, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "c").await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_used_adds_up_for_a_session_and_for_its_owner() {
    let gateway = start_gateway().await;
    let (first_session, second_session) =
        (gateway.new_session().await, gateway.new_session().await);
    let bytes = read_fixture("claude-code/partial-messages.jsonl");
    gateway.ingest(&first_session, bytes.clone()).await;
    let usage =
        async |query: &str| status_and_json(gateway.get(&format!("/v1/usage{query}"))).await.1;
    let single = usage(&format!("?session={first_session}")).await;
    let number = |usage: &Value, name: &str| usage[name].as_u64().unwrap();
    for name in ["tokens_in", "tokens_out", "cost_micro_usd"] {
        assert!(0 < number(&single, name), "{single}");
    }
    gateway.ingest(&first_session, bytes.clone()).await;
    gateway.ingest(&second_session, bytes).await;
    assert_eq!(usage(&format!("?session={second_session}")).await, single);
    for (query, expected_count) in [(format!("?session={first_session}"), 2), (String::new(), 3)] {
        let sum = usage(&query).await;
        for name in ["tokens_in", "tokens_out", "cost_micro_usd"] {
            assert_eq!(
                number(&sum, name),
                expected_count * number(&single, name),
                "{query} {name}"
            );
        }
    }
    let (status, _) =
        status_and_json(gateway.get("/v1/usage?session=01ARZ3NDEKTSV4RRFFQ69G5FAV")).await;
    assert_eq!(status, 404);
}

/// Usage reported before a crash counts, although the run never ended.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_interrupted_run_used_is_counted_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let open_gateway = async || {
        let store = Arc::new(SqliteStore::open(folder.path(), Durability::Window).unwrap());
        let allowed = OriginPolicy::new(1, Scheme::Http, &[], &[]);
        Gateway::open_and_recover_runs(store, allowed, Scheme::Http, None).await.unwrap()
    };
    let owner = millpond_log::id::OwnerId::new(1, [1; 10]);
    let used = async |gateway: &Gateway| {
        gateway
            .log
            .call_store(move |store| store.usage_of_owner_or_session(owner, None))
            .await
            .unwrap()
    };
    let gateway = open_gateway().await;
    let session = gateway.create_session_and_notify(owner, "").await.unwrap();
    let mut run = gateway.log.build_run_appender(session.id, gateway.generate_run_id().unwrap());
    let usage = millpond_engine::event::Usage {
        input_tokens: Some(7),
        ..millpond_engine::event::Usage::default()
    };
    let started = millpond_engine::event::Event::RunStarted {
        version: 1,
        dialect: "anthropic".into(),
        mode: millpond_engine::event::TextMode::Incremental,
    };
    let scope = millpond_engine::event::UsageScope::Round;
    let reported = millpond_engine::event::Event::UsageReported { scope, usage };
    run.append(vec![(None, started), (None, reported)]).await.unwrap();
    assert_eq!(used(&gateway).await, TokenUsage::default(), "its run is going");
    drop(run);
    gateway.log.close().await;
    drop(gateway);
    let gateway = open_gateway().await;
    assert_eq!(used(&gateway).await, TokenUsage { tokens_in: 7, ..TokenUsage::default() });
}
