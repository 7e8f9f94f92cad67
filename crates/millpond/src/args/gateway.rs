//! The arguments of the gateway and of those who use it.

use std::path::{Path, PathBuf};

use crate::config::Config;

/// Keep agents' runs in a durable log and show them live to any number of readers
///
/// Opens an HTTP server on this machine. Post any agent's or model's raw stream to
/// /v1/ingest/auto, or pipe it through `millpond tee`, and follow it from as many places as you
/// like, each in the view it chose; whoever loses the connection goes on where it was. Messages
/// are answered by the agent of the profile in force, or by a demo that needs no key. Examples:
///
///   millpond serve
///
///   millpond serve --listen 127.0.0.1:9000 --data ./log
///
/// Settings come from flags, else from the environment, else from millpond.toml, else they are
/// defaults; `millpond config` prints what is in force and where each value came from.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    /// Run every tool without asking anybody: only where nothing can be lost
    #[arg(long)]
    pub(crate) yolo: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Write a first millpond.toml, from the keys and models that are here
///
/// Looks for keys in the environment, for model servers on this machine, and for agents on the
/// command line, and tells what it found. No key is written down, and nothing is sent anywhere but
/// to servers on this machine.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// The file to write; one that is there is left as it is
    #[arg(default_value = "millpond.toml", value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Print the settings that are in force, and where each came from
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigPrintArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Print a link that lets a browser in, once, within five minutes
#[derive(Debug, clap::Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Put files back as they were before an agent changed them
///
/// Before a tool changes files, the working folder is saved; the log says so with a hash. Without
/// a hash the checkpoints of a folder are listed. With one, the change is shown and asked about;
/// what is there now is saved first, so that this can be undone too. Examples:
///
///   millpond restore
///
///   millpond restore 3f1c8a2b --folder ./pond
///
/// Exit status: 0 done or listed; 1 not done.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreArgs {
    /// The checkpoint, by the beginning of its hash
    pub(crate) hash: Option<String>,

    /// The folder that an agent worked in; the current one if not given
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Do it without asking
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Check the log, and mend it
///
/// Looks at every record. Exit status: 0 all is well; 1 something is damaged.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Put what is damaged aside and close the gaps, so that all else can be used
    #[arg(long)]
    pub(crate) repair: bool,

    /// Only copy the log to FILE, while the gateway runs or not
    ///
    /// To go back to it, put the copy into an empty folder as millpond.db.
    #[arg(long, value_name = "FILE", conflicts_with = "repair")]
    pub(crate) backup: Option<PathBuf>,
}

/// Pass a stream through, and send it to a gateway on the way
///
/// Standard input goes to standard output unchanged and at once; a gateway that is slow or away
/// holds nothing up. Examples:
///
///   claude -p "..." --output-format stream-json --verbose | millpond tee | millpond show
///
///   curl -N ... | millpond tee <http://127.0.0.1:8181> --session KEY > reply.sse
///
/// The session and run are printed to standard error. Exit status: 0 the gateway has all of it;
/// 1 it has not.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TeeArgs {
    /// The gateway; the one of this machine's configuration if not given
    pub(crate) url: Option<String>,

    /// The session to add a run to; a new one if not given
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,

    /// What the stream is; `auto` recognises it
    #[arg(long, default_value = "auto", value_name = "DIALECT")]
    pub(crate) from: String,

    /// A token of the gateway; the one in its data folder if not given
    #[arg(long, env = "MILLPOND_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// The file of settings; millpond.toml in the current or the configuration folder if not given
    #[arg(long, env = "MILLPOND_CONFIG", value_name = "FILE")]
    pub(crate) config_file: Option<PathBuf>,

    /// Address and port to listen on; 127.0.0.1:8181 if not set
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Folder of the log; the platform's data folder if not set
    #[arg(long, value_name = "DIR")]
    data: Option<String>,

    /// A further host name by which the gateway may be called
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// A further site whose pages may use the gateway, such as <https://chat.example>
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,

    /// TLS certificate and its chain, a PEM file
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<String>,

    /// TLS key, a PEM file
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<String>,

    /// Which profile of the settings works on messages; the demo if there is none
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// `window`: a power loss costs at most 10 ms of the log; `full`: nothing
    #[arg(long, value_name = "HOW")]
    durability: Option<String>,
}

impl ConfigArgs {
    pub(crate) fn load(&self) -> Result<Config, String> {
        let one = |key, value: &Option<String>| value.clone().map(|value| (key, value));
        let many = |key, values: &[String]| (!values.is_empty()).then(|| (key, values.join(",")));
        let flags: Vec<(&str, String)> = [
            one("listen", &self.listen),
            one("data", &self.data),
            many("hosts", &self.hosts),
            many("origins", &self.origins),
            one("certificate", &self.certificate),
            one("key", &self.key),
            one("profile", &self.profile),
            one("durability", &self.durability),
        ]
        .into_iter()
        .flatten()
        .collect();
        let file = self.config_file.clone().or_else(usual_file);
        let variable = |name: &str| std::env::var(name).ok();
        Config::load(file.as_deref(), &flags, variable).map_err(|error| error.to_string())
    }
}

/// A file of settings where one usually is.
fn usual_file() -> Option<PathBuf> {
    let here = Path::new("millpond.toml").to_owned();
    let folders = directories::ProjectDirs::from("", "", "millpond");
    let usual = folders.map(|folders| folders.config_dir().join("millpond.toml"));
    [Some(here), usual].into_iter().flatten().find(|path| path.is_file())
}
