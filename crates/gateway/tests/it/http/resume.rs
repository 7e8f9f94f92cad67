//! Resuming: at every cursor, in every view, a reader gets exactly the rest.

use std::collections::BTreeSet;

use millpond_engine::event::{Event, Record, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::view::{Page, ViewName};
use millpond_engine::wire::patch::decode;
use millpond_engine::wire::{Encoder, Frame, StreamKind};
use serde_json::Value;

use super::support::{SseEvent, TestGateway, read_fixture, start_gateway};

/// An agent that thinks, calls a tool and answers.
fn agent_stream() -> Vec<u8> {
    read_fixture("claude-code/partial-messages.jsonl")
}

/// The frames that `millpond show --output frames` makes of the same bytes, with the times of the
/// log, and merged as for a reader that catches up.
async fn expected_frames(
    gateway: &TestGateway,
    bytes: &[u8],
    view: ViewName,
    session: &str,
    run: &str,
) -> Vec<SseEvent> {
    #[derive(Default)]
    struct Kept(Vec<Event<'static>>);
    impl Sink for Kept {
        fn on_event(&mut self, _: Option<u64>, event: Event<'_>) {
            self.0.push(event.into_owned());
        }
    }
    let mut sink = Kept::default();
    let mut ingest = Ingest::new(&IngestOptions::default());
    ingest.push(bytes, None, &mut sink);
    ingest.finish(InputEnd::EndOfInput, None, &mut sink);
    let log = gateway.get(&format!("/v1/sessions/{session}/log")).send().await.unwrap();
    let log = log.text().await.unwrap();
    assert_eq!(log.lines().count(), sink.0.len());
    let mut encoder = Encoder::new(StreamKind::new(view), session).with_merging();
    let store = gateway.gateway.log.store();
    encoder.set_epoch(store.record_epoch(session.parse().unwrap(), 0).unwrap().unwrap());
    let mut frames = Vec::new();
    let mut keep = |frame: Frame<'_>| {
        let (event, data) = (frame.event.to_owned(), frame.data.to_owned());
        frames.push(SseEvent { id: frame.id.to_string(), event, data });
    };
    for (seq, (event, line)) in sink.0.into_iter().zip(log.lines()).enumerate() {
        let at_ms = serde_json::from_str::<Record<'_>>(line).unwrap().at_ms;
        let record = Record { seq: seq as u64, at_ms, run: run.into(), event };
        encoder.push(&record, &mut keep);
    }
    encoder.flush(&mut keep);
    frames
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_taken_in_has_the_frames_that_show_prints() {
    for name in ["claude-code/partial-messages.jsonl", "gemini/code-execution-and-image.sse"] {
        check_ingest_matches_show(&read_fixture(name)).await;
    }
}

async fn check_ingest_matches_show(bytes: &[u8]) {
    let gateway = start_gateway().await;
    for view in ViewName::ALL.iter().copied() {
        let session = gateway.new_session().await;
        let ingested = gateway.ingest(&session, bytes.to_vec()).await;
        let run = ingested["run"].as_str().unwrap();
        let expected = expected_frames(&gateway, bytes, view, &session, run).await;
        let last = expected.last().unwrap().id.clone();
        let query = format!("view={}", view.as_str());
        let received = gateway
            .follow_stream(&session, &query, "")
            .await
            .events_until(|event| event.id == last)
            .await;
        assert_eq!(received, expected, "{}", view.as_str());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_cursor_of_every_view_the_rest_is_exactly_the_rest() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let bytes = agent_stream();
    let ingested = gateway.ingest(&session, bytes.clone()).await;
    for view in ViewName::ALL.iter().copied() {
        for format in ["own", "patch"] {
            let query = format!("view={}&format={format}", view.as_str());
            let run = ingested["run"].as_str().unwrap();
            let expected = expected_frames(&gateway, &bytes, view, &session, run).await;
            let mut last = expected.last().unwrap().id.clone();
            if format == "patch" {
                last = uppercase_kind(&last);
            }
            let frames = gateway
                .follow_stream(&session, &query, "")
                .await
                .events_until(|event| event.id == last)
                .await;
            for (at, frame) in frames.iter().enumerate().rev().skip(1) {
                let mut events = gateway.follow_stream(&session, &query, &frame.id).await;
                let resume_frame = events.next_event().await.unwrap();
                assert_eq!(resume_frame.event, "stream");
                assert!(resume_frame.data.contains("\"recovered\":true"), "{}", resume_frame.data);
                let rest = events.events_until(|event| event.id == last).await;
                assert_eq!(rest, frames[at + 1..], "{query} after {}", frame.id);
            }
        }
    }
}

/// Patch cursors begin with a capital letter.
fn uppercase_kind(id: &str) -> String {
    let mut chars = id.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_cannot_be_gone_on_from_gets_the_whole_page() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, agent_stream()).await;
    let mut events = gateway.follow_stream(&session, "view=latest", "").await;
    let own = events.next_event().await.unwrap().id;
    let epoch = own.split_once('~').unwrap().1;
    // Right but for the view, the number of the event, or the frame.
    let with_epoch = ["s0", "lzzzz", "lLygHa16AHYF", "lLygHa16AHYF.0", "lLygHa16AHYF.4gfFC3", "L0"]
        .map(|position| format!("{position}~{epoch}"));
    let others = ["s0", "lzzzz", "nonsense", "l0~7", "l-z0", "%00", "'; drop table", "l0.9.9"];
    for cursor in with_epoch.into_iter().chain(others.map(str::to_owned)) {
        let mut events = gateway.follow_stream(&session, "view=latest", &cursor).await;
        let resume_frame = events.next_event().await.unwrap();
        assert!(
            resume_frame.data.contains("\"recovered\":false"),
            "{cursor}: {}",
            resume_frame.data
        );
        let page = events.next_event().await.unwrap();
        assert_eq!(page.event, "snapshot", "{cursor}");
        let path = format!("/v1/sessions/{session}/snapshot?view=latest");
        let snapshot: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
        assert_eq!(
            snapshot["data"],
            serde_json::from_str::<Value>(&page.data).unwrap(),
            "{cursor}"
        );
        // From its cursor on, the stream continues as if it had never stopped.
        let mut events = gateway.follow_stream(&session, "view=latest", &page.id).await;
        let resume_frame = events.next_event().await.unwrap();
        assert!(
            resume_frame.data.contains("\"recovered\":true"),
            "{cursor}: {}",
            resume_frame.data
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_may_begin_with_the_page_as_it_stands() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    for runs in 0..2 {
        let mut events = gateway.follow_stream(&session, "view=steps&from=snapshot", "").await;
        let page = events.next_event().await.unwrap();
        assert_eq!(page.event, "snapshot");
        let path = format!("/v1/sessions/{session}/snapshot?view=steps");
        let snapshot: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
        assert_eq!(snapshot["id"], page.id);
        assert_eq!(snapshot["data"], serde_json::from_str::<Value>(&page.data).unwrap());
        gateway.ingest(&session, agent_stream()).await;
        let ended = |event: &SseEvent| event.data.contains("\"outcome\":");
        let live = events.events_until(ended).await;
        let stream = gateway.follow_stream(&session, "view=steps&from=start", "").await;
        let replayed = { stream }.events_until(|event| event.id == live.last().unwrap().id).await;
        let ids: BTreeSet<&str> = replayed.iter().map(|event| &*event.id).collect();
        assert!(live.iter().all(|event| ids.contains(&*event.id)), "after {runs} runs");
        assert_eq!(live[0].event, "overlay", "the first frame of the run: {}", live[0].data);
    }
}

/// The page of a client after these patches, which may follow a snapshot.
fn page_from_patches(events: &[SseEvent]) -> Value {
    let mut page = Page::default();
    for event in events {
        if event.event == "snapshot" {
            let snapshot: Value = serde_json::from_str(&event.data).unwrap();
            page = serde_json::from_value(snapshot["picture"].clone()).unwrap();
            continue;
        }
        let patch = decode(&event.data, &page).unwrap_or_else(|_| panic!("{}", event.data));
        page.apply(&patch);
    }
    serde_json::to_value(&page).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_that_come_while_a_run_is_going_all_see_the_same_end() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let bytes = agent_stream();
    let (chunk_sender, body) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(1);
    let body = futures_util::stream::unfold(body, |mut body| async {
        let piece = body.recv().await?;
        Some((piece, body))
    });
    let path = format!("/v1/ingest/auto?session={session}");
    let request = gateway.request(reqwest::Method::POST, &path);
    let ingest_task = tokio::spawn(request.body(reqwest::Body::wrap_stream(body)).send());
    let ended = |event: &SseEvent| event.data.starts_with("{\"ended\"");
    let mut readers = Vec::new();
    for piece in bytes.chunks(997) {
        chunk_sender.send(Ok(piece.to_vec())).await.unwrap();
        for from in ["start", "snapshot"] {
            let query = format!("view=transcript&format=patch&from={from}");
            let mut events = gateway.follow_stream(&session, &query, "").await;
            let mut received = Vec::new();
            if from == "snapshot" {
                // At once, although the source sends nothing meanwhile.
                received.push(events.next_event().await.unwrap());
            }
            readers.push(tokio::spawn(async move {
                received.extend(events.events_until(ended).await);
                received
            }));
        }
    }
    drop(chunk_sender);
    assert_eq!(ingest_task.await.unwrap().unwrap().status(), 200);
    let path = format!("/v1/sessions/{session}/snapshot?view=transcript&format=patch");
    let page: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
    assert!(6 < readers.len());
    for reader in readers {
        let received = reader.await.unwrap();
        let ids: BTreeSet<&str> = received.iter().map(|event| &*event.id).collect();
        assert_eq!(ids.len(), received.len(), "duplicate frame");
        assert_eq!(page_from_patches(&received), page["data"]["picture"], "the same page");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_nothing_yet_has_a_page_too() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let path = format!("/v1/sessions/{session}/snapshot?view=latest");
    let page: Value = gateway.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!((&page["event"], &page["data"]["run"]), (&"snapshot".into(), &Value::Null));
    let mut events =
        gateway.follow_stream(&session, "view=latest", page["id"].as_str().unwrap()).await;
    assert!(events.next_event().await.unwrap().data.contains("\"recovered\":true"));
    gateway.ingest(&session, agent_stream()).await;
    let mut stream = gateway.follow_stream(&session, "view=latest", "").await;
    assert_eq!(
        events.next_event().await,
        stream.next_event().await,
        "continues after the snapshot"
    );
}
