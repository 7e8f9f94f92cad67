//! Snapshots of a working folder, in a git repository of our own beside the log. The folder's own
//! repository, if it has one, is neither read nor changed.
//!
//! A checkpoint is known by the hash of its tree: the same files have the same hash. What the
//! folder's `.gitignore` leaves out is left out here too.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use gateway::digest::Digest;
use tokio::process::Command;
use tokio::sync::Mutex;

#[derive(Clone, Debug)]
pub struct Checkpoints {
    repository: PathBuf,
    folder: PathBuf,
    /// Where the log itself stands, if it stands in the folder.
    log: Option<PathBuf>,
    /// One at a time uses the repository.
    using: Arc<Mutex<()>>,
}

/// A state of the folder that can be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub hash: String,
    /// When it was saved, as git tells it.
    pub at: String,
}

/// Why there is no checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCheckpoint {
    #[error("git is not installed")]
    NoGit,
    #[error("there is no checkpoint {0}")]
    Unknown(String),
    #[error("git says: {0}")]
    Git(String),
}

/// How old git's lock is when nobody can be holding it any more.
const STALE_LOCK_AGE: Duration = Duration::from_mins(2);
const REFS: &str = "refs/checkpoints/";

impl Checkpoints {
    /// Those of a folder, kept below `data`.
    pub fn of(data: &Path, folder: &Path) -> Checkpoints {
        let name = Digest::of(folder.as_os_str().as_encoded_bytes()).to_string();
        let repository = data.join("checkpoints").join(&name[..32]);
        let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
        let log = data.strip_prefix(folder).ok().map(Path::to_owned);
        Checkpoints { repository, folder: folder.to_owned(), log, using: Arc::default() }
    }

    /// Saves the folder as it is. Gives the hash of it. Once begun, it comes to its end, whether or
    /// not anybody still waits for it: half of a save would be in the way of all that follow.
    pub async fn save(&self) -> Result<String, NoCheckpoint> {
        let all = self.clone();
        let saving = tokio::spawn(async move {
            let _alone = all.using.lock().await;
            all.clear_stale_lock();
            all.save_alone().await
        });
        saving.await.unwrap_or_else(|error| Err(NoCheckpoint::Git(error.to_string())))
    }

    /// A process that was killed leaves git's lock behind.
    fn clear_stale_lock(&self) {
        let lock = self.repository.join("index.lock");
        let age = lock.metadata().and_then(|about| about.modified()).map(|made| made.elapsed());
        if let Ok(Ok(age)) = age
            && STALE_LOCK_AGE < age
        {
            // If it cannot be removed, git says why it cannot go on.
            let _there = std::fs::remove_file(lock);
        }
    }

    async fn save_alone(&self) -> Result<String, NoCheckpoint> {
        if !self.repository.join("HEAD").exists() {
            self.git(&["init", "-q"]).await?;
            self.leave_log_out().await?;
        }
        self.git(&["add", "-A", "--", "."]).await?;
        let tree = self.git(&["write-tree"]).await?;
        let name = format!("{REFS}{tree}");
        if self.git(&["show-ref", "--verify", "-q", &name]).await.is_err() {
            let commit = self.git(&["commit-tree", &tree, "-m", "checkpoint"]).await?;
            self.git(&["update-ref", &name, &commit]).await?;
        }
        Ok(tree)
    }

    /// The log is no part of what an agent works on.
    async fn leave_log_out(&self) -> Result<(), NoCheckpoint> {
        let Some(log) = &self.log else { return Ok(()) };
        let line = format!("/{}/\n", log.display());
        let file = self.repository.join("info/exclude");
        let written = async {
            tokio::fs::create_dir_all(self.repository.join("info")).await?;
            tokio::fs::write(file, line).await
        };
        written.await.map_err(|error| NoCheckpoint::Git(error.to_string()))
    }

    /// All of them, the newest first.
    pub async fn list(&self) -> Result<Vec<Checkpoint>, NoCheckpoint> {
        if !self.repository.join("HEAD").exists() {
            return Ok(Vec::new());
        }
        let format = "--format=%(refname:lstrip=2) %(committerdate:iso-strict)";
        let listed = self.git(&["for-each-ref", "--sort=-committerdate", format, REFS]).await?;
        let read = |line: &str| {
            let (hash, at) = line.split_once(' ')?;
            Some(Checkpoint { hash: hash.to_owned(), at: at.to_owned() })
        };
        Ok(listed.lines().filter_map(read).collect())
    }

    /// The whole hash of the one that begins like this.
    pub async fn find(&self, beginning: &str) -> Result<String, NoCheckpoint> {
        let all = self.list().await?;
        let mut fits = all.iter().filter(|known| known.hash.starts_with(beginning));
        match (fits.next(), fits.next()) {
            (Some(only), None) if !beginning.is_empty() => Ok(only.hash.clone()),
            _ => Err(NoCheckpoint::Unknown(beginning.to_owned())),
        }
    }

    /// What would change in the folder if this one were put back.
    pub async fn diff(&self, hash: &str) -> Result<String, NoCheckpoint> {
        self.git(&["add", "-A", "--", "."]).await?;
        self.git(&["diff", "--cached", "-R", "--no-color", "--no-ext-diff", hash]).await
    }

    /// Puts one back. What is there now is saved first; its hash is given.
    pub async fn restore(&self, hash: &str) -> Result<String, NoCheckpoint> {
        let before = self.save().await?;
        self.git(&["read-tree", "--reset", "-u", hash]).await?;
        Ok(before)
    }

    /// Runs git on our repository, with nobody's settings.
    async fn git(&self, arguments: &[&str]) -> Result<String, NoCheckpoint> {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command
            .arg("--git-dir")
            .arg(&self.repository)
            .arg("--work-tree")
            .arg(&self.folder)
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"])
            .args([
                "-c",
                "core.quotePath=false",
                "-c",
                "gc.auto=0",
                "-c",
                "advice.addEmbeddedRepo=false",
            ])
            .args(arguments)
            .current_dir(&self.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .envs([("GIT_AUTHOR_NAME", "millpond"), ("GIT_AUTHOR_EMAIL", "millpond@localhost")])
            .envs([
                ("GIT_COMMITTER_NAME", "millpond"),
                ("GIT_COMMITTER_EMAIL", "millpond@localhost"),
            ])
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if arguments.first() == Some(&"init") {
            // Which makes the folder of the repository itself.
            let _there = tokio::fs::create_dir_all(&self.repository).await;
        }
        let done = command.output().await.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => NoCheckpoint::NoGit,
            _ => NoCheckpoint::Git(error.to_string()),
        })?;
        if !done.status.success() {
            let words = String::from_utf8_lossy(&done.stderr);
            return Err(NoCheckpoint::Git(words.trim().to_owned()));
        }
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        Ok(if arguments.first() == Some(&"diff") { text } else { text.trim().to_owned() })
    }
}
