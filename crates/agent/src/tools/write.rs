//! Writing and editing files: shows the diff first, then writes exactly that.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cap_std::fs::OpenOptions;
use millpond_log::clock::random_bytes;
use millpond_log::digest::Digest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::files::read_text_file;
use super::working_folder::{WorkingFolder, describe_io_error};
use super::{ToolCallError, display_path};
use crate::limits::FILE_BYTES_MAX;

/// A prepared change of one file.
#[derive(Clone, Debug)]
pub struct FileWrite {
    folder: WorkingFolder,
    /// Target path, with links resolved.
    path: PathBuf,
    old_text: Option<String>,
    new_text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteArguments {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditArguments {
    path: String,
    old: String,
    new: String,
}

impl FileWrite {
    pub(super) fn prepare_whole(
        root: &WorkingFolder,
        arguments: WriteArguments,
    ) -> Result<FileWrite, ToolCallError> {
        let path = resolve_target(root, &arguments.path)?;
        let old_text = read_existing_text(root, &path)?;
        FileWrite::check_size(FileWrite {
            folder: root.clone(),
            path,
            old_text,
            new_text: arguments.content,
        })
    }

    pub(super) fn prepare_edit(
        root: &WorkingFolder,
        arguments: &EditArguments,
    ) -> Result<FileWrite, ToolCallError> {
        let path = resolve_target(root, &arguments.path)?;
        let old_text = read_text_file(root, &path)?;
        if arguments.old.is_empty() {
            return Err(ToolCallError::new(
                "`old` is empty. Use write_file to write a whole file.",
            ));
        }
        let new_text = match old_text.matches(&arguments.old).count() {
            1 => old_text.replacen(&arguments.old, &arguments.new, 1),
            0 => {
                return Err(ToolCallError(format!(
                    "`old` was not found in {}.",
                    display_path(&path)
                )));
            }
            count => {
                return Err(ToolCallError(format!(
                    "`old` is in {} {count} times; include more of the text around it.",
                    display_path(&path)
                )));
            }
        };
        FileWrite::check_size(FileWrite {
            folder: root.clone(),
            path,
            old_text: Some(old_text),
            new_text,
        })
    }

    fn check_size(write: FileWrite) -> Result<FileWrite, ToolCallError> {
        if FILE_BYTES_MAX < write.new_text.len() as u64 {
            return Err(ToolCallError(format!(
                "The file would be longer than {FILE_BYTES_MAX} bytes."
            )));
        }
        Ok(write)
    }

    /// Diff shown for approval.
    pub(super) fn diff_text(&self) -> String {
        let name = display_path(&self.path);
        let old_text = self.old_text.as_deref().unwrap_or("");
        let from =
            if self.old_text.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
        let diff = similar::TextDiff::from_lines(old_text, &self.new_text)
            .unified_diff()
            .header(&from, &format!("b/{name}"))
            .to_string();
        if diff.is_empty() { format!("No changes to {name}.") } else { diff }
    }

    /// Current state that the change depends on, for the digest.
    pub(super) fn state_for_digest(&self) -> Value {
        json!({
            "path": self.path.to_string_lossy(),
            "before": self.old_text.as_ref().map(|text| Digest::sha256(text.as_bytes()).to_string()),
            "after": Digest::sha256(self.new_text.as_bytes()).to_string(),
        })
    }

    /// Writes a temporary file and renames it, so that no half file remains. Fails if the file has
    /// changed since the preparation.
    pub(super) fn run(&self) -> Result<String, ToolCallError> {
        let dir = self.folder.dir();
        let to_error = |error: &std::io::Error| describe_io_error(&self.path, error);
        let _alone = self.folder.lock_for_write();
        if read_existing_text(&self.folder, &self.path)? != self.old_text {
            let name = display_path(&self.path);
            return Err(ToolCallError(format!(
                "{name} has changed since this was prepared. Read it again."
            )));
        }
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            dir.create_dir_all(folder).map_err(|error| to_error(&error))?;
        }
        let suffix = random_bytes().map_err(|error| to_error(&std::io::Error::other(error)))?;
        let mut draft = self.path.clone().into_os_string();
        draft.push(format!(".millpond-{:016x}", u64::from_ne_bytes(suffix)));
        let draft = PathBuf::from(draft);
        let written = (|| {
            let mut file =
                dir.open_with(&draft, OpenOptions::new().write(true).create_new(true))?;
            file.write_all(self.new_text.as_bytes())?;
            if let Ok(metadata) = dir.metadata(&self.path) {
                file.set_permissions(metadata.permissions())?;
            }
            dir.rename(&draft, dir, &self.path)
        })();
        if let Err(error) = written {
            let _gone = dir.remove_file(&draft);
            return Err(to_error(&error));
        }
        let name = display_path(&self.path);
        Ok(match self.new_text.lines().count() {
            1 => format!("Wrote {name} (1 line)."),
            lines => format!("Wrote {name} ({lines} lines)."),
        })
    }
}

/// Text of the file at a path, if there is one.
fn read_existing_text(root: &WorkingFolder, path: &Path) -> Result<Option<String>, ToolCallError> {
    match root.dir().symlink_metadata(path) {
        Ok(_) => read_text_file(root, path).map(Some),
        Err(_) => Ok(None),
    }
}

/// Resolves the path to write. The file and its folders may not exist yet.
fn resolve_target(root: &WorkingFolder, requested: &str) -> Result<PathBuf, ToolCallError> {
    let path = root.normalise_path_inside(requested)?;
    let Some(name) = path.file_name() else {
        return Err(ToolCallError::new("That is the working folder, not a file."));
    };
    if root.dir().metadata(&path).is_ok() {
        return root.resolve_links_and_check_access(&path);
    }
    if root.dir().symlink_metadata(&path).is_ok() {
        return Err(ToolCallError(format!(
            "{} is a broken link, or leads outside the working folder.",
            display_path(&path)
        )));
    }
    let mut missing = vec![name.to_owned()];
    let mut folder = path.parent().unwrap_or(Path::new(""));
    while root.dir().symlink_metadata(folder).is_err() {
        let (Some(name), Some(parent)) = (folder.file_name(), folder.parent()) else { break };
        missing.push(name.to_owned());
        folder = parent;
    }
    let folder = root.resolve_links_and_check_access(folder)?;
    let path = missing.into_iter().rev().fold(folder, |path, name| path.join(name));
    if root.is_excluded(&path) {
        return Err(ToolCallError(format!("{} is not accessible to tools.", display_path(&path))));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp_working_folder() -> (tempfile::TempDir, WorkingFolder) {
        let folder = tempfile::tempdir().unwrap();
        let root = WorkingFolder::open(folder.path()).unwrap();
        (folder, root)
    }

    fn edit(root: &WorkingFolder, old: &str, new: &str) -> Result<FileWrite, ToolCallError> {
        let arguments = EditArguments { path: "a.txt".into(), old: old.into(), new: new.into() };
        FileWrite::prepare_edit(root, &arguments)
    }

    #[test]
    fn two_changes_of_one_file_do_not_lose_each_other() {
        let (folder, root) = temp_working_folder();
        std::fs::write(folder.path().join("a.txt"), "one two").unwrap();
        let (first, second) = (edit(&root, "one", "1").unwrap(), edit(&root, "two", "2").unwrap());
        first.run().unwrap();
        let error = second.run().unwrap_err();
        assert!(error.0.contains("has changed"), "{}", error.0);
        assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "1 two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_pipe_is_no_file_and_is_not_waited_for() {
        let (folder, root) = temp_working_folder();
        let status = std::process::Command::new("mkfifo").arg(folder.path().join("a.txt")).status();
        assert!(status.unwrap().success());
        assert!(edit(&root, "one", "1").is_err());
    }

    #[test]
    fn the_log_is_not_for_agents() {
        let (folder, root) = temp_working_folder();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("token"), "secret").unwrap();
        std::os::unix::fs::symlink("data/token", folder.path().join("a.txt")).unwrap();
        let root = root.excluding(&data);
        assert!(read_text_file(&root, Path::new("data/token")).is_err());
        assert!(read_text_file(&root, Path::new("a.txt")).is_err());
        let write = WriteArguments { path: "data/new".into(), content: String::new() };
        assert!(FileWrite::prepare_whole(&root, write).is_err());
    }
}
