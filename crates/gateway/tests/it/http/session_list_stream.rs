//! The stream of the session list.

use millpond_log::limits::SESSION_CHANGES_QUEUED_MAX;
use reqwest::Method;
use serde_json::{Value, json};

use super::support::{
    EventStream, TestGateway, open_event_stream, read_fixture, start_gateway, status_and_json,
};

async fn follow_session_list(gateway: &TestGateway) -> EventStream {
    let mut events = open_event_stream(gateway.get("/v1/sessions/stream")).await;
    assert_eq!(
        events.next_event().await.unwrap().event,
        "relist",
        "a new reader is told to list first"
    );
    events
}

/// Waits for a frame of the session for which `last` is true.
async fn wait_for_session(
    events: &mut EventStream,
    session: &str,
    last: impl Fn(&Value) -> bool,
) -> Value {
    loop {
        let event = events.next_event().await.unwrap();
        assert_eq!(event.event, "session", "{}", event.data);
        let session_body: Value = serde_json::from_str(&event.data).unwrap();
        if session_body["id"] == session && last(&session_body) {
            return session_body;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_sessions_is_told_to_other_tabs() {
    let gateway = start_gateway().await;
    let mut events = follow_session_list(&gateway).await;
    let session = gateway.new_session().await;
    wait_for_session(&mut events, &session, |listed| listed["head"] == 0).await;
    let path = format!("/v1/sessions/{session}");
    for (change, name) in [
        (json!({ "title": "Ponds" }), "title"),
        (json!({ "pinned": true }), "pinned"),
        (json!({ "archived": true }), "archived"),
    ] {
        let (status, _) =
            status_and_json(gateway.request(Method::PATCH, &path).json(&change)).await;
        assert_eq!(status, 200);
        wait_for_session(&mut events, &session, |listed| listed[name] == change[name]).await;
    }
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let (_, current) = status_and_json(gateway.get(&path)).await;
    let listed =
        wait_for_session(&mut events, &session, |row| row["head"] == current["head"]).await;
    if listed["run"] != Value::Null {
        wait_for_session(&mut events, &session, |listed| listed["run"] == Value::Null).await;
    }
    let (_, branch) = status_and_json(gateway.post(&format!("{path}/branch"), &json!({}))).await;
    wait_for_session(&mut events, branch["id"].as_str().unwrap(), |listed| {
        listed["head"] == current["head"]
    })
    .await;
    status_and_json(gateway.request(Method::DELETE, &path)).await;
    wait_for_session(&mut events, &session, |listed| listed["deleted_ms"].is_u64()).await;
    status_and_json(gateway.post(&format!("{path}/restore"), &json!({}))).await;
    wait_for_session(&mut events, &session, |listed| listed.get("deleted_ms").is_none()).await;
    gateway.gateway.end_streams_and_announce_erased_session(session.parse().unwrap());
    assert_eq!(events.next_event().await.unwrap().event, "relist");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_hears_of_what_belongs_to_somebody_else() {
    let gateway = start_gateway().await;
    let owner = millpond_log::id::OwnerId::new(1, [9; 10]);
    let (_, secret) = gateway.gateway.issue_token(owner, "other").await.unwrap();
    let other_client = TestGateway { token: secret.reveal().to_owned(), ..gateway.clone_client() };
    let mut events = follow_session_list(&other_client).await;
    gateway.new_session().await;
    let own_session = other_client.new_session().await;
    let first: Value = serde_json::from_str(&events.next_event().await.unwrap().data).unwrap();
    assert_eq!(first["id"], json!(own_session));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_misses_some_is_told_to_list_again() {
    let gateway = start_gateway().await;
    let mut events = follow_session_list(&gateway).await;
    let session = gateway.new_session().await;
    wait_for_session(&mut events, &session, |_| true).await;
    // More than the broadcast buffers, even if some are received in between.
    for _ in 0..8 * SESSION_CHANGES_QUEUED_MAX {
        gateway.gateway.log.session_changes().notify_changed(session.parse().unwrap());
    }
    while events.next_event().await.unwrap().event != "relist" {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_and_a_gateway_that_stops_close_the_list() {
    let gateway = start_gateway().await;
    let (_, created) =
        status_and_json(gateway.post("/v1/tokens", &json!({ "label": "tab" }))).await;
    let tab_client = TestGateway {
        token: created["token"].as_str().unwrap().to_owned(),
        ..gateway.clone_client()
    };
    let (mut events, mut others) =
        (follow_session_list(&tab_client).await, follow_session_list(&gateway).await);
    let path = format!("/v1/tokens/{}", created["id"].as_str().unwrap());
    status_and_json(gateway.request(Method::DELETE, &path)).await;
    assert_eq!(events.next_event().await.unwrap().data, "{\"reason\":\"revoked\"}");
    assert!(events.next_event().await.is_none());
    drop(tab_client);
    gateway.stop_and_wait().await;
    assert_eq!(others.next_event().await.unwrap().data, "{\"reason\":\"stopping\"}");
    assert!(others.next_event().await.is_none());
}
