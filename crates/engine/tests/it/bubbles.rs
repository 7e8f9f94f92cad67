//! The view `bubbles`: seed 002, rules B1 to B6 and what the common rules mean for it.

mod document;

use millpond_engine::event::{Event, ImageOwner, MessageId, Outcome};
use millpond_engine::view::{ItemKind, ItemState, Page, Status, ViewName};
use millpond_engine::wire::{ContentMode, StreamKind};
use serde_json::{Value, json};

use crate::log::Log;
use crate::views::{SentFrame, encode_records, final_page};

/// Native frames of the view.
fn native_frames(log: &Log) -> Vec<SentFrame> {
    encode_records(StreamKind::new(ViewName::Bubbles), &log.records()).0
}

fn bubble_texts(page: &Page) -> Vec<&str> {
    let bubbles = page.items.values().filter(|item| item.kind == ItemKind::Text);
    bubbles.map(|item| &*item.text).collect()
}

/// Replays the frames as the seed's client does: an array of messages by index.
fn replay_seed_client(sent: &[SentFrame]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for frame in sent.iter().filter(|frame| frame.event == "delta") {
        let data = frame.data_json();
        let index = usize::try_from(data["messageIndex"].as_u64().unwrap()).unwrap();
        assert!(index <= messages.len(), "indexes have a gap: {data}");
        messages.resize(messages.len().max(index + 1), String::new());
        let text = data["message"]["content"][0]["text"].as_str().unwrap();
        if data["append"] == true {
            messages[index].push_str(text);
        } else {
            text.clone_into(&mut messages[index]);
        }
    }
    messages
}

/// A log with three messages and two tools.
fn three_messages() -> Log {
    let mut log = Log::new();
    log.prompt("go")
        .set_time(1_000)
        .start_round()
        .push_message(&["Before ", "the tool"])
        .start_tool("read")
        .end_round();
    log.set_time(2_000)
        .succeed_tool(0, "r")
        .start_round()
        .push_message(&["Be", "tween"])
        .start_tool("write")
        .end_round();
    log.succeed_tool(1, "r")
        .set_time(3_000)
        .start_round()
        .push_message(&["After"])
        .end_round()
        .complete_run();
    log
}

#[test]
fn bubbles_b1_each_message_is_a_bubble_of_its_own_live_exactly_as_in_the_final_view() {
    let log = three_messages();
    let live = replay_seed_client(&native_frames(&log));
    assert_eq!(live, ["Before the tool", "Between", "After"]);
    let ending = native_frames(&log).pop().unwrap().data_json();
    let listed: Vec<&Value> = ending["messages"].as_array().unwrap().iter().collect();
    let listed: Vec<&str> =
        listed.iter().map(|one| one["content"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(listed, live);
    assert_eq!(bubble_texts(&final_page(ViewName::Bubbles, &log.records())), live);
}

#[test]
fn bubbles_b2_a_delta_has_the_shape_of_the_document_and_only_its_own_text() {
    let log = three_messages();
    let first_of_second =
        native_frames(&log).into_iter().find(|frame| frame.data.contains("\"Be\"")).unwrap();
    let expected = json!({
        "run": "r1", "runId": "r1", "sessionKey": "session", "seq": 15, "state": "delta",
        "messageIndex": 1, "id": "m1",
        "message": {
            "role": "assistant", "content": [{ "type": "text", "text": "Be" }], "timestamp": 2000,
        },
    });
    assert_eq!(first_of_second.data_json(), expected);
}

#[test]
fn bubbles_b2_with_content_delta_the_increment_is_marked_as_one() {
    let log = three_messages();
    let kind = StreamKind { content: ContentMode::Delta, ..StreamKind::new(ViewName::Bubbles) };
    let (sent, _) = encode_records(kind, &log.records());
    assert_eq!(replay_seed_client(&sent), replay_seed_client(&native_frames(&log)));
    let second = sent.iter().find(|frame| frame.data.contains("tween")).unwrap().data_json();
    assert_eq!(second["append"], true);
    assert_eq!(second["message"]["content"][0]["text"], "tween");
}

#[test]
fn bubbles_b3_indexes_are_dense_whatever_tools_do() {
    let mut log = Log::new();
    log.start_round()
        .start_tool("a")
        .start_tool("b")
        .start_tool("c")
        .succeed_tool(0, "x")
        .succeed_tool(1, "x")
        .succeed_tool(2, "x");
    log.push_message(&["first"])
        .start_tool("d")
        .start_tool("e")
        .succeed_tool(3, "x")
        .push_message(&["second"])
        .end_round();
    log.complete_run();
    assert_eq!(replay_seed_client(&native_frames(&log)), ["first", "second"]);
}

#[test]
fn bubbles_b4_while_tools_run_the_indicator_names_the_tool_or_says_how_many() {
    let mut log = Log::new();
    log.start_round().push_message(&["a"]).start_tool("read");
    let label = |log: &Log| final_page(ViewName::Bubbles, &log.records()).label;
    assert_eq!(label(&log), "Working: read");
    log.start_tool("write");
    assert_eq!(label(&log), "Working: 2 tools");
    log.succeed_tool(0, "r");
    assert_eq!(label(&log), "Working: write");
    log.succeed_tool(1, "r");
    assert_eq!(label(&log), "Thinking");
    let tools: Vec<String> = native_frames(&log)
        .iter()
        .filter(|frame| frame.event.starts_with("tool-"))
        .map(|frame| format!("{} {}", frame.event, frame.data_json()["tool"]["name"]))
        .collect();
    let expected =
        ["tool-start \"read\"", "tool-start \"write\"", "tool-end \"read\"", "tool-end \"write\""];
    assert_eq!(tools, expected);
    let page = final_page(ViewName::Bubbles, &log.records());
    assert!(matches!(page.status, Status::Working { running: 0, .. }));
}

#[test]
fn bubbles_b5_the_end_carries_every_message_and_the_last_one() {
    let ending = native_frames(&three_messages()).pop().unwrap();
    assert_eq!(ending.event, "final");
    let data = ending.data_json();
    assert_eq!(data["messages"].as_array().unwrap().len(), 3);
    assert_eq!(data["message"]["content"][0]["text"], "After");
    assert_eq!(data["state"], "final");
}

#[test]
fn bubbles_b5_aborted_and_error_keep_the_partial_text() {
    let outcomes = [
        (Outcome::Cancelled, "aborted"),
        (Outcome::Failed, "error"),
        (Outcome::Truncated, "error"),
        (Outcome::Stalled, "error"),
        (Outcome::Interrupted, "error"),
    ];
    for (outcome, name) in outcomes {
        let mut log = Log::new();
        log.start_round()
            .push_message(&["one"])
            .start_tool("t")
            .succeed_tool(0, "r")
            .push_message(&["half a"])
            .end_round();
        log.end_run(outcome, Some(MessageId(1)));
        let ending = native_frames(&log).pop().unwrap();
        assert_eq!(ending.event, name);
        let data = ending.data_json();
        assert_eq!(data["messages"][0]["content"][0]["text"], "one");
        assert_eq!(data["message"]["content"][0]["text"], "half a");
        assert_eq!(data["incomplete"], true);
    }
}

#[test]
fn bubbles_b6_all_text_before_a_tool_is_delivered_before_the_tool() {
    let mut log = Log::new();
    log.start_round().open_message(&["Before tool", " expanded"]).end_message().start_tool("t");
    let sent = native_frames(&log);
    let tool = sent.iter().position(|frame| frame.event == "tool-start").unwrap();
    assert_eq!(replay_seed_client(&sent[..tool]), ["Before tool expanded"]);
}

#[test]
fn bubbles_b6_a_shorter_message_after_a_longer_one_is_shown_at_once() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["A long message, longer than the next"])
        .start_tool("t")
        .succeed_tool(0, "r");
    log.open_message(&["Ok"]);
    assert_eq!(replay_seed_client(&native_frames(&log))[1], "Ok");
}

#[test]
fn bubbles_x16_a_withdrawn_bubble_keeps_its_index_and_is_listed_empty() {
    let mut log = Log::new();
    log.start_round()
        .push_message(&["kept"])
        .push_reasoning(&["x"])
        .push_message(&["taken back"])
        .withdraw(&[1], &[]);
    assert_eq!(bubble_texts(&final_page(ViewName::Bubbles, &log.records())), ["kept", ""]);
    log.end_round().start_round().push_message(&["again"]).end_round().complete_run();
    let ending = native_frames(&log).pop().unwrap().data_json();
    let withdrawn = &ending["messages"][1];
    assert_eq!((&withdrawn["withdrawn"], &withdrawn["messageIndex"]), (&json!(true), &json!(1)));
    assert_eq!(withdrawn["content"][0]["text"], "");
    assert_eq!(ending["messages"][2]["messageIndex"], 2);
    let page = final_page(ViewName::Bubbles, &log.records());
    assert_eq!(page.items.values().filter(|item| item.state == ItemState::Withdrawn).count(), 1);
}

#[test]
fn bubbles_x18_a_picture_without_text_has_a_bubble() {
    let mut log = Log::new();
    log.start_round()
        .open_message(&[])
        .image(ImageOwner::Message(MessageId(0)), "QUJD")
        .end_message();
    log.end_round().complete_run();
    let page = final_page(ViewName::Bubbles, &log.records());
    assert_eq!(page.items.values().next().unwrap().images.len(), 1);
}

#[test]
fn bubbles_x8_a_bubble_says_at_once_whether_it_is_whole() {
    for (incomplete, state) in [(false, ItemState::Done), (true, ItemState::Incomplete)] {
        let mut log = Log::new();
        log.start_round().push_message(&["One."]).open_message(&["Tw"]);
        let before = final_page(ViewName::Bubbles, &log.records());
        assert_eq!(before.items.values().last().unwrap().state, ItemState::Live);
        log.push(Event::MessageEnded { message: MessageId(1), incomplete });
        let page = final_page(ViewName::Bubbles, &log.records());
        let states: Vec<ItemState> = page.items.values().map(|item| item.state).collect();
        assert_eq!(states, [ItemState::Done, state]);
    }
}
