//! Raw provider bytes on their way into the log, as one run.

use std::sync::Arc;

use engine::event::{Event, Millis, Outcome, Sink, Trace};
use engine::ingest::{DialectName, Ingest, Options};
use engine::run::Cut;
use tokio::sync::watch;

use crate::id::{RunId, SessionId};
use crate::log::{Fact, RunLog};
use crate::metrics::Metrics;
use crate::runs::{Ticket, Wish, end_as_unkept};
use crate::store::StoreError;

/// Facts that have been made and not yet appended.
#[derive(Debug)]
struct Made {
    facts: Vec<Fact>,
    metrics: Arc<Metrics>,
}

impl Sink for Made {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.facts.push((at, event.into_owned()));
    }

    fn trace(&mut self, trace: Trace<'_>) {
        self.metrics.traced(&trace);
    }
}

#[derive(Debug)]
pub struct Intake {
    ingest: Ingest,
    run: RunLog,
    ticket: Ticket,
    made: Made,
    outcome: Option<Outcome>,
    /// Taken and not yet counted: whose dialect it is may not be known at first.
    bytes: usize,
}

impl Intake {
    pub fn new(options: &Options, run: RunLog, ticket: Ticket) -> Intake {
        let ingest = Ingest::new(options);
        let made = Made { facts: Vec::new(), metrics: Arc::clone(run.log().metrics()) };
        Intake { ingest, run, ticket, made, outcome: None, bytes: 0 }
    }

    pub fn session(&self) -> SessionId {
        self.run.session()
    }

    pub fn run(&self) -> RunId {
        self.run.id()
    }

    /// What the run is asked to do, now and whenever that changes.
    pub fn wish(&mut self) -> &mut watch::Receiver<Wish> {
        &mut self.ticket.wish
    }

    /// Takes bytes as they came. Returns once what they made is in the log.
    pub async fn push(&mut self, bytes: &[u8], now: Millis) -> Result<(), StoreError> {
        self.ingest.push(bytes, Some(now), &mut self.made);
        self.bytes += bytes.len();
        if self.ingest.dialect().is_some() {
            self.count();
        }
        self.append().await
    }

    fn count(&mut self) {
        let dialect = self.ingest.dialect().map_or("unknown", DialectName::as_str);
        self.made.metrics.ingested(dialect, std::mem::take(&mut self.bytes));
    }

    /// No more bytes come. Returns how the run ended.
    pub async fn finish(mut self, cut: Cut, now: Millis) -> Result<Outcome, StoreError> {
        self.ingest.finish(cut, Some(now), &mut self.made);
        self.count();
        match self.append().await {
            Ok(()) => Ok(self.outcome.unwrap_or(Outcome::Truncated)),
            Err(error) => {
                self.give_up(error.clone());
                Err(error)
            }
        }
    }

    /// The log cannot be kept: the run ends as failed as soon as that can be kept.
    pub fn give_up(self, error: StoreError) {
        tokio::spawn(end_as_unkept(self.run, self.ticket, error));
    }

    async fn append(&mut self) -> Result<(), StoreError> {
        let facts = std::mem::take(&mut self.made.facts);
        if facts.is_empty() {
            return Ok(());
        }
        if let Some((_, Event::RunEnded { ending })) = facts.last() {
            self.outcome = Some(ending.outcome);
        }
        self.run.append(facts).await?;
        Ok(())
    }
}
