//! Runs a gateway as a separate process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use rustix::process::Signal;

use crate::support::{millpond_command, send_signal};

/// A running `millpond serve`; killed on drop.
pub(crate) struct GatewayProcess {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    /// Drains standard error, so that the gateway never blocks on it; returns all of it.
    log_reader: Option<JoinHandle<String>>,
}

/// `millpond` command without this machine's settings.
pub(crate) fn isolated_command(args: &[&str], home: &Path) -> Command {
    let mut command = millpond_command(args);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MILLPOND_") {
            command.env_remove(name);
        }
    }
    command.current_dir(home).env("HOME", home).env_remove("XDG_CONFIG_HOME");
    command
}

/// Temporary folder, in memory if possible; files written there survive a killed process.
pub(crate) fn temp_home() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    home.unwrap()
}

pub(crate) fn data_folder(home: &Path) -> PathBuf {
    home.join("data")
}

fn serve_command(home: &Path) -> Command {
    let data = data_folder(home);
    isolated_command(&["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()], home)
}

impl GatewayProcess {
    /// Starts a gateway on the log in `home`, on a free port.
    pub(crate) fn start(home: &Path) -> GatewayProcess {
        GatewayProcess::start_with_flags(home, &[])
    }

    /// Same, with more flags.
    pub(crate) fn start_with_flags(home: &Path, more: &[String]) -> GatewayProcess {
        let mut command = serve_command(home);
        command.args(more);
        GatewayProcess::spawn(command, home)
    }

    /// Same, after a shell has run `first`.
    pub(crate) fn start_after_shell_command(first: &str, home: &Path) -> GatewayProcess {
        let plain = serve_command(home);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{first} && exec \"$0\" \"$@\"")]);
        command.arg(plain.get_program()).args(plain.get_args()).current_dir(home);
        GatewayProcess::spawn(command, home)
    }

    fn spawn(mut command: Command, home: &Path) -> GatewayProcess {
        let data = data_folder(home);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = String::new();
        let address = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {said}")).unwrap();
            said.extend([&*line, "\n"]);
            if let Some((_, url)) = line.split_once("listening on ") {
                break url.split_once("://").unwrap().1.to_owned();
            }
        };
        let rest = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                said.extend([&*line, "\n"]);
            }
            said
        });
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        GatewayProcess { child, address, token, log_reader: Some(rest) }
    }

    /// Kills it with SIGKILL and waits.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it with SIGTERM and waits; returns the exit status and its standard error.
    pub(crate) fn terminate(mut self) -> (ExitStatus, String) {
        self.send_signal(Signal::TERM);
        let status = self.child.wait().unwrap();
        (status, self.log_reader.take().unwrap().join().unwrap())
    }

    pub(crate) fn send_signal(&self, signal: Signal) {
        send_signal(self.child.id(), signal);
    }

    /// Resident memory in KiB; `None` without `/proc`.
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        // It may have exited already.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
