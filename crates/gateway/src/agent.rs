//! Whoever works on messages. The gateway accepts, orders and keeps them; an agent answers.

pub mod script;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use engine::event::{Event, Image, Outcome, TextMode};
use engine::run::unfinished::Unfinished;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

use crate::clock::now_ms;
use crate::id::{RunId, SessionId};
use crate::log::{Fact, Log, RunLog};
use crate::messages::{Joining, Queues};
use crate::runs::{Answer, Ticket, Wish, end_as_unkept};
use crate::store::StoreError;

pub type Working = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What an agent tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    /// The model that answers, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tools that it has of us; an agent of somebody else's has its own.
    pub tools: Vec<ToolAbout>,
    /// What it cannot reach, in words.
    pub missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolAbout {
    pub name: String,
    pub about: String,
    /// `allow`, `ask` or `deny`.
    pub policy: &'static str,
}

pub trait Agent: Send + Sync + 'static {
    /// What the log calls the source of the run. Never the name of a dialect: those are runs that
    /// were taken in.
    fn name(&self) -> &'static str;

    /// Works on one message until its run has ended, or it is asked to stop.
    fn work(&self, job: Job) -> Working;

    /// What it is. It may have to ask others, and takes its time then.
    fn about(&self) -> Pin<Box<dyn Future<Output = About> + Send>> {
        Box::pin(std::future::ready(About::default()))
    }

    /// Whether it goes on with a run that waited for an answer when the process ended. Its job is
    /// one that was found, and has a log already.
    fn resumes(&self) -> bool {
        false
    }
}

/// What a person wrote, and what they showed with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    pub images: Vec<Image<'static>>,
}

/// One message, and the run it has become.
pub struct Job {
    pub prompt: Prompt,
    pen: Option<Pen>,
}

struct Pen {
    place: Place,
    unfinished: Unfinished,
}

/// Where a run is: its log, its place among those that are going, and what waits behind it.
#[derive(Debug)]
pub struct Place {
    pub run: RunLog,
    pub ticket: Ticket,
    pub queues: Arc<Queues>,
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
        prompt: Prompt,
        place: Place,
    ) -> Result<Job, StoreError> {
        let pen = Some(Pen { place, unfinished: Unfinished::default() });
        let mut job = Job { prompt: prompt.clone(), pen };
        let at = Some(now_ms());
        let started = Event::RunStarted {
            version: engine::event::EVENT_VERSION,
            dialect: agent.name().into(),
            mode: TextMode::Incremental,
        };
        let Prompt { text, images } = prompt;
        let received = Event::PromptReceived { text: text.into(), images };
        job.write(vec![(at, started), (at, received)]).await?;
        Ok(job)
    }

    /// A run that was waiting for an answer when the process before this one ended.
    pub fn found(prompt: Prompt, place: Place, unfinished: Unfinished) -> Job {
        place.ticket.asking(unfinished.asks());
        Job { prompt, pen: Some(Pen { place, unfinished }) }
    }

    /// The log, and where in it the run stands; nothing once it could not be kept.
    pub fn place(&self) -> Option<(Log, SessionId, RunId)> {
        let run = &self.pen.as_ref()?.place.run;
        Some((run.log().clone(), run.session(), run.id()))
    }

    /// What the run is asked to do, now and whenever that changes.
    pub fn wish(&self) -> Option<watch::Receiver<Wish>> {
        self.pen.as_ref().map(|pen| pen.place.ticket.wish.clone())
    }

    /// Answers to asks of this run.
    pub fn take_answers(&self) -> Option<mpsc::Receiver<Answer>> {
        self.pen.as_ref().map(|pen| pen.place.ticket.take_answers())
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
        let kept = pen.place.run.append(facts).await.map(|_| ());
        pen.place.ticket.asking(pen.unfinished.asks());
        if let Err(error) = &kept
            && let Some(Pen { place: Place { run, ticket, .. }, .. }) = self.pen.take()
        {
            tokio::spawn(end_as_unkept(run, ticket, error.clone()));
        }
        kept
    }

    /// Messages that a person wants in this run. They wait until they are in its log.
    pub async fn joining(&self) -> Result<Option<Joining>, StoreError> {
        let Some(Pen { place: Place { run, queues, .. }, .. }) = &self.pen else { return Ok(None) };
        queues.join(run.log(), run.session()).await
    }
}

impl Drop for Job {
    /// An agent that went away without ending its run has been interrupted.
    fn drop(&mut self) {
        let Some(Pen { place, unfinished }) = self.pen.take() else { return };
        let Place { mut run, ticket, .. } = place;
        let wish = *ticket.wish.borrow();
        let outcome = if wish == Wish::Cancel { Outcome::Cancelled } else { Outcome::Interrupted };
        let events = unfinished.close(outcome, None, "");
        if events.is_empty() {
            return;
        }
        let at = Some(now_ms());
        let facts = events.into_iter().map(|event| (at, event)).collect();
        tokio::spawn(async move {
            if let Err(error) = run.append(facts).await {
                end_as_unkept(run, ticket, error).await;
            }
        });
    }
}
