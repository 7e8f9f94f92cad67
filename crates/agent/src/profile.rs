//! Profiles of `millpond.toml`, and the agents built from them.

mod external_agent;
mod model;
mod source_options;

pub use external_agent::HOOK_SUBCOMMAND;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use millpond_engine::filter::{ControlMeaning, ControlWord};
use millpond_engine::ingest::DialectName;
use millpond_engine::run::{RunOptions, SourceOptions};
use millpond_engine::view::ViewName;
use millpond_log::agent::Agent;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent_loop::{ApprovalMode, ModelAgent, ModelAgentConfig, RunLimits};
use crate::checkpoint::CheckpointStore;
use crate::demo::Pace;
use crate::external::ExternalAgent;
use crate::heartbeat::Heartbeat;
use crate::http_client;
use crate::limits::{ASK_EXPIRES_AFTER, CONTEXT_TOKENS_DEFAULT, ROUNDS_MAX, RUN_TIME_MAX};
use crate::mcp::{McpServer, parse_enabled_mcp_servers};
use crate::model::{Price, TokenRates};
use crate::policy::{ToolPolicies, ToolPolicy};
use crate::provider::{CallTimeouts, Provider};
use crate::tools::{BuiltinTool, Toolbox, WorkingFolder};

/// A profile of `millpond.toml`. Without `model` and `agent` it is the built-in demo.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct Profile {
    /// An installed agent: `claude`, `codex`, `gemini`, `acp` and so on.
    pub agent: Option<String>,
    /// The agent's program and arguments; has a default.
    pub command: Vec<String>,
    /// Format of a `command`'s output; detected if not set.
    pub dialect: Option<String>,
    /// Gives the agent a separate `HOME`, stored beside the log.
    pub own_home: bool,
    /// Extra environment variables for the agent.
    pub environment: BTreeMap<String, String>,
    /// Sign-in method for an ACP agent that needs one.
    pub sign_in: Option<String>,
    /// The model's API: `chat`, `responses`, `messages`, `gemini` or `ollama`.
    pub wire: Option<String>,
    /// Base URL of the model's server; each API has a default.
    pub base: Option<String>,
    /// The provider's name of the model.
    pub model: Option<String>,
    /// Environment variable that holds the API key.
    pub key_variable: Option<String>,
    /// File that holds the API key, readable only by its owner.
    pub key_file: Option<PathBuf>,
    /// PEM file of extra certificates to trust, for models and MCP servers.
    pub authorities: Option<PathBuf>,
    /// Tokens of one reply.
    pub max_tokens: Option<u32>,
    /// Context window in tokens; a conversation close to it is compacted.
    pub context_tokens: Option<u64>,
    /// Thinking budget in tokens.
    pub thinking_tokens: Option<u32>,
    /// Sends earlier reasoning back in clear to a chat or Responses model.
    pub give_thoughts_back: bool,
    /// Extra members of every request; for Codex, of the request that opens a session.
    pub request: Map<String, Value>,
    /// System prompt.
    pub system: String,
    /// Working folder; the current one if not set.
    pub folder: Option<PathBuf>,
    /// Names of built-in tools; all if not set.
    pub tools: Option<Vec<String>>,
    /// `mcpServers` JSON file.
    pub mcp: Option<PathBuf>,
    /// `allow`, `ask` or `deny` for tools by name; a name may end in `*`.
    pub policy: BTreeMap<String, String>,
    /// Options of the source, such as `finish_word` and `starts_in_thinking`.
    #[serde(skip)]
    pub source_options: SourceOptions,
    /// Scheduled prompts.
    pub heartbeat: Vec<HeartbeatProfile>,
    /// Default view of readers.
    pub view: Option<String>,
    /// Limits of a run.
    pub limits: LimitsProfile,
    /// US dollars per million tokens.
    pub price: Option<PriceProfile>,
    /// Timeouts of model calls.
    pub patience: TimeoutsProfile,
}

/// Limits of a run, as a profile sets them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsProfile {
    /// Model calls.
    pub rounds: Option<u32>,
    /// Wall time, without waiting for people.
    pub minutes: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Cost of the run in US dollars.
    pub cost_usd: Option<f64>,
    /// Cost of the session in US dollars above which a person is asked to raise it.
    pub budget_usd: Option<f64>,
    /// Minutes until an ask expires; a day at most, and by default.
    pub answer_minutes: Option<u64>,
}

/// A scheduled prompt.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatProfile {
    /// The five fields of `cron`, in local time.
    pub schedule: String,
    /// Title of the session, which is created if missing.
    pub session: String,
    /// The prompt.
    pub prompt: String,
    /// The agent's reply if there is nothing to report.
    #[serde(default = "default_heartbeat_marker")]
    pub marker: String,
}

fn default_heartbeat_marker() -> String {
    "HEARTBEAT_OK".to_owned()
}

/// Price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceProfile {
    /// Price of input.
    pub input: f64,
    /// Price of output.
    pub output: f64,
    /// Price of cached input; that of input if not set.
    pub cached: Option<f64>,
}

/// Timeouts of model calls, in seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutsProfile {
    /// Connecting.
    pub connect: Option<u64>,
    /// From the request to the first byte.
    pub first_byte: Option<u64>,
    /// Between two pieces of a reply.
    pub idle: Option<u64>,
    /// One whole reply.
    pub total: Option<u64>,
}

/// Error in a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProfileError(String);

fn invalid_profile<T>(message: impl Into<String>) -> Result<T, ProfileError> {
    Err(ProfileError(message.into()))
}

impl Profile {
    /// True if the profile is the built-in demo.
    pub fn is_demo(&self) -> bool {
        self.model.is_none() && self.agent.is_none()
    }

    /// Name of the agent or model, for people.
    pub fn display_name(&self) -> String {
        match (&self.agent, &self.model) {
            (Some(agent), None) => agent.clone(),
            (Some(agent), Some(model)) => format!("{agent} with {model}"),
            (None, Some(model)) => model.clone(),
            (None, None) => "built-in demo".to_owned(),
        }
    }

    /// Builds the agent. Paths are relative to `config_folder`; `data` is the data folder.
    pub fn read_files_and_build_agent(
        &self,
        config_folder: &Path,
        data: &Path,
        approval_mode: ApprovalMode,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn Agent>, ProfileError> {
        match &self.agent {
            Some(agent) => {
                let config = self.create_home_and_build_external_config(
                    agent,
                    config_folder,
                    data,
                    approval_mode,
                )?;
                Ok(Arc::new(ExternalAgent::new(config)))
            }
            None => Ok(Arc::new(ModelAgent::new(self.read_files_and_build_model_config(
                config_folder,
                data,
                approval_mode,
                variable,
            )?))),
        }
    }

    fn read_files_and_build_model_config(
        &self,
        config_folder: &Path,
        data: &Path,
        approval_mode: ApprovalMode,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<ModelAgentConfig, ProfileError> {
        let root = WorkingFolder::open(&self.working_folder(config_folder))
            .map_err(|error| ProfileError(error.to_string()))?;
        let root = root.excluding(data);
        let authorities = self.read_certificates(config_folder)?;
        let servers = self.read_mcp_servers(config_folder, root.path(), &authorities, &variable)?;
        let checkpoints = Some(CheckpointStore::for_folder(data, root.path()));
        let toolbox = Toolbox { folder: root, builtins: self.parse_builtin_tools()?, servers };
        let price = self.price.map(|price| Price {
            input: price.input,
            output: price.output,
            cached: price.cached,
        });
        let (provider, dialect, rates) = match &self.model {
            None => (Provider::Demo(Pace::Live), DialectName::OpenAiChat, TokenRates::default()),
            Some(name) => {
                let model = self.read_key_and_build_model(name, config_folder, &variable)?;
                let (dialect, rates) = (model.api.dialect(), TokenRates::for_api(model.api, price));
                let provider =
                    Provider::for_model(model, self.patience.call_timeouts(), &authorities)
                        .map_err(|error| ProfileError(error.to_string()))?;
                (provider, dialect, rates)
            }
        };
        Ok(ModelAgentConfig {
            provider,
            dialect,
            system_prompt: self.system.clone(),
            toolbox,
            policies: self.parse_tool_policies()?,
            approval_mode,
            limits: RunLimits {
                context_tokens: self.context_tokens.unwrap_or(CONTEXT_TOKENS_DEFAULT),
                ..self.limits.run_limits()
            },
            rates,
            run_options: self.build_run_options()?,
            checkpoints,
        })
    }

    fn working_folder(&self, config_folder: &Path) -> PathBuf {
        self.folder.as_ref().map_or_else(|| PathBuf::from("."), |folder| config_folder.join(folder))
    }

    fn parse_builtin_tools(&self) -> Result<Vec<BuiltinTool>, ProfileError> {
        let Some(names) = &self.tools else {
            let demo = self.is_demo().then_some(BuiltinTool::DrawChart);
            return Ok(BuiltinTool::ALL.into_iter().chain(demo).collect());
        };
        let find = |name: &String| {
            BuiltinTool::ALL.into_iter().find(|tool| tool.name() == name).ok_or_else(|| {
                let available = BuiltinTool::ALL.map(BuiltinTool::name).join(", ");
                ProfileError(format!("unknown tool `{name}`; available: {available}"))
            })
        };
        names.iter().map(find).collect()
    }

    fn read_mcp_servers(
        &self,
        config_folder: &Path,
        folder: &Path,
        authorities: &[reqwest::Certificate],
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Arc<McpServer>>, ProfileError> {
        let Some(file) = &self.mcp else { return Ok(Vec::new()) };
        let client = http_client::same_origin_client_builder(authorities).build();
        let client = client.map_err(|error| ProfileError(error.to_string()))?;
        let file = config_folder.join(file);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| ProfileError(format!("cannot read {}: {error}", file.display())))?;
        let servers = parse_enabled_mcp_servers(&text, variable)
            .map_err(|error| ProfileError(format!("{}: {error}", file.display())))?;
        let servers = servers.into_iter().map(|(name, transport)| {
            Arc::new(McpServer::new(name, transport, folder.to_owned(), client.clone()))
        });
        Ok(servers.collect())
    }

    fn parse_tool_policies(&self) -> Result<ToolPolicies, ProfileError> {
        let parse_policy = |(tool, value): (&String, &String)| {
            let found = ToolPolicy::NAMES.into_iter().find(|(name, _)| name == value);
            let Some((_, policy)) = found else {
                return invalid_profile(format!(
                    "policy of `{tool}` is `{value}`, but must be allow, ask or deny"
                ));
            };
            Ok((tool.clone(), policy))
        };
        self.policy.iter().map(parse_policy).collect::<Result<_, _>>().map(ToolPolicies)
    }

    /// Options of a run: the source's, and the markers of the heartbeats.
    fn build_run_options(&self) -> Result<RunOptions, ProfileError> {
        let mut options = self.source_options.build_run_options();
        for beat in &self.heartbeat {
            let word = ControlWord::new(&beat.marker, ControlMeaning::NothingToReport)
                .map_err(|_| ProfileError(format!("`{}` cannot be a control word", beat.marker)))?;
            if !options.control_words.contains(&word) {
                options.control_words.push(word);
            }
        }
        Ok(options)
    }

    /// The profile's heartbeats.
    pub fn parse_heartbeats(&self) -> Result<Vec<Heartbeat>, ProfileError> {
        let parse_heartbeat = |beat: &HeartbeatProfile| {
            let HeartbeatProfile { schedule, session, prompt, marker } = beat;
            if session.trim().is_empty() || prompt.trim().is_empty() {
                return invalid_profile("a heartbeat needs a `session` and a `prompt`");
            }
            let heartbeat = Heartbeat::new(schedule, session, prompt, marker);
            heartbeat.map_err(|error| ProfileError(error.to_string()))
        };
        self.heartbeat.iter().map(parse_heartbeat).collect()
    }

    /// Default view of readers.
    pub fn parse_default_view(&self) -> Result<ViewName, ProfileError> {
        let Some(view) = &self.view else { return Ok(ViewName::Latest) };
        view.parse().map_err(|_| {
            let available = ViewName::ALL.map(ViewName::as_str).join(", ");
            ProfileError(format!("`view` is `{view}`, but must be one of {available}"))
        })
    }
}

impl LimitsProfile {
    fn run_limits(self) -> RunLimits {
        RunLimits {
            rounds: self.rounds.unwrap_or(ROUNDS_MAX),
            work_time: self.minutes.map_or(RUN_TIME_MAX, Duration::from_mins),
            tokens: self.tokens,
            cost_usd: self.cost_usd,
            budget_usd: self.budget_usd,
            context_tokens: CONTEXT_TOKENS_DEFAULT,
            answer_timeout: self
                .answer_minutes
                .map_or(ASK_EXPIRES_AFTER, Duration::from_mins)
                .min(ASK_EXPIRES_AFTER),
        }
    }
}

impl TimeoutsProfile {
    fn call_timeouts(self) -> CallTimeouts {
        let default = CallTimeouts::default();
        let seconds_or =
            |seconds: Option<u64>, default| seconds.map_or(default, Duration::from_secs);
        CallTimeouts {
            connect: seconds_or(self.connect, default.connect),
            first_byte: seconds_or(self.first_byte, default.first_byte),
            idle: seconds_or(self.idle, default.idle),
            total: seconds_or(self.total, default.total),
            retry_delay: default.retry_delay,
        }
    }
}
