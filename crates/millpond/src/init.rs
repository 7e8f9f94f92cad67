//! A first `millpond.toml`, from what this machine has.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

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

/// Agents that people have on the command line.
const COMMANDS: [&str; 6] = ["claude", "codex", "gemini", "qwen", "opencode", "cursor-agent"];

/// How long a server on this machine may take to say what it has.
const PROBE_TIME: Duration = Duration::from_millis(800);

/// A profile that would work here.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    name: &'static str,
    lines: Vec<(&'static str, String)>,
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
    for profile in &found {
        say(&format!("found {}", profile.name));
    }
    for command in COMMANDS.iter().filter(|command| is_installed(command)) {
        say(&format!(
            "found the command `{command}`: its streams can be shown with `millpond show`"
        ));
    }
    if found.is_empty() {
        say("found no key in the environment and no model on this machine: the demo agent answers");
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
        let mut lines = vec![("wire", hosted.wire.to_owned())];
        lines.extend(hosted.base.map(|base| ("base", base.to_owned())));
        lines.push(("model", hosted.model.to_owned()));
        lines.push(("key_variable", (*name).to_owned()));
        found.push(Found { name: hosted.name, lines });
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
        let lines = vec![
            ("wire", local.wire.to_owned()),
            ("base", local.base.to_owned()),
            ("model", model.to_owned()),
        ];
        found.push(Found { name: local.name, lines });
    }
    found
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
        text.extend(["profile = ", &quoted(first.name), "\n"]);
    } else {
        text.push_str("# No model was found here: without a profile the demo agent answers.\n");
    }
    for Found { name, lines } in found {
        text.extend(["\n[profiles.", name, "]\n"]);
        for (key, value) in lines {
            text.extend([*key, " = ", &quoted(value), "\n"]);
        }
        text.push_str(MORE);
        text.extend(["# [profiles.", name, ".policy]\n"]);
        text.push_str("# run_command = \"ask\"   # or allow, or deny\n");
    }
    if found.is_empty() {
        text.push_str("\n# [profiles.mine]\n# wire = \"chat\"\n# base = \"http://127.0.0.1:8080/v1\"\n# model = \"...\"\n# key_variable = \"...\"\n");
    }
    text
}

const MORE: &str = "\
# system = \"You are brief.\"
# folder = \".\"           # where it works
# mcp = \"mcp.json\"       # servers of tools, as other agents name them
# limits = { rounds = 30, minutes = 60 }
# price = { input = 0.0, output = 0.0 }   # US dollars per million tokens
";

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
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
    fn nothing_found_is_the_demo() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("millpond.toml");
        std::fs::write(&file, written(&[])).unwrap();
        let config = crate::config::Config::load(Some(&file), &[], |_| None).unwrap();
        assert!(config.profile().unwrap().is_none());
    }
}
