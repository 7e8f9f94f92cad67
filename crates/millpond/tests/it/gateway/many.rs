//! Slow readers and many readers: none delays another, and nothing is buffered for them.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::client::{
    EventStream, GatewayClient, IngestUpload, PATCHES, SseEvent, WAIT_MAX, apply_patches,
    is_run_end, parse_sse_events, text_delta,
};
use super::process::{GatewayProcess, temp_home};

/// Count and size of pieces that overflow the buffers of a connection.
const LARGE: (usize, usize) = (750, 8 << 10);
/// Groups of pieces, each sent once the previous one was seen: more frames than are queued for a
/// reader, and more records than it may lag behind.
const GROUPS: usize = 80;
const SMALL: (usize, usize) = (800, 1);

async fn send_chunks(sending: &IngestUpload, (pieces, bytes): (usize, usize)) {
    for _ in 0..pieces {
        assert!(sending.send_chunk(text_delta(&"x".repeat(bytes))).await);
    }
}

async fn finish_run(sending: IngestUpload) {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert!(sending.send_chunk(end.as_bytes().to_vec()).await);
    assert_eq!(sending.finish().await["outcome"], "completed");
}

/// Hash of all text up to the end of the run; a hundred copies of the text would need too much
/// memory.
async fn digest_text(first: Vec<SseEvent>, mut events: EventStream) -> Vec<u8> {
    let mut texts = Sha256::new();
    let mut update = |got: &SseEvent| {
        // A plain string appends to the last item.
        if let Ok(text) = serde_json::from_str::<String>(&got.data) {
            texts.update(text);
        }
    };
    first.iter().for_each(&mut update);
    loop {
        let got = events.next_event().await.unwrap();
        update(&got);
        if is_run_end(&got) {
            return texts.finalize().to_vec();
        }
    }
}

/// Connection that requested a stream, read its beginning, and stopped reading.
struct StalledReader {
    stream: TcpStream,
    received: Vec<u8>,
}

impl StalledReader {
    async fn open(caller: &GatewayClient, session: &str) -> StalledReader {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let address = caller.base.trim_start_matches("http://");
        let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let request = format!(
            "GET /v1/sessions/{session}/stream?{PATCHES} HTTP/1.1\r\nHost: {address}\r\n\
             Authorization: Bearer {}\r\n\r\n",
            caller.token
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut had = Vec::new();
        while !had.windows(6).any(|window| window == b"first ") {
            assert!(0 < stream.read_buf(&mut had).await.unwrap());
        }
        StalledReader { stream, received: had }
    }

    /// Reads everything that is left in the connection.
    async fn read_events(mut self) -> Vec<SseEvent> {
        // The events before a cut still count.
        let read = self.stream.read_to_end(&mut self.received);
        let Ok(_cut) = tokio::time::timeout(WAIT_MAX, read).await else {
            let end = self.received.len().saturating_sub(2000);
            panic!("it stays open after {}", String::from_utf8_lossy(&self.received[end..]));
        };
        let text = String::from_utf8(self.received).unwrap();
        let mut rest = text.split_once("\r\n\r\n").unwrap().1;
        let mut body = String::new();
        while let Some((size, more)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            let Some(chunk) = more.get(..size).filter(|chunk| !chunk.is_empty()) else { break };
            body.push_str(chunk);
            rest = &more[size + 2..];
        }
        parse_sse_events(&body)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_reads_costs_a_hundred_others_nothing_and_is_closed_with_its_cursor() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &reqwest::Client::new());
    let session = caller.create_session().await;
    let sending = caller.start_ingest(&session);
    assert!(sending.send_chunk(text_delta("first ")).await);
    let mut readers = Vec::new();
    for _ in 0..100 {
        let mut events = caller.open_stream(&session, PATCHES, "").await;
        let first = events.read_until(|got| got.data.contains("first ")).await;
        readers.push(tokio::spawn(async move { digest_text(first, events).await }));
    }
    let slow = StalledReader::open(&caller, &session).await;
    send_chunks(&sending, LARGE).await;
    let mut follower = caller.open_stream(&session, PATCHES, "").await;
    for group in 0..GROUPS {
        send_chunks(&sending, SMALL).await;
        let mark = format!("<{group}>");
        assert!(sending.send_chunk(text_delta(&mark)).await);
        follower.read_until(|got| got.data.contains(&mark)).await;
    }
    finish_run(sending).await;
    let page = caller.fetch_page(&session).await;
    let whole = digest_text(Vec::new(), caller.open_stream(&session, PATCHES, "").await).await;
    for reader in readers {
        assert!(reader.await.unwrap() == whole, "a reader has read something else");
    }
    let mut seen = slow.read_events().await;
    assert!(!seen.iter().any(is_run_end), "it was closed before the end");
    // On a slow machine it times out before it lags too far; then no reason is sent.
    if let Some(closed) = seen.pop_if(|got| got.event == "closed") {
        assert_eq!(closed.data, "{\"reason\":\"too_slow\"}");
    }
    let mut events = caller.open_stream(&session, PATCHES, &seen.last().unwrap().id).await;
    let hello = events.next_event().await.unwrap();
    assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
    seen.extend(events.read_until(is_run_end).await);
    assert!(apply_patches(&seen) == page, "the slow one has another page");
}

/// Readers that stall on a stream of 16 MB; a copy for each would take 320 MB.
const STALLED_READERS: usize = 20;
const VOLUME: (usize, usize) = (2000, 8 << 10);
/// Allowed growth: the page itself, and caches of store and log.
const GROWTH_KIB_MAX: u64 = 128 << 10;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_kept_for_those_that_never_read() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &reqwest::Client::new());
    let session = caller.create_session().await;
    let sending = caller.start_ingest(&session);
    assert!(sending.send_chunk(text_delta("first ")).await);
    let mut slow = Vec::new();
    for _ in 0..STALLED_READERS {
        slow.push(StalledReader::open(&caller, &session).await);
    }
    let before = process.resident_kib();
    let mut most = before;
    for _ in 0..VOLUME.0 / 100 {
        send_chunks(&sending, (100, VOLUME.1)).await;
        most = most.max(process.resident_kib());
    }
    finish_run(sending).await;
    most = most.max(process.resident_kib());
    let (Some(before), Some(most)) = (before, most) else {
        println!("skipped: the memory of a process cannot be seen here");
        return;
    };
    println!("resident before {before} KiB, at most {most} KiB");
    assert!(most < before + GROWTH_KIB_MAX, "{before} KiB grew to {most} KiB");
}

/// Reads what follows a frame, to the end of the run.
async fn resume_until_run_end(
    caller: &GatewayClient,
    session: &str,
    id: &str,
) -> (EventStream, Vec<SseEvent>) {
    let mut events = caller.open_stream(session, PATCHES, id).await;
    let hello = events.next_event().await.unwrap();
    assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
    let rest = events.read_until(is_run_end).await;
    (events, rest)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_readers_that_come_back_at_once_all_recover() {
    let home = temp_home();
    let mut process = GatewayProcess::start(home.path());
    let http = reqwest::Client::new();
    let caller = GatewayClient::for_process(&process, &http);
    let session = caller.create_session().await;
    let sending = caller.start_ingest(&session);
    for n in 0..300 {
        assert!(sending.send_chunk(text_delta(&format!("word {n} "))).await);
    }
    let mut events = caller.open_stream(&session, PATCHES, "").await;
    let seen = events.read_until(|got| got.data.contains("word 299 ")).await;
    process.kill();

    let process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &http);
    // What one reader gets after each of the frames that were seen before the kill.
    let mut rests = Vec::new();
    for frame in seen.iter().filter(|frame| !frame.id.is_empty()) {
        let rest = resume_until_run_end(&caller, &session, &frame.id).await.1;
        rests.push((frame.id.clone(), rest));
    }
    assert!(1 < rests.len());
    let rests = Arc::new(rests);
    let mut readers = Vec::new();
    for n in 0..1000 {
        let (caller, session, rests) = (caller.clone(), session.clone(), Arc::clone(&rests));
        readers.push(tokio::spawn(async move {
            let (id, expected) = &rests[n % rests.len()];
            let (events, rest) = resume_until_run_end(&caller, &session, id).await;
            assert!(rest == *expected, "after {id}");
            // Kept open, so that all are connected at the same time.
            events
        }));
    }
    let mut open = Vec::new();
    for reader in readers {
        open.push(reader.await.unwrap());
    }
    assert_eq!(open.len(), 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_that_allows_few_files_does_not_bound_the_readers() {
    let home = temp_home();
    let process = GatewayProcess::start_after_shell_command("ulimit -S -n 64", home.path());
    let http = reqwest::Client::new();
    let caller = GatewayClient::for_process(&process, &http);
    let session = caller.create_session().await;
    let mut readers = Vec::new();
    for _ in 0..200 {
        readers.push(caller.open_stream(&session, PATCHES, "").await);
    }
    let sending = caller.start_ingest(&session);
    assert!(sending.send_chunk(text_delta("Hello")).await);
    finish_run(sending).await;
    for reader in &mut readers {
        reader.read_until(is_run_end).await;
    }
}
