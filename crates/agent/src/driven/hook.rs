//! Permissions of an agent that cannot ask for any: before each tool it runs a hook, and the hook asks
//! here.
//!
//! The hook is this program again, which hands what it is told through a socket that only this user
//! can open, and prints what comes back. Whatever goes wrong on the way is a refusal.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::event::{AskKind, AskOption};
use engine::run::{Asking, Writer};
use gateway::clock::random;
use gateway::digest::Digest;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use crate::approval::{self, exactly};
use crate::limits::{ASK_EXPIRES_AFTER, FILE_BYTES_MAX};

use super::protocol::Decision;

/// Tools that only look, of agents that run hooks.
const LOOKING: [&str; 8] = [
    "get_internal_docs",
    "glob",
    "grep_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "search_file_content",
    "write_todos",
];

/// Hooks that may wait for the log.
const WAITING_MAX: usize = 16;

/// A hook that waits to be told what to do.
#[derive(Debug)]
pub(super) struct Asked {
    tool: String,
    input: Value,
    stream: UnixStream,
}

#[derive(Deserialize)]
struct Told {
    hook_event_name: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
}

#[derive(Debug)]
pub(super) struct Hooks {
    folder: Folder,
    asked: mpsc::Receiver<Asked>,
    run: Arc<AtomicBool>,
    pending: BTreeMap<String, UnixStream>,
    count: u32,
}

/// A folder that nobody else can look into; it goes with its owner.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "a folder of hooks is left behind");
        }
    }
}

impl Folder {
    fn new() -> io::Result<Folder> {
        let name = Digest(random().map_err(io::Error::other)?).to_string();
        let path = std::env::temp_dir().join(format!("millpond-{}", &name[..16]));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }
}

impl Hooks {
    pub(super) fn open() -> io::Result<Hooks> {
        let folder = Folder::new()?;
        let listener = UnixListener::bind(folder.0.join(SOCKET))?;
        let (sender, asked) = mpsc::channel(WAITING_MAX);
        let run = Arc::default();
        tokio::spawn(accept(listener, sender, Arc::clone(&run)));
        Ok(Hooks { folder, asked, run, pending: BTreeMap::new(), count: 0 })
    }

    /// Where the hooks of this run ask.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.0.join(SOCKET)
    }

    /// Whether the agent has shown that it runs hooks.
    pub(super) fn are_run(&self) -> bool {
        self.run.load(Ordering::SeqCst)
    }

    /// The next hook that waits.
    pub(super) async fn next(&mut self) -> Option<Asked> {
        self.asked.recv().await
    }

    /// Asks a person. The name of the ask is known to whoever answers.
    pub(super) fn ask(&mut self, asked: Asked, out: &mut Writer<'_>) {
        self.count += 1;
        let id = format!("hook-{}", self.count);
        let (kind, text) = match command_alone(&asked) {
            Some(command) => (AskKind::Command, command.to_owned()),
            None => (AskKind::Tool, format!("{} {}", asked.tool, asked.input)),
        };
        let option = |id: &'static str, label: &'static str| AskOption {
            id: id.into(),
            label: label.into(),
        };
        out.open_ask(Asking {
            ask: &id,
            kind,
            text: &exactly(&text),
            options: vec![option("allow", "Allow once"), option("deny", "Deny")],
            step: out.last_step(),
            digest: None,
            expires_at_ms: None,
        });
        self.pending.insert(id, asked.stream);
    }

    pub(super) fn has(&self, ask: &str) -> bool {
        self.pending.contains_key(ask)
    }

    /// Tells the hook. Nothing if it does not wait, or this is no answer.
    pub(super) fn answer(&mut self, ask: &str, decision: Decision<'_>) -> Option<Reply> {
        let said = match decision {
            Decision::Allow => approval::Said::Allow,
            Decision::Deny => approval::Said::Deny(Some("Nobody answered in time.".to_owned())),
            Decision::Said(words) => approval::read(words)?,
        };
        let allowed = match said {
            approval::Said::Allow => Ok(()),
            approval::Said::Deny(why) => Err(why.unwrap_or_else(|| REFUSED.to_owned())),
            approval::Said::Always => return None,
        };
        Some(Reply { stream: self.pending.remove(ask)?, allowed })
    }
}

/// The command of a shell tool that is told nothing else that matters.
fn command_alone(asked: &Asked) -> Option<&str> {
    let members = asked.input.as_object().filter(|_| asked.tool == "run_shell_command")?;
    let is_known = |name: &String| ["command", "description"].contains(&name.as_str());
    if !members.keys().all(is_known) {
        return None;
    }
    members.get("command")?.as_str()
}

const REFUSED: &str = "The person did not allow this.";

/// What a hook is told, once that is written down.
#[derive(Debug)]
pub(super) struct Reply {
    stream: UnixStream,
    allowed: Result<(), String>,
}

impl Asked {
    /// It changes nothing and sends nothing.
    pub(super) fn only_looks(&self) -> bool {
        LOOKING.contains(&self.tool.as_str())
    }

    pub(super) fn allowed(self) -> Reply {
        Reply { stream: self.stream, allowed: Ok(()) }
    }
}

impl Reply {
    pub(super) async fn send(mut self) {
        let words = match self.allowed {
            Ok(()) => json!({"decision": "allow"}),
            Err(why) => json!({"decision": "deny", "reason": why}),
        };
        // A hook that has gone needs no answer.
        let _gone = self.stream.write_all(words.to_string().as_bytes()).await;
    }
}

async fn accept(listener: UnixListener, asked: mpsc::Sender<Asked>, run: Arc<AtomicBool>) {
    loop {
        let stream = tokio::select! {
            () = asked.closed() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => return,
            },
        };
        let (asked, run) = (asked.clone(), Arc::clone(&run));
        tokio::spawn(async move {
            // What is dropped reads nothing, and that is a refusal.
            let Some((event, hook)) = hear(stream).await else { return };
            if event == BEGINNING {
                run.store(true, Ordering::SeqCst);
                hook.allowed().send().await;
            } else {
                let _gone = asked.send(hook).await;
            }
        });
    }
}

async fn hear(mut stream: UnixStream) -> Option<(String, Asked)> {
    let mut told = Vec::new();
    (&mut stream).take(FILE_BYTES_MAX).read_to_end(&mut told).await.ok()?;
    let Told { hook_event_name, tool_name, tool_input } = serde_json::from_slice(&told).ok()?;
    Some((hook_event_name, Asked { tool: tool_name, input: tool_input, stream }))
}

/// Puts the hooks into the settings of a HOME that is the agent's own.
pub(super) fn into_gemini_settings(home: &Path, helper: &[String]) -> io::Result<()> {
    static WRITING: Mutex<()> = Mutex::new(());
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = home.join(".gemini/settings.json");
    let mut settings = match std::fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).map_err(io::Error::other)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => json!({}),
        Err(error) => return Err(error),
    };
    let command: Vec<String> = helper.iter().map(|word| quoted(word)).collect();
    // A hook that could not be run at all would else be passed over.
    let command = format!("{} \"${VARIABLE}\" || exit 2", command.join(" "));
    let lasts = u64::try_from(ASK_EXPIRES_AFTER.as_millis()).unwrap_or(u64::MAX);
    let hook = json!({
        "type": "command",
        "name": "millpond",
        "command": command,
        "timeout": lasts + 60_000,
    });
    let is_object = |value: &Value| value.is_null() || value.is_object();
    let known = ["/hooksConfig", "/hooks"].iter().filter_map(|path| settings.pointer(path));
    if !settings.is_object() || !known.into_iter().all(is_object) {
        return Err(io::Error::other(format!("{} is not as it should be", file.display())));
    }
    settings["hooksConfig"]["enabled"] = true.into();
    for event in [BEGINNING, "BeforeTool"] {
        let others = settings["hooks"][event].as_array().cloned().unwrap_or_default();
        let is_ours = |hook: &Value| hook.pointer("/hooks/0/name") == Some(&"millpond".into());
        let mut hooks: Vec<Value> = others.into_iter().filter(|hook| !is_ours(hook)).collect();
        hooks.push(json!({"matcher": "*", "hooks": [hook]}));
        settings["hooks"][event] = hooks.into();
    }
    std::fs::create_dir_all(home.join(".gemini"))?;
    let text = settings.to_string();
    // Written whole, or not at all: another run may be reading it.
    let new = home.join(format!(".gemini/settings.json.{}", std::process::id()));
    std::fs::write(&new, text)?;
    std::fs::rename(new, file)
}

/// The event that comes before all others.
const BEGINNING: &str = "SessionStart";
/// The variable that tells hooks where to ask.
pub(super) const VARIABLE: &str = "MILLPOND_HOOK";
const SOCKET: &str = "socket";

/// A word for the shell, as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The other end: run by the agent, with what it is about to do on standard input.
pub fn hook(socket: &Path) -> ExitCode {
    match ask(socket) {
        Ok(decision) if !decision.is_empty() => {
            let printed = io::stdout().write_all(&decision);
            if printed.is_ok() { ExitCode::SUCCESS } else { BLOCK.into() }
        }
        Ok(_) | Err(_) => BLOCK.into(),
    }
}

/// The exit status by which a hook refuses.
const BLOCK: u8 = 2;

fn ask(socket: &Path) -> io::Result<Vec<u8>> {
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    let mut told = Vec::new();
    io::stdin().read_to_end(&mut told)?;
    stream.write_all(&told)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut decision = Vec::new();
    stream.read_to_end(&mut decision)?;
    Ok(decision)
}
