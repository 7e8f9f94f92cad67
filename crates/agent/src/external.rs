//! External agents: drives an installed agent CLI as a process.
//!
//! Each run starts the agent in its own process group and resumes the session that the agent keeps
//! itself. Its output is parsed into events like any other stream; its permission requests become
//! asks, and answers are sent back to it.

mod acp;
mod agent_kind;
mod agent_run;
mod claude;
mod codex;
mod connection;
mod hook;
mod json_rpc;
mod opencode;
mod protocol;
#[cfg(test)]
mod protocol_tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use millpond_engine::ingest::DialectName;
use millpond_engine::run::RunOptions;
use millpond_log::agent::{Agent, AgentDescription, AgentFuture, Job};
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::agent_loop::ApprovalMode;

pub use agent_kind::AgentKind;
pub use hook::relay_stdin_and_print_decision;

use agent_kind::{Transport, fill_template_and_drop_unset};
use hook::HookServer;
use protocol::TurnInput;

/// Configuration of an `ExternalAgent`.
#[derive(Clone, Debug)]
pub struct ExternalAgentConfig {
    /// Which agent it is.
    pub kind: AgentKind,
    /// The program and its arguments; empty for the kind's default.
    pub command: Vec<String>,
    /// Format of its output where the kind has none; detected if `None`.
    pub dialect: Option<DialectName>,
    /// Working folder.
    pub folder: PathBuf,
    /// Its `HOME`, if not the user's.
    pub home: Option<PathBuf>,
    /// Extra environment variables.
    pub environment: BTreeMap<String, String>,
    /// Model that the agent is to use.
    pub model: Option<String>,
    /// Extra parameters of the request that opens a session; Codex only.
    pub session_params: Map<String, Value>,
    /// The hook command, for agents that ask only through hooks; empty disables the hooks.
    pub hook_command: Vec<String>,
    /// Sign-in method for ACP agents that need one.
    pub sign_in_method: Option<String>,
    /// Approvals on or off.
    pub approval_mode: ApprovalMode,
    /// How the agent's output is read.
    pub run_options: RunOptions,
    /// Time it may print nothing while no ask is open.
    pub idle_time_max: Duration,
    /// Time one run may take, without waiting for people.
    pub work_time_max: Duration,
    /// Time a person has to answer an ask.
    pub answer_timeout: Duration,
}

/// An agent that runs an installed agent CLI.
#[derive(Clone, Debug)]
pub struct ExternalAgent(Arc<ExternalAgentConfig>);

impl ExternalAgent {
    /// Creates the agent.
    pub fn new(config: ExternalAgentConfig) -> ExternalAgent {
        ExternalAgent(Arc::new(config))
    }
}

impl Agent for ExternalAgent {
    fn name(&self) -> &'static str {
        self.0.kind.log_name()
    }

    fn run_job(&self, job: Job) -> AgentFuture {
        Box::pin(agent_run::run_external_agent(Arc::clone(&self.0), job))
    }

    fn connect_tools_and_describe(&self) -> Pin<Box<dyn Future<Output = AgentDescription> + Send>> {
        let model = self.0.model.clone();
        Box::pin(std::future::ready(AgentDescription { model, ..AgentDescription::default() }))
    }
}

impl ExternalAgentConfig {
    /// Builds the command line and environment for a turn.
    fn build_command(&self, turn: &TurnInput) -> Command {
        let template = match self.kind.transport() {
            Transport::PrintOnly if self.command.iter().any(|word| word.contains("{prompt}")) => {
                fill_template_and_drop_unset(&self.command, turn)
            }
            Transport::PrintOnly | Transport::JsonLines | Transport::HttpServer => {
                let default = self.kind.default_program().map(str::to_owned);
                let filled = fill_template_and_drop_unset(&self.command, turn);
                let program =
                    if filled.is_empty() { default.into_iter().collect() } else { filled };
                [program, self.kind.command_arguments(turn)].concat()
            }
        };
        let (program, arguments) =
            template.split_first().map_or(("false", &[][..]), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        let input = if self.kind.transport() == Transport::JsonLines {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            // The agent must not get the gateway's credentials.
            if name.to_string_lossy().starts_with("MILLPOND_") {
                command.env_remove(name);
            }
        }
        if let Some(home) = &self.home {
            command.env("HOME", home);
        }
        command.envs(&self.environment);
        command
    }

    /// Installs the approval hook for an agent that cannot ask itself. Only in a separate `HOME`:
    /// the user's own settings are never changed.
    fn install_gemini_hooks_if_own_home(
        &self,
        command: &mut Command,
    ) -> std::io::Result<Option<HookServer>> {
        let (AgentKind::Gemini, Some(home)) = (self.kind, &self.home) else { return Ok(None) };
        if self.hook_command.is_empty() {
            return Ok(None);
        }
        hook::install_in_gemini_settings(home, &self.hook_command)?;
        let hooks = HookServer::bind_and_start_accepting()?;
        // The hook approves each tool instead.
        command.env(hook::SOCKET_VARIABLE, hooks.socket_path()).arg("--approval-mode=yolo");
        Ok(Some(hooks))
    }

    /// The program's name, for messages.
    fn program_display_name(&self) -> &str {
        self.command
            .first()
            .map(String::as_str)
            .or(self.kind.default_program())
            .unwrap_or("the agent")
    }
}
