//! What goes on, in a word: the same in every view.

use engine::event::Outcome;
use engine::view::ViewName;

use crate::log::Log;
use crate::views::picture;

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
