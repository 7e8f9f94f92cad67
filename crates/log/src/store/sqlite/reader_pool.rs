//! A bounded pool of read connections.
//!
//! Invariant: during `run_with_readers_closed` no other connection is open.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use super::fault::Fault;
use super::{file, lock_ignoring_poison};
use crate::limits::READ_CONNECTIONS_MAX;
use crate::store::StoreError;

#[derive(Debug)]
pub(super) struct ReaderPool {
    path: PathBuf,
    state: Mutex<PoolState>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<Connection>,
    in_use: usize,
    is_exclusive: bool,
}

/// A slot of the pool, returned when dropped.
#[derive(Debug)]
pub(super) struct PooledReader<'a> {
    pool: &'a ReaderPool,
    connection: Option<Connection>,
}

impl ReaderPool {
    pub(super) fn new(path: PathBuf) -> ReaderPool {
        ReaderPool { path, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits for a slot and returns it with an open connection.
    pub(super) fn acquire(&self) -> Result<PooledReader<'_>, StoreError> {
        let mut reader = self.wait_and_take_slot();
        if reader.connection.is_none() {
            reader.connection = Some(file::open_reader(&self.path)?);
        }
        Ok(reader)
    }

    /// Takes a slot beyond the bound, without a connection. For the store's own work, which may
    /// hold the writer and must not wait for readers.
    pub(super) fn reserve_extra_slot(&self) -> PooledReader<'_> {
        let mut pool = lock_ignoring_poison(&self.state);
        while pool.is_exclusive {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.in_use += 1;
        PooledReader { pool: self, connection: None }
    }

    fn wait_and_take_slot(&self) -> PooledReader<'_> {
        let mut pool = lock_ignoring_poison(&self.state);
        while pool.is_exclusive || pool.in_use >= READ_CONNECTIONS_MAX {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.in_use += 1;
        PooledReader { pool: self, connection: pool.idle.pop() }
    }

    /// Waits until all slots are free and all connections closed, then runs `work` while readers
    /// wait.
    pub(super) fn run_with_readers_closed<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut pool = lock_ignoring_poison(&self.state);
        while pool.is_exclusive {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.is_exclusive = true;
        while pool.in_use > 0 {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.idle.clear();
        drop(pool);
        let result = work();
        lock_ignoring_poison(&self.state).is_exclusive = false;
        self.freed.notify_all();
        result
    }
}

impl PooledReader<'_> {
    pub(super) fn connection(&mut self) -> Result<&mut Connection, Fault> {
        self.connection.as_mut().ok_or_else(|| super::fault::failed_fault("no connection"))
    }
}

impl Drop for PooledReader<'_> {
    fn drop(&mut self) {
        let mut pool = lock_ignoring_poison(&self.pool.state);
        pool.in_use -= 1;
        pool.idle.extend(self.connection.take());
        drop(pool);
        self.pool.freed.notify_all();
    }
}
