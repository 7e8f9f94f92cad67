//! Command-line arguments. Their doc comments are the help texts and the man pages.

#![allow(
    rustdoc::bare_urls,
    clippy::doc_markdown,
    reason = "help texts, in which angle brackets would be printed"
)]

mod chat;
mod gateway_commands;
mod source;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};
use millpond_engine::ingest::DialectName;
use millpond_engine::view::{Thinking, ViewName};
use millpond_engine::wire::{ContentMode, FrameFormat, StreamKind};

pub(crate) use chat::{ChatArgs, ImagesArg, PipeOutput};
pub(crate) use gateway_commands::{
    ConfigArgs, ConfigPrintArgs, DoctorArgs, InitArgs, LoginArgs, RestoreArgs, ServeArgs, TeeArgs,
};
pub(crate) use source::{SourceArgs, TagsFileError};

/// Chat with AI agents, and show, record and serve their output streams.
///
/// Millpond reads the raw stream of a model API or an agent CLI, records it as one append-only
/// event log, and shows it in one of five views without losing, repeating or leaking text.
/// Without a command, `millpond` starts a chat.
#[derive(Debug, Parser)]
#[command(name = "millpond", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) chat: ChatArgs,
}

/// Subcommands of `millpond`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(ChatArgs),
    Demo(DemoArgs),
    Show(ShowArgs),
    Compare(CompareArgs),
    Serve(ServeArgs),
    Tee(TeeArgs),
    Login(LoginArgs),
    Config(ConfigPrintArgs),
    Doctor(DoctorArgs),
    Restore(RestoreArgs),
    Init(InitArgs),
    /// Internal: run by agents before each tool call
    #[command(hide = true, name = millpond_agent::profile::HOOK_SUBCOMMAND)]
    Hook {
        socket: PathBuf,
    },
    /// Print a shell completion script
    ///
    /// For bash: millpond completions bash > ~/.local/share/bash-completion/completions/millpond
    Completions {
        shell: clap_complete::Shell,
    },
    /// Print a man page
    ///
    /// Example: millpond man show | man -l -
    Man {
        /// Command to document (default: the whole program)
        page: Option<String>,
    },
}

/// Watch a live run of the built-in demo agent
///
/// The agent thinks, calls real tools in a temporary folder, and answers. Needs no API key, no
/// server and no settings, and keeps nothing. Examples:
///
///   millpond demo
///
///   millpond demo --view transcript
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DemoArgs {
    /// View to show
    #[arg(long, value_enum, default_value_t = ViewArg::Steps)]
    view: ViewArg,

    #[command(flatten)]
    pub(crate) stream_debug: StreamDebugArgs,
}

impl DemoArgs {
    pub(crate) fn view_name(&self) -> ViewName {
        self.view.view_name()
    }
}

/// Show the stream of a model or agent as readable text
///
/// Reads the output of a model API or an agent CLI, detects its dialect and shows what the agent
/// said: live on a terminal; elsewhere each message once, without thinking and tool calls.
/// Examples:
///
///   claude -p "..." --output-format stream-json --verbose | millpond show
///
///   curl -N https://.../v1/chat/completions -d '{"stream":true,...}' | millpond show
///
///   millpond show --view steps recorded.sse
///
///   millpond show --output events recorded.sse
///
/// Exit status: 0 complete reply; 1 failed or refused, or the input is empty or unrecognised;
/// 2 usage error; 3 cut off, cancelled or stopped by a length limit. The reason is printed to
/// standard error.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// View to show (default: latest)
    #[arg(long, value_enum)]
    view: Option<ViewArg>,

    /// What to print (default: screen on a terminal, text elsewhere)
    #[arg(short, long, value_enum)]
    output: Option<ShowOutput>,

    /// Text carried by frames
    #[arg(long, value_enum, default_value_t = ContentArg::Accumulated)]
    content: ContentArg,

    /// Format of frames
    #[arg(long, value_enum, default_value_t = FormatArg::Own)]
    format: FormatArg,

    /// Record the raw stream with timestamps to FILE, for playback with `show`
    ///
    /// FILE must not exist. Anything that looks like a key, token or password within one chunk is
    /// redacted. A secret that the model spells out across chunks is not: check before sharing.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Playback speed of a recording
    #[arg(long, value_enum, default_value_t = Pace::Fast)]
    pub(crate) pace: Pace,

    #[command(flatten)]
    pub(crate) stream_debug: StreamDebugArgs,
}

/// Compare all five views of a stream side by side
///
/// Shows what each view displays at the end or after a given event, as text columns or as one
/// self-contained HTML page with a time slider. Use it to choose a view or to inspect a bug
/// report. Examples:
///
///   millpond compare recorded.sse
///
///   millpond compare --at 12 recorded.sse
///
///   millpond compare --html out.html recorded.sse
///
/// The HTML page also lists the events, including what views hide: check before sharing.
///
/// Exit status: same as `millpond show`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Write an HTML page to FILE (`-` for standard output) instead of text columns
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Show the state after event N, counted from 0 as in `show --output events` (default: the
    /// last event); an HTML page opens there
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<u64>,

    /// Total width of the text columns (default: the terminal's width, or 120)
    #[arg(long, value_name = "COLUMNS", conflicts_with = "html",
          value_parser = clap::value_parser!(u16).range(20..=2000))]
    pub(crate) width: Option<u16>,

    #[command(flatten)]
    pub(crate) stream_debug: StreamDebugArgs,
}

/// Flag of all commands that handle streams.
#[derive(Debug, clap::Args)]
pub(crate) struct StreamDebugArgs {
    /// Log what is held back, hidden, dropped and shown, as JSON lines on standard error
    ///
    /// The full-screen chat writes the lines to stream-debug.jsonl in the data folder instead. They
    /// contain text of the conversation.
    #[arg(long, env = "STREAM_DEBUG", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) stream_debug: bool,
}

/// Arguments of commands that read a stream: its source, dialect and filters.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// Stream or recording to read (default or `-`: standard input)
    pub(crate) file: Option<PathBuf>,

    /// Dialect of the stream; `auto` detects it from the first lines
    #[arg(long, default_value = "auto", value_name = "DIALECT",
          value_parser = PossibleValuesParser::new(dialect_names_with_auto()))]
    from: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// How to show thinking (default: depends on the view)
    #[arg(long, value_enum)]
    thinking: Option<ThinkingArg>,

    /// Do not print the detected dialect
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Values of `show --output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowOutput {
    /// The view, redrawn as it changes
    Screen,
    /// Frames of the view, one JSON object per line
    Frames,
    /// Messages as they arrive, separated by blank lines; with --view, its page at the end
    Text,
    /// Only the final message
    Final,
    /// The event log, one JSON record per line
    Events,
}

/// Values of `--pace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pace {
    /// With the recorded pauses
    Real,
    /// Without pauses
    Fast,
}

/// Values of `--view`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    /// One status line or streaming reply, then only the final message
    Latest,
    /// Steps before the first text folded under "Ran for Ns", later steps in place
    Steps,
    /// One bubble per message
    Bubbles,
    /// Everything in order; settled text never changes
    Transcript,
    /// One bubble per sentence, one card per action
    Sentences,
}

impl ViewArg {
    fn view_name(self) -> ViewName {
        match self {
            ViewArg::Latest => ViewName::Latest,
            ViewArg::Steps => ViewName::Steps,
            ViewArg::Bubbles => ViewName::Bubbles,
            ViewArg::Transcript => ViewName::Transcript,
            ViewArg::Sentences => ViewName::Sentences,
        }
    }
}

/// Values of `--thinking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThinkingArg {
    /// Hide it
    Hide,
    /// Only the latest words, in the status
    Latest,
    /// In full, in views that have a place for it (steps, transcript)
    Show,
}

/// Values of `--content`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ContentArg {
    /// Only the new text
    Delta,
    /// The message so far
    Accumulated,
}

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// The view's own frames
    Own,
    /// Patches, the same for all views
    Patch,
}

fn dialect_names_with_auto() -> Vec<&'static str> {
    let known = DialectName::ALL.iter().map(|name| name.as_str());
    std::iter::once("auto").chain(known).collect()
}

impl InputArgs {
    /// Dialect given with `--from`; `None` for `auto`.
    pub(crate) fn explicit_dialect(&self) -> Option<DialectName> {
        self.from.parse().ok()
    }

    /// Thinking mode given with `--thinking`, or the view's default.
    pub(crate) fn thinking(&self) -> Thinking {
        match self.thinking {
            None => Thinking::ViewDefault,
            Some(ThinkingArg::Hide) => Thinking::Hide,
            Some(ThinkingArg::Latest) => Thinking::Latest,
            Some(ThinkingArg::Show) => Thinking::Show,
        }
    }
}

impl ShowArgs {
    /// Output given with `--output`; by default the screen on a terminal, text elsewhere.
    pub(crate) fn resolve_output(&self) -> ShowOutput {
        match self.output {
            Some(output) => output,
            None if std::io::stdout().is_terminal() => ShowOutput::Screen,
            None => ShowOutput::Text,
        }
    }

    /// Returns true if `--view` was given.
    pub(crate) fn has_explicit_view(&self) -> bool {
        self.view.is_some()
    }

    /// Kind of frame stream selected by `--view`, `--format`, `--content` and `--thinking`.
    pub(crate) fn stream_kind(&self) -> StreamKind {
        StreamKind {
            view: self.view.map_or(ViewName::Latest, ViewArg::view_name),
            format: match self.format {
                FormatArg::Own => FrameFormat::Native,
                FormatArg::Patch => FrameFormat::Patch,
            },
            content: match self.content {
                ContentArg::Delta => ContentMode::Delta,
                ContentArg::Accumulated => ContentMode::Accumulated,
            },
            thinking: self.input.thinking(),
        }
    }
}
