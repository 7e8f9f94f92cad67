//! Asks that outlive their run: rule X13.

use engine::event::{AnsweredBy, Ending, Event, MessageId, Outcome, Record, Reply, Stop};
use engine::limits::OPEN_ASKS_MAX;
use engine::run::grammar::Grammar;
use engine::run::{Cut, Run, RunOptions};
use engine::view::{Kind as ItemKind, State, ViewName};
use engine::wire::Kind;
use serde_json::json;

use crate::log::Log;
use crate::support::{Kept, fixtures_dir, ingest_whole};
use crate::views::{frames, patches, picture, records};

fn answers(kept: &Kept) -> Vec<&Event<'static>> {
    kept.events().filter(|event| matches!(event, Event::AskResolved { .. })).collect()
}

#[test]
fn x13_a_stream_that_ends_waiting_for_an_approval_leaves_it_open() {
    let stream = fixtures_dir().join("openai-responses/mcp-and-approval.sse");
    let kept = ingest_whole(&std::fs::read(stream).unwrap());
    assert!(answers(&kept).is_empty());
    let log = records(&kept);
    for view in ViewName::ALL {
        let page = picture(view, &log);
        assert_eq!(page.asks.len(), 1, "{view:?}");
        assert!(page.ended.is_some(), "{view:?}");
    }
}

#[test]
fn x13_a_run_that_ends_otherwise_closes_its_asks() {
    for (cut, stop) in [
        (Cut::EndOfInput, None),
        (Cut::Cancelled, None),
        (Cut::EndOfInput, Some(Stop::End)),
        (Cut::EndOfInput, Some(Stop::Length)),
    ] {
        let mut run = Run::new(&RunOptions::default());
        let mut kept = Kept::default();
        let mut writer = run.writer(None, &mut kept);
        writer.start("test", engine::event::TextMode::Incremental);
        writer.ask("q", engine::event::AskKind::Tool, "May I?", Vec::new(), None);
        if let Some(stop) = stop {
            writer.complete(stop);
        }
        writer.finish(cut);
        let by: Vec<_> = answers(&kept);
        assert!(
            matches!(by[..], [Event::AskResolved { by: AnsweredBy::Nobody, .. }]),
            "{cut:?} {stop:?}"
        );
    }
}

/// A run that went away waiting, with nothing after it.
fn waiting() -> Log {
    let mut log = Log::new();
    log.round().message(&["May I drain it?"]).ask("q", "drain").end_round();
    log.push(Event::RunEnded {
        ending: Ending {
            outcome: Outcome::Completed,
            stop: Some(Stop::Paused),
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
    let mut grammar = Grammar::default();
    let mut log = waiting();
    let before = log.records();
    log.answer("q", "yes");
    // The first answer counts.
    log.answer("q", "no");
    let after = log.records();
    for record in &after[..after.len() - 1] {
        assert_eq!(grammar.apply(&record.event), Ok(()));
    }
    assert!(grammar.apply(&after[after.len() - 1].event).is_err());
    for view in ViewName::ALL {
        let (open, closed) = (picture(view, &before), picture(view, &after));
        assert_eq!((open.asks.len(), closed.asks.len()), (1, 0), "{view:?}");
        assert_eq!(open.ended, closed.ended, "{view:?}");
        assert!(closed.items.values().all(|item| item.state == State::Done), "{view:?}");
        let sent = frames(Kind::new(view), &after).0;
        let told: Vec<_> = sent.iter().filter(|one| one.event == "ask-resolved").collect();
        assert_eq!(told.len(), 1, "{view:?}");
        let expected = json!({ "run": "r1", "id": "q", "answer": "yes", "by": "person" });
        assert_eq!(told[0].json(), expected, "{view:?}");
    }
}

#[test]
fn x13_an_ask_stays_open_through_the_next_run_and_is_answered_in_it() {
    let mut log = waiting();
    let first = log.records().len();
    log.push(Event::RunStarted {
        version: 1,
        dialect: "test".into(),
        mode: engine::event::TextMode::Incremental,
    });
    log.round().message(&["Meanwhile."]);
    let during = log.records().len();
    log.push(Event::AskResolved { ask: "q".into(), answer: "yes".into(), by: AnsweredBy::Person });
    let mut all = log.records();
    for (at, record) in all.iter_mut().enumerate() {
        let is_second = first <= at && at < during;
        record.run = if is_second { "r2" } else { "r1" }.into();
    }
    for view in ViewName::ALL {
        let page = picture(view, &all[..during]);
        assert_eq!(page.asks.len(), 1, "{view:?}");
        assert_eq!(page.label, "Writing reply", "{view:?}: the new run does not wait");
        let page = picture(view, &all);
        assert!(page.asks.is_empty() && page.ended.is_none(), "{view:?}");
    }
    transcript_settles_again(&all);
}

fn transcript_settles_again(all: &[Record<'_>]) {
    let page = picture(ViewName::Transcript, all);
    let ask = page.items.values().find(|item| item.kind == ItemKind::Ask).unwrap();
    assert_eq!((ask.state, ask.result.as_deref()), (State::Done, Some("yes")));
    let sent = frames(Kind::new(ViewName::Transcript), all).0;
    let last = sent.iter().rfind(|frame| frame.event == "message").unwrap().json();
    assert_eq!((&last["run"], &last["isAnswered"]), (&json!("r1"), &json!(true)));
    let before = frames(patches(ViewName::Transcript), &all[..all.len() - 1]).1;
    assert!(before.settled < page.settled, "an open ask blocks what follows");
}

#[test]
fn x13_an_ending_that_leaves_no_asks_open_closes_those_of_its_run_alone() {
    let mut log = waiting();
    let first = log.records().len();
    log.push(Event::RunStarted {
        version: 1,
        dialect: "test".into(),
        mode: engine::event::TextMode::Incremental,
    });
    log.round().ask("later", "And this?").message(&["Done."]).end_round().done();
    let mut all = log.records();
    for (at, record) in all.iter_mut().enumerate() {
        record.run = if at < first { "r1" } else { "r2" }.into();
    }
    for view in ViewName::ALL {
        let asks: Vec<_> = picture(view, &all).asks.into_iter().map(|ask| ask.id).collect();
        assert_eq!(asks, ["q"], "{view:?}");
    }
}

#[test]
fn x14_asks_that_nobody_answers_do_not_pile_up() {
    let mut log = Log::new();
    log.round();
    for number in 0..=OPEN_ASKS_MAX {
        log.ask(&format!("q{number}"), "May I?");
    }
    for view in ViewName::ALL {
        let page = picture(view, &log.records());
        assert_eq!(page.asks.len(), OPEN_ASKS_MAX, "{view:?}");
        assert_eq!(page.asks[0].id, "q1", "{view:?}");
        let given_up = page.items.values().filter(|item| item.state == State::Incomplete).count();
        assert_eq!(given_up, usize::from(view == ViewName::Transcript), "{view:?}");
    }
}
