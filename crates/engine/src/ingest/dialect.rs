//! The dialect trait and the list of dialects; each dialect has one file.
//!
//! Invariant: a provider's field names appear only in its dialect's file.

mod acp;
mod anthropic;
mod bedrock;
mod claude_code;
mod cline;
mod codex;
mod codex_app_server;
mod cohere;
mod copilot;
mod cursor_agent;
mod gemini;
mod gemini_cli;
mod kilo;
mod ollama;
mod openai_chat;
mod openai_responses;
mod opencode;
mod pi;
mod qwen_code;
mod shared;

use crate::event::TextMode;
use crate::run::Writer;

use super::frame::Frame;
use super::probe::{Likeness, Probe};

/// Error: the frame does not have the shape that the dialect expects. The caller keeps it raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// Incremental parser of one provider's or agent's stream format.
pub(crate) trait Dialect: Clone + std::fmt::Debug + Default + PartialEq {
    /// Name as `--from` takes it.
    const NAME: &'static str;
    /// Increments or whole texts; never guessed.
    const MODE: TextMode;

    /// Certainty that a frame belongs to this dialect.
    fn likeness(probe: &Probe<'_>) -> Likeness;

    /// Parses one frame and writes its events.
    fn push_frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable>;

    /// Handles the transport's `[DONE]` marker.
    fn push_done_marker(&mut self, _out: &mut Writer<'_>) {}

    /// Ends the input: writes held content.
    fn finish(&mut self, _out: &mut Writer<'_>) {}
}

/// Declares the dialects. Of two equally certain ones the first listed wins.
macro_rules! dialects {
    ($(#[$doc:meta] $variant:ident => $module:ident,)*) => {
        /// Name of a dialect: the stream format of one provider or agent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DialectName { $(#[$doc] $variant,)* }

        impl DialectName {
            /// All dialects in declaration order.
            pub const ALL: &'static [DialectName] = &[$(DialectName::$variant,)*];

            /// Text form of the name.
            pub fn as_str(self) -> &'static str {
                match self { $(DialectName::$variant => $module::$variant::NAME,)* }
            }
        }

        /// Parser state of any one dialect.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum AnyDialect { $($variant($module::$variant),)* }

        impl AnyDialect {
            pub(super) fn new(name: DialectName) -> AnyDialect {
                match name { $(DialectName::$variant => AnyDialect::$variant(Default::default()),)* }
            }

            pub(super) fn name(&self) -> DialectName {
                match self { $(AnyDialect::$variant(_) => DialectName::$variant,)* }
            }

            pub(super) fn mode(&self) -> TextMode {
                match self { $(AnyDialect::$variant(_) => $module::$variant::MODE,)* }
            }

            pub(super) fn push_frame(
                &mut self,
                frame: Frame<'_>,
                out: &mut Writer<'_>,
            ) -> Result<(), Unreadable> {
                match self { $(AnyDialect::$variant(dialect) => dialect.push_frame(frame, out),)* }
            }

            pub(super) fn push_done_marker(&mut self, out: &mut Writer<'_>) {
                match self { $(AnyDialect::$variant(dialect) => dialect.push_done_marker(out),)* }
            }

            pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
                match self { $(AnyDialect::$variant(dialect) => dialect.finish(out),)* }
            }
        }

        /// Likeness of a frame to each dialect.
        pub(super) fn likenesses(probe: &Probe<'_>) -> Vec<(DialectName, Likeness)> {
            vec![$((DialectName::$variant, $module::$variant::likeness(probe)),)*]
        }
    };
}

// JSON-RPC dialects come first: their errors look like any error to the others.
dialects! {
    /// JSON-RPC of `codex app-server`.
    CodexAppServer => codex_app_server,
    /// The Agent Client Protocol.
    Acp => acp,
    /// The Chat Completions API, and the many services that copy it.
    OpenAiChat => openai_chat,
    /// The Messages API.
    Anthropic => anthropic,
    /// The Responses API.
    OpenAiResponses => openai_responses,
    /// `streamGenerateContent` and the Interactions API.
    Gemini => gemini,
    /// Ollama's own API.
    Ollama => ollama,
    /// The Chat API, version 2.
    Cohere => cohere,
    /// `ConverseStream`, as JSON lines.
    Bedrock => bedrock,
    /// `codex exec --json`.
    Codex => codex,
    /// `gemini --output-format stream-json`.
    GeminiCli => gemini_cli,
    /// `copilot --output-format json`.
    Copilot => copilot,
    /// `pi --mode json`.
    Pi => pi,
    /// `opencode run --format json`, and the events of `opencode serve`.
    Opencode => opencode,
    /// `cline --json`, and its stored messages.
    Cline => cline,
    /// UI messages of Kilo, Roo and Cline.
    Kilo => kilo,
    /// `claude --output-format stream-json`.
    ClaudeCode => claude_code,
    /// `qwen --output-format stream-json`.
    QwenCode => qwen_code,
    /// `cursor-agent --output-format stream-json`.
    CursorAgent => cursor_agent,
}

/// Error: no dialect has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(pub String);

impl std::fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = DialectName::ALL.iter().map(|name| name.as_str()).collect();
        write!(f, "unknown dialect `{}` (known: auto, {})", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}

impl std::str::FromStr for DialectName {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<DialectName, UnknownDialect> {
        let known = DialectName::ALL.iter().copied().find(|name| name.as_str() == text);
        known.ok_or_else(|| UnknownDialect(text.to_owned()))
    }
}
