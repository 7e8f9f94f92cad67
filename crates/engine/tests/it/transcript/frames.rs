//! Native frames of the view.

use millpond_engine::event::{Event, Outcome, TextMode, ToolKind, ToolOutcome};
use millpond_engine::view::ViewName;
use millpond_engine::wire::{Encoder, StreamKind};
use serde_json::json;

use super::print_client::{
    KiloSource, PrintClient, message_started, output_appended, run_ended, run_started,
    text_appended, tool_ended, tool_started, whole_message,
};

fn frame_names(screen: &PrintClient) -> Vec<&str> {
    screen.frames.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn transcript_t10_message_append_settled_and_one_ending() {
    let mut screen = PrintClient::default();
    screen.push(Some(1), "run", run_started(TextMode::Incremental));
    screen.push(
        Some(5),
        "run",
        Event::PromptReceived {
            text: "Go".into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        },
    );
    screen.push(Some(6), "run", message_started(0));
    screen.push(Some(7), "run", text_appended(0, "One\n"));
    screen.push(Some(8), "run", text_appended(0, "Two"));
    screen.push(
        Some(9),
        "run",
        Event::MessageEnded { message: millpond_engine::event::MessageId(0), incomplete: false },
    );
    screen.push(Some(9), "run", run_ended(Outcome::Completed));
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
    let mut screen = PrintClient::started();
    screen.push_events([message_started(0), text_appended(0, "a")]);
    for _ in 0..100 {
        screen.push_events([text_appended(0, "b")]);
    }
    assert_eq!(frame_names(&screen).iter().filter(|name| **name == "append").count(), 100);
    assert_eq!(frame_names(&screen).iter().filter(|name| **name == "message").count(), 1);
}

#[test]
fn transcript_t10_appends_that_are_merged_say_the_same() {
    let kind = StreamKind::new(ViewName::Transcript);
    let events = [
        run_started(TextMode::Incremental),
        message_started(0),
        text_appended(0, "One"),
        text_appended(0, " and"),
        text_appended(0, " two\n"),
        tool_started(0, ToolKind::Command),
        output_appended(0, "a"),
        output_appended(0, "b"),
        tool_ended(0, ToolOutcome::Succeeded),
    ];
    let told = |mut encoder: Encoder| {
        let mut items = std::collections::BTreeMap::new();
        let mut take = |frame: millpond_engine::wire::Frame<'_>| {
            let data: serde_json::Value = serde_json::from_str(frame.data).unwrap();
            let text = data["text"].as_str().unwrap_or_default().to_owned();
            match frame.event {
                "message" => drop(items.insert(data["index"].as_u64(), text)),
                "append" => items.get_mut(&data["index"].as_u64()).unwrap().push_str(&text),
                _ => {}
            }
        };
        for (seq, event) in (0..).zip(events.clone()) {
            let record =
                millpond_engine::event::Record { seq, at_ms: None, run: "run".into(), event };
            encoder.push(&record, &mut take);
        }
        encoder.flush(&mut take);
        items
    };
    let single = told(Encoder::new(kind, "s"));
    assert_eq!(single, told(Encoder::new(kind, "s").with_merging()));
    assert_eq!(single.into_values().collect::<Vec<_>>(), ["One and two\n", "ab"]);
}

#[test]
fn transcript_x13_asks_are_told_beside_their_items() {
    let mut kilo = KiloSource::new();
    kilo.push_line(r#"{"ts":2,"type":"say","say":"api_req_started","text":"{}"}"#);
    kilo.push_line(r#"{"ts":3,"type":"ask","ask":"followup","text":"Left?","isAnswered":false}"#);
    kilo.push_line(r#"{"ts":3,"type":"ask","ask":"followup","text":"Left?","isAnswered":true}"#);
    assert_eq!(frame_names(&kilo.client), ["message", "ask", "message", "ask-resolved", "message"]);
}

#[test]
fn transcript_x16_what_is_taken_back_is_told_by_id_and_in_its_place() {
    let mut screen = PrintClient::started();
    screen.push_events([tool_started(0, ToolKind::Function)]);
    screen.push_events(whole_message(0, "Wrong"));
    let messages = vec![millpond_engine::event::MessageId(0)];
    screen.push_events([Event::Withdrawn { messages, steps: Vec::new() }]);
    let [.., (first, ids), (second, data)] = &screen.frames[..] else { panic!() };
    assert_eq!((first.as_str(), &ids["ids"]), ("withdrawn", &json!(["m0"])));
    let place = (&data["index"], &data["say"], &data["text"], &data["partial"]);
    assert_eq!(second, "message");
    assert_eq!(place, (&json!(1), &json!("withdrawn"), &json!(""), &json!(false)));
}
