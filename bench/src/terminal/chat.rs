//! A chat in a pseudo-terminal, the gateway it uses, and an agent stream sent to that gateway.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use tempfile::TempDir;

const SIZE: PtySize = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
const WAIT_MAX: Duration = Duration::from_mins(1);

/// Gateway process with a temporary folder; killed on drop.
pub(super) struct TestGateway {
    program: PathBuf,
    home: TempDir,
    gateway: Option<Child>,
    address: String,
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        if let Some(gateway) = &mut self.gateway {
            let _ended = gateway.kill();
            let _status = gateway.wait();
        }
    }
}

impl TestGateway {
    pub(super) fn start(program: PathBuf) -> io::Result<TestGateway> {
        let mut server = TestGateway {
            program: std::path::absolute(program)?,
            home: tempfile::tempdir()?,
            gateway: None,
            address: String::new(),
        };
        let mut command = server.millpond_command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines =
            BufReader::new(child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?).lines();
        for line in lines.by_ref() {
            if let Some((_, url)) = line?.split_once("listening on ") {
                url.trim_start_matches("http://").clone_into(&mut server.address);
                break;
            }
        }
        std::thread::spawn(move || lines.for_each(drop));
        server.gateway = Some(child);
        Ok(server)
    }

    /// Data folder with `count` sessions and no running gateway.
    pub(super) fn create_stopped_with_sessions(&self, count: usize) -> io::Result<TestGateway> {
        let mut server = TestGateway::start(self.program.clone())?;
        for number in 0..count {
            server.post("/v1/sessions", &format!("{{\"title\":\"session {number}\"}}"))?;
        }
        if let Some(mut gateway) = server.gateway.take() {
            Command::new("kill").arg(gateway.id().to_string()).status()?;
            gateway.wait()?;
        }
        Ok(server)
    }

    fn data_folder(&self) -> PathBuf {
        self.home.path().join("data")
    }

    fn millpond_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).arg("--data").arg(self.data_folder());
        command.current_dir(self.home.path()).env("HOME", self.home.path());
        command
    }

    fn post(&self, path: &str, body: &str) -> io::Result<String> {
        let token = std::fs::read_to_string(self.data_folder().join("token"))?;
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

    fn create_session(&self) -> io::Result<String> {
        let answer = self.post("/v1/sessions", "{\"title\":\"bench\"}")?;
        let id = answer.split_once("\"id\":\"").and_then(|(_, rest)| rest.split_once('"'));
        id.map(|(id, _)| id.to_owned()).ok_or_else(|| io::Error::other(answer.clone()))
    }
}

/// Counts of the output sent to the terminal so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutputStats {
    pub(super) bytes: usize,
    pub(super) frames: usize,
    pub(super) clears: usize,
}

struct WatchedScreen {
    stats: OutputStats,
    parser: vt100::Parser,
}

type SharedScreen = Arc<(Mutex<WatchedScreen>, Condvar)>;

/// Chat process in a pseudo-terminal; killed on drop.
pub(super) struct TerminalChat<'a> {
    gateway: &'a TestGateway,
    session: String,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    keys: Arc<Mutex<Box<dyn Write + Send>>>,
    screen: SharedScreen,
    typed: String,
    _master: Box<dyn MasterPty + Send>,
}

impl Drop for TerminalChat<'_> {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

impl<'a> TerminalChat<'a> {
    /// Starts a chat on a new session of a running gateway.
    pub(super) fn spawn_on_new_session(gateway: &'a TestGateway) -> io::Result<TerminalChat<'a>> {
        let session = gateway.create_session()?;
        let mut chat = TerminalChat::spawn(gateway, &["-r", &session])?;
        chat.session.clone_from(&session);
        chat.wait_for_text("Write a message")?;
        Ok(chat)
    }

    /// Starts a chat with an embedded gateway.
    pub(super) fn spawn_with_embedded_gateway(
        gateway: &'a TestGateway,
    ) -> io::Result<TerminalChat<'a>> {
        TerminalChat::spawn(gateway, &["chat"])
    }

    fn spawn(gateway: &'a TestGateway, args: &[&str]) -> io::Result<TerminalChat<'a>> {
        let pair = native_pty_system().openpty(SIZE).map_err(io::Error::other)?;
        let mut command = CommandBuilder::new(&gateway.program);
        command.args(args);
        command.arg("--data");
        command.arg(gateway.data_folder());
        command.cwd(gateway.home.path());
        command.env("HOME", gateway.home.path());
        command.env("TERM", "xterm-256color");
        for unwanted in ["TMUX", "NO_COLOR", "ZELLIJ", "WT_SESSION"] {
            command.env_remove(unwanted);
        }
        let child = pair.slave.spawn_command(command).map_err(io::Error::other)?;
        drop(pair.slave);
        let parser = vt100::Parser::new(SIZE.rows, SIZE.cols, 0);
        let screen: SharedScreen = Arc::new((
            Mutex::new(WatchedScreen { stats: OutputStats::default(), parser }),
            Condvar::new(),
        ));
        let keys = Arc::new(Mutex::new(pair.master.take_writer().map_err(io::Error::other)?));
        let reader = pair.master.try_clone_reader().map_err(io::Error::other)?;
        let (watched, replies) = (Arc::clone(&screen), Arc::clone(&keys));
        std::thread::spawn(move || watch_output_and_reply(reader, &watched, &replies));
        let (session, written) = (String::new(), String::new());
        Ok(TerminalChat {
            gateway,
            session,
            child,
            keys,
            screen,
            typed: written,
            _master: pair.master,
        })
    }

    pub(super) fn spawn_stream_source(&self) -> io::Result<StreamSource> {
        let url = format!("http://{}", self.gateway.address);
        let mut command = self.gateway.millpond_command(&["tee", &url, "--session", &self.session]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut tee = command.spawn()?;
        let input = tee.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(StreamSource { tee, input })
    }

    pub(super) fn output_stats(&self) -> OutputStats {
        self.screen.0.lock().unwrap_or_else(PoisonError::into_inner).stats
    }

    /// Waits until the screen contains the text.
    pub(super) fn wait_for_text(&mut self, words: &str) -> io::Result<()> {
        let (screen, changed) = &*self.screen;
        let end = Instant::now() + WAIT_MAX;
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

    pub(super) fn text_typed_so_far(&self) -> &str {
        &self.typed
    }

    /// Sends keys and waits until the prompt shows `written`.
    pub(super) fn press_keys_and_await_prompt(
        &mut self,
        keys: &str,
        written: &str,
    ) -> io::Result<()> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).write_all(keys.as_bytes())?;
        written.clone_into(&mut self.typed);
        self.wait_for_text(&format!("› {written}"))
    }

    pub(super) fn cpu_time(&self) -> io::Result<Duration> {
        let tasks = std::fs::read_dir(self.proc_path("task")?)?;
        let mut nanos = 0;
        for task in tasks {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            nanos += text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Resident memory in megabytes.
    pub(super) fn resident_mb(&self) -> io::Result<f64> {
        let status = std::fs::read_to_string(self.proc_path("status")?)?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line
            .and_then(|line| line.split_whitespace().next())
            .and_then(|kib| kib.parse::<f64>().ok());
        Ok(kib.unwrap_or_default() / 1e3)
    }

    fn proc_path(&self, name: &str) -> io::Result<PathBuf> {
        let id = self.child.process_id().ok_or(io::ErrorKind::NotFound)?;
        Ok(Path::new("/proc").join(id.to_string()).join(name))
    }
}

/// Reads the output to its end, counts it, and replies to cursor report requests.
fn watch_output_and_reply(
    mut reader: Box<dyn Read + Send>,
    screen: &SharedScreen,
    keys: &Mutex<Box<dyn Write + Send>>,
) {
    let mut bytes = vec![0; 65_536];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        let chunk = &bytes[..count];
        let (screen, changed) = &**screen;
        let mut now = screen.lock().unwrap_or_else(PoisonError::into_inner);
        now.parser.process(chunk);
        now.stats.bytes += count;
        now.stats.frames += count_occurrences(chunk, b"\x1b[?2026h");
        now.stats.clears +=
            count_occurrences(chunk, b"\x1b[2J") + count_occurrences(chunk, b"\x1b[3J");
        let (row, col) = now.parser.screen().cursor_position();
        drop(now);
        changed.notify_all();
        for _ in 0..count_occurrences(chunk, b"\x1b[6n") {
            let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
            let _gone = write!(keys, "\x1b[{};{}R", row + 1, col + 1);
        }
    }
}

fn count_occurrences(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).filter(|window| *window == wanted).count()
}

/// Agent stream sent into a session through `millpond tee`.
pub(super) struct StreamSource {
    tee: Child,
    input: ChildStdin,
}

impl StreamSource {
    pub(super) fn send_text(&mut self, text: &str) -> io::Result<()> {
        let delta = serde_json::json!({ "choices": [{ "delta": { "content": text } }] });
        write!(self.input, "data: {delta}\n\n")?;
        self.input.flush()
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.input.write_all(
            b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        )?;
        drop(self.input);
        self.tee.wait().map(drop)
    }
}
