//! Runs of heartbeats: nothing of one is on a page until it has something to report (L9).
//!
//! Does: hold the records of the run until it ends, asks the person or gets a message from them, and
//! drop them if it reports nothing; mark a run that reports something as a heartbeat's.
//! Does not: show the prompt, which is not the person's; hold what the person wrote.

use std::borrow::Cow;

use crate::event::{Event, NoticeLevel, Outcome, PromptOrigin, Record, Reply};
use crate::limits::HEARTBEAT_HELD_BYTES_MAX;

/// Notice before what a heartbeat reports, in views that show notices.
const HEARTBEAT_NOTICE: &str = "Heartbeat";

/// Records of an active heartbeat run that are not on the page yet.
#[derive(Clone, Debug, Default)]
pub(super) enum HeldHeartbeat {
    /// No heartbeat is active, or its records are on the page.
    #[default]
    None,
    Held {
        run: String,
        records: Vec<Record<'static>>,
        bytes: usize,
    },
}

/// State of the page's run after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterRecord {
    /// As the record says.
    Unchanged,
    /// A heartbeat ended with nothing to report, so its ending is not shown either.
    EndedSilently,
}

impl HeldHeartbeat {
    /// Holds the record, or passes it on to `apply`, after those that were held if the run has
    /// something to report.
    pub(super) fn hold_or_pass(
        &mut self,
        record: &Record<'_>,
        apply: &mut impl FnMut(&Record<'_>),
    ) -> AfterRecord {
        match self {
            HeldHeartbeat::None => {
                let Event::PromptReceived { origin: PromptOrigin::Heartbeat, .. } = &record.event
                else {
                    apply(record);
                    return AfterRecord::Unchanged;
                };
                let event = Event::NoticeGiven {
                    level: NoticeLevel::Info,
                    text: Cow::Borrowed(HEARTBEAT_NOTICE),
                };
                let run = record.run.to_string();
                let notice = Record { run: run.clone().into(), event, ..*record };
                *self = HeldHeartbeat::Held { run, records: vec![notice], bytes: 0 };
            }
            HeldHeartbeat::Held { run, .. } if *run != record.run => apply(record),
            HeldHeartbeat::Held { records, bytes, .. } => {
                if let Event::RunEnded { ending } = &record.event {
                    let is_silent =
                        ending.outcome == Outcome::Completed && ending.reply == Reply::None;
                    if is_silent {
                        *self = HeldHeartbeat::None;
                        apply(record);
                        return AfterRecord::EndedSilently;
                    }
                    self.release(apply);
                    apply(record);
                    return AfterRecord::Unchanged;
                }
                *bytes += serde_json::to_vec(&record.event).map_or(0, |json| json.len());
                records.push(Record {
                    run: record.run.to_string().into(),
                    event: record.event.clone().into_owned(),
                    ..*record
                });
                let concerns_person = matches!(
                    record.event,
                    Event::AskOpened { .. }
                        | Event::PromptReceived { origin: PromptOrigin::Person, .. }
                );
                if concerns_person || HEARTBEAT_HELD_BYTES_MAX < *bytes {
                    self.release(apply);
                }
            }
        }
        AfterRecord::Unchanged
    }

    fn release(&mut self, apply: &mut impl FnMut(&Record<'_>)) {
        if let HeldHeartbeat::Held { records, .. } = std::mem::take(self) {
            for record in &records {
                apply(record);
            }
        }
    }
}
