//! Sending a message again, and what all of it cost.

use std::sync::Arc;

use gateway::gateway::Gateway;
use gateway::store::Used;
use gateway::store::sqlite::{Durability, SqliteStore};
use reqwest::Method;
use serde_json::{Value, json};

use super::support::{Served, answer_to, body_in_pieces, fixture, script, serve, serve_in};

async fn retry(served: &Served, run: &str, key: &str) -> (u16, Value) {
    let request = served.post(&format!("/v1/runs/{run}/retry"), &json!({}));
    answer_to(request.header("idempotency-key", key)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_tried_again_with_the_same_message_as_a_run_of_its_own() {
    let served = serve_in(Arc::new(tempfile::tempdir().unwrap()), Some(script())).await;
    let session = served.new_session().await;
    let path = format!("/v1/sessions/{session}/messages");
    let (_, first) = answer_to(served.post(&path, &json!({ "text": "what is it?" }))).await;
    let first = first["run"].as_str().unwrap().to_owned();
    served.ended(&session, &first).await;
    let (status, second) = retry(&served, &first, "a").await;
    assert_eq!(status, 202, "{second}");
    let second = second["run"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    assert_eq!(retry(&served, &first, "a").await.1["run"], json!(second), "the same key");
    assert_eq!(served.ended(&session, &second).await["outcome"], "completed");
    let log = served.log(&session).await;
    let prompts: Vec<&str> = log.lines().filter(|line| line.contains("what is it?")).collect();
    assert!(prompts.len() == 2 && prompts[1].contains(&second), "{prompts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_taken_in_or_is_going_is_not_tried_again() {
    let served = serve_in(Arc::new(tempfile::tempdir().unwrap()), Some(script())).await;
    let session = served.new_session().await;
    let taken = served.ingest(&session, fixture("claude-code/partial-messages.jsonl")).await;
    let (status, told) = retry(&served, taken["run"].as_str().unwrap(), "a").await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("not_a_message")));
    let (pieces, body) = body_in_pieces();
    let path = format!("/v1/ingest/auto?session={session}");
    let taking = tokio::spawn(answer_to(served.request(Method::POST, &path).body(body)));
    let mut events = served.follow(&session, "view=latest&format=patch", "").await;
    pieces.send(fixture("anthropic/cut-off.sse")).await.unwrap();
    events.until(|got| got.data.contains("\"writing\"")).await;
    let (_, shown) = answer_to(served.get(&format!("/v1/sessions/{session}"))).await;
    let (status, told) = retry(&served, shown["run"].as_str().unwrap(), "b").await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("run_going")));
    drop(pieces);
    taking.await.unwrap();
    let (status, _) = retry(&served, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "c").await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_used_adds_up_for_a_session_and_for_its_owner() {
    let served = serve().await;
    let (one, two) = (served.new_session().await, served.new_session().await);
    let bytes = fixture("claude-code/partial-messages.jsonl");
    served.ingest(&one, bytes.clone()).await;
    let usage = async |query: &str| answer_to(served.get(&format!("/v1/usage{query}"))).await.1;
    let single = usage(&format!("?session={one}")).await;
    let number = |usage: &Value, name: &str| usage[name].as_u64().unwrap();
    for name in ["tokens_in", "tokens_out", "cost_micro_usd"] {
        assert!(0 < number(&single, name), "{single}");
    }
    served.ingest(&one, bytes.clone()).await;
    served.ingest(&two, bytes).await;
    assert_eq!(usage(&format!("?session={two}")).await, single);
    for (query, times) in [(format!("?session={one}"), 2), (String::new(), 3)] {
        let sum = usage(&query).await;
        for name in ["tokens_in", "tokens_out", "cost_micro_usd"] {
            assert_eq!(number(&sum, name), times * number(&single, name), "{query} {name}");
        }
    }
    let (status, _) = answer_to(served.get("/v1/usage?session=01ARZ3NDEKTSV4RRFFQ69G5FAV")).await;
    assert_eq!(status, 404);
}

/// The numbers that came before a crash were used, though their run never ended by itself.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_interrupted_run_used_is_counted_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let open = async || {
        let store = Arc::new(SqliteStore::open(folder.path(), Durability::Window).unwrap());
        let allowed = gateway::access::Allowed::new(1, false, &[], &[]);
        Gateway::open(store, allowed, false, None).await.unwrap()
    };
    let owner = gateway::id::OwnerId::new(1, [1; 10]);
    let used = async |gateway: &Gateway| {
        gateway.log.blocking(move |store| store.used(owner, None)).await.unwrap()
    };
    let gateway = open().await;
    let session = gateway.create(owner, "").await.unwrap();
    let mut run = gateway.log.run(session.id, gateway.new_run().unwrap());
    let usage = engine::event::Usage { input_tokens: Some(7), ..engine::event::Usage::default() };
    let started = engine::event::Event::RunStarted {
        version: 1,
        dialect: "anthropic".into(),
        mode: engine::event::TextMode::Incremental,
    };
    let scope = engine::event::UsageScope::Round;
    let reported = engine::event::Event::UsageReported { scope, usage };
    run.append(vec![(None, started), (None, reported)]).await.unwrap();
    assert_eq!(used(&gateway).await, Used::default(), "its run is going");
    drop(run);
    gateway.log.close().await;
    drop(gateway);
    let gateway = open().await;
    assert_eq!(used(&gateway).await, Used { tokens_in: 7, ..Used::default() });
}
