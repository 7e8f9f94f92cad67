//! The database file and its directory: opening, locking, schema migrations.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::Durability;
use super::fault::{Fault, failed_fault};
use crate::limits;
use crate::store::StoreError;

pub(super) const DATABASE_FILE_NAME: &str = "millpond.db";

/// Each migrates the previous version to its own. Never changed once released.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// Locks the directory for this process. Creates it and an empty database file if needed.
pub(super) fn create_and_lock_directory(dir: &Path) -> Result<File, StoreError> {
    let to_error = |error: io::Error| StoreError::Failed(format!("{}: {error}", dir.display()));
    create_private_dir(dir).map_err(to_error)?;
    let file = private_open_options().open(dir.join("lock")).map_err(to_error)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StoreError::InUse { folder: dir.to_owned() });
        }
        Err(TryLockError::Error(error)) => return Err(to_error(error)),
    }
    // Created here with private permissions, so that no other user can read it.
    private_open_options().open(dir.join(DATABASE_FILE_NAME)).map_err(to_error)?;
    Ok(file)
}

fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

fn private_open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(super) fn open_writer(path: &Path, durability: Durability) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(limits::BUSY_TIMEOUT)?;
    // Takes effect only on an empty file; allows erased pages to be returned.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(failed_fault(format!(
            "{}: cannot enable the write-ahead log ({mode}); use a local disk",
            path.display()
        )));
    }
    set_synchronous(&connection, durability)?;
    connection.pragma_update(None, "secure_delete", "ON")?;
    apply_common_pragmas(&connection)?;
    Ok(connection)
}

/// Opens a connection for checkpoints. It never waits for a lock, because it is retried later.
pub(super) fn open_checkpointer(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    apply_common_pragmas(&connection)?;
    Ok(connection)
}

pub(super) fn open_reader(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(limits::BUSY_TIMEOUT)?;
    apply_common_pragmas(&connection)?;
    Ok(connection)
}

/// Settings of all connections. Closing one never checkpoints: after a disk failure the log is the
/// only copy.
fn apply_common_pragmas(connection: &Connection) -> Result<(), Fault> {
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    connection.pragma_update(None, "trusted_schema", "OFF")?;
    connection.pragma_update(None, "cell_size_check", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

fn set_synchronous(connection: &Connection, durability: Durability) -> Result<(), Fault> {
    let pragma_value = match durability {
        Durability::Window => "NORMAL",
        Durability::Full => "FULL",
    };
    Ok(connection.pragma_update(None, "synchronous", pragma_value)?)
}

pub(super) fn migrate_schema(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: usize = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let missing = MIGRATIONS.get(version..).ok_or_else(|| {
        failed_fault(format!(
            "the data was written by a newer version (schema {version}, supported: {}); \
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

/// The epoch of all records from before version 4 of the schema.
pub(super) fn select_old_rows_epoch(connection: &Connection) -> Result<u64, Fault> {
    Ok(connection.query_row("SELECT old_rows_epoch FROM meta", [], |row| row.get(0))?)
}

/// Copies the write-ahead log into the database and closes it.
pub(super) fn checkpoint_and_close(connection: Connection) -> Result<(), Fault> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.close().map_err(|(_, error)| Fault::from(error))
}

/// Opens the write-ahead log for syncing. It stays the same file while the store is open.
pub(super) fn open_wal_file_for_sync(path: &Path) -> Result<File, Fault> {
    let path = wal_path(path);
    File::open(&path).map_err(|error| failed_fault(format!("{}: {error}", path.display())))
}

pub(super) fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
