//! Parts of a page: items by key, rewritten texts, labels.

use millpond_engine::event::{Event, MessageId, Outcome, StepId};
use millpond_engine::view::text::{TextPatch as Words, TextView};
use millpond_engine::view::{Item, ItemKey, ItemKind, ViewName};

use crate::log::Log;
use crate::views::final_page;

#[test]
fn items_are_found_by_their_keys_and_stand_in_order() {
    let item = |id: &str| Item::new(ItemKind::Text, "r1", id.to_owned());
    let mut items = final_page(ViewName::Steps, &[]).items;
    assert!(items.is_empty());
    for key in [2, 5, 3] {
        items.insert(ItemKey(key), item(&format!("m{key}")));
    }
    items.insert(ItemKey(3), item("again"));
    assert!(!items.is_empty());
    let ids =
        |from: u32| items.iter_from(ItemKey(from)).map(|(_, item)| &*item.id).collect::<Vec<_>>();
    assert_eq!(ids(0), ["m2", "again", "m5"]);
    assert_eq!((ids(4), ids(6)), (vec!["m5"], vec![]));
    assert_eq!(items.get(ItemKey(5)).map(|item| &*item.id), Some("m5"));
    assert!(items.get(ItemKey(4)).is_none() && items.get(ItemKey(6)).is_none());
    let copy: millpond_engine::view::Items =
        items.iter().map(|(key, item)| (key, item.clone())).collect();
    assert_eq!(copy, items);
    items.remove(ItemKey(4));
    items.remove(ItemKey(5));
    assert_eq!((items.len(), items.last_key()), (2, Some(ItemKey(3))));
}

#[test]
fn steps_s3_arguments_that_were_sent_anew_are_shown_as_they_are_now() {
    let mut log = Log::new();
    log.start_round().start_tool("ls");
    log.push(Event::ArgumentsReplaced { step: StepId(0), text: "{\"path\":\"new\"}".into() });
    log.succeed_tool(0, "a").push_message(&["Done."]).end_round();
    let page = final_page(ViewName::Steps, &log.records());
    let steps = page.items.values().flat_map(|item| &item.steps).collect::<Vec<_>>();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].arguments.as_deref(), Some("{\"path\":\"new\"}"));
}

#[test]
fn steps_s3_a_rewrite_of_a_message_nobody_heard_of_is_its_text() {
    let rewritten = |text: &str| {
        let mut log = Log::new();
        let (message, text) = (MessageId(7), text.to_owned().into());
        log.start_round().push(Event::TextRewritten { message, kept_bytes: 0, text });
        let page = final_page(ViewName::Steps, &log.records());
        page.items.values().map(|item| item.text.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(rewritten("Hello."), ["Hello."]);
    assert_eq!(rewritten(""), [""; 0]);
}

#[test]
fn steps_x8_the_end_of_an_older_message_does_not_close_the_newer() {
    let mut log = Log::new();
    log.start_round().push_message(&["One."]).open_message(&["Two"]);
    log.push(Event::MessageEnded { message: MessageId(0), incomplete: true });
    log.append_text(" and on.");
    let page = final_page(ViewName::Steps, &log.records());
    let texts: Vec<_> = page.items.values().map(|item| (&*item.text, item.state)).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert_eq!(texts[1], ("Two and on.", millpond_engine::view::ItemState::Live));
}

#[test]
fn steps_s1_a_thought_between_two_rounds_is_nobodys() {
    let mut log = Log::new();
    log.start_round().push_message(&["One."]).end_round().push_reasoning(&["Hm."]).start_round();
    log.push_message(&["Two."]).end_round().complete_run();
    let page = final_page(ViewName::Steps, &log.records());
    let thoughts = page.items.values().flat_map(|item| &item.steps).count();
    let kinds: Vec<_> = page.items.values().map(|item| item.kind).collect();
    assert_eq!((thoughts, kinds), (0, vec![ItemKind::Text; 2]));
}

#[test]
fn sentences_f1_a_piece_says_when_it_began() {
    let mut log = Log::new();
    log.start_round()
        .set_time(5)
        .open_message(&["One. "])
        .set_time(9)
        .append_text("Two.")
        .end_message();
    let page = final_page(ViewName::Sentences, &log.records());
    let times: Vec<_> = page.items.values().map(|item| item.at_ms).collect();
    assert_eq!(times, [Some(5), Some(9)]);
}

#[test]
fn x16_a_text_that_was_taken_back_is_told_where_nothing_can_be_unprinted() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["No."])
        .start_tool("ls")
        .withdraw(&[], &[0])
        .withdraw(&[0], &[]);
    log.start_round().push_message(&["Yes."]).end_round();
    log.end_run(Outcome::Completed, Some(MessageId(1)));
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
