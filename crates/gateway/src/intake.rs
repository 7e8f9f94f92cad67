//! Raw provider bytes on their way into the log, as one run.

use engine::event::{Event, Millis, Outcome, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use tokio::sync::watch;

use crate::log::{Fact, RunLog};
use crate::runs::{Ticket, Wish, end_as_unkept};
use crate::store::StoreError;

/// Facts that have been made and not yet appended.
#[derive(Debug, Default)]
struct Made(Vec<Fact>);

impl Sink for Made {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.0.push((at, event.into_owned()));
    }
}

#[derive(Debug)]
pub struct Intake {
    ingest: Ingest,
    run: RunLog,
    ticket: Ticket,
    made: Made,
    outcome: Option<Outcome>,
}

impl Intake {
    pub fn new(options: &Options, run: RunLog, ticket: Ticket) -> Intake {
        let ingest = Ingest::new(options);
        Intake { ingest, run, ticket, made: Made::default(), outcome: None }
    }

    /// What the run is asked to do, now and whenever that changes.
    pub fn wish(&mut self) -> &mut watch::Receiver<Wish> {
        &mut self.ticket.wish
    }

    /// Takes bytes as they came. Returns once what they made is in the log.
    pub async fn push(&mut self, bytes: &[u8], now: Millis) -> Result<(), StoreError> {
        self.ingest.push(bytes, Some(now), &mut self.made);
        self.append().await
    }

    /// No more bytes come. Returns how the run ended.
    pub async fn finish(mut self, cut: Cut, now: Millis) -> Result<Outcome, StoreError> {
        self.ingest.finish(cut, Some(now), &mut self.made);
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
        let facts = std::mem::take(&mut self.made.0);
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
