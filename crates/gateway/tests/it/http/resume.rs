//! Leaving and coming back: at every cursor, in every view, the rest is exactly the rest.

use std::collections::BTreeSet;

use engine::event::{Event, Record, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use engine::view::{Picture, ViewName};
use engine::wire::patch::decode;
use engine::wire::{Encoder, Kind};
use serde_json::Value;

use super::support::{Got, Served, fixture, serve};

/// An agent that thinks, calls a tool and answers.
fn stream() -> Vec<u8> {
    fixture("claude-code/partial-messages.jsonl")
}

/// What `millpond show --output frames` makes of the same bytes, at the times of the log.
async fn shown(
    served: &Served,
    bytes: &[u8],
    view: ViewName,
    session: &str,
    run: &str,
) -> Vec<Got> {
    #[derive(Default)]
    struct Kept(Vec<Event<'static>>);
    impl Sink for Kept {
        fn event(&mut self, _: Option<u64>, event: Event<'_>) {
            self.0.push(event.into_owned());
        }
    }
    let mut kept = Kept::default();
    let mut ingest = Ingest::new(&Options::default());
    ingest.push(bytes, None, &mut kept);
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    let log = served.get(&format!("/v1/sessions/{session}/log")).send().await.unwrap();
    let log = log.text().await.unwrap();
    assert_eq!(log.lines().count(), kept.0.len());
    let mut encoder = Encoder::new(Kind::new(view), session, 0);
    let mut frames = Vec::new();
    for (seq, (event, line)) in kept.0.into_iter().zip(log.lines()).enumerate() {
        let at_ms = serde_json::from_str::<Record<'_>>(line).unwrap().at_ms;
        let record = Record { seq: seq as u64, at_ms, run: run.into(), event };
        encoder.push(&record, &mut |frame| {
            let (event, data) = (frame.event.to_owned(), frame.data.to_owned());
            frames.push(Got { id: frame.id.to_string(), event, data });
        });
    }
    frames
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_taken_in_has_the_frames_that_show_prints() {
    for name in ["claude-code/partial-messages.jsonl", "gemini/code-execution-and-image.sse"] {
        taken_in_as_shown(&fixture(name)).await;
    }
}

async fn taken_in_as_shown(bytes: &[u8]) {
    let served = serve().await;
    for view in ViewName::ALL.iter().copied() {
        let session = served.new_session().await;
        let taken = served.ingest(&session, bytes.to_vec()).await;
        let run = taken["run"].as_str().unwrap();
        let expected = shown(&served, bytes, view, &session, run).await;
        let last = expected.last().unwrap().id.clone();
        let query = format!("view={}", view.as_str());
        let got = served.follow(&session, &query, "").await.until(|got| got.id == last).await;
        assert_eq!(got, expected, "{}", view.as_str());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_cursor_of_every_view_the_rest_is_exactly_the_rest() {
    let served = serve().await;
    let session = served.new_session().await;
    let bytes = stream();
    let taken = served.ingest(&session, bytes.clone()).await;
    for view in ViewName::ALL.iter().copied() {
        for format in ["own", "patch"] {
            let query = format!("view={}&format={format}", view.as_str());
            let run = taken["run"].as_str().unwrap();
            let expected = shown(&served, &bytes, view, &session, run).await;
            let mut last = expected.last().unwrap().id.clone();
            if format == "patch" {
                last = capital(&last);
            }
            let all = served.follow(&session, &query, "").await.until(|got| got.id == last).await;
            for (at, frame) in all.iter().enumerate().rev().skip(1) {
                let mut events = served.follow(&session, &query, &frame.id).await;
                let hello = events.next().await.unwrap();
                assert_eq!(hello.event, "stream");
                assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
                let rest = events.until(|got| got.id == last).await;
                assert_eq!(rest, all[at + 1..], "{query} after {}", frame.id);
            }
        }
    }
}

/// Cursors of patches begin with a capital.
fn capital(id: &str) -> String {
    let mut chars = id.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_cannot_be_gone_on_from_gets_the_whole_page() {
    let served = serve().await;
    let session = served.new_session().await;
    served.ingest(&session, stream()).await;
    for cursor in
        ["s0", "lzzzz", "nonsense", "l0~7", "l-z0", "L0", "%00", "'; drop table", "l0.9.9"]
    {
        let mut events = served.follow(&session, "view=latest", cursor).await;
        let hello = events.next().await.unwrap();
        assert!(hello.data.contains("\"recovered\":false"), "{cursor}: {}", hello.data);
        let page = events.next().await.unwrap();
        assert_eq!(page.event, "snapshot", "{cursor}");
        let path = format!("/v1/sessions/{session}/snapshot?view=latest");
        let asked: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
        assert_eq!(asked["data"], serde_json::from_str::<Value>(&page.data).unwrap(), "{cursor}");
        // From its cursor on the stream goes on as if it had never stopped.
        let mut events = served.follow(&session, "view=latest", &page.id).await;
        let hello = events.next().await.unwrap();
        assert!(hello.data.contains("\"recovered\":true"), "{cursor}: {}", hello.data);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_may_begin_with_the_page_as_it_stands() {
    let served = serve().await;
    let session = served.new_session().await;
    for runs in 0..2 {
        let mut events = served.follow(&session, "view=steps&from=snapshot", "").await;
        let page = events.next().await.unwrap();
        assert_eq!(page.event, "snapshot");
        let path = format!("/v1/sessions/{session}/snapshot?view=steps");
        let asked: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
        assert_eq!(asked["id"], page.id);
        assert_eq!(asked["data"], serde_json::from_str::<Value>(&page.data).unwrap());
        served.ingest(&session, stream()).await;
        let ended = |got: &Got| got.data.contains("\"outcome\":");
        let live = events.until(ended).await;
        let all = served.follow(&session, "view=steps&from=start", "").await;
        let all = { all }.until(|got| got.id == live.last().unwrap().id).await;
        let ids: BTreeSet<&str> = all.iter().map(|got| &*got.id).collect();
        assert!(live.iter().all(|got| ids.contains(&*got.id)), "after {runs} runs");
        assert_eq!(live[0].event, "overlay", "the first frame of the run: {}", live[0].data);
    }
}

/// The page that a client has after these patches.
fn page_of(all: &[Got]) -> Value {
    let mut page = Picture::default();
    for got in all {
        let patch = decode(&got.data, &page).unwrap_or_else(|_| panic!("{}", got.data));
        page.apply(&patch);
    }
    serde_json::to_value(&page).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_that_come_while_a_run_is_going_all_see_the_same_end() {
    let served = serve().await;
    let session = served.new_session().await;
    let bytes = stream();
    let (pieces, body) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(1);
    let body = futures_util::stream::unfold(body, |mut body| async {
        let piece = body.recv().await?;
        Some((piece, body))
    });
    let path = format!("/v1/ingest/auto?session={session}");
    let request = served.request(reqwest::Method::POST, &path);
    let taking = tokio::spawn(request.body(reqwest::Body::wrap_stream(body)).send());
    let ended = |got: &Got| got.data.starts_with("{\"ended\"");
    let mut readers = Vec::new();
    for piece in bytes.chunks(997) {
        pieces.send(Ok(piece.to_vec())).await.unwrap();
        let events = served.follow(&session, "view=transcript&format=patch", "").await;
        readers.push(tokio::spawn(async move { { events }.until(ended).await }));
    }
    drop(pieces);
    assert_eq!(taking.await.unwrap().unwrap().status(), 200);
    let path = format!("/v1/sessions/{session}/snapshot?view=transcript&format=patch");
    let page: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
    assert!(3 < readers.len());
    for reader in readers {
        let all = reader.await.unwrap();
        let ids: BTreeSet<&str> = all.iter().map(|got| &*got.id).collect();
        assert_eq!(ids.len(), all.len(), "a frame came twice");
        assert_eq!(page_of(&all), page["data"]["picture"], "the same page");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_nothing_yet_has_a_page_too() {
    let served = serve().await;
    let session = served.new_session().await;
    let path = format!("/v1/sessions/{session}/snapshot?view=latest");
    let page: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!((&page["event"], &page["data"]["run"]), (&"snapshot".into(), &Value::Null));
    let mut events = served.follow(&session, "view=latest", page["id"].as_str().unwrap()).await;
    assert!(events.next().await.unwrap().data.contains("\"recovered\":true"));
    served.ingest(&session, stream()).await;
    let mut all = served.follow(&session, "view=latest", "").await;
    assert_eq!(events.next().await, all.next().await, "and goes on from it");
}
