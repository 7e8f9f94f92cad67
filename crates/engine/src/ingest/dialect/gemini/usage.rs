//! Token counts. Thoughts count as output and tool input counts as input, as in other dialects.

use crate::event::Usage;
use crate::ingest::json::{RawValue, as_scalar, object};

/// Reads a `usageMetadata` object of `streamGenerateContent`.
pub(super) fn parse_reply_usage(raw: &RawValue) -> Usage {
    object! { UsageFields {
        prompt = "promptTokenCount", tools = "toolUsePromptTokenCount",
        reply = "candidatesTokenCount", thoughts = "thoughtsTokenCount",
        cached = "cachedContentTokenCount",
        ; skip _
    } }
    UsageFields::from_raw(raw).map_or_else(Usage::default, |usage| {
        sum_usage([usage.prompt, usage.tools, usage.reply, usage.thoughts, usage.cached])
    })
}

/// Reads a `usage` object of the Interactions API.
pub(super) fn parse_interaction_usage(raw: &RawValue) -> Usage {
    object! { UsageFields {
        input = "total_input_tokens", tools = "total_tool_use_tokens",
        output = "total_output_tokens", thoughts = "total_thought_tokens",
        cached = "total_cached_tokens",
        ; skip _
    } }
    UsageFields::from_raw(raw).map_or_else(Usage::default, |usage| {
        sum_usage([usage.input, usage.tools, usage.output, usage.thoughts, usage.cached])
    })
}

/// Adds up the counts of input, tool input, output, thoughts and cached input.
fn sum_usage(counts: [Option<&RawValue>; 5]) -> Usage {
    let [input, tools, output, thoughts, cached] =
        counts.map(|count| count.and_then(as_scalar::<u64>));
    Usage {
        input_tokens: sum_options(input, tools),
        output_tokens: sum_options(output, thoughts),
        reasoning_tokens: thoughts,
        cache_read_tokens: cached,
        ..Usage::default()
    }
}

/// Adds two counts; `None` if both are missing.
fn sum_options(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        _ => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    }
}
