//! The default store: one `SQLite` file, one writer, readers that never wait for it.
//!
//! Does: keep what `Store` and `Vault` promise across a crash of the process, and across a loss of
//! power except for the last moments (`Durability`). Does not: know what a record means beyond its
//! run, or serve two processes; a lock on the directory sees to that.
//!
//! Invariant: every row of records carries a checksum over its place and its text, and what does
//! not match is never served.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, thread};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::limits;
use crate::store::StoreError;

mod append;
mod backup;
mod blobs;
mod branch;
mod check;
mod checkpoint;
mod compact;
mod doors;
mod fault;
mod file;
#[cfg(test)]
mod plan_tests;
mod queue;
mod readers;
mod repair;
mod rows;
mod runs;
mod search;
mod sessions;
mod signal;
mod sweep;
mod sync;
mod vault;

pub use check::{Damage, Report};
use fault::Fault;
use readers::Readers;
use signal::Signal;
pub use sweep::Retention;

/// When a commit has reached the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Within `limits::SYNC_WINDOW`: a loss of power can cost that much, a crash nothing.
    #[default]
    Window,
    /// Before it is acknowledged.
    Full,
}

/// Brings what was written to a file to the disk.
pub type SyncFile = Arc<dyn Fn(&File) -> io::Result<()> + Send + Sync>;

/// What a store is opened with.
#[derive(Clone)]
pub struct Options {
    pub durability: Durability,
    /// Names this boot of the machine; where nobody knows, every unclean stop counts as a new one.
    pub boot: Option<String>,
    pub sync: SyncFile,
    pub sync_window: Duration,
    pub checkpoint_every: Duration,
    pub reopen_every: Duration,
}

impl Options {
    pub fn new(durability: Durability) -> Options {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        Options {
            durability,
            boot: boot.map(|id| id.trim().to_owned()),
            sync: Arc::new(File::sync_data),
            sync_window: limits::SYNC_WINDOW,
            checkpoint_every: limits::CHECKPOINT_EVERY,
            reopen_every: limits::REOPEN_EVERY,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("durability", &self.durability)
            .field("boot", &self.boot)
            .finish_non_exhaustive()
    }
}

/// A directory of logs, open.
#[derive(Debug)]
pub struct SqliteStore {
    core: Arc<Core>,
    threads: Vec<JoinHandle<()>>,
    /// Held for as long as the store is open.
    lock: File,
}

/// What the store's threads share.
#[derive(Debug)]
struct Core {
    path: PathBuf,
    options: Options,
    epoch: AtomicU32,
    /// Nothing while the file could not be opened anew.
    writer: Mutex<Option<Connection>>,
    readers: Readers,
    /// Held by whoever puts rows together: two would do it to the same ones.
    compacting: Mutex<()>,
    signal: Signal,
}

// Whoever needs both takes the writer first, then a place among the readers.

impl SqliteStore {
    pub fn open(dir: &Path, durability: Durability) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(dir, Options::new(durability))
    }

    pub fn open_with(dir: &Path, options: Options) -> Result<SqliteStore, StoreError> {
        let lock = file::lock(dir)?;
        let path = dir.join(file::NAME);
        let mut writer = file::writer(&path, options.durability)?;
        file::migrate(&mut writer)?;
        let epoch = file::begin(&writer, options.durability, options.boot.as_deref())?;
        let wal = file::wal(&path)?;
        let core = Arc::new(Core {
            readers: Readers::new(path.clone()),
            signal: Signal::new(wal),
            epoch: AtomicU32::new(epoch),
            writer: Mutex::new(Some(writer)),
            compacting: Mutex::new(()),
            path,
            options,
        });
        let mut store = SqliteStore { core, threads: Vec::new(), lock };
        store.spawn("store-sync", sync::work)?;
        store.spawn("store-checkpoint", checkpoint::work)?;
        store.spawn("store-compact", compact::work)?;
        Ok(store)
    }

    fn spawn(&mut self, name: &str, work: fn(&Core)) -> Result<(), StoreError> {
        let core = Arc::clone(&self.core);
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread
            .spawn(move || work(&core))
            .map_err(|error| StoreError::Failed(format!("no thread for {name}: {error}")))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Brings all that was committed to the disk, now.
    pub fn flush(&self) -> Result<(), StoreError> {
        sync::flush(&self.core)
    }

    /// Opens the file anew after the disk failed, under a new epoch. A thread of the store tries
    /// this from time to time by itself.
    pub fn reopen(&self) -> Result<u32, StoreError> {
        sync::reopen(&self.core)
    }

    /// Carries the write-ahead log over and empties it. Says whether it is empty now.
    pub fn checkpoint(&self) -> Result<bool, StoreError> {
        checkpoint::truncate(&self.core)
    }

    /// Puts the small rows of all ended runs together, as the store does in the background.
    pub fn compact(&self) -> Result<(), StoreError> {
        compact::all(&self.core)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.core.signal.stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
        if let Err(error) = self.core.close() {
            tracing::error!(%error, "the store was not closed cleanly");
        }
        // Closing alone would not do: a process that is being started has the file, too, for a
        // moment.
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(%error, "the directory stays locked until this process ends");
        }
    }
}

impl Core {
    /// One transaction: all of `work`, or nothing.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut writer = held(&self.writer);
        self.signal.well()?;
        let connection = writer.as_mut().ok_or_else(|| self.signal.closed())?;
        let done = transact(connection, work).map_err(|fault| self.settle(fault))?;
        self.signal.committed(self.options.durability);
        Ok(done)
    }

    /// One consistent look.
    fn read<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut reader = self.readers.take()?;
        let transaction = reader.get()?.transaction().map_err(Fault::from)?;
        Ok(work(&transaction)?)
    }

    /// What the caller hears; after a failure of the disk nothing more is written.
    fn settle(&self, fault: Fault) -> StoreError {
        if fault.is_of_the_disk() {
            self.signal.fail(&fault.to_string());
        }
        StoreError::from(fault)
    }

    fn close(&self) -> Result<(), StoreError> {
        let mut writer = held(&self.writer);
        match self.readers.alone(|| writer.take()) {
            Some(writer) if self.signal.well().is_ok() => Ok(file::end(writer)?),
            Some(_) | None => Ok(()),
        }
    }
}

fn transact<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// A panic elsewhere does not make a connection unusable: its transaction was rolled back.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
