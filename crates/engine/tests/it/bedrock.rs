//! Bedrock specifics.

use millpond_engine::event::{Event, FailureReason, ReasoningOrigin, StopReason, ToolOutcome};

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;

fn ingest_bedrock(stream: &str) -> RecordedEvents {
    ingest_fixture(&format!("bedrock/{stream}"))
}

#[test]
fn usage_after_the_end_belongs_to_the_round_that_ended() {
    let told = ingest_bedrock("thinking-text-tool-then-reply.jsonl");
    assert_eq!(told.visible_text(), "Let me look.It is 142 cm.");
    assert_eq!(told.reasoning_text(), "The gauge knows.");
    let calls = [("read_gauge", r#"{"pond":"upper"}"#), ("now", "")];
    assert_eq!(told.tool_calls(), calls.map(|(name, arguments)| (name.into(), arguments.into())));
    let usages = told.count_events(|event| matches!(event, Event::UsageReported { .. }));
    assert_eq!((told.round_count(), usages, told.unrecognised_count()), (2, 2, 0));
    told.assert_completed(StopReason::End);
}

#[test]
fn neither_a_message_nor_a_text_needs_a_start() {
    let told = ingest_bedrock("no-message-start.jsonl");
    assert_eq!(told.visible_text(), "Calling. Now.");
    assert_eq!(told.round_count(), 1);
    told.assert_completed(StopReason::Tools);
}

#[test]
fn redacted_thinking_is_one_step_however_many_pieces_it_has() {
    let told = ingest_bedrock("redacted-thinking.jsonl");
    let is_redacted = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Redacted, .. })
    };
    assert_eq!(told.count_events(is_redacted), 1);
    assert_eq!(told.visible_text(), "Fine.");
}

#[test]
fn a_tool_of_the_provider_has_its_result_in_the_same_reply() {
    let told = ingest_bedrock("server-tool.jsonl");
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Succeeded]);
    assert_eq!((told.round_count(), told.visible_text().as_str()), (1, "Two."));
}

#[test]
fn exceptions_in_the_stream_and_bodies_of_errors_fail_the_run() {
    let told = ingest_bedrock("throttled-after-text.jsonl");
    told.assert_failed(FailureReason::Error, "Too many requests, please wait.");
    assert_eq!(told.visible_text(), "It all");
    ingest_bedrock("exception-alone.jsonl")
        .assert_failed(FailureReason::Error, "the model went away");
    ingest_bedrock("error-body.json")
        .assert_failed(FailureReason::Error, "1 validation error: modelId");
}

#[test]
fn what_a_guardrail_stops_is_refused_and_keeps_its_words() {
    let told = ingest_bedrock("guardrail.jsonl");
    told.assert_failed(FailureReason::Refused, "a guardrail intervened");
    assert_eq!(told.visible_text(), "I cannot say that.");
}

#[test]
fn a_whole_reply_reads_like_a_stream() {
    let told = ingest_bedrock("whole-reply.json");
    assert_eq!(told.visible_text(), "Seven. They quack.");
    assert_eq!((told.reasoning_text().as_str(), told.citation_count()), ("Count them.", 1));
    assert_eq!(told.tool_calls().len(), 1);
    told.assert_completed(StopReason::Tools);
}

#[test]
fn a_frame_nobody_knows_is_kept_once_and_the_stream_goes_on() {
    let told = ingest_bedrock("unknown-frame.jsonl");
    assert_eq!(told.unrecognised_count(), 1);
    told.assert_completed(StopReason::Length);
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    ingest_bedrock("cut-off.jsonl").assert_truncated();
}

#[test]
fn pieces_without_their_start_and_blocks_nobody_knows_are_each_kept() {
    let told = ingest_bedrock("pieces-without-their-start.jsonl");
    assert_eq!((told.visible_text().as_str(), told.unrecognised_count()), ("Done.", 4));
    told.assert_completed(StopReason::End);
}
