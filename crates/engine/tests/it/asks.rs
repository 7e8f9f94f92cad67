//! Asks that outlive their run: rule X13.

use millpond_engine::event::{
    AnsweredBy, Ending, Event, MessageId, Outcome, Record, Reply, StopReason,
};
use millpond_engine::limits::OPEN_ASKS_MAX;
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::run::{InputEnd, Run, RunOptions};
use millpond_engine::view::{ItemKind, ItemState, ViewName};
use millpond_engine::wire::StreamKind;
use serde_json::json;

use crate::log::Log;
use crate::support::{RecordedEvents, fixtures_dir, ingest_whole};
use crate::views::{encode_records, final_page, patch_stream_kind, to_records};

fn ask_resolutions(kept: &RecordedEvents) -> Vec<&Event<'static>> {
    kept.events().filter(|event| matches!(event, Event::AskResolved { .. })).collect()
}

#[test]
fn x13_a_stream_that_ends_waiting_for_an_approval_leaves_it_open() {
    let stream = fixtures_dir().join("openai-responses/mcp-and-approval.sse");
    let kept = ingest_whole(&std::fs::read(stream).unwrap());
    assert!(ask_resolutions(&kept).is_empty());
    let log = to_records(&kept);
    for view in ViewName::ALL {
        let page = final_page(view, &log);
        assert_eq!(page.asks.len(), 1, "{view:?}");
        assert!(page.ended.is_some(), "{view:?}");
    }
}

#[test]
fn x13_a_run_that_ends_otherwise_closes_its_asks() {
    for (cut, stop) in [
        (InputEnd::EndOfInput, None),
        (InputEnd::Cancelled, None),
        (InputEnd::EndOfInput, Some(StopReason::End)),
        (InputEnd::EndOfInput, Some(StopReason::Length)),
    ] {
        let mut run = Run::new(&RunOptions::default());
        let mut kept = RecordedEvents::default();
        let mut writer = run.writer(None, &mut kept);
        writer.start_run("test", millpond_engine::event::TextMode::Incremental);
        writer.open_simple_ask_unless_open(
            "q",
            millpond_engine::event::AskKind::Tool,
            "May I?",
            Vec::new(),
            None,
        );
        if let Some(stop) = stop {
            writer.report_completed_unless_failed(stop);
        }
        writer.end_run(cut);
        let by: Vec<_> = ask_resolutions(&kept);
        assert!(
            matches!(by[..], [Event::AskResolved { by: AnsweredBy::Nobody, .. }]),
            "{cut:?} {stop:?}"
        );
    }
}

/// A run that ended while waiting for an answer.
fn paused_run_with_open_ask() -> Log {
    let mut log = Log::new();
    log.start_round().push_message(&["May I drain it?"]).open_ask("q", "drain").end_round();
    log.push(Event::RunEnded {
        ending: Ending {
            outcome: Outcome::Completed,
            stop: Some(StopReason::Paused),
            reason: None,
            detail: None,
            reply: Reply::Message,
            message: Some(MessageId(0)),
            incomplete: false,
        },
    });
    log
}

#[test]
fn x13_an_answer_after_the_end_closes_the_ask_and_changes_nothing_else() {
    let mut grammar = EventOrderChecker::default();
    let mut log = paused_run_with_open_ask();
    let before = log.records();
    log.answer_ask("q", "yes");
    // The first answer counts.
    log.answer_ask("q", "no");
    let after = log.records();
    for record in &after[..after.len() - 1] {
        assert_eq!(grammar.apply(&record.event), Ok(()));
    }
    assert!(grammar.apply(&after[after.len() - 1].event).is_err());
    for view in ViewName::ALL {
        let (open, closed) = (final_page(view, &before), final_page(view, &after));
        assert_eq!((open.asks.len(), closed.asks.len()), (1, 0), "{view:?}");
        assert_eq!(open.ended, closed.ended, "{view:?}");
        assert!(closed.items.values().all(|item| item.state == ItemState::Done), "{view:?}");
        let sent = encode_records(StreamKind::new(view), &after).0;
        let told: Vec<_> = sent.iter().filter(|one| one.event == "ask-resolved").collect();
        assert_eq!(told.len(), 1, "{view:?}");
        let expected = json!({ "run": "r1", "id": "q", "answer": "yes", "by": "person" });
        assert_eq!(told[0].data_json(), expected, "{view:?}");
    }
}

#[test]
fn x13_an_ask_stays_open_through_the_next_run_and_is_answered_in_it() {
    let mut log = paused_run_with_open_ask();
    let first = log.records().len();
    log.push(Event::RunStarted {
        version: 1,
        dialect: "test".into(),
        mode: millpond_engine::event::TextMode::Incremental,
    });
    log.start_round().push_message(&["Meanwhile."]);
    let during = log.records().len();
    log.push(Event::AskResolved { ask: "q".into(), answer: "yes".into(), by: AnsweredBy::Person });
    let mut all = log.records();
    for (at, record) in all.iter_mut().enumerate() {
        let is_second = first <= at && at < during;
        record.run = if is_second { "r2" } else { "r1" }.into();
    }
    for view in ViewName::ALL {
        let page = final_page(view, &all[..during]);
        assert_eq!(page.asks.len(), 1, "{view:?}");
        let label = if view == ViewName::Steps { "" } else { "Writing reply" };
        assert_eq!(page.label, label, "{view:?}: the new run does not wait");
        let page = final_page(view, &all);
        assert!(page.asks.is_empty() && page.ended.is_none(), "{view:?}");
    }
    check_transcript_settles_again(&all);
}

fn check_transcript_settles_again(all: &[Record<'_>]) {
    let page = final_page(ViewName::Transcript, all);
    let ask = page.items.values().find(|item| item.kind == ItemKind::Ask).unwrap();
    assert_eq!((ask.state, ask.result.as_deref()), (ItemState::Done, Some("yes")));
    let sent = encode_records(StreamKind::new(ViewName::Transcript), all).0;
    let last = sent.iter().rfind(|frame| frame.event == "message").unwrap().data_json();
    assert_eq!((&last["run"], &last["isAnswered"]), (&json!("r1"), &json!(true)));
    let before = encode_records(patch_stream_kind(ViewName::Transcript), &all[..all.len() - 1]).1;
    assert!(before.settled < page.settled, "an open ask blocks what follows");
}

#[test]
fn x13_an_ending_that_leaves_no_asks_open_closes_those_of_its_run_alone() {
    let mut log = paused_run_with_open_ask();
    let first = log.records().len();
    log.push(Event::RunStarted {
        version: 1,
        dialect: "test".into(),
        mode: millpond_engine::event::TextMode::Incremental,
    });
    log.start_round()
        .open_ask("later", "And this?")
        .push_message(&["Done."])
        .end_round()
        .complete_run();
    let mut all = log.records();
    for (at, record) in all.iter_mut().enumerate() {
        record.run = if at < first { "r1" } else { "r2" }.into();
    }
    for view in ViewName::ALL {
        let asks: Vec<_> = final_page(view, &all).asks.into_iter().map(|ask| ask.id).collect();
        assert_eq!(asks, ["q"], "{view:?}");
    }
}

#[test]
fn x14_asks_that_nobody_answers_do_not_pile_up() {
    let mut log = Log::new();
    log.start_round();
    for number in 0..=OPEN_ASKS_MAX {
        log.open_ask(&format!("q{number}"), "May I?");
    }
    for view in ViewName::ALL {
        let page = final_page(view, &log.records());
        assert_eq!(page.asks.len(), OPEN_ASKS_MAX, "{view:?}");
        assert_eq!(page.asks[0].id, "q1", "{view:?}");
        let given_up =
            page.items.values().filter(|item| item.state == ItemState::Incomplete).count();
        assert_eq!(given_up, usize::from(view == ViewName::Transcript), "{view:?}");
    }
}
