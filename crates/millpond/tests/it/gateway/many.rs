//! Slow readers and many of them: nobody is kept waiting, nothing is kept for anybody.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::client::{
    Caller, Events, Got, PATCHES, PATIENCE, Sending, delta, ends, page_of, parse_all,
};
use super::process::{Process, home};

/// Fill the buffers of a connection on the way, and then some.
const LARGE: (usize, usize) = (750, 8 << 10);
/// Groups of pieces, each sent once the one before was seen: more than wait for a reader, and more
/// records than it may fall behind.
const GROUPS: usize = 80;
const SMALL: (usize, usize) = (800, 1);

async fn send(sending: &Sending, (pieces, bytes): (usize, usize)) {
    for _ in 0..pieces {
        assert!(sending.piece(delta(&"x".repeat(bytes))).await);
    }
}

async fn finish(sending: Sending) {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert!(sending.piece(end.as_bytes().to_vec()).await);
    assert_eq!(sending.done().await["outcome"], "completed");
}

/// All text up to the end of the run, as a digest: a hundred times the whole would fill a machine.
async fn digest(first: Vec<Got>, mut events: Events) -> Vec<u8> {
    let mut texts = Sha256::new();
    let mut hear = |got: &Got| {
        // A text alone is appended to what stands there.
        if let Ok(text) = serde_json::from_str::<String>(&got.data) {
            texts.update(text);
        }
    };
    first.iter().for_each(&mut hear);
    loop {
        let got = events.next().await.unwrap();
        hear(&got);
        if ends(&got) {
            return texts.finalize().to_vec();
        }
    }
}

/// A connection that asked for a stream, got its beginning, and reads no more.
struct Ignored {
    stream: TcpStream,
    had: Vec<u8>,
}

impl Ignored {
    async fn open(caller: &Caller, session: &str) -> Ignored {
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
        Ignored { stream, had }
    }

    /// Reads all that the connection still holds.
    async fn events(mut self) -> Vec<Got> {
        // One that was cut has still told what it told.
        let read = self.stream.read_to_end(&mut self.had);
        let Ok(_cut) = tokio::time::timeout(PATIENCE, read).await else {
            let end = self.had.len().saturating_sub(2000);
            panic!("it stays open after {}", String::from_utf8_lossy(&self.had[end..]));
        };
        let text = String::from_utf8(self.had).unwrap();
        let mut rest = text.split_once("\r\n\r\n").unwrap().1;
        let mut body = String::new();
        while let Some((size, more)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            let Some(chunk) = more.get(..size).filter(|chunk| !chunk.is_empty()) else { break };
            body.push_str(chunk);
            rest = &more[size + 2..];
        }
        parse_all(&body)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_reads_costs_a_hundred_others_nothing_and_is_closed_with_its_cursor() {
    let home = home();
    let process = Process::start(home.path());
    let caller = Caller::of(&process, &reqwest::Client::new());
    let session = caller.new_session().await;
    let sending = caller.send(&session);
    assert!(sending.piece(delta("first ")).await);
    let mut readers = Vec::new();
    for _ in 0..100 {
        let mut events = caller.follow(&session, PATCHES, "").await;
        let first = events.until(|got| got.data.contains("first ")).await;
        readers.push(tokio::spawn(async move { digest(first, events).await }));
    }
    let slow = Ignored::open(&caller, &session).await;
    send(&sending, LARGE).await;
    let mut follower = caller.follow(&session, PATCHES, "").await;
    for group in 0..GROUPS {
        send(&sending, SMALL).await;
        let mark = format!("<{group}>");
        assert!(sending.piece(delta(&mark)).await);
        follower.until(|got| got.data.contains(&mark)).await;
    }
    finish(sending).await;
    let page = caller.page(&session).await;
    let whole = digest(Vec::new(), caller.follow(&session, PATCHES, "").await).await;
    for reader in readers {
        assert!(reader.await.unwrap() == whole, "a reader has read something else");
    }
    let mut seen = slow.events().await;
    assert!(!seen.iter().any(ends), "it was closed before the end");
    // On a slow machine its time is up before it is too far behind; then it is told nothing.
    if let Some(closed) = seen.pop_if(|got| got.event == "closed") {
        assert_eq!(closed.data, "{\"reason\":\"too_slow\"}");
    }
    let mut events = caller.follow(&session, PATCHES, &seen.last().unwrap().id).await;
    let hello = events.next().await.unwrap();
    assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
    seen.extend(events.until(ends).await);
    assert!(page_of(&seen) == page, "the slow one has another page");
}

/// Readers that ignore a stream of 16 MB: if it were kept for each, that would be 320 MB.
const IGNORING: usize = 20;
const VOLUME: (usize, usize) = (2000, 8 << 10);
/// The page itself, and what the store and the log have at hand.
const GROWTH_KIB_MAX: u64 = 128 << 10;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_kept_for_those_that_never_read() {
    let home = home();
    let process = Process::start(home.path());
    let caller = Caller::of(&process, &reqwest::Client::new());
    let session = caller.new_session().await;
    let sending = caller.send(&session);
    assert!(sending.piece(delta("first ")).await);
    let mut slow = Vec::new();
    for _ in 0..IGNORING {
        slow.push(Ignored::open(&caller, &session).await);
    }
    let before = process.resident_kib();
    let mut most = before;
    for _ in 0..VOLUME.0 / 100 {
        send(&sending, (100, VOLUME.1)).await;
        most = most.max(process.resident_kib());
    }
    finish(sending).await;
    most = most.max(process.resident_kib());
    let (Some(before), Some(most)) = (before, most) else {
        println!("skipped: the memory of a process cannot be seen here");
        return;
    };
    println!("resident before {before} KiB, at most {most} KiB");
    assert!(most < before + GROWTH_KIB_MAX, "{before} KiB grew to {most} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_readers_that_come_back_at_once_all_recover() {
    let home = home();
    let mut process = Process::start(home.path());
    let http = reqwest::Client::new();
    let caller = Caller::of(&process, &http);
    let session = caller.new_session().await;
    let sending = caller.send(&session);
    for n in 0..300 {
        assert!(sending.piece(delta(&format!("word {n} "))).await);
    }
    let mut events = caller.follow(&session, PATCHES, "").await;
    let _seen = events.until(|got| got.data.contains("word 299 ")).await;
    process.kill();

    let process = Process::start(home.path());
    let caller = Caller::of(&process, &http);
    let whole = Arc::new(caller.follow(&session, PATCHES, "").await.until(ends).await);
    assert!(300 < whole.len());
    let mut readers = Vec::new();
    for n in 0..1000 {
        let (caller, session, whole) = (caller.clone(), session.clone(), Arc::clone(&whole));
        readers.push(tokio::spawn(async move {
            let at = n % (whole.len() - 1);
            let mut events = caller.follow(&session, PATCHES, &whole[at].id).await;
            let hello = events.next().await.unwrap();
            assert!(hello.data.contains("\"recovered\":true"), "{}", hello.data);
            let rest = events.until(ends).await;
            assert!(rest == whole[at + 1..], "after {}", whole[at].id);
            // Held open, so that all are there at the same time.
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
    let home = home();
    let process = Process::start_after("ulimit -S -n 64", home.path());
    let http = reqwest::Client::new();
    let caller = Caller::of(&process, &http);
    let session = caller.new_session().await;
    let mut readers = Vec::new();
    for _ in 0..200 {
        readers.push(caller.follow(&session, PATCHES, "").await);
    }
    let sending = caller.send(&session);
    assert!(sending.piece(delta("Hello")).await);
    finish(sending).await;
    for reader in &mut readers {
        reader.until(ends).await;
    }
}
