//! Tokens. Thoughts count as output, and what tools read counts as input, as elsewhere.

use crate::event::Usage;
use crate::ingest::json::{RawValue, Shape, number};

pub(super) fn reply_usage(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> = Shape {
        read: [
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "cachedContentTokenCount",
        ],
        skip: &[],
    };
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [prompt, tools, reply, thoughts, cached] =
        usage.read.map(|member| member.and_then(number::<u64>));
    Usage {
        input_tokens: sum(prompt, tools),
        output_tokens: sum(reply, thoughts),
        reasoning_tokens: thoughts,
        cache_read_tokens: cached,
        ..Usage::default()
    }
}

pub(super) fn interaction_usage(raw: &RawValue) -> Usage {
    const USAGE: Shape<5> = Shape {
        read: [
            "total_input_tokens",
            "total_tool_use_tokens",
            "total_output_tokens",
            "total_thought_tokens",
            "total_cached_tokens",
        ],
        skip: &[],
    };
    let Some(usage) = USAGE.read(raw.get()) else {
        return Usage::default();
    };
    let [input, tools, output, thoughts, cached] =
        usage.read.map(|member| member.and_then(number::<u64>));
    Usage {
        input_tokens: sum(input, tools),
        output_tokens: sum(output, thoughts),
        reasoning_tokens: thoughts,
        cache_read_tokens: cached,
        ..Usage::default()
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        _ => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    }
}
