//! The file and its directory: opening, locking, versions, epochs.
//!
//! Invariant: a new epoch has reached the disk before anything is served under it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::Durability;
use super::fault::{Fault, failed};
use crate::limits;
use crate::store::StoreError;

pub(super) const NAME: &str = "millpond.db";

/// Each brings a file from the version before to its own; never changed once released.
const MIGRATIONS: [&str; 2] = [include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// Takes the directory for this process, and makes it where there is none.
pub(super) fn lock(dir: &Path) -> Result<File, StoreError> {
    let failed = |error: io::Error| StoreError::Failed(format!("{}: {error}", dir.display()));
    private_dir(dir).map_err(failed)?;
    let file = private().open(dir.join("lock")).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StoreError::Failed(format!(
                "{} is in use by another gateway: stop that one, or choose another data directory",
                dir.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // Made here, so that nobody else on the machine can read it for a moment.
    private().open(dir.join(NAME)).map_err(failed)?;
    Ok(file)
}

fn private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(super) fn writer(path: &Path, durability: Durability) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(limits::BUSY_WAIT)?;
    // Only heard while the file is empty: what an erased session held can be given back.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(failed(format!(
            "{}: no write-ahead log here ({mode}); the data must be on a local disk",
            path.display()
        )));
    }
    synchronous(&connection, durability)?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    guard(&connection)?;
    Ok(connection)
}

/// A connection that carries the write-ahead log over. It waits for nobody: there is a next time.
pub(super) fn carrier(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    guard(&connection)?;
    Ok(connection)
}

pub(super) fn reader(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(limits::BUSY_WAIT)?;
    guard(&connection)?;
    Ok(connection)
}

/// What all connections have in common. Closing one never carries the log over: after a failure of
/// the disk the log is all there is.
fn guard(connection: &Connection) -> Result<(), Fault> {
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "cell_size_check", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

fn synchronous(connection: &Connection, durability: Durability) -> Result<(), Fault> {
    let word = match durability {
        Durability::Window => "NORMAL",
        Durability::Full => "FULL",
    };
    Ok(connection.pragma_update(None, "synchronous", word)?)
}

pub(super) fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: usize = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let missing = MIGRATIONS.get(version..).ok_or_else(|| {
        failed(format!(
            "the data was written by a newer version (schema {version}, this one knows {}): \
             use that version, or restore a backup",
            MIGRATIONS.len()
        ))
    })?;
    for sql in missing {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len())?;
    Ok(transaction.commit()?)
}

/// Says under which epoch this process works, and that it has not stopped cleanly yet.
pub(super) fn begin(
    connection: &Connection,
    durability: Durability,
    boot: Option<&str>,
) -> Result<u32, Fault> {
    let (epoch, last_boot, clean): (u32, String, bool) =
        connection.query_row("SELECT epoch, boot, clean FROM meta", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let whole = clean || boot == Some(&*last_boot);
    let epoch = if whole { epoch } else { epoch + 1 };
    mark(connection, epoch, boot.unwrap_or_default(), Stop::Unclean)?;
    synchronous(connection, durability)?;
    Ok(epoch)
}

/// The next epoch, for a file that was opened anew after the disk failed.
pub(super) fn renew(
    connection: &Connection,
    durability: Durability,
    epoch: u32,
    boot: Option<&str>,
) -> Result<(), Fault> {
    mark(connection, epoch, boot.unwrap_or_default(), Stop::Unclean)?;
    synchronous(connection, durability)
}

/// The last thing a store does.
pub(super) fn end(connection: Connection) -> Result<(), Fault> {
    let (epoch, boot): (u32, String) =
        connection
            .query_row("SELECT epoch, boot FROM meta", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    mark(&connection, epoch, &boot, Stop::Clean)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.close().map_err(|(_, error)| Fault::from(error))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Clean,
    Unclean,
}

/// Leaves the connection at full durability.
pub(super) fn mark(
    connection: &Connection,
    epoch: u32,
    boot: &str,
    stop: Stop,
) -> Result<(), Fault> {
    synchronous(connection, Durability::Full)?;
    connection.execute(
        "UPDATE meta SET epoch = ?1, boot = ?2, clean = ?3",
        (epoch, boot, stop == Stop::Clean),
    )?;
    Ok(())
}

/// The write-ahead log, to be brought to the disk. It stays the same file while a store is open.
pub(super) fn wal(path: &Path) -> Result<File, Fault> {
    let path = wal_path(path);
    File::open(&path).map_err(|error| failed(format!("{}: {error}", path.display())))
}

pub(super) fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
