//! The arguments, which are also the manual.

mod chat;
mod gateway;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum};
use engine::ingest::filter::{BadWord, ControlWord, Meaning};
use engine::ingest::{DialectName, Quirk};
use engine::view::{Thinking, ViewName};
use engine::wire::{Content, Format, Kind};

pub(crate) use chat::{ChatArgs, PicturesArg, Printed};
pub(crate) use gateway::{
    ConfigArgs, ConfigPrintArgs, DoctorArgs, InitArgs, LoginArgs, RestoreArgs, ServeArgs, TeeArgs,
};

/// One calm, true picture of any AI agent.
///
/// Agents think, call tools, retry, stream and fail. Millpond takes any agent's or model's raw
/// stream and shows it without losing, doubling or leaking a character.
#[derive(Debug, Parser)]
#[command(name = "millpond", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) chat: ChatArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(ChatArgs),
    Show(ShowArgs),
    Compare(CompareArgs),
    Serve(ServeArgs),
    Tee(TeeArgs),
    Login(LoginArgs),
    Config(ConfigPrintArgs),
    Doctor(DoctorArgs),
    Restore(RestoreArgs),
    Init(InitArgs),
    /// What agents run before they use a tool; not for people
    #[command(hide = true, name = agent::profile::HOOK_COMMAND)]
    Hook {
        socket: PathBuf,
    },
    /// Print a completion script for your shell
    ///
    /// For bash: millpond completions bash > ~/.local/share/bash-completion/completions/millpond
    Completions {
        shell: clap_complete::Shell,
    },
    /// Print the manual as a man page
    ///
    /// Try: millpond man show | man -l -
    Man {
        /// The command whose manual to print; the whole program's if none is given
        page: Option<String>,
    },
}

/// Show a model's or agent's stream as a person would want to read it
///
/// Reads what a provider's API or an agent's command line prints, recognises it, and shows what
/// the agent said: on a terminal as it is written, elsewhere every message once, thinking and tool
/// calls left out. Examples:
///
///   claude -p "..." --output-format stream-json --verbose | millpond show
///
///   curl -N <https://.../v1/chat/completions> -d '{"stream":true,...}' | millpond show
///
///   millpond show --view steps recorded.sse
///
///   millpond show --output events recorded.sse
///
/// Exit status: 0 the reply is complete; 1 it failed or was refused, or the input is empty or of
/// no known kind; 2 wrong usage; 3 it was cut off, cancelled or ran into a length limit. The
/// reason is one line on standard error.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// How to show it: one of five ways, each for another taste; `latest` if none is given
    #[arg(long, value_enum)]
    view: Option<ViewArg>,

    /// What to print; `screen` on a terminal, `text` elsewhere
    #[arg(short, long, value_enum)]
    output: Option<Output>,

    /// What frames of text carry: what is new, or the message so far
    #[arg(long, value_enum, default_value_t = ContentArg::Accumulated)]
    content: ContentArg,

    /// Which frames: the view's own, or patches, which are the same for all views
    #[arg(long, value_enum, default_value_t = FormatArg::Own)]
    format: FormatArg,

    /// Keep the raw stream with its times in FILE, which must not be there yet; `show` plays it back
    ///
    /// What looks like a key, a token or a password in one piece is blacked out. A secret that the
    /// model itself spells out over several pieces is not: look before you share it.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// How fast to play a recording back
    #[arg(long, value_enum, default_value_t = Pace::Fast)]
    pub(crate) pace: Pace,

    /// Write what was held back, hidden and dropped to standard error, one JSON line each
    #[arg(long, env = "STREAM_DEBUG", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) stream_debug: bool,
}

/// Show a stream in all five views side by side
///
/// For choosing a view, and for looking at a bug report: what each view shows at the end, or after
/// any event; as columns of text, or as one HTML page with a slider through time that needs no
/// network. Examples:
///
///   millpond compare recorded.sse
///
///   millpond compare --at 12 recorded.sse
///
///   millpond compare --html out.html recorded.sse
///
/// The page lists the events too, with what views hide: look before you share it.
///
/// Exit status: as for `millpond show`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Write one self-contained HTML page, `-` for standard output; columns of text if not given
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// How it stood after this event, counted from 0 as in `show --output events`; the end if not
    /// given. An HTML page opens there
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<u64>,

    /// How wide the columns are together; as the terminal, else 120
    #[arg(long, value_name = "COLUMNS", conflicts_with = "html",
          value_parser = clap::value_parser!(u16).range(20..=2000))]
    pub(crate) width: Option<u16>,
}

/// The stream, and how to read it.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The stream to read; standard input if none is given, or `-`
    pub(crate) file: Option<PathBuf>,

    /// What the stream is; `auto` recognises it from its first lines
    #[arg(long, default_value = "auto", value_name = "DIALECT",
          value_parser = PossibleValuesParser::new(dialects()))]
    from: String,

    /// What becomes of thinking: nowhere; only its newest words, in the status; or the whole, where
    /// the view has a place for it (steps, transcript). As the view has it if not given
    #[arg(long, value_enum)]
    thinking: Option<ThinkingArg>,

    /// The model's template has already opened the thinking tag
    #[arg(long)]
    pub(crate) starts_in_thinking: bool,

    /// More tags to hide: lines of `reasoning: NAME...`, `tool: NAME...` or `unwrapped: NAME...`
    #[arg(long, value_name = "FILE")]
    pub(crate) tags: Option<PathBuf>,

    /// A word by which the agent says that it is done, such as '!isfinish'
    ///
    /// It is hidden everywhere outside code, in any case, unless a letter or digit follows it.
    /// With nothing but white space before it or after it in its message it ends the run: tools
    /// asked for in the same reply still run, what comes after them is left out. In the middle of
    /// a message, in code, tool arguments and results it ends nothing. Quote it: many shells give
    /// `!` a meaning of their own.
    #[arg(long, value_name = "WORD", value_parser = finish_word)]
    pub(crate) finish_word: Option<ControlWord>,

    /// Mend a source that is known to lie; may be given more than once
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(quirks()))]
    quirk: Vec<String>,

    /// Do not say which dialect was recognised
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The view, drawn as it changes
    Screen,
    /// The view's frames, one JSON object per line
    Frames,
    /// All messages as they come, a blank line between them; with --view, its page when it is done
    Text,
    /// Only the final message, when it is known
    Final,
    /// The whole log, one JSON record per line
    Events,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pace {
    /// As it came
    Real,
    /// At once
    Fast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    /// One status line or one streaming reply, then only the final message
    Latest,
    /// Steps before the first text folded under "Ran for Ns", later ones in their place
    Steps,
    /// One bubble for each message
    Bubbles,
    /// Everything in order; what is settled never changes
    Transcript,
    /// A bubble for each sentence, a card for each action
    Sentences,
}

impl ViewArg {
    fn name(self) -> ViewName {
        match self {
            ViewArg::Latest => ViewName::Latest,
            ViewArg::Steps => ViewName::Steps,
            ViewArg::Bubbles => ViewName::Bubbles,
            ViewArg::Transcript => ViewName::Transcript,
            ViewArg::Sentences => ViewName::Sentences,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThinkingArg {
    Hide,
    Latest,
    Show,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ContentArg {
    Delta,
    Accumulated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Own,
    Patch,
}

fn finish_word(word: &str) -> Result<ControlWord, BadWord> {
    ControlWord::new(word, Meaning::Finish)
}

fn dialects() -> Vec<&'static str> {
    let known = DialectName::ALL.iter().map(|name| name.as_str());
    std::iter::once("auto").chain(known).collect()
}

fn quirks() -> Vec<&'static str> {
    Quirk::ALL.iter().map(|quirk| quirk.as_str()).collect()
}

impl InputArgs {
    /// The dialect named; none if it is to be recognised.
    pub(crate) fn from(&self) -> Option<DialectName> {
        self.from.parse().ok()
    }

    pub(crate) fn quirks(&self) -> Vec<Quirk> {
        self.quirk.iter().filter_map(|name| name.parse().ok()).collect()
    }

    pub(crate) fn thinking(&self) -> Thinking {
        match self.thinking {
            None => Thinking::AsUsual,
            Some(ThinkingArg::Hide) => Thinking::Hide,
            Some(ThinkingArg::Latest) => Thinking::Latest,
            Some(ThinkingArg::Show) => Thinking::Show,
        }
    }
}

impl ShowArgs {
    /// What to print, on a terminal or elsewhere.
    pub(crate) fn output(&self) -> Output {
        match self.output {
            Some(output) => output,
            None if std::io::stdout().is_terminal() => Output::Screen,
            None => Output::Text,
        }
    }

    /// Whether a view was asked for by name.
    pub(crate) fn names_view(&self) -> bool {
        self.view.is_some()
    }

    /// The stream of frames that was asked for.
    pub(crate) fn kind(&self) -> Kind {
        Kind {
            view: self.view.map_or(ViewName::Latest, ViewArg::name),
            format: match self.format {
                FormatArg::Own => Format::Own,
                FormatArg::Patch => Format::Patch,
            },
            content: match self.content {
                ContentArg::Delta => Content::Delta,
                ContentArg::Accumulated => Content::Accumulated,
            },
            thinking: self.input.thinking(),
        }
    }
}
