//! Starts runs: accepts messages, queues them per session, and gives the next one to the agent.

use std::sync::{Arc, Mutex, PoisonError};

use millpond_engine::event::Event;
use tokio::sync::watch;

use crate::Log;
use crate::agent::{Agent, Job, Prompt, RunHandles};
use crate::id::{QueuedId, RunId, SessionId};
use crate::limits::QUEUED_MESSAGES_MAX;
use crate::queue::{Delivery, QueueEdit, QueueError, Queues};
use crate::recovery::interrupt_open_runs_or_make_jobs;
use crate::runs::ActiveRuns;
use crate::store::{QueuedMessage, Store, StoreError};

/// The log with its active runs, its queues and the agent.
#[derive(Debug)]
pub struct Scheduler {
    pub log: Log,
    pub runs: ActiveRuns,
    pub queues: Arc<Queues>,
    /// The agent that runs messages; without one, messages are rejected.
    pub agent: Option<SharedAgent>,
    /// True once the process is stopping.
    pub stopping: watch::Sender<bool>,
    /// Runs that an earlier process left waiting for an answer.
    resumable: Mutex<Vec<Job>>,
}

/// An agent behind a pointer, with a name for `Debug`.
#[derive(Clone)]
pub struct SharedAgent(pub Arc<dyn Agent>);

impl std::fmt::Debug for SharedAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Scheduler {
    /// Opens the log on a store and ends the runs that an earlier process left open, except those
    /// that the agent can resume.
    pub async fn open_and_recover_runs(
        store: Arc<dyn Store>,
        agent: Option<Arc<dyn Agent>>,
    ) -> Result<Scheduler, StoreError> {
        let log = Log::open(store).map_err(|error| StoreError::Failed(error.to_string()))?;
        let runs = ActiveRuns::new(log.session_changes().clone());
        let queues = Arc::<Queues>::default();
        let resumable =
            interrupt_open_runs_or_make_jobs(&log, &runs, &queues, agent.as_deref()).await?;
        Ok(Scheduler {
            log,
            runs,
            queues,
            agent: agent.map(SharedAgent),
            stopping: watch::Sender::new(false),
            resumable: Mutex::new(resumable),
        })
    }

    /// Takes the jobs of runs that were waiting for an answer.
    fn take_resumable_jobs(&self) -> Vec<Job> {
        std::mem::take(&mut *self.resumable.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Appends a message to its session's queue and starts it if no run is active. Accepting the
    /// same id again does nothing.
    pub async fn accept_message_once(
        self: &Arc<Self>,
        session: SessionId,
        message: QueuedMessage,
        turn: Delivery,
    ) -> Result<(), QueueError> {
        if self.agent.is_none() {
            return Err(QueueError::NoAgent);
        }
        let lock = self.queues.session_lock(session);
        let session_guard = lock.lock().await;
        let mut queue = self.log.call_store(move |store| store.load_queue(session)).await?;
        let run = RunId::from(message.id);
        let is_started = self.log.call_store(move |store| store.load_run(run)).await?.is_some();
        if is_started || queue.iter().any(|queued| queued.id == message.id) {
            return Ok(());
        }
        if turn == Delivery::CurrentRun
            && search_log_for_joined_message(&self.log, session, message.id).await?
        {
            return Ok(());
        }
        if QUEUED_MESSAGES_MAX <= queue.len() {
            return Err(QueueError::QueueFull);
        }
        let id = message.id;
        queue.push(message);
        self.log.call_store(move |store| store.set_queue(session, &queue)).await?;
        if turn == Delivery::CurrentRun && self.runs.active_run_of_session(session).is_some() {
            self.queues.lock_joining_ids().entry(session).or_default().insert(id);
        }
        drop(session_guard);
        self.log.session_changes().notify_changed(session);
        tokio::spawn(Arc::clone(self).run_queue_of_session(session));
        Ok(())
    }

    /// Reorders, edits and removes queued messages. Fails with `Changed` unless the edit names
    /// exactly the queued messages.
    pub async fn edit_queue_if_unchanged(
        &self,
        session: SessionId,
        QueueEdit { order, removed, texts }: &QueueEdit,
    ) -> Result<Vec<QueuedMessage>, QueueError> {
        let lock = self.queues.session_lock(session);
        let _changing = lock.lock().await;
        let queue = self.log.call_store(move |store| store.load_queue(session)).await?;
        let find_queued = |id: &QueuedId| queue.iter().find(|message| message.id == *id).cloned();
        let reordered: Option<Vec<QueuedMessage>> = order.iter().map(find_queued).collect();
        let covers_queue = queue
            .iter()
            .all(|message| order.contains(&message.id) || removed.contains(&message.id));
        let reordered = reordered.filter(|candidate| {
            covers_queue
                && candidate.len() + removed.len() == queue.len()
                && removed.iter().all(|id| find_queued(id).is_some())
        });
        let mut reordered = reordered.ok_or(QueueError::Changed)?;
        for message in &mut reordered {
            if let Some(text) = texts.get(&message.id) {
                message.text.clone_from(text);
                if text.trim().is_empty() && message.images.is_empty() {
                    return Err(QueueError::EmptyMessage);
                }
            }
        }
        let stored = reordered.clone();
        self.log.call_store(move |store| store.set_queue(session, &stored)).await?;
        if !removed.is_empty() {
            self.queues.removal_count.send_modify(|count| *count += 1);
        }
        self.log.session_changes().notify_changed(session);
        Ok(reordered)
    }

    /// Waits until the message of a run is removed from the queue before its turn. May never
    /// return.
    pub async fn wait_until_removed_before_run(&self, session: SessionId, run: RunId) {
        let mut removals = self.queues.removal_count.subscribe();
        loop {
            let queued_sessions = self.log.call_store(move |store| {
                // In this order: a message leaves the queue after its run has begun.
                let is_queued =
                    store.load_queue(session)?.iter().any(|message| RunId::from(message.id) == run);
                Ok(is_queued || store.load_run(run)?.is_some())
            });
            if let Ok(false) = queued_sessions.await {
                return;
            }
            if removals.changed().await.is_err() {
                return;
            }
        }
    }

    /// Runs queued messages one after the other, until the queue is empty or another run is active.
    pub async fn run_queue_of_session(self: Arc<Self>, session: SessionId) {
        loop {
            match self.try_start_next_run(session).await {
                Ok(Some(job)) => {
                    let Some(agent) = &self.agent else { return };
                    agent.0.run_job(job).await;
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, %session, "queued messages not started");
                    return;
                }
            }
        }
    }

    /// Runs the queues of all sessions: at start, and whenever a run has been removed. Returns when
    /// the process stops.
    pub async fn resume_and_run_queues_until_stopped(self: Arc<Self>) {
        let Some(agent) = &self.agent else { return };
        for job in self.take_resumable_jobs() {
            tokio::spawn(agent.0.run_job(job));
        }
        let mut stopping = self.stopping.subscribe();
        loop {
            match self.log.call_store(Store::undeleted_sessions_with_queue).await {
                Ok(queued_sessions) => {
                    for session in queued_sessions {
                        if self.runs.active_run_of_session(session).is_none() {
                            tokio::spawn(Arc::clone(&self).run_queue_of_session(session));
                        }
                    }
                }
                Err(error) => tracing::error!(%error, "cannot list queued messages"),
            }
            tokio::select! {
                () = self.runs.wait_until_any_run_removed() => {}
                _ = stopping.wait_for(|stopping| *stopping) => return,
            }
        }
    }

    /// Takes the first queued message and starts its run.
    async fn try_start_next_run(&self, session: SessionId) -> Result<Option<Job>, StoreError> {
        let Some(agent) = &self.agent else { return Ok(None) };
        let lock = self.queues.session_lock(session);
        let _changing = lock.lock().await;
        if self.runs.active_run_of_session(session).is_none() {
            // The run that they were to join has ended.
            self.queues.lock_joining_ids().remove(&session);
        }
        if self.is_session_deleted_or_missing(session).await? {
            return Ok(None);
        }
        let mut queue = self.log.call_store(move |store| store.load_queue(session)).await?;
        if queue.is_empty() {
            return Ok(None);
        }
        while let Some(message) = queue.first().cloned() {
            let run = RunId::from(message.id);
            let is_started = self.log.call_store(move |store| store.load_run(run)).await?.is_some();
            let joined_but_queued = &self.queues.joined_but_queued;
            if is_started
                || joined_but_queued
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .remove(&message.id)
            {
                queue.remove(0);
                continue;
            }
            let Some(ticket) = self.runs.try_register_run(session, run) else { return Ok(None) };
            // Checked again: a delete cancels the active run, which may have been the previous one.
            if self.is_session_deleted_or_missing(session).await? {
                return Ok(None);
            }
            let handles = RunHandles {
                appender: self.log.build_run_appender(session, run),
                ticket,
                queues: self.queues.clone(),
            };
            let prompt = Prompt { text: message.text, images: message.images };
            let job =
                Job::create_and_append_run_start(&agent.0, prompt, message.origin, handles).await?;
            queue.remove(0);
            self.log.call_store(move |store| store.set_queue(session, &queue)).await?;
            self.log.session_changes().notify_changed(session);
            return Ok(Some(job));
        }
        self.log.call_store(move |store| store.set_queue(session, &[])).await?;
        self.log.session_changes().notify_changed(session);
        Ok(None)
    }

    /// True if the session is deleted or missing, so that no run may begin.
    async fn is_session_deleted_or_missing(&self, session: SessionId) -> Result<bool, StoreError> {
        let session_row =
            self.log.call_store(move |store| store.load_session_even_deleted(session)).await?;
        Ok(session_row.is_none_or(|row| row.deleted_ms.is_some()))
    }
}

/// Reads the log to see if a message has joined a run.
async fn search_log_for_joined_message(
    log: &Log,
    session: SessionId,
    id: QueuedId,
) -> Result<bool, StoreError> {
    let (name, mut next_seq) = (id.to_string(), 0);
    loop {
        let chunks = log.read(session, next_seq).await?;
        let Some(end) = chunks.last().map(|chunk| chunk.next_seq()) else { return Ok(false) };
        let mut events = chunks.iter().flat_map(|chunk| chunk.records_from(next_seq)).flatten();
        if events.any(
            |record| matches!(&record.event, Event::PromptJoined { queued } if *queued == name),
        ) {
            return Ok(true);
        }
        next_seq = end;
    }
}
