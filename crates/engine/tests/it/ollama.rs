//! Ollama specifics.

use millpond_engine::event::{Event, FailureReason, Reply, StopReason};

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;
use crate::support::{fixtures_dir, ingest_whole};

fn ingest_ollama(stream: &str) -> RecordedEvents {
    ingest_fixture(&format!("ollama/{stream}"))
}

#[test]
fn calls_come_whole_and_a_reply_after_the_end_is_another_round() {
    let told = ingest_ollama("thinking-text-tool-then-reply.jsonl");
    assert_eq!(told.visible_text(), "Let me look.It is 142 cm.");
    assert_eq!(told.reasoning_text(), "The gauge knows.");
    let calls = [("read_gauge", r#"{"pond":"upper"}"#), ("list_ponds", "{}")];
    assert_eq!(told.tool_calls(), calls.map(|(name, arguments)| (name.into(), arguments.into())));
    assert_eq!(told.round_count(), 2);
    let stops: Vec<Option<StopReason>> = told
        .events()
        .filter_map(|event| match event {
            Event::RoundEnded { stop, .. } => Some(*stop),
            _ => None,
        })
        .collect();
    assert_eq!(stops, [Some(StopReason::Tools), Some(StopReason::End)]);
    told.assert_completed(StopReason::End);
}

#[test]
fn events_have_the_time_their_object_tells() {
    let path = fixtures_dir().join("ollama/thinking-text-tool-then-reply.jsonl");
    let kept = ingest_whole(&std::fs::read(path).unwrap());
    let ended = kept.0.iter().find(|(_, event)| matches!(event, Event::RoundEnded { .. }));
    assert_eq!(ended.and_then(|(at, _)| *at), Some(1_770_091_504_123));
}

#[test]
fn generate_has_its_text_in_response() {
    let told = ingest_ollama("generate.jsonl");
    assert_eq!(told.visible_text(), "Quack!");
    assert_eq!(told.reasoning_text(), "Short is good.");
    told.assert_completed(StopReason::Length);
}

#[test]
fn a_reply_that_is_not_streamed_is_its_last_object_alone() {
    let told = ingest_ollama("whole-reply.json");
    assert_eq!(told.visible_text(), "Three frogs.");
    told.assert_completed(StopReason::End);
}

#[test]
fn an_error_in_the_middle_fails_the_run_and_keeps_its_text() {
    let told = ingest_ollama("error-after-text.jsonl");
    let words = "an error was encountered while running the model: out of memory";
    told.assert_failed(FailureReason::Error, words);
    assert_eq!(told.visible_text(), "The frog said");
}

#[test]
fn loading_a_model_says_nothing() {
    let told = ingest_ollama("load.json");
    told.assert_completed(StopReason::Other);
    assert_eq!(told.ending().reply, Reply::None);
}

#[test]
fn thinking_in_tags_is_reasoning_too() {
    let told = ingest_ollama("tags-in-text.jsonl");
    assert_eq!((told.visible_text().as_str(), told.reasoning_text().as_str()), ("Yes.", "hm"));
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    ingest_ollama("cut-off.jsonl").assert_truncated();
}
