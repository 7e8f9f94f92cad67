//! A model: its API, address, key and prices.

use std::fmt;

use millpond_engine::event::Usage;
use millpond_engine::ingest::DialectName;
use serde_json::{Map, Value};

/// HTTP API by which a model is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// OpenAI's chat completions, which most servers support.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Google's generateContent.
    Gemini,
    /// Ollama's chat API.
    Ollama,
}

impl ModelApi {
    /// All APIs.
    pub const ALL: [ModelApi; 5] = [
        ModelApi::Chat,
        ModelApi::Responses,
        ModelApi::Messages,
        ModelApi::Gemini,
        ModelApi::Ollama,
    ];

    /// Its name in a profile.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelApi::Chat => "chat",
            ModelApi::Responses => "responses",
            ModelApi::Messages => "messages",
            ModelApi::Gemini => "gemini",
            ModelApi::Ollama => "ollama",
        }
    }

    /// The dialect of its replies.
    pub fn dialect(self) -> DialectName {
        match self {
            ModelApi::Chat => DialectName::OpenAiChat,
            ModelApi::Responses => DialectName::OpenAiResponses,
            ModelApi::Messages => DialectName::Anthropic,
            ModelApi::Gemini => DialectName::Gemini,
            ModelApi::Ollama => DialectName::Ollama,
        }
    }
}

/// API key. Sent only to the provider; hidden in `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> ApiKey {
        ApiKey(key.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A model and how to call it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// API of its server.
    pub api: ModelApi,
    /// URL before the API's own paths, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The provider's name of the model.
    pub name: String,
    /// API key, if the server needs one.
    pub key: Option<ApiKey>,
    /// Tokens of one reply, for APIs that require a limit.
    pub max_tokens: u32,
    /// Thinking budget in tokens; `None` leaves it to the model.
    pub thinking_tokens: Option<u32>,
    /// Handling of earlier reasoning.
    pub thought_replay: ThoughtReplay,
    /// Extra members of every request, as the provider spells them.
    pub extra_params: Map<String, Value>,
}

/// Handling of earlier reasoning. Some servers want it sent back in clear; others want it sealed or
/// reject it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThoughtReplay {
    #[default]
    Omit,
    Resend,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Price of input.
    pub input: f64,
    /// Price of output.
    pub output: f64,
    /// Price of cached input; `None` means the price of input.
    pub cached: Option<f64>,
}

/// Token counting and prices of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenRates {
    /// Price, if known.
    pub price: Option<Price>,
    /// True if cached tokens are counted beside the input tokens, not among them.
    pub is_cache_separate: bool,
}

impl TokenRates {
    /// Rates for an API with this price.
    pub fn for_api(wire: ModelApi, price: Option<Price>) -> TokenRates {
        TokenRates { price, is_cache_separate: wire == ModelApi::Messages }
    }

    /// Input tokens of a call, cached ones included.
    pub fn total_input_tokens(self, usage: &Usage) -> u64 {
        let cache_tokens = [usage.cache_read_tokens, usage.cache_write_tokens];
        let cache_tokens: u64 =
            cache_tokens.into_iter().flatten().filter(|_| self.is_cache_separate).sum();
        usage.input_tokens.unwrap_or(0) + cache_tokens
    }

    /// Cost of a call, if the price is known.
    pub fn cost_usd(self, usage: &Usage) -> Option<f64> {
        let Price { input, output, cached } = self.price?;
        let millions = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / 1e6;
        let cached_tokens = usage.cache_read_tokens.unwrap_or(0);
        let fresh = self.total_input_tokens(usage).saturating_sub(cached_tokens);
        let cost = millions(fresh) * input
            + millions(cached_tokens) * cached.unwrap_or(input)
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
        let usage = |input, cached_tokens| Usage {
            input_tokens: Some(input),
            output_tokens: Some(100_000),
            cache_read_tokens: Some(cached_tokens),
            ..Usage::default()
        };
        let chat_cost =
            TokenRates::for_api(ModelApi::Chat, price).cost_usd(&usage(1_000_000, 900_000));
        let messages_cost =
            TokenRates::for_api(ModelApi::Messages, price).cost_usd(&usage(100_000, 900_000));
        assert_eq!((chat_cost, messages_cost), (Some(1.0 + 0.9 + 2.0), Some(1.0 + 0.9 + 2.0)));
        assert_eq!(
            TokenRates::for_api(ModelApi::Messages, None)
                .total_input_tokens(&usage(100_000, 900_000)),
            1_000_000
        );
    }
}
