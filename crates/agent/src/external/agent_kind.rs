//! The supported external agents: command line, transport and protocol of each.

use millpond_engine::ingest::DialectName;

use super::acp::Acp;
use super::claude::Claude;
use super::codex::Codex;
use super::opencode::Opencode;
use super::protocol::{Protocol, TurnInput};

/// A supported external agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    Claude,
    /// Through `codex app-server`, which asks for approvals.
    Codex,
    CodexExec,
    Gemini,
    Qwen,
    /// Through `opencode serve`, which asks for approvals.
    Opencode,
    OpencodeRun,
    CursorAgent,
    /// Any agent that supports the Agent Client Protocol.
    Acp,
    /// Any command that prints a stream.
    Command,
}

/// Transport of messages to and from an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// One prompt on the command line; the agent prints and exits.
    PrintOnly,
    /// JSON lines on standard input and output.
    JsonLines,
    /// The agent runs an HTTP server.
    HttpServer,
}

impl AgentKind {
    /// All kinds.
    pub const ALL: [AgentKind; 10] = [
        AgentKind::Claude,
        AgentKind::Codex,
        AgentKind::CodexExec,
        AgentKind::Gemini,
        AgentKind::Qwen,
        AgentKind::Opencode,
        AgentKind::OpencodeRun,
        AgentKind::CursorAgent,
        AgentKind::Acp,
        AgentKind::Command,
    ];

    /// Its name in a profile.
    pub fn profile_name(self) -> &'static str {
        match self {
            AgentKind::Claude => "claude",
            AgentKind::Codex => "codex",
            AgentKind::CodexExec => "codex-exec",
            AgentKind::Gemini => "gemini",
            AgentKind::Qwen => "qwen",
            AgentKind::Opencode => "opencode",
            AgentKind::OpencodeRun => "opencode-run",
            AgentKind::CursorAgent => "cursor-agent",
            AgentKind::Acp => "acp",
            AgentKind::Command => "command",
        }
    }

    /// Its name in the log; differs from every dialect's name.
    pub fn log_name(self) -> &'static str {
        match self {
            AgentKind::Claude => "agent-claude",
            AgentKind::Codex => "agent-codex",
            AgentKind::CodexExec => "agent-codex-exec",
            AgentKind::Gemini => "agent-gemini",
            AgentKind::Qwen => "agent-qwen",
            AgentKind::Opencode => "agent-opencode",
            AgentKind::OpencodeRun => "agent-opencode-run",
            AgentKind::CursorAgent => "agent-cursor",
            AgentKind::Acp => "agent-acp",
            AgentKind::Command => "agent-command",
        }
    }

    /// Default program; `None` if the profile must set `command`.
    pub fn default_program(self) -> Option<&'static str> {
        match self {
            AgentKind::Claude => Some("claude"),
            AgentKind::Codex | AgentKind::CodexExec => Some("codex"),
            AgentKind::Gemini => Some("gemini"),
            AgentKind::Qwen => Some("qwen"),
            AgentKind::Opencode | AgentKind::OpencodeRun => Some("opencode"),
            AgentKind::CursorAgent => Some("cursor-agent"),
            AgentKind::Acp | AgentKind::Command => None,
        }
    }

    pub(super) fn dialect(self) -> Option<DialectName> {
        match self {
            AgentKind::Claude => Some(DialectName::ClaudeCode),
            AgentKind::Codex => Some(DialectName::CodexAppServer),
            AgentKind::CodexExec => Some(DialectName::Codex),
            AgentKind::Gemini => Some(DialectName::GeminiCli),
            AgentKind::Qwen => Some(DialectName::QwenCode),
            AgentKind::Opencode | AgentKind::OpencodeRun => Some(DialectName::Opencode),
            AgentKind::CursorAgent => Some(DialectName::CursorAgent),
            AgentKind::Acp => Some(DialectName::Acp),
            AgentKind::Command => None,
        }
    }

    pub(super) fn transport(self) -> Transport {
        match self {
            AgentKind::Claude | AgentKind::Qwen | AgentKind::Codex | AgentKind::Acp => {
                Transport::JsonLines
            }
            AgentKind::Opencode => Transport::HttpServer,
            AgentKind::CodexExec
            | AgentKind::Gemini
            | AgentKind::OpencodeRun
            | AgentKind::CursorAgent
            | AgentKind::Command => Transport::PrintOnly,
        }
    }

    /// New protocol state for a turn; `None` for agents that only print.
    pub(super) fn new_protocol(self, turn: TurnInput, sign_in: Option<String>) -> Option<Protocol> {
        match self {
            AgentKind::Claude | AgentKind::Qwen => Some(Protocol::Claude(Claude::new(turn))),
            AgentKind::Codex => Some(Protocol::Codex(Codex::new(turn))),
            AgentKind::Acp => Some(Protocol::Acp(Acp::new(turn, sign_in))),
            AgentKind::Opencode => Some(Protocol::Opencode(Opencode::new(turn))),
            AgentKind::CodexExec
            | AgentKind::Gemini
            | AgentKind::OpencodeRun
            | AgentKind::CursorAgent
            | AgentKind::Command => None,
        }
    }

    /// Command-line arguments. The prompt is never where it could be read as an option.
    pub(super) fn command_arguments(self, turn: &TurnInput) -> Vec<String> {
        let TurnInput { prompt, agent_session: session, model, .. } = turn;
        let option_with_value = |name: &str, value: &Option<String>| {
            value.iter().map(|value| format!("{name}={value}")).collect::<Vec<String>>()
        };
        let to_strings = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut arguments: Vec<String> = match self {
            AgentKind::Claude => to_strings(&[
                "-p",
                "--input-format=stream-json",
                "--output-format=stream-json",
                "--verbose",
                "--include-partial-messages",
                "--permission-prompt-tool=stdio",
            ]),
            AgentKind::Qwen => to_strings(&[
                "--input-format=stream-json",
                "--output-format=stream-json",
                "--include-partial-messages",
            ]),
            AgentKind::Codex => to_strings(&["app-server"]),
            AgentKind::CodexExec => to_strings(&["exec", "--json", "--skip-git-repo-check"]),
            AgentKind::Gemini => to_strings(&["--output-format=stream-json"]),
            AgentKind::Opencode => to_strings(&["serve", "--hostname=127.0.0.1", "--port=0"]),
            AgentKind::OpencodeRun => to_strings(&["run", "--format=json", "--thinking"]),
            AgentKind::CursorAgent => {
                to_strings(&["-p", "--output-format=stream-json", "--stream-partial-output"])
            }
            AgentKind::Acp | AgentKind::Command => Vec::new(),
        };
        match self {
            AgentKind::Claude | AgentKind::Qwen => {
                arguments.extend(option_with_value("--model", model));
                arguments.extend(option_with_value("--resume", session));
            }
            AgentKind::CodexExec => {
                arguments.extend(option_with_value("--model", model));
                if let Some(session) = session {
                    arguments.extend(["resume".to_owned(), session.clone()]);
                }
                arguments.extend(["--".to_owned(), prompt.clone()]);
            }
            AgentKind::Gemini => {
                arguments.extend(option_with_value("--model", model));
                arguments.extend(option_with_value("--resume", session));
                arguments.push(format!("--prompt={prompt}"));
            }
            AgentKind::OpencodeRun => {
                arguments.extend(option_with_value("--model", model));
                arguments.extend(option_with_value("--session", session));
                arguments.extend(["--".to_owned(), prompt.clone()]);
            }
            AgentKind::CursorAgent => {
                arguments.extend(option_with_value("--model", model));
                arguments.extend(option_with_value("--resume", session));
                arguments.extend(["--".to_owned(), prompt.clone()]);
            }
            AgentKind::Codex | AgentKind::Opencode | AgentKind::Acp | AgentKind::Command => {}
        }
        arguments
    }
}

/// Fills `{prompt}`, `{session}` and `{model}` into a command template. Drops words whose value is
/// missing.
pub(super) fn fill_template_and_drop_unset(template: &[String], turn: &TurnInput) -> Vec<String> {
    let fill = |argument: &String| {
        let mut filled = argument.clone();
        for (placeholder, value) in [("{session}", &turn.agent_session), ("{model}", &turn.model)] {
            if filled.contains(placeholder) {
                filled = filled.replace(placeholder, value.as_ref()?);
            }
        }
        // Last, so that nothing in a prompt is read as a placeholder.
        Some(filled.replace("{prompt}", &turn.prompt))
    };
    template.iter().filter_map(fill).collect()
}

/// The session id in a line of an agent that only prints.
pub(super) fn find_safe_session_id_in_line(line: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Line {
        #[serde(alias = "sessionId", alias = "sessionID", alias = "thread_id")]
        session_id: String,
    }
    let line: Line = serde_json::from_str(line).ok()?;
    Some(line.session_id).filter(|name| is_safe_session_id(name))
}

/// True if a session id is safe as a command-line argument.
pub(super) fn is_safe_session_id(name: &str) -> bool {
    let is_safe_char = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    !name.is_empty()
        && name.len() <= 128
        && !name.starts_with('-')
        && name.chars().all(is_safe_char)
}

/// True if an agent's error says that it does not have the session. Other errors may be temporary,
/// and the session still exists.
pub(super) fn is_unknown_session_error(error_text: &str) -> bool {
    const MESSAGES: [&str; 9] = [
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
    let lowercase = error_text.to_lowercase();
    MESSAGES.iter().any(|message| lowercase.contains(message))
}
