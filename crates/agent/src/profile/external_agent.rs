//! Profiles of external agents.

use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond_engine::ingest::DialectName;

use crate::agent_loop::ApprovalMode;
use crate::external::{AgentKind, ExternalAgentConfig};
use crate::limits::AGENT_IDLE_TIME_MAX;

use super::{Profile, ProfileError, invalid_profile};

impl Profile {
    pub(super) fn create_home_and_build_external_config(
        &self,
        agent: &str,
        config_folder: &Path,
        data: &Path,
        approval_mode: ApprovalMode,
    ) -> Result<ExternalAgentConfig, ProfileError> {
        let Some(kind) = AgentKind::ALL.into_iter().find(|kind| kind.profile_name() == agent)
        else {
            let available = AgentKind::ALL.map(AgentKind::profile_name).join(", ");
            return invalid_profile(format!(
                "`agent` is `{agent}`, but must be one of {available}"
            ));
        };
        self.validate_external_agent_fields(kind)?;
        let folder = self.working_folder(config_folder);
        let folder = folder
            .canonicalize()
            .map_err(|error| ProfileError(format!("cannot use {}: {error}", folder.display())))?;
        let home = self.own_home.then(|| create_agent_home(data, agent)).transpose()?;
        Ok(ExternalAgentConfig {
            kind,
            command: self.command.clone(),
            dialect: self.parse_dialect()?,
            folder,
            home,
            environment: self.environment.clone(),
            model: self.model.clone(),
            session_params: self.request.clone(),
            sign_in_method: self.sign_in.clone(),
            hook_command: build_hook_command(),
            approval_mode,
            run_options: self.build_run_options()?,
            idle_time_max: self.patience.idle.map_or(AGENT_IDLE_TIME_MAX, Duration::from_secs),
            work_time_max: self.limits.run_limits().work_time,
            answer_timeout: self.limits.run_limits().answer_timeout,
        })
    }

    /// Fails if a field is set that has no effect for this agent, or one that it needs is not set.
    fn validate_external_agent_fields(&self, kind: AgentKind) -> Result<(), ProfileError> {
        let agent = kind.profile_name();
        let model_fields = [
            ("wire", self.wire.is_some()),
            ("base", self.base.is_some()),
            ("key_variable", self.key_variable.is_some()),
            ("key_file", self.key_file.is_some()),
            ("authorities", self.authorities.is_some()),
            ("max_tokens", self.max_tokens.is_some()),
            ("thinking_tokens", self.thinking_tokens.is_some()),
            ("context_tokens", self.context_tokens.is_some()),
            ("request", !self.request.is_empty() && kind != AgentKind::Codex),
            ("system", !self.system.is_empty()),
            ("tools", self.tools.is_some()),
            ("mcp", self.mcp.is_some()),
            ("policy", !self.policy.is_empty()),
            ("price", self.price.is_some()),
            ("limits.rounds", self.limits.rounds.is_some()),
            ("limits.tokens", self.limits.tokens.is_some()),
            ("limits.cost_usd", self.limits.cost_usd.is_some()),
            ("limits.budget_usd", self.limits.budget_usd.is_some()),
        ];
        if let Some((field, _)) = model_fields.into_iter().find(|(_, is_set)| *is_set) {
            return invalid_profile(format!(
                "`{field}` applies to models only; configure `{agent}` in its own settings, \
                 or with `command` and `environment`"
            ));
        }
        let prompts = self.command.iter().any(|argument| argument.contains("{prompt}"));
        match kind {
            AgentKind::Acp if self.command.is_empty() => invalid_profile(
                "`agent = \"acp\"` needs a `command`, such as [\"gemini\", \"--acp\"]",
            ),
            AgentKind::Command if !prompts => invalid_profile(
                "`agent = \"command\"` needs a `command` with `{prompt}` in it, \
                 such as [\"pi\", \"--mode\", \"json\", \"-p\", \"{prompt}\"]",
            ),
            AgentKind::Acp if self.model.is_some() => {
                invalid_profile("an ACP agent chooses its own model; set it in `command`")
            }
            AgentKind::Acp | AgentKind::Command => Ok(()),
            _ if self.sign_in.is_some() => {
                invalid_profile(format!("`sign_in` applies to ACP only, not `{agent}`"))
            }
            _ if self.dialect.is_some() => {
                invalid_profile(format!("`dialect` does not apply to `{agent}`"))
            }
            _ => Ok(()),
        }
    }

    fn parse_dialect(&self) -> Result<Option<DialectName>, ProfileError> {
        let Some(dialect) = &self.dialect else { return Ok(None) };
        let found = DialectName::ALL.iter().find(|name| name.as_str() == dialect);
        let Some(name) = found else {
            let available: Vec<&str> = DialectName::ALL.iter().map(|name| name.as_str()).collect();
            return invalid_profile(format!(
                "`dialect` is `{dialect}`, but must be one of {}",
                available.join(", ")
            ));
        };
        Ok(Some(*name))
    }
}

/// Creates the agent's separate `HOME` below the data folder.
fn create_agent_home(data: &Path, agent: &str) -> Result<PathBuf, ProfileError> {
    let home = data.join("homes").join(agent);
    std::fs::create_dir_all(&home)
        .and_then(|()| home.canonicalize())
        .map_err(|error| ProfileError(format!("cannot create {}: {error}", home.display())))
}

/// Command line of this program's `hook` command.
fn build_hook_command() -> Vec<String> {
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    program.map_or_else(Vec::new, |program| vec![program, HOOK_SUBCOMMAND.to_owned()])
}

/// Name of this program's command that an agent runs as its hook.
pub const HOOK_SUBCOMMAND: &str = "internal-agent-hook";
