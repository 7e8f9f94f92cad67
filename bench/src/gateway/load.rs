//! Cheap load: raw TCP readers and a writer. Each delta carries a stamp, its number and send time;
//! readers parse nothing else.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::process::ServerProcess;

/// Nanoseconds since the epoch: the same clock in all processes.
pub(super) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Formats the stamp of a delta.
pub(super) fn format_stamp(n: u64, at_ns: u64) -> String {
    format!("n:{n},t:{at_ns};")
}

/// Counts of all readers together.
#[derive(Debug, Default)]
pub(super) struct ReaderStats {
    pub(super) is_counting: bool,
    pub(super) connected: usize,
    pub(super) events: u64,
    pub(super) gaps: u64,
    pub(super) closed: usize,
    pub(super) latency_ns: Vec<u64>,
}

pub(super) type SharedStats = Rc<RefCell<ReaderStats>>;

/// Opens a stream over TCP.
pub(super) async fn connect_and_request_stream(
    server: &ServerProcess,
    target: &str,
) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(&server.address).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).await?;
    Ok(stream)
}

/// Reads a stream to its end and counts its stamps.
pub(super) async fn read_stream_into_stats(mut stream: TcpStream, seen: SharedStats) {
    let mut buffer = Vec::with_capacity(4096);
    let (mut last, mut first) = (None, true);
    while matches!(stream.read_buf(&mut buffer).await, Ok(len) if 0 < len) {
        let now = now_ns();
        let mut seen = seen.borrow_mut();
        if first {
            seen.connected += 1;
            first = false;
        }
        let used = for_each_stamp(&buffer, |n, at| {
            if seen.is_counting {
                seen.events += 1;
                seen.latency_ns.push(now.saturating_sub(at));
                seen.gaps += u64::from(last.is_some_and(|last| n != last + 1));
            }
            last = Some(n);
        });
        buffer.drain(..used);
    }
    seen.borrow_mut().closed += 1;
}

/// Calls `call` for each complete stamp. Returns the length of the parsed prefix.
fn for_each_stamp(buffer: &[u8], mut call: impl FnMut(u64, u64)) -> usize {
    let mut used = 0;
    while let Some(end) = buffer.get(used..).and_then(|rest| memchr::memchr(b';', rest)) {
        let piece = buffer.get(used..used + end).unwrap_or_default();
        if let Some(start) = memmem::rfind(piece, b"n:")
            && let Some(text) =
                piece.get(start + 2..).and_then(|text| std::str::from_utf8(text).ok())
            && let Some((n, at)) = text.split_once(",t:")
            && let (Ok(n), Ok(at)) = (n.parse(), at.parse())
        {
            call(n, at);
        }
        used += end + 1;
    }
    used
}

/// Starts readers and waits until each has received something.
pub(super) async fn start_readers_and_await_data(
    server: &ServerProcess,
    target: &str,
    readers: usize,
) -> io::Result<SharedStats> {
    let seen = SharedStats::default();
    for _ in 0..readers {
        let stream = connect_and_request_stream(server, target).await?;
        tokio::task::spawn_local(read_stream_into_stats(stream, Rc::clone(&seen)));
    }
    while seen.borrow().connected < readers {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if 0 < seen.borrow().closed {
            return Err(io::Error::other("a reader was refused"));
        }
    }
    Ok(seen)
}

/// Run sent to the gateway as one chunked request.
pub(super) struct RunUpload {
    stream: TcpStream,
    queued: String,
}

impl RunUpload {
    pub(super) async fn start(server: &ServerProcess) -> io::Result<RunUpload> {
        let mut stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /v1/ingest/openai-chat?session={} HTTP/1.1\r\nHost: {}\r\n\
             Authorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n",
            server.session, server.address, server.token
        );
        stream.write_all(head.as_bytes()).await?;
        Ok(RunUpload { stream, queued: String::new() })
    }

    pub(super) async fn send_delta(&mut self, text: &str) -> io::Result<()> {
        self.queue_delta(text);
        self.send_queued().await
    }

    /// Queues a delta for the next flush.
    pub(super) fn queue_delta(&mut self, text: &str) {
        self.queued.push_str("data: {\"choices\":[{\"delta\":{\"content\":\"");
        self.queued.push_str(text);
        self.queued.push_str("\"}}]}\n\n");
    }

    pub(super) async fn send_queued(&mut self) -> io::Result<()> {
        let data = std::mem::take(&mut self.queued);
        if data.is_empty() {
            return Ok(());
        }
        self.stream.write_all(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes()).await
    }

    /// Ends the body and waits for the response.
    pub(super) async fn end_body_and_await_any_response(mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n").await?;
        let mut answer = [0; 1024];
        self.stream.read(&mut answer).await.map(|_| ())
    }
}
