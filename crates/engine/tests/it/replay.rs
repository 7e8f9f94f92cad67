//! A run that is continued from its log, as after a restart.

use millpond_engine::event::Event;
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::run::grammar::EventOrderChecker;

use crate::fixtures::fixture_streams;
use crate::support::{RecordedEvents, ingest_whole};

/// Messages and reasoning steps that are open: a run is continued only where there are none.
#[derive(Default)]
struct OpenTexts(i32);

impl OpenTexts {
    fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::MessageStarted { .. } | Event::ReasoningStarted { .. } => self.0 += 1,
            Event::MessageEnded { .. } | Event::ReasoningEnded { .. } => self.0 -= 1,
            _ => {}
        }
    }
}

/// The events that end a run whose log so far is `log`.
fn end_resumed_run(log: &[&Event<'_>]) -> RecordedEvents {
    let mut ingest = Ingest::new(&IngestOptions::default());
    for event in log {
        ingest.replay_event(event);
    }
    let mut rest = RecordedEvents::default();
    ingest.finish(InputEnd::Interrupted, None, &mut rest);
    rest
}

#[test]
fn every_log_that_is_continued_between_texts_ends_in_order() {
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        let events: Vec<&Event<'_>> = kept.events().collect();
        let mut order = EventOrderChecker::default();
        let mut texts = OpenTexts::default();
        for (at, event) in events.iter().enumerate() {
            order.apply(event).unwrap();
            texts.apply(event);
            if texts.0 != 0 || order.is_ended() {
                continue;
            }
            let mut order = order.clone();
            for event in end_resumed_run(&events[..=at]).events() {
                let applied = order.apply(event);
                assert_eq!(applied, Ok(()), "{} at {at}: {event:?}", stream.display());
            }
            assert!(order.is_ended(), "{} at {at}", stream.display());
        }
    }
}
