//! Processes in groups of their own, which end as a whole.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::LazyLock;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::limits::KILL_AFTER;

/// A process and all that it starts. Dropped, the whole group is asked to end, and ended.
#[derive(Debug)]
pub struct Group {
    child: Option<Child>,
    id: Option<Pid>,
    guard: Option<Guard>,
}

/// A process in the group that ends the group when we are gone without having done so ourselves.
#[derive(Debug)]
struct Guard {
    _child: Child,
    /// Closed by the system when this process ends, however it does.
    _line: ChildStdin,
}

impl Guard {
    /// Nothing if the group has ended already.
    fn of(group: Pid) -> Option<Guard> {
        const WAITS: &str = "trap '' TERM INT HUP; read _; kill -KILL 0";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WAITS]).env_clear().process_group(group.as_raw_nonzero().get());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let line = child.stdin.take()?;
        Some(Guard { _child: child, _line: line })
    }
}

impl Group {
    /// Starts a command whose streams are piped as it says.
    pub fn start(mut command: Command) -> std::io::Result<Group> {
        let child = command.process_group(0).kill_on_drop(false).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Group { child: Some(child), id, guard: id.and_then(Guard::of) })
    }

    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    pub fn take_output(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    pub fn take_errors(&mut self) -> Option<ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Waits for the process itself. What it has left behind is ended then.
    pub async fn wait(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut()?.wait().await.ok();
        if let Some(id) = self.id {
            // A group that is gone needs no end.
            let _gone = kill_process_group(id, Signal::KILL);
        }
        self.child = None;
        self.guard = None;
        status
    }

    /// Ends the group at once.
    pub fn kill(&self) {
        if let Some(id) = self.id.filter(|_| self.child.is_some()) {
            let _gone = kill_process_group(id, Signal::KILL);
        }
    }

    /// Asks the group to end, and ends it if it does not.
    pub async fn stop(&mut self) {
        if let Some(child) = self.child.take() {
            end(child, self.id).await;
            self.guard = None;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                ENDING.send_modify(|count| *count += 1);
                let (id, guard) = (self.id, self.guard.take());
                runtime.spawn(async move {
                    end(child, id).await;
                    drop(guard);
                    ENDING.send_modify(|count| *count -= 1);
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

/// How many groups are being ended by nobody in particular.
static ENDING: LazyLock<watch::Sender<usize>> = LazyLock::new(watch::Sender::default);

/// Done when every group that was dropped has ended: a program that goes before leaves them behind.
pub async fn all_ended() {
    // The sender is never gone.
    let mut ending = ENDING.subscribe();
    let _always = ending.wait_for(|count| *count == 0).await;
}

async fn end(mut child: Child, id: Option<Pid>) {
    let Some(id) = id else { return };
    let _gone = kill_process_group(id, Signal::TERM);
    let _late = tokio::time::timeout(KILL_AFTER, child.wait()).await;
    // Also those whose parent went first.
    let _gone = kill_process_group(id, Signal::KILL);
    let _reaped = child.wait().await;
}

/// Our environment. What is no text is left out.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text)
}

/// Whether the name of a variable says that it holds what nobody else needs to know.
pub fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    let name = name.to_ascii_uppercase();
    PARTS.iter().any(|part| name.contains(part))
}

/// A command with nothing to read and both outputs piped.
pub fn piped(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Bytes as they come, given out as text without ever cutting a character.
#[derive(Debug, Default)]
pub struct Decoder(Vec<u8>);

impl Decoder {
    /// All of the text that is whole. What is no text becomes a replacement character.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let rest = self.0.split_off(whole_len(&self.0));
        let text = String::from_utf8_lossy(&self.0).into_owned();
        self.0 = rest;
        text
    }

    pub fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.0);
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// How far no character is cut.
fn whole_len(bytes: &[u8]) -> usize {
    let mut whole = 0;
    while let Err(error) = std::str::from_utf8(&bytes[whole..]) {
        whole += error.valid_up_to();
        match error.error_len() {
            Some(wrong) => whole += wrong,
            None => return whole,
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
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        for cut in 0..=bytes.len() {
            let mut decoder = Decoder::default();
            let mut read = decoder.push(&bytes[..cut]);
            read += &decoder.push(&bytes[cut..]);
            read += &decoder.finish();
            assert_eq!(read, whole, "cut at {cut}");
        }
    }
}
