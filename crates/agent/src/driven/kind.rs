//! The agents that are known: how each is started, and how it is talked to.

use engine::ingest::DialectName;

use super::acp::Acp;
use super::claude::Claude;
use super::codex::Codex;
use super::opencode::Opencode;
use super::protocol::{Protocol, Turn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Claude,
    /// By its app-server, which asks.
    Codex,
    CodexExec,
    Gemini,
    Qwen,
    /// By its server, which asks.
    Opencode,
    OpencodeRun,
    CursorAgent,
    /// Whatever speaks the Agent Client Protocol.
    Acp,
    /// Whatever prints a stream.
    Command,
}

/// Who says that a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Talk {
    /// The agent takes one prompt, prints, and ends.
    Printed,
    /// Lines go both ways.
    Lines,
    /// It runs a server.
    Server,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Claude,
        Kind::Codex,
        Kind::CodexExec,
        Kind::Gemini,
        Kind::Qwen,
        Kind::Opencode,
        Kind::OpencodeRun,
        Kind::CursorAgent,
        Kind::Acp,
        Kind::Command,
    ];

    /// As a profile names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Claude => "claude",
            Kind::Codex => "codex",
            Kind::CodexExec => "codex-exec",
            Kind::Gemini => "gemini",
            Kind::Qwen => "qwen",
            Kind::Opencode => "opencode",
            Kind::OpencodeRun => "opencode-run",
            Kind::CursorAgent => "cursor-agent",
            Kind::Acp => "acp",
            Kind::Command => "command",
        }
    }

    /// As the log names it; no dialect is called so.
    pub fn agent_name(self) -> &'static str {
        match self {
            Kind::Claude => "agent-claude",
            Kind::Codex => "agent-codex",
            Kind::CodexExec => "agent-codex-exec",
            Kind::Gemini => "agent-gemini",
            Kind::Qwen => "agent-qwen",
            Kind::Opencode => "agent-opencode",
            Kind::OpencodeRun => "agent-opencode-run",
            Kind::CursorAgent => "agent-cursor",
            Kind::Acp => "agent-acp",
            Kind::Command => "agent-command",
        }
    }

    /// The program that is looked for; those without one must be told.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Kind::Claude => Some("claude"),
            Kind::Codex | Kind::CodexExec => Some("codex"),
            Kind::Gemini => Some("gemini"),
            Kind::Qwen => Some("qwen"),
            Kind::Opencode | Kind::OpencodeRun => Some("opencode"),
            Kind::CursorAgent => Some("cursor-agent"),
            Kind::Acp | Kind::Command => None,
        }
    }

    pub(super) fn dialect(self) -> Option<DialectName> {
        match self {
            Kind::Claude => Some(DialectName::ClaudeCode),
            Kind::Codex => Some(DialectName::CodexAppServer),
            Kind::CodexExec => Some(DialectName::Codex),
            Kind::Gemini => Some(DialectName::GeminiCli),
            Kind::Qwen => Some(DialectName::QwenCode),
            Kind::Opencode | Kind::OpencodeRun => Some(DialectName::Opencode),
            Kind::CursorAgent => Some(DialectName::CursorAgent),
            Kind::Acp => Some(DialectName::Acp),
            Kind::Command => None,
        }
    }

    pub(super) fn talk(self) -> Talk {
        match self {
            Kind::Claude | Kind::Qwen | Kind::Codex | Kind::Acp => Talk::Lines,
            Kind::Opencode => Talk::Server,
            Kind::CodexExec
            | Kind::Gemini
            | Kind::OpencodeRun
            | Kind::CursorAgent
            | Kind::Command => Talk::Printed,
        }
    }

    /// Nothing for those who are not talked to.
    pub(super) fn protocol(self, turn: Turn, sign_in: Option<String>) -> Option<Protocol> {
        match self {
            Kind::Claude | Kind::Qwen => Some(Protocol::Claude(Claude::new(turn))),
            Kind::Codex => Some(Protocol::Codex(Codex::new(turn))),
            Kind::Acp => Some(Protocol::Acp(Acp::new(turn, sign_in))),
            Kind::Opencode => Some(Protocol::Opencode(Opencode::new(turn))),
            Kind::CodexExec
            | Kind::Gemini
            | Kind::OpencodeRun
            | Kind::CursorAgent
            | Kind::Command => None,
        }
    }

    /// What the program is called with. A prompt never stands where it could be read as an option.
    pub(super) fn arguments(self, turn: &Turn) -> Vec<String> {
        let Turn { prompt, session, model, .. } = turn;
        let with = |name: &str, value: &Option<String>| {
            value.iter().map(|value| format!("{name}={value}")).collect::<Vec<String>>()
        };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut all: Vec<String> = match self {
            Kind::Claude => words(&[
                "-p",
                "--input-format=stream-json",
                "--output-format=stream-json",
                "--verbose",
                "--include-partial-messages",
                "--permission-prompt-tool=stdio",
            ]),
            Kind::Qwen => words(&[
                "--input-format=stream-json",
                "--output-format=stream-json",
                "--include-partial-messages",
            ]),
            Kind::Codex => words(&["app-server"]),
            Kind::CodexExec => words(&["exec", "--json", "--skip-git-repo-check"]),
            Kind::Gemini => words(&["--output-format=stream-json"]),
            Kind::Opencode => words(&["serve", "--hostname=127.0.0.1", "--port=0"]),
            Kind::OpencodeRun => words(&["run", "--format=json", "--thinking"]),
            Kind::CursorAgent => {
                words(&["-p", "--output-format=stream-json", "--stream-partial-output"])
            }
            Kind::Acp | Kind::Command => Vec::new(),
        };
        match self {
            Kind::Claude | Kind::Qwen => {
                all.extend(with("--model", model));
                all.extend(with("--resume", session));
            }
            Kind::CodexExec => {
                all.extend(with("--model", model));
                if let Some(session) = session {
                    all.extend(["resume".to_owned(), session.clone()]);
                }
                all.extend(["--".to_owned(), prompt.clone()]);
            }
            Kind::Gemini => {
                all.extend(with("--model", model));
                all.extend(with("--resume", session));
                all.push(format!("--prompt={prompt}"));
            }
            Kind::OpencodeRun => {
                all.extend(with("--model", model));
                all.extend(with("--session", session));
                all.extend(["--".to_owned(), prompt.clone()]);
            }
            Kind::CursorAgent => {
                all.extend(with("--model", model));
                all.extend(with("--resume", session));
                all.extend(["--".to_owned(), prompt.clone()]);
            }
            Kind::Codex | Kind::Opencode | Kind::Acp | Kind::Command => {}
        }
        all
    }
}

/// A template with what a turn has put in. A word with `{session}` or `{model}` is left out where
/// there is none.
pub(super) fn filled(template: &[String], turn: &Turn) -> Vec<String> {
    let fill = |word: &String| {
        let mut word = word.clone();
        for (mark, value) in [("{session}", &turn.session), ("{model}", &turn.model)] {
            if word.contains(mark) {
                word = word.replace(mark, value.as_ref()?);
            }
        }
        // Last, so that nothing in a prompt is read as a mark.
        Some(word.replace("{prompt}", &turn.prompt))
    };
    template.iter().filter_map(fill).collect()
}

/// What an agent that only prints calls its conversation, if this line says so.
pub(super) fn session_in(line: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Line {
        #[serde(alias = "sessionId", alias = "sessionID", alias = "thread_id")]
        session_id: String,
    }
    let line: Line = serde_json::from_str(line).ok()?;
    Some(line.session_id).filter(|name| is_plain(name))
}

/// Names that can stand among the arguments of a command.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    !name.is_empty() && name.len() <= 128 && !name.starts_with('-') && name.chars().all(plain)
}

/// Whether an agent says that it does not know the conversation it was to go on with. Whatever else
/// may be wrong passes, and the conversation is still there.
pub(super) fn is_unknown_conversation(words: &str) -> bool {
    const SAYINGS: [&str; 9] = [
        "no previous sessions found",
        "no conversation found",
        "no rollout found",
        "no saved session",
        "session not found",
        "invalid session identifier",
        "unknown session",
        "thread not found",
        "no such session",
    ];
    let words = words.to_lowercase();
    SAYINGS.iter().any(|saying| words.contains(saying))
}
