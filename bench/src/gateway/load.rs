//! Readers and a writer by hand, so that the load costs little: each delta says its number and when
//! it was made, and each reader looks for nothing else.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::process::Server;

/// The same clock in all processes of this machine.
pub(super) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn stamp(n: u64, at_ns: u64) -> String {
    format!("n:{n},t:{at_ns};")
}

/// What all readers saw together.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) counting: bool,
    pub(super) connected: usize,
    pub(super) events: u64,
    pub(super) gaps: u64,
    pub(super) broken: usize,
    pub(super) latency_ns: Vec<u64>,
}

pub(super) type Shared = Rc<RefCell<Seen>>;

pub(super) async fn open(server: &Server, target: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(&server.address).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).await?;
    Ok(stream)
}

/// Reads for as long as something comes.
pub(super) async fn read(mut stream: TcpStream, seen: Shared) {
    let mut buffer = Vec::with_capacity(4096);
    let (mut last, mut first) = (None, true);
    while matches!(stream.read_buf(&mut buffer).await, Ok(len) if 0 < len) {
        let now = now_ns();
        let mut seen = seen.borrow_mut();
        if first {
            seen.connected += 1;
            first = false;
        }
        let used = take_stamps(&buffer, |n, at| {
            if seen.counting {
                seen.events += 1;
                seen.latency_ns.push(now.saturating_sub(at));
                seen.gaps += u64::from(last.is_some_and(|last| n != last + 1));
            }
            last = Some(n);
        });
        buffer.drain(..used);
    }
    seen.borrow_mut().broken += 1;
}

/// Calls for each whole stamp. Says up to where all were whole.
fn take_stamps(buffer: &[u8], mut call: impl FnMut(u64, u64)) -> usize {
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

/// Starts readers, and waits until each has got something.
pub(super) async fn crowd(server: &Server, target: &str, readers: usize) -> io::Result<Shared> {
    let seen = Shared::default();
    for _ in 0..readers {
        let stream = open(server, target).await?;
        tokio::task::spawn_local(read(stream, Rc::clone(&seen)));
    }
    while seen.borrow().connected < readers {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if 0 < seen.borrow().broken {
            return Err(io::Error::other("a reader was refused"));
        }
    }
    Ok(seen)
}

/// A run that is written by hand.
pub(super) struct Writing {
    stream: TcpStream,
    held: String,
}

impl Writing {
    pub(super) async fn begin(server: &Server) -> io::Result<Writing> {
        let mut stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /v1/ingest/openai-chat?session={} HTTP/1.1\r\nHost: {}\r\n\
             Authorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n",
            server.session, server.address, server.token
        );
        stream.write_all(head.as_bytes()).await?;
        Ok(Writing { stream, held: String::new() })
    }

    pub(super) async fn delta(&mut self, text: &str) -> io::Result<()> {
        self.hold(text);
        self.flush().await
    }

    /// Goes with the next flush.
    pub(super) fn hold(&mut self, text: &str) {
        self.held.push_str("data: {\"choices\":[{\"delta\":{\"content\":\"");
        self.held.push_str(text);
        self.held.push_str("\"}}]}\n\n");
    }

    pub(super) async fn flush(&mut self) -> io::Result<()> {
        let data = std::mem::take(&mut self.held);
        if data.is_empty() {
            return Ok(());
        }
        self.stream.write_all(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes()).await
    }

    /// Ends the body, and waits for the answer.
    pub(super) async fn end(mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n").await?;
        let mut answer = [0; 1024];
        self.stream.read(&mut answer).await.map(|_| ())
    }
}
