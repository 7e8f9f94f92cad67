//! All views at once: the same patches as each view's own stream has, and from any event on.

use engine::view::ViewName;
use gateway::limits::THEATRE_SEATS_MAX;
use serde_json::Value;

use super::support::{Served, events_of, fixture, serve};

/// What the theatre tells of a session, up to its end.
async fn told(served: &Served, session: &str, last_id: &str) -> Vec<Value> {
    let head = served.gateway.log.store().session(session.parse().unwrap()).unwrap().unwrap().head;
    let mut request = served.get(&format!("/v1/sessions/{session}/theatre"));
    if !last_id.is_empty() {
        request = request.header("last-event-id", last_id);
    }
    let mut events = events_of(request).await;
    let all = events.until(|got| got.id == (head - 1).to_string()).await;
    all.iter().map(|got| serde_json::from_str(&got.data).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_comes_with_what_it_does_in_every_view() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, fixture("anthropic/thinking-text-tool.sse")).await;
    let told = told(&served, &session, "").await;
    assert_eq!(told[0]["event"], "run_started");
    assert_eq!(told.last().unwrap()["event"], "run_ended");
    for view in ViewName::ALL {
        let view = view.as_str();
        let patches = |one: &Value| one["views"][view].as_array().cloned().unwrap_or_default();
        let together: Vec<Value> = told.iter().flat_map(patches).collect();
        let query = format!("view={view}&format=patch");
        let mut stream = served.follow(&session, &query, "").await;
        let alone = stream.until(|got| got.data.contains("\"ended\":{")).await;
        let alone: Vec<Value> =
            alone.iter().map(|got| serde_json::from_str(&got.data).unwrap()).collect();
        assert_eq!(joined(together), joined(alone), "{view}");
    }
}

/// Appends in a row as one: a stream may merge them.
fn joined(patches: Vec<Value>) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for patch in patches {
        match (joined.last_mut(), &patch) {
            (Some(Value::String(last)), Value::String(more)) => last.push_str(more),
            (Some(last), Value::String(more)) if last["put"]["text"].is_string() => {
                let text = last["put"]["text"].as_str().unwrap().to_owned() + more;
                last["put"]["text"] = text.into();
            }
            _ => joined.push(patch),
        }
    }
    joined
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_deleted_session_ends_with_a_word() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, fixture("anthropic/two-messages.sse")).await;
    let path = format!("/v1/sessions/{session}");
    let mut events = events_of(served.get(&format!("{path}/theatre"))).await;
    assert!(events.next().await.is_some());
    served.request(reqwest::Method::DELETE, &path).send().await.unwrap();
    let last = events.until(|got| got.event == "closed").await;
    assert_eq!(last.last().unwrap().data, r#"{"reason":"deleted"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_gets_what_followed() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, fixture("anthropic/two-messages.sse")).await;
    let all = told(&served, &session, "").await;
    for last in 0..all.len() - 1 {
        assert_eq!(told(&served, &session, &last.to_string()).await, all[last + 1..], "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_theatre_has_so_many_seats() {
    let served = serve().await;
    let session = served.new_session().await;
    let path = format!("/v1/sessions/{session}/theatre");
    let come = async || served.get(&path).send().await.unwrap();
    let mut seated = Vec::new();
    for _ in 0..THEATRE_SEATS_MAX {
        seated.push(come().await);
    }
    assert!(seated.iter().all(|reader| reader.status() == 200));
    assert_eq!(come().await.status(), 429);
    seated.pop();
    // A seat is free once the gateway has noticed that its reader left.
    let again = async {
        while come().await.status() != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), again).await.unwrap();
}
