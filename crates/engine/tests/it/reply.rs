//! The final message alone, as it stands when the run ends: rules X7 and X15.

use millpond_engine::event::{Ending, Event, MessageId, MessagePhase, Outcome, Record};
use millpond_engine::view::reply::ReplyCandidates;

use crate::log::Log;

/// Folds the records; returns the view and the ending.
fn fold_reply(records: &[Record<'_>]) -> (ReplyCandidates, Ending<'static>) {
    let mut view = ReplyCandidates::default();
    for record in records {
        view.apply(&record.event);
    }
    let Event::RunEnded { ending } = &records[records.len() - 1].event else {
        panic!("a run that ends");
    };
    (view, ending.clone().into_owned())
}

#[test]
fn x7_the_reply_is_the_message_that_the_ending_names() {
    let mut log = Log::new();
    log.start_round().push_message(&["I look."]).end_round();
    log.start_round()
        .push_message(&["It is ", "dep"])
        .rewrite(6, "deep.")
        .end_round()
        .complete_run();
    let (mut view, ending) = fold_reply(&log.records());
    assert_eq!(view.final_text(&ending), Some("It is deep."));
    assert_eq!(view.message_text(MessageId(0)), None, "an older round's message is not kept");
    assert_eq!(view.take_final_text(&ending).as_deref(), Some("It is deep."));
    let nothing = Ending { message: None, ..ending };
    assert_eq!(view.final_text(&nothing), None);
}

#[test]
fn x15_a_declared_message_is_kept_through_later_rounds() {
    for declared_by_its_start in [true, false] {
        let mut log = Log::new();
        log.start_round();
        let phase = declared_by_its_start.then_some(MessagePhase::Final);
        log.open_message_in(phase, &["Deep."]).end_message();
        if !declared_by_its_start {
            log.push(Event::FinalDeclared { message: MessageId(0) });
        }
        log.end_round()
            .start_round()
            .open_message_in(Some(MessagePhase::Commentary), &["Tidying."]);
        log.end_message().end_round().start_round().end_round();
        log.end_run(Outcome::Completed, Some(MessageId(0)));
        let (view, ending) = fold_reply(&log.records());
        assert_eq!(view.final_text(&ending), Some("Deep."));
        assert_eq!(view.message_text(MessageId(1)), None, "commentary goes with its round");
    }
}

#[test]
fn a_rewrite_that_would_cut_a_character_keeps_what_is_before_it() {
    let mut log = Log::new();
    log.start_round().push_message(&["Łódź"]).rewrite(3, "dka").end_round().complete_run();
    let (view, ending) = fold_reply(&log.records());
    assert_eq!(view.final_text(&ending), Some("Łdka"));
}
