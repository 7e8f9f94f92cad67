//! A log that stops at any point can be closed, and is then complete.

use millpond_engine::event::{
    Event, Executor, FailureReason, MessageId, MessagePhase, Outcome, StepId, TextMode, ToolKind,
    ToolOutcome,
};
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::run::unfinished::UnfinishedRun;

use crate::fixtures::fixture_streams;
use crate::support::ingest_whole;

#[test]
fn every_beginning_of_every_log_can_be_closed() {
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        let events: Vec<&Event<'_>> = kept.events().collect();
        let mut log = EventOrderChecker::default();
        let mut open = UnfinishedRun::default();
        assert_eq!(open.closing_events(Outcome::Failed, None, ""), [], "it has not begun");
        for (at, event) in events.iter().enumerate() {
            assert!(!open.is_ended());
            log.apply(event).unwrap();
            open.apply(event);
            let mut closed = log.clone();
            let rest = open.closing_events(Outcome::Interrupted, None, "");
            for event in &rest {
                assert_eq!(closed.apply(event), Ok(()), "{} at {at}: {event:?}", stream.display());
            }
            assert!(closed.is_ended(), "{} at {at}", stream.display());
        }
        assert!(open.is_ended(), "{}", stream.display());
        assert_eq!(open.closing_events(Outcome::Failed, None, ""), [], "it has ended");
    }
}

#[test]
fn the_reply_of_a_closed_run_is_the_message_it_had_got_to() {
    let kept = ingest_whole(&std::fs::read(&fixture_streams()[0]).unwrap());
    let mut open = UnfinishedRun::default();
    let mut message = None;
    for event in kept.events() {
        open.apply(event);
        if let Event::MessageStarted { message: started, .. } = event {
            message = Some(*started);
            break;
        }
    }
    let closed = open.closing_events(Outcome::Failed, Some(FailureReason::Storage), "disk full");
    let Some(Event::RunEnded { ending }) = closed.last() else { panic!("{closed:?}") };
    assert_eq!(ending.message, message);
    assert_eq!(ending.detail.as_deref(), Some("disk full"));
    assert!(ending.incomplete);
}

/// The events that close an unfinished log.
fn closing_events(events: &[Event<'static>]) -> Vec<Event<'static>> {
    let mut open = UnfinishedRun::default();
    let started =
        Event::RunStarted { version: 1, dialect: "test".into(), mode: TextMode::Incremental };
    for event in [&started].into_iter().chain(events) {
        open.apply(event);
    }
    open.closing_events(Outcome::Interrupted, None, "")
}

fn reply_message(events: &[Event<'static>]) -> Option<MessageId> {
    closing_events(events).iter().find_map(|event| match event {
        Event::RunEnded { ending } => ending.message,
        _ => None,
    })
}

#[test]
fn a_call_that_was_complete_has_no_result_and_one_that_was_not_is_cut() {
    let step = StepId(0);
    let tool = Event::ToolStarted {
        step,
        round: 0,
        call: "c".into(),
        name: "t".into(),
        kind: ToolKind::Function,
        executor: Executor::Client,
        server: None,
        parent: None,
    };
    let ended = |outcome| Event::ToolEnded { step, outcome, detail: None };
    assert_eq!(closing_events(std::slice::from_ref(&tool))[0], ended(ToolOutcome::Cut));
    assert_eq!(closing_events(&[tool, Event::ToolReady { step }])[0], ended(ToolOutcome::NoResult));
}

#[test]
fn the_reply_of_a_closed_run_is_what_was_declared_and_never_what_was_taken_back() {
    let said = |id: u32| {
        let message = MessageId(id);
        [
            Event::MessageStarted { message, round: 0, phase: None },
            Event::MessageEnded { message, incomplete: false },
        ]
    };
    let two = [said(0), said(1)].concat();
    assert_eq!(reply_message(&two), Some(MessageId(1)));
    let declared = Event::FinalDeclared { message: MessageId(0) };
    assert_eq!(reply_message(&[two.clone(), vec![declared]].concat()), Some(MessageId(0)));
    let withdrawn = Event::Withdrawn { messages: vec![MessageId(1)], steps: Vec::new() };
    assert_eq!(reply_message(&[two, vec![withdrawn]].concat()), None);
}

#[test]
fn a_final_message_stays_the_reply_of_a_closed_run_unless_it_was_taken_back() {
    let started = |id, phase| Event::MessageStarted { message: MessageId(id), round: 0, phase };
    let ended = |id| Event::MessageEnded { message: MessageId(id), incomplete: false };
    let round = Event::RoundStarted { round: 0, model: None, response: None };
    let mut events = vec![round, started(0, Some(MessagePhase::Final)), ended(0), started(1, None)];
    let reply = |events: &[Event<'static>]| match closing_events(events).pop() {
        Some(Event::RunEnded { ending }) => ending.message,
        other => panic!("{other:?}"),
    };
    assert_eq!(reply(&events), Some(MessageId(0)));
    events.push(Event::Withdrawn { messages: vec![MessageId(0)], steps: Vec::new() });
    assert_eq!(reply(&events), Some(MessageId(1)));
}
