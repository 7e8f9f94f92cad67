//! Syncs commits to disk, and recovers from disk failures.
//!
//! A failed sync is never retried as if it could succeed: the kernel may have dropped the pages.
//! Nothing is written until the file is reopened and its log verified and checkpointed as a whole.

use std::sync::atomic::Ordering;

use super::fault::{Fault, failed_fault};
use super::worker_signals::SyncTask;
use super::{StoreCore, file, lock_ignoring_poison, wal_checkpoint};
use crate::store::StoreError;

/// Main loop of the sync thread.
pub(super) fn run_sync_thread(core: &StoreCore) {
    // The other half of the window is for the sync itself.
    let delay = core.options.sync_window / 2;
    loop {
        match core.signals.wait_for_sync_task(delay, core.options.reopen_every) {
            SyncTask::Sync => {
                // The next write reports a failure.
                let _ = sync_wal_or_fail_store(core);
            }
            SyncTask::Reopen => match reopen_file(core) {
                Ok(count) => tracing::warn!(count, "file reopened"),
                Err(error) => tracing::error!(%error, "cannot reopen the file"),
            },
            SyncTask::Stop => return,
        }
    }
}

pub(super) fn sync_wal_or_fail_store(core: &StoreCore) -> Result<(), StoreError> {
    core.signals.check_not_failed()?;
    let wal = core.signals.get_wal_and_clear_unsynced();
    if let Err(error) = (core.options.sync_file)(&wal) {
        core.signals.set_failed_and_wake_sync(&error.to_string());
    }
    core.signals.check_not_failed()
}

/// Reopens the file. Returns how often that was done.
pub(super) fn reopen_file(core: &StoreCore) -> Result<u32, StoreError> {
    let mut writer = lock_ignoring_poison(&core.writer);
    let opened = core.readers.run_with_readers_closed(|| {
        // After the last connection is closed, the next one verifies every frame of the log.
        drop(writer.take());
        open_writer_and_checkpoint(core)
    });
    *writer = Some(
        opened.inspect_err(|fault| core.signals.set_failed_and_wake_sync(&fault.to_string()))?,
    );
    core.signals.replace_wal_and_clear_failure(file::open_wal_file_for_sync(&core.path)?);
    Ok(1 + core.reopen_count.fetch_add(1, Ordering::AcqRel))
}

fn open_writer_and_checkpoint(core: &StoreCore) -> Result<rusqlite::Connection, Fault> {
    let connection = file::open_writer(&core.path, core.options.durability)?;
    wal_checkpoint::checkpoint_whole_wal(&connection)?;
    let wal = file::open_wal_file_for_sync(&core.path)?;
    (core.options.sync_file)(&wal)
        .map_err(|error| failed_fault(format!("disk failure: {error}")))?;
    Ok(connection)
}
