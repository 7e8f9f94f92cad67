//! Commands of the shell, in a process group of their own, with their output as it comes.

use std::collections::BTreeMap;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gateway::digest::Digest;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::root::{NONBLOCK, Root};
use super::{BadCall, Teller, seconds};
use crate::limits::{COMMAND_TIME, COMMAND_TIME_MAX, FILE_BYTES_MAX};
use crate::process::{Decoder, Group, is_secret, piped, variables};

#[derive(Clone, Debug)]
pub struct Run {
    root: Root,
    command: String,
    time: Duration,
    variables: BTreeMap<String, String>,
    /// Files that the command names, as they are now.
    named: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArguments {
    command: String,
    seconds: Option<u64>,
}

/// Words of a command that are looked at.
const NAMED_MAX: usize = 32;
/// After the command itself has ended, so long for what it left in its pipes.
const LAST_WORDS: Duration = Duration::from_millis(200);

impl Run {
    pub(super) fn prepare(root: &Root, given: RunArguments) -> Result<Run, BadCall> {
        if given.command.trim().is_empty() {
            return Err(BadCall::new("There is no command."));
        }
        let named = named(root, &given.command);
        Ok(Run {
            root: root.clone(),
            time: seconds(given.seconds, COMMAND_TIME, COMMAND_TIME_MAX),
            command: given.command,
            // Commands get ours, without what looks like a secret.
            variables: variables().filter(|(name, _)| !is_secret(name)).collect(),
            named,
        })
    }

    pub(super) fn words(&self) -> String {
        self.command.clone()
    }

    /// What it acts on, as that is now.
    pub(super) fn state(&self) -> Value {
        let lasting = self.variables.iter().filter(|(name, _)| !is_passing(name));
        let lasting: BTreeMap<&String, &String> = lasting.collect();
        json!({
            "folder": self.root.path().to_string_lossy(),
            "seconds": self.time.as_secs(),
            "variables": lasting,
            "named": self.named,
        })
    }

    pub(super) async fn run(self, teller: &Teller) -> Result<(), BadCall> {
        let mut command = piped("/bin/sh");
        command.arg("-c").arg(&self.command).current_dir(self.root.path());
        command.env_clear().envs(&self.variables);
        let mut group = Group::start(command)
            .map_err(|error| BadCall(format!("The command cannot be started: {error}.")))?;
        let (output, errors) = (group.take_output(), group.take_errors());
        let reading = async { tokio::join!(pass_on(output, teller), pass_on(errors, teller)) };
        tokio::pin!(reading);
        let mut read = false;
        let waiting = async {
            loop {
                tokio::select! {
                    status = group.wait() => break status,
                    _ = &mut reading, if !read => read = true,
                }
            }
        };
        let Ok(status) = tokio::time::timeout(self.time, waiting).await else {
            group.stop().await;
            let limit = self.time.as_secs();
            return Err(BadCall(format!("Stopped: it ran longer than {limit} s.")));
        };
        if !read {
            // Something it left running may hold its pipes open.
            let _held = tokio::time::timeout(LAST_WORDS, &mut reading).await;
        }
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(BadCall(match status.code() {
                Some(code) => format!("Exit status {code}."),
                None => "Ended by a signal.".to_owned(),
            })),
            None => Err(BadCall::new("Nobody knows how it ended.")),
        }
    }
}

async fn pass_on(source: Option<impl AsyncRead + Unpin>, teller: &Teller) {
    let Some(mut source) = source else { return };
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 8192];
    while let Ok(len) = source.read(&mut buffer).await {
        if len == 0 {
            break;
        }
        let text = decoder.push(&buffer[..len]);
        if !text.is_empty() {
            teller.put_out(text).await;
        }
    }
    let rest = decoder.finish();
    if !rest.is_empty() {
        teller.put_out(rest).await;
    }
}

/// Variables that tell one start of a program from another, and change nothing that a command does.
fn is_passing(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "_",
        "COLORTERM",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "MANAGERPID",
        "NOTIFY_SOCKET",
        "OLDPWD",
        "PWD",
        "SHLVL",
        "SYSTEMD_EXEC_PID",
        "TERM",
        "TMUX",
        "WINDOWID",
        "XDG_SESSION_ID",
    ];
    const BEGINNINGS: [&str; 4] = ["LISTEN_", "SSH_", "TERM_", "TMUX_"];
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Digests of the files that words of a command name: what runs is what was looked at.
fn named(root: &Root, command: &str) -> BTreeMap<String, String> {
    let words = command.split(|c: char| c.is_whitespace() || "|&;<>()$`\"'=".contains(c));
    let mut named = BTreeMap::new();
    for word in words.filter(|word| !word.is_empty()).take(NAMED_MAX) {
        if let Some(digest) = file_digest(root, word) {
            named.insert(word.to_owned(), digest);
        }
    }
    named
}

/// What is read of a file, which may be one that never ends or has nothing to read yet.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path).ok()?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, FILE_BYTES_MAX + 1), &mut bytes)
        .ok()?;
    Some(bytes)
}

/// Of the file that a word names: in the folder, anywhere, or as a program in the path.
fn file_digest(root: &Root, word: &str) -> Option<String> {
    let at = |path: PathBuf| {
        let path = path.canonicalize().ok()?;
        let about = path.metadata().ok()?;
        if !about.is_file() {
            return None;
        }
        // A large program is known by where it is, how long it is and when it was made.
        let mark = match beginning(&path) {
            Some(whole) if whole.len() as u64 <= FILE_BYTES_MAX => Digest::of(&whole).to_string(),
            _ => format!("{} {:?}", about.len(), about.modified().ok()),
        };
        Some(format!("{} {mark}", path.display()))
    };
    if let Some(digest) = at(root.path().join(word)) {
        return Some(digest);
    }
    let path = std::env::var_os("PATH")?;
    let in_path = || std::env::split_paths(&path).find_map(|folder| at(folder.join(word)));
    (!word.contains('/')).then(in_path).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_another_environment_is_another_deed() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let given = RunArguments { command: "make".to_owned(), seconds: None };
        let asked = Run::prepare(&root, given).unwrap();
        let with = |name: &str| {
            let mut changed = asked.clone();
            changed.variables.insert(name.to_owned(), "/tmp/other".to_owned());
            changed.state()
        };
        assert_ne!(with("PATH"), asked.state());
        assert_ne!(with("MAKEFLAGS"), asked.state());
        assert_eq!(with("INVOCATION_ID"), asked.state(), "a restart is no change");
    }

    #[test]
    fn a_file_without_an_end_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let named = named(&root, "cat /proc/self/pagemap /dev/zero");
        assert_eq!(named.keys().collect::<Vec<_>>(), ["/proc/self/pagemap", "cat"]);
    }
}
