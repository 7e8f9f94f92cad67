//! Leaving and coming back: at every cursor, in every view, the rest is exactly the rest.

use engine::event::{Event, Record, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use engine::view::ViewName;
use engine::wire::{Encoder, Kind};
use serde_json::Value;

use super::support::{Got, fixture, serve};

const STREAM: &str = "openai-responses/thinking-then-tool.sse";

/// A fixture with thinking, text and tools.
fn stream() -> Vec<u8> {
    let candidates = [STREAM, "anthropic/thinking-and-tool.sse", "anthropic/paused-turn.sse"];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let found = candidates.iter().find(|name| root.join(name).is_file());
    fixture(found.unwrap())
}

/// What `millpond show --output frames` makes of the same bytes.
fn shown(bytes: &[u8], view: ViewName, session: &str, run: &str) -> Vec<(String, String, Value)> {
    struct Kept(Vec<Event<'static>>);
    impl Sink for Kept {
        fn event(&mut self, _: Option<u64>, event: Event<'_>) {
            self.0.push(event.into_owned());
        }
    }
    let mut kept = Kept(Vec::new());
    let mut ingest = Ingest::new(&Options::default());
    ingest.push(bytes, None, &mut kept);
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    let mut encoder = Encoder::new(Kind::new(view), session, 0);
    let mut frames = Vec::new();
    for (seq, event) in kept.0.into_iter().enumerate() {
        let record = Record { seq: seq as u64, at_ms: None, run: run.into(), event };
        encoder.push(&record, &mut |frame| {
            let data = serde_json::from_str(frame.data).unwrap();
            frames.push((frame.id.to_string(), frame.event.to_owned(), timeless(data)));
        });
    }
    frames
}

const TIMES: [&str; 5] = ["at", "ts", "timestamp", "ran_for_ms", "ranForMs"];

/// Without what only the clock knows.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| !TIMES.contains(&&**name));
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = timeless(value.take())),
        _ => {}
    }
    value
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_taken_in_has_the_frames_that_show_prints() {
    let served = serve().await;
    let bytes = stream();
    for view in ViewName::ALL.iter().copied() {
        let session = served.new_session().await;
        let taken = served.ingest(&session, bytes.clone()).await;
        let expected = shown(&bytes, view, &session, taken["run"].as_str().unwrap());
        let last = expected.last().unwrap().0.clone();
        let query = format!("view={}", view.as_str());
        let got = served.follow(&session, &query, "").await.until(|got| got.id == last).await;
        let got: Vec<(String, String, Value)> = got
            .into_iter()
            .map(|got| (got.id, got.event, timeless(serde_json::from_str(&got.data).unwrap())))
            .collect();
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
            let expected = shown(&bytes, view, &session, taken["run"].as_str().unwrap());
            let mut last = expected.last().unwrap().0.clone();
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

/// Text that a reader of `latest` patches would see, and where it is.
fn told(all: &[Got]) -> String {
    all.iter().map(|got| &*got.data).collect()
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
    let ended = |got: &Got| got.data.contains("\"ended\"") || got.event == "completed";
    let mut readers = Vec::new();
    let whole = served.follow(&session, "view=latest&content=delta", "").await;
    let first = tokio::spawn(async move { { whole }.until(ended).await });
    for piece in bytes.chunks(97) {
        pieces.send(Ok(piece.to_vec())).await.unwrap();
        let events = served.follow(&session, "view=transcript&format=patch", "").await;
        readers.push(tokio::spawn(async move { { events }.until(ended).await }));
    }
    drop(pieces);
    assert_eq!(taking.await.unwrap().unwrap().status(), 200);
    first.await.unwrap();
    let path = format!("/v1/sessions/{session}/snapshot?view=transcript&format=patch");
    let page: Value = served.get(&path).send().await.unwrap().json().await.unwrap();
    for reader in readers {
        let all = reader.await.unwrap();
        let mut ids: Vec<&str> = all.iter().map(|got| &*got.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), all.len(), "a frame came twice");
        assert!(!told(&all).is_empty() && page["data"].is_object());
    }
}
