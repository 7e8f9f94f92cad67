//! Messages that are open side by side, and messages that thinking interrupts.

use millpond_engine::event::Event;
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::view::{ItemKind, ViewName};
use proptest::prelude::*;
use serde_json::json;

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};
use crate::views::{final_page, to_records};

fn chat_line(choice: &serde_json::Value) -> String {
    let chunk = json!({"id": "c", "object": "chat.completion.chunk", "model": "pond",
        "choices": [choice]});
    format!("data: {chunk}\n\n")
}

fn chat_stream(deltas: &[serde_json::Value]) -> String {
    let lines = deltas.iter().map(|delta| chat_line(&json!({"index": 0, "delta": delta})));
    let end = chat_line(&json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    lines.chain([end, "data: [DONE]\n\n".to_owned()]).collect()
}

fn content(text: &str) -> serde_json::Value {
    json!({"content": text})
}

#[test]
fn transcript_t2_a_partial_message_stays_open_while_others_come_and_its_completion_replaces_it() {
    let kept = ingest_fixture("kilo/partial-message-between-complete-ones.jsonl");
    assert_eq!(kept.message_texts(), ["a", "b!", "c", "Done."]);
    let unfinished =
        |event: &Event<'_>| matches!(event, Event::Withdrawn { .. } | Event::Unrecognised { .. });
    assert_eq!(kept.count_events(unfinished), 0);
}

#[test]
fn transcript_t5_a_complete_message_never_goes_back_to_a_stale_partial_one() {
    let kept = ingest_fixture("kilo/stale-partial-after-a-complete-first-message.jsonl");
    assert_eq!(kept.message_texts(), ["Hello world", "Next", "Done."]);
}

#[test]
fn latest_l5_bubbles_b1_thinking_between_two_texts_does_not_cut_the_message() {
    for (first, second, whole) in [
        ("One.", "Two.", "One.\n\nTwo."),
        ("One. ", "Two.", "One. Two."),
        ("One.", "\nTwo.", "One.\nTwo."),
    ] {
        let deltas = [content(first), json!({"reasoning_content": "hm"}), content(second)];
        let kept = ingest_whole(chat_stream(&deltas).as_bytes());
        assert_eq!(kept.message_texts(), [whole]);
        assert_eq!(kept.final_text(), whole);
        let records = to_records(&kept);
        for view in [ViewName::Latest, ViewName::Bubbles] {
            let page = final_page(view, &records);
            let texts: Vec<&str> = page.items.values().map(|item| &*item.text).collect();
            assert_eq!(texts, [whole], "{view:?}");
        }
    }
}

/// Feeds the reply in one chunk per character.
fn check_reply(reply: &str, messages: &[&str]) {
    let deltas: Vec<_> = reply.chars().map(|char| content(&char.to_string())).collect();
    for stream in [chat_stream(&deltas), chat_stream(&[content(reply)])] {
        let kept = ingest_whole(stream.as_bytes());
        assert_eq!(kept.visible_text(), messages.concat(), "{reply:?}");
        assert_eq!(kept.final_text(), messages.last().copied().unwrap_or_default(), "{reply:?}");
    }
}

#[test]
fn x3_a_thought_that_was_never_opened_is_withdrawn_at_its_close() {
    check_reply("Let me see.\nYes.\n</think>\n\nAnswer", &["Answer"]);
    check_reply("Hm.\n</think>", &[]);
    check_reply("Hm.\n  </THINK >  \nAnswer", &["Answer"]);
    check_reply("Hm.\n</think>\nFirst <think>more</think>part", &["First part"]);
}

#[test]
fn x3_a_close_that_is_not_alone_on_its_line_or_not_the_first_marker_withdraws_nothing() {
    check_reply("Use the </think> tag", &["Use the  tag"]);
    check_reply("Hm.\n</think> Answer", &["Hm.\n Answer"]);
    check_reply("The tag `</think>` closes", &["The tag `</think>` closes"]);
    check_reply("```\n</think>\n```\nText", &["```\n</think>\n```\nText"]);
    check_reply("<think>a</think>Text\n</think>\nmore", &["Text\n\nmore"]);
}

/// Next move of a source: text of one of its messages, reasoning, or the end of a message.
#[derive(Clone, Debug)]
enum Move {
    Text(usize, &'static str),
    Reasoning,
    Complete(usize),
}

fn any_move() -> impl Strategy<Value = Move> {
    let piece = prop_oneof![
        Just("One. "),
        Just("two"),
        Just(" "),
        Just("<think>x</think>"),
        Just("<thi"),
        Just("`code`"),
        Just("Three!\n\n"),
        Just("- item\n"),
        Just("é")
    ];
    prop_oneof![
        8 => (0..5_usize, piece).prop_map(|(message, text)| Move::Text(message, text)),
        1 => Just(Move::Reasoning),
        1 => (0..5_usize).prop_map(Move::Complete),
    ]
}

fn codex_line(method: &str, params: &serde_json::Value) -> String {
    format!("{}\n", json!({"method": method, "params": params}))
}

/// Stream of the moves, and the raw text of each message.
fn codex_stream(moves: &[Move]) -> (String, Vec<String>) {
    let (mut stream, mut texts) = (String::new(), vec![String::new(); 5]);
    let mut is_complete = [false; 5];
    for step in moves {
        match step {
            Move::Text(message, text) if !is_complete[*message] => {
                texts[*message].push_str(text);
                let item = format!("m{message}");
                let params = json!({"threadId": "t", "turnId": "u", "itemId": item, "delta": text});
                stream += &codex_line("item/agentMessage/delta", &params);
            }
            Move::Reasoning => {
                let params = json!({"threadId": "t", "turnId": "u", "itemId": "r", "delta": "hm"});
                stream += &codex_line("item/reasoning/textDelta", &params);
            }
            Move::Complete(message) if !texts[*message].is_empty() && !is_complete[*message] => {
                is_complete[*message] = true;
                let item = json!({"type": "agentMessage", "id": format!("m{message}"), "text": texts[*message]});
                let params = json!({"threadId": "t", "turnId": "u", "item": item});
                stream += &codex_line("item/completed", &params);
            }
            Move::Text(..) | Move::Complete(_) => {}
        }
    }
    (stream, texts)
}

/// The visible text of a raw text, read alone.
fn visible_alone(text: &str) -> String {
    let (stream, _) = codex_stream(&[]);
    let params = json!({"threadId": "t", "turnId": "u", "itemId": "m0", "delta": text});
    ingest_whole((stream + &codex_line("item/agentMessage/delta", &params)).as_bytes())
        .visible_text()
}

proptest! {
    #[test]
    fn t2_interleaved_messages_are_whole_in_the_log_and_in_every_view(
        moves in proptest::collection::vec(any_move(), 1..40)
    ) {
        let (stream, texts) = codex_stream(&moves);
        let kept = ingest_whole(stream.as_bytes());
        let mut checker = EventOrderChecker::default();
        for event in kept.events() {
            checker.apply(event).unwrap();
        }
        let mut expected: Vec<String> = texts.iter().map(|text| visible_alone(text)).collect();
        expected.retain(|text| !text.trim().is_empty());
        let mut written: Vec<String> =
            kept.message_texts().into_iter().filter(|text| !text.trim().is_empty()).collect();
        expected.sort();
        written.sort();
        prop_assert_eq!(written, expected);
        let records = to_records(&kept);
        for view in [ViewName::Steps, ViewName::Bubbles, ViewName::Transcript, ViewName::Sentences] {
            let page = final_page(view, &records);
            let texts = page.items.values().filter(|item| item.kind == ItemKind::Text);
            let mut shown: Vec<char> = texts.flat_map(|item| item.text.chars()).collect();
            let mut all: Vec<char> = kept.visible_text().chars().collect();
            shown.sort_unstable();
            all.sort_unstable();
            prop_assert_eq!(shown, all, "{:?}", view);
        }
    }

    #[test]
    fn x1_interleaved_messages_are_the_same_however_the_bytes_are_cut(
        moves in proptest::collection::vec(any_move(), 1..12),
        cut in any::<prop::sample::Index>()
    ) {
        let (stream, _) = codex_stream(&moves);
        let bytes = stream.as_bytes();
        let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
        let mut ingest = Ingest::new(&IngestOptions::default());
        let mut kept = RecordedEvents::default();
        ingest.push(head, None, &mut kept);
        ingest.push(tail, None, &mut kept);
        ingest.finish(InputEnd::EndOfInput, None, &mut kept);
        prop_assert!(kept.0 == ingest_whole(bytes).0);
    }
}
