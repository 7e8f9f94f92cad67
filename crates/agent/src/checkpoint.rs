//! Snapshots of a working folder, in a separate git repository in the data folder. The folder's own
//! repository, if any, is neither read nor changed.
//!
//! A checkpoint is identified by its tree hash: the same files have the same hash. Files that the
//! folder's `.gitignore` excludes are not saved.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use millpond_log::digest::Digest;
use tokio::process::Command;
use tokio::sync::Mutex;

/// Checkpoints of one folder.
#[derive(Clone, Debug)]
pub struct CheckpointStore {
    repository: PathBuf,
    folder: PathBuf,
    /// The data folder, if it is inside the folder.
    excluded_folder: Option<PathBuf>,
    /// Serialises use of the repository.
    git_lock: Arc<Mutex<()>>,
}

/// A saved state of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Hash of its tree.
    pub hash: String,
    /// Time it was saved, in ISO 8601.
    pub saved_at: String,
}

/// Failure to save, find or restore a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("git is not installed")]
    NoGit,
    #[error("unknown checkpoint: {0}")]
    Unknown(String),
    #[error("git failed: {0}")]
    Git(String),
}

/// Age at which git's lock file is stale.
const STALE_LOCK_AGE: Duration = Duration::from_mins(2);
/// Prefix of the checkpoints' refs.
const REF_PREFIX: &str = "refs/checkpoints/";

impl CheckpointStore {
    /// Checkpoints of `folder`, stored below `data`.
    pub fn for_folder(data: &Path, folder: &Path) -> CheckpointStore {
        let name = Digest::sha256(folder.as_os_str().as_encoded_bytes()).to_string();
        let repository = data.join("checkpoints").join(&name[..32]);
        let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
        let excluded_folder = data.strip_prefix(folder).ok().map(Path::to_owned);
        CheckpointStore {
            repository,
            folder: folder.to_owned(),
            excluded_folder,
            git_lock: Arc::default(),
        }
    }

    /// Saves the folder; returns the hash. Runs to its end even if the caller is dropped: a half
    /// save would block later ones.
    pub async fn save(&self) -> Result<String, CheckpointError> {
        let store = self.clone();
        let saving = tokio::spawn(async move {
            let _alone = store.git_lock.lock().await;
            store.remove_stale_git_lock();
            store.save_locked().await
        });
        saving.await.unwrap_or_else(|error| Err(CheckpointError::Git(error.to_string())))
    }

    /// Removes git's lock file if a killed process left it behind.
    fn remove_stale_git_lock(&self) {
        let lock = self.repository.join("index.lock");
        let age = lock
            .metadata()
            .and_then(|metadata| metadata.modified())
            .map(|modified| modified.elapsed());
        if let Ok(Ok(age)) = age
            && STALE_LOCK_AGE < age
        {
            // If removal fails, git reports the lock.
            let _there = std::fs::remove_file(lock);
        }
    }

    async fn save_locked(&self) -> Result<String, CheckpointError> {
        if !self.repository.join("HEAD").exists() {
            self.run_git(&["init", "-q"]).await?;
            self.exclude_data_folder_if_inside().await?;
        }
        self.run_git(&["add", "-A", "--", "."]).await?;
        let tree = self.run_git(&["write-tree"]).await?;
        let name = format!("{REF_PREFIX}{tree}");
        if self.run_git(&["show-ref", "--verify", "-q", &name]).await.is_err() {
            let commit = self.run_git(&["commit-tree", &tree, "-m", "checkpoint"]).await?;
            self.run_git(&["update-ref", &name, &commit]).await?;
        }
        Ok(tree)
    }

    /// Excludes the data folder from checkpoints.
    async fn exclude_data_folder_if_inside(&self) -> Result<(), CheckpointError> {
        let Some(log) = &self.excluded_folder else { return Ok(()) };
        let line = format!("/{}/\n", log.display());
        let file = self.repository.join("info/exclude");
        let written = async {
            tokio::fs::create_dir_all(self.repository.join("info")).await?;
            tokio::fs::write(file, line).await
        };
        written.await.map_err(|error| CheckpointError::Git(error.to_string()))
    }

    /// All checkpoints, the newest first.
    pub async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        if !self.repository.join("HEAD").exists() {
            return Ok(Vec::new());
        }
        let format = "--format=%(refname:lstrip=2) %(committerdate:iso-strict)";
        let listed =
            self.run_git(&["for-each-ref", "--sort=-committerdate", format, REF_PREFIX]).await?;
        let parse = |line: &str| {
            let (hash, saved_at) = line.split_once(' ')?;
            Some(Checkpoint { hash: hash.to_owned(), saved_at: saved_at.to_owned() })
        };
        Ok(listed.lines().filter_map(parse).collect())
    }

    /// Full hash of the only checkpoint whose hash begins with `prefix`.
    pub async fn find_hash_by_prefix(&self, prefix: &str) -> Result<String, CheckpointError> {
        let checkpoints = self.list().await?;
        let mut matching =
            checkpoints.iter().filter(|checkpoint| checkpoint.hash.starts_with(prefix));
        match (matching.next(), matching.next()) {
            (Some(checkpoint), None) if !prefix.is_empty() => Ok(checkpoint.hash.clone()),
            _ => Err(CheckpointError::Unknown(prefix.to_owned())),
        }
    }

    /// Diff that restoring the checkpoint would apply to the folder. Stages the folder's files in
    /// the checkpoint repository first.
    pub async fn stage_files_and_preview_restore(
        &self,
        hash: &str,
    ) -> Result<String, CheckpointError> {
        self.run_git(&["add", "-A", "--", "."]).await?;
        self.run_git(&["diff", "--cached", "-R", "--no-color", "--no-ext-diff", hash]).await
    }

    /// Restores a checkpoint. Saves the current state first and returns its hash.
    pub async fn save_then_restore(&self, hash: &str) -> Result<String, CheckpointError> {
        let saved = self.save().await?;
        self.run_git(&["read-tree", "--reset", "-u", hash]).await?;
        Ok(saved)
    }

    /// Runs git on the checkpoint repository, without user or system settings.
    async fn run_git(&self, arguments: &[&str]) -> Result<String, CheckpointError> {
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
            // `git init` does not create missing parent folders.
            let _there = tokio::fs::create_dir_all(&self.repository).await;
        }
        let output = command.output().await.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => CheckpointError::NoGit,
            _ => CheckpointError::Git(error.to_string()),
        })?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(CheckpointError::Git(stderr.trim().to_owned()));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(if arguments.first() == Some(&"diff") { text } else { text.trim().to_owned() })
    }
}
