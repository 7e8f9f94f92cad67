//! Arguments of `serve` and of the commands that share its settings: `init`, `config`, `login`,
//! `restore`, `doctor`, `tee`.

use std::path::{Path, PathBuf};

use super::{SourceArgs, StreamDebugArgs};
use crate::settings::{SettingFlags, Settings};

/// Run the gateway: web chat, HTTP API and a durable log of agent runs
///
/// Starts an HTTP server on this machine. Post the raw stream of an agent or model to
/// /v1/ingest/auto, or pipe it through `millpond tee`. Any number of clients can follow it live,
/// each in its own view, and resume after a lost connection. Messages are answered by the agent of
/// the active profile, or by a built-in demo that needs no API key. Examples:
///
///   millpond serve
///
///   millpond serve --listen 127.0.0.1:9000 --data ./log
///
/// Flags override environment variables, which override millpond.toml. `millpond config` prints
/// the settings in use and where each comes from.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    /// Skip all approvals (dangerous)
    #[arg(long)]
    pub(crate) yolo: bool,

    #[command(flatten)]
    pub(crate) stream_debug: StreamDebugArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Create a millpond.toml for the models and agents found on this machine
///
/// Looks for API keys in the environment, for model servers on this machine and for installed
/// agent CLIs, and prints what it found. Keys are not written to the file, and only servers on
/// this machine are contacted.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// File to create; an existing file is not overwritten
    #[arg(default_value = "millpond.toml", value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Print the settings in use and where each comes from
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigPrintArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Print a link that signs a browser in, valid once and for five minutes
#[derive(Debug, clap::Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Restore files that an agent changed
///
/// Before a tool changes files, the working folder is saved as a checkpoint and its hash is
/// recorded in the log. Without a hash, lists the checkpoints of the folder. With one, shows the
/// changes, asks for confirmation, saves the current files as a checkpoint and restores.
/// Examples:
///
///   millpond restore
///
///   millpond restore 3f1c8a2b --folder ./pond
///
/// Exit status: 0 restored or listed; 1 not restored.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreArgs {
    /// Hash of the checkpoint, or its first characters
    pub(crate) hash: Option<String>,

    /// Folder that the agent worked in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Check the log for damage, and repair it
///
/// Reads every record. Exit status: 0 no damage; 1 damage found, or the check failed.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Set damaged records aside and close the gaps
    #[arg(long)]
    pub(crate) repair: bool,

    /// Copy the log to FILE instead; the gateway may be running
    ///
    /// To restore the copy, put it into an empty data folder as millpond.db.
    #[arg(long, value_name = "FILE", conflicts_with = "repair")]
    pub(crate) backup: Option<PathBuf>,
}

/// Pass a stream through and send a copy to a gateway
///
/// Copies standard input to standard output, unchanged and without delay, even if the gateway is
/// slow or unreachable. Examples:
///
///   claude -p "..." --output-format stream-json --verbose | millpond tee | millpond show
///
///   curl -N ... | millpond tee http://127.0.0.1:8181 --session KEY > reply.sse
///
/// Prints the session and run to standard error. Exit status: 0 the gateway has the whole stream;
/// 1 it does not; 2 usage error.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TeeArgs {
    /// URL of the gateway (default: the one that runs with the data folder)
    pub(crate) url: Option<String>,

    /// Session to add the run to (default: a new one)
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,

    /// Dialect of the stream; `auto` detects it
    #[arg(long, default_value = "auto", value_name = "DIALECT")]
    pub(crate) from: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Access token (default: your own, from the data folder)
    #[arg(long, env = "MILLPOND_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    #[command(flatten)]
    pub(crate) stream_debug: StreamDebugArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Flags that override settings of millpond.toml.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Settings file (default: millpond.toml in the current or the configuration folder)
    #[arg(long, env = "MILLPOND_CONFIG", value_name = "FILE")]
    pub(crate) config_file: Option<PathBuf>,

    /// Address and port to listen on (default: 127.0.0.1:8181)
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Data folder with the log (default: the platform's data folder)
    #[arg(long, value_name = "DIR")]
    data: Option<String>,

    /// Also accept requests for this host name; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// Also allow pages of this origin, such as https://chat.example; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,

    /// TLS certificate chain (PEM file)
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<String>,

    /// TLS private key (PEM file)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<String>,

    /// Profile that answers messages (default: the only one, or the built-in demo)
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Durability on power loss: `window` loses at most 10 ms of the log, `full` nothing
    #[arg(long, value_name = "HOW")]
    durability: Option<String>,
}

impl ConfigArgs {
    /// Loads the settings from these flags, the environment and the settings file.
    pub(crate) fn load_settings(&self) -> Result<Settings, String> {
        let list = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
        let flags = SettingFlags {
            listen: self.listen.clone(),
            data: self.data.clone(),
            hosts: list(&self.hosts),
            origins: list(&self.origins),
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            profile: self.profile.clone(),
            durability: self.durability.clone(),
            keep_days: None,
            keep_megabytes: None,
            log: None,
            log_format: None,
        };
        let file = self.config_file.clone().or_else(find_config_file);
        let variable = |name: &str| std::env::var(name).ok();
        Settings::load(file.as_deref(), &flags, variable).map_err(|error| error.to_string())
    }
}

/// First existing millpond.toml in the current or the configuration folder.
fn find_config_file() -> Option<PathBuf> {
    let here = Path::new("millpond.toml").to_owned();
    let folders = directories::ProjectDirs::from("", "", "millpond");
    let usual = folders.map(|folders| folders.config_dir().join("millpond.toml"));
    [Some(here), usual].into_iter().flatten().find(|path| path.is_file())
}
