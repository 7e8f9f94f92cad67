//! Carrying the write-ahead log over into the file, off the write path.
//!
//! While there are commits it is carried over without getting in anybody's way; when there were
//! none for a moment, or it has grown too long, it is emptied. What was erased is gone from the
//! disk only then.

use std::fs;

use rusqlite::Connection;

use super::fault::{Fault, failed};
use super::signal::Rest;
use super::{Core, file, held};
use crate::limits::WAL_BYTES_MAX;
use crate::store::StoreError;

/// The carrying thread.
pub(super) fn work(core: &Core) {
    let mut seen = 0;
    let mut rest = Rest::Some;
    let every = core.options.checkpoint_every;
    while let Some(commits) = core.signal.checkpoint_task(seen, rest, every) {
        if core.signal.well().is_err() {
            // The log is all there is until the file was opened anew.
            continue;
        }
        let idle = commits == seen;
        seen = commits;
        let done = if idle || is_too_long(core) { truncate(core) } else { passive(core) };
        rest = match done {
            Ok(true) => Rest::Nothing,
            Ok(false) => Rest::Some,
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log was not carried over");
                Rest::Some
            }
        };
    }
}

fn is_too_long(core: &Core) -> bool {
    fs::metadata(file::wal_path(&core.path)).is_ok_and(|wal| wal.len() > WAL_BYTES_MAX)
}

/// Never says that nothing is left: the log still has its length.
fn passive(core: &Core) -> Result<bool, StoreError> {
    let _place = core.readers.pass();
    file::carrier(&core.path)
        .and_then(|connection| run(&connection, "PASSIVE"))
        .map_err(|fault| core.settle(fault))?;
    Ok(false)
}

/// Holds the writer up for as long as it takes; readers can make it give up.
pub(super) fn truncate(core: &Core) -> Result<bool, StoreError> {
    // What can be carried over without the writer is.
    passive(core)?;
    let writer = held(&core.writer);
    core.signal.well()?;
    let _place = core.readers.pass();
    let done = file::carrier(&core.path)
        .and_then(|connection| run(&connection, "TRUNCATE"))
        .map_err(|fault| core.settle(fault));
    drop(writer);
    done
}

/// On a connection that has the file to itself.
pub(super) fn carry_all(connection: &Connection) -> Result<(), Fault> {
    if run(connection, "TRUNCATE")? {
        return Ok(());
    }
    Err(failed("another program reads the file: close it"))
}

/// Says whether all was carried over.
fn run(connection: &Connection, how: &str) -> Result<bool, Fault> {
    let sql = format!("PRAGMA wal_checkpoint({how})");
    let busy: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
    Ok(busy == 0)
}
