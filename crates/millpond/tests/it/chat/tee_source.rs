//! A live agent stream, sent into a session with `millpond tee`.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::gateway::process::{GatewayProcess, data_folder, isolated_command};

/// Stream sent piece by piece through a `millpond tee` process.
pub(crate) struct TeeSource {
    tee: Child,
    input: ChildStdin,
}

impl TeeSource {
    /// Starts `millpond tee` for a new or an existing session.
    pub(crate) fn start(process: &GatewayProcess, home: &Path, session: Option<&str>) -> TeeSource {
        let (url, data) = (format!("http://{}", process.address), data_folder(home));
        let mut args = vec!["tee", &url, "--data", data.to_str().unwrap()];
        args.extend(session.map(|session| ["--session", session]).into_iter().flatten());
        let mut command = isolated_command(&args, home);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut tee = command.spawn().unwrap();
        let input = tee.stdin.take().unwrap();
        TeeSource { tee, input }
    }

    /// Sends one text delta.
    pub(crate) fn send_text(&mut self, text: &str) {
        self.send_frame(&serde_json::json!({ "choices": [{ "delta": { "content": text } }] }));
    }

    /// Sends one frame as the provider does.
    pub(crate) fn send_frame(&mut self, frame: &serde_json::Value) {
        write!(self.input, "data: {frame}\n\n").unwrap();
        self.input.flush().unwrap();
    }

    /// Ends the run and returns the session's ID.
    pub(crate) fn finish(mut self) -> String {
        let end =
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        self.input.write_all(end.as_bytes()).unwrap();
        drop(self.input);
        let stderr = String::from_utf8(self.tee.wait_with_output().unwrap().stderr).unwrap();
        let (_, session) = stderr.split_once("session ").unwrap_or_else(|| panic!("{stderr}"));
        session.split(',').next().unwrap().to_owned()
    }
}
