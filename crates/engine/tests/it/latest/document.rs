//! The order of the view's frames, as its design lists them, in every fixture.

use millpond_engine::view::{Thinking, ViewName};
use millpond_engine::wire::StreamKind;

use super::{SeedClient, frame_names, native_frames_with_thinking, two_rounds};
use crate::fixtures::fixture_streams;
use crate::support::ingest_whole;
use crate::views::{encode_records, to_records};

const ENDINGS: [&str; 6] =
    ["completed", "failed", "cancelled", "truncated", "stalled", "interrupted"];

const IN_A_ROUND: [&str; 5] = ["streaming", "thinking", "tool", "final_message_start", "assistant"];

#[test]
fn latest_l3_each_thinking_replaces_the_one_before_and_the_first_text_clears_it() {
    let mut seen = Vec::new();
    SeedClient::replay(&native_frames_with_thinking(Thinking::Latest, &two_rounds()), |client| {
        seen.push((client.thinking.clone(), client.streamed.clone()));
    });
    seen.dedup();
    let seen: Vec<(&str, &str)> =
        seen.iter().map(|(thinking, streamed)| (thinking.as_str(), streamed.as_str())).collect();
    let expected = [("", ""), ("I should ", ""), ("look", ""), ("", ""), ("", "Reading the ")];
    assert_eq!(seen[..5], expected);
    assert!(seen.iter().all(|(thinking, streamed)| thinking.is_empty() || streamed.is_empty()));
}

/// True if the frames are `queued started (streaming ...)*` and one ending, with the reply announced
/// once and before it begins.
fn is_run_in_order(names: &[&str]) -> bool {
    let ["queued", "started", rounds @ .., ending] = names else { return false };
    let announced = rounds.iter().position(|name| *name == "final_message_start");
    let reply = rounds.iter().position(|name| *name == "assistant");
    let announcements = rounds.iter().filter(|name| **name == "final_message_start").count();
    ENDINGS.contains(ending)
        && rounds.first().is_none_or(|first| *first == "streaming")
        && rounds.iter().all(|name| IN_A_ROUND.contains(name))
        && announcements <= 1
        && (reply.is_none() || (announced.is_some() && announced < reply))
}

#[test]
fn latest_l3_g5_in_every_fixture_the_frames_come_in_the_order_of_the_document() {
    assert!(!is_run_in_order(&["queued", "started", "streaming", "assistant", "completed"]));
    for stream in fixture_streams() {
        let records = to_records(&ingest_whole(&std::fs::read(&stream).unwrap()));
        let sent = encode_records(StreamKind::new(ViewName::Latest), &records).0;
        let mut names = frame_names(&sent);
        // Frames that every view has; they may come at any time.
        names.retain(|name| {
            !["user", "ask", "ask-resolved", "image", "citation", "withdrawn"].contains(name)
        });
        let runs: Vec<&[&str]> = names.chunk_by(|_, next| *next != "queued").collect();
        assert!(!runs.is_empty(), "{}", stream.display());
        for run in runs {
            assert!(is_run_in_order(run), "{}: {run:?}", stream.display());
        }
    }
}
