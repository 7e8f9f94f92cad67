//! Following a session: cuts, ids, reconnection and resume.

use millpond_client::RequestError;
use millpond_client::session_stream::{
    CloseReason, ConnectionLoss, StreamEnd, StreamRequest, StreamUpdate, spawn_session_stream,
};
use millpond_engine::event::{Ending, Event, MessageId, Outcome, Record, Reply, TextMode};
use millpond_engine::view::{Page, Thinking, ViewName};
use millpond_engine::wire::{Cursor, Encoder, FrameFormat, ProtocolVersion, StreamKind, sse};
use tokio::sync::mpsc::Receiver;

use crate::server::{End, Script, event_stream, refusal, start_server};

fn wanted() -> StreamRequest {
    StreamRequest {
        session: "s1".to_owned(),
        view: ViewName::Transcript,
        thinking: Thinking::ViewDefault,
    }
}

/// Events of a small run.
fn run_records() -> Vec<Record<'static>> {
    let message = MessageId(0);
    let append = |text: &str| Event::TextAppended { message, text: text.to_owned().into() };
    let ending = Ending {
        outcome: Outcome::Completed,
        stop: None,
        reason: None,
        detail: None,
        reply: Reply::Message,
        message: Some(message),
        incomplete: false,
    };
    let events = vec![
        Event::RunStarted { version: 1, dialect: "test".into(), mode: TextMode::Incremental },
        Event::PromptReceived {
            text: "Heron?".into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        },
        Event::MessageStarted { message, round: 0, phase: None },
        append("The her"),
        append("on stands.\n\nIt waits "),
        append("for “fish”.\n"),
        Event::MessageEnded { message, incomplete: false },
        Event::RunEnded { ending },
    ];
    let numbered = events.into_iter().zip(0..);
    numbered.map(|(event, seq)| Record { seq, at_ms: None, run: "r1".into(), event }).collect()
}

/// The gateway's side: a snapshot of the empty page, then every frame, with their cursors.
struct Recorded {
    /// Cursor and bytes of each event.
    events: Vec<(String, String)>,
    page: Page,
}

fn record_run() -> Recorded {
    record_run_in(ProtocolVersion::V2)
}

fn record_run_in(version: ProtocolVersion) -> Recorded {
    let kind = StreamKind { format: FrameFormat::Patch, ..StreamKind::new(ViewName::Transcript) };
    let mut encoder = Encoder::new(kind, "s1");
    let mut events = Vec::new();
    let mut keep = |frame: millpond_engine::wire::Frame<'_>| {
        let mut text = String::new();
        sse::write_sse_event(&frame, &mut text);
        events.push((frame.id.to_string(), text));
    };
    encoder.emit_snapshot(0, version, &mut keep);
    for record in run_records() {
        encoder.push(&record, &mut keep);
    }
    assert!(5 < events.len());
    Recorded { events, page: encoder.page().clone() }
}

impl Recorded {
    fn bytes(&self) -> Vec<u8> {
        self.events.iter().flat_map(|(_, text)| text.bytes()).collect()
    }

    /// Bytes after the event with this cursor, as the gateway resumes.
    fn bytes_after(&self, cursor: &str) -> Vec<u8> {
        assert!(cursor.parse::<Cursor>().is_ok(), "{cursor}");
        let at = self.events.iter().position(|(id, _)| id.eq_ignore_ascii_case(cursor)).unwrap();
        self.events[at + 1..].iter().flat_map(|(_, text)| text.bytes()).collect()
    }
}

/// Updates up to the first for which `is_last` holds.
async fn read_until(
    updates: &mut Receiver<StreamUpdate>,
    is_last: impl Fn(&StreamUpdate) -> bool,
) -> Vec<StreamUpdate> {
    let mut all = Vec::new();
    loop {
        let update = updates.recv().await.expect("the stream ended");
        let done = is_last(&update);
        all.push(update);
        if done {
            return all;
        }
    }
}

fn is_run_end(update: &StreamUpdate) -> bool {
    use millpond_engine::view::Patch;
    matches!(update, StreamUpdate::Patch(patch) if matches!(**patch, Patch::Ended(_)))
}

/// The page that the updates make, and the number of patches.
fn apply_updates(updates: &[StreamUpdate]) -> (Page, usize) {
    let (mut page, mut patches) = (Page::default(), 0);
    for update in updates {
        match update {
            StreamUpdate::Page(whole) => page = (**whole).clone(),
            StreamUpdate::Patch(patch) => {
                page.apply(patch);
                patches += 1;
            }
            StreamUpdate::Connected | StreamUpdate::Disconnected(_) => {}
            StreamUpdate::Closed(end) => panic!("{end}"),
        }
    }
    (page, patches)
}

#[tokio::test]
async fn a_gateway_that_knows_no_protocol_version_is_followed_too() {
    let recorded = record_run_in(ProtocolVersion::V1);
    let scripts = vec![refusal(400, ""), event_stream(&[&recorded.bytes()], End::Never)];
    let (client, mut requests) = start_server(scripts).await;
    let mut updates = spawn_session_stream(client, wanted());
    let all = read_until(&mut updates, is_run_end).await;
    assert_eq!(apply_updates(&all).0, recorded.page);
    assert!(requests.recv().await.unwrap().head.contains("protocol=2"));
    assert!(!requests.recv().await.unwrap().head.contains("protocol"));
}

#[tokio::test]
async fn torn_chunks_and_crlf_make_the_same_page() {
    let recorded = record_run();
    let lf = recorded.bytes();
    let crlf = String::from_utf8(lf.clone()).unwrap().replace('\n', "\r\n").into_bytes();
    for bytes in [lf, crlf] {
        for size in [1, 3, 64, bytes.len()] {
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            let (client, _requests) = start_server(vec![event_stream(&chunks, End::Never)]).await;
            let mut updates = spawn_session_stream(client, wanted());
            let all = read_until(&mut updates, is_run_end).await;
            assert_eq!(all[0], StreamUpdate::Connected);
            let (page, patches) = apply_updates(&all);
            assert_eq!((page, patches), (recorded.page.clone(), recorded.events.len() - 1));
        }
    }
}

/// A stream that is cut after some bytes, and what the client must do about it.
struct CutStream {
    scripts: [Script; 2],
    /// Header of the second connection.
    last_event_id: Option<String>,
}

fn cut_stream(recorded: &Recorded, len: usize) -> CutStream {
    let bytes = recorded.bytes();
    let whole = String::from_utf8_lossy(&bytes[..len]).matches("\n\n").count();
    let cursor = whole.checked_sub(1).map(|last| recorded.events[last].0.as_str());
    let rest = cursor.map_or_else(|| bytes.clone(), |cursor| recorded.bytes_after(cursor));
    let cut = event_stream(&[b"retry: 1\n\n", &bytes[..len]], End::Close);
    CutStream {
        scripts: [cut, event_stream(&[&rest], End::Never)],
        last_event_id: cursor.map(str::to_ascii_lowercase),
    }
}

#[tokio::test]
async fn a_resumed_stream_has_no_gap_and_no_repeat() {
    let recorded = record_run();
    let last = recorded.events.last().unwrap().1.len();
    let cuts = (0..=recorded.bytes().len() - last).map(|len| cut_stream(&recorded, len));
    let cuts: Vec<CutStream> = cuts.collect();
    let scripts = cuts.iter().flat_map(|cut| cut.scripts.clone()).collect();
    let (client, mut requests) = start_server(scripts).await;
    for (len, CutStream { last_event_id, .. }) in cuts.into_iter().enumerate() {
        let mut updates = spawn_session_stream(client.clone(), wanted());
        let all = read_until(&mut updates, is_run_end).await;
        let (page, patches) = apply_updates(&all);
        assert_eq!(page, recorded.page, "cut at {len}");
        assert_eq!(patches, recorded.events.len() - 1, "cut at {len}");
        assert_eq!(requests.recv().await.unwrap().header("last-event-id"), None);
        let resumed = requests.recv().await.unwrap();
        assert_eq!(resumed.header("last-event-id"), last_event_id.as_deref(), "cut at {len}");
    }
}

#[tokio::test]
async fn a_reset_in_the_middle_is_told_and_resumed() {
    let recorded = record_run();
    let first = recorded.events[0].1.len();
    let bytes = recorded.bytes();
    let rest = recorded.bytes_after(&recorded.events[0].0);
    // The length promises more: a reset is an error even if its packet comes after the bytes.
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\nretry: 1\n\n";
    let cut = Script {
        chunks: vec![head.as_bytes().to_vec(), bytes[..first + 3].to_vec()],
        end: End::Close,
    };
    let (client, mut requests) = start_server(vec![cut, event_stream(&[&rest], End::Never)]).await;
    let mut updates = spawn_session_stream(client, wanted());
    let all = read_until(&mut updates, is_run_end).await;
    let lost = |update: &&StreamUpdate| {
        let StreamUpdate::Disconnected(loss) = update else { return false };
        matches!(loss, ConnectionLoss::Request(RequestError::Unreachable(_)))
    };
    assert_eq!(all.iter().filter(lost).count(), 1, "{all:?}");
    let (page, patches) = apply_updates(&all);
    assert_eq!((page, patches), (recorded.page.clone(), recorded.events.len() - 1));
    requests.recv().await.unwrap();
    assert!(requests.recv().await.unwrap().header("last-event-id").is_some());
}

#[tokio::test]
async fn what_a_retry_cannot_mend_ends_the_stream() {
    for (script, expected) in [
        (refusal(401, "no_token"), "No: no_token."),
        (refusal(404, "not_found"), "No: not_found."),
        (refusal(409, "other"), "No: other."),
        (
            event_stream(&[b"event:closed\ndata:{\"reason\":\"deleted\"}\n\n"], End::Close),
            "the gateway closed the stream: deleted",
        ),
        (
            event_stream(&[b"event:snapshot\ndata:{}\n\n"], End::Close),
            "cannot parse the gateway's page: missing field `page` at line 1 column 2",
        ),
    ] {
        let (client, _requests) = start_server(vec![script]).await;
        let mut updates = spawn_session_stream(client, wanted());
        let is_closed = |update: &StreamUpdate| matches!(update, StreamUpdate::Closed(_));
        let all = read_until(&mut updates, is_closed).await;
        let Some(StreamUpdate::Closed(end)) = all.last() else { panic!("{all:?}") };
        assert_eq!(end.to_string(), expected);
        assert_eq!(updates.recv().await, None);
    }
    let deleted = StreamEnd::Closed(CloseReason::Deleted);
    assert_eq!(deleted.to_string(), "the gateway closed the stream: deleted");
}

#[tokio::test]
async fn a_busy_gateway_and_a_closing_one_are_asked_again() {
    let recorded = record_run();
    let closing = b"retry: 1\n\nevent:closed\ndata:{\"reason\":\"too_slow\"}\n\n";
    let scripts = vec![
        event_stream(&[closing], End::Close),
        refusal(503, "stopping"),
        event_stream(&[&recorded.bytes()], End::Never),
    ];
    let (client, _requests) = start_server(scripts).await;
    let mut updates = spawn_session_stream(client, wanted());
    let all = read_until(&mut updates, is_run_end).await;
    let busy = |update: &&StreamUpdate| {
        let StreamUpdate::Disconnected(loss) = update else { return false };
        matches!(loss, ConnectionLoss::Request(RequestError::Unavailable(_)))
    };
    assert_eq!(all.iter().filter(busy).count(), 1, "{all:?}");
    assert_eq!(apply_updates(&all).0, recorded.page);
}

#[tokio::test]
async fn an_unreadable_patch_makes_the_client_load_the_page_again() {
    let recorded = record_run();
    let (first, second) = (recorded.events[0].1.as_bytes(), b"retry: 1\nid:T1\ndata:{\"x\":1}\n\n");
    let scripts = vec![
        event_stream(&[first, second], End::Never),
        event_stream(&[&recorded.bytes()], End::Never),
    ];
    let (client, mut requests) = start_server(scripts).await;
    let mut updates = spawn_session_stream(client, wanted());
    let all = read_until(&mut updates, is_run_end).await;
    let lost = |update: &&StreamUpdate| {
        matches!(update, StreamUpdate::Disconnected(ConnectionLoss::InvalidPatch(_)))
    };
    assert_eq!(all.iter().filter(lost).count(), 1, "{all:?}");
    assert_eq!(apply_updates(&all).0, recorded.page);
    requests.recv().await.unwrap();
    assert_eq!(requests.recv().await.unwrap().header("last-event-id"), None);
}
