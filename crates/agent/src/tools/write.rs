//! Writing and editing files: a diff first, then exactly that.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cap_std::fs::OpenOptions;
use gateway::clock::random;
use gateway::digest::Digest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::files::text_of;
use super::root::{Root, trouble};
use super::{BadCall, shown};
use crate::limits::FILE_BYTES_MAX;

#[derive(Clone, Debug)]
pub struct Write {
    root: Root,
    /// Where it is written, links followed.
    path: PathBuf,
    before: Option<String>,
    after: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeArguments {
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

impl Write {
    pub(super) fn whole(root: &Root, given: WholeArguments) -> Result<Write, BadCall> {
        let path = target(root, &given.path)?;
        let before = before(root, &path)?;
        Write::checked(Write { root: root.clone(), path, before, after: given.content })
    }

    pub(super) fn edit(root: &Root, given: &EditArguments) -> Result<Write, BadCall> {
        let path = target(root, &given.path)?;
        let before = text_of(root, &path)?;
        if given.old.is_empty() {
            return Err(BadCall::new("`old` is empty: write_file writes a whole file."));
        }
        let after = match before.matches(&given.old).count() {
            1 => before.replacen(&given.old, &given.new, 1),
            0 => return Err(BadCall(format!("`old` does not stand in {}.", shown(&path)))),
            count => {
                return Err(BadCall(format!(
                    "`old` stands in {} {count} times: give more of what is around it.",
                    shown(&path)
                )));
            }
        };
        Write::checked(Write { root: root.clone(), path, before: Some(before), after })
    }

    fn checked(write: Write) -> Result<Write, BadCall> {
        if FILE_BYTES_MAX < write.after.len() as u64 {
            return Err(BadCall(format!("That is longer than {FILE_BYTES_MAX} bytes.")));
        }
        Ok(write)
    }

    /// The change, as a person reads it before allowing it.
    pub(super) fn words(&self) -> String {
        let name = shown(&self.path);
        let before = self.before.as_deref().unwrap_or("");
        let from = if self.before.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
        let diff = similar::TextDiff::from_lines(before, &self.after)
            .unified_diff()
            .header(&from, &format!("b/{name}"))
            .to_string();
        if diff.is_empty() { format!("{name} stays as it is.") } else { diff }
    }

    /// What it acts on, as that is now.
    pub(super) fn state(&self) -> Value {
        json!({
            "path": self.path.to_string_lossy(),
            "before": self.before.as_ref().map(|text| Digest::of(text.as_bytes()).to_string()),
            "after": Digest::of(self.after.as_bytes()).to_string(),
        })
    }

    /// Written beside its place and then moved there: never half of it, and only if what is there is
    /// still what the change was made from.
    pub(super) fn run(&self) -> Result<String, BadCall> {
        let dir = self.root.dir();
        let wrong = |error: &std::io::Error| trouble(&self.path, error);
        let _alone = self.root.changing();
        if before(&self.root, &self.path)? != self.before {
            let name = shown(&self.path);
            return Err(BadCall(format!(
                "{name} has changed since this was prepared: read it again."
            )));
        }
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            dir.create_dir_all(folder).map_err(|error| wrong(&error))?;
        }
        let chance = random().map_err(|error| wrong(&std::io::Error::other(error)))?;
        let mut draft = self.path.clone().into_os_string();
        draft.push(format!(".millpond-{:016x}", u64::from_ne_bytes(chance)));
        let draft = PathBuf::from(draft);
        let written = (|| {
            let mut file =
                dir.open_with(&draft, OpenOptions::new().write(true).create_new(true))?;
            file.write_all(self.after.as_bytes())?;
            if let Ok(about) = dir.metadata(&self.path) {
                file.set_permissions(about.permissions())?;
            }
            dir.rename(&draft, dir, &self.path)
        })();
        if let Err(error) = written {
            // Nobody needs what is left of it.
            let _gone = dir.remove_file(&draft);
            return Err(wrong(&error));
        }
        let name = shown(&self.path);
        Ok(match self.after.lines().count() {
            1 => format!("{name} has 1 line now."),
            lines => format!("{name} has {lines} lines now."),
        })
    }
}

/// What is at a path, if anything is.
fn before(root: &Root, path: &Path) -> Result<Option<String>, BadCall> {
    match root.dir().symlink_metadata(path) {
        Ok(_) => text_of(root, path).map(Some),
        Err(_) => Ok(None),
    }
}

/// Where a path leads; one that is not there yet stands in a folder that may not be there either.
fn target(root: &Root, given: &str) -> Result<PathBuf, BadCall> {
    let path = root.inside(given)?;
    let Some(name) = path.file_name() else {
        return Err(BadCall::new("That is the working folder itself, no file in it."));
    };
    if root.dir().metadata(&path).is_ok() {
        return root.resolved(&path);
    }
    if root.dir().symlink_metadata(&path).is_ok() {
        return Err(BadCall(format!("{} is a link that leads nowhere it may.", shown(&path))));
    }
    let mut missing = vec![name.to_owned()];
    let mut folder = path.parent().unwrap_or(Path::new(""));
    while root.dir().symlink_metadata(folder).is_err() {
        let (Some(name), Some(above)) = (folder.file_name(), folder.parent()) else { break };
        missing.push(name.to_owned());
        folder = above;
    }
    let folder = root.resolved(folder)?;
    let path = missing.into_iter().rev().fold(folder, |path, name| path.join(name));
    if root.is_closed(&path) {
        return Err(BadCall(format!("{} is not for agents.", shown(&path))));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    fn edit(root: &Root, old: &str, new: &str) -> Result<Write, BadCall> {
        let arguments = EditArguments { path: "a.txt".into(), old: old.into(), new: new.into() };
        Write::edit(root, &arguments)
    }

    #[test]
    fn two_changes_of_one_file_do_not_lose_each_other() {
        let (folder, root) = root();
        std::fs::write(folder.path().join("a.txt"), "one two").unwrap();
        let (first, second) = (edit(&root, "one", "1").unwrap(), edit(&root, "two", "2").unwrap());
        first.run().unwrap();
        let refused = second.run().unwrap_err();
        assert!(refused.0.contains("has changed"), "{}", refused.0);
        assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "1 two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_pipe_is_no_file_and_is_not_waited_for() {
        let (folder, root) = root();
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("a.txt")).status();
        assert!(made.unwrap().success());
        assert!(edit(&root, "one", "1").is_err());
    }

    #[test]
    fn the_log_is_not_for_agents() {
        let (folder, root) = root();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("token"), "secret").unwrap();
        std::os::unix::fs::symlink("data/token", folder.path().join("a.txt")).unwrap();
        let root = root.without(&data);
        assert!(text_of(&root, Path::new("data/token")).is_err());
        assert!(text_of(&root, Path::new("a.txt")).is_err());
        let write = WholeArguments { path: "data/new".into(), content: String::new() };
        assert!(Write::whole(&root, write).is_err());
    }
}
