//! All views at once: the same patches as each view's own stream, resumable at any event.

use millpond_engine::view::ViewName;
use millpond_gateway::limits::ALL_VIEWS_READERS_MAX;
use serde_json::Value;

use super::support::{TEST_TIMEOUT, TestGateway, open_event_stream, read_fixture, start_gateway};

/// Events of a session in all views, up to its end.
async fn read_all_views(gateway: &TestGateway, session: &str, last_id: &str) -> Vec<Value> {
    let head = gateway
        .gateway
        .log
        .store()
        .load_session_even_deleted(session.parse().unwrap())
        .unwrap()
        .unwrap()
        .head;
    let mut request = gateway.get(&format!("/v1/sessions/{session}/theatre"));
    if !last_id.is_empty() {
        request = request.header("last-event-id", last_id);
    }
    let mut events = open_event_stream(request).await;
    let received = events.events_until(|event| event.id == (head - 1).to_string()).await;
    received.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_comes_with_what_it_does_in_every_view() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("anthropic/thinking-text-tool.sse")).await;
    let all_events = read_all_views(&gateway, &session, "").await;
    assert_eq!(all_events[0]["event"], "run_started");
    assert_eq!(all_events.last().unwrap()["event"], "run_ended");
    for view in ViewName::ALL {
        let view = view.as_str();
        let patches = |event: &Value| event["views"][view].as_array().cloned().unwrap_or_default();
        let combined_patches: Vec<Value> = all_events.iter().flat_map(patches).collect();
        let query = format!("view={view}&format=patch");
        let mut stream = gateway.follow_stream(&session, &query, "").await;
        let view_events = stream.events_until(|event| event.data.contains("\"ended\":{")).await;
        let view_patches: Vec<Value> =
            view_events.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect();
        assert_eq!(merge_appends(combined_patches), merge_appends(view_patches), "{view}");
    }
}

/// Merges consecutive appends, as a stream may do.
fn merge_appends(patches: Vec<Value>) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for patch in patches {
        match (merged.last_mut(), &patch) {
            (Some(Value::String(last)), Value::String(more)) => last.push_str(more),
            (Some(last), Value::String(more)) if last["put"]["text"].is_string() => {
                let text = last["put"]["text"].as_str().unwrap().to_owned() + more;
                last["put"]["text"] = text.into();
            }
            _ => merged.push(patch),
        }
    }
    merged
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_deleted_session_ends_with_a_word() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("anthropic/two-messages.sse")).await;
    let path = format!("/v1/sessions/{session}");
    let mut events = open_event_stream(gateway.get(&format!("{path}/theatre"))).await;
    assert!(events.next_event().await.is_some());
    gateway.request(reqwest::Method::DELETE, &path).send().await.unwrap();
    let last = events.events_until(|event| event.event == "closed").await;
    assert_eq!(last.last().unwrap().data, r#"{"reason":"deleted"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_gets_what_followed() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, read_fixture("anthropic/two-messages.sse")).await;
    let all_events = read_all_views(&gateway, &session, "").await;
    for last in 0..all_events.len() - 1 {
        assert_eq!(
            read_all_views(&gateway, &session, &last.to_string()).await,
            all_events[last + 1..],
            "{last}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_theatre_has_so_many_seats() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let path = format!("/v1/sessions/{session}/theatre");
    let open_stream = async || gateway.get(&path).send().await.unwrap();
    let mut open_readers = Vec::new();
    for _ in 0..ALL_VIEWS_READERS_MAX {
        open_readers.push(open_stream().await);
    }
    assert!(open_readers.iter().all(|reader| reader.status() == 200));
    assert_eq!(open_stream().await.status(), 429);
    open_readers.pop();
    // The permit is free once the gateway has noticed that its reader left.
    let reopened = async {
        while open_stream().await.status() != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, reopened).await.unwrap();
}
