//! A server in a process of its own, and what the system says about it.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::server::Kind;

#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
    pub(super) token: String,
    pub(super) session: String,
    /// From its start to its being able to listen.
    pub(super) started: Duration,
    /// Of that, opening the log.
    pub(super) opened: Duration,
}

impl Server {
    pub(super) fn start(kind: Kind, rate: u64, folder: &Path, sessions: u64) -> io::Result<Server> {
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
            return Err(io::Error::other(format!("the server said: {line}")));
        };
        let opened = Duration::from_micros(opened.parse().unwrap_or(0));
        let (address, token, session) = (address.to_owned(), token.to_owned(), session.to_owned());
        Ok(Server { child, address, token, session, started: begun.elapsed(), opened })
    }

    /// Where its readers read.
    pub(super) fn stream(&self, kind: Kind) -> String {
        match kind {
            Kind::Bare => "/stream".to_owned(),
            Kind::Gateway | Kind::Unmerged => {
                format!(
                    "/v1/sessions/{}/stream?view=transcript&format=patch&from=start",
                    self.session
                )
            }
        }
    }

    /// Seconds of processor time it has used.
    pub(super) fn cpu_seconds(&self) -> f64 {
        let stat = self.proc("stat");
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        // A tick is a hundredth of a second wherever this runs.
        ticks.filter_map(|tick| tick.parse::<f64>().ok()).sum::<f64>() / 100.0
    }

    pub(super) fn resident_kib(&self) -> f64 {
        let status = self.proc("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0.0)
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap_or_default()
    }

    /// As `kill -9` does.
    pub(super) fn kill(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
