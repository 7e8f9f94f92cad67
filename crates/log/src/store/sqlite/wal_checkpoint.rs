//! Checkpoints of the write-ahead log, off the write path.
//!
//! While there are commits, a passive checkpoint that blocks nobody; when idle, or when the log is
//! too long, a truncating one. Erased content leaves the disk only with the latter.

use std::fs;

use rusqlite::Connection;

use super::fault::{Fault, failed_fault};
use super::worker_signals::WalRemainder;
use super::{StoreCore, file, lock_ignoring_poison};
use crate::limits::WAL_BYTES_MAX;
use crate::store::StoreError;

/// Main loop of the checkpoint thread.
pub(super) fn run_checkpoint_thread(core: &StoreCore) {
    let mut seen_commits = 0;
    let mut remainder = WalRemainder::Pending;
    let interval = core.options.checkpoint_every;
    while let Some(commits) =
        core.signals.wait_for_checkpoint_task(seen_commits, remainder, interval)
    {
        if core.signals.check_not_failed().is_err() {
            // After a disk failure the log is the only copy until the file is reopened.
            continue;
        }
        let idle = commits == seen_commits;
        seen_commits = commits;
        let result = if idle || is_wal_too_long(core) {
            try_checkpoint_and_truncate_wal(core)
        } else {
            checkpoint_passively(core)
        };
        remainder = match result {
            Ok(true) => WalRemainder::Empty,
            Ok(false) => WalRemainder::Pending,
            Err(error) => {
                tracing::warn!(%error, "checkpoint failed");
                WalRemainder::Pending
            }
        };
    }
}

fn is_wal_too_long(core: &StoreCore) -> bool {
    fs::metadata(file::wal_path(&core.path)).is_ok_and(|wal| wal.len() > WAL_BYTES_MAX)
}

/// Checkpoints without blocking. Always returns false: the log keeps its length.
fn checkpoint_passively(core: &StoreCore) -> Result<bool, StoreError> {
    let _place = core.readers.reserve_extra_slot();
    file::open_checkpointer(&core.path)
        .and_then(|connection| run_checkpoint_pragma(&connection, "PASSIVE"))
        .map_err(|fault| core.stop_writes_on_disk_failure(fault))?;
    Ok(false)
}

/// Checkpoints and truncates while holding the writer. Returns false if a reader prevented it.
pub(super) fn try_checkpoint_and_truncate_wal(core: &StoreCore) -> Result<bool, StoreError> {
    // Does most of the work before the writer is locked.
    checkpoint_passively(core)?;
    let writer = lock_ignoring_poison(&core.writer);
    core.signals.check_not_failed()?;
    let _place = core.readers.reserve_extra_slot();
    let result = file::open_checkpointer(&core.path)
        .and_then(|connection| run_checkpoint_pragma(&connection, "TRUNCATE"))
        .map_err(|fault| core.stop_writes_on_disk_failure(fault));
    drop(writer);
    result
}

/// Checkpoints on the only open connection, and fails if another program reads the file.
pub(super) fn checkpoint_whole_wal(connection: &Connection) -> Result<(), Fault> {
    if run_checkpoint_pragma(connection, "TRUNCATE")? {
        return Ok(());
    }
    Err(failed_fault("another program has the database open; close it"))
}

/// Runs `PRAGMA wal_checkpoint`. Returns true if all was copied.
fn run_checkpoint_pragma(connection: &Connection, mode: &str) -> Result<bool, Fault> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let busy: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
    Ok(busy == 0)
}
