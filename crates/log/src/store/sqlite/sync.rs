//! Syncs commits to disk, and recovers from disk failures.
//!
//! A failed sync is never retried as if it could succeed: the kernel may have dropped the pages.
//! Nothing is written until the file is reopened, its log verified and checkpointed as a whole, and
//! a new epoch written.

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
            SyncTask::Reopen => match reopen_file_under_new_epoch(core) {
                Ok(epoch) => tracing::warn!(epoch, "file reopened"),
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

pub(super) fn reopen_file_under_new_epoch(core: &StoreCore) -> Result<u32, StoreError> {
    let mut writer = lock_ignoring_poison(&core.writer);
    let epoch = core.epoch.load(Ordering::Acquire).saturating_add(1);
    let opened = core.readers.run_with_readers_closed(|| {
        // After the last connection is closed, the next one verifies every frame of the log.
        drop(writer.take());
        open_writer_and_write_epoch(core, epoch)
    });
    *writer = Some(
        opened.inspect_err(|fault| core.signals.set_failed_and_wake_sync(&fault.to_string()))?,
    );
    core.signals.replace_wal_and_clear_failure(file::open_wal_file_for_sync(&core.path)?);
    core.epoch.store(epoch, Ordering::Release);
    Ok(epoch)
}

fn open_writer_and_write_epoch(
    core: &StoreCore,
    epoch: u32,
) -> Result<rusqlite::Connection, Fault> {
    let durability = core.options.durability;
    let connection = file::open_writer(&core.path, durability)?;
    wal_checkpoint::checkpoint_whole_wal(&connection)?;
    file::write_epoch_and_mark_unclean(
        &connection,
        durability,
        epoch,
        core.options.boot_id.as_deref(),
    )?;
    let wal = file::open_wal_file_for_sync(&core.path)?;
    (core.options.sync_file)(&wal)
        .map_err(|error| failed_fault(format!("disk failure: {error}")))?;
    Ok(connection)
}
