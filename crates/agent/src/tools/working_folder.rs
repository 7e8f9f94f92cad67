//! The working folder. No path or link reaches outside it.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};

use super::{ToolCallError, display_path};

/// Open flag that avoids blocking on a named pipe.
pub(super) const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// A sandboxed working folder.
#[derive(Clone, Debug)]
pub struct WorkingFolder {
    dir: Arc<Dir>,
    /// Its path with links resolved, for commands and directory walks.
    path: Arc<Path>,
    /// A folder inside that tools cannot access: the data folder with the log and keys.
    excluded: Option<Arc<Path>>,
    /// Serialises file changes.
    write_lock: Arc<Mutex<()>>,
}

/// Failure to open a working folder.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the working folder {path}: {error}")]
pub struct OpenFolderError {
    path: String,
    error: io::Error,
}

impl WorkingFolder {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<WorkingFolder, OpenFolderError> {
        let to_error = |error| OpenFolderError { path: path.display().to_string(), error };
        let path = path.canonicalize().map_err(to_error)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(to_error)?;
        let (dir, change_lock) = (Arc::new(dir), Arc::default());
        Ok(WorkingFolder { dir, path: path.into(), excluded: None, write_lock: change_lock })
    }

    /// Excludes a folder, if it is inside.
    #[must_use]
    pub fn excluding(mut self, excluded: &Path) -> WorkingFolder {
        let excluded = excluded.canonicalize().unwrap_or_else(|_| excluded.to_owned());
        self.excluded = excluded.strip_prefix(&*self.path).ok().map(Into::into);
        self
    }

    /// True if a path, with links resolved, is excluded.
    pub(super) fn is_excluded(&self, path: &Path) -> bool {
        self.excluded.as_ref().is_some_and(|excluded| path.starts_with(excluded))
    }

    /// Locks file changes.
    pub(super) fn lock_for_write(&self) -> MutexGuard<'_, ()> {
        self.write_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file for reading, without blocking on pipes.
    pub(super) fn open_file_for_read(&self, path: &Path) -> Result<File, ToolCallError> {
        let path = self.resolve_links_and_check_access(path)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCK);
        self.dir.open_with(&path, &options).map_err(|error| describe_io_error(&path, &error))
    }

    /// Its path, with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Normalises a model's path to one relative to this folder. Accepts absolute paths inside it.
    pub(super) fn normalise_path_inside(&self, path: &str) -> Result<PathBuf, ToolCallError> {
        let path = Path::new(path);
        let relative = path.strip_prefix(&*self.path).unwrap_or(path);
        let mut normalised = PathBuf::new();
        for part in relative.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => normalised.push(name),
                Component::ParentDir if normalised.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(ToolCallError(format!(
                        "{} is outside the working folder.",
                        path.display()
                    )));
                }
            }
        }
        Ok(normalised)
    }

    /// Resolves links; fails outside the folder or in the excluded one.
    pub(super) fn resolve_links_and_check_access(
        &self,
        path: &Path,
    ) -> Result<PathBuf, ToolCallError> {
        if path.as_os_str().is_empty() {
            return Ok(PathBuf::new());
        }
        let resolved =
            self.dir.canonicalize(path).map_err(|error| describe_io_error(path, &error))?;
        if self.is_excluded(&resolved) {
            return Err(ToolCallError(format!(
                "{} is not accessible to tools.",
                display_path(path)
            )));
        }
        Ok(resolved)
    }
}

/// Converts a file system error to a message for the model.
pub(super) fn describe_io_error(path: &Path, error: &io::Error) -> ToolCallError {
    let name = display_path(path);
    ToolCallError(match error.kind() {
        io::ErrorKind::NotFound => format!("{name} does not exist."),
        io::ErrorKind::PermissionDenied => {
            format!("Access denied: {name} is outside the working folder, or not permitted.")
        }
        io::ErrorKind::IsADirectory => format!("{name} is a folder."),
        _ => format!("{name}: {error}."),
    })
}
