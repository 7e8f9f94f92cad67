//! Arguments of `millpond chat`.

use clap::ValueEnum;
use millpond_engine::view::ViewName;

use super::{ConfigArgs, StreamDebugArgs, ViewArg};

/// Chat with an agent in the terminal
///
/// Uses the agent of the active profile, or a built-in demo that needs no API key. Conversations
/// are saved; other terminals and browsers can follow and join a running one. If standard input is
/// not a terminal, it is sent as one message and the reply is printed. Examples:
///
///   millpond
///
///   millpond -c
///
///   git diff | millpond chat > review.md
///
///   millpond --url http://127.0.0.1:8181
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ChatArgs {
    /// Continue the most recent conversation
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) continue_latest: bool,

    /// Resume a conversation; without ID, choose one from a list
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,

    /// View to show (default: transcript; latest if standard input is a pipe)
    #[arg(long, value_enum)]
    view: Option<ViewArg>,

    /// Send standard input as one message and print the reply in this format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<PipeOutput>,

    /// Print line by line for screen readers, without redrawing or animation
    #[arg(long)]
    pub(crate) screen_reader: bool,

    /// Protocol for drawing images; images are always saved as files too
    #[arg(long, value_enum, default_value_t = ImagesArg::Auto)]
    pub(crate) pictures: ImagesArg,

    /// Connect to a running gateway at this URL
    #[arg(long)]
    pub(crate) url: Option<String>,

    /// Access token for a running gateway (default: your own, from the data folder)
    #[arg(long, env = "MILLPOND_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// Skip all approvals (dangerous)
    #[arg(long)]
    pub(crate) yolo: bool,

    #[command(flatten)]
    pub(crate) stream_debug: StreamDebugArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

impl ChatArgs {
    /// View given with `--view`.
    pub(crate) fn explicit_view(&self) -> Option<ViewName> {
        self.view.map(ViewArg::view_name)
    }
}

/// Values of `--pictures`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImagesArg {
    /// Detect from the terminal's name
    Auto,
    /// Kitty graphics protocol
    Kitty,
    /// iTerm2 inline images
    Iterm2,
    /// Sixel graphics
    Sixel,
    /// Print only the file names
    None,
}

/// Values of `chat --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PipeOutput {
    /// Plain text, printed as it settles
    Text,
    /// A snapshot of the page, then each patch, one JSON object per line
    Frames,
}
