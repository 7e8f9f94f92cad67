//! Whoever works on messages. The gateway accepts, orders and keeps them; an agent answers.

pub mod script;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use engine::event::{Event, Outcome, TextMode};
use engine::run::unfinished::Unfinished;
use tokio::sync::{mpsc, watch};

use crate::clock::now_ms;
use crate::id::{RunId, SessionId};
use crate::log::{Fact, Log, RunLog};
use crate::runs::{Answer, Ticket, Wish, end_as_unkept};
use crate::store::StoreError;

pub type Working = Pin<Box<dyn Future<Output = ()> + Send>>;

pub trait Agent: Send + Sync + 'static {
    /// What the log calls the source of the run. Never the name of a dialect: those are runs that
    /// were taken in.
    fn name(&self) -> &'static str;

    /// Works on one message until its run has ended, or it is asked to stop.
    fn work(&self, job: Job) -> Working;

    /// Whether it goes on with a run that waited for an answer when the process ended. Its job is
    /// one that was found, and has a log already.
    fn resumes(&self) -> bool {
        false
    }
}

/// One message, and the run it has become.
pub struct Job {
    pub prompt: String,
    pen: Option<Pen>,
}

struct Pen {
    run: RunLog,
    ticket: Ticket,
    unfinished: Unfinished,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

impl Job {
    /// Writes that the run has begun, and with what.
    pub async fn begin(
        agent: &Arc<dyn Agent>,
        prompt: String,
        run: RunLog,
        ticket: Ticket,
    ) -> Result<Job, StoreError> {
        let pen = Some(Pen { run, ticket, unfinished: Unfinished::default() });
        let mut job = Job { prompt: prompt.clone(), pen };
        let at = Some(now_ms());
        let started = Event::RunStarted {
            version: engine::event::EVENT_VERSION,
            dialect: agent.name().into(),
            mode: TextMode::Incremental,
        };
        let facts = vec![(at, started), (at, Event::PromptReceived { text: prompt.into() })];
        job.write(facts).await?;
        Ok(job)
    }

    /// A run that was waiting for an answer when the process before this one ended.
    pub fn found(prompt: String, run: RunLog, ticket: Ticket, unfinished: Unfinished) -> Job {
        Job { prompt, pen: Some(Pen { run, ticket, unfinished }) }
    }

    /// The log, and where in it the run stands; nothing once it could not be kept.
    pub fn place(&self) -> Option<(Log, SessionId, RunId)> {
        self.pen.as_ref().map(|pen| (pen.run.log().clone(), pen.run.session(), pen.run.id()))
    }

    /// What the run is asked to do, now and whenever that changes.
    pub fn wish(&self) -> Option<watch::Receiver<Wish>> {
        self.pen.as_ref().map(|pen| pen.ticket.wish.clone())
    }

    /// Answers to asks of this run.
    pub fn take_answers(&self) -> Option<mpsc::Receiver<Answer>> {
        self.pen.as_ref().map(|pen| pen.ticket.take_answers())
    }

    /// Leaves the run as it is, waiting for an answer: the next process finds it so.
    pub fn leave_waiting(mut self) {
        self.pen = None;
    }

    /// Writes what happened; returns once it is kept.
    pub async fn write(&mut self, facts: Vec<Fact>) -> Result<(), StoreError> {
        let Some(pen) = &mut self.pen else {
            return Err(StoreError::Failed("the run has ended".to_owned()));
        };
        if facts.is_empty() {
            return Ok(());
        }
        for (_, event) in &facts {
            pen.unfinished.hear(event);
        }
        let kept = pen.run.append(facts).await.map(|_| ());
        if let Err(error) = &kept
            && let Some(pen) = self.pen.take()
        {
            tokio::spawn(end_as_unkept(pen.run, pen.ticket, error.clone()));
        }
        kept
    }
}

impl Drop for Job {
    /// An agent that went away without ending its run has been interrupted.
    fn drop(&mut self) {
        let Some(mut pen) = self.pen.take() else { return };
        let wish = *pen.ticket.wish.borrow();
        let outcome = if wish == Wish::Cancel { Outcome::Cancelled } else { Outcome::Interrupted };
        let events = pen.unfinished.close(outcome, None, "");
        if events.is_empty() {
            return;
        }
        let at = Some(now_ms());
        let facts = events.into_iter().map(|event| (at, event)).collect();
        tokio::spawn(async move {
            if let Err(error) = pen.run.append(facts).await {
                end_as_unkept(pen.run, pen.ticket, error).await;
            }
        });
    }
}
