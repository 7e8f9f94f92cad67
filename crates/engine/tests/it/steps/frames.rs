//! What a round and a run say of themselves at their end.

use engine::event::{Citation, Event, MessageId, Outcome, Owner, StepId};
use engine::view::ViewName;
use engine::wire::{Encoder, Kind};
use serde_json::{Value, json};

use super::log::Log;
use super::screen::see;

#[test]
fn steps_s10_a_round_says_its_whole_picture_once() {
    let cited = Citation { url: Some("u".into()), ..Citation::default() };
    let log = Log::round_0()
        .thinks(0)
        .at(900)
        .thought(0, "hm")
        .says(0, "Hi")
        .and(Event::SourceCited { message: MessageId(0), citation: cited });
    let log = log.said(0).calls(1, "t").with(1, "{}").gives(1, "x");
    let log = log.pictures(Owner::Step(StepId(1)), "late.png").round_ends(0).ends();
    let seen = see(&log);
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
                "images": [{"ref": "late.png"}]},
        ],
    });
    assert_eq!(seen.named("finalized"), [&finalized]);
}

#[test]
fn steps_s10_a_round_of_nothing_but_text_is_finalized_too() {
    let seen = see(&Log::round_0().says(0, "Hi").said(0).round_ends(0).ends());
    let finalized = json!({
        "run": "run", "round": 0, "label": null, "ranForMs": null, "steps": [],
        "segments": [{"index": 0, "kind": "text", "id": "m0", "state": "done", "text": "Hi"}],
    });
    assert_eq!(seen.named("finalized"), [&finalized]);
    let empty = see(&Log::round_0().round_ends(0).ends());
    assert_eq!(empty.named("finalized")[0]["segments"], json!([]));
}

#[test]
fn steps_s10_finalized_speaks_of_its_own_round_only() {
    let log = Log::round_0().says(0, "a").said(0).calls(0, "ls").ready(0).round_ends(0).round(1);
    let log = log.says(1, "b").gives(0, "x").says(1, "c").said(1).round_ends(1).ends();
    let seen = see(&log);
    let texts: Vec<_> = seen.named("finalized").iter().map(|data| &data["segments"]).collect();
    assert_eq!(texts[1].as_array().unwrap().len(), 1);
    assert_eq!((&texts[1][0]["text"], &texts[1][0]["index"]), (&json!("bc"), &json!(0)));
}

#[test]
fn steps_s10_the_ending_comes_last_and_closes_what_is_open() {
    let log = Log::round_0().calls(0, "t").says(0, "Half a").ends_with(Outcome::Cancelled);
    let seen = see(&log);
    assert_eq!(
        seen.page(),
        ["Steps [t() = \"\" (Incomplete)] (Incomplete)", "\"Half a\" (Incomplete)"]
    );
    assert_eq!(seen.story()[4..], ["finalized 0 Steps", "cancelled"]);
}

#[test]
fn steps_s10_a_second_run_starts_with_nothing_of_the_first() {
    let mut records = Log::round_0().calls(0, "open").says(0, "One").round(1).ends().records;
    let second = Log::round_0().calls(0, "new").gives(0, "x").says(0, "Two").said(0);
    for mut record in second.round_ends(0).ends().records {
        record.run = "second".into();
        record.seq = records.len() as u64;
        records.push(record);
    }
    let mut encoder = Encoder::new(Kind::new(ViewName::Steps), "session", 0);
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
    assert_eq!((finalized.len(), encoder.picture().items.len()), (3, 4));
}
