//! The bubbles of the view as a client of its design keeps them, in every fixture.

use millpond_engine::view::ViewName;
use millpond_engine::wire::StreamKind;
use serde_json::Value;

use super::{native_frames, replay_seed_client, three_messages};
use crate::fixtures::fixture_streams;
use crate::support::ingest_whole;
use crate::views::{SentFrame, encode_records, to_records};

/// The payloads of the `delta` frames.
fn delta_payloads(sent: &[SentFrame]) -> Vec<Value> {
    sent.iter().filter(|frame| frame.event == "delta").map(SentFrame::data_json).collect()
}

#[test]
fn bubbles_b3_the_indexes_of_the_next_run_begin_at_0() {
    let mut log = three_messages();
    for record in three_messages().records() {
        log.push(record.event);
    }
    let deltas = delta_payloads(&native_frames(&log));
    let mut indexes: Vec<&Value> = deltas.iter().map(|data| &data["messageIndex"]).collect();
    indexes.dedup();
    assert_eq!(indexes, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn bubbles_b5_a_reader_that_knows_no_index_sees_the_last_message() {
    let sent = native_frames(&three_messages());
    let deltas = delta_payloads(&sent);
    let shown: Vec<&Value> =
        deltas.iter().map(|data| &data["message"]["content"][0]["text"]).collect();
    assert_eq!(shown, ["Before ", "Before the tool", "Be", "Between", "After"]);
    let ending = sent.last().unwrap().data_json();
    assert_eq!(ending["message"]["content"][0]["text"], "After");
}

fn is_ending(frame: &SentFrame) -> bool {
    ["final", "error", "aborted"].contains(&frame.event.as_str())
}

#[test]
fn bubbles_b1_in_every_fixture_the_bubbles_are_dense_and_at_the_end_as_they_were_live() {
    for stream in fixture_streams() {
        let records = to_records(&ingest_whole(&std::fs::read(&stream).unwrap()));
        let sent = encode_records(StreamKind::new(ViewName::Bubbles), &records).0;
        for run in sent.chunk_by(|frame, _| !is_ending(frame)) {
            let Some(ending) = run.last().filter(|frame| is_ending(frame)) else { continue };
            let (live, ending) = (replay_seed_client(run), ending.data_json());
            let listed = ending["messages"].as_array().unwrap();
            assert_eq!(listed.len(), live.len(), "{}", stream.display());
            for (at, message) in listed.iter().enumerate() {
                assert_eq!(message["messageIndex"], at, "{}", stream.display());
                let text = message["content"][0]["text"].as_str().unwrap();
                let expected = if message["withdrawn"] == true { "" } else { live[at].as_str() };
                assert_eq!(text, expected, "{}", stream.display());
            }
        }
    }
}
