//! Bringing commits to the disk, and what follows when the disk refuses.
//!
//! A failed sync is never tried again as if it could still succeed: the kernel may have dropped
//! what it could not write. Nothing is written until the file was opened anew, its log checked,
//! carried over whole, and marked with a new epoch.

use std::sync::atomic::Ordering;

use super::fault::{Fault, failed};
use super::signal::SyncTask;
use super::{Core, checkpoint, file, held};
use crate::store::StoreError;

/// The syncing thread.
pub(super) fn work(core: &Core) {
    // Half of the window is left to the disk.
    let delay = core.options.sync_window / 2;
    loop {
        match core.signal.sync_task(delay, core.options.reopen_every) {
            SyncTask::Sync => {
                // Whoever writes next hears about a failure.
                let _ = flush(core);
            }
            SyncTask::Reopen => match reopen(core) {
                Ok(epoch) => tracing::warn!(epoch, "the file was opened anew"),
                Err(error) => tracing::error!(%error, "the file could not be opened anew"),
            },
            SyncTask::Stop => return,
        }
    }
}

pub(super) fn flush(core: &Core) -> Result<(), StoreError> {
    core.signal.well()?;
    let wal = core.signal.begin_sync();
    if let Err(error) = (core.options.sync)(&wal) {
        core.signal.fail(&error.to_string());
    }
    core.signal.well()
}

pub(super) fn reopen(core: &Core) -> Result<u32, StoreError> {
    let mut writer = held(&core.writer);
    let epoch = core.epoch.load(Ordering::Acquire).saturating_add(1);
    let opened = core.readers.alone(|| {
        // With the last connection closed, the next one checks every frame of the log.
        drop(writer.take());
        open_anew(core, epoch)
    });
    *writer = Some(opened.inspect_err(|fault| core.signal.fail(&fault.to_string()))?);
    core.signal.recovered(file::wal(&core.path)?);
    core.epoch.store(epoch, Ordering::Release);
    Ok(epoch)
}

fn open_anew(core: &Core, epoch: u32) -> Result<rusqlite::Connection, Fault> {
    let durability = core.options.durability;
    let connection = file::writer(&core.path, durability)?;
    checkpoint::carry_all(&connection)?;
    file::renew(&connection, durability, epoch, core.options.boot.as_deref())?;
    let wal = file::wal(&core.path)?;
    (core.options.sync)(&wal).map_err(|error| failed(format!("the disk failed: {error}")))?;
    Ok(connection)
}
