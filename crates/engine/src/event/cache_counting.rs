//! Table of dialects by their counting of cached tokens: among the input tokens, or beside them.

use super::Usage;

/// Relation of a source's cached tokens to its input tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheCounting {
    /// Cached tokens are among the input tokens.
    Among,
    /// Cached tokens are counted beside the input tokens.
    Beside,
}

/// Dialects whose sources count the same for every model.
const COUNTING_OF_DIALECTS: [(&str, CacheCounting); 10] = [
    ("anthropic", CacheCounting::Beside),
    ("bedrock", CacheCounting::Beside),
    ("claude-code", CacheCounting::Beside),
    ("codex", CacheCounting::Among),
    ("codex-app-server", CacheCounting::Among),
    ("gemini", CacheCounting::Among),
    ("openai-chat", CacheCounting::Among),
    ("openai-responses", CacheCounting::Among),
    ("opencode", CacheCounting::Beside),
    ("pi", CacheCounting::Beside),
];

impl CacheCounting {
    /// Counting of a dialect; `None` if it is not known, or differs from model to model.
    pub fn of_dialect(dialect: &str) -> Option<CacheCounting> {
        let known = COUNTING_OF_DIALECTS.iter().find(|(name, _)| *name == dialect);
        known.map(|(_, counting)| *counting)
    }

    /// All input tokens, cached ones included.
    pub fn total_input_tokens(self, usage: &Usage) -> Option<u64> {
        let input = usage.input_tokens?;
        Some(match self {
            CacheCounting::Among => input,
            CacheCounting::Beside => {
                let cached = [usage.cache_read_tokens, usage.cache_write_tokens];
                cached.into_iter().flatten().fold(input, u64::saturating_add)
            }
        })
    }
}
