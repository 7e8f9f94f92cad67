//! A running agent process: its output lines, its input (standard input or HTTP), its stderr.

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

use crate::process::ProcessGroup;

use super::protocol::OutgoingMessage;

/// Bytes of one line; agents send lines of half a megabyte.
const LINE_BYTES_MAX: usize = 32 << 20;
/// Bytes of stderr that are kept, from its end.
const STDERR_BYTES_KEPT: usize = 2 << 10;
/// Time to read the rest of stderr after the agent has ended.
const STDERR_DRAIN_TIME: Duration = Duration::from_millis(300);
/// Time an agent's server has to start and respond.
const SERVER_START_TIMEOUT: Duration = Duration::from_mins(1);

/// Connection to a running agent.
pub(super) struct Connection {
    pub(super) process_group: ProcessGroup,
    pub(super) lines: LineReader,
    input: AgentInput,
    stderr: StderrTail,
}

/// Channel for messages to the agent.
enum AgentInput {
    Stdin(ChildStdin),
    Http { client: reqwest::Client, base: String, password: String },
    Closed,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}

/// Splits a stream into lines. Cancel-safe: a partial line is kept.
pub(super) struct LineReader {
    reader: Pin<Box<dyn AsyncBufRead + Send>>,
    partial_line: Vec<u8>,
}

impl LineReader {
    fn new(reader: impl AsyncRead + Send + 'static) -> LineReader {
        LineReader { reader: Box::pin(BufReader::new(reader)), partial_line: Vec::new() }
    }

    /// Reads the next line with its line end; `None` at the end of the stream.
    pub(super) async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let rest = std::mem::take(&mut self.partial_line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let end = chunk.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let line_len = end.unwrap_or(chunk.len());
            self.partial_line.extend_from_slice(&chunk[..line_len]);
            self.reader.consume(line_len);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.partial_line)));
            }
            if LINE_BYTES_MAX < self.partial_line.len() {
                return Err(io::Error::other("the agent sent a line that is too long"));
            }
        }
    }
}

/// The last bytes of an agent's stderr.
#[derive(Debug, Default)]
struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    reader_task: Option<JoinHandle<()>>,
}

impl StderrTail {
    /// Reads stderr in a background task.
    fn start_reading(&mut self, mut stderr: impl AsyncRead + Send + Unpin + 'static) {
        let tail = Arc::clone(&self.bytes);
        self.reader_task = Some(tokio::spawn(async move {
            let mut chunk = [0; 1024];
            while let Ok(len @ 1..) = stderr.read(&mut chunk).await {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend(&chunk[..len]);
                let excess = tail.len().saturating_sub(STDERR_BYTES_KEPT);
                tail.drain(..excess);
            }
        }));
    }

    /// Waits briefly for the end of stderr and returns the text kept. A child process left behind
    /// may hold the pipe open.
    async fn wait_briefly_and_get_text(&mut self) -> String {
        if let Some(reader_task) = self.reader_task.take() {
            let _late = tokio::time::timeout(STDERR_DRAIN_TIME, reader_task).await;
        }
        let tail = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

impl Connection {
    /// Starts an agent that uses standard input and output.
    pub(super) fn spawn_piped(command: Command) -> io::Result<Connection> {
        let mut group = ProcessGroup::spawn(command)?;
        let input = group.take_stdin().map_or(AgentInput::Closed, AgentInput::Stdin);
        let output = group.take_stdout().ok_or_else(|| io::Error::other("no output"))?;
        let mut errors = StderrTail::default();
        if let Some(stderr) = group.take_stderr() {
            errors.start_reading(stderr);
        }
        Ok(Connection {
            process_group: group,
            lines: LineReader::new(output),
            input,
            stderr: errors,
        })
    }

    /// Starts an agent that serves HTTP, and follows its event stream at the path `events`.
    pub(super) async fn spawn_server_and_open_events(
        command: Command,
        events: &str,
        password: String,
    ) -> io::Result<Connection> {
        let mut started = Connection::spawn_piped(command)?;
        let base = tokio::time::timeout(SERVER_START_TIMEOUT, started.wait_for_server_url())
            .await
            .map_err(|_| io::Error::other("its server did not start in time"))??;
        let client = reqwest::Client::builder().no_proxy().build().map_err(io::Error::other)?;
        let request =
            client.get(format!("{base}{events}")).basic_auth(SERVER_USER, Some(&password));
        let stream = tokio::time::timeout(SERVER_START_TIMEOUT, request.send())
            .await
            .map_err(|_| io::Error::other("its server did not respond"))?;
        let stream = stream.and_then(reqwest::Response::error_for_status);
        let stream = stream.map_err(io::Error::other)?.bytes_stream().map_err(io::Error::other);
        started.lines = LineReader::new(StreamReader::new(stream));
        started.input = AgentInput::Http { client, base, password };
        Ok(started)
    }

    /// Reads output until the server prints its URL.
    async fn wait_for_server_url(&mut self) -> io::Result<String> {
        while let Some(line) = self.lines.next_line().await? {
            let line = String::from_utf8_lossy(&line);
            if let Some(at) = line.find("http://127.0.0.1:") {
                return Ok(line[at..].split_whitespace().next().unwrap_or("").to_owned());
            }
        }
        Err(io::Error::other("its server did not start"))
    }

    /// Sends a message to the agent.
    pub(super) async fn send(&mut self, message: &OutgoingMessage) -> Result<(), SendError> {
        match (&mut self.input, message) {
            (AgentInput::Stdin(pipe), OutgoingMessage::Line(line)) => {
                pipe.write_all(line.as_bytes()).await?;
                pipe.write_all(b"\n").await?;
                Ok(pipe.flush().await?)
            }
            (AgentInput::Http { client, base, password }, OutgoingMessage::Post { path, body }) => {
                let request = client
                    .post(format!("{base}{path}"))
                    .basic_auth(SERVER_USER, Some(&*password))
                    .header("content-type", "application/json")
                    .body(body.clone());
                let reply = request.send().await.and_then(reqwest::Response::error_for_status);
                reply.map(drop).map_err(|error| match error.status() {
                    Some(reqwest::StatusCode::NOT_FOUND) => {
                        SendError::NotFound(error.without_url())
                    }
                    _ => SendError::Http(error.without_url()),
                })
            }
            _ => Err(SendError::InputClosed),
        }
    }

    /// Closes the agent's input.
    pub(super) fn close_input(&mut self) {
        self.input = AgentInput::Closed;
    }

    /// Waits briefly for the end of stderr and returns its last bytes as text.
    pub(super) async fn wait_for_stderr_tail(&mut self) -> String {
        self.stderr.wait_briefly_and_get_text().await
    }
}

/// Error of sending a message to the agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// The agent's server does not know the path, because it does not know the session.
    #[error("{0}")]
    NotFound(reqwest::Error),
    #[error("{0}")]
    Http(reqwest::Error),
    #[error(transparent)]
    Pipe(#[from] io::Error),
    #[error("the agent's input is closed")]
    InputClosed,
}

/// User name for the basic authentication of agents' servers.
const SERVER_USER: &str = "opencode";
