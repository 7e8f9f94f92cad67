//! Metrics of a gateway, in `OpenMetrics` format.
//!
//! Labels come from fixed sets: outcomes, views, dialects, error codes; never an id, a text or an
//! address.

use std::fmt;
use std::time::Duration;

use millpond_engine::event::{DroppedReason, HeldReason, MarkupClass, Outcome, Trace};
use millpond_engine::view::ViewName;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

type LabelledFamily<const N: usize, T> = Family<[(&'static str, &'static str); N], T>;

/// How frames reach a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    ServerSentEvents,
    WebSocket,
}

impl Transport {
    fn as_str(self) -> &'static str {
        match self {
            Transport::ServerSentEvents => "sse",
            Transport::WebSocket => "websocket",
        }
    }
}

/// Counters, gauges and histograms of this process.
pub struct Metrics {
    registry: Registry,
    ended_runs: LabelledFamily<1, Counter>,
    active_runs: Gauge,
    readers: LabelledFamily<2, Gauge>,
    sent_bytes: LabelledFamily<1, Counter>,
    reader_lag: Histogram,
    frames: LabelledFamily<1, Counter>,
    merged_appends: LabelledFamily<1, Counter>,
    committed_records: Counter,
    commits: Counter,
    commit_seconds: Histogram,
    held_bytes: LabelledFamily<1, Counter>,
    hidden_bytes: LabelledFamily<1, Counter>,
    dropped_bytes: LabelledFamily<1, Counter>,
    refusals: LabelledFamily<1, Counter>,
    ingested_bytes: LabelledFamily<1, Counter>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        let metrics = Metrics {
            registry: Registry::with_prefix("millpond"),
            ended_runs: Family::default(),
            active_runs: Gauge::default(),
            readers: Family::default(),
            sent_bytes: Family::default(),
            reader_lag: Histogram::new(exponential_buckets(1.0, 8.0, 7)),
            frames: Family::default(),
            merged_appends: Family::default(),
            committed_records: Counter::default(),
            commits: Counter::default(),
            commit_seconds: Histogram::new(exponential_buckets(0.000_1, 4.0, 9)),
            held_bytes: Family::default(),
            hidden_bytes: Family::default(),
            dropped_bytes: Family::default(),
            refusals: Family::default(),
            ingested_bytes: Family::default(),
        };
        metrics.register_all()
    }
}

impl Metrics {
    fn register_all(mut self) -> Metrics {
        let registry = &mut self.registry;
        registry.register("runs", "Ended runs, by outcome", self.ended_runs.clone());
        registry.register("runs_going", "Active runs", self.active_runs.clone());
        registry.register("readers", "Open streams, by transport and view", self.readers.clone());
        registry.register_with_unit(
            "sent",
            "Bytes of frames sent to readers, by transport",
            Unit::Bytes,
            self.sent_bytes.clone(),
        );
        registry.register(
            "reader_lag_events",
            "Records that lagging readers were behind",
            self.reader_lag.clone(),
        );
        registry.register("frames", "Frames sent to live readers, by view", self.frames.clone());
        registry.register(
            "appends_merged",
            "Appends merged into another frame, by view",
            self.merged_appends.clone(),
        );
        registry.register("events", "Committed records", self.committed_records.clone());
        registry.register("commits", "Commits to the store", self.commits.clone());
        registry.register("commit_seconds", "Duration of a commit", self.commit_seconds.clone());
        self.register_ingest_metrics();
        self
    }

    fn register_ingest_metrics(&mut self) {
        let registry = &mut self.registry;
        let bytes = || Unit::Bytes;
        let (held, hidden, dropped) = (&self.held_bytes, &self.hidden_bytes, &self.dropped_bytes);
        registry.register_with_unit(
            "held",
            "Text held back by the filter, by reason",
            bytes(),
            held.clone(),
        );
        registry.register_with_unit("hidden", "Hidden text, by class", bytes(), hidden.clone());
        registry.register_with_unit(
            "dropped",
            "Input dropped, by reason",
            bytes(),
            dropped.clone(),
        );
        registry.register("refused", "Error responses, by code", self.refusals.clone());
        registry.register_with_unit(
            "ingest",
            "Ingested streams, by dialect",
            bytes(),
            self.ingested_bytes.clone(),
        );
    }

    /// Encodes all metrics as `OpenMetrics` text. `active_runs` is their number now.
    pub fn encode_openmetrics(&self, active_runs: usize) -> Result<String, fmt::Error> {
        self.active_runs.set(i64::try_from(active_runs).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    /// Records one commit.
    pub fn record_commit(&self, records: u64, duration: Duration) {
        self.commits.inc();
        self.committed_records.inc_by(records);
        self.commit_seconds.observe(duration.as_secs_f64());
    }

    /// Records the end of a run.
    pub fn record_run_end(&self, outcome: Outcome) {
        self.ended_runs.get_or_create(&[("outcome", outcome.as_str())]).inc();
    }

    /// Counts an open reader until the returned gauge is dropped.
    pub fn count_reader_until_drop(&self, transport: Transport, view: ViewName) -> OpenReaderGauge {
        let labels = [("transport", transport.as_str()), ("view", view.as_str())];
        let open_readers = self.readers.get_or_create(&labels).clone();
        open_readers.inc();
        let sent = self.sent_bytes.get_or_create(&[("transport", transport.as_str())]).clone();
        OpenReaderGauge { open_readers, sent_bytes: sent }
    }

    /// Records how far a reader was behind.
    #[allow(clippy::cast_precision_loss, reason = "a count of records, for a bucket")]
    pub fn record_reader_lag(&self, records: u64) {
        self.reader_lag.observe(records as f64);
    }

    /// Records frames made for live readers, and appends merged into them.
    pub fn record_encoded_frames(&self, view: ViewName, frames: u64, merged: u64) {
        let label = [("view", view.as_str())];
        self.frames.get_or_create(&label).inc_by(frames);
        self.merged_appends.get_or_create(&label).inc_by(merged);
    }

    /// Records bytes that the engine held, hid or dropped.
    pub fn record_trace_bytes(&self, trace: &Trace<'_>) {
        let (family, label, bytes) = match trace {
            Trace::Held { bytes, reason } => {
                (&self.held_bytes, ("reason", held_reason_label(*reason)), bytes)
            }
            Trace::Hidden { bytes, class } => {
                (&self.hidden_bytes, ("class", markup_class_label(*class)), bytes)
            }
            Trace::Dropped { bytes, reason } => {
                (&self.dropped_bytes, ("reason", dropped_reason_label(*reason)), bytes)
            }
            Trace::DialectChosen { .. } | Trace::FirstToken { .. } => return,
        };
        family.get_or_create(&[label]).inc_by(*bytes as u64);
    }

    /// Records an error response.
    pub fn record_error_response(&self, code: &'static str) {
        self.refusals.get_or_create(&[("code", code)]).inc();
    }

    /// Records ingested bytes.
    pub fn record_ingested_bytes(&self, dialect: &'static str, bytes: usize) {
        self.ingested_bytes.get_or_create(&[("dialect", dialect)]).inc_by(bytes as u64);
    }
}

/// Counts one open reader until dropped.
#[derive(Debug)]
pub struct OpenReaderGauge {
    open_readers: Gauge,
    sent_bytes: Counter,
}

impl OpenReaderGauge {
    /// Adds bytes sent to the reader.
    pub fn add_sent_bytes(&self, bytes: usize) {
        self.sent_bytes.inc_by(bytes as u64);
    }
}

impl Drop for OpenReaderGauge {
    fn drop(&mut self) {
        self.open_readers.dec();
    }
}

fn held_reason_label(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::Markup => "markup",
        HeldReason::Blank => "blank",
    }
}

fn dropped_reason_label(reason: DroppedReason) -> &'static str {
    match reason {
        DroppedReason::Blank => "blank",
        DroppedReason::Late => "late",
        DroppedReason::Repeat => "repeat",
    }
}

fn markup_class_label(class: MarkupClass) -> &'static str {
    match class {
        MarkupClass::Reasoning => "reasoning",
        MarkupClass::Tool => "tool",
        MarkupClass::Unwrapped => "unwrapped",
        MarkupClass::Stray => "stray",
        MarkupClass::Control => "control",
        MarkupClass::Blank => "blank",
        MarkupClass::Rewritten => "rewritten",
    }
}
