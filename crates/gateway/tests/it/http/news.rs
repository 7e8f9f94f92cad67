//! The list of sessions in other tabs.

use gateway::limits::NEWS_WAITING_MAX;
use reqwest::Method;
use serde_json::{Value, json};

use super::support::{Events, Served, answer_to, events_of, fixture, serve};

async fn listen(served: &Served) -> Events {
    let mut events = events_of(served.get("/v1/sessions/stream")).await;
    assert_eq!(events.next().await.unwrap().event, "relist", "whoever comes lists first");
    events
}

/// Frames up to the first that says so of the session.
async fn until(events: &mut Events, session: &str, last: impl Fn(&Value) -> bool) -> Value {
    loop {
        let got = events.next().await.unwrap();
        assert_eq!(got.event, "session", "{}", got.data);
        let shown: Value = serde_json::from_str(&got.data).unwrap();
        if shown["id"] == session && last(&shown) {
            return shown;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_sessions_is_told_to_other_tabs() {
    let served = serve().await;
    let mut events = listen(&served).await;
    let session = served.new_session().await;
    until(&mut events, &session, |shown| shown["head"] == 0).await;
    let path = format!("/v1/sessions/{session}");
    for (change, name) in [
        (json!({ "title": "Ponds" }), "title"),
        (json!({ "pinned": true }), "pinned"),
        (json!({ "archived": true }), "archived"),
    ] {
        let (status, _) = answer_to(served.request(Method::PATCH, &path).json(&change)).await;
        assert_eq!(status, 200);
        until(&mut events, &session, |shown| shown[name] == change[name]).await;
    }
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let (_, now) = answer_to(served.get(&path)).await;
    let told = until(&mut events, &session, |shown| shown["head"] == now["head"]).await;
    if told["run"] != Value::Null {
        until(&mut events, &session, |shown| shown["run"] == Value::Null).await;
    }
    let (_, branch) = answer_to(served.post(&format!("{path}/branch"), &json!({}))).await;
    until(&mut events, branch["id"].as_str().unwrap(), |shown| shown["head"] == now["head"]).await;
    answer_to(served.request(Method::DELETE, &path)).await;
    until(&mut events, &session, |shown| shown["deleted_ms"].is_u64()).await;
    answer_to(served.post(&format!("{path}/restore"), &json!({}))).await;
    until(&mut events, &session, |shown| shown.get("deleted_ms").is_none()).await;
    served.gateway.erased(session.parse().unwrap());
    assert_eq!(events.next().await.unwrap().event, "relist");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_hears_of_what_belongs_to_somebody_else() {
    let served = serve().await;
    let owner = gateway::id::OwnerId::new(1, [9; 10]);
    let (_, secret) = served.gateway.issue(owner, "other").await.unwrap();
    let other = Served { token: secret.reveal().to_owned(), ..served.again() };
    let mut events = listen(&other).await;
    served.new_session().await;
    let own = other.new_session().await;
    let first: Value = serde_json::from_str(&events.next().await.unwrap().data).unwrap();
    assert_eq!(first["id"], json!(own));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_misses_some_is_told_to_list_again() {
    let served = serve().await;
    let mut events = listen(&served).await;
    let session = served.new_session().await;
    until(&mut events, &session, |_| true).await;
    // More than wait, also if some are heard in between.
    for _ in 0..8 * NEWS_WAITING_MAX {
        served.gateway.log.news().tell(session.parse().unwrap());
    }
    while events.next().await.unwrap().event != "relist" {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_and_a_gateway_that_stops_close_the_list() {
    let served = serve().await;
    let (_, given) = answer_to(served.post("/v1/tokens", &json!({ "label": "tab" }))).await;
    let tab = Served { token: given["token"].as_str().unwrap().to_owned(), ..served.again() };
    let (mut events, mut others) = (listen(&tab).await, listen(&served).await);
    let path = format!("/v1/tokens/{}", given["id"].as_str().unwrap());
    answer_to(served.request(Method::DELETE, &path)).await;
    assert_eq!(events.next().await.unwrap().data, "{\"reason\":\"revoked\"}");
    assert!(events.next().await.is_none());
    drop(tab);
    served.stop().await;
    assert_eq!(others.next().await.unwrap().data, "{\"reason\":\"stopping\"}");
    assert!(others.next().await.is_none());
}
