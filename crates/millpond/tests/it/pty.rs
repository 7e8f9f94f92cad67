//! Runs the program in a pseudo-terminal and reads its screen through an emulator.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::support::{WAIT_MAX, poll};

pub(crate) const SIZE: PtySize = PtySize { rows: 30, cols: 80, pixel_width: 0, pixel_height: 0 };

/// Time after which a key without effect is pressed again. It is longer than the time for which an
/// ask takes no keys, because such a key restarts that time.
pub(crate) const KEY_INTERVAL: Duration = Duration::from_secs(1);

/// Environment variables of other terminals, unset for the program.
const UNSET_VARIABLES: [&str; 11] = [
    "STREAM_DEBUG",
    "NO_COLOR",
    "TMUX",
    "STY",
    "ZELLIJ",
    "WT_SESSION",
    "TERM_PROGRAM",
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "VTE_VERSION",
    "DOMTERM",
];

/// Raw output and emulated screen.
struct TerminalOutput {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// True to stop reading after the next read.
    stops_after_next_read: bool,
    closed: bool,
}

type KeyWriter = Arc<Mutex<Option<Box<dyn Write + Send>>>>;

pub(crate) struct TestTerminal {
    output: Arc<(Mutex<TerminalOutput>, Condvar)>,
    keys: KeyWriter,
    pub(crate) child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
}

impl Drop for TestTerminal {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ended = self.child.kill();
    }
}

impl TestTerminal {
    /// Starts `millpond` with its data in the folder.
    pub(crate) fn start_chat(folder: &Path, arguments: &str) -> TestTerminal {
        let program = env!("CARGO_BIN_EXE_millpond");
        let data = folder.join("data");
        TestTerminal::start_shell(
            folder,
            &format!("echo before; exec '{program}' {arguments} --data '{}'", data.display()),
            SIZE,
        )
    }

    /// Starts a shell command in a terminal of this size.
    pub(crate) fn start_shell(folder: &Path, line: &str, size: PtySize) -> TestTerminal {
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", line]);
        command.cwd(folder);
        for unwanted in UNSET_VARIABLES {
            command.env_remove(unwanted);
        }
        command.env("TERM", "xterm-256color");
        command.env("TMPDIR", folder);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(size.rows, size.cols, 10_000);
        let seen =
            TerminalOutput { parser, raw: Vec::new(), stops_after_next_read: false, closed: false };
        let output = Arc::new((Mutex::new(seen), Condvar::new()));
        let keys = Arc::new(Mutex::new(Some(pair.master.take_writer().unwrap())));
        let reader = pair.master.try_clone_reader().unwrap();
        let (shared, replies) = (Arc::clone(&output), Arc::clone(&keys));
        std::thread::spawn(move || {
            read_output(reader, &shared, &replies);
            shared.0.lock().unwrap().closed = true;
            shared.1.notify_all();
        });
        TestTerminal { output, keys, child, master: Some(pair.master) }
    }

    /// Sends keys.
    pub(crate) fn press_keys(&self, keys: &str) {
        let mut writer = self.keys.lock().unwrap();
        let writer = writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Pastes a message, waits until it is shown, and presses Enter.
    pub(crate) fn send_message(&self, text: &str) {
        self.press_keys(&format!("\x1b[200~{text}\x1b[201~"));
        self.wait_until(|screen| screen.contains(&format!("› {text}")));
        self.press_keys("\r");
    }

    /// Waits until the screen satisfies `enough`; returns its text.
    pub(crate) fn wait_until(&self, enough: impl Fn(&str) -> bool) -> String {
        let seen = self.wait_at_most(WAIT_MAX, &enough);
        seen.unwrap_or_else(|screen| panic!("never seen; the screen is:\n{screen}"))
    }

    /// Waits until the screen satisfies `enough` and returns its text; returns the text as an error
    /// if it does not within the time.
    fn wait_at_most(
        &self,
        time: Duration,
        enough: &impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let (seen, changed) = &*self.output;
        let end = Instant::now() + time;
        let mut now = seen.lock().unwrap();
        loop {
            let screen = now.parser.screen().contents();
            if enough(&screen) {
                return Ok(screen);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(screen);
            }
            now = changed.wait_timeout(now, left).unwrap().0;
        }
    }

    /// Presses keys every `interval` until the screen satisfies `enough`; returns its text. The
    /// keys may be pressed once more than needed.
    pub(crate) fn press_until(
        &self,
        keys: &str,
        interval: Duration,
        enough: impl Fn(&str) -> bool,
    ) -> String {
        let end = Instant::now() + WAIT_MAX;
        loop {
            self.press_keys(keys);
            match self.wait_at_most(interval, &enough) {
                Ok(screen) => return screen,
                Err(screen) => {
                    assert!(Instant::now() < end, "never seen; the screen is:\n{screen}");
                }
            }
        }
    }

    /// Waits until the screen contains the text.
    pub(crate) fn wait_for_text(&self, words: &str) -> String {
        self.wait_until(|screen| screen.contains(words))
    }

    /// Closes the terminal.
    pub(crate) fn hang_up(&mut self) {
        let (seen, changed) = &*self.output;
        seen.lock().unwrap().stops_after_next_read = true;
        self.press_keys("x");
        let mut now = seen.lock().unwrap();
        while !now.closed {
            now = changed.wait_timeout(now, WAIT_MAX).unwrap().0;
        }
        *self.keys.lock().unwrap() = None;
        self.master = None;
    }

    /// Waits for the program to end; returns its exit status.
    pub(crate) fn wait_for_end(&mut self) -> u32 {
        let ended = || self.child.try_wait().unwrap();
        poll(ended, || "the program does not end".to_owned()).exit_code()
    }

    /// Waits for the program to exit; returns its exit status and all of its output.
    pub(crate) fn wait_for_exit(mut self) -> (u32, String) {
        let status = self.wait_for_end();
        let (seen, changed) = &*self.output;
        let mut now = seen.lock().unwrap();
        while !now.closed {
            now = changed.wait_timeout(now, WAIT_MAX).unwrap().0;
        }
        (status, String::from_utf8_lossy(&now.raw).into_owned())
    }
}

/// Reads the output to its end and replies to cursor report requests.
fn read_output(
    mut reader: Box<dyn Read + Send>,
    seen: &(Mutex<TerminalOutput>, Condvar),
    keys: &KeyWriter,
) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        let mut now = seen.0.lock().unwrap();
        now.parser.process(&bytes[..count]);
        now.raw.extend_from_slice(&bytes[..count]);
        let asked = bytes[..count].windows(4).filter(|window| window == b"\x1b[6n").count();
        let (row, col) = now.parser.screen().cursor_position();
        seen.1.notify_all();
        drop(now);
        for _ in 0..asked {
            if let Some(keys) = keys.lock().unwrap().as_mut() {
                let _gone = write!(keys, "\x1b[{};{}R", row + 1, col + 1);
            }
        }
        if seen.0.lock().unwrap().stops_after_next_read {
            break;
        }
    }
}
