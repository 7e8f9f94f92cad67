//! The view `bubbles`: seed 002, rules B1 to B6 and what the common rules mean for it.

use engine::event::{Event, MessageId, Outcome, Owner};
use engine::view::{Kind as ItemKind, Picture, State, Status, ViewName};
use engine::wire::{Content, Kind};
use serde_json::{Value, json};

use crate::log::Log;
use crate::views::{Sent, frames, picture};

fn own(log: &Log) -> Vec<Sent> {
    frames(Kind::new(ViewName::Bubbles), &log.records()).0
}

fn texts(page: &Picture) -> Vec<&str> {
    let bubbles = page.items.values().filter(|item| item.kind == ItemKind::Text);
    bubbles.map(|item| &*item.text).collect()
}

/// What the seed's own client does with the frames: an array of messages by their index.
fn seed_client(sent: &[Sent]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for frame in sent.iter().filter(|frame| frame.event == "delta") {
        let data = frame.json();
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

fn three_messages() -> Log {
    let mut log = Log::new();
    log.prompt("go").at(1_000).round().message(&["Before ", "the tool"]).tool("read").end_round();
    log.at(2_000).result(0, "r").round().message(&["Be", "tween"]).tool("write").end_round();
    log.result(1, "r").at(3_000).round().message(&["After"]).end_round().done();
    log
}

#[test]
fn bubbles_b1_each_message_is_a_bubble_of_its_own_live_exactly_as_in_the_final_view() {
    let log = three_messages();
    let live = seed_client(&own(&log));
    assert_eq!(live, ["Before the tool", "Between", "After"]);
    let ending = own(&log).pop().unwrap().json();
    let listed: Vec<&Value> = ending["messages"].as_array().unwrap().iter().collect();
    let listed: Vec<&str> =
        listed.iter().map(|one| one["content"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(listed, live);
    assert_eq!(texts(&picture(ViewName::Bubbles, &log.records())), live);
}

#[test]
fn bubbles_b2_a_delta_has_the_shape_of_the_document_and_only_its_own_text() {
    let log = three_messages();
    let first_of_second =
        own(&log).into_iter().find(|frame| frame.data.contains("\"Be\"")).unwrap();
    let expected = json!({
        "run": "r1", "runId": "r1", "sessionKey": "session", "seq": 15, "state": "delta",
        "messageIndex": 1, "id": "m1",
        "message": {
            "role": "assistant", "content": [{ "type": "text", "text": "Be" }], "timestamp": 2000,
        },
    });
    assert_eq!(first_of_second.json(), expected);
}

#[test]
fn bubbles_b2_with_content_delta_the_increment_is_marked_as_one() {
    let log = three_messages();
    let kind = Kind { content: Content::Delta, ..Kind::new(ViewName::Bubbles) };
    let (sent, _) = frames(kind, &log.records());
    assert_eq!(seed_client(&sent), seed_client(&own(&log)));
    let second = sent.iter().find(|frame| frame.data.contains("tween")).unwrap().json();
    assert_eq!(second["append"], true);
    assert_eq!(second["message"]["content"][0]["text"], "tween");
}

#[test]
fn bubbles_b3_indexes_are_dense_whatever_tools_do() {
    let mut log = Log::new();
    log.round().tool("a").tool("b").tool("c").result(0, "x").result(1, "x").result(2, "x");
    log.message(&["first"]).tool("d").tool("e").result(3, "x").message(&["second"]).end_round();
    log.done();
    assert_eq!(seed_client(&own(&log)), ["first", "second"]);
}

#[test]
fn bubbles_b4_while_tools_run_the_indicator_names_the_tool_or_says_how_many() {
    let mut log = Log::new();
    log.round().message(&["a"]).tool("read");
    let label = |log: &Log| picture(ViewName::Bubbles, &log.records()).label;
    assert_eq!(label(&log), "Working: read");
    log.tool("write");
    assert_eq!(label(&log), "Working: 2 tools");
    log.result(0, "r");
    assert_eq!(label(&log), "Working: write");
    log.result(1, "r");
    assert_eq!(label(&log), "Thinking");
    let tools: Vec<String> = own(&log)
        .iter()
        .filter(|frame| frame.event.starts_with("tool-"))
        .map(|frame| format!("{} {}", frame.event, frame.json()["tool"]["name"]))
        .collect();
    let expected =
        ["tool-start \"read\"", "tool-start \"write\"", "tool-end \"read\"", "tool-end \"write\""];
    assert_eq!(tools, expected);
    let page = picture(ViewName::Bubbles, &log.records());
    assert!(matches!(page.status, Status::Working { running: 0, .. }));
}

#[test]
fn bubbles_b5_the_end_carries_every_message_and_the_last_one() {
    let ending = own(&three_messages()).pop().unwrap();
    assert_eq!(ending.event, "final");
    let data = ending.json();
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
        log.round().message(&["one"]).tool("t").result(0, "r").message(&["half a"]).end_round();
        log.end(outcome, Some(MessageId(1)));
        let ending = own(&log).pop().unwrap();
        assert_eq!(ending.event, name);
        let data = ending.json();
        assert_eq!(data["messages"][0]["content"][0]["text"], "one");
        assert_eq!(data["message"]["content"][0]["text"], "half a");
        assert_eq!(data["incomplete"], true);
    }
}

#[test]
fn bubbles_b6_all_text_before_a_tool_is_delivered_before_the_tool() {
    let mut log = Log::new();
    log.round().open_message(&["Before tool", " expanded"]).end_message().tool("t");
    let sent = own(&log);
    let tool = sent.iter().position(|frame| frame.event == "tool-start").unwrap();
    assert_eq!(seed_client(&sent[..tool]), ["Before tool expanded"]);
}

#[test]
fn bubbles_b6_a_shorter_message_after_a_longer_one_is_shown_at_once() {
    let mut log = Log::new();
    log.round().message(&["A long message, longer than the next"]).tool("t").result(0, "r");
    log.open_message(&["Ok"]);
    assert_eq!(seed_client(&own(&log))[1], "Ok");
}

#[test]
fn bubbles_x16_a_withdrawn_bubble_keeps_its_index_and_is_listed_empty() {
    let mut log = Log::new();
    log.round().message(&["kept"]).thinking(&["x"]).message(&["taken back"]).withdraw(&[1], &[]);
    assert_eq!(texts(&picture(ViewName::Bubbles, &log.records())), ["kept", ""]);
    log.end_round().round().message(&["again"]).end_round().done();
    let ending = own(&log).pop().unwrap().json();
    let withdrawn = &ending["messages"][1];
    assert_eq!((&withdrawn["withdrawn"], &withdrawn["messageIndex"]), (&json!(true), &json!(1)));
    assert_eq!(withdrawn["content"][0]["text"], "");
    assert_eq!(ending["messages"][2]["messageIndex"], 2);
    let page = picture(ViewName::Bubbles, &log.records());
    assert_eq!(page.items.values().filter(|item| item.state == State::Withdrawn).count(), 1);
}

#[test]
fn bubbles_x18_a_picture_without_text_has_a_bubble() {
    let mut log = Log::new();
    log.round().open_message(&[]).image(Owner::Message(MessageId(0)), "QUJD").end_message();
    log.end_round().done();
    let page = picture(ViewName::Bubbles, &log.records());
    assert_eq!(page.items.values().next().unwrap().images.len(), 1);
}

#[test]
fn bubbles_x8_a_bubble_says_at_once_whether_it_is_whole() {
    for (incomplete, state) in [(false, State::Done), (true, State::Incomplete)] {
        let mut log = Log::new();
        log.round().message(&["One."]).open_message(&["Tw"]);
        let before = picture(ViewName::Bubbles, &log.records());
        assert_eq!(before.items.values().last().unwrap().state, State::Live);
        log.push(Event::MessageEnded { message: MessageId(1), incomplete });
        let page = picture(ViewName::Bubbles, &log.records());
        let states: Vec<State> = page.items.values().map(|item| item.state).collect();
        assert_eq!(states, [State::Done, state]);
    }
}
