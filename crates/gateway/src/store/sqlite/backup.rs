//! A copy of the whole store, made while it is in use.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::fault::{Fault, failed};
use super::{SqliteStore, file};
use crate::store::StoreError;

/// Steps that the epoch of a copy may be ahead by.
const EPOCHS_AHEAD_MAX: u32 = 1 << 16;

impl SqliteStore {
    /// Copies the store as it is at this moment into a new file; appends go on meanwhile. To
    /// restore, put the copy into an empty data directory under the store's name.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let mut reader = self.core.readers.take()?;
        copy_whole(reader.get()?, to)
    }

    /// The same for a store that another process has open, or none.
    pub fn copy_of(dir: &Path, to: &Path) -> Result<(), StoreError> {
        let path = dir.join(file::NAME);
        let source = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(Fault::from)?;
        copy_whole(&source, to)
    }
}

fn copy_whole(source: &Connection, to: &Path) -> Result<(), StoreError> {
    let partial = partial(to);
    let copied = copy(source, to, &partial);
    if copied.is_err() {
        // It may never have been made.
        let _ = fs::remove_file(&partial);
    }
    copied
}

fn partial(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn copy(source: &Connection, to: &Path, partial: &Path) -> Result<(), StoreError> {
    let wrong = |error: io::Error| StoreError::Failed(format!("{}: {error}", to.display()));
    if to.exists() {
        return Err(wrong(io::ErrorKind::AlreadyExists.into()));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(partial).map_err(wrong)?;
    pages(source, partial)?;
    File::open(partial).and_then(|file| file.sync_all()).map_err(wrong)?;
    fs::rename(partial, to).map_err(wrong)
}

fn pages(source: &Connection, partial: &Path) -> Result<(), Fault> {
    let mut target = Connection::open(partial)?;
    // In one step: between two, a commit would make it begin anew.
    let step = Backup::new(source, &mut target)?.step(-1)?;
    if step != StepResult::Done {
        return Err(failed("the copy is in use by somebody else"));
    }
    target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    let epoch: u32 = target.query_row("SELECT epoch FROM meta", [], |row| row.get(0))?;
    // The original goes on and may count epochs as well; the two must not meet.
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|error| failed(error.to_string()))?;
    let ahead = 1 + u32::from_le_bytes(random) % EPOCHS_AHEAD_MAX;
    file::mark(&target, epoch.saturating_add(ahead), "a copy", file::Stop::Clean)?;
    target.close().map_err(|(_, error)| Fault::from(error))
}
