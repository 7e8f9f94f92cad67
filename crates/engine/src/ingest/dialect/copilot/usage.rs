//! Token counts of a model call.

use crate::event::{StopReason, Usage};
use crate::ingest::json::{RawValue, as_scalar, as_string, object};
use crate::run::Writer;

use super::Copilot;

impl Copilot {
    /// Writes the usage of a model call of the main agent, and keeps its stop if it is the length.
    pub(super) fn apply_main_agent_usage(
        &mut self,
        data: Option<&RawValue>,
        agent: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        object! { UsageFields {
            input = "inputTokens", output = "outputTokens", reasoning = "reasoningTokens",
            cache_read = "cacheReadTokens", cache_write = "cacheWriteTokens",
            finish = "finishReason",
            ; skip _
        } }
        let usage = data.and_then(UsageFields::from_raw).filter(|_| agent.is_none());
        let Some(usage) = usage else { return };
        let UsageFields { input, output, reasoning, cache_read, cache_write, finish } = usage;
        self.turn.stop = match finish.and_then(as_string).as_deref() {
            Some("length") => Some(StopReason::Length),
            _ => self.turn.stop,
        };
        out.update_or_emit_round_usage(Usage {
            input_tokens: input.and_then(as_scalar),
            output_tokens: output.and_then(as_scalar),
            reasoning_tokens: reasoning.and_then(as_scalar),
            cache_read_tokens: cache_read.and_then(as_scalar),
            cache_write_tokens: cache_write.and_then(as_scalar),
            cost_usd: None,
        });
    }
}
