//! Runs the `millpond` binary and builds input streams.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Longest wait for anything to happen. Only a test that fails waits so long.
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(2);

/// Time between two looks at a state that announces no changes.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Looks until there is a value and returns it; panics with `failure` after `WAIT_MAX`.
#[track_caller]
pub(crate) fn poll<T>(mut look: impl FnMut() -> Option<T>, failure: impl FnOnce() -> String) -> T {
    let end = Instant::now() + WAIT_MAX;
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(Instant::now() < end, "{}", failure());
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Command that runs `millpond` with an empty standard input.
pub(crate) fn millpond_command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millpond"));
    command.args(args).env_remove("STREAM_DEBUG").stdin(Stdio::null());
    command
}

/// Output and exit status of a finished program.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: i32,
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> ProgramOutput {
        ProgramOutput {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            status: output.status.code().unwrap(),
        }
    }
}

/// Runs `millpond` to its end.
/// Sends a signal. Not with the `kill` program, which minimal systems do not have.
pub(crate) fn send_signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, signal).unwrap();
}

/// True if git is installed, which checkpoints need; prints what is skipped if it is not.
pub(crate) fn has_git() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok();
    if !found {
        println!("skipped: checkpoints need git. To install: sudo apt-get install git");
    }
    found
}

pub(crate) fn run_millpond(args: &[&str]) -> ProgramOutput {
    millpond_command(args).output().unwrap().into()
}

/// Runs `millpond` with `input` on standard input.
pub(crate) fn run_with_input(args: &[&str], input: &[u8]) -> ProgramOutput {
    run_command_with_input(&mut millpond_command(args), input)
}

/// Starts a command with all standard streams piped.
pub(crate) fn spawn_piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a command to its end, with `input` on standard input.
pub(crate) fn run_command_with_input(command: &mut Command, input: &[u8]) -> ProgramOutput {
    let mut child = spawn_piped(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may close its input early.
        let _ = stdin.write_all(&input);
    });
    let ran = child.wait_with_output().unwrap().into();
    writer.join().unwrap();
    ran
}

/// Path of a file in `fixtures/`.
pub(crate) fn fixture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// OpenAI chat stream of these text deltas, with its end marker.
pub(crate) fn chat_stream(deltas: &[&str]) -> Vec<u8> {
    let mut stream = unfinished_chat_stream(deltas);
    stream.extend_from_slice(
        b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    stream
}

/// OpenAI chat stream of these text deltas, without an end marker.
pub(crate) fn unfinished_chat_stream(deltas: &[&str]) -> Vec<u8> {
    let mut stream = Vec::new();
    for delta in deltas {
        let chunk = serde_json::json!({"object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": delta}}]});
        writeln!(stream, "data: {chunk}\n").unwrap();
    }
    stream
}
