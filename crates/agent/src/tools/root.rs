//! The working folder. Nothing outside it is reached, whatever a path or a link says.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};

use super::{BadCall, shown};

/// Whoever opens a pipe would else wait for its other end.
pub(super) const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

#[derive(Clone, Debug)]
pub struct Root {
    dir: Arc<Dir>,
    /// Where it stands, links resolved: for commands, and for those who walk it.
    path: Arc<Path>,
    /// A folder in it that is nobody's business here: that of the log and its keys.
    closed: Option<Arc<Path>>,
    /// One file is changed at a time.
    changing: Arc<Mutex<()>>,
}

/// Why a folder cannot be worked in.
#[derive(Debug, thiserror::Error)]
#[error("cannot work in {path}: {error}")]
pub struct NoRoot {
    path: String,
    error: io::Error,
}

impl Root {
    pub fn open(path: &Path) -> Result<Root, NoRoot> {
        let no = |error| NoRoot { path: path.display().to_string(), error };
        let path = path.canonicalize().map_err(no)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(no)?;
        let (dir, changing) = (Arc::new(dir), Arc::default());
        Ok(Root { dir, path: path.into(), closed: None, changing })
    }

    /// The same, but for a folder that may lie in it.
    #[must_use]
    pub fn without(mut self, closed: &Path) -> Root {
        let closed = closed.canonicalize().unwrap_or_else(|_| closed.to_owned());
        self.closed = closed.strip_prefix(&*self.path).ok().map(Into::into);
        self
    }

    /// Whether a path, links resolved, is one that is left out.
    pub(super) fn is_closed(&self, path: &Path) -> bool {
        self.closed.as_ref().is_some_and(|closed| path.starts_with(closed))
    }

    /// Held while a file is changed.
    pub(super) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file to be read. What is no file, such as a pipe, is not waited for.
    pub(super) fn open_file(&self, path: &Path) -> Result<File, BadCall> {
        let path = self.resolved(path)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCK);
        self.dir.open_with(&path, &options).map_err(|error| trouble(&path, &error))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// A path as a model gives it, relative to this folder. An absolute one is taken if it lies in it.
    pub(super) fn inside(&self, given: &str) -> Result<PathBuf, BadCall> {
        let given = Path::new(given);
        let relative = given.strip_prefix(&*self.path).unwrap_or(given);
        let mut inside = PathBuf::new();
        for part in relative.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => inside.push(name),
                Component::ParentDir if inside.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(BadCall(format!(
                        "{} is outside the working folder.",
                        given.display()
                    )));
                }
            }
        }
        Ok(inside)
    }

    /// Where a path leads when its links are followed, which is never outside.
    pub(super) fn resolved(&self, path: &Path) -> Result<PathBuf, BadCall> {
        if path.as_os_str().is_empty() {
            return Ok(PathBuf::new());
        }
        let resolved = self.dir.canonicalize(path).map_err(|error| trouble(path, &error))?;
        if self.is_closed(&resolved) {
            return Err(BadCall(format!("{} is not for agents.", shown(path))));
        }
        Ok(resolved)
    }
}

/// An error of the file system, as a model is told of it.
pub(super) fn trouble(path: &Path, error: &io::Error) -> BadCall {
    let name = shown(path);
    BadCall(match error.kind() {
        io::ErrorKind::NotFound => format!("There is no {name}."),
        io::ErrorKind::PermissionDenied => {
            format!("{name} may not be used: it leads outside the working folder, or is forbidden.")
        }
        io::ErrorKind::IsADirectory => format!("{name} is a folder."),
        _ => format!("{name}: {error}."),
    })
}
