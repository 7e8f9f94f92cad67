//! Usage of a run: the run's own total if reported, else the sum of its rounds.

use millpond_engine::event::{Event, Usage, UsageScope};
use millpond_engine::event_family;

/// Usage reported by a run so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunUsage {
    run_total: Option<Usage>,
    ended_rounds: Option<Usage>,
    open_round: Option<Usage>,
}

impl RunUsage {
    pub(super) fn track_event(&mut self, event: &Event<'_>) {
        match event {
            Event::UsageReported { scope: UsageScope::Run, usage } => {
                self.run_total.get_or_insert_default().overwrite_reported_numbers(*usage);
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => {
                self.open_round.get_or_insert_default().overwrite_reported_numbers(*usage);
            }
            Event::RoundStarted { .. } | Event::RoundEnded { .. } => {
                self.ended_rounds = add_usage(self.ended_rounds, self.open_round.take());
            }
            // No usage.
            Event::ImageReceived { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    pub(super) fn total(&self) -> Option<Usage> {
        self.run_total.or_else(|| add_usage(self.ended_rounds, self.open_round))
    }
}

fn add_usage(first: Option<Usage>, second: Option<Usage>) -> Option<Usage> {
    let (Some(first), Some(second)) = (first, second) else { return first.or(second) };
    Some(Usage {
        input_tokens: add_tokens(first.input_tokens, second.input_tokens),
        output_tokens: add_tokens(first.output_tokens, second.output_tokens),
        reasoning_tokens: add_tokens(first.reasoning_tokens, second.reasoning_tokens),
        cache_read_tokens: add_tokens(first.cache_read_tokens, second.cache_read_tokens),
        cache_write_tokens: add_tokens(first.cache_write_tokens, second.cache_write_tokens),
        cost_usd: match (first.cost_usd, second.cost_usd) {
            (Some(first), Some(second)) => Some(first + second),
            (first, second) => first.or(second),
        },
    })
}

fn add_tokens(first: Option<u64>, second: Option<u64>) -> Option<u64> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first.saturating_add(second)),
        (first, second) => first.or(second),
    }
}
