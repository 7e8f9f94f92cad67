//! What `millpond chat` takes.

use clap::ValueEnum;
use engine::view::ViewName;

use super::{ConfigArgs, ViewArg};

/// Talk to an agent in the terminal
///
/// The agent is the one of the profile in force, or a demo that needs no key. The conversation is
/// kept; while it goes on, other terminals and browsers can follow and join it. Where standard
/// input is not a terminal it is one message, and the reply is printed. Examples:
///
///   millpond
///
///   millpond -c
///
///   git diff | millpond chat > review.md
///
///   millpond --url <http://127.0.0.1:8181>
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ChatArgs {
    /// Go on with the conversation that changed last
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) continues: bool,

    /// Go on with this conversation; without an id, choose one
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,

    /// How to show it; if none is given `transcript`, and for a message from a pipe `latest`
    #[arg(long, value_enum)]
    view: Option<ViewArg>,

    /// Take standard input for one message, and print this of the run that answers it
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Printed>,

    /// Line by line: nothing that was written changes, and nothing moves by the clock
    #[arg(long)]
    pub(crate) screen_reader: bool,

    /// How the terminal draws pictures, if it does not say so by its name; all are kept as files
    #[arg(long, value_enum, default_value_t = PicturesArg::Auto)]
    pub(crate) pictures: PicturesArg,

    /// A gateway that is running elsewhere
    #[arg(long)]
    pub(crate) url: Option<String>,

    /// What lets one in there; this user's own if not given
    #[arg(long, env = "MILLPOND_TOKEN", hide_env_values = true, requires = "url")]
    pub(crate) token: Option<String>,

    /// Run every tool without asking anybody: only where nothing can be lost
    #[arg(long)]
    pub(crate) yolo: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

impl ChatArgs {
    pub(crate) fn view(&self) -> Option<ViewName> {
        self.view.map(ViewArg::name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PicturesArg {
    /// As the terminal's name tells
    Auto,
    Kitty,
    Iterm2,
    Sixel,
    /// Only their files are named
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Printed {
    /// What the view settles, as plain text
    Text,
    /// The page and each change of it, one JSON object per line
    Frames,
}
