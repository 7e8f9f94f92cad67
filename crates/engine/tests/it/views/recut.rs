//! Logs whose texts are cut differently.

use millpond_engine::event::{Event, Record};

use super::to_records;
use crate::support::RecordedEvents;

/// The same log with its texts split by `cut`.
pub(super) fn recut_texts(
    records: &[Record<'_>],
    cut: impl Fn(&str) -> Vec<String>,
) -> Vec<Record<'static>> {
    let mut events: Vec<(Option<u64>, Event<'static>)> = Vec::new();
    for record in records {
        match &record.event {
            Event::TextAppended { message, text } => {
                let pieces = cut(text).into_iter();
                events.extend(pieces.map(|text| {
                    (record.at_ms, Event::TextAppended { message: *message, text: text.into() })
                }));
            }
            Event::ReasoningAppended { step, text } => {
                let pieces = cut(text).into_iter();
                events.extend(pieces.map(|text| {
                    (record.at_ms, Event::ReasoningAppended { step: *step, text: text.into() })
                }));
            }
            Event::OutputAppended { step, text } => {
                let pieces = cut(text).into_iter();
                events.extend(pieces.map(|text| {
                    (record.at_ms, Event::OutputAppended { step: *step, text: text.into() })
                }));
            }
            other => events.push((record.at_ms, other.clone().into_owned())),
        }
    }
    number_records(events)
}

/// The same log with consecutive texts joined.
pub(super) fn join_texts(records: &[Record<'_>]) -> Vec<Record<'static>> {
    let mut events: Vec<(Option<u64>, Event<'static>)> = Vec::new();
    for record in records {
        if let (
            Event::TextAppended { message, text },
            Some((_, Event::TextAppended { message: last, text: before })),
        ) = (&record.event, events.last_mut())
            && message == last
        {
            before.to_mut().push_str(text);
            continue;
        }
        events.push((record.at_ms, record.event.clone().into_owned()));
    }
    number_records(events)
}

fn number_records(events: Vec<(Option<u64>, Event<'static>)>) -> Vec<Record<'static>> {
    to_records(&RecordedEvents(events))
}
