//! How the view is spelt to clients.

use engine::event::{Event, Outcome, TextMode, ToolKind, ToolOutcome};
use engine::view::ViewName;
use engine::wire::{Encoder, Kind};
use serde_json::json;

use super::screen::{Kilo, Screen, ended, message, output, said, started, text, tool, tool_ended};

fn names(screen: &Screen) -> Vec<&str> {
    screen.frames.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn transcript_t10_message_append_settled_and_one_ending() {
    let mut screen = Screen::default();
    screen.push(Some(1), "run", started(TextMode::Incremental));
    screen.push(Some(5), "run", Event::PromptReceived { text: "Go".into(), images: Vec::new() });
    screen.push(Some(6), "run", message(0));
    screen.push(Some(7), "run", text(0, "One\n"));
    screen.push(Some(8), "run", text(0, "Two"));
    screen.push(
        Some(9),
        "run",
        Event::MessageEnded { message: engine::event::MessageId(0), incomplete: false },
    );
    screen.push(Some(9), "run", ended(Outcome::Completed));
    let told = [
        ("user", json!({"run": "run", "id": "u0", "content": "Go"})),
        (
            "message",
            json!({"run": "run", "index": 0, "ts": 5, "id": "u0", "type": "user",
                "content": "Go", "partial": false, "state": "done"}),
        ),
        ("settled", json!({"run": "run", "count": 1, "bytes": 0})),
        (
            "message",
            json!({"run": "run", "index": 1, "ts": 7, "id": "m0", "type": "say", "say": "text",
                "text": "One\n", "partial": true, "state": "live"}),
        ),
        ("settled", json!({"run": "run", "count": 1, "bytes": 4})),
        ("append", json!({"run": "run", "index": 1, "text": "Two"})),
        (
            "message",
            json!({"run": "run", "index": 1, "ts": 7, "id": "m0", "type": "say", "say": "text",
                "text": "One\nTwo", "partial": false, "state": "done"}),
        ),
        ("settled", json!({"run": "run", "count": 2, "bytes": 0})),
    ];
    let (last, frames) = screen.frames.split_last().unwrap();
    let frames: Vec<_> = frames.iter().map(|(name, data)| (name.as_str(), data.clone())).collect();
    assert_eq!(frames, told);
    assert_eq!((last.0.as_str(), &last.1["outcome"]), ("completed", &json!("completed")));
}

#[test]
fn transcript_t10_every_append_is_one_frame_and_growing_text_is_not_repeated() {
    let mut screen = Screen::started();
    screen.tell([message(0), text(0, "a")]);
    for _ in 0..100 {
        screen.tell([text(0, "b")]);
    }
    assert_eq!(names(&screen).iter().filter(|name| **name == "append").count(), 100);
    assert_eq!(names(&screen).iter().filter(|name| **name == "message").count(), 1);
}

#[test]
fn transcript_t10_appends_that_are_merged_say_the_same() {
    let kind = Kind::new(ViewName::Transcript);
    let events = [
        started(TextMode::Incremental),
        message(0),
        text(0, "One"),
        text(0, " and"),
        text(0, " two\n"),
        tool(0, ToolKind::Command),
        output(0, "a"),
        output(0, "b"),
        tool_ended(0, ToolOutcome::Succeeded),
    ];
    let told = |mut encoder: Encoder| {
        let mut items = std::collections::BTreeMap::new();
        let mut take = |frame: engine::wire::Frame<'_>| {
            let data: serde_json::Value = serde_json::from_str(frame.data).unwrap();
            let text = data["text"].as_str().unwrap_or_default().to_owned();
            match frame.event {
                "message" => drop(items.insert(data["index"].as_u64(), text)),
                "append" => items.get_mut(&data["index"].as_u64()).unwrap().push_str(&text),
                _ => {}
            }
        };
        for (seq, event) in (0..).zip(events.clone()) {
            let record = engine::event::Record { seq, at_ms: None, run: "run".into(), event };
            encoder.push(&record, &mut take);
        }
        encoder.flush(&mut take);
        items
    };
    let single = told(Encoder::new(kind, "s", 0));
    assert_eq!(single, told(Encoder::new(kind, "s", 0).merging()));
    assert_eq!(single.into_values().collect::<Vec<_>>(), ["One and two\n", "ab"]);
}

#[test]
fn transcript_x13_asks_are_told_beside_their_items() {
    let mut kilo = Kilo::new();
    kilo.say(r#"{"ts":2,"type":"say","say":"api_req_started","text":"{}"}"#);
    kilo.say(r#"{"ts":3,"type":"ask","ask":"followup","text":"Left?","isAnswered":false}"#);
    kilo.say(r#"{"ts":3,"type":"ask","ask":"followup","text":"Left?","isAnswered":true}"#);
    assert_eq!(names(&kilo.screen), ["message", "ask", "message", "ask-resolved", "message"]);
}

#[test]
fn transcript_x16_what_is_taken_back_is_told_by_id_and_in_its_place() {
    let mut screen = Screen::started();
    screen.tell([tool(0, ToolKind::Function)]);
    screen.tell(said(0, "Wrong"));
    let messages = vec![engine::event::MessageId(0)];
    screen.tell([Event::Withdrawn { messages, steps: Vec::new() }]);
    let [.., (first, ids), (second, data)] = &screen.frames[..] else { panic!() };
    assert_eq!((first.as_str(), &ids["ids"]), ("withdrawn", &json!(["m0"])));
    let place = (&data["index"], &data["say"], &data["text"], &data["partial"]);
    assert_eq!(second, "message");
    assert_eq!(place, (&json!(1), &json!("withdrawn"), &json!(""), &json!(false)));
}
