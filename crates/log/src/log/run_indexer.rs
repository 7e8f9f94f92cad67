//! Derives what the store indexes from the events of a run: run boundaries, searchable text, tokens
//! and cost.

use millpond_engine::event::{Event, MessageId, Outcome, PromptOrigin, Usage, UsageScope};

use crate::store::TokenUsage;

use super::TimedEvent;

/// Bytes of searchable text per run.
const SEARCHABLE_BYTES_MAX: usize = 256 << 10;

/// Index state of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunIndexer {
    message_texts: Vec<(MessageId, String)>,
    /// Bytes of all text so far, including withdrawn text.
    text_bytes: usize,
    usage: TokenUsage,
}

/// Index entries that are stored together with one append.
#[derive(Debug, Default)]
pub(super) struct IndexUpdate {
    /// Each with the index of its event in the append.
    pub(super) run_boundaries: Vec<(usize, BoundaryKind)>,
    pub(super) searchable_texts: Vec<String>,
}

/// Beginning or end of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum BoundaryKind {
    Began,
    Ended { outcome: Outcome, usage: TokenUsage },
}

impl IndexUpdate {
    /// True if a run begins in the append.
    pub(super) fn begins_run(&self) -> bool {
        self.run_boundaries.iter().any(|(_, kind)| matches!(kind, BoundaryKind::Began))
    }
}

impl RunIndexer {
    /// Applies the events of one append and returns the index entries.
    pub(super) fn apply_batch(&mut self, events: &[TimedEvent]) -> IndexUpdate {
        let mut update = IndexUpdate::default();
        for (index, (_, event)) in events.iter().enumerate() {
            match event {
                Event::RunStarted { .. } => {
                    update.run_boundaries.push((index, BoundaryKind::Began));
                }
                Event::PromptReceived { text, origin: PromptOrigin::Person, .. } => {
                    update.searchable_texts.push(truncate_to_searchable(text).to_owned());
                }
                Event::RunEnded { ending } => {
                    update
                        .searchable_texts
                        .extend(self.message_texts.drain(..).map(|(_, text)| text));
                    let ended = BoundaryKind::Ended { outcome: ending.outcome, usage: self.usage };
                    update.run_boundaries.push((index, ended));
                }
                _ => self.apply_text_or_usage(event),
            }
        }
        update
    }

    /// Applies an event other than a run boundary or prompt.
    pub(super) fn apply_text_or_usage(&mut self, event: &Event<'_>) {
        match event {
            Event::TextAppended { message, text } => self.append_text_within_limit(*message, text),
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some((_, message_text)) =
                    self.message_texts.iter_mut().find(|(id, _)| id == message)
                {
                    message_text.truncate(message_text.floor_char_boundary(*kept_bytes));
                }
                self.append_text_within_limit(*message, text);
            }
            Event::Withdrawn { messages, .. } => {
                self.message_texts.retain(|(id, _)| !messages.contains(id));
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => self.add_usage(usage),
            Event::UsageReported { scope: UsageScope::Run, usage } => {
                self.usage = TokenUsage::default();
                self.add_usage(usage);
            }
            _ => {}
        }
    }

    fn append_text_within_limit(&mut self, message: MessageId, text: &str) {
        let free_bytes = SEARCHABLE_BYTES_MAX.saturating_sub(self.text_bytes);
        let text = &text[..text.floor_char_boundary(free_bytes)];
        if text.is_empty() {
            return;
        }
        self.text_bytes += text.len();
        // Usually the last one.
        match self.message_texts.iter_mut().rev().find(|(id, _)| *id == message) {
            Some((_, message_text)) => message_text.push_str(text),
            None => self.message_texts.push((message, text.to_owned())),
        }
    }

    fn add_usage(&mut self, usage: &Usage) {
        self.usage.tokens_in += usage.input_tokens.unwrap_or(0);
        self.usage.tokens_out += usage.output_tokens.unwrap_or(0);
        self.usage.cost_micro_usd += usage.cost_usd.map_or(0, usd_to_micro_usd);
    }
}

/// Converts dollars to millionths; a price that is not finite and positive counts as 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be finite and positive; a cast of a float saturates"
)]
fn usd_to_micro_usd(usd: f64) -> u64 {
    if usd.is_finite() && 0.0 < usd { (usd * 1e6).round() as u64 } else { 0 }
}

fn truncate_to_searchable(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEARCHABLE_BYTES_MAX)]
}
