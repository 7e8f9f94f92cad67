//! Profiles of agents that a person has already.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::ingest::DialectName;

use crate::driven::{Driving, Kind};
use crate::limits::AGENT_IDLE;
use crate::rounds::Caution;

use super::{BadProfile, Profile, bad};

impl Profile {
    pub(super) fn driving(
        &self,
        agent: &str,
        beside: &Path,
        data: &Path,
        caution: Caution,
    ) -> Result<Driving, BadProfile> {
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.as_str() == agent) else {
            let all = Kind::ALL.map(Kind::as_str).join(", ");
            return bad(format!("`agent` is `{agent}`, but must be one of {all}"));
        };
        self.check_fields(kind)?;
        let folder = self.folder(beside);
        let folder = folder
            .canonicalize()
            .map_err(|error| BadProfile(format!("cannot use {}: {error}", folder.display())))?;
        let home = self.own_home.then(|| own_home(data, agent)).transpose()?;
        Ok(Driving {
            kind,
            command: self.command.clone(),
            dialect: self.dialect()?,
            folder,
            home,
            variables: self.environment.clone(),
            model: self.model.clone(),
            request: self.request.clone(),
            sign_in: self.sign_in.clone(),
            helper: helper(),
            caution,
            control_words: self.control_words()?,
            idle: self.patience.idle.map_or(AGENT_IDLE, Duration::from_secs),
            time: self.limits.bounds().time,
            answer_within: self.limits.bounds().answer_within,
        })
    }

    /// What would have no effect is an error: somebody meant something by it.
    fn check_fields(&self, kind: Kind) -> Result<(), BadProfile> {
        let agent = kind.as_str();
        let of_models = [
            ("wire", self.wire.is_some()),
            ("base", self.base.is_some()),
            ("key_variable", self.key_variable.is_some()),
            ("key_file", self.key_file.is_some()),
            ("authorities", self.authorities.is_some()),
            ("max_tokens", self.max_tokens.is_some()),
            ("thinking_tokens", self.thinking_tokens.is_some()),
            ("context_tokens", self.context_tokens.is_some()),
            ("request", !self.request.is_empty() && kind != Kind::Codex),
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
        if let Some((field, _)) = of_models.into_iter().find(|(_, given)| *given) {
            return bad(format!(
                "`{field}` is for models; `{agent}` has settings of its own, \
                 and takes more with `command` and `environment`"
            ));
        }
        let prompts = self.command.iter().any(|word| word.contains("{prompt}"));
        match kind {
            Kind::Acp if self.command.is_empty() => {
                bad("`agent = \"acp\"` needs a `command`, such as [\"gemini\", \"--acp\"]")
            }
            Kind::Command if !prompts => {
                bad("`agent = \"command\"` needs a `command` with `{prompt}` in it, \
                 such as [\"pi\", \"--mode\", \"json\", \"-p\", \"{prompt}\"]")
            }
            Kind::Acp if self.model.is_some() => {
                bad("an agent of ACP chooses its model itself; say it in its `command`")
            }
            Kind::Acp | Kind::Command => Ok(()),
            _ if self.sign_in.is_some() => bad(format!("`sign_in` is for ACP, not `{agent}`")),
            _ if self.dialect.is_some() => bad(format!("what `{agent}` prints is known")),
            _ => Ok(()),
        }
    }

    fn dialect(&self) -> Result<Option<DialectName>, BadProfile> {
        let Some(word) = &self.dialect else { return Ok(None) };
        let found = DialectName::ALL.iter().find(|name| name.as_str() == word);
        let Some(name) = found else {
            let all: Vec<&str> = DialectName::ALL.iter().map(|name| name.as_str()).collect();
            return bad(format!("`dialect` is `{word}`, but must be one of {}", all.join(", ")));
        };
        Ok(Some(*name))
    }
}

fn own_home(data: &Path, agent: &str) -> Result<PathBuf, BadProfile> {
    let home = data.join("homes").join(agent);
    std::fs::create_dir_all(&home)
        .and_then(|()| home.canonicalize())
        .map_err(|error| BadProfile(format!("cannot make {}: {error}", home.display())))
}

/// This program, as the command by which an agent's hook asks.
fn helper() -> Vec<String> {
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    program.map_or_else(Vec::new, |program| vec![program, HOOK_COMMAND.to_owned()])
}

/// The command of this program that is an agent's hook.
pub const HOOK_COMMAND: &str = "hook";
