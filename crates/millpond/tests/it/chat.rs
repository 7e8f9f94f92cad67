//! The chat in a terminal: talked to through a pseudo-terminal, looked at through an emulator.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const SIZE: PtySize = PtySize { rows: 30, cols: 80, pixel_width: 0, pixel_height: 0 };

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(30);

const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const CONTROL_C: &str = "\x03";

/// What came out, and what it looks like.
struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Whether the next thing that is read is the last.
    enough: bool,
    closed: bool,
}

type Keys = Arc<Mutex<Option<Box<dyn Write + Send>>>>;

struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    keys: Keys,
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ended = self.child.kill();
    }
}

impl Terminal {
    fn start(folder: &Path, arguments: &str) -> Terminal {
        let pair = native_pty_system().openpty(SIZE).unwrap();
        let mut command = CommandBuilder::new("sh");
        let program = env!("CARGO_BIN_EXE_millpond");
        let data = folder.join("data");
        let line = format!("echo before; exec '{program}' {arguments} --data '{}'", data.display());
        command.args(["-c", &line]);
        command.cwd(folder);
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(SIZE.rows, SIZE.cols, 1_000);
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

    fn press(&self, keys: &str) {
        let mut writer = self.keys.lock().unwrap();
        let writer = writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Writes a message as a paste, which no burst of keys is mistaken for, and sends it.
    fn say(&self, text: &str) {
        self.press(&format!("\x1b[200~{text}\x1b[201~"));
        self.until(|screen| screen.contains(&format!("› {text}")));
        self.press(ENTER);
    }

    /// Waits until this is true of what is on the screen.
    fn until(&self, enough: impl Fn(&str) -> bool) -> String {
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

    fn shows(&self, words: &str) -> String {
        self.until(|screen| screen.contains(words))
    }

    /// The window is closed.
    fn hang_up(&mut self) {
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
    fn ended(mut self) -> (u32, String) {
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

/// No clears, and the terminal is as it was found.
fn check_given_back(raw: &str) {
    for clear in ["\x1b[2J", "\x1b[3J"] {
        assert!(!raw.contains(clear), "a clear");
    }
    for mode in ["?2004", "?1004"] {
        let (on, off) = (raw.rfind(&format!("\x1b[{mode}h")), raw.rfind(&format!("\x1b[{mode}l")));
        assert!(on.is_some() && on < off, "{mode} stays on");
    }
    assert!(raw.rfind("\x1b[?25l") < raw.rfind("\x1b[?25h"), "the cursor stays hidden");
}

#[test]
fn a_message_is_answered_and_the_terminal_given_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "a note\n").unwrap();
    let terminal = Terminal::start(folder.path(), "chat");
    terminal.shows("the demo agent, which is no model, answers");
    terminal.say("list");
    let screen = terminal
        .until(|screen| screen.contains("notes.md │     7") && screen.contains("Write a message"));
    assert!(screen.contains("› list") && screen.contains("● list_files"), "{screen}");
    assert!(screen.contains("before"), "what was there stays: {screen}");
    terminal.press(CONTROL_C);
    terminal.shows("once more leaves");
    terminal.press(CONTROL_C);
    let (status, raw) = terminal.ended();
    assert_eq!(status, 0, "{raw}");
    assert!(raw.contains("goes on with this conversation"), "{raw}");
    check_given_back(&raw);
}

#[test]
fn what_is_written_after_new_goes_to_another_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(folder.path(), "chat");
    terminal.shows("Write a message");
    terminal.say("list");
    terminal.until(|screen| screen.contains("no files") || screen.contains("bytes in all"));
    terminal.shows("Write a message");
    terminal.say("/new");
    terminal.shows("a new conversation begins");
    terminal.say("think");
    terminal.shows("I have thought about it twice");
}

#[test]
fn r16_keys_that_were_meant_for_the_message_answer_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(folder.path(), "chat");
    terminal.shows("Write a message");
    terminal.say("compute 6*7");
    terminal.shows("This needs you");
    // In the moment it appears, as by somebody who was typing.
    terminal.press(ENTER);
    terminal.press("n");
    let screen = terminal.shows("› n");
    assert!(screen.contains("This needs you"), "{screen}");
    terminal.press("\x7f");
    terminal.shows("Enter answer");
    std::thread::sleep(Duration::from_millis(400));
    terminal.press(DOWN);
    terminal.press(DOWN);
    terminal.until(|screen| screen.contains("› Deny"));
    terminal.press(ENTER);
    let screen = terminal
        .until(|screen| screen.contains("answered: deny") && screen.contains("Write a message"));
    assert!(!screen.contains("6*7 = 42"), "{screen}");
}

#[test]
fn r17_a_signal_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(folder.path(), "chat");
    terminal.shows("Write a message");
    let pid = terminal.child.process_id().unwrap();
    let killed = std::process::Command::new("kill").args(["-TERM", &pid.to_string()]).status();
    assert!(killed.unwrap().success());
    let (_, raw) = terminal.ended();
    check_given_back(&raw);
}

#[test]
fn a_second_terminal_joins_the_conversation_that_is_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let first = Terminal::start(folder.path(), "chat");
    first.shows("Write a message");
    first.say("compute 1+1");
    first.shows("This needs you");
    let second = Terminal::start(folder.path(), "-c");
    let screen = second.shows("This needs you");
    assert!(screen.contains("› compute 1+1") && screen.contains("connected to"), "{screen}");
    std::thread::sleep(Duration::from_millis(400));
    second.press(ENTER);
    second.shows("1+1 = 2");
    first.shows("1+1 = 2");
}

#[test]
fn a_terminal_that_goes_away_takes_the_chat_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(folder.path(), "chat");
    terminal.shows("Write a message");
    terminal.hang_up();
    let end = Instant::now() + PATIENCE;
    while terminal.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it lives on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}
