//! A started agent: its lines as they come, and the way to say something to it.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, Command};
use tokio::task::JoinHandle;
use tokio_util::io::StreamReader;

use crate::process::Group;

use super::protocol::Said;

/// Bytes of one line; agents send some of half a megabyte.
const LINE_BYTES_MAX: usize = 32 << 20;
/// Bytes of what an agent says beside its stream that are remembered: the last.
const ERRORS_KEPT: usize = 2 << 10;
/// How long those are waited for when the agent has ended.
const LAST_ERRORS_TIME: Duration = Duration::from_millis(300);
/// How long a server has to say where it listens.
const LISTEN_TIME: Duration = Duration::from_mins(1);

pub(super) struct Connection {
    pub(super) group: Group,
    pub(super) lines: Lines,
    mouth: Mouth,
    errors: Errors,
}

enum Mouth {
    Pipe(ChildStdin),
    Server { client: reqwest::Client, base: String, password: String },
    Closed,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}

/// A stream in lines, each whole, however it comes. Waiting for one may be given up and taken up
/// again.
pub(super) struct Lines {
    reader: Pin<Box<dyn AsyncBufRead + Send>>,
    line: Vec<u8>,
}

impl Lines {
    fn of(reader: impl AsyncRead + Send + 'static) -> Lines {
        Lines { reader: Box::pin(BufReader::new(reader)), line: Vec::new() }
    }

    /// The next line with its end; nothing after the last.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let end = piece.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let taken = end.unwrap_or(piece.len());
            self.line.extend_from_slice(&piece[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
            if LINE_BYTES_MAX < self.line.len() {
                return Err(io::Error::other("a line of the agent's is too long"));
            }
        }
    }
}

/// The last of what an agent says beside its stream.
#[derive(Debug, Default)]
struct Errors {
    kept: Arc<Mutex<VecDeque<u8>>>,
    hearing: Option<JoinHandle<()>>,
}

impl Errors {
    fn hear(&mut self, mut from: impl AsyncRead + Send + Unpin + 'static) {
        let kept = Arc::clone(&self.kept);
        self.hearing = Some(tokio::spawn(async move {
            let mut piece = [0; 1024];
            while let Ok(len @ 1..) = from.read(&mut piece).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..len]);
                let over = kept.len().saturating_sub(ERRORS_KEPT);
                kept.drain(..over);
            }
        }));
    }

    /// All of it, once the agent has ended; something that it left behind may still hold the pipe.
    async fn last(&mut self) -> String {
        if let Some(hearing) = self.hearing.take() {
            let _late = tokio::time::timeout(LAST_ERRORS_TIME, hearing).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

impl Connection {
    /// An agent that is talked to by its standard input, or only prints.
    pub(super) fn piped(command: Command) -> io::Result<Connection> {
        let mut group = Group::start(command)?;
        let mouth = group.take_input().map_or(Mouth::Closed, Mouth::Pipe);
        let output = group.take_output().ok_or_else(|| io::Error::other("no output"))?;
        let mut errors = Errors::default();
        if let Some(from) = group.take_errors() {
            errors.hear(from);
        }
        Ok(Connection { group, lines: Lines::of(output), mouth, errors })
    }

    /// An agent that runs a server: `events` is where its stream is.
    pub(super) async fn server(
        command: Command,
        events: &str,
        password: String,
    ) -> io::Result<Connection> {
        let mut started = Connection::piped(command)?;
        let base = tokio::time::timeout(LISTEN_TIME, started.listening())
            .await
            .map_err(|_| io::Error::other("its server did not start in time"))??;
        let client = reqwest::Client::builder().no_proxy().build().map_err(io::Error::other)?;
        let request = client.get(format!("{base}{events}")).basic_auth(USER, Some(&password));
        let stream = tokio::time::timeout(LISTEN_TIME, request.send())
            .await
            .map_err(|_| io::Error::other("its server does not answer"))?;
        let stream = stream.and_then(reqwest::Response::error_for_status);
        let stream = stream.map_err(io::Error::other)?.bytes_stream().map_err(io::Error::other);
        started.lines = Lines::of(StreamReader::new(stream));
        started.mouth = Mouth::Server { client, base, password };
        Ok(started)
    }

    /// Where the server says that it listens.
    async fn listening(&mut self) -> io::Result<String> {
        while let Some(line) = self.lines.next().await? {
            let line = String::from_utf8_lossy(&line);
            if let Some(at) = line.find("http://127.0.0.1:") {
                return Ok(line[at..].split_whitespace().next().unwrap_or("").to_owned());
            }
        }
        Err(io::Error::other("its server did not start"))
    }

    pub(super) async fn say(&mut self, said: &Said) -> io::Result<()> {
        match (&mut self.mouth, said) {
            (Mouth::Pipe(pipe), Said::Line(line)) => {
                pipe.write_all(line.as_bytes()).await?;
                pipe.write_all(b"\n").await?;
                pipe.flush().await
            }
            (Mouth::Server { client, base, password }, Said::Post { path, body }) => {
                let request = client
                    .post(format!("{base}{path}"))
                    .basic_auth(USER, Some(&*password))
                    .header("content-type", "application/json")
                    .body(body.clone());
                let reply = request.send().await.and_then(reqwest::Response::error_for_status);
                reply.map(drop).map_err(|error| io::Error::other(error.without_url()))
            }
            _ => Err(io::Error::other("the agent is not listening")),
        }
    }

    /// Nothing more is said to it.
    pub(super) fn close(&mut self) {
        self.mouth = Mouth::Closed;
    }

    /// The last of what the agent said beside its stream, once it has ended.
    pub(super) async fn last_errors(&mut self) -> String {
        self.errors.last().await
    }
}

/// The name that servers of agents know their only user by.
const USER: &str = "opencode";
