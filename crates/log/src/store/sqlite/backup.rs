//! Backup of the whole store while it is in use.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::fault::{Fault, failed_fault};
use super::{SqliteStore, file};
use crate::store::StoreError;

impl SqliteStore {
    /// Copies the store as of now into a new file; appends continue meanwhile. To restore, put the
    /// copy into an empty data directory under the database's name.
    pub fn backup_to_new_file(&self, target: &Path) -> Result<(), StoreError> {
        let mut reader = self.core.readers.acquire()?;
        copy_or_clean_up(reader.connection()?, target)
    }

    /// Copies the store in `dir`, which another process may have open.
    pub fn backup_store_of_directory_to_file(dir: &Path, target: &Path) -> Result<(), StoreError> {
        let path = dir.join(file::DATABASE_FILE_NAME);
        let source = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(Fault::from)?;
        copy_or_clean_up(&source, target)
    }
}

fn copy_or_clean_up(source: &Connection, target: &Path) -> Result<(), StoreError> {
    let partial = partial_path(target);
    let copied = copy_via_partial_file(source, target, &partial);
    if copied.is_err() {
        // It may not exist.
        let _ = fs::remove_file(&partial);
    }
    copied
}

fn partial_path(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn copy_via_partial_file(
    source: &Connection,
    target: &Path,
    partial: &Path,
) -> Result<(), StoreError> {
    let to_error = |error: io::Error| StoreError::Failed(format!("{}: {error}", target.display()));
    if target.exists() {
        return Err(to_error(io::ErrorKind::AlreadyExists.into()));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(partial).map_err(to_error)?;
    copy_pages(source, partial)?;
    File::open(partial).and_then(|file| file.sync_all()).map_err(to_error)?;
    fs::rename(partial, target).map_err(to_error)
}

fn copy_pages(source: &Connection, partial: &Path) -> Result<(), Fault> {
    let mut target = Connection::open(partial)?;
    // In a single step: a commit between two steps would restart the copy.
    let step = Backup::new(source, &mut target)?.step(-1)?;
    if step != StepResult::Done {
        return Err(failed_fault("the copy is locked by another program"));
    }
    target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    target.close().map_err(|(_, error)| Fault::from(error))
}
