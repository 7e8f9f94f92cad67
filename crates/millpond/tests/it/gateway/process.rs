//! A gateway that is a process of its own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use crate::support::millpond;

pub(crate) struct Process {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    /// Reads on, so that the gateway never waits for us; returns what was said.
    said: Option<JoinHandle<String>>,
}

/// `millpond` with nothing of this machine's settings.
pub(crate) fn alone(args: &[&str], home: &Path) -> Command {
    let mut command = millpond(args);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MILLPOND_") {
            command.env_remove(name);
        }
    }
    command.current_dir(home).env("HOME", home).env_remove("XDG_CONFIG_HOME");
    command
}

/// A folder in memory where there is such a place: what a process writes outlives it there, too.
pub(crate) fn home() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    home.unwrap()
}

pub(crate) fn data(home: &Path) -> PathBuf {
    home.join("data")
}

fn serve(home: &Path) -> Command {
    let data = data(home);
    alone(&["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()], home)
}

impl Process {
    /// Starts one on the log in `home`, at a port of its own.
    pub(crate) fn start(home: &Path) -> Process {
        Process::start_with(home, &[])
    }

    /// The same, with more flags.
    pub(crate) fn start_with(home: &Path, more: &[String]) -> Process {
        let mut command = serve(home);
        command.args(more);
        Process::run(command, home)
    }

    /// The same, after a shell has carried out `first`.
    pub(crate) fn start_after(first: &str, home: &Path) -> Process {
        let plain = serve(home);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{first} && exec \"$0\" \"$@\"")]);
        command.arg(plain.get_program()).args(plain.get_args()).current_dir(home);
        Process::run(command, home)
    }

    fn run(mut command: Command, home: &Path) -> Process {
        let data = data(home);
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
        Process { child, address, token, said: Some(rest) }
    }

    /// Gone between two instructions; nothing in it hears of this.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop and waits until it has. Returns what it said, too.
    pub(crate) fn terminate(mut self) -> (ExitStatus, String) {
        self.signal("TERM");
        let status = self.child.wait().unwrap();
        (status, self.said.take().unwrap().join().unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Memory it holds now, in KiB; nothing where that cannot be seen.
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
