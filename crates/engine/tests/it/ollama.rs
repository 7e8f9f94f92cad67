//! What is special about Ollama.

use engine::event::{Event, FailureReason, Reply, Stop};

use crate::fixture::told;
use crate::support::Kept;
use crate::support::{fixtures_dir, ingest_whole};

fn ollama(stream: &str) -> Kept {
    told(&format!("ollama/{stream}"))
}

#[test]
fn calls_come_whole_and_a_reply_after_the_end_is_another_round() {
    let told = ollama("thinking-text-tool-then-reply.jsonl");
    assert_eq!(told.visible(), "Let me look.It is 142 cm.");
    assert_eq!(told.reasoning(), "The gauge knows.");
    let calls = [("read_gauge", r#"{"pond":"upper"}"#), ("list_ponds", "{}")];
    assert_eq!(told.tools(), calls.map(|(name, arguments)| (name.into(), arguments.into())));
    assert_eq!(told.rounds(), 2);
    let stops: Vec<Option<Stop>> = told
        .events()
        .filter_map(|event| match event {
            Event::RoundEnded { stop, .. } => Some(*stop),
            _ => None,
        })
        .collect();
    assert_eq!(stops, [Some(Stop::Tools), Some(Stop::End)]);
    told.completed(Stop::End);
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
    let told = ollama("generate.jsonl");
    assert_eq!(told.visible(), "Quack!");
    assert_eq!(told.reasoning(), "Short is good.");
    told.completed(Stop::Length);
}

#[test]
fn a_reply_that_is_not_streamed_is_its_last_object_alone() {
    let told = ollama("whole-reply.json");
    assert_eq!(told.visible(), "Three frogs.");
    told.completed(Stop::End);
}

#[test]
fn an_error_in_the_middle_fails_the_run_and_keeps_its_text() {
    let told = ollama("error-after-text.jsonl");
    let words = "an error was encountered while running the model: out of memory";
    told.failed(FailureReason::Error, words);
    assert_eq!(told.visible(), "The frog said");
}

#[test]
fn loading_a_model_says_nothing() {
    let told = ollama("load.json");
    told.completed(Stop::Other);
    assert_eq!(told.ending().reply, Reply::None);
}

#[test]
fn thinking_in_tags_is_reasoning_too() {
    let told = ollama("tags-in-text.jsonl");
    assert_eq!((told.visible().as_str(), told.reasoning().as_str()), ("Yes.", "hm"));
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    ollama("cut-off.jsonl").truncated();
}
