//! The message queue of each session.
//!
//! Invariant: an accepted message is in the queue or has become a run, also after a crash. Its run
//! has the message's id, so that it cannot become two runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use crate::Log;
use crate::id::{QueuedId, SessionId};
use crate::store::{QueuedMessage, StoreError};

/// Reason why a message or a queue edit was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    #[error("this gateway has no agent")]
    NoAgent,
    #[error("the queue is full")]
    QueueFull,
    #[error("the queue has changed")]
    Changed,
    #[error("the message is empty")]
    EmptyMessage,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Locks and in-memory state of all queues. One queue is changed by one caller at a time.
#[derive(Debug, Default)]
pub struct Queues {
    session_locks: Mutex<HashMap<SessionId, Arc<AsyncMutex<()>>>>,
    /// Incremented whenever messages are removed before their turn.
    pub(crate) removal_count: watch::Sender<u64>,
    /// Messages that are to join the current run of their session.
    joining_ids: Mutex<HashMap<SessionId, BTreeSet<QueuedId>>>,
    /// Messages that joined a run but could not be removed from the queue.
    pub(crate) joined_but_queued: Arc<Mutex<BTreeSet<QueuedId>>>,
}

/// Which run a message goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// A run of its own, after all messages queued before it.
    #[default]
    NextRun,
    /// The current run, if it reaches a point where messages can join; else as `NextRun`.
    CurrentRun,
}

/// Messages that are to join a run, with the queue locked. The queue is unchanged until
/// `remove_from_queue`.
#[derive(Debug)]
pub struct JoiningMessages {
    pub messages: Vec<QueuedMessage>,
    remaining: Vec<QueuedMessage>,
    joined_but_queued: Arc<Mutex<BTreeSet<QueuedId>>>,
    _queue_lock: OwnedMutexGuard<()>,
}

impl JoiningMessages {
    /// Removes the messages from the queue, once they are in the run's log.
    pub async fn remove_from_queue(self, log: &Log, session: SessionId) -> Result<(), StoreError> {
        let JoiningMessages { messages, remaining, joined_but_queued, _queue_lock: _changing } =
            self;
        let result = log.call_store(move |store| store.set_queue(session, &remaining)).await;
        if result.is_err() {
            let ids = messages.iter().map(|message| message.id);
            joined_but_queued.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
        }
        log.session_changes().notify_changed(session);
        result
    }
}

impl Queues {
    pub(crate) fn session_lock(&self, session: SessionId) -> Arc<AsyncMutex<()>> {
        let mut queues = self.session_locks.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| 1 < Arc::strong_count(queue));
        Arc::clone(queues.entry(session).or_default())
    }

    pub(crate) fn lock_joining_ids(
        &self,
    ) -> MutexGuard<'_, HashMap<SessionId, BTreeSet<QueuedId>>> {
        self.joining_ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the queue and returns the messages that are to join the current run, if any.
    pub async fn take_joining_messages_and_lock_queue(
        &self,
        log: &Log,
        session: SessionId,
    ) -> Result<Option<JoiningMessages>, StoreError> {
        if !self.lock_joining_ids().contains_key(&session) {
            return Ok(None);
        }
        let session_guard = self.session_lock(session).lock_owned().await;
        let joining_ids = self.lock_joining_ids().remove(&session).unwrap_or_default();
        let queue = log.call_store(move |store| store.load_queue(session)).await?;
        let (messages, remaining) =
            queue.into_iter().partition(|queued| joining_ids.contains(&queued.id));
        let joined_but_queued = Arc::clone(&self.joined_but_queued);
        Ok(Some(JoiningMessages {
            messages,
            remaining,
            joined_but_queued,
            _queue_lock: session_guard,
        }))
    }
}

/// A client's edit of a queue. Must name every queued message, in `order` or in `removed`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueEdit {
    /// Messages that stay, in their new order.
    pub order: Vec<QueuedId>,
    #[serde(default)]
    pub removed: Vec<QueuedId>,
    /// New texts of edited messages.
    #[serde(default)]
    pub texts: HashMap<QueuedId, String>,
}
