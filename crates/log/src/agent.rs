//! The contract of an agent: it is given one queued message as a `Job` and writes the run's events.
//!
//! Does not: accept, order or store messages; the scheduler and the log do.

pub mod script;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use millpond_engine::event::{Event, Image, Outcome, PromptOrigin, TextMode};
use millpond_engine::run::unfinished::UnfinishedRun;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

use crate::clock::now_ms;
use crate::id::{RunId, SessionId};
use crate::queue::{JoiningMessages, Queues};
use crate::recovery::retry_ending_run_as_storage_failure;
use crate::runs::{Answer, RunControl, Ticket};
use crate::store::StoreError;
use crate::{Log, RunAppender, TimedEvent};

/// Future of one job.
pub type AgentFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Description of an agent, as `GET /v1/agent` returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentDescription {
    /// The model that answers, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tools that Millpond provides. An external agent's own tools are not listed.
    pub tools: Vec<ToolDescription>,
    /// Tools or servers that are unavailable, in words.
    pub missing: Vec<String>,
}

/// Description of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolDescription {
    pub name: String,
    pub about: String,
    /// `allow`, `ask` or `deny`.
    pub policy: &'static str,
}

/// Runs jobs.
pub trait Agent: Send + Sync + 'static {
    /// Name of the run's source in the log. Never the name of a dialect: those mark ingested runs.
    fn name(&self) -> &'static str;

    /// Runs one job until its run has ended or it is asked to stop.
    fn run_job(&self, job: Job) -> AgentFuture;

    /// Describes the agent. May wait for tool servers.
    fn connect_tools_and_describe(&self) -> Pin<Box<dyn Future<Output = AgentDescription> + Send>> {
        Box::pin(std::future::ready(AgentDescription::default()))
    }

    /// True if the agent can resume a run that was waiting for an answer when the process ended.
    /// The job it is then given comes from `Job::from_waiting_run`.
    fn can_resume_waiting_run(&self) -> bool {
        false
    }
}

/// Text and images of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    pub images: Vec<Image<'static>>,
}

/// One message and the run that works on it.
pub struct Job {
    pub prompt: Prompt,
    open_run: Option<OpenRun>,
}

/// An open run and what it has left unfinished.
struct OpenRun {
    handles: RunHandles,
    unfinished: UnfinishedRun,
}

/// The append handle, ticket and queues of one run.
#[derive(Debug)]
pub struct RunHandles {
    pub appender: RunAppender,
    pub ticket: Ticket,
    pub queues: Arc<Queues>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

impl Job {
    /// Creates the job of a new run and appends `run_started` and `prompt_received`.
    pub async fn create_and_append_run_start(
        agent: &Arc<dyn Agent>,
        prompt: Prompt,
        origin: PromptOrigin,
        handles: RunHandles,
    ) -> Result<Job, StoreError> {
        let open_run = Some(OpenRun { handles, unfinished: UnfinishedRun::default() });
        let mut job = Job { prompt: prompt.clone(), open_run };
        let at = Some(now_ms());
        let started = Event::RunStarted {
            version: millpond_engine::event::EVENT_VERSION,
            dialect: agent.name().into(),
            mode: TextMode::Incremental,
        };
        let Prompt { text, images } = prompt;
        let received = Event::PromptReceived { text: text.into(), images, origin };
        job.append_events_or_fail_run(vec![(at, started), (at, received)]).await?;
        Ok(job)
    }

    /// Creates the job of a run that was waiting for an answer when an earlier process ended, and
    /// sets the number of open asks in its ticket.
    pub fn from_waiting_run(prompt: Prompt, handles: RunHandles, unfinished: UnfinishedRun) -> Job {
        handles.ticket.set_open_ask_count_and_notify(unfinished.open_ask_count());
        Job { prompt, open_run: Some(OpenRun { handles, unfinished }) }
    }

    /// The log, session and run. `None` once an append has failed.
    pub fn log_and_ids(&self) -> Option<(Log, SessionId, RunId)> {
        let run = &self.open_run.as_ref()?.handles.appender;
        Some((run.log().clone(), run.session(), run.run_id()))
    }

    /// Returns a receiver of the run's `RunControl`. `None` once an append has failed.
    pub fn stop_request_receiver(&self) -> Option<watch::Receiver<RunControl>> {
        self.open_run.as_ref().map(|open_run| open_run.handles.ticket.control.clone())
    }

    /// Opens the channel on which answers to this run's asks arrive.
    pub fn open_answer_channel_if_run_open(&self) -> Option<mpsc::Receiver<Answer>> {
        self.open_run
            .as_ref()
            .map(|open_run| open_run.handles.ticket.open_answer_channel_if_run_open())
    }

    /// Leaves the run open, waiting for an answer, for the next process to resume.
    pub fn leave_run_waiting_for_restart(mut self) {
        self.open_run = None;
    }

    /// Appends events; returns once they are committed. If that fails, the run is ended as failed
    /// in the background.
    pub async fn append_events_or_fail_run(
        &mut self,
        events: Vec<TimedEvent>,
    ) -> Result<(), StoreError> {
        let Some(open_run) = &mut self.open_run else {
            return Err(StoreError::Failed("the run has ended".to_owned()));
        };
        if events.is_empty() {
            return Ok(());
        }
        for (_, event) in &events {
            open_run.unfinished.apply(event);
        }
        let result = open_run.handles.appender.append(events).await.map(|_| ());
        open_run.handles.ticket.set_open_ask_count_and_notify(open_run.unfinished.open_ask_count());
        if let Err(error) = &result
            && let Some(OpenRun { handles: RunHandles { appender: run, ticket, .. }, .. }) =
                self.open_run.take()
        {
            tokio::spawn(retry_ending_run_as_storage_failure(run, ticket, error.clone()));
        }
        result
    }

    /// Locks the queue and reads the messages that are to join this run. They stay queued until
    /// `JoiningMessages::remove_from_queue`. `None` if there are none.
    pub async fn take_joining_messages_and_lock_queue(
        &self,
    ) -> Result<Option<JoiningMessages>, StoreError> {
        let Some(OpenRun { handles: RunHandles { appender: run, queues, .. }, .. }) =
            &self.open_run
        else {
            return Ok(None);
        };
        queues.take_joining_messages_and_lock_queue(run.log(), run.session()).await
    }
}

impl Drop for Job {
    /// Ends a run that its agent left open: cancelled if that was requested, else interrupted.
    fn drop(&mut self) {
        let Some(OpenRun { handles, unfinished }) = self.open_run.take() else { return };
        let RunHandles { appender: mut run, ticket, .. } = handles;
        let control = *ticket.control.borrow();
        let outcome =
            if control == RunControl::Cancel { Outcome::Cancelled } else { Outcome::Interrupted };
        let events = unfinished.closing_events(outcome, None, "");
        if events.is_empty() {
            return;
        }
        let at = Some(now_ms());
        let timed_events = events.into_iter().map(|event| (at, event)).collect();
        tokio::spawn(async move {
            if let Err(error) = run.append(timed_events).await {
                retry_ending_run_as_storage_failure(run, ticket, error).await;
            }
        });
    }
}
