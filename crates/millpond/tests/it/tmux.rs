//! Runs a command in tmux, a terminal that rewraps its lines when it is resized.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use crate::pty::KEY_INTERVAL;
use crate::support::poll;

/// A separate tmux server with one pane.
pub(crate) struct Tmux {
    folder: TempDir,
}

impl Tmux {
    /// Starts the server; prints that the test is skipped and returns `None` without tmux.
    pub(crate) fn start(folder: &Path, line: &str, (cols, rows): (u16, u16)) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            println!("skipped: a chat in tmux needs tmux. To install: sudo apt-get install tmux");
            return None;
        }
        let tmux = Tmux { folder: tempfile::tempdir().unwrap() };
        let conf = tmux.folder.path().join("conf");
        std::fs::write(&conf, "set -g history-limit 50000\nset -g status off\n").unwrap();
        let (conf, folder) = (conf.to_str().unwrap(), folder.to_str().unwrap());
        let (cols, rows) = (cols.to_string(), rows.to_string());
        let size = ["new-session", "-d", "-x", &cols, "-y", &rows, "-c", folder, line];
        tmux.run_command(&[&["-u", "-f", conf][..], &size].concat());
        Some(tmux)
    }

    /// Resizes the window and waits until the program in it can see the new size: tmux resizes its
    /// own pane at once, but the program's terminal up to a quarter of a second later.
    pub(crate) fn resize(&self, (cols, rows): (u16, u16)) {
        let (x, y) = (cols.to_string(), rows.to_string());
        self.run_command(&["resize-window", "-x", &x, "-y", &y]);
        let now = || self.run_command(&["display-message", "-p", "#{pane_width} #{pane_height}"]);
        self.wait_until(|| now() == format!("{cols} {rows}\n"), "another size");
        let tty = self.run_command(&["display-message", "-p", "#{pane_tty}"]);
        let tty = open_terminal(tty.trim_end());
        let size = || rustix::termios::tcgetwinsize(&tty).unwrap();
        self.wait_until(|| (size().ws_col, size().ws_row) == (cols, rows), "another size");
    }

    pub(crate) fn send_keys(&self, keys: &[&str]) {
        self.run_command(&[&["send-keys"][..], keys].concat());
    }

    /// Pastes text with bracketed paste.
    pub(crate) fn paste(&self, text: &str) {
        self.run_command(&["set-buffer", "--", text]);
        self.run_command(&["paste-buffer", "-p"]);
    }

    /// Waits until the screen contains the text.
    pub(crate) fn wait_for_text(&self, words: &str) {
        self.wait_until(|| self.screen_text().contains(words), words);
    }

    /// Types a word, waits until the program shows it, and erases it. The program has then drawn
    /// the screen in its present size.
    pub(crate) fn type_and_erase(&self, word: &str) {
        self.send_keys(&["-l", word]);
        self.wait_for_text(word);
        for _ in word.chars() {
            self.send_keys(&["BSpace"]);
        }
        self.wait_until(|| !self.screen_text().contains(word), "the word erased");
    }

    /// Presses a key every `KEY_INTERVAL` until the screen contains the text. The key may be
    /// pressed once more than needed.
    pub(crate) fn press_until_text(&self, key: &str, words: &str) {
        let mut next_press = Instant::now();
        let is_shown = || {
            if next_press <= Instant::now() {
                self.send_keys(&[key]);
                next_press = Instant::now() + KEY_INTERVAL;
            }
            self.screen_text().contains(words).then_some(())
        };
        poll(is_shown, || format!("never {words:?}; the screen is:\n{}", self.screen_text()));
    }

    /// Text of the screen, with wrapped rows joined.
    pub(crate) fn screen_text(&self) -> String {
        self.run_command(&["capture-pane", "-p", "-J"])
    }

    /// Text of scrollback and screen, with wrapped rows joined.
    pub(crate) fn scrollback_text(&self) -> String {
        self.run_command(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Runs a tmux command that must succeed; returns its output.
    pub(crate) fn run_command(&self, arguments: &[&str]) -> String {
        let output = self.spawn_tmux(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn wait_until(&self, enough: impl Fn() -> bool, what: &str) {
        let failure = || format!("never {what:?}; the screen is:\n{}", self.screen_text());
        poll(|| enough().then_some(()), failure);
    }

    fn spawn_tmux(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        // A shell in the pane leaves no history behind.
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").env("HISTFILE", "/dev/null");
        command.arg("-S").arg(self.folder.path().join("socket")).args(arguments);
        command.output().unwrap()
    }
}

/// Opens a terminal that does not become that of this process.
fn open_terminal(path: &str) -> OwnedFd {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::NOCTTY, Mode::empty()).unwrap()
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _gone = self.spawn_tmux(&["kill-server"]);
    }
}
