//! Checkpoints, retries, compactions, notices, and the ending of the run.

use std::collections::{BTreeSet, VecDeque};

use crate::event::{Ending, Event, NoticeLevel, Record, StopReason};
use crate::event_family;
use crate::limits::{CHECKPOINTS_REMEMBERED_MAX, FOREIGN_ID_BYTES_MAX};
use crate::view::failure::is_failure;
use crate::view::image_ref::sha256_hex;
use crate::view::item::{ENDING_SORT, ItemKind};
use crate::view::patch::{Patch, ending_label};

use super::{Transcript, UNFINISHED_STATE, sort_names};

/// Hashes of the newest checkpoints shown.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenCheckpoints {
    names: BTreeSet<String>,
    order: VecDeque<String>,
}

impl SeenCheckpoints {
    /// Remembers a checkpoint; returns true if it is new. One without a hash always is.
    fn insert(&mut self, hash: &str) -> bool {
        if hash.is_empty() {
            return true;
        }
        let short = hash.len() <= FOREIGN_ID_BYTES_MAX;
        let name = if short { hash.to_owned() } else { sha256_hex(hash.as_bytes()) };
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
    /// Applies a checkpoint, retry, compaction or notice event.
    pub(super) fn apply_notice_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::CheckpointSaved { hash } if self.seen_checkpoints.insert(hash) => {
                self.put_notice(ItemKind::Checkpoint, "checkpoint", &**hash, record, out);
            }
            Event::RetryScheduled { .. } => {
                self.put_notice(ItemKind::Notice, "retry", retry_text(&record.event), record, out);
            }
            Event::HistoryCompacted { summary } => {
                let summary = summary.as_deref().unwrap_or_default();
                self.put_notice(ItemKind::Notice, "compaction", summary, record, out);
            }
            Event::NoticeGiven { level, text } => {
                let kind =
                    if *level == NoticeLevel::Error { ItemKind::Error } else { ItemKind::Notice };
                self.put_notice(kind, sort_names::level_name(*level), &**text, record, out);
            }
            // Not a notice.
            Event::ImageReceived { .. }
            | Event::DraftReceived { .. }
            | Event::DraftCompleted { .. }
            | Event::CheckpointSaved { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Internal) => {}
        }
    }

    /// Closes all open items except asks that outlive the run, and puts a notice about the ending.
    pub(super) fn close_items_and_put_ending_notice<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Event::RunEnded { ending } = &record.event else { return };
        self.put_arguments_and_forget_open_tools(record, out);
        self.end_requests_and_put_usage(record, out);
        if !ending.stop.is_some_and(StopReason::can_leave_asks_open) {
            self.active_run.open_asks.retain(|(_, ask)| ask.run != record.run);
        }
        for key in self.settling.live_keys() {
            if !self.active_run.open_asks.iter().any(|(ask, _)| *ask == key) {
                self.close_item_if_live(key, UNFINISHED_STATE, out);
            }
        }
        let Ending { outcome, stop, reason, detail, .. } = ending;
        let Some(text) = ending_label(*outcome, *stop, *reason, detail.as_deref()) else { return };
        let kind = if is_failure(*outcome) { ItemKind::Error } else { ItemKind::Notice };
        self.put_notice(kind, ENDING_SORT, text, record, out);
    }
}

/// Text of a retry notice.
fn retry_text(event: &Event<'_>) -> String {
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
