//! What a page holds, piece by piece: items by their keys, texts that change, words that are told.

use engine::event::{Event, MessageId, Outcome, StepId};
use engine::view::text::{Patch as Words, TextView};
use engine::view::{Item, Key, Kind as ItemKind, ViewName};

use crate::log::Log;
use crate::views::picture;

#[test]
fn items_are_found_by_their_keys_and_stand_in_order() {
    let item = |id: &str| Item::new(ItemKind::Text, "r1", id.to_owned());
    let mut items = picture(ViewName::Steps, &[]).items;
    assert!(items.is_empty());
    for key in [2, 5, 3] {
        items.insert(Key(key), item(&format!("m{key}")));
    }
    items.insert(Key(3), item("again"));
    assert!(!items.is_empty());
    let ids = |from: u32| items.from(Key(from)).map(|(_, item)| &*item.id).collect::<Vec<_>>();
    assert_eq!(ids(0), ["m2", "again", "m5"]);
    assert_eq!((ids(4), ids(6)), (vec!["m5"], vec![]));
    assert_eq!(items.get(Key(5)).map(|item| &*item.id), Some("m5"));
    assert!(items.get(Key(4)).is_none() && items.get(Key(6)).is_none());
    let copy: engine::view::Items = items.iter().map(|(key, item)| (key, item.clone())).collect();
    assert_eq!(copy, items);
    items.remove(Key(4));
    items.remove(Key(5));
    assert_eq!((items.len(), items.last_key()), (2, Some(Key(3))));
}

#[test]
fn steps_s3_arguments_that_were_sent_anew_are_shown_as_they_are_now() {
    let mut log = Log::new();
    log.round().tool("ls");
    log.push(Event::ArgumentsReplaced { step: StepId(0), text: "{\"path\":\"new\"}".into() });
    log.result(0, "a").message(&["Done."]).end_round();
    let page = picture(ViewName::Steps, &log.records());
    let steps = page.items.values().flat_map(|item| &item.steps).collect::<Vec<_>>();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].arguments.as_deref(), Some("{\"path\":\"new\"}"));
}

#[test]
fn steps_s3_a_rewrite_of_a_message_nobody_heard_of_is_its_text() {
    let rewritten = |text: &str| {
        let mut log = Log::new();
        let (message, text) = (MessageId(7), text.to_owned().into());
        log.round().push(Event::TextRewritten { message, kept_bytes: 0, text });
        let page = picture(ViewName::Steps, &log.records());
        page.items.values().map(|item| item.text.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(rewritten("Hello."), ["Hello."]);
    assert_eq!(rewritten(""), [""; 0]);
}

#[test]
fn steps_x8_the_end_of_an_older_message_does_not_close_the_newer() {
    let mut log = Log::new();
    log.round().message(&["One."]).open_message(&["Two"]);
    log.push(Event::MessageEnded { message: MessageId(0), incomplete: true });
    log.text(" and on.");
    let page = picture(ViewName::Steps, &log.records());
    let texts: Vec<_> = page.items.values().map(|item| (&*item.text, item.state)).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert_eq!(texts[1], ("Two and on.", engine::view::State::Live));
}

#[test]
fn steps_s1_a_thought_between_two_rounds_is_nobodys() {
    let mut log = Log::new();
    log.round().message(&["One."]).end_round().thinking(&["Hm."]).round();
    log.message(&["Two."]).end_round().done();
    let page = picture(ViewName::Steps, &log.records());
    let thoughts = page.items.values().flat_map(|item| &item.steps).count();
    let kinds: Vec<_> = page.items.values().map(|item| item.kind).collect();
    assert_eq!((thoughts, kinds), (0, vec![ItemKind::Text; 2]));
}

#[test]
fn sentences_f1_a_piece_says_when_it_began() {
    let mut log = Log::new();
    log.round().at(5).open_message(&["One. "]).at(9).text("Two.").end_message();
    let page = picture(ViewName::Sentences, &log.records());
    let times: Vec<_> = page.items.values().map(|item| item.at_ms).collect();
    assert_eq!(times, [Some(5), Some(9)]);
}

#[test]
fn x16_a_text_that_was_taken_back_is_told_where_nothing_can_be_unprinted() {
    let mut log = Log::new();
    log.round().message(&["No."]).tool("ls").withdraw(&[], &[0]).withdraw(&[0], &[]);
    log.round().message(&["Yes."]).end_round();
    log.end(Outcome::Completed, Some(MessageId(1)));
    let (mut view, mut told) = (TextView::default(), Vec::new());
    for record in &log.records() {
        view.apply(&record.event, &mut |patch| match patch {
            Words::Withdrawn { messages } => told.push(format!("taken back: {messages}")),
            Words::Append(text) => told.push(text.to_owned()),
            Words::Rewritten => told.push("rewritten".to_owned()),
        });
    }
    let told = told.concat();
    assert_eq!(told.matches("taken back: 1").count(), 1, "{told}");
    assert!(told.starts_with("No.") && told.ends_with("Yes.\n"), "{told}");
}
