//! A log that stops anywhere can be closed, and is then a whole one.

use engine::event::{Event, FailureReason, Outcome};
use engine::run::grammar::Grammar;
use engine::run::unfinished::Unfinished;

use crate::fixtures::streams;
use crate::support::ingest_whole;

#[test]
fn every_beginning_of_every_log_can_be_closed() {
    for stream in streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        let events: Vec<&Event<'_>> = kept.events().collect();
        let mut log = Grammar::default();
        let mut open = Unfinished::default();
        assert_eq!(open.close(Outcome::Failed, None, ""), [], "it has not begun");
        for (at, event) in events.iter().enumerate() {
            log.apply(event).unwrap();
            open.hear(event);
            let mut closed = log.clone();
            let rest = open.close(Outcome::Interrupted, None, "");
            for event in &rest {
                assert_eq!(closed.apply(event), Ok(()), "{} at {at}: {event:?}", stream.display());
            }
            assert!(closed.is_ended(), "{} at {at}", stream.display());
        }
        assert!(open.is_ended(), "{}", stream.display());
        assert_eq!(open.close(Outcome::Failed, None, ""), [], "it has ended");
    }
}

#[test]
fn the_reply_of_a_closed_run_is_the_message_it_had_got_to() {
    let kept = ingest_whole(&std::fs::read(&streams()[0]).unwrap());
    let mut open = Unfinished::default();
    let mut message = None;
    for event in kept.events() {
        open.hear(event);
        if let Event::MessageStarted { message: started, .. } = event {
            message = Some(*started);
            break;
        }
    }
    let closed = open.close(Outcome::Failed, Some(FailureReason::Storage), "disk full");
    let Some(Event::RunEnded { ending }) = closed.last() else { panic!("{closed:?}") };
    assert_eq!(ending.message, message);
    assert_eq!(ending.detail.as_deref(), Some("disk full"));
    assert!(ending.incomplete);
}
