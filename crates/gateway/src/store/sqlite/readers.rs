//! A bounded pool of connections that read.
//!
//! Invariant: while someone is `alone`, no connection but theirs is open.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use super::fault::Fault;
use super::{file, held};
use crate::limits::READERS_MAX;
use crate::store::StoreError;

#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    pool: Mutex<Pool>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Connection>,
    out: usize,
    shut: bool,
}

/// A place in the pool, given back when dropped.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Readers {
        Readers { path, pool: Mutex::default(), freed: Condvar::new() }
    }

    /// A place, with a connection that reads.
    pub(super) fn take(&self) -> Result<Reader<'_>, StoreError> {
        let mut reader = self.enter();
        if reader.connection.is_none() {
            reader.connection = Some(file::reader(&self.path)?);
        }
        Ok(reader)
    }

    /// A place beside the bounded ones, for the store's own work: it may hold the writer, which
    /// must not wait for readers.
    pub(super) fn pass(&self) -> Reader<'_> {
        let mut pool = held(&self.pool);
        while pool.shut {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.out += 1;
        Reader { readers: self, connection: None }
    }

    fn enter(&self) -> Reader<'_> {
        let mut pool = held(&self.pool);
        while pool.shut || pool.out >= READERS_MAX {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.out += 1;
        Reader { readers: self, connection: pool.idle.pop() }
    }

    /// Does `work` when nobody reads, and lets nobody read before it is done.
    pub(super) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut pool = held(&self.pool);
        while pool.shut {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.shut = true;
        while pool.out > 0 {
            pool = self.freed.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.idle.clear();
        drop(pool);
        let done = work();
        held(&self.pool).shut = false;
        self.freed.notify_all();
        done
    }
}

impl Reader<'_> {
    pub(super) fn get(&mut self) -> Result<&mut Connection, Fault> {
        self.connection.as_mut().ok_or_else(|| super::fault::failed("no connection"))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut pool = held(&self.readers.pool);
        pool.out -= 1;
        pool.idle.extend(self.connection.take());
        drop(pool);
        self.readers.freed.notify_all();
    }
}
