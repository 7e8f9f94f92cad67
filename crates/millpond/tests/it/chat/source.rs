//! An agent's stream on its way into a session while somebody watches.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::gateway::process::{Process, alone, data};

/// A stream on its way into a session, piece by piece.
pub(crate) struct Source {
    tee: Child,
    input: ChildStdin,
}

impl Source {
    pub(crate) fn start(process: &Process, home: &Path, session: Option<&str>) -> Source {
        let (url, data) = (format!("http://{}", process.address), data(home));
        let mut args = vec!["tee", &url, "--data", data.to_str().unwrap()];
        args.extend(session.map(|session| ["--session", session]).into_iter().flatten());
        let mut command = alone(&args, home);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut tee = command.spawn().unwrap();
        let input = tee.stdin.take().unwrap();
        Source { tee, input }
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.frame(&serde_json::json!({ "choices": [{ "delta": { "content": text } }] }));
    }

    /// One frame as the provider sends it.
    pub(crate) fn frame(&mut self, frame: &serde_json::Value) {
        write!(self.input, "data: {frame}\n\n").unwrap();
        self.input.flush().unwrap();
    }

    /// Ends the run; gives the session.
    pub(crate) fn end(mut self) -> String {
        let end =
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        self.input.write_all(end.as_bytes()).unwrap();
        drop(self.input);
        let said = String::from_utf8(self.tee.wait_with_output().unwrap().stderr).unwrap();
        let (_, session) = said.split_once("session ").unwrap_or_else(|| panic!("{said}"));
        session.split(',').next().unwrap().to_owned()
    }
}
