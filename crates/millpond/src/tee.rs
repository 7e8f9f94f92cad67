//! `millpond tee`: copies standard input to standard output and sends it to a gateway.
//!
//! Invariant: the copy is unchanged and never waits for the gateway.

use std::io::{Read, Write};
use std::process::ExitCode;

use millpond_client::ingest::IngestedRun;
use millpond_client::{GatewayClient, RequestError};
use millpond_engine::event::{Event, Millis, Sink, Trace};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::SourceOptions;
use millpond_log::id::SessionId;
use tokio::sync::mpsc;

use crate::args::TeeArgs;
use crate::command::{block_on, print_error_and_return_failure};
use crate::local_gateway::GatewayTarget;
use crate::show::{load_source_options, print_to_stderr};
use crate::stream_debug::DebugOutput;

/// Chunks queued for the gateway; when the queue is full, sending stops.
const QUEUED_CHUNKS_MAX: usize = 16 << 10;
const CHUNK_BYTES: usize = 8 << 10;

/// Error after chunks were dropped.
const NOT_SENT: &str =
    "the gateway was too slow or closed the connection: the stream was not sent completely";

/// Gateway, dialect and session of the stream.
struct Target {
    client: GatewayClient,
    dialect: String,
    session: Option<String>,
    options: SourceOptions,
}

/// Reads the copied bytes for `--stream-debug`.
struct DebugReader {
    ingest: Ingest,
    output: DebugSink,
}

/// Prints the decisions of the engine.
struct DebugSink(DebugOutput);

impl Sink for DebugSink {
    fn on_event(&mut self, _: Option<Millis>, _: Event<'_>) {}

    fn on_trace(&mut self, trace: Trace<'_>) {
        self.0.print_trace_if_on(&trace);
    }
}

impl DebugReader {
    fn start_if_on(args: &TeeArgs, options: &SourceOptions) -> Option<DebugReader> {
        args.stream_debug.stream_debug.then(|| {
            let run = options.build_run_options();
            let ingest = Ingest::new(&IngestOptions { dialect: args.from.parse().ok(), run });
            DebugReader { ingest, output: DebugSink(DebugOutput::new(&args.stream_debug, [])) }
        })
    }

    fn push(&mut self, bytes: &[u8]) {
        self.ingest.push(bytes, None, &mut self.output);
    }
}

/// Runs `millpond tee`.
pub(crate) fn run(args: &TeeArgs) -> ExitCode {
    let options = match load_source_options(&args.source) {
        Ok(options) => options,
        Err(error) => return error.print_and_return_status(),
    };
    if let Some(session) = &args.session
        && session.parse::<SessionId>().is_err()
    {
        print_to_stderr(&format!(
            "invalid session `{session}`: use an ID that the gateway printed"
        ));
        return ExitCode::from(2);
    }
    let debug = DebugReader::start_if_on(args, &options);
    match build_client(args) {
        Ok(client) => {
            let (dialect, session) = (args.from.clone(), args.session.clone());
            copy_and_send(Target { client, dialect, session, options }, debug)
        }
        // The copy matters to others: it does not depend on the gateway.
        Err(problem) => {
            print_to_stderr(&format!("{problem}; the stream is copied, but not sent"));
            if let Err(problem) = copy_stdin_to_stdout_and_queue(None, debug) {
                print_to_stderr(&problem);
            }
            ExitCode::FAILURE
        }
    }
}

fn build_client(args: &TeeArgs) -> Result<GatewayClient, String> {
    let folder = args.config.load_settings()?.data_folder()?;
    let (url, token) = (args.url.as_deref(), args.token.as_deref());
    GatewayTarget { folder: &folder, url, token }.resolve_and_build_client()
}

/// Copies standard input to standard output and sends it to the gateway.
fn copy_and_send(target: Target, debug: Option<DebugReader>) -> ExitCode {
    let (chunks, queued) = mpsc::channel(QUEUED_CHUNKS_MAX);
    let sender = std::thread::spawn(move || block_on(send_queued_chunks(&target, queued)));
    let copied = copy_stdin_to_stdout_and_queue(Some(&chunks), debug);
    drop(chunks);
    let sent = sender.join().unwrap_or_else(|_| Err("the sending thread panicked".to_owned()));
    match (copied, sent) {
        (Ok(()), Ok(IngestedRun { session, run, outcome })) => {
            print_to_stderr(&format!("session {session}, run {run}: {outcome}"));
            ExitCode::SUCCESS
        }
        // The gateway's error explains more than the copy's.
        (_, Err(problem)) | (Err(problem), _) => print_error_and_return_failure(&problem),
    }
}

/// Copies standard input to standard output and queues it for the gateway, if there is one. After
/// standard output is closed, the gateway still gets the rest.
fn copy_stdin_to_stdout_and_queue(
    chunks: Option<&mpsc::Sender<Vec<u8>>>,
    mut debug: Option<DebugReader>,
) -> Result<(), String> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut piece = vec![0; CHUNK_BYTES];
    let is_closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    let mut behind = false;
    loop {
        let len = match input.read(&mut piece) {
            Ok(0) if behind => {
                return Err(NOT_SENT.to_owned());
            }
            Ok(0) => return Ok(()),
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("cannot read standard input: {error}")),
        };
        if let Some(debug) = &mut debug {
            debug.push(&piece[..len]);
        }
        match output.write_all(&piece[..len]).and_then(|()| output.flush()) {
            // Nobody gets the rest.
            Err(error) if is_closed(&error) && chunks.is_none() => return Ok(()),
            Err(error) if !is_closed(&error) => {
                return Err(format!("cannot write standard output: {error}"));
            }
            _ => {}
        }
        // A dropped chunk cannot be sent later: stop sending.
        behind =
            behind || chunks.is_some_and(|queue| queue.try_send(piece[..len].to_vec()).is_err());
    }
}

/// Sends the queued chunks as one stream and returns the run they became.
async fn send_queued_chunks(
    target: &Target,
    queued: mpsc::Receiver<Vec<u8>>,
) -> Result<IngestedRun, String> {
    let Target { client, dialect, session, options } = target;
    let sent = client.ingest_stream(dialect, session.as_deref(), options, queued).await;
    sent.map_err(|error| match error {
        RequestError::Unreachable(cause) => format!("cannot send to the gateway: {cause}"),
        refused => format!("the gateway rejected the stream: {refused}"),
    })
}
