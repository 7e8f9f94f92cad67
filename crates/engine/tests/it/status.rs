//! What goes on, in a word: the same in every view.

use engine::event::{MessageId, Outcome, Owner};
use engine::view::{Thinking, ViewName};
use engine::wire::{Format, Kind};

use crate::log::Log;
use crate::views::{frames, picture};

/// The status in words after each record, repeats aside.
fn words(view: ViewName, log: &Log) -> Vec<String> {
    let records = log.records();
    let pages = (1..=records.len()).map(|end| picture(view, &records[..end]).label);
    let mut words: Vec<String> = pages.collect();
    words.dedup();
    words
}

#[test]
fn l8_the_status_of_every_view_says_what_goes_on_now() {
    let mut log = Log::new();
    log.round().thinking(&["hm"]).message(&["I look.", " Now."]).tool("ls").ask("q", "May I?");
    log.answer("q", "yes").result(1, "a file").end_round();
    log.round().message(&["One file."]).tool("ls").result(2, "none").end_round();
    log.round().end_round().end(Outcome::Failed, None);
    for view in ViewName::ALL {
        let working = if view == ViewName::Latest { "Working" } else { "Working: ls" };
        let expected = [
            "Thinking",
            "Writing reply",
            working,
            "Waiting for you",
            working,
            "Thinking",
            "Writing reply",
            working,
            "Thinking",
            "Failed: it broke",
        ];
        assert_eq!(words(view, &log), expected, "{view:?}");
    }
}

#[test]
fn l8_what_goes_on_while_a_person_is_waited_for_does_not_hide_it() {
    let mut log = Log::new();
    log.round().tool("a").ask("q", "May I?").tool("b").result(0, "done").message(&["Meanwhile."]);
    for view in ViewName::ALL {
        assert_eq!(words(view, &log).last().unwrap(), "Waiting for you", "{view:?}");
    }
}

#[test]
fn v_thinking_latest_tells_the_newest_words_in_every_view_and_keeps_none_of_them() {
    let mut log = Log::new();
    log.round().thinking(&["First a", " thought,", "\nthen another"]);
    let records = log.records();
    for view in ViewName::ALL {
        let own = Kind { thinking: Thinking::Latest, ..Kind::new(view) };
        let sent = frames(own, &records).0;
        let told = sent.iter().filter(|frame| frame.event == "thinking");
        let told: Vec<_> =
            told.filter_map(|frame| frame.json()["content"].as_str().map(str::to_owned)).collect();
        assert_eq!(told, ["First a", " thought,", "\nthen another"], "{view:?}");
        let page = frames(Kind { format: Format::Patch, ..own }, &records).1;
        assert_eq!(page.label, "Thinking: then another", "{view:?}");
        let mut whole = log.clone();
        whole.message(&["Done."]).end_round().done();
        let page = frames(own, &whole.records()).1;
        assert!(!format!("{page:?}").contains("thought"), "{view:?}");
    }
}

#[test]
fn l8_a_picture_begins_a_message_and_one_for_an_older_message_is_no_news() {
    let mut begins = Log::new();
    begins.round().tool("ls").open_message(&[]).image(Owner::Message(MessageId(0)), "QUJDRA==");
    let mut older = Log::new();
    older.round().message(&["One."]).message(&["Two."]).tool("ls");
    older.image(Owner::Message(MessageId(1)), "QUJDRA==");
    let mut much_older = Log::new();
    much_older.round().message(&["One."]).message(&["Two."]).tool("ls");
    much_older.image(Owner::Message(MessageId(0)), "QUJDRA==");
    for view in ViewName::ALL {
        let working = if view == ViewName::Latest { "Working" } else { "Working: ls" };
        assert_eq!(words(view, &begins).last().unwrap(), "Writing reply", "{view:?}");
        assert_eq!(words(view, &older).last().unwrap(), working, "{view:?}");
        assert_eq!(words(view, &much_older).last().unwrap(), working, "{view:?}");
    }
}

#[test]
fn l8_an_answer_is_news_only_when_nothing_else_is_asked() {
    let mut log = Log::new();
    log.round().tool("ls").ask("p", "May I?").ask("q", "And this?");
    let asked = log.records();
    log.answer("p", "yes");
    for view in ViewName::ALL {
        let kind = Kind { format: Format::Patch, ..Kind::new(view) };
        let told = |records| {
            let (sent, _) = frames(kind, records);
            sent.iter().filter(|frame| frame.json().get("status").is_some()).count()
        };
        assert_eq!(told(&log.records()), told(&asked), "nothing goes on again in {view:?}");
    }
}

#[test]
fn l8_a_tool_that_was_taken_back_does_not_run() {
    let mut log = Log::new();
    log.round().tool("a").tool("b").withdraw(&[], &[0]).tool("c").result(2, "done");
    for view in ViewName::ALL {
        let working = if view == ViewName::Latest { "Working" } else { "Working: b" };
        assert_eq!(words(view, &log).last().unwrap(), working, "{view:?}");
    }
}
