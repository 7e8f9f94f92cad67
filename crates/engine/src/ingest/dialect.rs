//! The dialects: one file for each, one line here.

mod acp;
mod agents;
mod anthropic;
mod bedrock;
mod claude_code;
mod cline;
mod codex;
mod codex_app_server;
mod cohere;
mod copilot;
mod cursor_agent;
mod draft;
mod gemini;
mod gemini_cli;
mod kilo;
mod ollama;
mod openai_chat;
mod openai_responses;
mod opencode;
mod pi;
mod qwen_code;
mod repeated;
mod say_ask;
mod stream_json;

use crate::event::TextMode;
use crate::run::Writer;

use super::frame::Frame;
use super::probe::{Likeness, Probe};

/// The frame is not of the shape the dialect expects; it is kept as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// One provider's or agent's way of streaming. Its field names are known in its file only.
pub(crate) trait Dialect: Clone + std::fmt::Debug + Default + PartialEq {
    const NAME: &'static str;
    const MODE: TextMode;

    fn likeness(probe: &Probe<'_>) -> Likeness;

    fn frame(&mut self, frame: Frame<'_>, out: &mut Writer<'_>) -> Result<(), Unreadable>;

    /// The transport's `[DONE]`.
    fn done(&mut self, _out: &mut Writer<'_>) {}

    /// No more frames come.
    fn finish(&mut self, _out: &mut Writer<'_>) {}
}

/// Declares the dialects; those listed first win where two are equally sure.
macro_rules! dialects {
    ($($variant:ident => $module:ident,)*) => {
        /// The name of a dialect, as `--from` takes it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum DialectName { $($variant,)* }

        impl DialectName {
            pub const ALL: &'static [DialectName] = &[$(DialectName::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(DialectName::$variant => $module::$variant::NAME,)* }
            }
        }

        /// A dialect and where it is in its stream.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum Speaker { $($variant($module::$variant),)* }

        impl Speaker {
            pub(super) fn new(name: DialectName) -> Speaker {
                match name { $(DialectName::$variant => Speaker::$variant(Default::default()),)* }
            }

            pub(super) fn name(&self) -> DialectName {
                match self { $(Speaker::$variant(_) => DialectName::$variant,)* }
            }

            pub(super) fn mode(&self) -> TextMode {
                match self { $(Speaker::$variant(_) => $module::$variant::MODE,)* }
            }

            pub(super) fn frame(
                &mut self,
                frame: Frame<'_>,
                out: &mut Writer<'_>,
            ) -> Result<(), Unreadable> {
                match self { $(Speaker::$variant(dialect) => dialect.frame(frame, out),)* }
            }

            pub(super) fn done(&mut self, out: &mut Writer<'_>) {
                match self { $(Speaker::$variant(dialect) => dialect.done(out),)* }
            }

            pub(super) fn finish(&mut self, out: &mut Writer<'_>) {
                match self { $(Speaker::$variant(dialect) => dialect.finish(out),)* }
            }
        }

        /// How sure each dialect is of a frame.
        pub(super) fn likenesses(probe: &Probe<'_>) -> Vec<(DialectName, Likeness)> {
            vec![$((DialectName::$variant, $module::$variant::likeness(probe)),)*]
        }
    };
}

// Those of JSON-RPC come first: to others an error of theirs looks like any error.
dialects! {
    CodexAppServer => codex_app_server,
    Acp => acp,
    OpenAiChat => openai_chat,
    Anthropic => anthropic,
    OpenAiResponses => openai_responses,
    Gemini => gemini,
    Ollama => ollama,
    Cohere => cohere,
    Bedrock => bedrock,
    Codex => codex,
    GeminiCli => gemini_cli,
    Copilot => copilot,
    Pi => pi,
    Opencode => opencode,
    Cline => cline,
    Kilo => kilo,
    ClaudeCode => claude_code,
    QwenCode => qwen_code,
    CursorAgent => cursor_agent,
}

/// A name that no dialect has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(pub String);

impl std::fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = DialectName::ALL.iter().map(|name| name.as_str()).collect();
        write!(f, "unknown dialect `{}`; known are auto, {}", self.0, names.join(", "))
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
