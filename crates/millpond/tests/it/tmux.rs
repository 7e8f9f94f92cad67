//! tmux as a referee from outside: a terminal that wraps again what was wrapped when its size changes.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server of our own with one pane.
pub(crate) struct Tmux {
    place: TempDir,
}

impl Tmux {
    /// Nothing where there is no tmux, which is said.
    pub(crate) fn start(folder: &Path, line: &str, (cols, rows): (u16, u16)) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            println!("skipped: a chat in tmux needs tmux");
            return None;
        }
        let tmux = Tmux { place: tempfile::tempdir().unwrap() };
        let conf = tmux.place.path().join("conf");
        std::fs::write(&conf, "set -g history-limit 50000\nset -g status off\n").unwrap();
        let (conf, folder) = (conf.to_str().unwrap(), folder.to_str().unwrap());
        let (cols, rows) = (cols.to_string(), rows.to_string());
        let size = ["new-session", "-d", "-x", &cols, "-y", &rows, "-c", folder, line];
        tmux.ask(&[&["-u", "-f", conf][..], &size].concat());
        Some(tmux)
    }

    pub(crate) fn resize(&self, (cols, rows): (u16, u16)) {
        let (x, y) = (cols.to_string(), rows.to_string());
        self.ask(&["resize-window", "-x", &x, "-y", &y]);
        let now = || self.ask(&["display-message", "-p", "#{pane_width} #{pane_height}"]);
        self.until(|| now() == format!("{cols} {rows}\n"), "another size");
    }

    pub(crate) fn keys(&self, keys: &[&str]) {
        self.ask(&[&["send-keys"][..], keys].concat());
    }

    /// Text that no burst of keys is mistaken for.
    pub(crate) fn paste(&self, text: &str) {
        self.ask(&["set-buffer", "--", text]);
        self.ask(&["paste-buffer", "-p"]);
    }

    /// Waits until this stands on the screen.
    pub(crate) fn shows(&self, words: &str) {
        self.until(|| self.screen().contains(words), words);
    }

    /// What is on the screen, what the terminal wrapped as one line.
    pub(crate) fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p", "-J"])
    }

    /// All there is, what the terminal wrapped as one line.
    pub(crate) fn all(&self) -> String {
        self.ask(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn until(&self, enough: impl Fn() -> bool, what: &str) {
        let end = Instant::now() + PATIENCE;
        while !enough() {
            assert!(Instant::now() < end, "never {what:?}; the screen is:\n{}", self.screen());
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8");
        command.arg("-S").arg(self.place.path().join("socket")).args(arguments);
        command.output().unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _gone = self.run(&["kill-server"]);
    }
}
