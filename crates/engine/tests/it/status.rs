//! The status label is the same in every view.

use millpond_engine::event::{ImageOwner, MessageId, Outcome};
use millpond_engine::view::{Thinking, ViewName};
use millpond_engine::wire::{FrameFormat, StreamKind};

use crate::log::Log;
use crate::views::{encode_records, final_page};

/// The status label after each record, without repeats.
fn status_labels(view: ViewName, log: &Log) -> Vec<String> {
    let records = log.records();
    let pages = (1..=records.len()).map(|end| final_page(view, &records[..end]).label);
    let mut words: Vec<String> = pages.collect();
    words.dedup();
    words
}

#[test]
fn l8_the_status_of_every_view_says_what_goes_on_now() {
    let mut log = Log::new();
    log.start_round()
        .push_reasoning(&["hm"])
        .push_message(&["I look.", " Now."])
        .start_tool("ls")
        .open_ask("q", "May I?");
    log.answer_ask("q", "yes").succeed_tool(1, "a file").end_round();
    log.start_round()
        .push_message(&["One file."])
        .start_tool("ls")
        .succeed_tool(2, "none")
        .end_round();
    log.start_round().end_round().end_run(Outcome::Failed, None);
    for view in ViewName::ALL.into_iter().filter(|view| *view != ViewName::Steps) {
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
        assert_eq!(status_labels(view, &log), expected, "{view:?}");
    }
    // S2: from a round's text on, only the ask has a status line.
    let expected =
        ["Thinking", "", "Waiting for you", "", "Thinking", "", "Thinking", "Failed: it broke"];
    assert_eq!(status_labels(ViewName::Steps, &log), expected);
}

#[test]
fn l8_what_goes_on_while_a_person_is_waited_for_does_not_hide_it() {
    let mut log = Log::new();
    log.start_round()
        .start_tool("a")
        .open_ask("q", "May I?")
        .start_tool("b")
        .succeed_tool(0, "done")
        .push_message(&["Meanwhile."]);
    for view in ViewName::ALL {
        assert_eq!(status_labels(view, &log).last().unwrap(), "Waiting for you", "{view:?}");
    }
}

#[test]
fn v_thinking_latest_tells_the_newest_words_in_every_view_and_keeps_none_of_them() {
    let mut log = Log::new();
    log.start_round().push_reasoning(&["First a", " thought,", "\nthen another"]);
    let records = log.records();
    for view in ViewName::ALL {
        let own = StreamKind { thinking: Thinking::Latest, ..StreamKind::new(view) };
        let sent = encode_records(own, &records).0;
        let told = sent.iter().filter(|frame| frame.event == "thinking");
        let told: Vec<_> = told
            .filter_map(|frame| frame.data_json()["content"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(told, ["First a", " thought,", "\nthen another"], "{view:?}");
        let page = encode_records(StreamKind { format: FrameFormat::Patch, ..own }, &records).1;
        assert_eq!(page.label, "Thinking: then another", "{view:?}");
        let mut whole = log.clone();
        whole.push_message(&["Done."]).end_round().complete_run();
        let page = encode_records(own, &whole.records()).1;
        assert!(!format!("{page:?}").contains("thought"), "{view:?}");
    }
}

#[test]
fn l8_a_picture_begins_a_message_and_one_for_an_older_message_is_no_news() {
    let mut begins = Log::new();
    begins
        .start_round()
        .start_tool("ls")
        .open_message(&[])
        .image(ImageOwner::Message(MessageId(0)), "QUJDRA==");
    let mut older = Log::new();
    older.start_round().push_message(&["One."]).push_message(&["Two."]).start_tool("ls");
    older.image(ImageOwner::Message(MessageId(1)), "QUJDRA==");
    let mut much_older = Log::new();
    much_older.start_round().push_message(&["One."]).push_message(&["Two."]).start_tool("ls");
    much_older.image(ImageOwner::Message(MessageId(0)), "QUJDRA==");
    for view in ViewName::ALL {
        let (writing, working) = match view {
            ViewName::Latest => ("Writing reply", "Working"),
            ViewName::Steps => ("", ""),
            ViewName::Bubbles | ViewName::Transcript | ViewName::Sentences => {
                ("Writing reply", "Working: ls")
            }
        };
        assert_eq!(status_labels(view, &begins).last().unwrap(), writing, "{view:?}");
        assert_eq!(status_labels(view, &older).last().unwrap(), working, "{view:?}");
        assert_eq!(status_labels(view, &much_older).last().unwrap(), working, "{view:?}");
    }
}

#[test]
fn l8_an_answer_is_news_only_when_nothing_else_is_asked() {
    let mut log = Log::new();
    log.start_round().start_tool("ls").open_ask("p", "May I?").open_ask("q", "And this?");
    let asked = log.records();
    log.answer_ask("p", "yes");
    for view in ViewName::ALL {
        let kind = StreamKind { format: FrameFormat::Patch, ..StreamKind::new(view) };
        let told = |records| {
            let (sent, _) = encode_records(kind, records);
            sent.iter().filter(|frame| frame.data_json().get("status").is_some()).count()
        };
        assert_eq!(told(&log.records()), told(&asked), "nothing goes on again in {view:?}");
    }
}

#[test]
fn l8_a_tool_that_was_taken_back_does_not_run() {
    let mut log = Log::new();
    log.start_round()
        .start_tool("a")
        .start_tool("b")
        .withdraw(&[], &[0])
        .start_tool("c")
        .succeed_tool(2, "done");
    for view in ViewName::ALL {
        let working = if view == ViewName::Latest { "Working" } else { "Working: b" };
        assert_eq!(status_labels(view, &log).last().unwrap(), working, "{view:?}");
    }
}
