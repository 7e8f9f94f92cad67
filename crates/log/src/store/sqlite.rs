//! The `SQLite` store: one file, one writer, readers that never wait for it.
//!
//! Does: keep the promises of `Store` and `CredentialStore` across a crash of the process, and
//! across a power loss except for the last moments (`Durability`). Does not: interpret records
//! beyond their run, or serve two processes; a lock on the directory prevents that.
//!
//! Invariant: every row of records has a checksum over its position and text; a row that does not
//! match is never served.

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
mod chunk_rows;
mod compact;
mod credentials;
mod fault;
mod file;
#[cfg(test)]
mod plan_tests;
mod queue;
mod reader_pool;
mod repair;
mod retention;
mod runs;
mod search;
mod sessions;
mod store_impl;
mod sync;
mod wal_checkpoint;
mod worker_signals;

pub use check::{CheckReport, Damage};
use fault::Fault;
use reader_pool::ReaderPool;
pub use retention::{ErasureReason, Retention, Sweep};
use worker_signals::WorkerSignals;

/// When a commit is synced to disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Within `limits::SYNC_WINDOW`: a power loss can lose that much, a crash nothing.
    #[default]
    Window,
    /// Before it is acknowledged.
    Full,
}

/// Syncs a file to disk.
pub type SyncFile = Arc<dyn Fn(&File) -> io::Result<()> + Send + Sync>;

/// Options of a store.
#[derive(Clone)]
pub struct StoreOptions {
    pub durability: Durability,
    pub sync_file: SyncFile,
    pub sync_window: Duration,
    pub checkpoint_every: Duration,
    pub reopen_every: Duration,
}

impl StoreOptions {
    /// Default options with this durability.
    pub fn new(durability: Durability) -> StoreOptions {
        StoreOptions {
            durability,
            sync_file: Arc::new(File::sync_data),
            sync_window: limits::SYNC_WINDOW,
            checkpoint_every: limits::CHECKPOINT_EVERY,
            reopen_every: limits::REOPEN_EVERY,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("durability", &self.durability).finish_non_exhaustive()
    }
}

/// An open store directory.
#[derive(Debug)]
pub struct SqliteStore {
    core: Arc<StoreCore>,
    threads: Vec<JoinHandle<()>>,
    /// Locked while the store is open.
    directory_lock: File,
}

/// State shared by the store's threads.
#[derive(Debug)]
struct StoreCore {
    path: PathBuf,
    options: StoreOptions,
    /// Epoch of all records from before version 4 of the schema.
    old_rows_epoch: u64,
    reopen_count: AtomicU32,
    /// `None` while the file cannot be reopened.
    writer: Mutex<Option<Connection>>,
    readers: ReaderPool,
    /// Held while rows are merged, so that only one thread does it.
    compact_lock: Mutex<()>,
    signals: WorkerSignals,
}

// Lock order: the writer first, then a slot of the reader pool.

impl SqliteStore {
    /// True if the folder has a store; opening one that is missing creates it.
    pub fn exists_in(folder: &Path) -> bool {
        folder.join(file::DATABASE_FILE_NAME).exists()
    }

    /// Opens the store in `dir` with default options, creating it if needed.
    pub fn open(dir: &Path, durability: Durability) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_or_create_with_options(dir, StoreOptions::new(durability))
    }

    /// Opens the store in `dir`, creating it if needed, and starts its threads.
    pub fn open_or_create_with_options(
        dir: &Path,
        options: StoreOptions,
    ) -> Result<SqliteStore, StoreError> {
        let lock = file::create_and_lock_directory(dir)?;
        let path = dir.join(file::DATABASE_FILE_NAME);
        let mut writer = file::open_writer(&path, options.durability)?;
        file::migrate_schema(&mut writer)?;
        let old_rows_epoch = file::select_old_rows_epoch(&writer)?;
        let wal = file::open_wal_file_for_sync(&path)?;
        let core = Arc::new(StoreCore {
            readers: ReaderPool::new(path.clone()),
            signals: WorkerSignals::new(wal),
            old_rows_epoch,
            reopen_count: AtomicU32::new(0),
            writer: Mutex::new(Some(writer)),
            compact_lock: Mutex::new(()),
            path,
            options,
        });
        let mut store = SqliteStore { core, threads: Vec::new(), directory_lock: lock };
        store.spawn_thread("store-sync", sync::run_sync_thread)?;
        store.spawn_thread("store-checkpoint", wal_checkpoint::run_checkpoint_thread)?;
        store.spawn_thread("store-compact", compact::run_compact_thread)?;
        Ok(store)
    }

    fn spawn_thread(&mut self, name: &str, work: fn(&StoreCore)) -> Result<(), StoreError> {
        let core = Arc::clone(&self.core);
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread
            .spawn(move || work(&core))
            .map_err(|error| StoreError::Failed(format!("cannot start thread {name}: {error}")))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Syncs all commits to disk now.
    pub fn flush_to_disk(&self) -> Result<(), StoreError> {
        sync::sync_wal_or_fail_store(&self.core)
    }

    /// Reopens the file after a disk failure. The sync thread also does this from time to time.
    /// Returns how often that was done.
    pub fn reopen_file(&self) -> Result<u32, StoreError> {
        sync::reopen_file(&self.core)
    }

    /// Checkpoints and truncates the write-ahead log. Returns true if it is empty now.
    pub fn try_checkpoint_and_truncate_wal(&self) -> Result<bool, StoreError> {
        wal_checkpoint::try_checkpoint_and_truncate_wal(&self.core)
    }

    /// Merges the small rows of all ended runs, as the background thread does.
    pub fn compact_ended_runs(&self) -> Result<(), StoreError> {
        compact::compact_ended_runs(&self.core)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.core.signals.signal_threads_to_stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("store thread panicked");
            }
        }
        if let Err(error) = self.core.close_unless_failed() {
            tracing::error!(%error, "store not closed cleanly");
        }
        // Unlocked explicitly: a child process being spawned may still hold the file.
        if let Err(error) = self.directory_lock.unlock() {
            tracing::warn!(%error, "cannot unlock the data directory; locked until exit");
        }
    }
}

impl StoreCore {
    /// The epoch of a row with this column.
    fn epoch_of_row(&self, epoch: u64) -> u64 {
        if epoch == 0 { self.old_rows_epoch } else { epoch }
    }

    /// Runs `work` in one write transaction.
    fn write_transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut writer = lock_ignoring_poison(&self.writer);
        self.signals.check_not_failed()?;
        let connection = writer.as_mut().ok_or_else(|| self.signals.failure_or_closed_error())?;
        let result = run_transaction(connection, work)
            .map_err(|fault| self.stop_writes_on_disk_failure(fault))?;
        self.signals.notify_commit(self.options.durability);
        Ok(result)
    }

    /// Runs `work` in one read transaction, a consistent snapshot.
    fn read_transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut reader = self.readers.acquire()?;
        let transaction = reader.connection()?.transaction().map_err(Fault::from)?;
        Ok(work(&transaction)?)
    }

    /// Converts a fault; a disk failure stops all further writes.
    fn stop_writes_on_disk_failure(&self, fault: Fault) -> StoreError {
        if fault.is_disk_failure() {
            self.signals.set_failed_and_wake_sync(&fault.to_string());
        }
        StoreError::from(fault)
    }

    fn close_unless_failed(&self) -> Result<(), StoreError> {
        let mut writer = lock_ignoring_poison(&self.writer);
        match self.readers.run_with_readers_closed(|| writer.take()) {
            Some(writer) if self.signals.check_not_failed().is_ok() => {
                Ok(file::checkpoint_and_close(writer)?)
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn run_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Locks even if poisoned: after a panic the transaction was rolled back and the connection is
/// usable.
fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
