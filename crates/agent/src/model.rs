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

/// How a provider counts, and what it takes for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    pub price: Option<Price>,
    /// What the provider had kept is counted beside the input, not in it.
    pub cached_apart: bool,
}

impl Rates {
    pub fn of(wire: Wire, price: Option<Price>) -> Rates {
        Rates { price, cached_apart: wire == Wire::Messages }
    }

    /// All that a call took in.
    pub fn input_tokens(self, usage: &Usage) -> u64 {
        let apart = [usage.cache_read_tokens, usage.cache_write_tokens];
        let apart: u64 = apart.into_iter().flatten().filter(|_| self.cached_apart).sum();
        usage.input_tokens.unwrap_or(0) + apart
    }

    /// What a call cost, where that is known.
    pub fn cost_usd(self, usage: &Usage) -> Option<f64> {
        let Price { input, output, cached } = self.price?;
        let millions = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / 1e6;
        let kept = usage.cache_read_tokens.unwrap_or(0);
        let fresh = self.input_tokens(usage).saturating_sub(kept);
        let cost = millions(fresh) * input
            + millions(kept) * cached.unwrap_or(input)
            + millions(usage.output_tokens.unwrap_or(0)) * output;
        Some(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_paid_for_once_however_it_is_counted() {
        let price = Some(Price { input: 10.0, output: 20.0, cached: Some(1.0) });
        let usage = |input, kept| Usage {
            input_tokens: Some(input),
            output_tokens: Some(100_000),
            cache_read_tokens: Some(kept),
            ..Usage::default()
        };
        let within = Rates::of(Wire::Chat, price).cost_usd(&usage(1_000_000, 900_000));
        let apart = Rates::of(Wire::Messages, price).cost_usd(&usage(100_000, 900_000));
        assert_eq!((within, apart), (Some(1.0 + 0.9 + 2.0), Some(1.0 + 0.9 + 2.0)));
        assert_eq!(
            Rates::of(Wire::Messages, None).input_tokens(&usage(100_000, 900_000)),
            1_000_000
        );
    }
}
