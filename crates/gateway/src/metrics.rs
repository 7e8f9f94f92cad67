//! What a gateway counts, for whoever looks after it.
//!
//! Labels come from fixed sets: outcomes, views, dialects, error codes. No id, no text and no address
//! is ever one.

use std::fmt;
use std::time::Duration;

use engine::event::{DroppedReason, HeldReason, MarkupClass, Outcome, Trace};
use engine::view::ViewName;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

type By<const N: usize, T> = Family<[(&'static str, &'static str); N], T>;

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

pub struct Metrics {
    registry: Registry,
    runs: By<1, Counter>,
    going: Gauge,
    readers: By<2, Gauge>,
    sent: By<1, Counter>,
    lag: Histogram,
    frames: By<1, Counter>,
    merged: By<1, Counter>,
    events: Counter,
    commits: Counter,
    commit_seconds: Histogram,
    held: By<1, Counter>,
    hidden: By<1, Counter>,
    dropped: By<1, Counter>,
    refused: By<1, Counter>,
    ingested: By<1, Counter>,
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
            runs: Family::default(),
            going: Gauge::default(),
            readers: Family::default(),
            sent: Family::default(),
            lag: Histogram::new(exponential_buckets(1.0, 8.0, 7)),
            frames: Family::default(),
            merged: Family::default(),
            events: Counter::default(),
            commits: Counter::default(),
            commit_seconds: Histogram::new(exponential_buckets(0.000_1, 4.0, 9)),
            held: Family::default(),
            hidden: Family::default(),
            dropped: Family::default(),
            refused: Family::default(),
            ingested: Family::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Metrics {
        let all = &mut self.registry;
        all.register("runs", "Runs that have ended, by outcome", self.runs.clone());
        all.register("runs_going", "Runs that are going", self.going.clone());
        all.register("readers", "Open streams, by transport and view", self.readers.clone());
        all.register_with_unit(
            "sent",
            "Bytes of frames handed to readers, by transport",
            Unit::Bytes,
            self.sent.clone(),
        );
        all.register(
            "reader_lag_events",
            "Records by which readers were behind when they had to read the log again",
            self.lag.clone(),
        );
        all.register("frames", "Frames made for live readers, by view", self.frames.clone());
        all.register(
            "appends_merged",
            "Appends that went into the frame of another, by view",
            self.merged.clone(),
        );
        all.register("events", "Records that were committed", self.events.clone());
        all.register("commits", "Commits to the store", self.commits.clone());
        all.register("commit_seconds", "How long a commit took", self.commit_seconds.clone());
        self.register_ingest();
        self
    }

    fn register_ingest(&mut self) {
        let all = &mut self.registry;
        let bytes = || Unit::Bytes;
        let (held, hidden, dropped) = (&self.held, &self.hidden, &self.dropped);
        all.register_with_unit(
            "held",
            "Text held back until it was certain, by reason",
            bytes(),
            held.clone(),
        );
        all.register_with_unit("hidden", "Text taken out, by class", bytes(), hidden.clone());
        all.register_with_unit("dropped", "Input dropped, by reason", bytes(), dropped.clone());
        all.register("refused", "Requests refused, by code", self.refused.clone());
        all.register_with_unit(
            "ingest",
            "Streams taken in, by dialect",
            bytes(),
            self.ingested.clone(),
        );
    }

    /// All of it as text, as `OpenMetrics` has it.
    pub fn write(&self, going: usize) -> Result<String, fmt::Error> {
        self.going.set(i64::try_from(going).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    pub fn committed(&self, records: u64, took: Duration) {
        self.commits.inc();
        self.events.inc_by(records);
        self.commit_seconds.observe(took.as_secs_f64());
    }

    pub fn run_ended(&self, outcome: Outcome) {
        self.runs.get_or_create(&[("outcome", outcome.as_str())]).inc();
    }

    pub fn reader(&self, transport: Transport, view: ViewName) -> ReaderCount {
        let labels = [("transport", transport.as_str()), ("view", view.as_str())];
        let open = self.readers.get_or_create(&labels).clone();
        open.inc();
        let sent = self.sent.get_or_create(&[("transport", transport.as_str())]).clone();
        ReaderCount { open, sent }
    }

    #[allow(clippy::cast_precision_loss, reason = "a count of records, for a bucket")]
    pub fn lagged(&self, records: u64) {
        self.lag.observe(records as f64);
    }

    pub fn encoded(&self, view: ViewName, frames: u64, merged: u64) {
        let label = [("view", view.as_str())];
        self.frames.get_or_create(&label).inc_by(frames);
        self.merged.get_or_create(&label).inc_by(merged);
    }

    pub fn traced(&self, trace: &Trace<'_>) {
        let (family, label, bytes) = match trace {
            Trace::Held { bytes, reason } => (&self.held, ("reason", held(*reason)), bytes),
            Trace::Hidden { bytes, class } => (&self.hidden, ("class", hidden(*class)), bytes),
            Trace::Dropped { bytes, reason } => {
                (&self.dropped, ("reason", dropped(*reason)), bytes)
            }
            Trace::DialectChosen { .. } | Trace::FirstToken { .. } => return,
        };
        family.get_or_create(&[label]).inc_by(*bytes as u64);
    }

    pub fn refused(&self, code: &'static str) {
        self.refused.get_or_create(&[("code", code)]).inc();
    }

    pub fn ingested(&self, dialect: &'static str, bytes: usize) {
        self.ingested.get_or_create(&[("dialect", dialect)]).inc_by(bytes as u64);
    }
}

/// Counts one open stream for as long as it is there.
#[derive(Debug)]
pub struct ReaderCount {
    open: Gauge,
    sent: Counter,
}

impl ReaderCount {
    pub fn sent(&self, bytes: usize) {
        self.sent.inc_by(bytes as u64);
    }
}

impl Drop for ReaderCount {
    fn drop(&mut self) {
        self.open.dec();
    }
}

fn held(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::Markup => "markup",
        HeldReason::Blank => "blank",
    }
}

fn dropped(reason: DroppedReason) -> &'static str {
    match reason {
        DroppedReason::Blank => "blank",
        DroppedReason::Late => "late",
        DroppedReason::Repeat => "repeat",
    }
}

fn hidden(class: MarkupClass) -> &'static str {
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
