//! Profiles: what a person writes down about an agent, and the agent that this makes.

mod driving;
mod model;

pub use driving::HOOK_COMMAND;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::ingest::DialectName;
use engine::ingest::filter::{ControlWord, Meaning};
use engine::view::ViewName;
use gateway::agent::Agent;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::checkpoint::Checkpoints;
use crate::demo::Pace;
use crate::driven::Driven;
use crate::heartbeat::Heartbeat;
use crate::limits::{ASK_EXPIRES_AFTER, CONTEXT_TOKENS, ROUNDS_MAX, RUN_TIME_MAX};
use crate::mcp::{Server, servers_of_json};
use crate::model::{Price, Rates};
use crate::net;
use crate::policy::{Policies, Policy};
use crate::provider::{Patience, Provider};
use crate::rounds::{Bounds, Caution, Looped, Setup};
use crate::tools::{Builtin, Root, Toolbox};

/// A profile as it stands in `millpond.toml`. Without a model or an agent it is the demo's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// An agent that the person has: `claude`, `codex`, `gemini`, `acp` and so on.
    pub agent: Option<String>,
    /// The agent's program and what it is called with; the usual if not given.
    pub command: Vec<String>,
    /// What a `command` prints; found out if not given.
    pub dialect: Option<String>,
    /// Gives the agent a HOME of its own, kept beside the log.
    pub own_home: bool,
    /// More variables for the agent.
    pub environment: BTreeMap<String, String>,
    /// How an agent of ACP is told to sign in, if it must be told.
    pub sign_in: Option<String>,
    /// `chat`, `responses`, `messages`, `gemini` or `ollama`.
    pub wire: Option<String>,
    /// Where the model is; each wire has a place of its own if not given.
    pub base: Option<String>,
    pub model: Option<String>,
    /// The variable that holds the key.
    pub key_variable: Option<String>,
    /// A file that holds it, which nobody else may read.
    pub key_file: Option<PathBuf>,
    /// A PEM file of certificates to trust beside the system's, for models and MCP servers.
    pub authorities: Option<PathBuf>,
    pub max_tokens: Option<u32>,
    /// What the model can take in; a conversation that comes near is summed up.
    pub context_tokens: Option<u64>,
    pub thinking_tokens: Option<u32>,
    /// Tells a chat or Responses model in clear what it has thought before.
    pub give_thoughts_back: bool,
    /// More members of every request; for Codex, of the one that begins a conversation.
    pub request: Map<String, Value>,
    pub system: String,
    /// The working folder; the current one if not given.
    pub folder: Option<PathBuf>,
    /// Names of built-in tools; all of them if not given.
    pub tools: Option<Vec<String>>,
    /// A file of `mcpServers`.
    pub mcp: Option<PathBuf>,
    /// `allow`, `ask` or `deny` for tools by name; a name may end in `*`.
    pub policy: BTreeMap<String, String>,
    /// A word by which the agent ends the run.
    pub finish_word: Option<String>,
    /// Prompts that come by the clock.
    pub heartbeat: Vec<HeartbeatProfile>,
    /// The view that readers get who name none.
    pub view: Option<String>,
    pub limits: Limits,
    /// US dollars per million tokens.
    pub price: Option<PriceProfile>,
    pub patience: PatienceProfile,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub rounds: Option<u32>,
    pub minutes: Option<u64>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// What a session may cost before a person is asked whether it may cost as much again.
    pub budget_usd: Option<f64>,
    /// How long an ask waits for its answer: a day if not given, and never longer.
    pub answer_minutes: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatProfile {
    /// Five fields, as `cron` has them, in local time.
    pub schedule: String,
    /// The title of the session; made if there is none.
    pub session: String,
    pub prompt: String,
    /// What the agent says if there is nothing to report.
    #[serde(default = "usual_marker")]
    pub marker: String,
}

fn usual_marker() -> String {
    "HEARTBEAT_OK".to_owned()
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceProfile {
    pub input: f64,
    pub output: f64,
    pub cached: Option<f64>,
}

/// In seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PatienceProfile {
    pub connect: Option<u64>,
    pub first_byte: Option<u64>,
    pub idle: Option<u64>,
    pub total: Option<u64>,
}

/// Why a profile makes no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadProfile(String);

fn bad<T>(words: impl Into<String>) -> Result<T, BadProfile> {
    Err(BadProfile(words.into()))
}

impl Profile {
    pub fn is_demo(&self) -> bool {
        self.model.is_none() && self.agent.is_none()
    }

    /// Whoever answers, in a few words.
    pub fn title(&self) -> String {
        match (&self.agent, &self.model) {
            (Some(agent), None) => agent.clone(),
            (Some(agent), Some(model)) => format!("{agent} with {model}"),
            (None, Some(model)) => model.clone(),
            (None, None) => "the demo agent, which is no model".to_owned(),
        }
    }

    /// The agent that this makes. Paths are relative to `beside`; `data` is where it keeps things.
    pub fn agent(
        &self,
        beside: &Path,
        data: &Path,
        caution: Caution,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn Agent>, BadProfile> {
        match &self.agent {
            Some(agent) => {
                let driving = self.driving(agent, beside, data, caution)?;
                Ok(Arc::new(Driven::new(driving)))
            }
            None => Ok(Arc::new(Looped::new(self.setup(beside, data, caution, variable)?))),
        }
    }

    fn setup(
        &self,
        beside: &Path,
        data: &Path,
        caution: Caution,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Setup, BadProfile> {
        let root =
            Root::open(&self.folder(beside)).map_err(|error| BadProfile(error.to_string()))?;
        let root = root.without(data);
        let authorities = self.authorities(beside)?;
        let servers = self.servers(beside, root.path(), &authorities, &variable)?;
        let checkpoints = Some(Checkpoints::of(data, root.path()));
        let toolbox = Toolbox { root, builtins: self.builtins()?, servers };
        let price = self.price.map(|price| Price {
            input: price.input,
            output: price.output,
            cached: price.cached,
        });
        let (provider, dialect, rates) = match &self.model {
            None => (Provider::Demo(Pace::Live), DialectName::OpenAiChat, Rates::default()),
            Some(name) => {
                let model = self.model(name, beside, &variable)?;
                let (dialect, rates) = (model.wire.dialect(), Rates::of(model.wire, price));
                let provider = Provider::model(model, self.patience.seconds(), &authorities)
                    .map_err(|error| BadProfile(error.to_string()))?;
                (provider, dialect, rates)
            }
        };
        Ok(Setup {
            provider,
            dialect,
            system: self.system.clone(),
            toolbox,
            policies: self.policies()?,
            caution,
            bounds: Bounds {
                context_tokens: self.context_tokens.unwrap_or(CONTEXT_TOKENS),
                ..self.limits.bounds()
            },
            rates,
            control_words: self.control_words()?,
            checkpoints,
        })
    }

    fn folder(&self, beside: &Path) -> PathBuf {
        self.folder.as_ref().map_or_else(|| PathBuf::from("."), |folder| beside.join(folder))
    }

    fn builtins(&self) -> Result<Vec<Builtin>, BadProfile> {
        let Some(names) = &self.tools else {
            let demo = self.is_demo().then_some(Builtin::DrawChart);
            return Ok(Builtin::ALL.into_iter().chain(demo).collect());
        };
        let find = |name: &String| {
            Builtin::ALL.into_iter().find(|tool| tool.name() == name).ok_or_else(|| {
                let all = Builtin::ALL.map(Builtin::name).join(", ");
                BadProfile(format!("there is no tool `{name}`; there are {all}"))
            })
        };
        names.iter().map(find).collect()
    }

    fn servers(
        &self,
        beside: &Path,
        folder: &Path,
        authorities: &[reqwest::Certificate],
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Arc<Server>>, BadProfile> {
        let Some(file) = &self.mcp else { return Ok(Vec::new()) };
        let client = net::client(authorities).build();
        let client = client.map_err(|error| BadProfile(error.to_string()))?;
        let file = beside.join(file);
        let text = std::fs::read_to_string(&file)
            .map_err(|error| BadProfile(format!("cannot read {}: {error}", file.display())))?;
        let servers = servers_of_json(&text, variable)
            .map_err(|error| BadProfile(format!("{}: {error}", file.display())))?;
        let servers = servers
            .into_iter()
            .map(|(name, how)| Arc::new(Server::new(name, how, folder.to_owned(), client.clone())));
        Ok(servers.collect())
    }

    fn policies(&self) -> Result<Policies, BadProfile> {
        let read = |(tool, word): (&String, &String)| {
            let known = Policy::WORDS.into_iter().find(|(known, _)| known == word);
            let Some((_, policy)) = known else {
                return bad(format!("the policy of `{tool}` is `{word}`, not allow, ask or deny"));
            };
            Ok((tool.clone(), policy))
        };
        self.policy.iter().map(read).collect::<Result<_, _>>().map(Policies)
    }

    fn control_words(&self) -> Result<Vec<ControlWord>, BadProfile> {
        let finish = self.finish_word.iter().map(|word| (word, Meaning::Finish));
        let markers = self.heartbeat.iter().map(|beat| (&beat.marker, Meaning::NothingToReport));
        let mut words: Vec<ControlWord> = Vec::new();
        for (word, meaning) in finish.chain(markers) {
            let word = ControlWord::new(word, meaning)
                .map_err(|_| BadProfile(format!("`{word}` cannot be a control word")))?;
            if !words.contains(&word) {
                words.push(word);
            }
        }
        Ok(words)
    }

    pub fn heartbeats(&self) -> Result<Vec<Heartbeat>, BadProfile> {
        let read = |beat: &HeartbeatProfile| {
            let HeartbeatProfile { schedule, session, prompt, marker } = beat;
            if session.trim().is_empty() || prompt.trim().is_empty() {
                return bad("a heartbeat has a `session` and a `prompt`");
            }
            let read = Heartbeat::new(schedule, session, prompt, marker);
            read.map_err(|error| BadProfile(error.to_string()))
        };
        self.heartbeat.iter().map(read).collect()
    }

    /// The view that readers get who name none.
    pub fn view(&self) -> Result<ViewName, BadProfile> {
        let Some(word) = &self.view else { return Ok(ViewName::Latest) };
        word.parse().map_err(|_| {
            let all = ViewName::ALL.map(ViewName::as_str).join(", ");
            BadProfile(format!("`view` is `{word}`, but must be one of {all}"))
        })
    }
}

impl Limits {
    fn bounds(self) -> Bounds {
        Bounds {
            rounds: self.rounds.unwrap_or(ROUNDS_MAX),
            time: self.minutes.map_or(RUN_TIME_MAX, Duration::from_mins),
            tokens: self.tokens,
            cost_usd: self.cost_usd,
            budget_usd: self.budget_usd,
            context_tokens: CONTEXT_TOKENS,
            answer_within: self
                .answer_minutes
                .map_or(ASK_EXPIRES_AFTER, Duration::from_mins)
                .min(ASK_EXPIRES_AFTER),
        }
    }
}

impl PatienceProfile {
    fn seconds(self) -> Patience {
        let usual = Patience::default();
        let or = |seconds: Option<u64>, usual| seconds.map_or(usual, Duration::from_secs);
        Patience {
            connect: or(self.connect, usual.connect),
            first_byte: or(self.first_byte, usual.first_byte),
            idle: or(self.idle, usual.idle),
            total: or(self.total, usual.total),
            retry: usual.retry,
        }
    }
}
