//! Messages that wait for their turn, and their turn.
//!
//! Invariant: a message that was accepted is in the queue or has become a run, also after a crash;
//! its run has its id, so that it cannot become two.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::event::Event;
use serde::Deserialize;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use crate::agent::{Agent, Job, Place, Prompt};
use crate::gateway::Gateway;
use crate::id::{QueuedId, RunId, SessionId};
use crate::limits::QUEUE_MAX;
use crate::log::Log;
use crate::store::{Chunk, Queued, Store, StoreError};

/// Why a message, or a change of the queue, was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("no agent works on this gateway")]
    NoAgent,
    #[error("{QUEUE_MAX} messages wait already")]
    QueueFull,
    #[error("the queue has changed")]
    Changed,
    #[error("a message would say nothing")]
    Blank,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One queue is changed by one caller at a time.
#[derive(Debug, Default)]
pub struct Queues {
    changing: Mutex<HashMap<SessionId, Arc<AsyncMutex<()>>>>,
    /// Counts how often messages were removed before their turn.
    removals: watch::Sender<u64>,
    /// Messages that join the run that is going, if it comes to a place where they can.
    joining: Mutex<HashMap<SessionId, BTreeSet<QueuedId>>>,
    /// Messages that have joined a run and could not be taken out of their queue.
    stuck: Arc<Mutex<BTreeSet<QueuedId>>>,
}

/// When a message is worked on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// After all that wait.
    #[default]
    Next,
    /// In the run that is going; if that ends first, in its place among those that wait.
    Join,
}

/// Messages that join a run. The queue stays as it is until they have.
#[derive(Debug)]
pub struct Joining {
    pub messages: Vec<Queued>,
    rest: Vec<Queued>,
    stuck: Arc<Mutex<BTreeSet<QueuedId>>>,
    _changing: OwnedMutexGuard<()>,
}

impl Joining {
    /// They are in the run's log, and wait no longer.
    pub async fn joined(self, log: &Log, session: SessionId) -> Result<(), StoreError> {
        let Joining { messages, rest, stuck, _changing } = self;
        let kept = log.blocking(move |store| store.set_queue(session, &rest)).await;
        if kept.is_err() {
            let ids = messages.iter().map(|message| message.id);
            stuck.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
        }
        log.news().tell(session);
        kept
    }
}

impl Queues {
    fn of(&self, session: SessionId) -> Arc<AsyncMutex<()>> {
        let mut queues = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| 1 < Arc::strong_count(queue));
        Arc::clone(queues.entry(session).or_default())
    }

    fn joining(&self) -> MutexGuard<'_, HashMap<SessionId, BTreeSet<QueuedId>>> {
        self.joining.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages that join the run that is going in a session, if any do.
    pub async fn join(&self, log: &Log, session: SessionId) -> Result<Option<Joining>, StoreError> {
        if !self.joining().contains_key(&session) {
            return Ok(None);
        }
        let changing = self.of(session).lock_owned().await;
        let wanted = self.joining().remove(&session).unwrap_or_default();
        let queue = log.blocking(move |store| store.queue(session)).await?;
        let (messages, rest) = queue.into_iter().partition(|queued| wanted.contains(&queued.id));
        let stuck = Arc::clone(&self.stuck);
        Ok(Some(Joining { messages, rest, stuck, _changing: changing }))
    }
}

/// Puts a message at the end of its session's queue, and starts it if nothing is going. One that
/// was accepted before is not taken twice.
pub async fn accept(
    gateway: &Arc<Gateway>,
    session: SessionId,
    message: Queued,
    turn: Turn,
) -> Result<(), Refused> {
    if gateway.agent.is_none() {
        return Err(Refused::NoAgent);
    }
    let lock = gateway.queues.of(session);
    let changing = lock.lock().await;
    let mut queue = gateway.log.blocking(move |store| store.queue(session)).await?;
    let run = RunId::from(message.id);
    let begun = gateway.log.blocking(move |store| store.run(run)).await?.is_some();
    if begun || queue.iter().any(|waiting| waiting.id == message.id) {
        return Ok(());
    }
    if turn == Turn::Join && has_joined(&gateway.log, session, message.id).await? {
        return Ok(());
    }
    if QUEUE_MAX <= queue.len() {
        return Err(Refused::QueueFull);
    }
    let id = message.id;
    queue.push(message);
    gateway.log.blocking(move |store| store.set_queue(session, &queue)).await?;
    if turn == Turn::Join && gateway.runs.of(session).is_some() {
        gateway.queues.joining().entry(session).or_default().insert(id);
    }
    drop(changing);
    gateway.log.news().tell(session);
    tokio::spawn(work_off(Arc::clone(gateway), session));
    Ok(())
}

/// Whether a message is in a run that it joined.
async fn has_joined(log: &Log, session: SessionId, id: QueuedId) -> Result<bool, StoreError> {
    let (name, mut next) = (id.to_string(), 0);
    loop {
        let chunks = log.read(session, next).await?;
        let Some(end) = chunks.last().map(Chunk::end) else { return Ok(false) };
        let mut events = chunks.iter().flat_map(|chunk| chunk.records(next)).flatten();
        if events.any(
            |record| matches!(&record.event, Event::PromptJoined { queued } if *queued == name),
        ) {
            return Ok(true);
        }
        next = end;
    }
}

/// How waiting messages shall wait.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrangement {
    /// All that go on waiting.
    pub order: Vec<QueuedId>,
    #[serde(default)]
    pub removed: Vec<QueuedId>,
    /// What those say that were written anew.
    #[serde(default)]
    pub texts: HashMap<QueuedId, String>,
}

/// Puts waiting messages into another order. Whoever does not name all that wait, or names others,
/// is told that the queue has changed.
pub async fn arrange(
    gateway: &Gateway,
    session: SessionId,
    Arrangement { order, removed, texts }: &Arrangement,
) -> Result<Vec<Queued>, Refused> {
    let lock = gateway.queues.of(session);
    let _changing = lock.lock().await;
    let queue = gateway.log.blocking(move |store| store.queue(session)).await?;
    let known = |id: &QueuedId| queue.iter().find(|message| message.id == *id).cloned();
    let arranged: Option<Vec<Queued>> = order.iter().map(known).collect();
    let all =
        queue.iter().all(|message| order.contains(&message.id) || removed.contains(&message.id));
    let arranged = arranged.filter(|arranged| {
        all && arranged.len() + removed.len() == queue.len()
            && removed.iter().all(|id| known(id).is_some())
    });
    let mut arranged = arranged.ok_or(Refused::Changed)?;
    for message in &mut arranged {
        if let Some(text) = texts.get(&message.id) {
            message.text.clone_from(text);
            if text.trim().is_empty() && message.images.is_empty() {
                return Err(Refused::Blank);
            }
        }
    }
    let kept = arranged.clone();
    gateway.log.blocking(move |store| store.set_queue(session, &kept)).await?;
    if !removed.is_empty() {
        gateway.queues.removals.send_modify(|count| *count += 1);
    }
    gateway.log.news().tell(session);
    Ok(arranged)
}

/// Waits until the message of a run has been removed before its turn, which may never be.
pub async fn called_off(gateway: Arc<Gateway>, session: SessionId, run: RunId) {
    let mut removals = gateway.queues.removals.subscribe();
    loop {
        let found = gateway.log.blocking(move |store| {
            // In this order: a message leaves the queue when its run has begun.
            let waits = store.queue(session)?.iter().any(|message| RunId::from(message.id) == run);
            Ok(waits || store.run(run)?.is_some())
        });
        if let Ok(false) = found.await {
            return;
        }
        if removals.changed().await.is_err() {
            return;
        }
    }
}

/// Works on waiting messages, one after the other, until none waits or another run is going.
pub async fn work_off(gateway: Arc<Gateway>, session: SessionId) {
    loop {
        match next_job(&gateway, session).await {
            Ok(Some(job)) => {
                let Some(agent) = &gateway.agent else { return };
                agent.0.work(job).await;
            }
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, %session, "waiting messages are not worked on for now");
                return;
            }
        }
    }
}

/// Works on what waits anywhere: what an earlier process left, and whatever waited for a run to end
/// that nobody here works on. Done when the gateway stops.
pub async fn keep_working(gateway: Arc<Gateway>) {
    let Some(agent) = &gateway.agent else { return };
    for job in gateway.take_waiting() {
        tokio::spawn(agent.0.work(job));
    }
    let mut stopping = gateway.stopping.subscribe();
    loop {
        match gateway.log.blocking(Store::queued).await {
            Ok(waiting) => {
                for session in waiting {
                    if gateway.runs.of(session).is_none() {
                        tokio::spawn(work_off(Arc::clone(&gateway), session));
                    }
                }
            }
            Err(error) => tracing::error!(%error, "nobody knows where messages wait"),
        }
        tokio::select! {
            () = gateway.runs.one_gone() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}

/// Takes the first waiting message out of the queue and begins its run.
async fn next_job(gateway: &Gateway, session: SessionId) -> Result<Option<Job>, StoreError> {
    let Some(agent) = &gateway.agent else { return Ok(None) };
    let lock = gateway.queues.of(session);
    let _changing = lock.lock().await;
    if gateway.runs.of(session).is_none() {
        // The run that they were to join has ended.
        gateway.queues.joining().remove(&session);
    }
    if is_gone(gateway, session).await? {
        return Ok(None);
    }
    let mut queue = gateway.log.blocking(move |store| store.queue(session)).await?;
    if queue.is_empty() {
        return Ok(None);
    }
    while let Some(message) = queue.first().cloned() {
        let run = RunId::from(message.id);
        let begun = gateway.log.blocking(move |store| store.run(run)).await?.is_some();
        let stuck = &gateway.queues.stuck;
        if begun || stuck.lock().unwrap_or_else(PoisonError::into_inner).remove(&message.id) {
            queue.remove(0);
            continue;
        }
        let Some(ticket) = gateway.runs.begin(session, run) else { return Ok(None) };
        // Once more: whoever deletes a session stops the run that is going, and that may have been
        // the one before.
        if is_gone(gateway, session).await? {
            return Ok(None);
        }
        let place =
            Place { run: gateway.log.run(session, run), ticket, queues: gateway.queues.clone() };
        let prompt = Prompt { text: message.text, images: message.images };
        let job = Job::begin(&agent.0, prompt, place).await?;
        queue.remove(0);
        gateway.log.blocking(move |store| store.set_queue(session, &queue)).await?;
        gateway.log.news().tell(session);
        return Ok(Some(job));
    }
    gateway.log.blocking(move |store| store.set_queue(session, &[])).await?;
    gateway.log.news().tell(session);
    Ok(None)
}

/// Whether nothing may begin in a session.
async fn is_gone(gateway: &Gateway, session: SessionId) -> Result<bool, StoreError> {
    let found = gateway.log.blocking(move |store| store.session(session)).await?;
    Ok(found.is_none_or(|found| found.deleted_ms.is_some()))
}

/// An agent that can be shown without being looked into.
#[derive(Clone)]
pub struct Shared(pub Arc<dyn Agent>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}
