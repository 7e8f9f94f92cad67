//! A chat in a pseudo-terminal, a gateway that it talks to, and an agent's stream on its way there.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
const PATIENCE: Duration = Duration::from_mins(1);

/// A gateway with a folder of its own.
pub(super) struct House {
    program: PathBuf,
    home: TempDir,
    gateway: Option<Child>,
    address: String,
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(gateway) = &mut self.gateway {
            let _ended = gateway.kill();
            let _status = gateway.wait();
        }
    }
}

impl House {
    pub(super) fn start(program: PathBuf) -> io::Result<House> {
        let mut house = House {
            program: std::path::absolute(program)?,
            home: tempfile::tempdir()?,
            gateway: None,
            address: String::new(),
        };
        let mut command = house.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines =
            BufReader::new(child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?).lines();
        for line in lines.by_ref() {
            if let Some((_, url)) = line?.split_once("listening on ") {
                url.trim_start_matches("http://").clone_into(&mut house.address);
                break;
            }
        }
        std::thread::spawn(move || lines.for_each(drop));
        house.gateway = Some(child);
        Ok(house)
    }

    /// A folder in which so many sessions are kept, and nobody serves them.
    pub(super) fn with_sessions(&self, count: usize) -> io::Result<House> {
        let mut house = House::start(self.program.clone())?;
        for number in 0..count {
            house.post("/v1/sessions", &format!("{{\"title\":\"session {number}\"}}"))?;
        }
        if let Some(mut gateway) = house.gateway.take() {
            Command::new("kill").arg(gateway.id().to_string()).status()?;
            gateway.wait()?;
        }
        Ok(house)
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--data").arg(self.data());
        command.current_dir(self.home.path()).env("HOME", self.home.path());
        command
    }

    fn post(&self, path: &str, body: &str) -> io::Result<String> {
        let token = std::fs::read_to_string(self.data().join("token"))?;
        let mut line = TcpStream::connect(&self.address)?;
        write!(
            line,
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.address,
            token.trim(),
            body.len()
        )?;
        let mut answer = String::new();
        line.read_to_string(&mut answer)?;
        if !answer.starts_with("HTTP/1.1 2") {
            return Err(io::Error::other(answer));
        }
        Ok(answer)
    }

    fn new_session(&self) -> io::Result<String> {
        let answer = self.post("/v1/sessions", "{\"title\":\"bench\"}")?;
        let id = answer.split_once("\"id\":\"").and_then(|(_, rest)| rest.split_once('"'));
        id.map(|(id, _)| id.to_owned()).ok_or_else(|| io::Error::other(answer.clone()))
    }
}

/// What a terminal was sent so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) bytes: usize,
    pub(super) frames: usize,
    pub(super) clears: usize,
}

struct Screen {
    seen: Seen,
    parser: vt100::Parser,
}

type Shared = Arc<(Mutex<Screen>, Condvar)>;

pub(super) struct Chat<'a> {
    house: &'a House,
    session: String,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    keys: Arc<Mutex<Box<dyn Write + Send>>>,
    screen: Shared,
    written: String,
    _master: Box<dyn MasterPty + Send>,
}

impl Drop for Chat<'_> {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

impl<'a> Chat<'a> {
    /// On a session of its own in a gateway that runs.
    pub(super) fn open(house: &'a House) -> io::Result<Chat<'a>> {
        let session = house.new_session()?;
        let mut chat = Chat::run(house, &["-r", &session])?;
        chat.session.clone_from(&session);
        chat.shows("Write a message")?;
        Ok(chat)
    }

    /// With a gateway of its own.
    pub(super) fn alone(house: &'a House) -> io::Result<Chat<'a>> {
        Chat::run(house, &["chat"])
    }

    fn run(house: &'a House, words: &[&str]) -> io::Result<Chat<'a>> {
        let pair = native_pty_system().openpty(SIZE).map_err(io::Error::other)?;
        let mut command = CommandBuilder::new(&house.program);
        command.args(words);
        command.arg("--data");
        command.arg(house.data());
        command.cwd(house.home.path());
        command.env("HOME", house.home.path());
        command.env("TERM", "xterm-256color");
        for unwanted in ["TMUX", "NO_COLOR", "ZELLIJ", "WT_SESSION"] {
            command.env_remove(unwanted);
        }
        let child = pair.slave.spawn_command(command).map_err(io::Error::other)?;
        drop(pair.slave);
        let parser = vt100::Parser::new(SIZE.rows, SIZE.cols, 0);
        let screen: Shared =
            Arc::new((Mutex::new(Screen { seen: Seen::default(), parser }), Condvar::new()));
        let keys = Arc::new(Mutex::new(pair.master.take_writer().map_err(io::Error::other)?));
        let reader = pair.master.try_clone_reader().map_err(io::Error::other)?;
        let (watched, answers) = (Arc::clone(&screen), Arc::clone(&keys));
        std::thread::spawn(move || watch(reader, &watched, &answers));
        let (session, written) = (String::new(), String::new());
        Ok(Chat { house, session, child, keys, screen, written, _master: pair.master })
    }

    pub(super) fn source(&self) -> io::Result<Source> {
        let url = format!("http://{}", self.house.address);
        let mut command = self.house.command(&["tee", &url, "--session", &self.session]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut tee = command.spawn()?;
        let input = tee.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Source { tee, input })
    }

    pub(super) fn seen(&self) -> Seen {
        self.screen.0.lock().unwrap_or_else(PoisonError::into_inner).seen
    }

    /// Waits until these words are on the screen.
    pub(super) fn shows(&mut self, words: &str) -> io::Result<()> {
        let (screen, changed) = &*self.screen;
        let end = Instant::now() + PATIENCE;
        let mut now = screen.lock().unwrap_or_else(PoisonError::into_inner);
        while !now.parser.screen().contents().contains(words) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::other(format!(
                    "never {words:?}:\n{}",
                    now.parser.screen().contents()
                )));
            }
            now = changed.wait_timeout(now, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }

    pub(super) fn written(&self) -> &str {
        &self.written
    }

    /// Presses keys and waits until all that was written is seen.
    pub(super) fn press(&mut self, keys: &str, written: &str) -> io::Result<()> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).write_all(keys.as_bytes())?;
        written.clone_into(&mut self.written);
        self.shows(&format!("› {written}"))
    }

    pub(super) fn processor_time(&self) -> io::Result<Duration> {
        let tasks = std::fs::read_dir(self.place("task")?)?;
        let mut nanos = 0;
        for task in tasks {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            nanos += text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Memory that it holds, in megabytes.
    pub(super) fn resident(&self) -> io::Result<f64> {
        let status = std::fs::read_to_string(self.place("status")?)?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line
            .and_then(|line| line.split_whitespace().next())
            .and_then(|kib| kib.parse::<f64>().ok());
        Ok(kib.unwrap_or_default() / 1e3)
    }

    fn place(&self, name: &str) -> io::Result<PathBuf> {
        let id = self.child.process_id().ok_or(io::ErrorKind::NotFound)?;
        Ok(Path::new("/proc").join(id.to_string()).join(name))
    }
}

/// Reads to the end, and answers where the cursor is, as terminals do.
fn watch(mut reader: Box<dyn Read + Send>, screen: &Shared, keys: &Mutex<Box<dyn Write + Send>>) {
    let mut bytes = vec![0; 65_536];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        let came = &bytes[..count];
        let (screen, changed) = &**screen;
        let mut now = screen.lock().unwrap_or_else(PoisonError::into_inner);
        now.parser.process(came);
        now.seen.bytes += count;
        now.seen.frames += occurrences(came, b"\x1b[?2026h");
        now.seen.clears += occurrences(came, b"\x1b[2J") + occurrences(came, b"\x1b[3J");
        let (row, col) = now.parser.screen().cursor_position();
        drop(now);
        changed.notify_all();
        for _ in 0..occurrences(came, b"\x1b[6n") {
            let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
            let _gone = write!(keys, "\x1b[{};{}R", row + 1, col + 1);
        }
    }
}

fn occurrences(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).filter(|window| *window == wanted).count()
}

/// An agent's stream on its way into a session.
pub(super) struct Source {
    tee: Child,
    input: ChildStdin,
}

impl Source {
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        let delta = serde_json::json!({ "choices": [{ "delta": { "content": text } }] });
        write!(self.input, "data: {delta}\n\n")?;
        self.input.flush()
    }

    pub(super) fn end(mut self) -> io::Result<()> {
        self.input.write_all(
            b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        )?;
        drop(self.input);
        self.tee.wait().map(drop)
    }
}
