//! What a run used, as far as its source said: its own sum, or that of its rounds.

use engine::event::{Event, Usage, UsageScope};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    run: Option<Usage>,
    rounds: Option<Usage>,
    round: Option<Usage>,
}

impl Spent {
    pub(super) fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::UsageReported { scope: UsageScope::Run, usage } => {
                self.run.get_or_insert_default().update(*usage);
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => {
                self.round.get_or_insert_default().update(*usage);
            }
            Event::RoundStarted { .. } | Event::RoundEnded { .. } => {
                self.rounds = sum(self.rounds, self.round.take());
            }
            _ => {}
        }
    }

    pub(super) fn total(&self) -> Option<Usage> {
        self.run.or_else(|| sum(self.rounds, self.round))
    }
}

fn sum(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    Some(Usage {
        input_tokens: add(one.input_tokens, other.input_tokens),
        output_tokens: add(one.output_tokens, other.output_tokens),
        reasoning_tokens: add(one.reasoning_tokens, other.reasoning_tokens),
        cache_read_tokens: add(one.cache_read_tokens, other.cache_read_tokens),
        cache_write_tokens: add(one.cache_write_tokens, other.cache_write_tokens),
        cost_usd: match (one.cost_usd, other.cost_usd) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        },
    })
}

fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
