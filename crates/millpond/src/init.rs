//! `millpond init`: writes a `millpond.toml` with a profile for each API key, model server and
//! agent CLI found on this machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use millpond_agent::external::AgentKind;
use serde_json::Value;

use crate::args::InitArgs;
use crate::command::{block_on, print_error_and_return_failure};
use crate::show::print_to_stderr;

/// Hosted provider whose API key may be in the environment.
struct HostedProvider {
    name: &'static str,
    key_variables: &'static [&'static str],
    wire: &'static str,
    base_url: Option<&'static str>,
    model: &'static str,
}

const HOSTED_PROVIDERS: [HostedProvider; 4] = [
    HostedProvider {
        name: "anthropic",
        key_variables: &["ANTHROPIC_API_KEY"],
        wire: "messages",
        base_url: None,
        model: "claude-sonnet-4-5",
    },
    HostedProvider {
        name: "openai",
        key_variables: &["OPENAI_API_KEY"],
        wire: "responses",
        base_url: None,
        model: "gpt-5-mini",
    },
    HostedProvider {
        name: "gemini",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        wire: "gemini",
        base_url: None,
        model: "gemini-2.5-flash",
    },
    HostedProvider {
        name: "openrouter",
        key_variables: &["OPENROUTER_API_KEY"],
        wire: "chat",
        base_url: Some("https://openrouter.ai/api/v1"),
        model: "openrouter/auto",
    },
];

/// Model server that may run on this machine.
struct LocalServer {
    name: &'static str,
    wire: &'static str,
    base_url: &'static str,
    /// Path that lists the models.
    models_path: &'static str,
    /// Extracts the name of the first model from the list.
    first_model_name: fn(&Value) -> Option<&str>,
}

const LOCAL_SERVERS: [LocalServer; 3] = [
    LocalServer {
        name: "ollama",
        wire: "ollama",
        base_url: "http://127.0.0.1:11434",
        models_path: "/api/tags",
        first_model_name: |answer| answer["models"][0]["name"].as_str(),
    },
    LocalServer {
        name: "llamacpp",
        wire: "chat",
        base_url: "http://127.0.0.1:8080/v1",
        models_path: "/models",
        first_model_name: |answer| answer["data"][0]["id"].as_str(),
    },
    LocalServer {
        name: "lmstudio",
        wire: "chat",
        base_url: "http://127.0.0.1:1234/v1",
        models_path: "/models",
        first_model_name: |answer| answer["data"][0]["id"].as_str(),
    },
];

/// Agent CLIs to look for, each with the name of its profile.
const AGENT_PROGRAMS: [(AgentKind, &str); 6] = [
    (AgentKind::Claude, "claude-code"),
    (AgentKind::Codex, "codex"),
    (AgentKind::Gemini, "gemini-cli"),
    (AgentKind::Qwen, "qwen-code"),
    (AgentKind::Opencode, "opencode"),
    (AgentKind::CursorAgent, "cursor"),
];

/// Timeout for listing the models of a local server.
const PROBE_TIMEOUT: Duration = Duration::from_millis(800);

/// Profile for something found on this machine.
#[derive(Clone, Debug, PartialEq)]
struct FoundProfile {
    name: &'static str,
    settings: Vec<(&'static str, toml::Value)>,
    /// Further settings, as TOML comments.
    comments: &'static str,
}

/// Runs `millpond init`.
pub(crate) fn run(args: &InitArgs) -> ExitCode {
    match block_on(probe_and_write_initial_config(&args.file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => print_error_and_return_failure(&problem),
    }
}

/// Looks for providers, servers and agents, and writes their profiles to the new `file`.
async fn probe_and_write_initial_config(file: &Path) -> Result<(), String> {
    let mut found = find_hosted_providers(|name| std::env::var(name).ok());
    found.extend(probe_local_servers().await);
    found.extend(find_installed_agents());
    for profile in &found {
        print_to_stderr(&format!("found {}", profile.name));
    }
    if found.is_empty() {
        print_to_stderr("no API key, model server or agent CLI found: using the built-in demo");
    }
    let text = render_config_file(&found);
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let mut opened = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} already exists: not overwritten", file.display())
        }
        _ => format!("cannot write {}: {error}", file.display()),
    })?;
    std::io::Write::write_all(&mut opened, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    print_to_stderr(&format!("wrote {}; run `millpond` to start a chat", file.display()));
    Ok(())
}

/// Profiles for providers whose API key is in the environment.
fn find_hosted_providers(variable: impl Fn(&str) -> Option<String>) -> Vec<FoundProfile> {
    let mut found = Vec::new();
    for hosted in &HOSTED_PROVIDERS {
        let is_set = |name: &&&str| variable(name).is_some_and(|key| !key.trim().is_empty());
        let Some(name) = hosted.key_variables.iter().find(is_set) else { continue };
        let mut lines = vec![("wire", hosted.wire.into())];
        lines.extend(hosted.base_url.map(|base| ("base", base.into())));
        lines.push(("model", hosted.model.into()));
        lines.push(("key_variable", (*name).into()));
        found.push(FoundProfile { name: hosted.name, settings: lines, comments: MODEL_COMMENTS });
    }
    found
}

/// Profiles for model servers that answer on this machine.
async fn probe_local_servers() -> Vec<FoundProfile> {
    let builder = millpond_agent::http_client::same_origin_client_builder(&[]);
    let Ok(client) = builder.no_proxy().timeout(PROBE_TIMEOUT).build() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for local in &LOCAL_SERVERS {
        let asked = client.get(format!("{}{}", local.base_url, local.models_path)).send().await;
        let Ok(answer) = asked else { continue };
        let Ok(answer) = answer.json::<Value>().await else { continue };
        let Some(model) = (local.first_model_name)(&answer) else { continue };
        let lines = vec![
            ("wire", local.wire.into()),
            ("base", local.base_url.into()),
            ("model", model.into()),
        ];
        found.push(FoundProfile { name: local.name, settings: lines, comments: MODEL_COMMENTS });
    }
    found
}

/// Profiles for agent CLIs on the PATH.
fn find_installed_agents() -> Vec<FoundProfile> {
    let found = AGENT_PROGRAMS.into_iter().filter_map(|(kind, name)| {
        kind.default_program().filter(|program| is_program_on_path(program))?;
        // Gemini CLI requests approvals only over ACP.
        let lines = match kind {
            AgentKind::Gemini => {
                vec![("agent", "acp".into()), ("command", vec!["gemini", "--acp"].into())]
            }
            _ => vec![("agent", kind.profile_name().into())],
        };
        Some(FoundProfile { name, settings: lines, comments: AGENT_COMMENTS })
    });
    found.collect()
}

/// Returns true if a folder of the PATH has this program.
fn is_program_on_path(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: PathBuf| folder.join(command).is_file())
}

/// Text of the settings file: the found profiles, with further settings as comments.
fn render_config_file(found: &[FoundProfile]) -> String {
    let mut text = String::from(
        "# Millpond settings. `millpond config` prints the values in use.\n\
         # docs/AGENTS.md describes profiles.\n\n",
    );
    if let Some(first) = found.first() {
        text.extend(["profile = ", &toml::Value::from(first.name).to_string(), "\n"]);
    } else {
        text.push_str("# No model found. Without a profile, the built-in demo answers.\n");
    }
    for FoundProfile { name, settings: lines, comments: more } in found {
        text.extend(["\n[profiles.", name, "]\n"]);
        for (key, value) in lines {
            text.extend([*key, " = ", &value.to_string(), "\n"]);
        }
        text.push_str(more);
    }
    if found.is_empty() {
        text.push_str("\n# [profiles.mine]\n# wire = \"chat\"\n# base = \"http://127.0.0.1:8080/v1\"\n# model = \"...\"\n# key_variable = \"...\"\n");
    }
    text
}

const MODEL_COMMENTS: &str = "\
# system = \"You are brief.\"
# folder = \".\"           # working folder
# mcp = \"mcp.json\"       # MCP servers, in the common mcpServers format
# limits = { rounds = 30, minutes = 60 }
# price = { input = 0.0, output = 0.0 }   # US dollars per million tokens
# policy = { run_command = \"ask\" }        # allow, ask or deny
# heartbeat = [{ schedule = \"0 9 * * *\", session = \"Mornings\", prompt = \"...\" }]
";

const AGENT_COMMENTS: &str = "\
# folder = \".\"           # working folder
# own_home = true        # a separate HOME in the data folder
# limits = { minutes = 60, answer_minutes = 60 }
# heartbeat = [{ schedule = \"0 9 * * *\", session = \"Mornings\", prompt = \"...\" }]
";

#[cfg(test)]
mod tests {
    use millpond_agent::agent_loop::ApprovalMode;

    use super::*;
    use crate::settings::SettingFlags;

    fn load_settings(
        file: &Path,
    ) -> Result<crate::settings::Settings, crate::settings::BadSettings> {
        crate::settings::Settings::load(Some(file), &SettingFlags::default(), |_| None)
    }

    #[test]
    fn what_is_found_is_a_profile_that_can_be_read() {
        let set = |name: &str| {
            let keys = ["ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"];
            keys.contains(&name).then(|| "sk-secret".to_owned())
        };
        let found = find_hosted_providers(set);
        let names: Vec<_> = found.iter().map(|found| found.name).collect();
        assert_eq!(names, ["anthropic", "gemini", "openrouter"]);
        let text = render_config_file(&found);
        assert!(!text.contains("sk-secret"), "{text}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        // Also with every comment taken for a setting.
        let all = text.replace("# folder", "folder").replace("# limits", "limits");
        for text in [text, all] {
            std::fs::write(&file, &text).unwrap();
            let config = load_settings(&file).unwrap();
            let (name, profile) = config.active_profile().unwrap().unwrap();
            assert_eq!((name.as_str(), profile.is_demo()), ("anthropic", false));
        }
    }

    #[test]
    fn agents_that_are_installed_are_profiles_too() {
        let lines = vec![("agent", "acp".into()), ("command", vec!["gemini", "--acp"].into())];
        let text = render_config_file(&[FoundProfile {
            name: "gemini-cli",
            settings: lines,
            comments: AGENT_COMMENTS,
        }]);
        let (_, settings) = text.split_once("\n\n").unwrap();
        let bare = settings.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
        let all = bare.collect::<Vec<_>>().join("\n");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        for text in [&text, &all] {
            std::fs::write(&file, text).unwrap();
            let config = load_settings(&file).unwrap();
            let (_, profile) = config.active_profile().unwrap().unwrap();
            let made = profile.read_files_and_build_agent(
                dir.path(),
                dir.path(),
                ApprovalMode::Ask,
                |_| None,
            );
            assert!(made.is_ok(), "{text}");
        }
    }

    #[test]
    fn nothing_found_is_the_demo() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        std::fs::write(&file, render_config_file(&[])).unwrap();
        let config = load_settings(&file).unwrap();
        assert!(config.active_profile().unwrap().is_none());
    }
}
