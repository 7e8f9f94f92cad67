//! What the store's threads tell each other: there is something to sync, to carry over, to put
//! together; the disk failed; it is time to stop.
//!
//! Each thread has a bell of its own, rung only when its state changes, so that a busy writer does
//! not wake anybody for every commit.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Durability, held};
use crate::store::StoreError;

#[derive(Debug)]
pub(super) struct Signal {
    state: Mutex<State>,
    sync: Condvar,
    checkpoint: Condvar,
    compact: Condvar,
}

#[derive(Debug)]
struct State {
    wal: Arc<File>,
    /// When the first commit happened that has not reached the disk.
    unsynced_since: Option<Instant>,
    /// Why nothing can be written.
    failed: Option<String>,
    commits: u64,
    /// The thread that carries the log over waits for the next commit.
    carrier_waits: bool,
    /// Runs have ended since the last look.
    loose: bool,
    stopping: bool,
}

/// What the syncing thread is to do.
#[derive(Debug)]
pub(super) enum SyncTask {
    Sync,
    Reopen,
    Stop,
}

impl Signal {
    pub(super) fn new(wal: File) -> Signal {
        let state = State {
            wal: Arc::new(wal),
            unsynced_since: None,
            failed: None,
            commits: 0,
            carrier_waits: false,
            // A process that died may have left some.
            loose: true,
            stopping: false,
        };
        Signal {
            state: Mutex::new(state),
            sync: Condvar::new(),
            checkpoint: Condvar::new(),
            compact: Condvar::new(),
        }
    }

    /// An error after the disk failed.
    pub(super) fn well(&self) -> Result<(), StoreError> {
        match &held(&self.state).failed {
            None => Ok(()),
            Some(why) => Err(StoreError::Failed(why.clone())),
        }
    }

    pub(super) fn closed(&self) -> StoreError {
        self.well().err().unwrap_or_else(|| StoreError::Failed("the store is closed".to_owned()))
    }

    pub(super) fn committed(&self, durability: Durability) {
        let mut state = held(&self.state);
        state.commits += 1;
        if durability == Durability::Window && state.unsynced_since.is_none() {
            state.unsynced_since = Some(Instant::now());
            self.sync.notify_one();
        }
        if std::mem::take(&mut state.carrier_waits) {
            self.checkpoint.notify_one();
        }
    }

    pub(super) fn run_ended(&self) {
        held(&self.state).loose = true;
        self.compact.notify_one();
    }

    pub(super) fn fail(&self, why: &str) {
        tracing::error!(why, "the disk failed; nothing is written until the file is opened anew");
        held(&self.state).failed.get_or_insert_with(|| format!("the disk failed: {why}"));
        self.sync.notify_one();
    }

    /// The file was opened anew.
    pub(super) fn recovered(&self, wal: File) {
        let mut state = held(&self.state);
        state.wal = Arc::new(wal);
        state.failed = None;
        state.unsynced_since = None;
    }

    pub(super) fn stop(&self) {
        held(&self.state).stopping = true;
        for bell in [&self.sync, &self.checkpoint, &self.compact] {
            bell.notify_all();
        }
    }

    pub(super) fn stopping(&self) -> bool {
        held(&self.state).stopping
    }

    /// The log to bring to the disk; from here on commits count as unsynced again.
    pub(super) fn begin_sync(&self) -> Arc<File> {
        let mut state = held(&self.state);
        state.unsynced_since = None;
        Arc::clone(&state.wal)
    }

    /// Waits until the first unsynced commit is `delay` old, or the store has been broken for
    /// `reopen_every`.
    pub(super) fn sync_task(&self, delay: Duration, reopen_every: Duration) -> SyncTask {
        let mut state = held(&self.state);
        let mut broken_since = None;
        loop {
            if state.stopping {
                return SyncTask::Stop;
            }
            let (since, after, task) = if state.failed.is_some() {
                let since = *broken_since.get_or_insert_with(Instant::now);
                (since, reopen_every, SyncTask::Reopen)
            } else if let Some(since) = state.unsynced_since {
                (since, delay, SyncTask::Sync)
            } else {
                state = self.sync.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(left) = after.checked_sub(since.elapsed()).filter(|left| !left.is_zero())
            else {
                return task;
            };
            state = wait(&self.sync, state, left);
        }
    }

    /// Waits for a commit after `seen`, or at most `every` where there is something left to do.
    /// Says how many commits there are now, or nothing when it is time to stop.
    pub(super) fn checkpoint_task(&self, seen: u64, rest: Rest, every: Duration) -> Option<u64> {
        let mut state = held(&self.state);
        if rest == Rest::Nothing {
            while !state.stopping && state.commits == seen {
                state.carrier_waits = true;
                state = self.checkpoint.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let start = Instant::now();
        while !state.stopping {
            let left = every.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Some(state.commits);
            }
            state = wait(&self.checkpoint, state, left);
        }
        None
    }

    /// Waits until runs have ended; says whether to go on.
    pub(super) fn compact_task(&self) -> bool {
        let mut state = held(&self.state);
        while !state.stopping && !state.loose {
            state = self.compact.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.loose = false;
        !state.stopping
    }
}

/// Whether the write-ahead log holds anything that was not carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    Some,
}

fn wait<'a>(bell: &Condvar, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
    bell.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
}
