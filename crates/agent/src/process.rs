//! Process groups that are terminated as a whole, and decoding of their output.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::LazyLock;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::limits::KILL_GRACE_TIME;

/// A process and all its children. Dropping it terminates the whole group.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Option<Child>,
    id: Option<Pid>,
    guard: Option<GroupGuard>,
}

/// A shell in the group that kills the group if this process dies without doing so.
#[derive(Debug)]
struct GroupGuard {
    _child: Child,
    /// Closed by the system when this process ends, for any reason.
    _stdin: ChildStdin,
}

impl GroupGuard {
    /// Starts the guard; `None` if the group has already ended.
    fn spawn_watchdog_in_group(group: Pid) -> Option<GroupGuard> {
        const WAITS: &str = "trap '' TERM INT HUP; read _; kill -KILL 0";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WAITS]).env_clear().process_group(group.as_raw_nonzero().get());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let stdin = child.stdin.take()?;
        Some(GroupGuard { _child: child, _stdin: stdin })
    }
}

impl ProcessGroup {
    /// Starts a command in a new process group.
    pub fn spawn(mut command: Command) -> std::io::Result<ProcessGroup> {
        let child = command.process_group(0).kill_on_drop(false).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(ProcessGroup {
            child: Some(child),
            id,
            guard: id.and_then(GroupGuard::spawn_watchdog_in_group),
        })
    }

    /// Takes the process's standard input.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    /// Takes the process's standard output.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// Takes the process's standard error.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Waits for the process to exit, then kills the rest of its group.
    pub async fn wait_then_kill_rest(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut()?.wait().await.ok();
        if let Some(id) = self.id {
            // The process group may have exited.
            let _gone = kill_process_group(id, Signal::KILL);
        }
        self.child = None;
        self.guard = None;
        status
    }

    /// Kills the group at once.
    pub fn kill(&self) {
        if let Some(id) = self.id.filter(|_| self.child.is_some()) {
            let _gone = kill_process_group(id, Signal::KILL);
        }
    }

    /// Sends SIGTERM to the group, and SIGKILL after the grace time.
    pub async fn terminate(&mut self) {
        if let Some(child) = self.child.take() {
            terminate_group(child, self.id).await;
            self.guard = None;
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                ENDING_GROUPS.send_modify(|count| *count += 1);
                let (id, guard) = (self.id, self.guard.take());
                runtime.spawn(async move {
                    terminate_group(child, id).await;
                    drop(guard);
                    ENDING_GROUPS.send_modify(|count| *count -= 1);
                });
            }
            Err(_) => {
                if let Some(id) = self.id {
                    let _gone = kill_process_group(id, Signal::KILL);
                }
            }
        }
    }
}

/// Number of dropped groups that are still being terminated.
static ENDING_GROUPS: LazyLock<watch::Sender<usize>> = LazyLock::new(watch::Sender::default);

/// Waits until every dropped group has ended: a program that exits earlier leaves them behind.
pub async fn wait_for_dropped_groups() {
    // The sender is static, so this never fails.
    let mut ending = ENDING_GROUPS.subscribe();
    let _closed = ending.wait_for(|count| *count == 0).await;
}

/// Sends SIGTERM, then SIGKILL, and reaps the child.
async fn terminate_group(mut child: Child, id: Option<Pid>) {
    let Some(id) = id else { return };
    let _gone = kill_process_group(id, Signal::TERM);
    let _late = tokio::time::timeout(KILL_GRACE_TIME, child.wait()).await;
    // Also children whose parent exited first.
    let _gone = kill_process_group(id, Signal::KILL);
    let _reaped = child.wait().await;
}

/// This process's environment, without values that are not UTF-8.
pub fn utf8_environment_variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text)
}

/// True if a variable's name suggests that it holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    const PARTS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    let name = name.to_ascii_uppercase();
    PARTS.iter().any(|part| name.contains(part))
}

/// Command with no input and piped stdout and stderr.
pub fn command_with_piped_output(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Incremental UTF-8 decoder; never cuts a character.
#[derive(Debug, Default)]
pub struct Utf8Decoder(Vec<u8>);

impl Utf8Decoder {
    /// Decodes up to the last complete character; invalid bytes become U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let rest = self.0.split_off(complete_utf8_len(&self.0));
        let text = String::from_utf8_lossy(&self.0).into_owned();
        self.0 = rest;
        text
    }

    /// Decodes the remaining bytes.
    pub fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.0);
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// Length of the bytes up to an incomplete last character.
fn complete_utf8_len(bytes: &[u8]) -> usize {
    let mut valid_len = 0;
    while let Err(error) = std::str::from_utf8(&bytes[valid_len..]) {
        valid_len += error.valid_up_to();
        match error.error_len() {
            Some(invalid_len) => valid_len += invalid_len,
            None => return valid_len,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_however_its_bytes_come() {
        let text = "Łódź 🌊 \u{fffd}";
        let mut bytes = text.as_bytes().to_vec();
        bytes.extend([0xff, b'x', 0xe2, 0x82]);
        let expected = String::from_utf8_lossy(&bytes).into_owned();
        for split in 0..=bytes.len() {
            let mut decoder = Utf8Decoder::default();
            let mut text_read = decoder.push(&bytes[..split]);
            text_read += &decoder.push(&bytes[split..]);
            text_read += &decoder.finish();
            assert_eq!(text_read, expected, "cut at {split}");
        }
    }
}
