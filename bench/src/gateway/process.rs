//! Server in a separate process, with its CPU time and memory from `/proc`.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::server::ServerKind;

/// A running server; killed on drop.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    pub(super) address: String,
    pub(super) token: String,
    pub(super) session: String,
    /// Time from its start until it listens.
    pub(super) startup_time: Duration,
    /// Time to open the log, part of the startup time.
    pub(super) log_open_time: Duration,
}

impl ServerProcess {
    pub(super) fn start(
        kind: ServerKind,
        rate: u64,
        folder: &Path,
        sessions: u64,
    ) -> io::Result<ServerProcess> {
        let begun = Instant::now();
        let name = kind.to_possible_value().map(|name| name.get_name().to_owned());
        let mut child = Command::new(std::env::current_exe()?)
            .args(["gateway", "serve", &name.unwrap_or_default()])
            .args(["--rate", &rate.to_string(), "--sessions", &sessions.to_string()])
            .arg("--folder")
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or_else(|| io::Error::other("no standard output"))?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, token, session, opened] = words[..] else {
            return Err(io::Error::other(format!("unexpected output of the server: {line}")));
        };
        let opened = Duration::from_micros(opened.parse().unwrap_or(0));
        let (address, token, session) = (address.to_owned(), token.to_owned(), session.to_owned());
        Ok(ServerProcess {
            child,
            address,
            token,
            session,
            startup_time: begun.elapsed(),
            log_open_time: opened,
        })
    }

    /// Path of the stream for readers.
    pub(super) fn stream_path(&self, kind: ServerKind) -> String {
        match kind {
            ServerKind::Bare => "/stream".to_owned(),
            ServerKind::Gateway | ServerKind::Unmerged => {
                format!(
                    "/v1/sessions/{}/stream?view=transcript&format=patch&from=start&protocol=2",
                    self.session
                )
            }
        }
    }

    /// CPU time used, in seconds.
    pub(super) fn cpu_seconds(&self) -> f64 {
        let stat = self.read_proc_file("stat");
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        // A clock tick is 10 ms on all supported systems.
        ticks.filter_map(|tick| tick.parse::<f64>().ok()).sum::<f64>() / 100.0
    }

    pub(super) fn resident_kib(&self) -> f64 {
        let status = self.read_proc_file("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0.0)
    }

    fn read_proc_file(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap_or_default()
    }

    /// Kills it with SIGKILL and waits.
    pub(super) fn kill(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have exited already.
        let _exited = self.child.kill();
        let _exited = self.child.wait();
    }
}
