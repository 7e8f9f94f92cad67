//! Wake-ups and state shared by the store's threads: commits to sync, a log to checkpoint, runs to
//! compact, a disk failure, the stop.
//!
//! Each thread has its own condition variable, notified only when its state changes, so that a busy
//! writer wakes no thread per commit.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Durability, lock_ignoring_poison};
use crate::store::StoreError;

#[derive(Debug)]
pub(super) struct WorkerSignals {
    state: Mutex<SignalState>,
    sync_wake: Condvar,
    checkpoint_wake: Condvar,
    compact_wake: Condvar,
}

#[derive(Debug)]
struct SignalState {
    wal: Arc<File>,
    /// Time of the first commit that is not synced.
    unsynced_since: Option<Instant>,
    /// The disk failure, if any; then nothing is written.
    failed: Option<String>,
    commits: u64,
    /// True while the checkpoint thread waits for a commit.
    checkpointer_waits: bool,
    /// True if runs have ended since the last compaction.
    has_uncompacted_runs: bool,
    stopping: bool,
}

/// Next task of the sync thread.
#[derive(Debug)]
pub(super) enum SyncTask {
    Sync,
    Reopen,
    Stop,
}

impl WorkerSignals {
    pub(super) fn new(wal: File) -> WorkerSignals {
        let state = SignalState {
            wal: Arc::new(wal),
            unsynced_since: None,
            failed: None,
            commits: 0,
            checkpointer_waits: false,
            // A crashed process may have left some.
            has_uncompacted_runs: true,
            stopping: false,
        };
        WorkerSignals {
            state: Mutex::new(state),
            sync_wake: Condvar::new(),
            checkpoint_wake: Condvar::new(),
            compact_wake: Condvar::new(),
        }
    }

    /// Fails after a disk failure.
    pub(super) fn check_not_failed(&self) -> Result<(), StoreError> {
        match &lock_ignoring_poison(&self.state).failed {
            None => Ok(()),
            Some(reason) => Err(StoreError::Failed(reason.clone())),
        }
    }

    pub(super) fn failure_or_closed_error(&self) -> StoreError {
        self.check_not_failed()
            .err()
            .unwrap_or_else(|| StoreError::Failed("the store is closed".to_owned()))
    }

    pub(super) fn notify_commit(&self, durability: Durability) {
        let mut state = lock_ignoring_poison(&self.state);
        state.commits += 1;
        if durability == Durability::Window && state.unsynced_since.is_none() {
            state.unsynced_since = Some(Instant::now());
            self.sync_wake.notify_one();
        }
        if std::mem::take(&mut state.checkpointer_waits) {
            self.checkpoint_wake.notify_one();
        }
    }

    pub(super) fn notify_run_ended(&self) {
        lock_ignoring_poison(&self.state).has_uncompacted_runs = true;
        self.compact_wake.notify_one();
    }

    pub(super) fn set_failed_and_wake_sync(&self, reason: &str) {
        tracing::error!(reason, "disk failure; no writes until the file is reopened");
        lock_ignoring_poison(&self.state)
            .failed
            .get_or_insert_with(|| format!("disk failure: {reason}"));
        self.sync_wake.notify_one();
    }

    /// Clears the failure after the file was reopened.
    pub(super) fn replace_wal_and_clear_failure(&self, wal: File) {
        let mut state = lock_ignoring_poison(&self.state);
        state.wal = Arc::new(wal);
        state.failed = None;
        state.unsynced_since = None;
    }

    pub(super) fn signal_threads_to_stop(&self) {
        lock_ignoring_poison(&self.state).stopping = true;
        for wake in [&self.sync_wake, &self.checkpoint_wake, &self.compact_wake] {
            wake.notify_all();
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        lock_ignoring_poison(&self.state).stopping
    }

    /// Returns the write-ahead log and clears the unsynced mark; the next commit sets it again.
    pub(super) fn get_wal_and_clear_unsynced(&self) -> Arc<File> {
        let mut state = lock_ignoring_poison(&self.state);
        state.unsynced_since = None;
        Arc::clone(&state.wal)
    }

    /// Waits until the first unsynced commit is `delay` old, or a failure has lasted for
    /// `reopen_every`.
    pub(super) fn wait_for_sync_task(&self, delay: Duration, reopen_every: Duration) -> SyncTask {
        let mut state = lock_ignoring_poison(&self.state);
        let mut broken_since = None;
        loop {
            if state.stopping {
                return SyncTask::Stop;
            }
            let (since, task_delay, task) = if state.failed.is_some() {
                let since = *broken_since.get_or_insert_with(Instant::now);
                (since, reopen_every, SyncTask::Reopen)
            } else if let Some(since) = state.unsynced_since {
                (since, delay, SyncTask::Sync)
            } else {
                state = self.sync_wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(remaining) =
                task_delay.checked_sub(since.elapsed()).filter(|duration| !duration.is_zero())
            else {
                return task;
            };
            state = wait_with_timeout(&self.sync_wake, state, remaining);
        }
    }

    /// Waits for a commit after `seen_commits` if the log is empty, and then for `interval`.
    /// Returns the number of commits, or `None` to stop.
    pub(super) fn wait_for_checkpoint_task(
        &self,
        seen_commits: u64,
        remainder: WalRemainder,
        interval: Duration,
    ) -> Option<u64> {
        let mut state = lock_ignoring_poison(&self.state);
        if remainder == WalRemainder::Empty {
            while !state.stopping && state.commits == seen_commits {
                state.checkpointer_waits = true;
                state = self.checkpoint_wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let start = Instant::now();
        while !state.stopping {
            let remaining = interval.saturating_sub(start.elapsed());
            if remaining.is_zero() {
                return Some(state.commits);
            }
            state = wait_with_timeout(&self.checkpoint_wake, state, remaining);
        }
        None
    }

    /// Waits until runs have ended. Returns false to stop.
    pub(super) fn wait_for_compact_task(&self) -> bool {
        let mut state = lock_ignoring_poison(&self.state);
        while !state.stopping && !state.has_uncompacted_runs {
            state = self.compact_wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.has_uncompacted_runs = false;
        !state.stopping
    }
}

/// Whether the write-ahead log still holds commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalRemainder {
    Empty,
    Pending,
}

fn wait_with_timeout<'a>(
    wake: &Condvar,
    state: MutexGuard<'a, SignalState>,
    time: Duration,
) -> MutexGuard<'a, SignalState> {
    wake.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
}
