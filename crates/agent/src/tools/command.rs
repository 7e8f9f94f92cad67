//! Shell commands, each in its own process group, with streamed output.

use std::collections::BTreeMap;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond_log::digest::Digest;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::working_folder::{NONBLOCK, WorkingFolder};
use super::{ToolCallError, UpdateSender, capped_timeout_or_default};
use crate::limits::{COMMAND_TIME_DEFAULT, COMMAND_TIME_MAX, FILE_BYTES_MAX};
use crate::process::{
    ProcessGroup, Utf8Decoder, command_with_piped_output, is_secret_name,
    utf8_environment_variables,
};

/// A prepared shell command.
#[derive(Clone, Debug)]
pub struct ShellCommand {
    folder: WorkingFolder,
    command: String,
    timeout: Duration,
    environment: BTreeMap<String, String>,
    /// Digests of the files that the command names.
    named_file_digests: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandArguments {
    command: String,
    seconds: Option<u64>,
}

/// Words of a command that are checked for file names.
const CHECKED_WORDS_MAX: usize = 32;
/// Time to read the rest of the pipes after the command has ended.
const PIPE_DRAIN_TIME: Duration = Duration::from_millis(200);

impl ShellCommand {
    pub(super) fn prepare(
        root: &WorkingFolder,
        arguments: CommandArguments,
    ) -> Result<ShellCommand, ToolCallError> {
        if arguments.command.trim().is_empty() {
            return Err(ToolCallError::new("`command` is empty."));
        }
        let file_digests = digest_named_files(root, &arguments.command);
        Ok(ShellCommand {
            folder: root.clone(),
            timeout: capped_timeout_or_default(
                arguments.seconds,
                COMMAND_TIME_DEFAULT,
                COMMAND_TIME_MAX,
            ),
            command: arguments.command,
            // Our environment without secrets.
            environment: utf8_environment_variables()
                .filter(|(name, _)| !is_secret_name(name))
                .collect(),
            named_file_digests: file_digests,
        })
    }

    /// Text shown for approval.
    pub(super) fn description(&self) -> String {
        self.command.clone()
    }

    /// Current state that the command depends on, for the digest.
    pub(super) fn state_for_digest(&self) -> Value {
        let stable_variables =
            self.environment.iter().filter(|(name, _)| !is_per_process_variable(name));
        let stable_variables: BTreeMap<&String, &String> = stable_variables.collect();
        json!({
            "folder": self.folder.path().to_string_lossy(),
            "seconds": self.timeout.as_secs(),
            "variables": stable_variables,
            "named": self.named_file_digests,
        })
    }

    /// Runs the command and sends its output.
    pub(super) async fn run(self, updates: &UpdateSender) -> Result<(), ToolCallError> {
        let mut command = command_with_piped_output("/bin/sh");
        command.arg("-c").arg(&self.command).current_dir(self.folder.path());
        command.env_clear().envs(&self.environment);
        let mut group = ProcessGroup::spawn(command)
            .map_err(|error| ToolCallError(format!("Cannot start the command: {error}.")))?;
        let (output, errors) = (group.take_stdout(), group.take_stderr());
        let reading = async {
            tokio::join!(forward_output(output, updates), forward_output(errors, updates))
        };
        tokio::pin!(reading);
        let mut read = false;
        let exit = async {
            loop {
                tokio::select! {
                    status = group.wait_then_kill_rest() => break status,
                    _ = &mut reading, if !read => read = true,
                }
            }
        };
        let Ok(status) = tokio::time::timeout(self.timeout, exit).await else {
            group.terminate().await;
            let limit = self.timeout.as_secs();
            return Err(ToolCallError(format!("Timed out after {limit} s.")));
        };
        if !read {
            // A child left running may hold the pipes open.
            let _timed_out = tokio::time::timeout(PIPE_DRAIN_TIME, &mut reading).await;
        }
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(ToolCallError(match status.code() {
                Some(code) => format!("Exit status {code}."),
                None => "Killed by a signal.".to_owned(),
            })),
            None => Err(ToolCallError::new("Exit status unknown.")),
        }
    }
}

/// Sends a pipe's output as text until it closes.
async fn forward_output(pipe: Option<impl AsyncRead + Unpin>, updates: &UpdateSender) {
    let Some(mut pipe) = pipe else { return };
    let mut decoder = Utf8Decoder::default();
    let mut buffer = vec![0; 8192];
    while let Ok(len) = pipe.read(&mut buffer).await {
        if len == 0 {
            break;
        }
        let text = decoder.push(&buffer[..len]);
        if !text.is_empty() {
            updates.send_output(text).await;
        }
    }
    let rest = decoder.finish();
    if !rest.is_empty() {
        updates.send_output(rest).await;
    }
}

/// True if a variable differs at each start of a program and does not affect commands.
fn is_per_process_variable(name: &str) -> bool {
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
    NAMES.contains(&name) || BEGINNINGS.iter().any(|prefix| name.starts_with(prefix))
}

/// Digests of the files that the words of a command name, so that the approved files are what runs.
fn digest_named_files(root: &WorkingFolder, command: &str) -> BTreeMap<String, String> {
    let words = command.split(|c: char| c.is_whitespace() || "|&;<>()$`\"'=".contains(c));
    let mut file_digests = BTreeMap::new();
    for word in words.filter(|word| !word.is_empty()).take(CHECKED_WORDS_MAX) {
        if let Some(digest) = digest_file_named_by_word(root, word) {
            file_digests.insert(word.to_owned(), digest);
        }
    }
    file_digests
}

/// Reads a file up to the limit without blocking: it may be endless or a pipe.
fn read_file_prefix(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path).ok()?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, FILE_BYTES_MAX + 1), &mut bytes)
        .ok()?;
    Some(bytes)
}

/// Path and digest of the file that a word names: in the folder, absolute, or in `PATH`.
fn digest_file_named_by_word(root: &WorkingFolder, word: &str) -> Option<String> {
    let digest_at = |path: PathBuf| {
        let path = path.canonicalize().ok()?;
        let metadata = path.metadata().ok()?;
        if !metadata.is_file() {
            return None;
        }
        // A large file is identified by its path, size and modification time.
        let fingerprint = match read_file_prefix(&path) {
            Some(bytes) if bytes.len() as u64 <= FILE_BYTES_MAX => {
                Digest::sha256(&bytes).to_string()
            }
            _ => format!("{} {:?}", metadata.len(), metadata.modified().ok()),
        };
        Some(format!("{} {fingerprint}", path.display()))
    };
    if let Some(digest) = digest_at(root.path().join(word)) {
        return Some(digest);
    }
    let path = std::env::var_os("PATH")?;
    let in_path = || std::env::split_paths(&path).find_map(|folder| digest_at(folder.join(word)));
    (!word.contains('/')).then(in_path).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_another_environment_is_another_deed() {
        let folder = tempfile::tempdir().unwrap();
        let root = WorkingFolder::open(folder.path()).unwrap();
        let arguments = CommandArguments { command: "make".to_owned(), seconds: None };
        let command = ShellCommand::prepare(&root, arguments).unwrap();
        let state_with = |name: &str| {
            let mut changed = command.clone();
            changed.environment.insert(name.to_owned(), "/tmp/other".to_owned());
            changed.state_for_digest()
        };
        assert_ne!(state_with("PATH"), command.state_for_digest());
        assert_ne!(state_with("MAKEFLAGS"), command.state_for_digest());
        assert_eq!(
            state_with("INVOCATION_ID"),
            command.state_for_digest(),
            "a restart does not change the state"
        );
    }

    #[test]
    fn a_file_without_an_end_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = WorkingFolder::open(folder.path()).unwrap();
        let file_digests = digest_named_files(&root, "cat /proc/self/pagemap /dev/zero");
        assert_eq!(file_digests.keys().collect::<Vec<_>>(), ["/proc/self/pagemap", "cat"]);
    }
}
