//! Ingests raw provider bytes into the log as one run.

use std::sync::Arc;

use millpond_engine::event::{Event, Millis, Outcome, Sink, Trace};
use millpond_engine::ingest::{DialectName, Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use tokio::sync::watch;

use millpond_log::id::{RunId, SessionId};
use millpond_log::metrics::Metrics;
use millpond_log::recovery::retry_ending_run_as_storage_failure;
use millpond_log::runs::{RunControl, Ticket};
use millpond_log::store::StoreError;
use millpond_log::stream_debug::StreamDebug;
use millpond_log::{RunAppender, TimedEvent};

/// Collects events until they are appended.
#[derive(Debug)]
struct EventSink {
    pending_events: Vec<TimedEvent>,
    metrics: Arc<Metrics>,
    stream_debug: StreamDebug,
    ids: (SessionId, RunId),
}

impl Sink for EventSink {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.pending_events.push((at, event.into_owned()));
    }

    fn on_trace(&mut self, trace: Trace<'_>) {
        self.metrics.record_trace_bytes(&trace);
        let (session, run) = self.ids;
        self.stream_debug.write_trace_if_on(session, run, &trace);
    }
}

/// Ingests one stream and appends its events as one run.
#[derive(Debug)]
pub struct IngestRun {
    ingest: Ingest,
    appender: RunAppender,
    ticket: Ticket,
    sink: EventSink,
    outcome: Option<Outcome>,
    /// Bytes not counted yet, because the dialect was unknown.
    uncounted_bytes: usize,
}

impl IngestRun {
    /// Starts with no bytes.
    pub fn new(options: &IngestOptions, appender: RunAppender, ticket: Ticket) -> IngestRun {
        let ingest = Ingest::new(options);
        let sink = EventSink {
            pending_events: Vec::new(),
            metrics: Arc::clone(appender.log().metrics()),
            stream_debug: appender.log().stream_debug().clone(),
            ids: (appender.session(), appender.run_id()),
        };
        IngestRun { ingest, appender, ticket, sink, outcome: None, uncounted_bytes: 0 }
    }

    /// The session of the run.
    pub fn session(&self) -> SessionId {
        self.appender.session()
    }

    /// The id of the run.
    pub fn run_id(&self) -> RunId {
        self.appender.run_id()
    }

    /// Watches the run's `RunControl`.
    pub fn control_receiver(&mut self) -> &mut watch::Receiver<RunControl> {
        &mut self.ticket.control
    }

    /// Ingests bytes. Returns once their events are committed.
    pub async fn push(&mut self, bytes: &[u8], now: Millis) -> Result<(), StoreError> {
        self.ingest.push(bytes, Some(now), &mut self.sink);
        self.uncounted_bytes += bytes.len();
        if self.ingest.dialect().is_some() {
            self.record_uncounted_bytes_in_metrics();
        }
        self.append_pending_events().await
    }

    fn record_uncounted_bytes_in_metrics(&mut self) {
        let dialect = self.ingest.dialect().map_or("unknown", DialectName::as_str);
        self.sink.metrics.record_ingested_bytes(dialect, std::mem::take(&mut self.uncounted_bytes));
    }

    /// Finishes the run. Returns its outcome.
    pub async fn finish(mut self, input_end: InputEnd, now: Millis) -> Result<Outcome, StoreError> {
        self.ingest.finish(input_end, Some(now), &mut self.sink);
        self.record_uncounted_bytes_in_metrics();
        match self.append_pending_events().await {
            Ok(()) => Ok(self.outcome.unwrap_or(Outcome::Truncated)),
            Err(error) => {
                self.spawn_storage_failure_ending(error.clone());
                Err(error)
            }
        }
    }

    /// Ends the run as failed because its events could not be stored; retried in the background.
    pub fn spawn_storage_failure_ending(self, error: StoreError) {
        tokio::spawn(retry_ending_run_as_storage_failure(self.appender, self.ticket, error));
    }

    async fn append_pending_events(&mut self) -> Result<(), StoreError> {
        let events = std::mem::take(&mut self.sink.pending_events);
        if events.is_empty() {
            return Ok(());
        }
        if let Some((_, Event::RunEnded { ending })) = events.last() {
            self.outcome = Some(ending.outcome);
        }
        self.appender.append(events).await?;
        Ok(())
    }
}
