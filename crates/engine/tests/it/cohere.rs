//! Cohere specifics.

use millpond_engine::event::{Event, FailureReason, StopReason, ToolOutcome};

use crate::event_queries::ingest_fixture;
use crate::support::RecordedEvents;

fn ingest_cohere(stream: &str) -> RecordedEvents {
    ingest_fixture(&format!("cohere/{stream}"))
}

#[test]
fn the_plan_is_reasoning_and_never_text() {
    let told = ingest_cohere("plan-tools-then-cited-reply.sse");
    assert_eq!(told.reasoning_text(), "I will read the gauge.Say it plainly.");
    assert_eq!(told.visible_text(), "It is 142 cm.");
    assert_eq!((told.round_count(), told.citation_count(), told.unrecognised_count()), (2, 2, 0));
    told.assert_completed(StopReason::End);
}

#[test]
fn a_call_without_arguments_is_ready_with_none() {
    let told = ingest_cohere("plan-tools-then-cited-reply.sse");
    let calls = [("read_gauge", r#"{"pond": "upper"}"#), ("now", "")];
    assert_eq!(told.tool_calls(), calls.map(|(name, arguments)| (name.into(), arguments.into())));
    assert_eq!(told.count_events(|event| matches!(event, Event::ToolReady { .. })), 2);
}

#[test]
fn whole_replies_read_like_streams() {
    let told = ingest_cohere("whole-reply.json");
    assert_eq!(told.visible_text(), "Seven ducks.");
    assert_eq!(told.reasoning_text(), "Ducks first.");
    told.assert_completed(StopReason::Length);
    let told = ingest_cohere("whole-reply-with-tools.json");
    assert_eq!(told.reasoning_text(), "I will look.");
    assert_eq!(told.tool_calls(), [("now".to_owned(), "{}".to_owned())]);
    told.assert_completed(StopReason::Tools);
}

#[test]
fn an_error_alone_and_one_at_the_end_both_fail_the_run() {
    ingest_cohere("error-body.json")
        .assert_failed(FailureReason::Error, "invalid request: no model");
    let told = ingest_cohere("error-at-the-end.sse");
    told.assert_failed(FailureReason::Error, "the pond froze");
    assert_eq!(told.visible_text(), "So far");
}

#[test]
fn a_stream_without_its_end_is_truncated_and_its_call_cut() {
    let told = ingest_cohere("cut-off.sse");
    told.assert_truncated();
    assert_eq!(told.tool_outcomes(), [ToolOutcome::Cut]);
}

#[test]
fn a_frame_nobody_knows_is_kept_once_and_the_stream_goes_on() {
    let told = ingest_cohere("unknown-frame.jsonl");
    assert_eq!(told.unrecognised_count(), 1);
    assert_eq!(told.visible_text(), "Rain.");
    told.assert_completed(StopReason::End);
}

#[test]
fn x7_content_after_the_end_without_a_start_is_late() {
    let told = ingest_cohere("content-after-the-end.jsonl");
    assert_eq!((told.visible_text().as_str(), told.round_count()), ("First.", 1));
    assert_eq!(told.unrecognised_count(), 2);
    told.assert_completed(StopReason::End);
}

#[test]
fn content_that_is_plain_text_is_shown() {
    assert_eq!(ingest_cohere("whole-reply-with-plain-text.json").visible_text(), "Two ponds.");
}
