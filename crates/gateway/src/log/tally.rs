//! What a run adds up to, as its facts go by: turns, visible texts, tokens and money.

use engine::event::{Event, MessageId, Outcome, Usage, UsageScope};

use crate::store::Used;

use super::Fact;

/// Bytes of visible text of one run that a search can find.
const FOUND_BYTES_MAX: usize = 256 << 10;

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    texts: Vec<(MessageId, String)>,
    /// Of all texts that came, also of those taken back.
    bytes: usize,
    used: Used,
}

/// What the store is told beside the records.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// With the place of the fact in its append.
    pub(super) turns: Vec<(usize, Turning)>,
    pub(super) texts: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Turning {
    Began,
    Ended { outcome: Outcome, used: Used },
}

impl Tally {
    pub(super) fn hear_all(&mut self, facts: &[Fact]) -> Told {
        let mut told = Told::default();
        for (at, (_, event)) in facts.iter().enumerate() {
            match event {
                Event::RunStarted { .. } => told.turns.push((at, Turning::Began)),
                Event::PromptReceived { text, .. } => told.texts.push(cut(text).to_owned()),
                Event::RunEnded { ending } => {
                    told.texts.extend(self.texts.drain(..).map(|(_, text)| text));
                    let ended = Turning::Ended { outcome: ending.outcome, used: self.used };
                    told.turns.push((at, ended));
                }
                _ => self.hear(event),
            }
        }
        told
    }

    /// A fact that is no turn.
    pub(super) fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::TextAppended { message, text } => self.append(*message, text),
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some((_, whole)) = self.texts.iter_mut().find(|(id, _)| id == message) {
                    whole.truncate(whole.floor_char_boundary(*kept_bytes));
                }
                self.append(*message, text);
            }
            Event::Withdrawn { messages, .. } => {
                self.texts.retain(|(id, _)| !messages.contains(id));
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => self.use_more(usage),
            Event::UsageReported { scope: UsageScope::Run, usage } => {
                self.used = Used::default();
                self.use_more(usage);
            }
            _ => {}
        }
    }

    fn append(&mut self, message: MessageId, text: &str) {
        let room = FOUND_BYTES_MAX.saturating_sub(self.bytes);
        let text = &text[..text.floor_char_boundary(room)];
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        // Nearly always it is the last one.
        match self.texts.iter_mut().rev().find(|(id, _)| *id == message) {
            Some((_, whole)) => whole.push_str(text),
            None => self.texts.push((message, text.to_owned())),
        }
    }

    fn use_more(&mut self, usage: &Usage) {
        self.used.tokens_in += usage.input_tokens.unwrap_or(0);
        self.used.tokens_out += usage.output_tokens.unwrap_or(0);
        self.used.cost_micro_usd += usage.cost_usd.map_or(0, micro);
    }
}

/// In millionths; a price that is none counts nothing.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be finite and positive; a cast of a float saturates"
)]
fn micro(usd: f64) -> u64 {
    if usd.is_finite() && 0.0 < usd { (usd * 1e6).round() as u64 } else { 0 }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(FOUND_BYTES_MAX)]
}
