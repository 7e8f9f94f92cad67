//! Running the binary.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) fn millpond(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millpond"));
    command.args(args).env_remove("STREAM_DEBUG").stdin(Stdio::null());
    command
}

/// What one run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: i32,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            status: output.status.code().unwrap(),
        }
    }
}

pub(crate) fn run(args: &[&str]) -> Ran {
    millpond(args).output().unwrap().into()
}

/// Runs with `input` on standard input.
pub(crate) fn run_with(args: &[&str], input: &[u8]) -> Ran {
    finish_with(&mut millpond(args), input)
}

pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a command to its end, with `input` on standard input.
pub(crate) fn finish_with(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = spawn(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may have read enough before all is written.
        let _ = stdin.write_all(&input);
    });
    let ran = child.wait_with_output().unwrap().into();
    writer.join().unwrap();
    ran
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// A chat stream of these text deltas, with its end.
pub(crate) fn chat(deltas: &[&str]) -> Vec<u8> {
    let mut stream = chat_without_end(deltas);
    stream.extend_from_slice(
        b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    stream
}

pub(crate) fn chat_without_end(deltas: &[&str]) -> Vec<u8> {
    let mut stream = Vec::new();
    for delta in deltas {
        let chunk = serde_json::json!({"object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": delta}}]});
        writeln!(stream, "data: {chunk}\n").unwrap();
    }
    stream
}
