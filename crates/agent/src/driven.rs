//! Agents that a person has already: started, talked to, and shown.
//!
//! Each run is a process of the agent's in a group of its own, which goes on with the conversation
//! that the agent keeps itself. What it prints becomes events as any other stream does; what it asks
//! is answered through Millpond.

mod acp;
mod claude;
mod codex;
mod connection;
mod drive;
mod hook;
mod kind;
mod opencode;
mod protocol;
#[cfg(test)]
mod protocol_tests;
mod rpc;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use engine::ingest::DialectName;
use engine::ingest::filter::ControlWord;
use gateway::agent::{About, Agent, Job, Working};
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::rounds::Caution;

pub use hook::hook;
pub use kind::Kind;

use hook::Hooks;
use kind::{Talk, filled};
use protocol::Turn;

/// All that makes an agent of one that a person has.
#[derive(Clone, Debug)]
pub struct Driving {
    pub kind: Kind,
    /// The program and what it is called with; empty for the usual.
    pub command: Vec<String>,
    /// What the lines are, where the kind does not say; found out if not given.
    pub dialect: Option<DialectName>,
    pub folder: PathBuf,
    /// Its HOME, if not the person's.
    pub home: Option<PathBuf>,
    pub variables: BTreeMap<String, String>,
    pub model: Option<String>,
    /// More that a conversation is begun with; Codex takes it.
    pub request: Map<String, Value>,
    /// The command that asks here on behalf of an agent that runs hooks; such an agent asks nothing
    /// without it.
    pub helper: Vec<String>,
    /// How to sign in, for agents of ACP that want it said.
    pub sign_in: Option<String>,
    pub caution: Caution,
    pub control_words: Vec<ControlWord>,
    /// How long it may say nothing while nobody is asked anything.
    pub idle: Duration,
    /// How long one run may take, waiting for people aside.
    pub time: Duration,
    /// How long a person has to answer what it asks.
    pub answer_within: Duration,
}

#[derive(Clone, Debug)]
pub struct Driven(Arc<Driving>);

impl Driven {
    pub fn new(driving: Driving) -> Driven {
        Driven(Arc::new(driving))
    }
}

impl Agent for Driven {
    fn name(&self) -> &'static str {
        self.0.kind.agent_name()
    }

    fn work(&self, job: Job) -> Working {
        Box::pin(drive::work(Arc::clone(&self.0), job))
    }

    fn about(&self) -> Pin<Box<dyn Future<Output = About> + Send>> {
        let model = self.0.model.clone();
        Box::pin(std::future::ready(About { model, ..About::default() }))
    }
}

impl Driving {
    /// What is run for a turn.
    fn command(&self, turn: &Turn) -> Command {
        let template = match self.kind.talk() {
            Talk::Printed if self.command.iter().any(|word| word.contains("{prompt}")) => {
                filled(&self.command, turn)
            }
            Talk::Printed | Talk::Lines | Talk::Server => {
                let usual = self.kind.program().map(str::to_owned);
                let own = filled(&self.command, turn);
                let program = if own.is_empty() { usual.into_iter().collect() } else { own };
                [program, self.kind.arguments(turn)].concat()
            }
        };
        let (program, arguments) =
            template.split_first().map_or(("false", &[][..]), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        let input = if self.kind.talk() == Talk::Lines { Stdio::piped() } else { Stdio::null() };
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            // Who may use the gateway is no business of an agent's.
            if name.to_string_lossy().starts_with("MILLPOND_") {
                command.env_remove(name);
            }
        }
        if let Some(home) = &self.home {
            command.env("HOME", home);
        }
        command.envs(&self.variables);
        command
    }

    /// Makes an agent that cannot ask run a hook before each tool, which does. Only in a HOME of its
    /// own: a person's settings are not ours to change.
    fn hook_into(&self, command: &mut Command) -> std::io::Result<Option<Hooks>> {
        let (Kind::Gemini, Some(home)) = (self.kind, &self.home) else { return Ok(None) };
        if self.helper.is_empty() {
            return Ok(None);
        }
        hook::into_gemini_settings(home, &self.helper)?;
        let hooks = Hooks::open()?;
        // From here on the hook decides.
        command.env(hook::VARIABLE, hooks.socket()).arg("--approval-mode=yolo");
        Ok(Some(hooks))
    }

    /// What the agent is called where a person reads of it.
    fn title(&self) -> &str {
        self.command.first().map(String::as_str).or(self.kind.program()).unwrap_or("the agent")
    }
}
