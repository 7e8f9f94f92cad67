//! Checkpoints, retries, compactions, notices, and how the run ended.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use crate::event::{Event, Level, Outcome, Record, Stop};
use crate::limits::{CHECKPOINTS_REMEMBERED_MAX, ID_BYTES_MAX};
use crate::view::blob::hex_digest;
use crate::view::item::Kind;
use crate::view::patch::{Ended, Patch};

use super::{LEFT_OPEN, Transcript, words};

/// Checkpoints that have been shown, the newest of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Checkpoints {
    names: BTreeSet<String>,
    order: VecDeque<String>,
}

impl Checkpoints {
    /// Remembers a checkpoint; says whether it is new. One without a hash is not known to be
    /// another.
    fn add(&mut self, hash: &str) -> bool {
        if hash.is_empty() {
            return true;
        }
        let short = hash.len() <= ID_BYTES_MAX;
        let name = if short { hash.to_owned() } else { hex_digest(hash.as_bytes()) };
        if !self.names.insert(name.clone()) {
            return false;
        }
        self.order.push_back(name);
        if CHECKPOINTS_REMEMBERED_MAX < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.names.remove(&oldest);
        }
        true
    }
}

impl Transcript {
    pub(super) fn note<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        match &record.event {
            Event::CheckpointSaved { hash } if self.checkpoints.add(hash) => {
                self.notice(Kind::Checkpoint, "checkpoint", &**hash, record, out);
            }
            Event::RetryScheduled { .. } => {
                self.notice(Kind::Notice, "retry", retry(&record.event), record, out);
            }
            Event::HistoryCompacted { summary } => {
                let summary = summary.as_deref().unwrap_or_default();
                self.notice(Kind::Notice, "compaction", summary, record, out);
            }
            Event::NoticeGiven { level, text } => {
                let kind = if *level == Level::Error { Kind::Error } else { Kind::Notice };
                self.notice(kind, words::level(*level), &**text, record, out);
            }
            _ => {}
        }
    }

    /// The run is over: nothing stays partial.
    pub(super) fn close_all<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Event::RunEnded { ending } = &record.event else { return };
        self.end_tools(out);
        self.end_requests(record, out);
        if !ending.stop.is_some_and(Stop::leaves_asks_open) {
            self.going.asks.retain(|(_, ask)| ask.run != record.run);
        }
        for key in self.settling.live() {
            if !self.going.asks.iter().any(|(ask, _)| *ask == key) {
                self.close(key, LEFT_OPEN, out);
            }
        }
        let ended = Ended {
            run: Cow::Borrowed(""),
            outcome: ending.outcome,
            stop: ending.stop,
            reason: ending.reason,
            detail: ending.detail.as_deref().map(Cow::Borrowed),
            reply: ending.reply,
            incomplete: ending.incomplete,
            content: None,
        };
        let Some(text) = ended.words().map(Cow::into_owned) else { return };
        match ending.outcome {
            Outcome::Completed | Outcome::Cancelled => {
                self.notice(Kind::Notice, "ending", text, record, out);
            }
            Outcome::Failed | Outcome::Truncated | Outcome::Stalled | Outcome::Interrupted => {
                self.notice(Kind::Error, "ending", text, record, out);
            }
        }
    }
}

fn retry(event: &Event<'_>) -> String {
    let Event::RetryScheduled { attempt, attempts_max, delay_ms, reason } = event else {
        return String::new();
    };
    let mut words = Vec::new();
    if let Some(attempt) = attempt {
        let of = attempts_max.map(|max| format!(" of {max}")).unwrap_or_default();
        words.push(format!("attempt {attempt}{of}"));
    }
    if let Some(delay) = delay_ms {
        words.push(format!("in {delay} ms"));
    }
    if words.is_empty() { reason.to_string() } else { format!("{reason} ({})", words.join(", ")) }
}
