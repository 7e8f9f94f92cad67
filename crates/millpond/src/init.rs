//! A first `millpond.toml`, from what this machine has.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use agent::driven::Kind;
use serde_json::Value;

use crate::args::InitArgs;
use crate::show::say;

/// A provider whose key may be in the environment.
struct Hosted {
    name: &'static str,
    variables: &'static [&'static str],
    wire: &'static str,
    base: Option<&'static str>,
    model: &'static str,
}

const HOSTED: [Hosted; 4] = [
    Hosted {
        name: "anthropic",
        variables: &["ANTHROPIC_API_KEY"],
        wire: "messages",
        base: None,
        model: "claude-sonnet-4-5",
    },
    Hosted {
        name: "openai",
        variables: &["OPENAI_API_KEY"],
        wire: "responses",
        base: None,
        model: "gpt-5-mini",
    },
    Hosted {
        name: "gemini",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        wire: "gemini",
        base: None,
        model: "gemini-2.5-flash",
    },
    Hosted {
        name: "openrouter",
        variables: &["OPENROUTER_API_KEY"],
        wire: "chat",
        base: Some("https://openrouter.ai/api/v1"),
        model: "openrouter/auto",
    },
];

/// A server that may run on this machine.
struct Local {
    name: &'static str,
    wire: &'static str,
    base: &'static str,
    /// Where it lists its models, and where their names are in the list.
    list: &'static str,
    names: fn(&Value) -> Option<&str>,
}

const LOCAL: [Local; 3] = [
    Local {
        name: "ollama",
        wire: "ollama",
        base: "http://127.0.0.1:11434",
        list: "/api/tags",
        names: |answer| answer["models"][0]["name"].as_str(),
    },
    Local {
        name: "llamacpp",
        wire: "chat",
        base: "http://127.0.0.1:8080/v1",
        list: "/models",
        names: |answer| answer["data"][0]["id"].as_str(),
    },
    Local {
        name: "lmstudio",
        wire: "chat",
        base: "http://127.0.0.1:1234/v1",
        list: "/models",
        names: |answer| answer["data"][0]["id"].as_str(),
    },
];

/// Agents that people have on the command line, and how their profiles are called.
const AGENTS: [(Kind, &str); 6] = [
    (Kind::Claude, "claude-code"),
    (Kind::Codex, "codex"),
    (Kind::Gemini, "gemini-cli"),
    (Kind::Qwen, "qwen-code"),
    (Kind::Opencode, "opencode"),
    (Kind::CursorAgent, "cursor"),
];

/// How long a server on this machine may take to say what it has.
const PROBE_TIME: Duration = Duration::from_millis(800);

/// A profile that would work here.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    name: &'static str,
    lines: Vec<(&'static str, toml::Value)>,
    /// What else it may say.
    more: &'static str,
}

pub(crate) fn run(args: &InitArgs) -> ExitCode {
    let done = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))
        .and_then(|runtime| runtime.block_on(init(&args.file)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            say(&problem);
            ExitCode::FAILURE
        }
    }
}

async fn init(file: &Path) -> Result<(), String> {
    let mut found = in_environment(|name| std::env::var(name).ok());
    found.extend(on_this_machine().await);
    found.extend(installed());
    for profile in &found {
        say(&format!("found {}", profile.name));
    }
    if found.is_empty() {
        say("found no key, no model and no agent on this machine: the demo agent answers");
    }
    let text = written(&found);
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let mut opened = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} is there already, and stays as it is", file.display())
        }
        _ => format!("cannot write {}: {error}", file.display()),
    })?;
    std::io::Write::write_all(&mut opened, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    say(&format!("wrote {}; `millpond serve` uses it", file.display()));
    Ok(())
}

fn in_environment(variable: impl Fn(&str) -> Option<String>) -> Vec<Found> {
    let mut found = Vec::new();
    for hosted in &HOSTED {
        let is_set = |name: &&&str| variable(name).is_some_and(|key| !key.trim().is_empty());
        let Some(name) = hosted.variables.iter().find(is_set) else { continue };
        let mut lines = vec![("wire", hosted.wire.into())];
        lines.extend(hosted.base.map(|base| ("base", base.into())));
        lines.push(("model", hosted.model.into()));
        lines.push(("key_variable", (*name).into()));
        found.push(Found { name: hosted.name, lines, more: MODEL_MORE });
    }
    found
}

async fn on_this_machine() -> Vec<Found> {
    let Ok(client) = reqwest::Client::builder().no_proxy().timeout(PROBE_TIME).build() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for local in &LOCAL {
        let asked = client.get(format!("{}{}", local.base, local.list)).send().await;
        let Ok(answer) = asked else { continue };
        let Ok(answer) = answer.json::<Value>().await else { continue };
        let Some(model) = (local.names)(&answer) else { continue };
        let lines =
            vec![("wire", local.wire.into()), ("base", local.base.into()), ("model", model.into())];
        found.push(Found { name: local.name, lines, more: MODEL_MORE });
    }
    found
}

fn installed() -> Vec<Found> {
    let found = AGENTS.into_iter().filter_map(|(kind, name)| {
        kind.program().filter(|program| is_installed(program))?;
        // By itself Gemini CLI asks only editors.
        let lines = match kind {
            Kind::Gemini => {
                vec![("agent", "acp".into()), ("command", vec!["gemini", "--acp"].into())]
            }
            _ => vec![("agent", kind.as_str().into())],
        };
        Some(Found { name, lines, more: AGENT_MORE })
    });
    found.collect()
}

fn is_installed(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: PathBuf| folder.join(command).is_file())
}

/// The file, in which everything that may be said is at least a comment.
fn written(found: &[Found]) -> String {
    let mut text = String::from(
        "# Settings of Millpond; `millpond config` prints what is in force.\n\
         # docs/AGENTS.md tells what a profile may say.\n\n",
    );
    if let Some(first) = found.first() {
        text.extend(["profile = ", &toml::Value::from(first.name).to_string(), "\n"]);
    } else {
        text.push_str("# No model was found here: without a profile the demo agent answers.\n");
    }
    for Found { name, lines, more } in found {
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

const MODEL_MORE: &str = "\
# system = \"You are brief.\"
# folder = \".\"           # where it works
# mcp = \"mcp.json\"       # servers of tools, as other agents name them
# limits = { rounds = 30, minutes = 60 }
# price = { input = 0.0, output = 0.0 }   # US dollars per million tokens
# policy = { run_command = \"ask\" }        # or allow, or deny
# heartbeat = [{ schedule = \"0 9 * * *\", session = \"Mornings\", prompt = \"...\" }]
";

const AGENT_MORE: &str = "\
# folder = \".\"           # where it works
# own_home = true        # a HOME of its own, beside the log
# limits = { minutes = 60, answer_minutes = 60 }
# heartbeat = [{ schedule = \"0 9 * * *\", session = \"Mornings\", prompt = \"...\" }]
";

#[cfg(test)]
mod tests {
    use agent::rounds::Caution;

    use super::*;

    #[test]
    fn what_is_found_is_a_profile_that_can_be_read() {
        let set = |name: &str| {
            let keys = ["ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"];
            keys.contains(&name).then(|| "sk-secret".to_owned())
        };
        let found = in_environment(set);
        let names: Vec<_> = found.iter().map(|found| found.name).collect();
        assert_eq!(names, ["anthropic", "gemini", "openrouter"]);
        let text = written(&found);
        assert!(!text.contains("sk-secret"), "{text}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        // Also with every comment taken for a setting.
        let all = text.replace("# folder", "folder").replace("# limits", "limits");
        for text in [text, all] {
            std::fs::write(&file, &text).unwrap();
            let config = crate::config::Config::load(Some(&file), &[], |_| None).unwrap();
            let (name, profile) = config.profile().unwrap().unwrap();
            assert_eq!((name.as_str(), profile.is_demo()), ("anthropic", false));
        }
    }

    #[test]
    fn agents_that_are_installed_are_profiles_too() {
        let lines = vec![("agent", "acp".into()), ("command", vec!["gemini", "--acp"].into())];
        let text = written(&[Found { name: "gemini-cli", lines, more: AGENT_MORE }]);
        let (_, settings) = text.split_once("\n\n").unwrap();
        let bare = settings.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
        let all = bare.collect::<Vec<_>>().join("\n");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        for text in [&text, &all] {
            std::fs::write(&file, text).unwrap();
            let config = crate::config::Config::load(Some(&file), &[], |_| None).unwrap();
            let (_, profile) = config.profile().unwrap().unwrap();
            let made = profile.agent(dir.path(), dir.path(), Caution::Ask, |_| None);
            assert!(made.is_ok(), "{text}");
        }
    }

    #[test]
    fn nothing_found_is_the_demo() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        std::fs::write(&file, written(&[])).unwrap();
        let config = crate::config::Config::load(Some(&file), &[], |_| None).unwrap();
        assert!(config.profile().unwrap().is_none());
    }
}
