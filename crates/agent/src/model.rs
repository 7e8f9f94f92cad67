//! A model: where it is, how it is spoken to, and what it costs.

use std::fmt;

use engine::event::Usage;
use engine::ingest::DialectName;
use serde_json::{Map, Value};

/// The protocol by which a model is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's chat completions, as most servers speak them.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    Gemini,
    /// Ollama's own.
    Ollama,
}

impl Wire {
    pub const ALL: [Wire; 5] =
        [Wire::Chat, Wire::Responses, Wire::Messages, Wire::Gemini, Wire::Ollama];

    pub fn as_str(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Responses => "responses",
            Wire::Messages => "messages",
            Wire::Gemini => "gemini",
            Wire::Ollama => "ollama",
        }
    }

    /// How its replies are read.
    pub fn dialect(self) -> DialectName {
        match self {
            Wire::Chat => DialectName::OpenAiChat,
            Wire::Responses => DialectName::OpenAiResponses,
            Wire::Messages => DialectName::Anthropic,
            Wire::Gemini => DialectName::Gemini,
            Wire::Ollama => DialectName::Ollama,
        }
    }
}

/// A key that lets the model be called. It is shown to nobody but the provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub fn new(key: impl Into<String>) -> Key {
        Key(key.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub wire: Wire,
    /// Up to where the protocol's own paths begin: `https://api.openai.com/v1`.
    pub base: String,
    pub name: String,
    pub key: Option<Key>,
    /// Tokens of one reply, where the protocol wants to know.
    pub max_tokens: u32,
    /// Tokens it may think; nothing leaves that to the model.
    pub thinking_tokens: Option<u32>,
    pub thoughts: Thoughts,
    /// More members of every request, as the provider spells them.
    pub extra: Map<String, Value>,
    pub price: Option<Price>,
}

/// Whether a model is told in clear what it has thought before. Some servers want that, others want
/// it sealed or refuse it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thoughts {
    #[default]
    Drop,
    GiveBack,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Of input that the provider had kept; as other input if not given.
    pub cached: Option<f64>,
}

impl Price {
    /// What a call cost.
    pub fn of(&self, usage: &Usage) -> f64 {
        let tokens = |count: Option<u64>| {
            f64::from(u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX)) / 1e6
        };
        let cached = tokens(usage.cache_read_tokens);
        let fresh = (tokens(usage.input_tokens) - cached).max(0.0);
        fresh * self.input
            + cached * self.cached.unwrap_or(self.input)
            + tokens(usage.output_tokens) * self.output
    }
}
