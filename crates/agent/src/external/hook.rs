//! Approvals for an agent that asks only through hooks: it runs a hook before each tool, and the
//! hook asks here.
//!
//! The hook is this program's `internal-agent-hook` command. It forwards its input through a Unix socket that only
//! this user can open, and prints the reply. Any error on the way denies the tool.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use millpond_engine::event::{AskKind, AskOption};
use millpond_engine::run::{NewAsk, Writer};
use millpond_log::clock::random_bytes;
use millpond_log::digest::Digest;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use crate::approval::{self, escape_invisible_chars};
use crate::limits::{ASK_EXPIRES_AFTER, FILE_BYTES_MAX};

use super::protocol::Decision;

/// Gemini CLI's tools that change and send nothing.
const READ_ONLY_TOOLS: [&str; 8] = [
    "get_internal_docs",
    "glob",
    "grep_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "search_file_content",
    "write_todos",
];

/// Hook requests buffered before they are handled.
const HOOK_REQUESTS_QUEUED_MAX: usize = 16;

/// A hook process that waits for a decision.
#[derive(Debug)]
pub(super) struct HookRequest {
    tool: String,
    input: Value,
    stream: UnixStream,
}

/// The hook's JSON input.
#[derive(Deserialize)]
struct HookInput {
    hook_event_name: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
}

/// Socket server for the hooks of one run.
#[derive(Debug)]
pub(super) struct HookServer {
    folder: PrivateTempFolder,
    requests: mpsc::Receiver<HookRequest>,
    session_started: Arc<AtomicBool>,
    open_connections: BTreeMap<String, UnixStream>,
    ask_count: u32,
}

/// Temporary folder with mode 0700; removed on drop.
#[derive(Debug)]
struct PrivateTempFolder(PathBuf);

impl Drop for PrivateTempFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "cannot remove the hook folder");
        }
    }
}

impl PrivateTempFolder {
    fn create() -> io::Result<PrivateTempFolder> {
        let name = Digest(random_bytes().map_err(io::Error::other)?).to_string();
        let path = std::env::temp_dir().join(format!("millpond-{}", &name[..16]));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(PrivateTempFolder(path))
    }
}

impl HookServer {
    /// Creates the socket and accepts connections in the background.
    pub(super) fn bind_and_start_accepting() -> io::Result<HookServer> {
        let folder = PrivateTempFolder::create()?;
        let listener = UnixListener::bind(folder.0.join(SOCKET_FILE_NAME))?;
        let (sender, requests) = mpsc::channel(HOOK_REQUESTS_QUEUED_MAX);
        let run = Arc::default();
        tokio::spawn(accept_hook_connections(listener, sender, Arc::clone(&run)));
        Ok(HookServer {
            folder,
            requests,
            session_started: run,
            open_connections: BTreeMap::new(),
            ask_count: 0,
        })
    }

    /// Path of the socket.
    pub(super) fn socket_path(&self) -> PathBuf {
        self.folder.0.join(SOCKET_FILE_NAME)
    }

    /// True once the agent has run its session-start hook.
    pub(super) fn has_session_start_hook_run(&self) -> bool {
        self.session_started.load(Ordering::SeqCst)
    }

    /// Waits for the next hook request.
    pub(super) async fn next_request(&mut self) -> Option<HookRequest> {
        self.requests.recv().await
    }

    /// Opens an ask for the request and keeps its connection until the answer.
    pub(super) fn open_ask(&mut self, request: HookRequest, out: &mut Writer<'_>) {
        self.ask_count += 1;
        let id = format!("hook-{}", self.ask_count);
        let (kind, text) = match shell_command_if_sole_argument(&request) {
            Some(command) => (AskKind::Command, command.to_owned()),
            None => (AskKind::Tool, format!("{} {}", request.tool, request.input)),
        };
        let option = |id: &'static str, label: &'static str| AskOption {
            id: id.into(),
            label: label.into(),
        };
        out.open_ask_unless_open(NewAsk {
            id: &id,
            kind,
            text: &escape_invisible_chars(&text),
            options: vec![option("allow", "Allow once"), option("deny", "Deny")],
            // The hook does not say which of several started calls it is for.
            step: None,
            digest: None,
            expires_at_ms: None,
        });
        self.open_connections.insert(id, request.stream);
    }

    /// True if this ask belongs to a waiting hook.
    pub(super) fn has_open_ask(&self, ask: &str) -> bool {
        self.open_connections.contains_key(ask)
    }

    /// Takes the waiting hook of an ask and its reply. `None` if there is none, or the answer is
    /// not an option.
    pub(super) fn try_take_reply_for(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
    ) -> Option<HookReply> {
        let answer = match decision {
            Decision::Allow => approval::ApprovalAnswer::Allow,
            Decision::Deny => approval::ApprovalAnswer::Deny(Some("No answer in time.".to_owned())),
            Decision::Answer(answer) => approval::parse_answer(answer)?,
        };
        let allowed = match answer {
            approval::ApprovalAnswer::Allow => Ok(()),
            approval::ApprovalAnswer::Deny(reason) => {
                Err(reason.unwrap_or_else(|| DENIED_MESSAGE.to_owned()))
            }
            approval::ApprovalAnswer::Always => return None,
        };
        Some(HookReply { stream: self.open_connections.remove(ask)?, decision: allowed })
    }
}

/// The shell command, if the call has no other arguments that matter.
fn shell_command_if_sole_argument(request: &HookRequest) -> Option<&str> {
    let members = request.input.as_object().filter(|_| request.tool == "run_shell_command")?;
    let is_known = |name: &String| ["command", "description"].contains(&name.as_str());
    if !members.keys().all(is_known) {
        return None;
    }
    members.get("command")?.as_str()
}

const DENIED_MESSAGE: &str = "Denied by user.";

/// Decision for a waiting hook, sent after it is logged.
#[derive(Debug)]
pub(super) struct HookReply {
    stream: UnixStream,
    decision: Result<(), String>,
}

impl HookRequest {
    /// True if the tool changes and sends nothing.
    pub(super) fn is_read_only(&self) -> bool {
        READ_ONLY_TOOLS.contains(&self.tool.as_str())
    }

    /// Reply that allows the tool.
    pub(super) fn into_allow_reply(self) -> HookReply {
        HookReply { stream: self.stream, decision: Ok(()) }
    }
}

impl HookReply {
    /// Writes the decision to the hook.
    pub(super) async fn send(mut self) {
        let reply = match self.decision {
            Ok(()) => json!({"decision": "allow"}),
            Err(reason) => json!({"decision": "deny", "reason": reason}),
        };
        // The hook process may have exited.
        let _gone = self.stream.write_all(reply.to_string().as_bytes()).await;
    }
}

/// Accepts hook connections until the run is over.
async fn accept_hook_connections(
    listener: UnixListener,
    sender: mpsc::Sender<HookRequest>,
    run: Arc<AtomicBool>,
) {
    loop {
        let stream = tokio::select! {
            () = sender.closed() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => return,
            },
        };
        let (sender, run) = (sender.clone(), Arc::clone(&run));
        tokio::spawn(async move {
            // On error the connection is dropped; the hook reads nothing and denies.
            let Some((event, hook)) = read_hook_request(stream).await else { return };
            if event == SESSION_START_EVENT {
                run.store(true, Ordering::SeqCst);
                hook.into_allow_reply().send().await;
            } else {
                let _gone = sender.send(hook).await;
            }
        });
    }
}

/// Reads a hook's input; returns the event's name and the request.
async fn read_hook_request(mut stream: UnixStream) -> Option<(String, HookRequest)> {
    let mut input = Vec::new();
    (&mut stream).take(FILE_BYTES_MAX).read_to_end(&mut input).await.ok()?;
    let HookInput { hook_event_name, tool_name, tool_input } =
        serde_json::from_slice(&input).ok()?;
    Some((hook_event_name, HookRequest { tool: tool_name, input: tool_input, stream }))
}

/// Writes the hooks into Gemini CLI's settings below `home`.
pub(super) fn install_in_gemini_settings(home: &Path, helper_command: &[String]) -> io::Result<()> {
    static WRITING: Mutex<()> = Mutex::new(());
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = home.join(".gemini/settings.json");
    let mut settings = match std::fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).map_err(io::Error::other)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => json!({}),
        Err(error) => return Err(error),
    };
    let command: Vec<String> =
        helper_command.iter().map(|argument| quote_for_shell(argument)).collect();
    // Gemini CLI ignores a hook that cannot be run, unless it exits with 2.
    let command = format!("{} \"${SOCKET_VARIABLE}\" || exit 2", command.join(" "));
    let timeout_ms = u64::try_from(ASK_EXPIRES_AFTER.as_millis()).unwrap_or(u64::MAX);
    let hook = json!({
        "type": "command",
        "name": "millpond",
        "command": command,
        "timeout": timeout_ms + 60_000,
    });
    let is_object = |value: &Value| value.is_null() || value.is_object();
    let hook_settings = ["/hooksConfig", "/hooks"].iter().filter_map(|path| settings.pointer(path));
    if !settings.is_object() || !hook_settings.into_iter().all(is_object) {
        return Err(io::Error::other(format!("{} has an unexpected structure", file.display())));
    }
    settings["hooksConfig"]["enabled"] = true.into();
    for event in [SESSION_START_EVENT, "BeforeTool"] {
        let others = settings["hooks"][event].as_array().cloned().unwrap_or_default();
        let is_own_hook = |hook: &Value| hook.pointer("/hooks/0/name") == Some(&"millpond".into());
        let mut hooks: Vec<Value> = others.into_iter().filter(|hook| !is_own_hook(hook)).collect();
        hooks.push(json!({"matcher": "*", "hooks": [hook]}));
        settings["hooks"][event] = hooks.into();
    }
    std::fs::create_dir_all(home.join(".gemini"))?;
    let text = settings.to_string();
    // Written atomically: another run may be reading it.
    let new_file = home.join(format!(".gemini/settings.json.{}", std::process::id()));
    std::fs::write(&new_file, text)?;
    std::fs::rename(new_file, file)
}

/// Hook event at the start of a session.
const SESSION_START_EVENT: &str = "SessionStart";
/// Environment variable with the socket's path.
pub(super) const SOCKET_VARIABLE: &str = "MILLPOND_HOOK";
const SOCKET_FILE_NAME: &str = "socket";

/// Quotes a word for the shell.
fn quote_for_shell(argument: &str) -> String {
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// The `hook` command, run by the agent: forwards standard input to the socket and prints the
/// decision.
pub fn relay_stdin_and_print_decision(socket: &Path) -> ExitCode {
    match send_stdin_and_read_reply(socket) {
        Ok(decision) if !decision.is_empty() => {
            let printed = io::stdout().write_all(&decision);
            if printed.is_ok() { ExitCode::SUCCESS } else { BLOCK_EXIT_STATUS.into() }
        }
        Ok(_) | Err(_) => BLOCK_EXIT_STATUS.into(),
    }
}

/// Exit status by which a hook denies.
const BLOCK_EXIT_STATUS: u8 = 2;

/// Sends standard input to the socket and reads the reply.
fn send_stdin_and_read_reply(socket: &Path) -> io::Result<Vec<u8>> {
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input)?;
    stream.write_all(&input)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut decision = Vec::new();
    stream.read_to_end(&mut decision)?;
    Ok(decision)
}
