//! A pseudo-terminal to run the program in, and an emulator to look at what it wrote.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

pub(crate) const SIZE: PtySize = PtySize { rows: 30, cols: 80, pixel_width: 0, pixel_height: 0 };

/// Long enough for anything that happens at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What another terminal may have left in the environment.
const UNWANTED: [&str; 11] = [
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

/// What came out, and what it looks like.
struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Whether the next thing that is read is the last.
    enough: bool,
    closed: bool,
}

type Keys = Arc<Mutex<Option<Box<dyn Write + Send>>>>;

pub(crate) struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    keys: Keys,
    pub(crate) child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ended = self.child.kill();
    }
}

impl Terminal {
    /// A chat that keeps its data in the folder.
    pub(crate) fn chat(folder: &Path, arguments: &str) -> Terminal {
        let program = env!("CARGO_BIN_EXE_millpond");
        let data = folder.join("data");
        Terminal::shell(
            folder,
            &format!("echo before; exec '{program}' {arguments} --data '{}'", data.display()),
            SIZE,
        )
    }

    pub(crate) fn shell(folder: &Path, line: &str, size: PtySize) -> Terminal {
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", line]);
        command.cwd(folder);
        for unwanted in UNWANTED {
            command.env_remove(unwanted);
        }
        command.env("TERM", "xterm-256color");
        command.env("TMPDIR", folder);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(size.rows, size.cols, 10_000);
        let seen = Seen { parser, raw: Vec::new(), enough: false, closed: false };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let keys = Arc::new(Mutex::new(Some(pair.master.take_writer().unwrap())));
        let reader = pair.master.try_clone_reader().unwrap();
        let (told, answers) = (Arc::clone(&seen), Arc::clone(&keys));
        std::thread::spawn(move || {
            listen(reader, &told, &answers);
            told.0.lock().unwrap().closed = true;
            told.1.notify_all();
        });
        Terminal { seen, keys, child, master: Some(pair.master) }
    }

    pub(crate) fn press(&self, keys: &str) {
        let mut writer = self.keys.lock().unwrap();
        let writer = writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Writes a message as a paste, which no burst of keys is mistaken for, and sends it.
    pub(crate) fn say(&self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~"));
        self.until(|screen| screen.contains(&format!("› {text}")));
        self.press("\r");
    }

    /// Waits until this is true of what is on the screen.
    pub(crate) fn until(&self, enough: impl Fn(&str) -> bool) -> String {
        let (seen, changed) = &*self.seen;
        let end = Instant::now() + PATIENCE;
        let mut now = seen.lock().unwrap();
        loop {
            let screen = now.parser.screen().contents();
            if enough(&screen) {
                return screen;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never seen; the screen is:\n{screen}");
            now = changed.wait_timeout(now, left).unwrap().0;
        }
    }

    pub(crate) fn shows(&self, words: &str) -> String {
        self.until(|screen| screen.contains(words))
    }

    /// The window is closed.
    pub(crate) fn hang_up(&mut self) {
        let (seen, changed) = &*self.seen;
        seen.lock().unwrap().enough = true;
        self.press("x");
        let mut now = seen.lock().unwrap();
        while !now.closed {
            now = changed.wait_timeout(now, PATIENCE).unwrap().0;
        }
        *self.keys.lock().unwrap() = None;
        self.master = None;
    }

    /// Waits for the end; gives the exit status and all that was written.
    pub(crate) fn ended(mut self) -> (u32, String) {
        let status = self.child.wait().unwrap();
        let (seen, changed) = &*self.seen;
        let mut now = seen.lock().unwrap();
        while !now.closed {
            now = changed.wait_timeout(now, PATIENCE).unwrap().0;
        }
        (status.exit_code(), String::from_utf8_lossy(&now.raw).into_owned())
    }
}

/// Reads to the end, and answers where the cursor is, as terminals do.
fn listen(mut reader: Box<dyn Read + Send>, seen: &(Mutex<Seen>, Condvar), keys: &Keys) {
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
        if seen.0.lock().unwrap().enough {
            break;
        }
    }
}
