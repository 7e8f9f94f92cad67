//! Frames at the end of a round and of a run.

use millpond_engine::event::{Citation, Event, ImageOwner, MessageId, Outcome, StepId};
use millpond_engine::view::ViewName;
use millpond_engine::wire::{Encoder, StreamKind};
use serde_json::{Value, json};

use super::frame_client::view_log;
use super::log::Log;

#[test]
fn steps_s10_a_round_says_its_whole_picture_once() {
    let cited = Citation { url: Some("u".into()), ..Citation::default() };
    let log = Log::with_round_0()
        .start_reasoning(0)
        .set_time(900)
        .finish_reasoning(0, "hm")
        .append_text(0, "Hi")
        .push(Event::SourceCited { message: MessageId(0), citation: cited });
    let log =
        log.end_message(0).start_tool(1, "t").append_arguments(1, "{}").output_and_succeed(1, "x");
    let log = log.push_image(ImageOwner::Step(StepId(1)), "late.png").end_round(0).complete_run();
    let seen = view_log(&log);
    let finalized = json!({
        "run": "run", "round": 0, "label": "Ran for 0.9s", "ranForMs": 900,
        "steps": [
            {"kind": "reasoning", "id": "s0", "state": "done", "text": "hm", "ranForMs": 900},
        ],
        "segments": [
            {"index": 0, "kind": "text", "id": "m0", "state": "done", "text": "Hi",
                "citations": [{"url": "u"}]},
            {"index": 1, "kind": "tool", "id": "s1", "state": "done", "name": "t", "sort": "mcp",
                "callId": "call_1", "arguments": "{}", "result": "x", "ranForMs": 0,
                "description": {"purpose": "mcp", "title": "t", "covers_arguments": true},
                "images": [{"ref": "late.png"}]},
        ],
    });
    assert_eq!(seen.frames_named("finalized"), [&finalized]);
}

#[test]
fn steps_s10_a_round_of_nothing_but_text_is_finalized_too() {
    let seen = view_log(
        &Log::with_round_0().append_text(0, "Hi").end_message(0).end_round(0).complete_run(),
    );
    let finalized = json!({
        "run": "run", "round": 0, "label": null, "ranForMs": null, "steps": [],
        "segments": [{"index": 0, "kind": "text", "id": "m0", "state": "done", "text": "Hi"}],
    });
    assert_eq!(seen.frames_named("finalized"), [&finalized]);
    let empty = view_log(&Log::with_round_0().end_round(0).complete_run());
    assert_eq!(empty.frames_named("finalized")[0]["segments"], json!([]));
}

#[test]
fn steps_s10_finalized_speaks_of_its_own_round_only() {
    let log = Log::with_round_0()
        .append_text(0, "a")
        .end_message(0)
        .start_tool(0, "ls")
        .mark_ready(0)
        .end_round(0)
        .start_round(1);
    let log = log
        .append_text(1, "b")
        .output_and_succeed(0, "x")
        .append_text(1, "c")
        .end_message(1)
        .end_round(1)
        .complete_run();
    let seen = view_log(&log);
    let texts: Vec<_> =
        seen.frames_named("finalized").iter().map(|data| &data["segments"]).collect();
    assert_eq!(texts[1].as_array().unwrap().len(), 1);
    assert_eq!((&texts[1][0]["text"], &texts[1][0]["index"]), (&json!("bc"), &json!(0)));
}

#[test]
fn steps_s10_the_ending_comes_last_and_closes_what_is_open() {
    let log =
        Log::with_round_0().start_tool(0, "t").append_text(0, "Half a").end_run(Outcome::Cancelled);
    let seen = view_log(&log);
    assert_eq!(
        seen.item_summaries(),
        ["Steps [t() = \"\" (Incomplete)] (Incomplete)", "\"Half a\" (Incomplete)"]
    );
    assert_eq!(seen.frame_summaries()[4..], ["finalized 0 Steps", "cancelled"]);
}

#[test]
fn steps_s10_a_second_run_starts_with_nothing_of_the_first() {
    let mut records = Log::with_round_0()
        .start_tool(0, "open")
        .append_text(0, "One")
        .start_round(1)
        .complete_run()
        .records;
    let second = Log::with_round_0()
        .start_tool(0, "new")
        .output_and_succeed(0, "x")
        .append_text(0, "Two")
        .end_message(0);
    for mut record in second.end_round(0).complete_run().records {
        record.run = "second".into();
        record.seq = records.len() as u64;
        records.push(record);
    }
    let mut encoder = Encoder::new(StreamKind::new(ViewName::Steps), "session");
    let mut finalized: Vec<Value> = Vec::new();
    for record in &records {
        encoder.push(record, &mut |frame| {
            if frame.event == "finalized" {
                finalized.push(serde_json::from_str(frame.data).unwrap());
            }
        });
    }
    let last = finalized.last().unwrap();
    assert_eq!((&last["run"], &last["round"]), (&json!("second"), &json!(0)));
    assert_eq!(last["steps"].as_array().unwrap().len(), 1);
    assert_eq!(last["segments"][0]["text"], "Two");
    assert_eq!((finalized.len(), encoder.page().items.len()), (3, 4));
}
